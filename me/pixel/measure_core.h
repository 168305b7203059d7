// SAD and SATD of a block displaced by any MV, summed over its 4x4 blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_MEASURE_CORE_H
#define ME_PIXEL_MEASURE_CORE_H

#include <string.h>

#include "me/pixel/pixel_core.h"
#include "me/pixel/ref_luma.h"

typedef struct MotusDistance {
    uint32_t sad, satd; // of 16x16 at most 65,280 and 130,560
} MotusDistance;

// Adds the 4x4 block at (x, y) displaced by mv; cur points at its samples.
MOTUS_HD void motus_measure4x4(MotusDistance *sum, const uint8_t *cur, ptrdiff_t cur_stride,
                               const MotusRefLuma *ref, int x, int y, MotusMv mv) {
    const int px = motus_ref_luma_clip(ref->width, x + (mv.x >> 2)),
              py = motus_ref_luma_clip(ref->height, y + (mv.y >> 2));
    const uint8_t *full = ref->plane[0] + py * ref->stride + px;
    const ptrdiff_t *tap = ref->tap[4 * (mv.y & 3) + (mv.x & 3)];
    uint8_t pred[16];
    for (int i = 0; i < 16; i++) {
        const ptrdiff_t at = (i >> 2) * ref->stride + (i & 3);
        pred[i] = (uint8_t)((full[tap[0] + at] + full[tap[1] + at] + 1) >> 1);
    }
    sum->sad += motus_sad4x4(cur, cur_stride, pred, 4);
    sum->satd += motus_satd4x4(cur, cur_stride, pred, 4);
}

// Measures the w x h block at (x, y) displaced by mv.
MOTUS_HD MotusDistance motus_measure(const uint8_t *cur, ptrdiff_t cur_stride,
                                     const MotusRefLuma *ref, int x, int y, int w, int h,
                                     MotusMv mv) {
    MotusDistance sum = {0, 0};
    for (int v = 0; v < h; v += 4)
        for (int u = 0; u < w; u += 4)
            motus_measure4x4(&sum, cur + v * cur_stride + u, cur_stride, ref, x + u, y + v, mv);
    return sum;
}

// Measures one of the 41 blocks of the MB at (x, y) of a picture of whole MBs.
MOTUS_HD MotusDistance motus_measure_block(const MotusBlock *block, const MotusPlane *cur,
                                           const MotusRefLuma *ref, int x, int y, MotusMv mv) {
    x += block->x, y += block->y;
    return motus_measure(cur->data + y * cur->stride + x, cur->stride, ref, x, y, block->width,
                         block->height, mv);
}

// A copy of motus_blocks, to pass to kernels.
typedef struct MotusBlockTable {
    MotusBlock block[MOTUS_BLOCKS];
} MotusBlockTable;

static inline MotusBlockTable motus_block_table(void) {
    MotusBlockTable table;
    memcpy(table.block, motus_blocks, sizeof table.block);
    return table;
}

#endif
