// Versions for AVX2 of what an MB's prediction and errors need, against plain C.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/analyse/mb_avx2.h"

#include <stdlib.h>

#include "common/cpu.h"
#include "encoder/analyse/predict_cpu.h"
#include "encoder/intra/intra_modes_cpu.h"
#include "tests/support/harness.h"

enum { ROUNDS = 4000 };

static int has_avx2(void) { return (motus_cpu_flags() & MOTUS_CPU_AVX2) != 0; }

// Fills samples at random, in every fourth round with 0 and 255 alone.
static void fill(uint8_t *samples, size_t n, int round) {
    motus_test_fill(samples, n);
    for (size_t i = 0; round % 4 == 0 && i < n; i++) samples[i] = samples[i] & 1 ? 255 : 0;
}

// The source is no larger than what is read: a sanitizer sees the rest.
static void chroma_agrees(void) {
    for (int round = 0; round < ROUNDS && has_avx2(); round++) {
        const int w = 4 << motus_test_range(0, 1), h = 2 << motus_test_range(0, 2),
                  fx = motus_test_range(0, 7), fy = motus_test_range(0, 7);
        const size_t bytes = (size_t)((w + 1) * (h + 1));
        uint8_t *src = malloc(bytes), dst[2][64] = {{0}};
        if (!src) abort();
        fill(src, bytes, round);
        motus_chroma_block(dst[0], 8, src, w + 1, w + 1, h + 1, 0, 0, motus_chroma_weights(fx, fy),
                           w, h);
        mb_avx2.chroma_block(dst[1], 8, src, w + 1, w + 1, h + 1, 0, 0,
                             motus_chroma_weights(fx, fy), w, h);
        MOTUS_CHECK(!memcmp(dst[0], dst[1], 64), "%dx%d at %d,%d eighths", w, h, fx, fy);
        free(src);
    }
}

static void planes_agree(void) {
    for (int round = 0; round < ROUNDS && has_avx2(); round++) {
        const int size = 8 << (round & 1);
        MotusIntraEdge edge;
        uint8_t pred[2][256] = {{0}};
        fill((uint8_t *)&edge, sizeof edge, round / 2);
        motus_intra_fill_plane(pred[0], size, &edge, size);
        mb_avx2.fill_plane(pred[1], size, &edge, size);
        MOTUS_CHECK(!memcmp(pred[0], pred[1], 256), "size %d", size);
    }
}

static void modes_agree(void) {
    for (int round = 0; round < ROUNDS && has_avx2(); round++) {
        MotusIntraEdge edge;
        uint8_t pred[2][16 * MOTUS_I4_MODES] = {{0}};
        fill((uint8_t *)&edge, sizeof edge, round);
        edge.has = (uint8_t)motus_test_range(0, 15);
        motus_intra4x4_modes(pred[0], &edge);
        mb_avx2.intra4x4_modes(pred[1], &edge);
        for (int mode = 0; mode < MOTUS_I4_MODES; mode++)
            MOTUS_CHECK(!motus_intra4x4_allowed(mode, edge.has) ||
                            !memcmp(pred[0] + 16 * mode, pred[1] + 16 * mode, 16),
                        "mode %d, neighbours %d", mode, edge.has);
    }
}

static void errors_agree(void) {
    for (int round = 0; round < ROUNDS && has_avx2(); round++) {
        const int size = 4 << round % 3;
        uint8_t a[16 * 24], b[16 * 16];
        fill(a, sizeof a, round);
        fill(b, sizeof b, round);
        MOTUS_CHECK(motus_ssd_square(a, 24, b, size, size) == mb_avx2.ssd(a, 24, b, size, size),
                    "SSD of size %d", size);
        MOTUS_CHECK(motus_satd_block(a, 24, b, size, size, size) ==
                        mb_avx2.satd(a, 24, b, size, size, size),
                    "SATD of size %d", size);
    }
}

MOTUS_SUITE("mb_avx2", TEST(chroma_agrees), TEST(planes_agree), TEST(modes_agree),
            TEST(errors_agree))
