// Every rate control mode over a short sequence with cuts, for tests that CPU and GPU, threads and
// GOP coders agree.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_RATE_MODES_H
#define TESTS_RATE_MODES_H

#include "motus/encoder.h"
#include "tests/conformance/decoders/material.h"

enum { W = 96, H = 80, N_MB = 6 * 5, N = 30 };

static MotusFrame *frames[N];

static void make_frames(void) {
    for (int i = 0; i < N; i++)
        frames[i] = motus_material_frame(i / 12 % 2 ? MOTUS_MATERIAL_PATCHES : MOTUS_MATERIAL_SCENE,
                                         W, H, i);
}

static void drop_frames(void) {
    for (int i = 0; i < N; i++) motus_frame_unref(&frames[i]);
}

static MotusEncoderConfig config_of(MotusRateControl rate) {
    MotusEncoderConfig c = motus_encoder_config_default(W, H, (MotusRational){25, 1});
    c.backend = MOTUS_BACKEND_CPU;
    c.threads = 1;
    c.gop_coders = 1;
    c.preset = MOTUS_PRESET_FAST;
    c.rate = rate;
    c.crf = 27;
    c.bitrate = 150000;
    c.keyint = 10;
    c.min_keyint = 2;
    c.lookahead = 8;
    return c;
}

enum {
    CRF,
    CRF_AQ,
    CRF_PLAIN,
    BITRATE,
    VBV,
    CAPPED,
    CBR,
    TIGHT,
    SECOND_PASS,
    FIXED,
    SLICED,
    MODES
};

static char log_text[20000];

static MotusEncoderConfig config_of_mode(int mode) {
    const int by_quality = mode <= CRF_PLAIN || mode == CAPPED || mode == SLICED;
    MotusEncoderConfig c = config_of(mode == FIXED ? MOTUS_RATE_QP
                                     : by_quality  ? MOTUS_RATE_CRF
                                                   : MOTUS_RATE_BITRATE);
    if (mode == CRF_AQ) c.aq_mode = MOTUS_AQ_AUTO;
    if (mode == CRF_PLAIN) c.mb_tree = 0, c.aq_mode = MOTUS_AQ_VARIANCE, c.aq_strength = 0.5;
    if (mode == VBV || mode == CAPPED) c.vbv_maxrate = 200000, c.vbv_bufsize = 60000;
    if (mode == VBV) c.hrd = MOTUS_HRD_VBR;
    if (mode == CBR)
        c.vbv_maxrate = 150000, c.vbv_bufsize = 80000, c.hrd = MOTUS_HRD_CBR, c.qp_min = 24;
    if (mode == TIGHT)
        c.bitrate = c.vbv_maxrate = 90000, c.vbv_bufsize = 24000,
        c.lookahead = 0; // pictures are coded again
    if (mode == SLICED) c.slices = 3, c.aq_mode = MOTUS_AQ_VARIANCE;
    if (mode == SECOND_PASS) c.pass = 2, c.pass_log = log_text;
    return c;
}

// Returns the parameters of frame i: a forced IDR picture, and maps for some. `map` has N_MB
// entries.
static MotusFrameParams params_of(int i, int8_t *map) {
    for (int k = 0; k < N_MB; k++) map[k] = (int8_t)((k * 7 + i) % 9 - 4);
    return (MotusFrameParams){.size = sizeof(MotusFrameParams),
                              .pts = i,
                              .duration = 1,
                              .force_idr = i == 17,
                              .qp_offset = i % 4 == 3 ? map : NULL,
                              .n_qp_offset = N_MB};
}

#endif
