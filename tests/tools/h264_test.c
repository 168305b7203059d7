// The reader of streams against the decoder's exported MVs and the encoder's statistics, on damaged
// streams and on unsupported ones. Streams of x264 need the program.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/harness.h"
#include "tests/tools/compare_material.h"

static void our_streams(void) {
    for (int i = 0; i < 12; i++) {
        const int qp = 12 * (i % 4) + 4, profile = i / 4;
        Material m;
        make_material(&m, lively(i % 2 ? 96 : 118, i % 2 ? 80 : 66));
        MotusOurStream s = encode_ours(&m, qp, (MotusPreset)(i % 4), (MotusProfile)profile);
        MotusH264Reader *stream = NULL;
        MotusParsedPicture p;
        uint64_t bits[3] = {0}, bytes = 0;
        char what[48];
        snprintf(what, sizeof what, "ours, %s, QP %d", motus_profile_name((MotusProfile)profile),
                 qp);
        check_extraction(s.stream.data, s.stream.n, what);
        EXPECT_OK(motus_h264_open(&stream, s.stream.data, s.stream.n, NULL));
        while (!motus_h264_next(stream, &p)) {
            bytes += p.bytes;
            for (int n = 0; n < p.mb_width * p.mb_height; n++) {
                bits[0] += p.mb[n].bits_mode;
                bits[1] += p.mb[n].bits_mv;
                bits[2] += p.mb[n].bits_residual;
            }
        }
        MOTUS_CHECK(bytes == s.stream.n, "%s: bytes", what);
        MOTUS_CHECK(bits[0] == s.bits.mode && bits[1] == s.bits.mv && bits[2] == s.bits.residual,
                    "%s: mode %llu of %llu, vectors %llu of %llu, residual %llu of %llu", what,
                    (unsigned long long)bits[0], (unsigned long long)s.bits.mode,
                    (unsigned long long)bits[1], (unsigned long long)s.bits.mv,
                    (unsigned long long)bits[2], (unsigned long long)s.bits.residual);
        motus_h264_close(&stream);
        motus_our_stream_free(&s);
        motus_work_folder_remove(&m.folder);
    }
}

static void streams_of_x264(void) {
    static const char *const words[][12] = {
        {NULL},
        {"--partitions", "all", "--me", "umh", "--subme", "9", NULL},
        {"--slices", "3", "--partitions", "all", NULL},
        {"--slice-max-mbs", "7", "--no-deblock", NULL},
        {"--deblock", "2:-2", "--constrained-intra", "--keyint", "3", NULL},
        {"--ref", "4", "--partitions", "all", "--b-pyramid", "none", NULL},
        {"--preset", "ultrafast", "--aud", NULL},
        {"--profile", "main", "--no-cabac", "--no-weightb", "--chroma-qp-offset", "3", NULL},
        {"--profile", "main", "--weightp", "2", "--ref", "3", "--partitions", "all", NULL},
        {"--profile", "high", "--ref", "2", "--partitions", "all", "--aq-mode", "1", NULL},
        {"--profile", "high", "--no-cabac", "--partitions", "all", "--slices", "2", NULL},
        {"--profile", "high", "--constrained-intra", "--partitions", "i8x8,i4x4,p8x8", NULL}};
    if (!have_x264()) return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        Material m;
        make_material(&m, lively(112, 96));
        MotusBytes bytes = encode_x264(&m, 6 * ((int)i % 8) + 3, words[i]);
        MotusExtraction e =
            check_extraction(bytes.data, bytes.n, words[i][0] ? words[i][0] : "medium");
        if (words[i][0] && !strcmp(words[i][0], "--partitions"))
            MOTUS_CHECK(e.only_here > 0, "small blocks");
        motus_bytes_free(&bytes);
        motus_work_folder_remove(&m.folder);
    }
}

// Streams that are not read are refused with a message.
static void refusals(void) {
    static const char *const words[][6] = {{"--profile", "high", "--cqm", "jvt", NULL},
                                           {"--profile", "high444", "--qp", "0", NULL},
                                           {"--profile", "main", "--bframes", "2", NULL}};
    static const char *const text[] = {"scaling matrices are not read",
                                       "the profile is none of Baseline, Main and High",
                                       "only I and P slices are read"};
    if (!have_x264()) return;
    Material m;
    make_material(&m, lively(96, 80));
    for (int i = 0; i < 3; i++) {
        MotusBytes bytes = encode_x264(&m, 30, words[i]);
        MotusH264Reader *stream = NULL;
        MotusParsedPicture picture;
        MotusStatus status = motus_h264_open(&stream, bytes.data, bytes.n, NULL);
        while (!status) status = motus_h264_next(stream, &picture);
        MOTUS_CHECK(status == MOTUS_ERR_FORMAT && !strcmp(motus_h264_error(stream), text[i]), "%s",
                    motus_h264_error(stream));
        motus_h264_close(&stream);
        motus_bytes_free(&bytes);
    }
    motus_work_folder_remove(&m.folder);
}

// Streams with random damage give an error or pictures (under the sanitizers). MOTUS_FUZZ_CASES:
// number of cases.
static void damaged(void) {
    const char *wanted = getenv("MOTUS_FUZZ_CASES");
    const int cases = wanted ? atoi(wanted) : 400;
    Material m;
    make_material(&m, lively(64, 48));
    MotusOurStream streams[2] = {encode_ours(&m, 24, MOTUS_PRESET_FAST, MOTUS_PROFILE_BASELINE),
                                 encode_ours(&m, 24, MOTUS_PRESET_FAST, MOTUS_PROFILE_HIGH)};
    for (int i = 0; i < cases; i++) {
        const MotusOurStream s = streams[i & 1];
        MotusBytes copy = {0};
        motus_bytes_add(&copy, s.stream.data,
                        i % 3 ? s.stream.n : (size_t)motus_test_range(1, (int)s.stream.n));
        for (int k = motus_test_range(0, 6); k > 0; k--)
            copy.data[motus_test_range(0, (int)copy.n - 1)] = (uint8_t)motus_test_random();
        MotusH264Reader *stream = NULL;
        MotusParsedPicture picture;
        int pictures = 0;
        MotusStatus status = motus_h264_open(&stream, copy.data, copy.n, NULL);
        while (!status && !(status = motus_h264_next(stream, &picture))) pictures++;
        MOTUS_CHECK(status == MOTUS_END || (status == MOTUS_ERR_FORMAT && motus_h264_error(stream)),
                    "status %d", status);
        MOTUS_CHECK(pictures <= FRAMES * 40, "%d pictures", pictures);
        motus_h264_close(&stream);
        motus_bytes_free(&copy);
    }
    for (int i = 0; i < 2; i++) motus_our_stream_free(&streams[i]);
    motus_work_folder_remove(&m.folder);
}

// A different MV, a missing one and an unexpected one: each is found.
static void disagreement(void) {
    Material m;
    make_material(&m, lively(96, 80));
    MotusOurStream s = encode_ours(&m, 20, MOTUS_PRESET_MEDIUM, MOTUS_PROFILE_BASELINE);
    MotusH264Reader *stream = NULL;
    MotusStreamDecoder *decoder = NULL;
    MotusParsedPicture picture;
    MotusDecoded decoded;
    CU_ASSERT(!motus_h264_open(&stream, s.stream.data, s.stream.n, NULL) &&
              !motus_stream_decoder_open(&decoder, NULL));
    for (int n = 0; n < 2; n++) {
        REQUIRE_OK(motus_h264_next(stream, &picture));
        REQUIRE_OK(motus_stream_decoder_next(decoder, s.stream.data + picture.begin,
                                             picture.end - picture.begin, &decoded, NULL));
    }
    MotusExtraction e[4] = {{0}};
    MotusExportedMv mv[2000];
    CU_ASSERT_FATAL(decoded.n_mv > 1 && decoded.n_mv < 1999);
    size_t whole = 0; // an MV of an undivided block
    while (decoded.mv[whole].width < 16) whole++;
    memcpy(mv, decoded.mv, decoded.n_mv * sizeof *mv);
    decoded.mv = mv;
    motus_extraction_add(&e[0], &picture, &decoded);
    mv[whole].mv.y++;
    motus_extraction_add(&e[1], &picture, &decoded);
    mv[whole].mv.y--;
    mv[decoded.n_mv++] = mv[whole];
    motus_extraction_add(&e[2], &picture, &decoded);
    decoded.n_mv--;
    mv[whole].x += 8;
    motus_extraction_add(&e[3], &picture, &decoded);
    CU_ASSERT(e[0].equal == e[0].compared && !e[0].unknown);
    CU_ASSERT(e[1].equal == e[1].compared - 1 && !e[1].unknown);
    CU_ASSERT(e[2].equal == e[2].compared && e[2].unknown == 1);
    CU_ASSERT(e[3].equal < e[3].compared);
    motus_h264_close(&stream);
    motus_stream_decoder_close(&decoder);
    motus_our_stream_free(&s);
    motus_work_folder_remove(&m.folder);
}

MOTUS_SUITE("h264", TEST(our_streams), TEST(streams_of_x264), TEST(refusals), TEST(damaged),
            TEST(disagreement))
