// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/decoders/decoders.h"
#include "tests/support/harness.h"

static void fail(MotusCoded *coded, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(MotusCoded *coded, const char *format, ...) {
    if (coded->failure[0]) return;
    va_list args;
    va_start(args, format);
    vsnprintf(coded->failure, sizeof coded->failure, format, args);
    va_end(args);
}

static void *must(void *p) {
    if (!p) abort(); // the test cannot go on without memory
    return p;
}

static void append(MotusCoded *coded, const MotusPacket *picture) {
    coded->data = must(realloc(coded->data, coded->size + picture->size));
    memcpy(coded->data + coded->size, picture->data, picture->size);
    coded->size += picture->size;
    coded->slices[coded->pictures++] = picture->slices;
    coded->b_pictures += picture->type == 'B';
    MotusFrame *copy; // a copy, so that later changes of the recon show
    if (motus_frame_alloc(&copy, picture->recon->width, picture->recon->height)) abort();
    if (motus_frame_copy_padded(copy, picture->recon)) abort();
    motus_frame_unref(&coded->recon[picture->number]);
    coded->recon[picture->number] = copy;
    const MotusPictureStats *s = &picture->stats;
    for (int i = 0; i < MOTUS_MB_KINDS; i++) coded->stats.mb[i] += s->mb[i];
    for (int i = 0; i < 4; i++) coded->stats.sub[i] += s->sub[i];
    for (int i = 0; i < 2; i++) coded->stats.transform_8x8[i] += s->transform_8x8[i];
    coded->stats.bits_header += s->bits_header;
    coded->stats.bits_mode += s->bits_mode;
    coded->stats.bits_mv += s->bits_mv;
    coded->stats.bits_luma += s->bits_luma;
    coded->stats.bits_chroma += s->bits_chroma;
    for (int c = 0; c < 3; c++) coded->stats.ssd[c] += s->ssd[c];
    coded->stats.direct += s->direct;
}

// Checks that the picture's statistics agree with each other, with the bytes and with the samples.
static void check_stats(MotusCoded *coded, const MotusPacket *picture, const MotusFrame *frame) {
    const MotusPictureStats *s = &picture->stats;
    const int n = coded->pictures, n_mb = (frame->width + 15) / 16 * ((frame->height + 15) / 16);
    uint32_t mbs = 0, subs = 0;
    for (int i = 0; i < MOTUS_MB_KINDS; i++) mbs += s->mb[i];
    for (int i = 0; i < 4; i++) subs += s->sub[i];
    if (mbs != (uint32_t)n_mb) fail(coded, "picture %d: %u MBs counted of %d", n, mbs, n_mb);
    if (subs != 4 * s->mb[MOTUS_MB_P_8x8])
        fail(coded, "picture %d: %u sub-macroblocks for %u P_8x8", n, subs, s->mb[MOTUS_MB_P_8x8]);
    const uint64_t bits =
        s->bits_header + s->bits_mode + s->bits_mv + s->bits_luma + s->bits_chroma;
    if (bits != 8 * (uint64_t)picture->size)
        fail(coded, "picture %d: %llu bits counted, %zu bytes", n, (unsigned long long)bits,
             picture->size);
    if (picture->recon->width != frame->width || picture->recon->height != frame->height) {
        fail(coded, "picture %d: reconstruction is %dx%d", n, picture->recon->width,
             picture->recon->height);
        return;
    }
    for (int c = 0; c < 3; c++) {
        const MotusPlane *a = &frame->plane[c];
        if (motus_plane_ssd(a, &picture->recon->plane[c], a->width, a->height) != s->ssd[c])
            fail(coded, "picture %d: ssd[%d]", n, c);
    }
}

// Returns the vertical MV range and MaxMvsPer2Mb of a level (table A-1), in quarter samples; 0 = no
// limit.
static int max_mv_y(int level) {
    return 4 * (level <= 10 ? 64 : level <= 20 ? 128 : level <= 30 ? 256 : 512);
}
static int max_mvs_per_2mb(int level) { return level < 30 ? 0 : level == 30 ? 32 : 16; }

// Checks that the MVs of a list or of both tile the inter MBs and keep the level's limits.
static void check_vectors(MotusCoded *coded, const MotusPacket *picture, int width) {
    const int n = coded->pictures, mb_width = (width + 15) / 16;
    const int reach = max_mv_y(coded->level), most = max_mvs_per_2mb(coded->level);
    uint32_t area = 0, inter = 0;
    int last_mb = -2, in_this = 0, in_last = 0;
    for (int i = 0; i < MOTUS_MB_I_4x4; i++) inter += picture->stats.mb[i];
    for (size_t i = 0; i < picture->n_mvs; i++) {
        const MotusCodedMv *v = picture->mvs + i;
        const int second = v->list && i && !v[-1].list && v[-1].x == v->x && v[-1].y == v->y;
        area += second ? 0 : v->width * v->height;
        if (v->mv.y < -reach || v->mv.y >= reach || v->mv.x < -8192 || v->mv.x > 8191)
            fail(coded, "picture %d: vector %d,%d at level %d", n, v->mv.x, v->mv.y, coded->level);
        const int mb = v->y / 16 * mb_width + v->x / 16;
        if (mb != last_mb) in_last = mb == last_mb + 1 ? in_this : 0, in_this = 0;
        if (mb < last_mb) fail(coded, "picture %d: vectors out of order", n);
        last_mb = mb;
        if (++in_this + in_last > most && most)
            fail(coded, "picture %d: %d vectors in two MBs at level %d", n, in_this + in_last,
                 coded->level);
    }
    if (area != 256 * inter)
        fail(coded, "picture %d: vectors cover %u samples of %u inter MBs", n, area, inter);
}

static void check_picture(MotusCoded *coded, const MotusPacket *picture,
                          const MotusEncoderConfig *config, const MotusFrame *frame) {
    const int n = (int)picture->number, cuts = config->rate != MOTUS_RATE_QP && config->scenecut;
    const int idr = cuts && n ? picture->is_idr : config->keyint ? n % config->keyint == 0 : n == 0;
    const int rows = (frame->height + 15) / 16, slices = config->slices < 1      ? 1
                                                         : config->slices < rows ? config->slices
                                                                                 : rows;
    if (picture->slices < slices || (picture->slices > slices && !config->slice_max_size))
        fail(coded, "picture %d: %d slices for %d", n, picture->slices, slices);
    if (picture->is_idr != idr) fail(coded, "picture %d: is_idr %d", n, picture->is_idr);
    if (picture->type != (idr ? 'I' : 'P') && (idr || !config->bframes || picture->type != 'B'))
        fail(coded, "picture %d: type %c", n, picture->type);
    check_stats(coded, picture, frame);
    check_vectors(coded, picture, frame->width);
}

// Takes all finished pictures; with `wait` also the pending ones.
static MotusStatus receive(MotusCoded *coded, MotusEncoder *encoder,
                           const MotusEncoderConfig *config, MotusFrame *const *frames, int n,
                           int wait) {
    MotusPacket *picture;
    MotusStatus status;
    while ((status = motus_encoder_receive(encoder, &picture, wait ? -1 : 0)) == MOTUS_OK) {
        const int64_t number = picture->number;
        if (number < 0 || number >= n || coded->recon[number] ||
            (!config->bframes && number != coded->pictures)) {
            fail(coded, "packet %d: number %lld", coded->pictures, (long long)number);
        } else {
            check_picture(coded, picture, config, frames[number]);
            append(coded, picture);
        }
        motus_packet_unref(&picture);
    }
    return status;
}

static MotusStatus send(MotusEncoder *encoder, const MotusFrame *frame, int number,
                        MotusConformMaps maps) {
    const size_t n = (size_t)((frame->width + 15) / 16 * ((frame->height + 15) / 16));
    int8_t *map = motus_conform_map(maps, number, n);
    const MotusFrameParams params = {
        .size = sizeof params, .pts = number, .duration = 1, .qp_offset = map, .n_qp_offset = n};
    const MotusStatus status = motus_encoder_send(encoder, frame, &params);
    free(map);
    return status;
}

void motus_conform_encode(MotusCoded *coded, const MotusEncoderConfig *config,
                          MotusFrame *const *frames, int n, MotusConformMaps maps) {
    memset(coded, 0, sizeof *coded);
    coded->recon = must(calloc((size_t)n, sizeof *coded->recon));
    coded->slices = must(calloc((size_t)n, sizeof *coded->slices));
    MotusEncoder *encoder;
    MotusError error = {0};
    if (motus_encoder_open(&encoder, config, &error)) {
        fail(coded, "open: %s", error.text);
        return;
    }
    coded->level = motus_encoder_level(encoder);
    coded->most = (size_t)config->slice_max_size;
    MotusStatus status = MOTUS_AGAIN;
    for (int i = 0; i < n && status == MOTUS_AGAIN; i++) {
        status = send(encoder, frames[i], i, maps);
        if (status == MOTUS_OK) status = receive(coded, encoder, config, frames, n, 0);
    }
    if (status == MOTUS_AGAIN) status = motus_encoder_send(encoder, NULL, NULL);
    if (status == MOTUS_OK) status = receive(coded, encoder, config, frames, n, 1);
    if (status != MOTUS_END)
        fail(coded, "picture %d: %s", coded->pictures, motus_status_name(status));
    if (coded->pictures != n) fail(coded, "%d pictures of %d frames", coded->pictures, n);
    motus_encoder_close(&encoder);
}

typedef struct Comparison {
    MotusCoded *coded;
    const char *decoder;
} Comparison;

static void compare(void *context, int number, const MotusPlane plane[3]) {
    const Comparison *comparison = context;
    MotusCoded *coded = comparison->coded;
    if (number >= coded->pictures) return; // the count is checked at the end
    for (int c = 0; c < 3; c++) {
        const MotusPlane *a = &coded->recon[number]->plane[c], *b = plane + c;
        if (a->width != b->width || a->height != b->height) {
            fail(coded, "%s: picture %d plane %d is %dx%d", comparison->decoder, number, c,
                 b->width, b->height);
            return;
        }
        for (int y = 0; y < a->height; y++) {
            const uint8_t *row = a->data + y * a->stride, *other = b->data + y * b->stride;
            if (!memcmp(row, other, (size_t)a->width)) continue;
            int x = 0;
            while (row[x] == other[x]) x++;
            fail(coded, "%s: picture %d plane %d differs first at %d,%d: %d, decoded %d",
                 comparison->decoder, number, c, x, y, row[x], other[x]);
            return;
        }
    }
}

// A NAL unit ends where the next start code begins; only its first zero byte separates them.
static void check_sizes(MotusCoded *coded) {
    size_t start, next, nal = motus_next_nal(coded->data, coded->size, 0, &start);
    for (; coded->most && nal < coded->size; nal = next) {
        next = motus_next_nal(coded->data, coded->size, nal, &start);
        const size_t end = next < coded->size ? start : coded->size;
        if (end - nal > coded->most)
            fail(coded, "a NAL unit of type %d has %zu bytes, %zu are allowed",
                 coded->data[nal] & 31, end - nal, coded->most);
    }
}

// Parses the stream, counting into *coverage, and compares with the statistics.
static void check_syntax(MotusCoded *coded, MotusCoverage *coverage) {
    const unsigned before[2] = {coverage->transform_8x8[0], coverage->transform_8x8[1]},
                   copies = coverage->copies;
    if (coded->b_pictures) return; // the parser reads I and P pictures
    const char *wrong =
        motus_parse(coded->data, coded->size, coded->slices, coded->pictures, coverage);
    if (wrong) fail(coded, "parse: %s", wrong);
    for (int i = 0; i < coded->pictures; i++)
        coded->copies |= coded->slices && coded->slices[i] > 1 && coverage->copies > copies;
    for (int intra = 0; intra < 2 && !wrong; intra++) {
        const unsigned want = coverage->transform_8x8[intra] - before[intra];
        if (coded->stats.transform_8x8[intra] != want)
            fail(coded, "%u %s MBs with the 8x8 transform counted of %u",
                 coded->stats.transform_8x8[intra], intra ? "intra" : "inter", want);
    }
}

void motus_conform_judge(MotusCoded *coded, MotusCoverage *coverage) {
    if (coded->failure[0]) return;
    check_sizes(coded);
    check_syntax(coded, coverage);
    // openh264 deblocks and predicts some B MBs wrongly (its issue 3269), and P slices that list a
    // reference twice where a picture has several: JM agrees with libavcodec there.
    const int decoders = coded->b_pictures || coded->copies ? 1 : MOTUS_DECODERS;
    for (int i = 0; i < decoders; i++) {
        Comparison comparison = {coded, motus_decoders[i].name};
        MotusDecodeReport report;
        motus_decoders[i].decode(coded->data, coded->size, compare, &comparison, &report);
        if (report.complaints)
            fail(coded, "%s: %d complaints: %s", comparison.decoder, report.complaints,
                 report.first);
        if (report.pictures != coded->pictures)
            fail(coded, "%s: %d pictures of %d", comparison.decoder, report.pictures,
                 coded->pictures);
    }
}

void motus_conform_same(const MotusCoded *a, const MotusCoded *b, const char *what) {
    MOTUS_CHECK(!a->failure[0] && !b->failure[0] && a->size == b->size &&
                    !memcmp(a->data, b->data, a->size),
                "%s %s %s", what, a->failure, b->failure);
}

void motus_conform_rate(MotusEncoderConfig *config, int rate) {
    config->scenecut = 0; // IDR pictures by keyint only
    config->rate = rate == 0 ? MOTUS_RATE_QP : rate < 3 ? MOTUS_RATE_CRF : MOTUS_RATE_BITRATE;
    config->crf = config->qp;
    config->aq_mode = rate == 2 ? MOTUS_AQ_AUTO : MOTUS_AQ_OFF;
    if (rate < 3) return;
    config->bitrate = ((int64_t)config->width * config->height * 30 * 16 >> config->qp / 6) +
                      20000; // 16 bits a sample at QP 0
    if (rate < 4) return;
    config->vbv_maxrate = config->vbv_bufsize = config->bitrate;
    config->hrd = MOTUS_HRD_CBR;
}

void motus_coded_free(MotusCoded *coded) {
    for (int i = 0; i < coded->pictures; i++) motus_frame_unref(&coded->recon[i]);
    free(coded->recon);
    free(coded->slices);
    free(coded->data);
    memset(coded, 0, sizeof *coded);
}
