// dct/: the 4x4 transforms against matrices multiplied out, many blocks and pairs against one
// block, AVX2 against plain C. Inverses: quant_test.c.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cpu.h"
#include "dct/dct_mb_core.h"
#include "dct/dct_warp.cuh"
#include "tests/dct/dct_avx2.h"
#include "tests/dct/dct_case.h"
#include "tests/support/harness.h"

#include <string.h>

static void forward_is_the_matrix_product(void) {
    for (int round = 0; round < 6000; round++) {
        uint8_t src[64], pred[64];
        dct_fill_block(src, pred, 64, round % DCT_KINDS);
        int16_t coef[16];
        int64_t x[16], want[16];
        for (int i = 0; i < 16; i++) x[i] = src[i / 4 * 16 + i % 4] - pred[i / 4 * 16 + i % 4];
        dct_naive_transform(4, want, dct_core_matrix, x);
        motus_forward4x4(coef, src, 16, pred, 16);
        for (int i = 0; i < 16; i++)
            MOTUS_CHECK(coef[i] == want[i], "kind %d coef %d", round % DCT_KINDS, i);
    }
}

// Both 16-bit values of a word are transformed as single values, for any bits.
static void pairs_equal_single_values(void) {
    for (int round = 0; round < 20000; round++) {
        uint8_t src[64], pred[64], dst[64];
        uint32_t s[4], p[4], pairs[8], sum[4];
        int16_t coef[16];
        dct_fill_block(src, pred, 64, round % 3);
        for (int y = 0; y < 4; y++) memcpy(&s[y], src + 16 * y, 4), memcpy(&p[y], pred + 16 * y, 4);
        motus_forward4x4(coef, src, 16, pred, 16);
        motus_pairs_forward(pairs, s, p);
        for (int i = 0; i < 16; i++) {
            const int at = 4 * (i >> 3) + (i & 3), got = (int16_t)(pairs[at] >> (i & 4 ? 16 : 0));
            MOTUS_CHECK(got == coef[i], "coefficient %d: %d, not %d", i, got, coef[i]);
        }
        for (int i = 0; i < 16; i++) coef[i] = (int16_t)(motus_test_random() >> (round & 15));
        for (int i = 0; i < 8; i++) {
            const int at = 8 * (i >> 2) + (i & 3);
            pairs[i] = (uint16_t)coef[at] | (uint32_t)(uint16_t)coef[at + 4] << 16;
        }
        motus_inverse4x4_add(dst, 16, pred, 16, coef);
        motus_pairs_inverse_add(sum, pairs, p);
        for (int y = 0; y < 4; y++)
            MOTUS_CHECK(!memcmp(&sum[y], dst + 16 * y, 4), "round %d, row %d", round, y);
    }
}

static void zigzag_walks_the_diagonals(void) {
    int x = 0, y = 0, up = 1;
    for (int i = 0; i < 16; i++) {
        MOTUS_CHECK(motus_zigzag_at(i) == 4 * y + x, "position %d", i);
        MOTUS_CHECK(motus_zigzag_of(4 * y + x) == i, "and back, position %d", i);
        int next_x = x + (up ? 1 : -1), next_y = y + (up ? -1 : 1);
        if (next_x < 0 || next_x > 3 || next_y < 0 || next_y > 3) {
            if (up)
                x < 3 ? x++ : y++;
            else
                y < 3 ? y++ : x++;
            up = !up;
        } else {
            x = next_x, y = next_y;
        }
    }
}

// Transforms n x n blocks in raster order, one by one.
static void forward_blocks(int n, int16_t coef[][16], const uint8_t *src, ptrdiff_t src_stride,
                           const uint8_t *pred, ptrdiff_t pred_stride) {
    for (int i = 0; i < n * n; i++) {
        int x = 4 * (i % n), y = 4 * (i / n);
        motus_forward4x4(coef[i], src + y * src_stride + x, src_stride, pred + y * pred_stride + x,
                         pred_stride);
    }
}

static void forward_of_many_blocks(void) {
    for (int round = 0; round < 3000; round++) {
        uint8_t src[256 + 64], pred[256 + 64];
        int stride = round & 1 ? 16 : 20, kind = round % DCT_KINDS;
        dct_fill_block(src, pred, 256 + 64, kind);
        int16_t want[16][16];
        int16_t *got = (int16_t *)(void *)motus_test_guarded(sizeof want);
        forward_blocks(4, want, src, stride, pred, 16);
        motus_forward_luma((int16_t(*)[16])(void *)got, src, stride, pred);
        MOTUS_CHECK(!memcmp(want, got, 512) && motus_test_guard_ok((uint8_t *)got), "luma kind %d",
                    kind);
        forward_blocks(2, want, src, stride, pred, 8);
        motus_forward_chroma((int16_t(*)[16])(void *)got, src, stride, pred);
        MOTUS_CHECK(!memcmp(want, got, 128), "chroma kind %d", kind);
        motus_test_guard_free((uint8_t *)got);
    }
}

#if defined(__x86_64__)
static void avx2_agrees_on_forward(void) {
    if (!(motus_cpu_flags() & MOTUS_CPU_AVX2)) return;
    for (int round = 0; round < 3000; round++) {
        uint8_t src[256 + 64], pred[256 + 64];
        int stride = round & 1 ? 16 : 20, kind = round % DCT_KINDS;
        dct_fill_block(src, pred, 256 + 64, kind);
        int16_t want[16][16];
        int16_t *got = (int16_t *)(void *)motus_test_guarded(sizeof want);
        int16_t(*blocks)[16] = (int16_t(*)[16])(void *)got;
        forward_blocks(4, want, src, 16, pred, stride);
        dct_avx2.forward16x16(blocks, src, 16, pred, stride);
        MOTUS_CHECK(!memcmp(want, got, 512) && motus_test_guard_ok((uint8_t *)got), "16x16 kind %d",
                    kind);
        forward_blocks(2, want, src, stride, pred, 16);
        dct_avx2.forward8x8(blocks, src, stride, pred, 16);
        MOTUS_CHECK(!memcmp(want, got, 128), "8x8 kind %d", kind);
        motus_forward4x4(want[0], src, 16, pred, stride);
        dct_avx2.forward4x4(got, src, 16, pred, stride);
        MOTUS_CHECK(!memcmp(want, got, 32), "4x4 kind %d", kind);
        forward_blocks(4, want, src, stride, pred, 16);
        dct_avx2.forward_luma(blocks, src, stride, pred);
        MOTUS_CHECK(!memcmp(want, got, 512) && motus_test_guard_ok((uint8_t *)got), "luma kind %d",
                    kind);
        forward_blocks(2, want, src, stride, pred, 8);
        dct_avx2.forward_chroma(blocks, src, stride, pred);
        MOTUS_CHECK(!memcmp(want, got, 128), "chroma kind %d", kind);
        motus_test_guard_free((uint8_t *)got);
    }
}

static void avx2_agrees_on_inverse(void) {
    if (!(motus_cpu_flags() & MOTUS_CPU_AVX2)) return;
    for (int round = 0; round < 20000; round++) {
        int16_t coef[16];
        uint8_t pred[64], want[64];
        uint8_t *got = motus_test_guarded(3 * 16 + 4);
        for (int i = 0; i < 16; i++) coef[i] = round & 64 && i ? 0 : dct_any_int16(round % 4);
        motus_test_fill(pred, sizeof pred);
        memset(want, 0xDB, sizeof want);
        int in_place = round & 16;
        if (in_place) memcpy(got, pred, 3 * 16 + 4), memcpy(want, pred, 64);
        motus_inverse4x4_add(want, 16, in_place ? want : pred, 16, coef);
        dct_avx2.inverse4x4_add(got, 16, in_place ? got : pred, 16, coef);
        MOTUS_CHECK(!memcmp(want, got, 3 * 16 + 4) && motus_test_guard_ok(got),
                    "kind %d in place %d", round % 4, in_place);
        motus_test_guard_free(got);
    }
}

static void avx2_agrees_on_scaling(void) {
    if (!(motus_cpu_flags() & MOTUS_CPU_AVX2)) return;
    for (int round = 0; round < 52 * 100; round++) {
        int16_t level[16], want[16], got[16];
        for (int i = 0; i < 16; i++) level[i] = dct_any_int16(round % 4);
        motus_dequant_zigzag(want, level, round % 52);
        dct_avx2.dequant_zigzag(got, level, round % 52);
        MOTUS_CHECK(!memcmp(want, got, sizeof want), "qp %d kind %d", round % 52, round % 4);
    }
}
#endif

MOTUS_SUITE("dct", TEST(forward_is_the_matrix_product), TEST(pairs_equal_single_values),
            TEST(zigzag_walks_the_diagonals), TEST(forward_of_many_blocks),
            TEST(avx2_agrees_on_forward), TEST(avx2_agrees_on_inverse),
            TEST(avx2_agrees_on_scaling))
