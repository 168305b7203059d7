// Choice of the level (A.3.1, table A-1).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/headers.h"

#include "common/int_core.h"

// Level 1b is left out: it differs from level 1 in the bit rate only. MaxDpbMbs never matters here: it is at least MaxFS, room for one reference.
static const MotusLevel levels[] = {
    {10, 1485, 99, 64, 0},
    {11, 3000, 396, 128, 0},
    {12, 6000, 396, 128, 0},
    {13, 11880, 396, 128, 0},
    {20, 11880, 396, 128, 0},
    {21, 19800, 792, 256, 0},
    {22, 20250, 1620, 256, 0},
    {30, 40500, 1620, 256, 32},
    {31, 108000, 3600, 512, 16},
    {32, 216000, 5120, 512, 16},
    {40, 245760, 8192, 512, 16},
    {41, 245760, 8192, 512, 16},
    {42, 522240, 8704, 512, 16},
    {50, 589824, 22080, 512, 16},
    {51, 983040, 36864, 512, 16},
    {52, 2073600, 36864, 512, 16},
    {60, 4177920, 139264, 8192, 16},
    {61, 8355840, 139264, 8192, 16},
    {62, 16711680, 139264, 8192, 16},
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
        if (size_fits(level, mb_width, mb_height) && rate <= level->max_mbps * (uint64_t)fps.den && reach_y < level->max_mv_y)
            return level;
    return highest;
}
