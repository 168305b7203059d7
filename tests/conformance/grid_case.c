// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/grid_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "motus/upload.h"
#include "tests/conformance/decoders/conform.h"

enum { COUNTS = 4 };
static const int gop_coder_counts[COUNTS] = {1, 2, 7, 16};

// clang-format off
enum {
    QP, PRESET, RATE, AHEAD, KEYINT, DEBLOCK, SUBPEL, RANGE, PARTS, SLICES, CROP, MAPS, VECTORS,
    FRAMES, OUTPUT, AUD, PROFILE, BFRAMES, WEIGHTS, REFS, AXES
};
// clang-format on
enum { RATE_QP, RATE_CRF, RATE_AQ1, RATE_AQ2, RATE_BITRATE, RATE_VBV, RATE_CBR, RATE_TWO_PASSES };
enum { SEARCHED, GIVEN, FINAL };
enum { BASELINE, MAIN_CAVLC, MAIN, HIGH_4x4, HIGH, HIGH_CAVLC };

_Static_assert(AXES <= (int)MOTUS_MAX_AXES, "see tests/conformance/decoders/pairwise.h");

// Visible sizes, from the picture's middle. 0: all of it; negative: so much less.
static const int crop_size[4][2] = {{0, 0}, {16, 16}, {-2, -6}, {50, 34}};

static const GridAxis axes[AXES] = {
    [QP] = {"qp", "0 12 28 40 51"},
    [PRESET] = {"preset", GRID_PRESETS},
    [RATE] = {"rate", "qp=0 crf=1 crf+aq1=2 crf+aq2=3 bitrate=4 vbv=5 cbr=6 two-passes=7"},
    [AHEAD] = {"lookahead", "40 3 0"},
    [KEYINT] = {"keyint", "1 3 250"},
    [DEBLOCK] = {"deblock", "on=1 off=0"},
    [SUBPEL] = {"subpel", "quarter=2 half=1 full=0"},
    [RANGE] = {"range", "preset's=0 8 16 32"},
    [PARTS] = {"partitions", "all=0x7F 16x16=0x01 +8x8=0x0F"},
    [SLICES] = {"slices", "1 3 999"},
    [CROP] = {"crop", "whole=0 16x16=1 -2x-6=2 50x34=3"},
    [MAPS] = {"maps", "none=0 mixed=1"},
    [VECTORS] = {"vectors", "searched=0 given=1 final=2"},
    [FRAMES] = {"frames", "host=0 device=1"},
    [OUTPUT] = {"output", "all=0 stream=1"},
    [AUD] = {"aud", "off=0 on=1"},
    [PROFILE] = {"profile",
                 "baseline=0 main-no-cabac=1 main=2 high-no-8x8=3 high=4 high-no-cabac=5"},
    [BFRAMES] = {"bframes", "0 1 2 3 7"}, // in profile baseline 0
    [WEIGHTS] = {"weights", "none=0 b=1 p=2 both=5"},
    [REFS] = {"references", "1 2 3 5"},
};

_Static_assert(RATE_TWO_PASSES == 7 && FINAL == 2 && HIGH_CAVLC == 5 && MOTUS_SUBPEL_QUARTER == 2 &&
                   MOTUS_MAPS_MIXED == 1,
               "values of the axes");

static int value(const int *row, int axis) { return grid_value(&axes[axis], row[axis], NULL); }

static void *must(void *p) {
    if (!p) abort();
    return p;
}

// ---- Frames -------------------------------------------------------------------------------------

// Copies a frame to device memory.
static MotusFrame *on_device(const MotusFrame *frame) {
    const size_t luma = (size_t)frame->width * (size_t)frame->height;
    uint8_t *host = must(malloc(luma * 3 / 2)), *to = host;
    void *memory;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < frame->plane[c].height; y++, to += frame->plane[c].width)
            memcpy(to, frame->plane[c].data + y * frame->plane[c].stride,
                   (size_t)frame->plane[c].width);
    if (motus_cuda_alloc(&memory, luma * 3 / 2, NULL) ||
        motus_cuda_copy(memory, host, luma * 3 / 2, NULL, NULL))
        abort();
    free(host);
    uint8_t *there = memory, *const data[3] = {there, there + luma, there + luma + luma / 4};
    const ptrdiff_t stride[3] = {frame->width, frame->width / 2, frame->width / 2};
    MotusFrame *out;
    if (motus_frame_wrap(&out, frame->width, frame->height, data, stride, motus_cuda_free, memory))
        abort();
    return out;
}

// Starts from 0, as FFmpeg does, and covers the visible samples of Y, Cb, Cr.
static uint32_t adler32(const MotusFrame *frame) {
    uint32_t a = 0, b = 0;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < frame->plane[c].height; y++)
            for (int x = 0; x < frame->plane[c].width; x++) {
                a = (a + frame->plane[c].data[y * frame->plane[c].stride + x]) % 65521;
                b = (b + a) % 65521;
            }
    return b << 16 | a;
}

// ---- Encodes ------------------------------------------------------------------------------------

static MotusEncoderConfig configure(const GridCase *c) {
    const int *row = c->row, rate = value(row, RATE), profile = value(row, PROFILE);
    MotusEncoderConfig config = motus_encoder_config_default(
        c->frame[0]->width, c->frame[0]->height, (MotusRational){30, 1});
    config.qp = value(row, QP);
    config.crf = config.qp;
    config.preset = (MotusPreset)value(row, PRESET);
    config.lookahead = value(row, AHEAD);
    config.keyint = value(row, KEYINT);
    config.deblock = value(row, DEBLOCK);
    config.subpel = (MotusSubpel)value(row, SUBPEL);
    config.range = value(row, RANGE);
    config.partitions = (uint32_t)value(row, PARTS);
    config.slices = value(row, SLICES);
    config.stream_only = value(row, OUTPUT);
    config.aud = value(row, AUD);
    config.profile = profile == BASELINE ? MOTUS_PROFILE_BASELINE
                     : profile <= MAIN   ? MOTUS_PROFILE_MAIN
                                         : MOTUS_PROFILE_HIGH;
    config.references = value(row, REFS);
    config.bframes = profile == BASELINE ? 0 : value(row, BFRAMES);
    config.weightb = value(row, WEIGHTS) & 1, config.weightp = value(row, WEIGHTS) >> 1;
    config.cabac = profile != MAIN_CAVLC && profile != HIGH_CAVLC;
    config.transform_8x8 = profile != HIGH_4x4;
    config.rate = rate == RATE_QP    ? MOTUS_RATE_QP
                  : rate <= RATE_AQ2 ? MOTUS_RATE_CRF
                                     : MOTUS_RATE_BITRATE;
    config.aq_mode = rate == RATE_AQ1   ? MOTUS_AQ_VARIANCE
                     : rate == RATE_AQ2 ? MOTUS_AQ_AUTO
                                        : MOTUS_AQ_OFF;
    config.bitrate = ((int64_t)config.width * config.height * 30 * 16 >> config.qp / 6) +
                     20000; // 16 bits a sample at QP 0
    if (rate == RATE_VBV)
        config.vbv_maxrate = config.bitrate * 5 / 4, config.vbv_bufsize = config.bitrate / 2;
    if (rate == RATE_CBR)
        config.vbv_maxrate = config.vbv_bufsize = config.bitrate, config.hrd = MOTUS_HRD_CBR;
    config.threads = 1;
    config.gop_coders = 1;
    config.backend = MOTUS_BACKEND_CPU;
    return config;
}

static void fail(GridCoded *coded, const char *what, const MotusError *error, MotusStatus status) {
    if (!*coded->failure)
        snprintf(coded->failure, sizeof coded->failure, "%s: %s", what,
                 error && error->status ? error->text : motus_status_text(status));
}

static void append(GridCoded *coded, const MotusPacket *packet) {
    coded->data = must(realloc(coded->data, coded->size + packet->size));
    memcpy(coded->data + coded->size, packet->data, packet->size);
    coded->size += packet->size;
    if (packet->pass_log) {
        const size_t had = coded->log ? strlen(coded->log) : 0;
        coded->log = must(realloc(coded->log, had + strlen(packet->pass_log) + 32));
        strcpy(coded->log + had, packet->pass_log);
    }
    coded->sum[packet->number] = packet->recon ? adler32(packet->recon) : 0;
    coded->pictures++;
}

static MotusStatus send(MotusEncoder *encoder, const GridCase *c, int i, int device) {
    const size_t n_mb =
        (size_t)((c->frame[0]->width + 15) / 16 * ((c->frame[0]->height + 15) / 16));
    int8_t *map = motus_conform_map((MotusConformMaps)value(c->row, MAPS), i, n_mb);
    MotusFrameParams params = {
        .size = sizeof params, .pts = i, .duration = 1, .qp_offset = map, .n_qp_offset = n_mb};
    if (c->field[i])
        params.external_mvs = c->field[i]->field, params.external_modes = c->field[i]->field_modes;
    params.external_final = value(c->row, VECTORS) == FINAL;
    const MotusStatus status = device
                                   ? motus_encoder_send_device(encoder, c->device[i], NULL, &params)
                                   : motus_encoder_send(encoder, c->frame[i], &params);
    free(map);
    return status;
}

// Codes the frames. kept: gets the packets by number; may be NULL.
static void encode(GridCoded *coded, const GridCase *c, const MotusEncoderConfig *config,
                   MotusPacket **kept) {
    MotusEncoder *encoder = NULL;
    MotusError error = {0};
    MotusPacket *packet;
    const int device = config->backend == MOTUS_BACKEND_CUDA && value(c->row, FRAMES);
    *coded = (GridCoded){0};
    MotusStatus status = motus_encoder_open(&encoder, config, &error);
    if (status) fail(coded, "open", &error, status);
    for (int i = 0; i <= c->n && !status; i++) {
        status = i < c->n ? send(encoder, c, i, device) : motus_encoder_send(encoder, NULL, NULL);
        if (status) fail(coded, "send", motus_encoder_error(encoder), status);
        while (!status && !(status = motus_encoder_receive(encoder, &packet, i < c->n ? 0 : -1))) {
            append(coded, packet);
            if (kept) kept[packet->number] = motus_packet_ref(packet);
            motus_packet_unref(&packet);
        }
        if (status < 0) fail(coded, "receive", motus_encoder_error(encoder), status);
        if (status > 0) status = MOTUS_OK;
    }
    if (!status && coded->pictures != c->n)
        fail(coded, "pictures are missing", NULL, MOTUS_ERR_INTERNAL);
    if (coded->log) sprintf(coded->log + strlen(coded->log), "end %d\n", coded->pictures);
    motus_encoder_close(&encoder);
}

static void drop(GridCoded *coded) {
    free(coded->data);
    free(coded->log);
    *coded = (GridCoded){0};
}

// ---- Cases --------------------------------------------------------------------------------------

// True if the row is coded in two passes.
static int two_passes(const GridCase *c) { return value(c->row, RATE) == RATE_TWO_PASSES; }

void grid_case_on_the_cpu(GridCase *c) {
    MotusEncoderConfig config = configure(c);
    config.threads = c->threads;
    config.stream_only = 0; // the reconstruction is there for all rows
    if (two_passes(c)) {
        config.pass = 1;
        encode(&c->first, c, &config, NULL);
        config.pass = 2;
        config.pass_log = c->first.log;
    }
    if (value(c->row, VECTORS) == SEARCHED) {
        encode(&c->want, c, &config, NULL);
        return;
    }
    MotusPacket *packet[GRID_FRAMES] = {0};
    config.export_field = 1;
    encode(&c->want, c, &config, packet); // searched, and its own field given back
    drop(&c->want);
    config.export_field = 0;
    for (int i = 0; i < c->n; i++) { // B pictures get the P picture's behind them
        int from = i;
        while (packet[from] && packet[from]->type == 'B' && from + 1 < c->n) from++;
        if (packet[from] && packet[from]->field) c->field[i] = motus_packet_ref(packet[from]);
    }
    encode(&c->want, c, &config, NULL);
    for (int i = 0; i < c->n; i++) motus_packet_unref(&packet[i]);
}

static int differ(const GridCoded *want, const GridCoded *got, char *failure, size_t room) {
    size_t at = 0;
    int picture = 0;
    *failure = 0;
    while (at < want->size && at < got->size && want->data[at] == got->data[at]) at++;
    while (picture < want->pictures &&
           (!got->sum[picture] || want->sum[picture] == got->sum[picture]))
        picture++;
    if (*got->failure)
        snprintf(failure, room, "%s", got->failure);
    else if (want->size != got->size || at < want->size)
        snprintf(failure, room, "%zu bytes, not %zu; the first that differs: %zu", got->size,
                 want->size, at);
    else if (picture < want->pictures)
        snprintf(failure, room, "reconstruction of picture %d differs", picture);
    else if (want->log && (!got->log || strcmp(want->log, got->log)))
        snprintf(failure, room, "the pass log differs");
    return *failure != 0;
}

void grid_print_failure(const GridCase *c, int gop_coders, const char *failure) {
    printf("FAILURE %s", c->sequence->name);
    grid_print_row(axes, AXES, c->row);
    printf(" gop-coders=%d: %s\n", gop_coders, failure);
    fflush(stdout);
}

unsigned grid_case_on_the_device(GridCase *c) {
    unsigned failures = 0;
    char failure[320];
    GridCoded got;
    if (value(c->row, FRAMES))
        for (int i = 0; i < c->n; i++) c->device[i] = on_device(c->frame[i]);
    for (int k = 0; k < COUNTS; k++) {
        MotusEncoderConfig config = configure(c);
        config.backend = MOTUS_BACKEND_CUDA;
        config.gop_coders = gop_coder_counts[k];
        if (two_passes(c)) {
            config.pass = 1;
            MotusPacket *field[GRID_FRAMES];
            memcpy(field, c->field, sizeof field);
            memset(c->field, 0, sizeof c->field); // as in the CPU's first pass
            encode(&got, c, &config, NULL);
            memcpy(c->field, field, sizeof field);
            if (differ(&c->first, &got, failure, sizeof failure))
                grid_print_failure(c, config.gop_coders, failure), failures++;
            drop(&got);
            config.pass = 2;
            config.pass_log = c->first.log;
        }
        encode(&got, c, &config, NULL);
        if (differ(&c->want, &got, failure, sizeof failure))
            grid_print_failure(c, config.gop_coders, failure), failures++;
        drop(&got);
    }
    for (int i = 0; i < c->n; i++) motus_frame_unref(&c->device[i]);
    return failures;
}

int grid_settings(int *values) {
    grid_counts(axes, AXES, values);
    return AXES;
}

void grid_case_open(GridCase *c, const GridSequence *sequence, const int *row, long budget,
                    int whole) {
    *c = (GridCase){.sequence = sequence, .row = row};
    c->n = grid_sequence_crop(c->frame, sequence, crop_size[whole ? 0 : value(row, CROP)], budget);
}

void grid_case_close(GridCase *c) {
    drop(&c->first);
    drop(&c->want);
    for (int i = 0; i < GRID_FRAMES; i++) {
        motus_frame_unref(&c->frame[i]);
        motus_packet_unref(&c->field[i]);
    }
}
