// SAD and SATD of a block displaced by any vector, 4x4 block by 4x4 block.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAMPLES_MEASURE_CORE_H
#define ME_SAMPLES_MEASURE_CORE_H

#include <string.h>

#include "me/samples/pixel_core.h"
#include "me/samples/ref_luma.h"

typedef struct MotusDistance {
    uint32_t sad, satd; // of 16x16 at most 65,280 and 130,560
} MotusDistance;

// Adds the 4x4 block at (x, y) displaced by mv; cur points at its samples.
MOTUS_HD void motus_measure4x4(MotusDistance *sum, const uint8_t *cur, ptrdiff_t cur_stride,
                               const MotusRefLuma *ref, int x, int y, MotusMv mv) {
    const int px = motus_ref_luma_place(ref->width, x + (mv.x >> 2)),
              py = motus_ref_luma_place(ref->height, y + (mv.y >> 2));
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

// The w x h block at (x, y).
MOTUS_HD MotusDistance motus_measure(const uint8_t *cur, ptrdiff_t cur_stride,
                                     const MotusRefLuma *ref, int x, int y, int w, int h,
                                     MotusMv mv) {
    MotusDistance sum = {0, 0};
    for (int v = 0; v < h; v += 4)
        for (int u = 0; u < w; u += 4)
            motus_measure4x4(&sum, cur + v * cur_stride + u, cur_stride, ref, x + u, y + v, mv);
    return sum;
}

// One of the 41 blocks of the MB at (x, y) of a picture of whole MBs.
MOTUS_HD MotusDistance motus_measure_block(const MotusBlock *block, const MotusPlane *cur,
                                           const MotusRefLuma *ref, int x, int y, MotusMv mv) {
    x += block->x, y += block->y;
    return motus_measure(cur->data + y * cur->stride + x, cur->stride, ref, x, y, block->width,
                         block->height, mv);
}

// motus_blocks for kernels, as an argument: the array itself is the host's.
typedef struct MotusBlockTable {
    MotusBlock block[MOTUS_BLOCKS];
} MotusBlockTable;

static inline MotusBlockTable motus_block_table(void) {
    MotusBlockTable table;
    memcpy(table.block, motus_blocks, sizeof table.block);
    return table;
}

#endif
