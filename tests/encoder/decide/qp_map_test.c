// QP per macroblock: independent decoders follow maps of offsets of all kinds; plain C and any
// number of threads give the same streams; a map of zeros changes nothing.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "tests/conformance/decoders/conform_case.h"
#include "tests/support/harness.h"

static ConformCase make_case(int i, MotusConformMaps maps) {
    ConformCase c = conform_case((MotusMaterial)(i % MOTUS_MATERIALS), 16 * motus_test_range(1, 9),
                                 16 * motus_test_range(1, 7), 4, motus_test_range(0, 51));
    c.maps = maps;
    c.config.preset = (MotusPreset)(i % MOTUS_PRESETS);
    c.config.deblock = i % 5 != 0;
    c.config.keyint = 3;
    c.config.qp_i_offset = 0;
    return c;
}

static void decoders_follow(void) {
    enum { CASES = 42 };
    const int cases = motus_test_cases(CASES);
    MotusCoverage coverage = {0};
    for (int i = 0; i < cases; i++) {
        const ConformCase c = make_case(i, (MotusConformMaps)(MOTUS_MAPS_MIXED + i % 3));
        conform_case_run(&c, &coverage, NULL);
    }
    int used = 0;
    for (int qp = 0; qp < 52; qp++) used += coverage.qp[qp] > 0;
    MOTUS_CHECK(used == 52 || cases < CASES, "%d of 52 QPs", used);
}

static void constant_maps(void) {
    for (int i = 0; i < 8; i++) {
        ConformCase none = make_case(i, MOTUS_MAPS_NONE), map = none;
        MotusCoded one, other;
        map.maps = MOTUS_MAPS_ZERO;
        conform_case_same(&none, &map, NULL, "a map of zeros");
        map.maps = MOTUS_MAPS_MIXED;
        none.config.qp = map.config.qp = 20;
        conform_case_encode(&one, &none);
        conform_case_encode(&other, &map);
        if (none.config.width * none.config.height > 3 * 256)
            MOTUS_CHECK(one.size != other.size || memcmp(one.data, other.data, one.size),
                        "case %d: a map does nothing", i);
        motus_coded_free(&one);
        motus_coded_free(&other);
    }
}

static void one_stream(void) {
    for (int i = 0; i < 12; i++) {
        const ConformCase one = make_case(i, MOTUS_MAPS_WILD);
        ConformCase many = one;
        many.config.threads = 3;
        conform_case_same(&one, &many, NULL, "threads");
        conform_case_same(&one, &one, "c", "plain C");
    }
}

MOTUS_SUITE("qp_map", TEST(decoders_follow), TEST(constant_maps), TEST(one_stream))
