// NAL units, slices and pictures (7.3.1, 7.3.4, 7.4.1.2.4).
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/h264/h264.h"

#include <string.h>

#include "common/alloc.h"
#include "tools/h264/h264_internal.h"

struct MotusH264Reader {
    const uint8_t *data;
    size_t size;
    size_t nal;   // offset of the next NAL unit's first byte; data size or more: there is none
    size_t start; // offset of its start code
    MotusSps sps;
    MotusPps pps;
    MotusCodes *codes;
    MotusCoverage *coverage, not_wanted;
    MotusParsedMb *mb;
    MotusMbContext *context;
    int n_mb;
    uint32_t slices; // parsed so far
    uint8_t *rbsp;
    const char *error;
};

MotusStatus motus_h264_open(MotusH264Reader **stream, const uint8_t *data, size_t size,
                            MotusCoverage *coverage) {
    MotusH264Reader *s = *stream = motus_alloc(1, sizeof *s);
    if (!s) return MOTUS_ERR_MEMORY;
    *s = (MotusH264Reader){
        .data = data, .size = size, .coverage = coverage ? coverage : &s->not_wanted};
    s->codes = motus_alloc(1, sizeof *s->codes);
    s->rbsp = motus_alloc(size + 8, 1);
    if (!s->codes || !s->rbsp) {
        motus_h264_close(stream);
        return MOTUS_ERR_MEMORY;
    }
    motus_codes_build(s->codes);
    s->nal = motus_next_nal(data, size, 0, &s->start);
    if (s->start != 0)
        s->error = size ? "bytes before the first start code" : "the stream is empty";
    return MOTUS_OK;
}

void motus_h264_close(MotusH264Reader **stream) {
    if (!stream || !*stream) return;
    motus_free((*stream)->codes);
    motus_free((*stream)->rbsp);
    motus_free((*stream)->mb);
    motus_free((*stream)->context);
    motus_free(*stream);
    *stream = NULL;
}

const char *motus_h264_error(const MotusH264Reader *stream) { return stream->error; }

// Parses mb_skip_run and its MBs. The run's bits count for the MB after it, or for the last MB of
// the slice.
static void parse_skip_run(MotusMbParser *r, int n_mb, uint32_t slice, size_t end) {
    const size_t from = r->rbsp->at;
    const uint32_t run = motus_rbsp_ue(r->rbsp), bits = (uint32_t)(r->rbsp->at - from);
    if (run > (uint32_t)(n_mb - r->n)) {
        motus_rbsp_fail(r->rbsp, "mb_skip_run");
        return;
    }
    r->coverage->p_skip += run;
    for (uint32_t i = 0; i < run; i++, r->n++) {
        r->mb[r->n].slice = slice;
        r->mb[r->n].bits_mode = 0;
        motus_parse_skip_mb(r);
    }
    if (r->rbsp->at >= end && run) r->mb[r->n - 1].bits_mode += bits;
    if (r->rbsp->at < end && r->n < n_mb) r->mb[r->n].bits_mode = bits;
}

// Parses macroblock_layer() of the current MB, and goes on to the next.
static void parse_layer(MotusMbParser *r) {
    MotusCoverage *coverage = r->coverage;
    const size_t before = r->rbsp->at;
    motus_parse_mb(r);
    const unsigned bits = (unsigned)(r->rbsp->at - before);
    if (bits > coverage->mb_bits) coverage->mb_bits = bits;
    motus_rbsp_expect(r->rbsp, bits <= 3200, "macroblock_layer() of more than 3200 bits (A.3.1)");
}

// True if there is another MB that the picture has.
static int has_mb(MotusMbParser *r, int n_mb) {
    motus_rbsp_expect(r->rbsp, r->n < n_mb, "more MBs than the picture has");
    return !r->rbsp->error;
}

static void parse_cavlc_data(MotusMbParser *r, int n_mb, uint32_t slice) {
    const size_t end = motus_rbsp_end(r->rbsp);
    while (r->rbsp->at < end && !r->rbsp->error) {
        if (r->n < n_mb) r->mb[r->n].bits_mode = 0;
        if (r->is_p) parse_skip_run(r, n_mb, slice, end);
        if (r->rbsp->at >= end || r->rbsp->error || !has_mb(r, n_mb)) break;
        r->mb[r->n].slice = slice;
        parse_layer(r);
        r->n++;
    }
}

// Bits of the terminating bin that ends a slice, which renormalization would read (9.3.4.5).
#define END_BITS 7

// Parses the MBs of a slice with CABAC. The last bit that is read is its rbsp_stop_one_bit.
static void parse_cabac_data(MotusMbParser *r, int n_mb, uint32_t slice) {
    int is_end = 0;
    while (!is_end && has_mb(r, n_mb)) {
        MotusParsedMb *mb = r->mb + r->n;
        const size_t from = r->rbsp->at;
        mb->slice = slice;
        mb->bits_mode = 0;
        const int skipped = r->is_p && motus_cabac_skip_flag(r);
        mb->bits_mode = (uint32_t)(r->rbsp->at - from);
        if (skipped) {
            r->coverage->p_skip++;
            motus_parse_skip_mb(r);
        } else {
            parse_layer(r);
        }
        const size_t before = r->rbsp->at;
        is_end = motus_arithmetic_terminate(r);
        mb->bits_mode += (uint32_t)(r->rbsp->at - before) + (is_end ? END_BITS : 0);
        r->n++;
    }
    if (!r->rbsp->error) r->rbsp->at--;
}

// Expects rbsp_slice_trailing_bits(). With CABAC cabac_zero_words may follow, and x264 sets the
// last bit of its alignment in some pictures.
static void check_end(MotusRbsp *rbsp, int cabac) {
    const size_t end = motus_rbsp_end(rbsp);
    const int ok = cabac ? motus_rbsp_peek(rbsp, 1) && end >= rbsp->at && end < rbsp->at + 8
                         : end == rbsp->at && end + 8 >= rbsp->bits;
    motus_rbsp_expect(rbsp, ok, "rbsp_slice_trailing_bits");
}

// Parses slice_data(); returns the number of the MB after the slice.
static int parse_slice_data(MotusH264Reader *s, MotusRbsp *rbsp, const MotusParsedSlice *slice) {
    MotusArithmetic arithmetic;
    MotusMbParser r = {.rbsp = rbsp,
                       .codes = s->codes,
                       .coverage = s->coverage,
                       .mb = s->mb,
                       .context = s->context,
                       .mb_width = s->sps.mb_width,
                       .n = slice->first_mb,
                       .num_ref_idx = slice->num_ref_idx,
                       .is_p = slice->is_p,
                       .constrained_intra = s->pps.constrained_intra,
                       .transform_8x8 = s->pps.transform_8x8,
                       .qp = slice->qp};
    if (s->pps.cabac) {
        while (rbsp->at % 8)
            motus_rbsp_expect(rbsp, motus_rbsp_u(rbsp, 1) == 1, "cabac_alignment_one_bit");
        motus_arithmetic_begin(&arithmetic, rbsp, slice->is_p ? 1 + slice->cabac_init_idc : 0,
                               slice->qp);
        r.arithmetic = &arithmetic;
        s->coverage->cabac_init_idc[slice->cabac_init_idc] += (unsigned)slice->is_p;
        parse_cabac_data(&r, s->n_mb, slice->number);
    } else {
        parse_cavlc_data(&r, s->n_mb, slice->number);
    }
    check_end(rbsp, s->pps.cabac);
    return r.n;
}

// Parses a slice that has to begin with MB `next`; returns the number of the MB after it.
static int parse_slice(MotusH264Reader *s, MotusRbsp *rbsp, int ref_idc, int idr, int next,
                       MotusParsedPicture *picture) {
    MotusParsedSlice slice = {.number = ++s->slices};
    motus_rbsp_expect(rbsp, s->mb && s->pps.is_valid, "a slice before its parameter sets");
    if (!rbsp->error) motus_parse_slice_header(rbsp, &s->sps, &s->pps, ref_idc, idr, &slice);
    motus_rbsp_expect(rbsp, slice.first_mb == next && next < s->n_mb,
                      "slices out of order, or MBs are missing");
    if (rbsp->error || !s->mb) return next;
    if (!picture->n_slices) s->coverage->pictures[slice.is_p]++;
    if (slice.is_p) picture->type = 'P';
    s->coverage->copies += slice.list_commands > 1;
    picture->n_slices++;
    return parse_slice_data(s, rbsp, &slice);
}

static MotusStatus new_size(MotusH264Reader *s, MotusRbsp *rbsp) {
    const int n_mb = s->sps.mb_width * s->sps.mb_height;
    if (rbsp->error || n_mb == s->n_mb) return MOTUS_OK;
    motus_free(s->mb);
    motus_free(s->context);
    s->n_mb = 0;
    s->mb = motus_alloc((size_t)n_mb, sizeof *s->mb);
    s->context = motus_alloc((size_t)n_mb, sizeof *s->context);
    if (!s->mb || !s->context) return MOTUS_ERR_MEMORY;
    s->n_mb = n_mb;
    return MOTUS_OK;
}

// Parses a NAL unit; *next is the first MB of the picture's next slice.
static MotusStatus parse_nal(MotusH264Reader *s, const uint8_t *nal, size_t size, int *next,
                             MotusParsedPicture *picture) {
    if (size < 2) {
        s->error = "an empty NAL unit";
        return MOTUS_ERR_FORMAT;
    }
    const int type = nal[0] & 31, ref_idc = nal[0] >> 5 & 3;
    const char *error = NULL;
    const size_t n = motus_unescape(s->rbsp, nal + 1, size - 1, s->coverage, &error);
    memset(s->rbsp + n, 0, 8);
    MotusRbsp rbsp = {s->rbsp, 8 * n, 0, error};
    MotusStatus status = MOTUS_OK;
    s->coverage->nal_unit_type[type]++;
    motus_rbsp_expect(&rbsp, nal[size - 1] != 0, "a NAL unit that ends in a zero byte");
    if (type == 1 || type == 5) {
        *next = parse_slice(s, &rbsp, ref_idc, type == 5, *next, picture);
    } else if (type == 7) {
        motus_parse_sps(&rbsp, &s->sps);
        status = new_size(s, &rbsp);
    } else if (type == 8) {
        motus_parse_pps(&rbsp, &s->pps);
    } else {
        motus_rbsp_expect(&rbsp, type == 6 || type == 9 || type == 12, "nal_unit_type");
    }
    s->error = status ? "no memory" : rbsp.error;
    return status ? status : s->error ? MOTUS_ERR_FORMAT : MOTUS_OK;
}

MotusStatus motus_h264_next(MotusH264Reader *s, MotusParsedPicture *picture) {
    *picture = (MotusParsedPicture){.type = 'I', .begin = s->start};
    int next = 0;
    if (s->error) return MOTUS_ERR_FORMAT;
    while (s->nal < s->size && (next == 0 || next < s->n_mb)) {
        size_t start;
        const size_t after = motus_next_nal(s->data, s->size, s->nal, &start);
        const MotusStatus status = parse_nal(s, s->data + s->nal, start - s->nal, &next, picture);
        if (status) return status;
        if ((s->data[s->nal] & 31) != 6) picture->bytes += start - s->start;
        s->nal = after;
        s->start = start;
    }
    if (next == 0) return MOTUS_END;
    if (next < s->n_mb) {
        s->error = "fewer MBs than the picture has";
        return MOTUS_ERR_FORMAT;
    }
    picture->end = s->start;
    picture->profile_idc = s->sps.profile_idc;
    picture->mb_width = s->sps.mb_width;
    picture->mb_height = s->sps.mb_height;
    picture->mb = s->mb;
    return MOTUS_OK;
}

// Searches a user_data_unregistered message: "x264 - core 164 ... options: cabac=0 ref=1 ...".
int motus_h264_x264_option(const uint8_t *data, size_t size, const char *key, char *value,
                           size_t value_size) {
    const size_t length = strlen(key);
    size_t start = 0;
    for (size_t nal = motus_next_nal(data, size, 0, &start); nal < size;
         nal = motus_next_nal(data, size, nal, &start)) {
        if ((data[nal] & 31) != 6) continue;
        size_t end;
        motus_next_nal(data, size, nal, &end);
        for (size_t i = nal + 1; i + length < end; i++) {
            if (memcmp(data + i, key, length) || (data[i - 1] != ' ')) continue;
            size_t n = 0;
            for (i += length; i < end && n + 1 < value_size && data[i] > ' ' && data[i] < 127; i++)
                value[n++] = (char)data[i];
            value[n] = 0;
            return 1;
        }
    }
    return 0;
}
