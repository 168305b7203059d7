// Motion fields in the formats of other encoders, against their own headers where installed; the
// choice of partitions against a direct one.
// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interop/field.h"
#include "tests/support/harness.h"
#ifdef MOTUS_HAVE_NVENC_HEADER
#include <ffnvcodec/nvEncodeAPI.h>
#endif
#ifdef MOTUS_HAVE_FEI_HEADER
#include <mfx/mfxfei.h>
#endif

enum { WIDTH = 70, HEIGHT = 40, CASES = 60 }; // no whole MBs

static MotusField *random_field(int whole_range) {
    MotusField *field = NULL;
    REQUIRE_OK(motus_field_alloc(&field, WIDTH, HEIGHT));
    const int reach = whole_range ? 32767 : 300,
              most = motus_test_range(0, 1) ? 3 : 4000; // small costs are often equal
    for (int i = 0; i < MOTUS_BLOCKS * field->n_mb; i++) {
        field->mv[0][i] = (MotusMv){(int16_t)motus_test_range(-reach, reach),
                                    (int16_t)motus_test_range(-reach, reach)};
        const MotusBlock *k = &motus_blocks[i / field->n_mb];
        field->cost[0][i] = (uint32_t)(motus_test_range(0, most) * k->width * k->height / 16);
    }
    return field;
}

static uint32_t random_modes(void) { return 1u | (uint32_t)motus_test_range(0, 63) << 1; }

// Sums a mode's costs in the 8x8 block q, or in the MB (-1).
static uint64_t sum_of(const MotusField *f, int mb, int mode, int q) {
    uint64_t sum = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (motus_blocks[b].mode == mode &&
            (q < 0 || (motus_blocks[b].x / 8 == q % 2 && motus_blocks[b].y / 8 == q / 2)))
            sum += f->cost[b][mb];
    return sum;
}

static int covers(int b, int at) {
    const MotusBlock *k = &motus_blocks[b];
    const int x = at % 4 * 4, y = at / 4 * 4;
    return x >= k->x && x < k->x + k->width && y >= k->y && y < k->y + k->height;
}

// Checks that every other partitioning of the MB costs at least as much as the chosen one, and more
// if it comes first.
static void check_least(const MotusField *f, uint32_t modes, int mb) {
    uint8_t block[16];
    motus_field_best_blocks(f, modes, mb, block);
    uint64_t cost = 0, quarters = 0;
    for (int i = 0; i < 16; i++) {
        MOTUS_CHECK(block[i] < MOTUS_BLOCKS && covers(block[i], i) &&
                        modes >> motus_blocks[block[i]].mode & 1,
                    "mb %d: %d at %d", mb, block[i], i);
        int first = 1;
        for (int k = 0; k < i; k++) first &= block[k] != block[i];
        if (first) cost += f->cost[block[i]][mb];
    }
    const int mode = motus_blocks[block[0]].mode;
    for (int m = 0; m < MOTUS_MODE_8x8; m++)
        if (modes >> m & 1)
            MOTUS_CHECK(sum_of(f, mb, m, -1) > cost || (sum_of(f, mb, m, -1) == cost && m >= mode),
                        "mb %d mode %d", mb, m);
    if (!(modes >> MOTUS_MODE_8x8)) return;
    for (int q = 0; q < 4; q++) {
        uint64_t least = UINT64_MAX;
        for (int m = MOTUS_MODE_8x8; m < MOTUS_MODES; m++)
            if (modes >> m & 1 && sum_of(f, mb, m, q) < least) least = sum_of(f, mb, m, q);
        quarters += least;
    }
    MOTUS_CHECK(cost <= quarters, "mb %d: %llu, quarters %llu", mb, (unsigned long long)cost,
                (unsigned long long)quarters);
}

static void least_partitions(void) {
    for (int i = 0; i < CASES; i++) {
        MotusField *f = random_field(0);
        const uint32_t modes = random_modes();
        for (int mb = 0; mb < f->n_mb; mb++) check_least(f, modes, mb);
        motus_field_free(&f);
    }
}

static void nvenc_data(void) {
    static const int first[4] = {MOTUS_BLOCK_16x16, MOTUS_BLOCK_8x8, MOTUS_BLOCK_16x8,
                                 MOTUS_BLOCK_8x16},
                     n[4] = {1, 4, 2, 2};
#ifdef MOTUS_HAVE_NVENC_HEADER
    CU_ASSERT_EQUAL(sizeof(MotusNvencMb), sizeof(NV_ENC_H264_MV_DATA));
#else
    typedef MotusNvencMb NV_ENC_H264_MV_DATA;
#endif
    CU_ASSERT_EQUAL(sizeof(MotusNvencMb), 24);
    for (int i = 0; i < CASES; i++) {
        MotusField *f = random_field(1);
        const uint32_t modes = random_modes();
        MotusNvencMb *mb = calloc((size_t)f->n_mb, sizeof *mb);
        motus_field_to_nvenc(f, modes, mb);
        for (int k = 0; k < f->n_mb; k++) {
            NV_ENC_H264_MV_DATA theirs;
            uint8_t raw[sizeof theirs];
            memcpy(&theirs, &mb[k], sizeof theirs);
            memcpy(raw, &mb[k], sizeof raw);
            const int type = raw[17]; // partitionType
            uint64_t cost = 0;
            MOTUS_CHECK(raw[16] == 1 && type < 4, "type %d of %d", type, raw[16]);
            for (int v = 0; v < 4; v++) {
                const MotusMv want =
                    v < n[type & 3] ? f->mv[first[type & 3] + v][k] : (MotusMv){0, 0};
                int16_t got[2];
                memcpy(got, raw + 4 * v, sizeof got);
                MOTUS_CHECK(got[0] == want.x && got[1] == want.y, "mb %d vector %d", k, v);
                if (v < n[type & 3]) cost += f->cost[first[type & 3] + v][k];
            }
            for (int m = 0; m < 4; m++)
                MOTUS_CHECK(!(modes >> m & 1) || sum_of(f, k, m, -1) >= cost, "mb %d mode %d", k,
                            m);
#ifdef MOTUS_HAVE_NVENC_HEADER
            MOTUS_CHECK(theirs.mbType == 1 && theirs.partitionType == type &&
                            theirs.mbCost == cost &&
                            theirs.mv[0].mvx == f->mv[first[type & 3]][k].x &&
                            theirs.mv[0].mvy == f->mv[first[type & 3]][k].y,
                        "mb %d as nvEncodeAPI.h reads it", k);
#else
            MOTUS_CHECK(theirs.mb_cost == cost, "mb %d cost", k);
#endif
        }
        free(mb);
        motus_field_free(&f);
    }
}

typedef struct Hint {
    int x, y, ref, dir, type, last_of_part, last_of_mb;
} Hint;

static Hint read_hint(uint32_t word) {
#ifdef MOTUS_HAVE_NVENC_HEADER
    NVENC_EXTERNAL_ME_HINT h;
    CU_ASSERT_EQUAL_FATAL(sizeof h, sizeof word);
    memcpy(&h, &word, sizeof h);
    return (Hint){h.mvx,         h.mvy, h.refidx & 31, h.dir & 1, h.partType & 3, h.lastofPart & 1,
                  h.lastOfMB & 1};
#else
    const int x = (int)(word & 4095), y = (int)(word >> 12 & 1023);
    return (Hint){x < 2048 ? x : x - 4096, y < 512 ? y : y - 1024, (int)(word >> 22 & 31),
                  (int)(word >> 27 & 1),   (int)(word >> 28 & 3),  (int)(word >> 30 & 1),
                  (int)(word >> 31)};
#endif
}

static int clipped(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static void nvenc_hints(void) {
    static const int n[4] = {1, 2, 2, 4}, first[4] = {MOTUS_BLOCK_16x16, MOTUS_BLOCK_16x8,
                                                      MOTUS_BLOCK_8x16, MOTUS_BLOCK_8x8};
    for (int i = 0; i < CASES; i++) {
        MotusField *f = random_field(i & 1);
        const uint32_t modes = random_modes();
        const int words = motus_nvenc_hints(modes);
        uint32_t *hints = (uint32_t *)(void *)motus_test_guarded((size_t)(f->n_mb * words) *
                                                                 sizeof *hints),
                 *at = hints;
        motus_field_to_nvenc_hints(f, modes, hints);
        CU_ASSERT_TRUE(motus_test_guard_ok((uint8_t *)hints));
        for (int mb = 0; mb < f->n_mb; mb++)
            for (int mode = 0; mode < 4; mode++)
                for (int k = 0; modes >> mode & 1 && k < n[mode]; k++, at++) {
                    const MotusMv mv = f->mv[first[mode] + k][mb];
                    const Hint h = read_hint(*at);
                    MOTUS_CHECK(h.x == clipped((mv.x + 2) >> 2, -2048, 2047) &&
                                    h.y == clipped((mv.y + 2) >> 2, -512, 511),
                                "(%d, %d) becomes (%d, %d)", mv.x, mv.y, h.x, h.y);
                    MOTUS_CHECK(!h.ref && !h.dir && h.type == mode &&
                                    h.last_of_part == (k + 1 == n[mode]),
                                "mb %d mode %d %d", mb, mode, k);
                    MOTUS_CHECK(h.last_of_mb == ((at - hints) % words == words - 1),
                                "mb %d mode %d %d", mb, mode, k);
                }
        CU_ASSERT_EQUAL(at - hints, f->n_mb * words);
        motus_test_guard_free((uint8_t *)hints);
        motus_field_free(&f);
    }
}

static void fei_vectors(void) {
    static const int order[16] = {0, 1, 4,  5,  2,  3,  6,  7,
                                  8, 9, 12, 13, 10, 11, 14, 15}; // figure 6-10
#ifdef MOTUS_HAVE_FEI_HEADER
    mfxExtFeiEncMV *theirs = NULL;
    CU_ASSERT_EQUAL(sizeof(MotusFeiMb), sizeof theirs->MB[0]);
#endif
    CU_ASSERT_EQUAL(sizeof(MotusFeiMb), 128);
    for (int i = 0; i < CASES; i++) {
        MotusField *f = random_field(1);
        const uint32_t modes = random_modes();
        MotusFeiMb *to = calloc((size_t)f->n_mb, sizeof *to);
        motus_field_to_fei(f, modes, to);
        for (int mb = 0; mb < f->n_mb; mb++) {
            uint8_t block[16];
            motus_field_best_blocks(f, modes, mb, block);
            for (int k = 0; k < 16; k++) {
                const MotusMv want = f->mv[block[order[k]]][mb];
                MOTUS_CHECK(to[mb].mv[k][0].x == want.x && to[mb].mv[k][0].y == want.y &&
                                to[mb].mv[k][1].x == -32768 && to[mb].mv[k][1].y == -32768,
                            "mb %d block %d", mb, k);
            }
        }
        free(to);
        motus_field_free(&f);
    }
}

static void dense_flow(void) {
    for (int i = 0; i < CASES; i++) {
        MotusField *f = random_field(0);
        const uint32_t modes = random_modes();
        float *flow = (float *)(void *)motus_test_guarded(2 * WIDTH * HEIGHT * sizeof *flow);
        motus_field_to_flow(f, modes, WIDTH, HEIGHT, flow);
        CU_ASSERT_TRUE(motus_test_guard_ok((uint8_t *)flow));
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const int mb = y / 16 * f->mb_width + x / 16;
                uint8_t block[16];
                motus_field_best_blocks(f, modes, mb, block);
                const MotusMv mv = f->mv[block[y % 16 / 4 * 4 + x % 16 / 4]][mb];
                const float *at = flow + 2 * (y * WIDTH + x);
                MOTUS_CHECK(at[0] * 4 == (float)mv.x && at[1] * 4 == (float)mv.y, "%d, %d", x, y);
            }
        motus_test_guard_free((uint8_t *)flow);
        motus_field_free(&f);
    }
}

MOTUS_SUITE("field_shapes", TEST(least_partitions), TEST(nvenc_data), TEST(nvenc_hints),
            TEST(fei_vectors), TEST(dense_flow))
