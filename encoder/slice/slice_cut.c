// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/slice/slice_cut.h"

#include "common/int_core.h"
#include "encoder/slice/slice.h"

#define MAX_MB_BITS 3200 // of macroblock_layer() (A.3.1)
#define QP_STEP 2        // from one attempt to the next

// The slice that is being written. Restoring a copy undoes the MBs since, because the bytes before
// bits.size never change.
typedef struct Slice {
    int begin; // its first MB
    MotusMbWriter writer;
    MotusSliceState state;
    size_t scanned, escapes; // emulation prevention bytes among the first `scanned` bytes
    int zeros;               // zero bytes at the end of these
} Slice;

// Counts emulation_prevention_three_byte (7.4.1) for bytes [from, to). *zeros: zero bytes in front
// of them, then at their end.
static size_t count_escapes(const uint8_t *rbsp, size_t from, size_t to, int *zeros) {
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        if (*zeros >= 2 && rbsp[i] <= 3) {
            n++;
            *zeros = 0;
        }
        *zeros = rbsp[i] ? 0 : *zeros + 1;
    }
    return n;
}

static Slice begin_slice(const MotusSliceCut *cut, int i) {
    const MotusSliceSettings settings = motus_slice_settings(cut->job->stream, cut->job->params, i);
    Slice s = {.begin = i, .state = {.qp = cut->job->params->qp}};
    motus_bits_init(&s.writer.bits, cut->rbsp, cut->job->stream->rbsp_capacity);
    motus_write_slice_header(&s.writer.bits, &cut->job->stream->sequence, &settings);
    motus_begin_slice_data(&s.writer, &cut->slice);
    return s;
}

static MotusStatus end_slice(MotusSliceCut *cut, Slice *s) {
    const MotusBits *bits = &s->writer.bits;
    motus_end_slice(&s->writer, &s->state);
    motus_add_written(&s->writer, &cut->pic->mbs, cut->stats);
    if (bits->overflow) return MOTUS_ERR_INTERNAL;
    cut->size += motus_nal_write(cut->nal + cut->size, motus_nal_ref_idc(cut->job->params),
                                 cut->job->params->idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE, cut->rbsp,
                                 bits->size);
    cut->n_slices++;
    return MOTUS_OK;
}

// Returns the bytes of the NAL unit, start code excluded, if the slice ended here.
static size_t nal_bytes(Slice *s) {
    MotusMbWriter end = s->writer;
    const uint8_t *data = end.bits.data;
    const size_t written = // bytes that will not change
        end.bits.size + (end.slice->cabac ? end.cabac.size : 0);
    s->escapes += count_escapes(data, s->scanned, written, &s->zeros);
    s->scanned = written;
    motus_end_slice(&end, &s->state); // writes behind these bytes only
    int zeros = s->zeros;
    return 1 + end.bits.size + s->escapes + count_escapes(data, written, end.bits.size, &zeros);
}

// Finalizes and writes MB i. Returns 1 if the MB and its slice stay within their limits.
static int put(const MotusSliceCut *cut, Slice *s, int i) {
    const uint32_t run = s->state.skip_run;
    const size_t before = motus_written_bits(&s->writer);
    motus_finalize_mb(&cut->pic->mbs, i, &s->state);
    motus_write_mb(&s->writer, &cut->pic->mbs, i, &s->state);
    const size_t bits = motus_written_bits(&s->writer) - before,
                 of_run = cut->slice.slice_type ? (size_t)motus_ue_bits(run) : 0;
    return bits <= MAX_MB_BITS + of_run &&
           nal_bytes(s) <= (size_t)cut->job->stream->config.slice_max_size;
}

// Codes MB i, the first of a slice, without a residual: grey, as its neighbours are unavailable
// (8.3.3.3). Takes less than 4 bytes.
static void make_flat(MotusPictureState *pic, int i, int qp) {
    const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width;
    pic->mbs.mb[i] = (MotusMb){.type = MOTUS_MB_I_16x16,
                               .intra16x16_pred_mode = MOTUS_I16_DC,
                               .intra_chroma_pred_mode = MOTUS_IC_DC,
                               .qp = (uint8_t)qp};
    pic->mbs.coef[i] = (MotusMbCoef){0};
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &pic->rec->plane[p];
        const int size = p ? 8 : 16;
        for (int row = 0; row < size; row++)
            memset(plane->data + (y * size + row) * plane->stride + x * size, 128, (size_t)size);
    }
}

// Codes MB i, which is too large even alone in its slice, at coarser QPs until it fits.
static void put_coarser(const MotusSliceCut *cut, Slice *s, int i) {
    const Slice empty = begin_slice(cut, i);
    for (int qp = motus_mb_qp(cut->job->qp, cut->pic->qp_offset, i); qp < 51;) {
        qp = motus_min(qp + QP_STEP, 51);
        *s = empty;
        cut->ops->code_mb(cut->pic, cut->job, i, qp);
        if (put(cut, s, i)) return;
    }
    *s = empty;
    make_flat(cut->pic, i, cut->job->params->qp);
    const int fits = put(cut, s, i);
    assert(fits);
    (void)fits;
}

// Codes and writes MB i as the slice's next one. Returns 0, with the slice unchanged, if it does
// not fit.
static int try_mb(const MotusSliceCut *cut, Slice *s, int i) {
    const Slice before = *s;
    cut->first[i] = s->begin;
    cut->ops->code_mb(cut->pic, cut->job, i, -1);
    if (put(cut, s, i)) return 1;
    *s = before;
    return 0;
}

MotusStatus motus_slice_cut_picture(MotusSliceCut *cut) {
    const int *rows = cut->pic->mbs.slice_first; // slices of whole rows
    cut->slice = motus_slice_settings(cut->job->stream, cut->job->params, 0);
    cut->pic->mbs.slice_first = cut->first;
    Slice s = begin_slice(cut, 0);
    for (int i = 0; i < cut->pic->mbs.n_mb; i++) {
        const int begins = i && motus_slice_first(rows, i) == i;
        if (!begins && try_mb(cut, &s, i)) continue;
        if (s.begin < i) {
            const MotusStatus status = end_slice(cut, &s);
            if (status) return status;
            s = begin_slice(cut, i);
        }
        if (!try_mb(cut, &s, i)) put_coarser(cut, &s, i);
    }
    return end_slice(cut, &s);
}
