// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/external_mvs.h"

#include <string.h>

#include "common/error.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/measure_core.h"

static uint32_t modes_of(const MotusFrameParams *params) {
    return params->external_modes ? params->external_modes : MOTUS_MODES_ALL;
}

// Leaves room for refinement, which moves an MV by up to 3 quarter samples.
static MotusStatus check_mv(const MotusStream *s, MotusMv mv, int mb, int b, MotusError *error) {
    const int max_x = 4 * 2047, max_y = s->limits.max_mv_y - 4, unit = s->limits.unit;
    if (motus_abs(mv.x) > max_x || motus_abs(mv.y) > max_y)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "vector (%d, %d) of macroblock %d, block %d, is outside +-%d, +-%d "
                          "quarter samples, the range of level %d.%d",
                          mv.x, mv.y, mb, b, max_x, max_y, s->sequence.level->level_idc / 10,
                          s->sequence.level->level_idc % 10);
    if ((mv.x | mv.y) & (unit - 1))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "vector (%d, %d) of macroblock %d, block %d, in quarter samples, is "
                          "finer than the encoder's vectors",
                          mv.x, mv.y, mb, b);
    return MOTUS_OK;
}

MotusStatus motus_external_mvs_check(const MotusStream *s, const MotusFrameParams *params,
                                     MotusError *error) {
    const MotusField *field = params->external_mvs;
    const uint32_t modes = modes_of(params);
    if (field->mb_width != s->mb_width || field->mb_height != s->mb_height ||
        field->n_mb != s->mb_width * s->mb_height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "the field has %dx%d macroblocks, the picture %dx%d", field->mb_width,
                          field->mb_height, s->mb_width, s->mb_height);
    if (modes & ~MOTUS_MODES_ALL || !(modes >> MOTUS_MODE_16x16 & 1))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "the field's modes 0x%x are unknown or lack 16x16", (unsigned)modes);
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        if (!(modes >> motus_blocks[b].mode & 1)) continue;
        if (!field->mv[b])
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "the field has no vectors of block %d", b);
        for (int mb = 0; mb < field->n_mb; mb++) {
            MotusStatus status = check_mv(s, field->mv[b][mb], mb, b, error);
            if (status) return status;
        }
    }
    return MOTUS_OK;
}

size_t motus_external_mvs_bytes(const MotusStream *s) {
    return MOTUS_BLOCKS * sizeof(MotusMv) * (size_t)s->mb_width * (size_t)s->mb_height;
}

MotusExternalMvs motus_external_mvs_copy(const MotusStream *s, const MotusFrameParams *params,
                                         void *memory) {
    const size_t n = (size_t)s->mb_width * (size_t)s->mb_height;
    MotusMv *mv = memory;
    MotusExternalMvs external = {
        .mv = mv, .modes = modes_of(params), .final = params->external_final != 0};
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (external.modes >> motus_blocks[b].mode & 1)
            memcpy(mv + (size_t)b * n, params->external_mvs->mv[b], n * sizeof *mv);
    return external;
}

void motus_external_mvs_measure(const MotusExternalMvs *external, uint32_t modes,
                                const MotusPlane *src, const MotusRefLuma *ref,
                                const MotusMv *predictor, uint32_t lambda_q8, int threads,
                                MotusField *field) {
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int mb = 0; mb < field->n_mb; mb++) {
        const int x = 16 * (mb % field->mb_width), y = 16 * (mb / field->mb_width);
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            if (!(modes >> motus_blocks[b].mode & 1)) continue;
            const MotusMv mv = external->mv[(size_t)b * (size_t)field->n_mb + (size_t)mb];
            const uint32_t sad = motus_measure_block(&motus_blocks[b], src, ref, x, y, mv).sad;
            field->mv[b][mb] = mv;
            field->sad[b][mb] = (uint16_t)sad;
            field->cost[b][mb] = sad + motus_mv_cost(lambda_q8, mv, predictor[mb]);
        }
    }
}
