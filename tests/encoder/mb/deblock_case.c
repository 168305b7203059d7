// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/mb/deblock_case.h"

#include <string.h>

#include "common/int_core.h"
#include "encoder/mb/direct_core.h"
#include "tests/support/harness.h"

void deblock_case_samples(MotusPlane *plane, int spread) {
    for (int y = 0; y < plane->height; y++) {
        for (int x = 0; x < plane->width; x++) {
            const int level = 128 + ((x / 4 * 37 + y / 4 * 59) % 16 - 8) * spread / 8;
            plane->data[y * plane->stride + x] =
                motus_clip_u8(level + motus_test_range(-spread, spread) / 2);
        }
    }
}

static int random_type(DeblockKind kind) {
    if (kind == DEBLOCK_STILL) return MOTUS_MB_P_SKIP;
    const int intra =
        kind == DEBLOCK_INTRA || (kind == DEBLOCK_MIXED && motus_test_range(0, 2) == 0);
    return intra ? motus_test_range(MOTUS_MB_I_4x4, MOTUS_MB_I_PCM)
                 : motus_test_range(MOTUS_MB_P_SKIP, MOTUS_MB_P_8x8);
}

void deblock_case_mb(MotusMb *mb, DeblockKind kind, int qp) {
    memset(mb, 0, sizeof *mb);
    mb->type = (uint8_t)random_type(kind);
    mb->qp = (uint8_t)(mb->type == MOTUS_MB_I_PCM ? 0 : qp >= 0 ? qp : motus_test_range(0, 51));
    if (kind == DEBLOCK_STILL) return;
    const int whole = mb->type == MOTUS_MB_P_SKIP || mb->type == MOTUS_MB_P_16x16;
    const MotusMv first = {(int16_t)motus_test_range(-6, 6), (int16_t)motus_test_range(-6, 6)};
    for (int i = 0; i < 16 && mb->type < MOTUS_MB_I_4x4; i++) {
        mb->mv[i] = first;
        if (!whole) mb->mv[i].x = (int16_t)(first.x + motus_test_range(-3, 3));
        if (!whole) mb->mv[i].y = (int16_t)(first.y + motus_test_range(-3, 3));
    }
    mb->cbp = mb->type == MOTUS_MB_P_SKIP ? 0 : (uint8_t)motus_test_range(0, 15);
    for (int i = 0; i < 16; i++)
        if (mb->cbp >> motus_8x8_of(i) & 1)
            mb->total_coeff[i] = (uint8_t)(motus_test_range(0, 2) == 0);
    if (mb->type == MOTUS_MB_I_PCM) memset(mb->total_coeff, 16, sizeof mb->total_coeff);
    mb->transform_8x8 = (mb->type < MOTUS_MB_I_4x4 ? mb->cbp != 0 : mb->type == MOTUS_MB_I_4x4) &&
                        motus_test_range(0, 1);
    if (!mb->transform_8x8) return;
    mb->cbp = 0; // it has the 8x8 blocks with levels
    for (int i = 0; i < 16; i++) mb->cbp |= (uint8_t)((mb->total_coeff[i] > 0) << motus_8x8_of(i));
}

// The first 8x8 block of the partition that each belongs to, by type.
static const uint8_t first_block[][4] = {
    {0, 1, 2, 3}, {0, 0, 0, 0}, {0, 0, 2, 2}, {0, 1, 0, 1}, {0, 1, 2, 3}};

void deblock_case_refs(MotusMb *mb, int refs) {
    if (motus_mb_is_intra(mb) || mb->type == MOTUS_MB_P_SKIP) return;
    for (int q = 0; q < 4; q++) {
        const int first = first_block[mb->type][q];
        mb->ref[0][q] = first == q ? (uint8_t)motus_test_range(0, refs - 1) : mb->ref[0][first];
    }
}

static MotusMv near_mv(MotusMv mv) {
    const MotusMv near = {(int16_t)(mv.x + motus_test_range(-3, 3)),
                          (int16_t)(mv.y + motus_test_range(-3, 3))};
    return near;
}

void deblock_case_b(MotusMb *mb, int refs) {
    const uint8_t one_ref = (uint8_t)motus_test_range(0, refs - 1);
    const MotusMv mv0 = mb->mv[0], mv1 = {(int16_t)motus_test_range(-6, 6), 2};
    if (motus_mb_is_intra(mb)) return;
    memset(mb->sub_type, 0, sizeof mb->sub_type);
    const int direct = mb->type == MOTUS_MB_P_SKIP ||
                       (mb->type == MOTUS_MB_P_16x16 && motus_test_range(0, 1)),
              pred = motus_test_range(0, 2);
    if (direct) mb->direct = MOTUS_ALL_DIRECT; // one list and reference for all, MVs may differ
    for (int q = 0; q < 4; q++) {
        const int first = first_block[direct ? 0 : mb->type][q],
                  from = first / 2 * 8 + first % 2 * 2;
        const uint8_t ref[2] = {
            direct || motus_test_range(0, 1) ? one_ref : (uint8_t)motus_test_range(0, refs - 1), 0};
        if (first == q)
            motus_set_8x8(mb, q, direct || motus_test_range(0, 1) ? pred : motus_test_range(0, 2),
                          ref, near_mv(mv0), near_mv(mv1));
        else
            motus_set_8x8(mb, q, mb->pred[first], (uint8_t[2]){mb->ref[0][first], 0}, mb->mv[from],
                          mb->mv1[first]);
    }
}
