// Settings of a stream: presets, the level, slices of whole rows, configurations of older programs.
// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/preset/preset.h"
#include "encoder/settings/stream.h"
#include "tests/encoder/encoder_case.h"
#include "tests/support/harness.h"

// A configuration's own range and partitions replace the preset's; 16x16 is always searched, and
// 8x8 if a sub-macroblock type is.
static void own_values_replace_the_presets(void) {
    enum { P16 = 1 << MOTUS_MODE_16x16, P8 = 1 << MOTUS_MODE_8x8, P4 = 1 << MOTUS_MODE_4x4 };
    for (int p = 0; p < MOTUS_PRESETS; p++) {
        MotusEncoderConfig c = encoder_case_config(64, 48);
        c.preset = (MotusPreset)p;
        const MotusEffort usual = motus_effort_of(&c);
        const uint32_t sub = p == MOTUS_PRESET_FASTER ? 0 : P8 | P4; // it has no 4x4
        CU_ASSERT(usual.range > 0 && usual.partitions & P16);
        c.range = 11;
        c.partitions = P4;
        const MotusEffort own = motus_effort_of(&c);
        MOTUS_CHECK(own.range == 11 && own.partitions == (P16 | sub), "%s: range %d, partitions %x",
                    motus_preset_name(c.preset), own.range, own.partitions);
        CU_ASSERT(own.rounds == usual.rounds && own.phases == usual.phases);
    }
    CU_ASSERT_STRING_EQUAL(motus_preset_name(MOTUS_PRESET_FASTER), "faster");
    CU_ASSERT_STRING_EQUAL(motus_preset_name(MOTUS_PRESET_PLACEBO), "placebo");
    CU_ASSERT_STRING_EQUAL(motus_preset_name((MotusPreset)99), "unknown");
}

// A preset's references fit the highest level; the configuration's own replace them.
static void references_of_presets(void) {
    static const struct {
        MotusPreset preset;
        int width, height, own, references, level;
    } cases[] = {
        {MOTUS_PRESET_MEDIUM, 1920, 1080, 0, 1, 40},  {MOTUS_PRESET_SLOW, 1920, 1080, 0, 3, 40},
        {MOTUS_PRESET_SLOWER, 1920, 1080, 0, 5, 50},  {MOTUS_PRESET_PLACEBO, 1920, 1080, 0, 16, 51},
        {MOTUS_PRESET_PLACEBO, 1920, 1080, 2, 2, 40}, {MOTUS_PRESET_PLACEBO, 7680, 4320, 0, 5, 60},
        {MOTUS_PRESET_MEDIUM, 1920, 1080, 7, 7, 50}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        MotusStream stream = {.mb_width = 0};
        MotusEncoderConfig config = encoder_case_config(cases[i].width, cases[i].height);
        config.preset = cases[i].preset, config.references = cases[i].own;
        REQUIRE_OK(motus_stream_open(&stream, &config, NULL));
        MOTUS_CHECK(stream.config.references == cases[i].references &&
                        stream.sequence.active_refs == cases[i].references &&
                        stream.sequence.level->level_idc == cases[i].level,
                    "case %u: %d references, level %d", i, stream.config.references,
                    stream.sequence.level->level_idc);
        motus_stream_close(&stream);
    }
}

// The level allows the search window: R = 128 at QCIF needs 2.1, whose vertical range is +-256.
static void level_follows_range(void) {
    static const int cases[][2] = {{16, 10}, {63, 10}, {64, 11}, {128, 21}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        MotusEncoder *enc;
        MotusEncoderConfig config = encoder_case_config(176, 144);
        config.fps = (MotusRational){15, 1};
        config.range = cases[i][0];
        REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
        MOTUS_CHECK(motus_encoder_level(enc) == cases[i][1], "R %d: level %d", config.range,
                    motus_encoder_level(enc));
        motus_encoder_close(&enc);
    }
}

// Slices of one picture differ by at most one row. In row_order a row comes after those above it in
// its slice, and each row comes once.
static void slices_of_whole_rows(void) {
    for (int rows = 1; rows < 40; rows++)
        for (int wanted = 0; wanted < 45; wanted++) {
            MotusSlices s;
            int next[40], least = rows, most = 0;
            REQUIRE_OK(motus_slices_alloc(&s, wanted, 0, 3, rows));
            CU_ASSERT_EQUAL(s.n, wanted < 1 ? 1 : wanted < rows ? wanted : rows);
            for (int k = 0; k < s.n && s.n > 1; k++) {
                const int n = s.begin[k + 1] - s.begin[k];
                least = n < least ? n : least, most = n > most ? n : most;
                next[k] = s.begin[k];
            }
            if (s.n > 1)
                MOTUS_CHECK(s.begin[0] == 0 && s.begin[s.n] == rows && most - least <= 1,
                            "%d slices of %d rows: %d to %d", s.n, rows, least, most);
            for (int i = 0; i < rows && s.n > 1; i++) {
                int k = 0;
                while (s.begin[k + 1] <= s.row_order[i]) k++;
                MOTUS_CHECK(s.row_order[i] == next[k]++, "row %d of %d", i, rows);
                CU_ASSERT_EQUAL(s.first[3 * s.row_order[i] + 2], 3 * s.begin[k]);
            }
            motus_slices_free(&s);
        }
}

// A split adds one slice at most, and leaves the others where they are.
static void slices_are_split(void) {
    for (int rows = 1; rows < 20; rows++)
        for (int wanted = 1; wanted < 6; wanted++)
            for (int row = 1; row <= rows; row++) {
                MotusSlices s, from;
                REQUIRE_OK(motus_slices_alloc(&from, wanted, 0, 3, rows));
                REQUIRE_OK(motus_slices_alloc(&s, wanted, row, 3, rows));
                int is_there = row == rows;
                for (int k = 0; k < from.n && from.n > 1; k++) is_there |= from.begin[k] == row;
                CU_ASSERT_EQUAL(s.n, from.n + !is_there);
                for (int i = 0; i < 3 * rows; i++) {
                    const int first = motus_slice_first(from.first, i);
                    CU_ASSERT_EQUAL(motus_slice_first(s.first, i),
                                    i >= 3 * row && first < 3 * row ? 3 * row : first);
                }
                motus_slices_free(&s);
                motus_slices_free(&from);
            }
}

// Members beyond the size of an older program's configuration are not read.
static void older_programs(void) {
    static const size_t sizes[] = {offsetof(MotusEncoderConfig, n_devices),
                                   offsetof(MotusEncoderConfig, stream_only),
                                   offsetof(MotusEncoderConfig, first_picture)};
    MotusFrame *frames[N_FRAMES];
    encoder_case_frames(frames, 64, 48);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MotusEncoderConfig config = encoder_case_config(64, 48);
        Stream now = {0}, older = {0};
        REQUIRE_OK(encoder_case_encode(&config, frames, &now));
        memset((char *)&config + sizes[i], 0x55, sizeof config - sizes[i]);
        config.size = sizes[i];
        REQUIRE_OK(encoder_case_encode(&config, frames, &older));
        MOTUS_CHECK(now.size == older.size && !memcmp(now.data, older.data, now.size), "size %zu",
                    sizes[i]);
        free(now.data);
        free(older.data);
    }
    encoder_case_drop(frames);
}

// With mb-tree and B pictures lambdas differ less between types; P pictures and references of B
// pictures then have the same.
static void lambdas_of_pictures(void) {
    for (int k = 0; k < 8; k++) {
        MotusEncoderConfig c = encoder_case_config(64, 48);
        c.rate = k & 1 ? MOTUS_RATE_CRF : MOTUS_RATE_QP;
        c.profile = MOTUS_PROFILE_HIGH, c.bframes = k & 2 ? 3 : 0, c.mb_tree = k >> 2;
        MotusStream s = {0};
        uint32_t lambda[4]; // I, P, a B picture that is a reference, another one
        REQUIRE_OK(motus_stream_open(&s, &c, NULL));
        for (int i = 0; i < 4; i++) {
            const MotusPictureParams params = {.type = (MotusSliceType)(i < 2 ? i : 2),
                                               .is_reference = i < 3};
            lambda[i] = s.qp_table[motus_picture_lambda(&s, &params)][30].lambda_ssd_q8;
        }
        const int has_tree = k == 7;
        MOTUS_CHECK((lambda[2] == lambda[1]) == has_tree && (lambda[3] == lambda[2]) == !has_tree &&
                        (3 * lambda[0] > 2 * lambda[1]) == has_tree && lambda[0] < lambda[1] &&
                        lambda[1] < lambda[3],
                    "case %d: %u %u %u %u", k, lambda[0], lambda[1], lambda[2], lambda[3]);
        motus_stream_close(&s);
    }
}

MOTUS_SUITE("settings", TEST(lambdas_of_pictures), TEST(own_values_replace_the_presets),
            TEST(references_of_presets), TEST(level_follows_range), TEST(slices_of_whole_rows),
            TEST(slices_are_split), TEST(older_programs))
