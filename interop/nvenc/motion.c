// Motion estimation only: an MB's best partition of 16x16, 8x8, 16x8 and 8x16 in one reference,
// with quarter-sample MVs and its cost, by requests of me_request.h.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "interop/nvenc/session.h"

enum {
    RANGE = 32,
    LAMBDA_Q8 = 4 * 256, // an MV's bit costs as much as 4 of SATD
    PARTITION_BITS = 4,  // of each block behind an MB's first one
    LAST_BLOCK = MOTUS_BLOCK_8x8 + 4,
};

NVENCSTATUS motus_nvenc_open_motion(Session *s) {
    const int width = (int)s->init.encodeWidth, height = (int)s->init.encodeHeight;
    MotusMeConfig config = motus_me_config_default(width, height);
    config.range = RANGE;
    config.modes = 1u << MOTUS_MODE_16x16 | 1u << MOTUS_MODE_16x8 | 1u << MOTUS_MODE_8x16 |
                   1u << MOTUS_MODE_8x8;
    MotusError error = {MOTUS_OK, ""};
    config.error = &error;
    config.backend = s->device < 0 ? MOTUS_BACKEND_CPU : MOTUS_BACKEND_CUDA;
    config.device = s->device;
    s->n_mb = ((width + 15) / 16) * ((height + 15) / 16);
    s->mv = calloc((size_t)s->n_mb * LAST_BLOCK, sizeof *s->mv);
    s->cost = calloc((size_t)s->n_mb * LAST_BLOCK, sizeof *s->cost);
    MotusStatus status = s->mv && s->cost ? MOTUS_OK : MOTUS_ERR_MEMORY;
    motus_nvenc_enter(s);
    if (!status) status = motus_me_open(&s->me, &config);
    if (!status) status = motus_me_reference_alloc(&s->reference, s->me);
    if (!status && s->device >= 0 && s->cuda->stream_create(&s->own_stream, CU_STREAM_NON_BLOCKING))
        status = MOTUS_ERR_CUDA;
    motus_nvenc_leave(s);
    if (status && *error.text)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "%s", error.text);
    return motus_nvenc_status(s, status, "opening");
}

// Chooses the cheapest of the four partitions of an MB; partitionType as nvEncodeAPI.h numbers it.
static NV_ENC_H264_MV_DATA choose(const Session *s, int mb) {
    static const struct {
        int first, n;
    } partition[4] = {
        {MOTUS_BLOCK_16x16, 1}, {MOTUS_BLOCK_8x8, 4}, {MOTUS_BLOCK_16x8, 2}, {MOTUS_BLOCK_8x16, 2}};
    NV_ENC_H264_MV_DATA best = {.mbType = 1, .mbCost = UINT32_MAX};
    for (int type = 0; type < 4; type++) {
        const int first = partition[type].first, n = partition[type].n;
        uint32_t cost = (uint32_t)(n - 1) * (LAMBDA_Q8 >> 8) * PARTITION_BITS;
        for (int i = 0; i < n; i++) cost += s->cost[(first + i) * s->n_mb + mb];
        if (cost >= best.mbCost) continue;
        best.mbCost = cost, best.partitionType = (uint8_t)type;
        for (int i = 0; i < 4; i++) {
            const MotusMv mv = s->mv[(first + (i < n ? i : 0)) * s->n_mb + mb];
            best.mv[i] = (NV_ENC_MVECTOR){mv.x, mv.y};
        }
    }
    return best;
}

// The first hint of each MB, in whole samples, as the centre of its window. NULL: none.
static MotusMv *centres_of(const Session *s, const NV_ENC_MEONLY_PARAMS *p) {
    const NVENC_EXTERNAL_ME_HINT_COUNTS_PER_BLOCKTYPE *n = &p->meHintCountsPerBlock[0];
    const int hints = (int)(n->numCandsPerBlk16x16 + 2 * n->numCandsPerBlk16x8 +
                            2 * n->numCandsPerBlk8x16 + 4 * n->numCandsPerBlk8x8);
    if (!s->init.enableExternalMEHints || !p->meExternalHints || !hints) return NULL;
    MotusMv *centre = malloc((size_t)s->n_mb * sizeof *centre);
    for (int mb = 0; centre && mb < s->n_mb; mb++) {
        const NVENC_EXTERNAL_ME_HINT hint = p->meExternalHints[(size_t)mb * hints];
        const int is_there = hint.refidx == 0;
        centre[mb] = (MotusMv){(int16_t)(is_there ? 4 * hint.mvx : 0),
                               (int16_t)(is_there ? 4 * hint.mvy : 0)};
    }
    return centre;
}

NVENCSTATUS motus_nvenc_motion(Session *s, const NV_ENC_MEONLY_PARAMS *p) {
    if (!s->me) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_CALL, "the session encodes");
    const Input *in = motus_nvenc_input(s, p->inputBuffer);
    const Input *before = motus_nvenc_input(s, p->referenceFrame);
    Output *out = motus_nvenc_output(s, p->mvBuffer);
    if (!in || !before || !out || !out->mv)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no such frame or MV buffer");
    MotusPlane luma, reference;
    MotusMv *centre = centres_of(s, p);
    const MotusMeHints hints = {.centre = centre, .lambda_q8 = LAMBDA_Q8};
    motus_nvenc_enter(s);
    NVENCSTATUS status = motus_nvenc_luma(s, before, &reference);
    const int on_device = s->device >= 0;
    MotusStatus searched = MOTUS_OK;
    if (!status)
        searched = motus_me_reference_fill(s->reference, s->me, &reference,
                                           before->on_device && on_device ? MOTUS_MEMORY_DEVICE
                                                                          : MOTUS_MEMORY_HOST,
                                           s->input_stream);
    if (!status && !searched) status = motus_nvenc_luma(s, in, &luma);
    if (!status && !searched) {
        const MotusMeTarget target = {
            .reference = s->reference, .hints = &hints, .mv = s->mv, .cost = s->cost};
        MotusMeRequest request = motus_me_request_default(&luma, &target, 1);
        request.memory = in->on_device && on_device ? MOTUS_MEMORY_DEVICE : MOTUS_MEMORY_HOST;
        request.stream = s->input_stream;
        searched = motus_me_request(s->me, &request);
        if (!searched) searched = motus_me_wait(s->me, NULL, -1);
    }
    motus_nvenc_leave(s);
    free(centre);
    if (status) return status;
    if (searched) {
        const MotusError *error = motus_me_error(s->me);
        return motus_nvenc_fail(s, NV_ENC_ERR_GENERIC, "motion: %s",
                                *error->text ? error->text : motus_status_text(searched));
    }
    for (int mb = 0; mb < s->n_mb; mb++) out->mv[mb] = choose(s, mb);
    return NV_ENC_SUCCESS;
}
