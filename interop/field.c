// SPDX-License-Identifier: BSD-2-Clause
#include "interop/field.h"

// Returns the block of `mode` that contains the 4x4 block with this raster number.
static int block_at(int mode, int at) {
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        const MotusBlock *k = &motus_blocks[b];
        const int x = 4 * (at % 4), y = 4 * (at / 4);
        if (k->mode == mode && x >= k->x && x < k->x + k->width && y >= k->y &&
            y < k->y + k->height)
            return b;
    }
    return 0;
}

// Returns the cost of the blocks of a mode in a mask of 8x8 quarters, UINT64_MAX if the field does
// not have the mode.
static uint64_t cost_of(const MotusField *field, uint32_t modes, int mb, int mode,
                        unsigned quarters) {
    uint64_t sum = 0;
    if (!(modes >> mode & 1)) return UINT64_MAX;
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        const MotusBlock *k = &motus_blocks[b];
        if (k->mode == mode && quarters >> (k->y / 8 * 2 + k->x / 8) & 1) sum += field->cost[b][mb];
    }
    return sum;
}

// Returns the mode of least cost from `first` to `last`, -1 if the field has none of them.
static int best_mode(const MotusField *field, uint32_t modes, int mb, int first, int last,
                     unsigned quarters, uint64_t *least) {
    int best = -1;
    *least = UINT64_MAX;
    for (int mode = first; mode <= last; mode++) {
        const uint64_t cost = cost_of(field, modes, mb, mode, quarters);
        if (cost < *least) *least = cost, best = mode;
    }
    return best;
}

void motus_field_best_blocks(const MotusField *field, uint32_t modes, int mb, uint8_t block[16]) {
    uint64_t whole, quarters = 0;
    int mode = best_mode(field, modes, mb, MOTUS_MODE_16x16, MOTUS_MODE_8x16, 15, &whole), sub[4];
    for (int q = 0; q < 4; q++) {
        uint64_t cost;
        sub[q] = best_mode(field, modes, mb, MOTUS_MODE_8x8, MOTUS_MODE_4x4, 1u << q, &cost);
        quarters = sub[q] < 0 || quarters == UINT64_MAX ? UINT64_MAX : quarters + cost;
    }
    if (quarters < whole) mode = -1;
    for (int i = 0; i < 16; i++)
        block[i] = (uint8_t)block_at(mode < 0 ? sub[i / 8 * 2 + i % 4 / 2] : mode, i);
}

// ---- NVENC --------------------------------------------------------------------------------------

void motus_field_to_nvenc(const MotusField *field, uint32_t modes, MotusNvencMb *to) {
    static const uint8_t type[4] = {0, 2, 3, 1};
    for (int mb = 0; mb < field->n_mb; mb++) {
        uint64_t cost;
        const int mode = best_mode(field, modes, mb, MOTUS_MODE_16x16, MOTUS_MODE_8x8, 15, &cost);
        to[mb] = (MotusNvencMb){.mb_type = 1};
        if (mode < 0) continue;
        to[mb].partition_type = type[mode];
        to[mb].mb_cost = (uint32_t)cost;
        int n = 0;
        for (int b = 0; b < MOTUS_BLOCKS; b++)
            if (motus_blocks[b].mode == mode) to[mb].mv[n++] = field->mv[b][mb];
    }
}

int motus_nvenc_hints(uint32_t modes) {
    static const int n[4] = {1, 2, 2, 4};
    int sum = 0;
    for (int mode = 0; mode < 4; mode++) sum += modes >> mode & 1 ? n[mode] : 0;
    return sum;
}

// Rounds a component to whole samples and clips it to `bits`.
static uint32_t hint_component(int v, int bits) {
    const int most = (1 << (bits - 1)) - 1, whole = (v + 2) >> 2;
    return (uint32_t)(whole > most        ? most
                      : whole < -most - 1 ? -most - 1
                                          : whole) &
           ((1u << bits) - 1);
}

void motus_field_to_nvenc_hints(const MotusField *field, uint32_t modes, uint32_t *hints) {
    const int n = motus_nvenc_hints(modes);
    for (int mb = 0; mb < field->n_mb; mb++) {
        uint32_t *to = hints + (size_t)mb * (size_t)n;
        int at = 0;
        for (int b = 0; b < MOTUS_BLOCK_8x4; b++) {
            const int mode = motus_blocks[b].mode,
                      last = b + 1 == MOTUS_BLOCK_8x4 || motus_blocks[b + 1].mode != mode;
            if (!(modes >> mode & 1)) continue;
            to[at] = hint_component(field->mv[b][mb].x, 12) |
                     hint_component(field->mv[b][mb].y, 10) << 12 | (uint32_t)mode << 28 |
                     (uint32_t)last << 30;
            if (++at == n) to[at - 1] |= 1u << 31;
        }
    }
}

// ---- FEI ----------------------------------------------------------------------------------------

void motus_field_to_fei(const MotusField *field, uint32_t modes, MotusFeiMb *to) {
    const MotusMv none = {INT16_MIN, INT16_MIN};
    for (int mb = 0; mb < field->n_mb; mb++) {
        uint8_t block[16];
        motus_field_best_blocks(field, modes, mb, block);
        for (int i = 0; i < 16; i++) {
            const int raster = (i & 8) | (i & 4) >> 1 | (i & 2) << 1 | (i & 1);
            to[mb].mv[i][0] = field->mv[block[raster]][mb];
            to[mb].mv[i][1] = none;
        }
    }
}

// ---- Flow ---------------------------------------------------------------------------------------

void motus_field_to_flow(const MotusField *field, uint32_t modes, int width, int height,
                         float *flow) {
    for (int mb = 0; mb < field->n_mb; mb++) {
        const int left = 16 * (mb % field->mb_width), top = 16 * (mb / field->mb_width);
        uint8_t block[16];
        motus_field_best_blocks(field, modes, mb, block);
        for (int y = top; y < top + 16 && y < height; y++)
            for (int x = left; x < left + 16 && x < width; x++) {
                const MotusMv mv = field->mv[block[(y - top) / 4 * 4 + (x - left) / 4]][mb];
                float *to = flow + 2 * ((size_t)y * (size_t)width + (size_t)x);
                to[0] = (float)mv.x / 4;
                to[1] = (float)mv.y / 4;
            }
    }
}
