// Choice of the level (A.3.1, table A-1).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/headers.h"

#include "common/int_core.h"

// Level 1b is left out: it differs from level 1 in bit rates only. MaxDpbMbs never matters here: it
// is at least MaxFS, room for one reference.
static const MotusLevel levels[] = {
    {10, 1485, 99, 64, 0, 64, 175},
    {11, 3000, 396, 128, 0, 192, 500},
    {12, 6000, 396, 128, 0, 384, 1000},
    {13, 11880, 396, 128, 0, 768, 2000},
    {20, 11880, 396, 128, 0, 2000, 2000},
    {21, 19800, 792, 256, 0, 4000, 4000},
    {22, 20250, 1620, 256, 0, 4000, 4000},
    {30, 40500, 1620, 256, 32, 10000, 10000},
    {31, 108000, 3600, 512, 16, 14000, 14000},
    {32, 216000, 5120, 512, 16, 20000, 20000},
    {40, 245760, 8192, 512, 16, 20000, 25000},
    {41, 245760, 8192, 512, 16, 50000, 62500},
    {42, 522240, 8704, 512, 16, 50000, 62500},
    {50, 589824, 22080, 512, 16, 135000, 135000},
    {51, 983040, 36864, 512, 16, 240000, 240000},
    {52, 2073600, 36864, 512, 16, 240000, 240000},
    {60, 4177920, 139264, 8192, 16, 240000, 240000},
    {61, 8355840, 139264, 8192, 16, 480000, 480000},
    {62, 16711680, 139264, 8192, 16, 800000, 800000},
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

static int size_fits(const MotusLevel *level, int mb_width, int mb_height) {
    uint64_t w = (uint64_t)mb_width, h = (uint64_t)mb_height, side = w > h ? w : h;
    return w * h <= level->max_fs && side * side <= 8u * (uint64_t)level->max_fs;
}

const MotusLevel *motus_level_choose(int mb_width, int mb_height, MotusRational fps, int reach_y) {
    const MotusLevel *highest = &levels[LEVELS - 1];
    if (!size_fits(highest, mb_width, mb_height)) return NULL;
    reach_y = motus_min(reach_y, highest->max_mv_y - 1);
    uint64_t rate = (uint64_t)(mb_width * mb_height) * (uint64_t)fps.num; // MBs per fps.den seconds
    for (const MotusLevel *level = levels; level < highest; level++)
        if (size_fits(level, mb_width, mb_height) && rate <= level->max_mbps * (uint64_t)fps.den &&
            reach_y < level->max_mv_y)
            return level;
    return highest;
}

// A.3.1: cpbBrNalFactor of the Baseline profiles.
#define BITS_OF_UNIT 1200

const MotusLevel *motus_level_for_rate(const MotusLevel *level, int64_t rate, int64_t size) {
    while (level < &levels[LEVELS - 1] && (rate > level->max_br * (int64_t)BITS_OF_UNIT ||
                                           size > level->max_cpb * (int64_t)BITS_OF_UNIT))
        level++;
    return level;
}
