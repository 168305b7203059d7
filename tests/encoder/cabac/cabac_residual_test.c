// encoder/cabac/residual_warp.cuh by 32 emulated lanes: symbols of random MBs' residuals are those
// of motus_put_unit_symbols.
// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
#include "encoder/cabac/residual_warp.cuh"

#include <stdlib.h>
#include <string.h>

#include "tests/encoder/bitstream/random_mbs.h"
#include "tests/lanes/emulated_lanes.h"
#include "tests/support/harness.h"

enum { W = 5, H = 4, N = W * H, BEFORE = 7 }; // MBs of the picture; symbols before the residual

typedef struct Residual {
    MotusCabacMb mb;
    uint16_t *to;
    uint32_t most, n[32];
} Residual;

static void put_residual(void *argument) {
    Residual *r = argument;
    r->n[motus_lane()] = motus_put_residual_warp(r->to, BEFORE, r->most, &r->mb);
}

static MotusCabacMb syntax_of(const MotusCodedMbs *pic, int i, int slice_type) {
    MotusCabacMb m = {.mb = &pic->mb[i],
                      .coef = &pic->coef[i],
                      .own = &pic->context[i],
                      .neighbours = motus_neighbours(pic->mb, W, i % W, i / W, 0),
                      .a = &pic->context[i] - 1,
                      .b = &pic->context[i] - W,
                      .slice_type = slice_type,
                      .refs = 1};
    return m;
}

static uint32_t put_in_order(const MotusCabacMb *m, uint16_t *to) {
    MotusSymbols s = {.symbol = to, .n = BEFORE};
    const uint32_t units = motus_mb_symbol_units(m->mb, m->slice_type);
    for (int unit = MOTUS_UNIT_LUMA_DC; unit < MOTUS_UNITS; unit++) {
        s.mark = (uint32_t)motus_unit_kind(unit) << MOTUS_KIND_SHIFT;
        if (units >> unit & 1) motus_put_unit_symbols(&s, m, unit);
    }
    return s.n;
}

static void compare(const MotusCodedMbs *pic, int i, int slice_type, int *n_levels) {
    static uint16_t want[MOTUS_MB_SYMBOLS], got[MOTUS_MB_SYMBOLS];
    Residual r = {.mb = syntax_of(pic, i, slice_type), .to = got};
    memset(want, 0x77, sizeof want);
    memset(got, 0x77, sizeof got);
    const uint32_t n = put_in_order(&r.mb, want);
    r.most = i % 4 ? MOTUS_MB_SYMBOLS : (uint32_t)motus_test_range(0, 600);
    const char *failure = emulated_lanes_run(1, put_residual, &r);
    MOTUS_CHECK(!failure, "%s", failure);
    for (int lane = 0; lane < 32; lane++) CU_ASSERT_EQUAL(r.n[lane], n);
    const size_t written = n <= r.most ? MOTUS_MB_SYMBOLS : 0, rest = MOTUS_MB_SYMBOLS - r.most;
    MOTUS_CHECK(!memcmp(want, got, written * sizeof *want), "MB %d type %d, %u of %u symbols", i,
                r.mb.mb->type, n, r.most);
    memset(want, 0x77, sizeof want);
    MOTUS_CHECK(written || !memcmp(want, got + r.most, rest * sizeof *got), "behind %u", r.most);
    *n_levels += n > BEFORE;
}

static void residuals_in_one_go(void) {
    MotusCodedMbs pic;
    int n_levels = 0;
    random_mbs_open(&pic, W, H);
    pic.context = malloc(N * sizeof *pic.context);
    CU_ASSERT_FATAL(pic.context != NULL);
    for (int round = 0; round < 120; round++) {
        const int qp = motus_test_range(0, 51), slice_type = round % 3;
        random_mbs_fill(&pic, slice_type, qp,
                        round / 3 % 2 ? MBS_MIXED : (MbContent)(round / 6 % MBS_CONTENTS));
        if (round % 4 == 3) random_mbs_transform_8x8(&pic, 1);
        random_mbs_poison(&pic);
        motus_finalize_mbs(&pic, qp);
        for (int i = 0; i < N; i++) compare(&pic, i, slice_type, &n_levels);
    }
    MOTUS_CHECK(n_levels > N * 30, "%d MBs with levels", n_levels);
    free(pic.context);
    random_mbs_close(&pic);
}

MOTUS_SUITE("cabac_residual", TEST(residuals_in_one_go))
