// Streams with B pictures and several references against an independent decoder: libavcodec decodes
// every stream of a grid of settings to exactly the reconstruction, without a complaint.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/decoders/conform_case.h"
#include "tests/conformance/grid.h"
#include "tests/support/harness.h"

// clang-format off
enum {
    BFRAMES, ADAPT, PYRAMID, REFS, KEYINT, SLICES, RATE, CUTS, PROFILE, QP, SIZE, MATERIAL, MAPS,
    PRESET, SUBPEL, DEBLOCK, THREADS, WEIGHTB, WEIGHTP, DIRECT, AXES
};
// clang-format on
enum { MOST_ROWS = 150 };

static const GridAxis axes[AXES] = {
    [BFRAMES] = {"bframes", "0 1 2 3 4 5 6 7 16"},
    [ADAPT] = {"b-adapt", "0 1"},
    [PYRAMID] = {"b-pyramid", "none=0 normal=1"},
    [REFS] = {"references", "1 2 3 5 16"},
    [KEYINT] = {"keyint", "none=0 1 3 4 5 7 10"},
    [SLICES] = {"slices", "1 2 999"},
    [RATE] = {"rate", "qp=0 crf=1 crf+aq=2 bitrate=3 cbr=4"},
    [CUTS] = {"scenecut", "off=0 on=60"},
    // Without CABAC: + 4; without the 8x8 transform: + 8.
    [PROFILE] = {"profile", "main=1 main,cavlc=5 high=2 high,cavlc=6 high,4x4=10"},
    [QP] = {"qp", "4 22 28 34 51"},
    [SIZE] = {"size", "80x64=0 16x16=1 18x34=2 112x80=3"},
    [MATERIAL] = {"material", "0 1 2 3 4 5 7 8"},
    [MAPS] = {"maps", "none=0 mixed=1"},
    [PRESET] = {"preset", GRID_PRESETS},
    [SUBPEL] = {"subpel", "quarter=2 half=1 full=0"},
    [DEBLOCK] = {"deblock", "on=1 off=0"},
    [THREADS] = {"threads", "1 3"},
    [WEIGHTB] = {"weightb", "0 1"},
    [WEIGHTP] = {"weightp", "0 1 2"},
    [DIRECT] = {"direct", "none=0 spatial=1 temporal=2 auto=3"},
};

static ConformCase case_of(const int *row) {
    static const int sizes[][2] = {{80, 64}, {16, 16}, {18, 34}, {112, 80}};
    int v[AXES];
    for (int a = 0; a < AXES; a++) v[a] = grid_value(&axes[a], row[a], NULL);
    ConformCase c = conform_case((MotusMaterial)v[MATERIAL], sizes[v[SIZE]][0], sizes[v[SIZE]][1],
                                 CONFORM_CASE_FRAMES, v[QP]);
    MotusEncoderConfig *e = &c.config;
    motus_conform_rate(e, v[RATE]);
    c.maps = (MotusConformMaps)v[MAPS];
    e->bframes = v[BFRAMES], e->b_adapt = v[ADAPT], e->b_pyramid = (MotusBPyramid)v[PYRAMID];
    e->references = v[REFS], e->weightb = v[WEIGHTB], e->weightp = v[WEIGHTP];
    e->direct = (MotusDirectMode)v[DIRECT];
    e->keyint = v[KEYINT], e->slices = v[SLICES], e->scenecut = v[CUTS];
    e->profile = (MotusProfile)(v[PROFILE] & 3);
    e->cabac = !(v[PROFILE] & 4), e->transform_8x8 = !(v[PROFILE] & 8);
    e->preset = (MotusPreset)v[PRESET], e->subpel = (MotusSubpel)v[SUBPEL];
    e->deblock = v[DEBLOCK], e->threads = v[THREADS];
    return c;
}

static void grid(void) {
    static int rows[MOST_ROWS][MOTUS_MAX_AXES];
    static MotusCoverage unused;
    int sizes[AXES], b = 0, all = 0;
    grid_counts(axes, AXES, sizes);
    const int n = motus_pairwise(AXES, sizes, rows, MOST_ROWS);
    CU_ASSERT_FATAL(n <= MOST_ROWS);
    for (int i = 0; i < n; i++) {
        MotusCoded coded;
        const ConformCase c = case_of(rows[i]);
        conform_case_encode(&coded, &c);
        motus_conform_judge(&coded, &unused);
        if (coded.failure[0]) grid_print_row(axes, AXES, rows[i]);
        MOTUS_CHECK(!coded.failure[0], ": %s", coded.failure);
        b += coded.b_pictures, all += coded.pictures;
        motus_coded_free(&coded);
    }
    MOTUS_CHECK(5 * b > all, "%d of %d pictures are B pictures", b, all);
    printf("\n    %d streams, %d of %d pictures are B pictures ", n, b, all);
}

MOTUS_SUITE("b_grid", TEST(grid))
