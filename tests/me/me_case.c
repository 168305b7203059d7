// SPDX-License-Identifier: BSD-2-Clause
#include "tests/me/me_case.h"

#include <stdlib.h>
#include <string.h>

#include "tests/me/me_oracle.h"
#include "tests/support/harness.h"

static MotusPlane plane_alloc(int width, int height) {
    MotusPlane p = {NULL, width + motus_test_range(0, 5), width, height};
    p.data = malloc((size_t)(p.stride * (height - 1) + width)); // exact size, for the sanitizer
    return p;
}

static uint8_t content_sample(MeContent content, int x, int y) {
    switch (content) {
    case ME_EXTREMES:
        return motus_test_range(0, 1) ? 255 : 0;
    case ME_SMOOTH:
        return (uint8_t)((3 * x + 2 * y + (x / 7 * 5 ^ y / 5 * 3)) & 255);
    case ME_FLAT:
        return 77;
    case ME_CHECKERBOARD:
        return (x ^ y) & 1 ? 255 : 0;
    case ME_OPPOSITE:
        return 255;
    case ME_NEARLY_OPPOSITE:
        return (uint8_t)(255 - (motus_test_range(0, 99) == 0));
    default:
        return (uint8_t)motus_test_random();
    }
}

static uint8_t ref_at(const MeCase *c, int x, int y) {
    x = x < 0 ? 0 : x >= c->ref.width ? c->ref.width - 1 : x;
    y = y < 0 ? 0 : y >= c->ref.height ? c->ref.height - 1 : y;
    return c->ref.data[y * c->ref.stride + x];
}

void me_case_fill(MeCase *c, MeContent content) {
    int mx = motus_test_range(-9, 9), my = motus_test_range(-9, 9);
    c->content = content;
    for (int y = 0; y < c->ref.height; y++)
        for (int x = 0; x < c->ref.width; x++)
            c->ref.data[y * c->ref.stride + x] = content_sample(content, x, y);
    for (int y = 0; y < c->cur.height; y++)
        for (int x = 0; x < c->cur.width; x++) {
            uint8_t *s = &c->cur.data[y * c->cur.stride + x];
            if (content == ME_MOVED || content == ME_SMOOTH)
                *s = (uint8_t)(ref_at(c, x + mx, y + my) ^ (motus_test_range(0, 9) == 0));
            else if (content == ME_OPPOSITE || content == ME_NEARLY_OPPOSITE)
                *s = 0;
            else
                *s = content_sample(content, x, y);
        }
}

// Returns components within +-limit, mostly small, at times the limit, multiples of `step`.
static MotusMv random_mv(int limit, int step) {
    int bound = motus_test_range(0, 5) ? 40 : limit;
    MotusMv mv = {(int16_t)motus_test_range(-bound, bound),
                  (int16_t)motus_test_range(-bound, bound)};
    if (!motus_test_range(0, 15)) mv.x = (int16_t)(motus_test_range(0, 1) ? limit : -limit);
    if (!motus_test_range(0, 15)) mv.y = (int16_t)(motus_test_range(0, 1) ? limit : -limit);
    mv.x = (int16_t)(mv.x / step * step);
    mv.y = (int16_t)(mv.y / step * step);
    return mv;
}

static void random_hints(MeCase *c, int n_mb) {
    static const int lambdas[] = {0, 0, 1, 100, 256, 1000, 4000, 20000, 65535};
    c->centre = malloc((size_t)n_mb * sizeof *c->centre);
    c->predictor = malloc((size_t)n_mb * sizeof *c->predictor);
    c->lambda = malloc((size_t)n_mb * sizeof *c->lambda);
    for (int i = 0; i < n_mb; i++) {
        c->centre[i] = random_mv(MOTUS_MAX_CENTRE, 4);
        c->predictor[i] = random_mv(8191, 1);
        c->lambda[i] = (uint16_t)lambdas[motus_test_range(0, 8)];
    }
    c->hints.lambda_q8 = (uint32_t)(motus_test_range(0, 3) ? lambdas[motus_test_range(0, 8)]
                                                           : motus_test_range(0, 65535));
    if (motus_test_range(0, 2)) c->hints.centre = c->centre;
    if (motus_test_range(0, 2)) c->hints.predictor = c->predictor;
    if (!motus_test_range(0, 2)) c->hints.lambda = c->lambda;
}

void me_case_random(MeCase *c, int range, MotusSubpel subpel) {
    memset(c, 0, sizeof *c);
    int work = (2 * range + 1) * (2 * range + 1) + (subpel == MOTUS_SUBPEL_FULL ? 0 : 1000),
        most = 1500 / work;
    int columns = motus_test_range(1, most < 1 ? 1 : most > 6 ? 6 : most), rows = most / columns;
    rows = motus_test_range(1, rows < 1 ? 1 : rows > 5 ? 5 : rows);
    int whole = !motus_test_range(0, 2);
    c->config = motus_me_config_default(16 * columns - (whole ? 0 : motus_test_range(0, 15)),
                                        16 * rows - (whole ? 0 : motus_test_range(0, 15)));
    c->config.range = range;
    c->config.subpel = subpel;
    c->config.modes =
        motus_test_range(0, 3) ? MOTUS_MODES_ALL : (uint32_t)motus_test_range(1, MOTUS_MODES_ALL);
    c->config.backend = MOTUS_BACKEND_CPU;
    c->cur = plane_alloc(c->config.width, c->config.height);
    c->ref = plane_alloc(c->config.width, c->config.height);
    random_hints(c, columns * rows);
    me_case_fill(c, motus_test_range(0, 1) ? ME_MOVED
                                           : (MeContent)motus_test_range(0, ME_CONTENTS - 1));
}

void me_case_moved(MeCase *c, int width, int height, int range, MotusSubpel subpel) {
    memset(c, 0, sizeof *c);
    c->config = motus_me_config_default(width, height);
    c->config.range = range;
    c->config.subpel = subpel;
    c->hints.lambda_q8 = 900;
    c->cur = (MotusPlane){malloc((size_t)width * (size_t)height), width, width, height};
    c->ref = (MotusPlane){malloc((size_t)width * (size_t)height), width, width, height};
    me_case_fill(c, ME_MOVED);
}

void me_case_free(MeCase *c) {
    free(c->cur.data);
    free(c->ref.data);
    free(c->centre);
    free(c->predictor);
    free(c->lambda);
}

MotusMe *me_case_open(MotusMeConfig config, MotusBackend backend) {
    MotusMe *me = NULL;
    config.backend = backend;
    MOTUS_CHECK(motus_me_open(&me, &config) == MOTUS_OK, "%dx%d R=%d", config.width, config.height,
                config.range);
    MOTUS_CHECK(me && motus_me_backend(me) == backend, "%s", motus_backend_name(backend));
    return me;
}

MotusMeReference *me_case_reference(MotusMe *me, const MotusPlane *plane) {
    MotusMeReference *reference = NULL;
    MOTUS_CHECK(!motus_me_reference_alloc(&reference, me) &&
                    !motus_me_reference_fill(reference, me, plane, MOTUS_MEMORY_HOST, NULL),
                "%s", motus_me_error(me)->text);
    return reference;
}

MotusField *me_case_field(int width, int height) {
    MotusField *field = NULL;
    MOTUS_CHECK(motus_field_alloc(&field, width, height) == MOTUS_OK, "%dx%d", width, height);
    memset(field->mv[0], MOTUS_TEST_POISON, (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(MotusMv));
    memset(field->sad[0], MOTUS_TEST_POISON, (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(uint16_t));
    memset(field->cost[0], MOTUS_TEST_POISON,
           (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(uint32_t));
    return field;
}

MotusField *me_case_search(MotusMe *me, const MeCase *c) {
    MotusField *field = me_case_field(c->config.width, c->config.height);
    MOTUS_CHECK(motus_me_search(me, &c->cur, &c->ref, &c->hints, field) == MOTUS_OK, "%s",
                motus_me_error(me)->text);
    return field;
}

static MotusField *run(const MeCase *c, const char *cpu, int threads) {
    MotusMeConfig config = c->config;
    config.threads = threads;
    if (cpu) motus_test_cpu(cpu);
    MotusMe *me = me_case_open(config, config.backend);
    motus_test_cpu(NULL);
    MotusField *field = me_case_search(me, c);
    motus_me_close(&me);
    return field;
}

// Fills what is expected of an MB's blocks; those of other modes stay poisoned.
static void expect(const MeCase *c, int columns, int mb, OracleResult want[MOTUS_BLOCKS]) {
    static const MotusMv zero = {0, 0};
    uint16_t sad;
    memset(want, MOTUS_TEST_POISON, MOTUS_BLOCKS * sizeof *want);
    memset(&sad, MOTUS_TEST_POISON, sizeof sad);
    for (int b = 0; b < MOTUS_BLOCKS; b++) want[b].sad = sad;
    oracle_search_mb(&c->cur, &c->ref, 16 * (mb % columns), 16 * (mb / columns), c->config.range,
                     c->config.subpel, c->config.modes, c->hints.centre ? c->centre[mb] : zero,
                     c->hints.predictor ? c->predictor[mb] : zero,
                     c->hints.lambda ? c->lambda[mb] : c->hints.lambda_q8, want);
}

void me_case_check(const MeCase *c, int number) {
    enum { RUNS = 5 };
    static const struct {
        const char *cpu;
        int threads;
    } runs[RUNS] = {{"c", 1}, {"c", 3}, {"avx2", 1}, {NULL, 1}, {NULL, 3}};
    MotusField *field[RUNS];
    for (int i = 0; i < RUNS; i++) field[i] = run(c, runs[i].cpu, runs[i].threads);
    for (int mb = 0; mb < field[0]->n_mb; mb++) {
        OracleResult wanted[MOTUS_BLOCKS];
        expect(c, field[0]->mb_width, mb, wanted);
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const OracleResult want = wanted[b];
            for (int i = 0; i < RUNS; i++) {
                MotusMv mv = field[i]->mv[b][mb];
                uint32_t sad = field[i]->sad[b][mb], cost = field[i]->cost[b][mb];
                MOTUS_CHECK(mv.x == want.mv.x && mv.y == want.mv.y && sad == want.sad &&
                                cost == want.cost,
                            "case %d %dx%d R=%d subpel %d content %d modes %#x %s threads %d mb %d "
                            "block %d: (%d,%d) sad %u cost %u, "
                            "want (%d,%d) %u %u",
                            number, c->config.width, c->config.height, c->config.range,
                            (int)c->config.subpel, (int)c->content, c->config.modes,
                            runs[i].cpu ? runs[i].cpu : "best", runs[i].threads, mb, b, mv.x, mv.y,
                            sad, cost, want.mv.x, want.mv.y, want.sad, want.cost);
            }
        }
    }
    for (int i = 0; i < RUNS; i++) motus_field_free(&field[i]);
}
