// QP per macroblock: maps of offsets for pictures of all kinds, decoded by independent decoders;
// the same streams from plain C and any number of threads; an empty map changes nothing.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/decoders/material.h"
#include "tests/encoder/analyse/passes.h"
#include "tests/support/harness.h"

enum { PICTURES = 4 };

typedef enum MapKind { MAP_NONE, MAP_ZERO, MAP_SMALL, MAP_WILD, MAP_EXTREME, MAP_KINDS } MapKind;

static int8_t offset_of(MapKind kind) {
    switch (kind) {
    case MAP_SMALL:
        return (int8_t)motus_test_range(-6, 6);
    case MAP_WILD:
        return (int8_t)motus_test_range(-51, 51);
    case MAP_EXTREME:
        return motus_test_range(0, 1) ? 127 : -128; // QP 0 beside 51: mb_qp_delta wraps around
    default:
        return 0;
    }
}

typedef struct Case {
    MotusMaterial material;
    MotusEncoderConfig config;
    int qp;
    const int8_t *offset[PICTURES]; // NULL: no map
} Case;

static void code(const Case *c, MotusCoded *coded) {
    Passes p;
    memset(coded, 0, sizeof *coded);
    coded->recon = calloc(PICTURES, sizeof *coded->recon);
    passes_open(&p, &c->config);
    for (int i = 0; i < PICTURES; i++) {
        MotusFrame *frame = motus_material_frame(c->material, c->config.width, c->config.height, i);
        passes_code(&p, frame, i % 3 == 0, c->qp, c->offset[i]);
        coded->data = realloc(coded->data, coded->size + p.size);
        memcpy(coded->data + coded->size, p.stream, p.size);
        coded->size += p.size;
        REQUIRE_OK(motus_frame_alloc(&coded->recon[i], p.src->width, p.src->height));
        REQUIRE_OK(motus_frame_copy_padded(coded->recon[i], p.ref));
        coded->pictures++;
        motus_frame_unref(&frame);
    }
    passes_close(&p);
}

static Case make_case(int i) {
    Case c = {.material = (MotusMaterial)(i % MOTUS_MATERIALS), .qp = motus_test_range(0, 51)};
    c.config = motus_encoder_config_default(16 * motus_test_range(1, 9),
                                            16 * motus_test_range(1, 7), (MotusRational){25, 1});
    c.config.preset = (MotusPreset)(i % MOTUS_PRESETS);
    c.config.deblock = i % 5 != 0;
    c.config.threads = 1;
    return c;
}

static void fill_maps(int8_t *maps, int n, MapKind kind) {
    for (int i = 0; i < PICTURES * n; i++) maps[i] = offset_of(kind);
}

static void point(Case *c, const int8_t *maps, int n) {
    for (int i = 0; i < PICTURES; i++) c->offset[i] = maps ? maps + (size_t)i * (size_t)n : NULL;
}

static void decoders_follow(void) {
    enum { CASES = 42 };
    const int cases = motus_test_cases(CASES);
    MotusCoverage coverage = {0};
    for (int i = 0; i < cases; i++) {
        Case c = make_case(i);
        const int n = c.config.width / 16 * (c.config.height / 16);
        const MapKind kind = (MapKind)(MAP_SMALL + i % 3);
        int8_t *maps = malloc((size_t)(PICTURES * n));
        fill_maps(maps, n, kind);
        point(&c, maps, n);
        MotusCoded coded;
        code(&c, &coded);
        motus_conform_judge(&coded, &coverage);
        MOTUS_CHECK(!coded.failure[0], "case %d %s %dx%d preset %d qp %d map %d: %s", i,
                    motus_material_name(c.material), c.config.width, c.config.height,
                    (int)c.config.preset, c.qp, (int)kind, coded.failure);
        motus_coded_free(&coded);
        free(maps);
    }
    int used = 0;
    for (int qp = 0; qp < 52; qp++) used += coverage.qp[qp] > 0;
    MOTUS_CHECK(used == 52 || cases < CASES, "%d of 52 QPs", used);
}

static void same_stream(const Case *a, const Case *b, const char *what, int i) {
    MotusCoded one, other;
    code(a, &one);
    code(b, &other);
    MOTUS_CHECK(one.size == other.size && !memcmp(one.data, other.data, one.size), "case %d: %s", i,
                what);
    motus_coded_free(&one);
    motus_coded_free(&other);
}

static void constant_maps(void) {
    for (int i = 0; i < 8; i++) {
        Case none = make_case(i), map = none, moved = none;
        const int n = none.config.width / 16 * (none.config.height / 16);
        int8_t *maps = calloc((size_t)(PICTURES * n), 1);
        point(&map, maps, n);
        same_stream(&none, &map, "a map of zeros", i);
        none.qp = 20;
        moved.qp = 20;
        point(&moved, maps, n);
        for (int k = 0; k < n; k++) maps[k] = (int8_t)(k % 2 ? 3 : -3); // the first picture's
        MotusCoded one, other;
        code(&none, &one);
        code(&moved, &other);
        if (n > 3)
            MOTUS_CHECK(one.size != other.size || memcmp(one.data, other.data, one.size),
                        "case %d: a map does nothing", i);
        motus_coded_free(&one);
        motus_coded_free(&other);
        free(maps);
    }
}

static void threads(void) {
    for (int i = 0; i < 12; i++) {
        Case one = make_case(i), many;
        const int n = one.config.width / 16 * (one.config.height / 16);
        int8_t *maps = malloc((size_t)(PICTURES * n));
        fill_maps(maps, n, MAP_WILD);
        point(&one, maps, n);
        many = one;
        many.config.threads = 3;
        same_stream(&one, &many, "threads", i);
        free(maps);
    }
}

static void plain_c(void) {
    for (int i = 0; i < 12; i++) {
        Case c = make_case(i);
        const int n = c.config.width / 16 * (c.config.height / 16);
        int8_t *maps = malloc((size_t)(PICTURES * n));
        fill_maps(maps, n, MAP_WILD);
        point(&c, maps, n);
        MotusCoded fast, plain;
        code(&c, &fast);
        motus_test_cpu("c");
        code(&c, &plain);
        motus_test_cpu(NULL);
        MOTUS_CHECK(fast.size == plain.size && !memcmp(fast.data, plain.data, fast.size), "case %d",
                    i);
        motus_coded_free(&fast);
        motus_coded_free(&plain);
        free(maps);
    }
}

MOTUS_SUITE("qp_map", TEST(decoders_follow), TEST(constant_maps), TEST(threads), TEST(plain_c))
