// motus compare's engine: the judge on x264's MVs in place of ours, on random MVs, on known motion,
// and on x264's whole-sample searches; with MOTUS_SEQS also on real sequences. Streams of x264 need
// the program.
// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/int_core.h"
#include "tests/me/me_oracle.h"
#include "tests/support/harness.h"
#include "tests/tools/compare_material.h"

// ---- Text ---------------------------------------------------------------------------------------

static void digits(void) {
    CU_ASSERT_STRING_EQUAL(motus_digits(0, 0).text, "0");
    CU_ASSERT_STRING_EQUAL(motus_digits(999, 0).text, "999");
    CU_ASSERT_STRING_EQUAL(motus_digits(1000, 0).text, "1,000");
    CU_ASSERT_STRING_EQUAL(motus_digits(-1234567.25, 2).text, "-1,234,567.25");
    CU_ASSERT_STRING_EQUAL(motus_digits(100000, 1).text, "100,000.0");
}

// ---- The judge ----------------------------------------------------------------------------------

static int clamp(int v, int hi) { return v < 0 ? 0 : v > hi ? hi : v; }

static uint32_t plain_sad(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                          MotusMv mv) {
    uint32_t sum = 0;
    for (int j = y; j < y + h; j++)
        for (int i = x; i < x + w; i++)
            sum += (uint32_t)abs(cur->data[j * cur->stride + i] -
                                 ref->data[clamp(j + mv.y / 4, ref->height - 1) * ref->stride +
                                           clamp(i + mv.x / 4, ref->width - 1)]);
    return sum;
}

static int plain_bits(int v) { // of se(v)
    int bits = 1;
    for (unsigned code = v > 0 ? 2u * (unsigned)v : 2u * (unsigned)-v + 1; code > 1; code >>= 1)
        bits += 2;
    return bits;
}

// Returns the whole sample next to an MV's component; of two the one farther from zero.
static int nearest(int v) { return (int)lround(v / 4.0) * 4; }

static void check_pair(const MotusPair *p, const MotusPlane *cur, const MotusPlane *ref, int n,
                       MotusMv predictor, int lambda, int range) {
    const int x = n % 3 * 16 + 4 * p->partition.x, y = n / 3 * 16 + 4 * p->partition.y,
              w = 4 * p->partition.width, h = 4 * p->partition.height;
    for (int side = p->has_both ? MOTUS_X264 : MOTUS_OURS; side < MOTUS_SIDES; side++) {
        const int bits =
            plain_bits(p->mv[side].x - predictor.x) + plain_bits(p->mv[side].y - predictor.y);
        const uint32_t sad = plain_sad(cur, ref, x, y, w, h, p->mv[side]);
        MOTUS_CHECK(p->sad[side] == sad && p->bits[side] == bits &&
                        p->j[side] == sad + (uint32_t)(lambda * bits >> 8),
                    "side %d: %u %d %u", side, p->sad[side], p->bits[side], p->j[side]);
    }
    if (!p->has_both) return;
    const int dx = p->mv[MOTUS_X264].x - nearest(predictor.x),
              dy = p->mv[MOTUS_X264].y - nearest(predictor.y);
    CU_ASSERT_EQUAL(p->inside, abs(dx) <= 4 * range && abs(dy) <= 4 * range);
    if (p->inside) CU_ASSERT(p->j[MOTUS_OURS] <= p->j[MOTUS_X264]);
}

// Random whole-sample results on random pictures, measured a second time by plain loops.
static void measures(void) {
    enum { W = 48, H = 32, MBS = 6, RANGE = 5 };
    uint8_t cur_data[W * H], ref_data[W * H];
    const MotusPlane cur = {cur_data, W, W, H}, ref = {ref_data, W, W, H};
    const MotusJudgeConfig config = {.width = W,
                                     .height = H,
                                     .range = RANGE,
                                     .threads = 1,
                                     .subpel = MOTUS_SUBPEL_FULL,
                                     .modes = MOTUS_MODES_ALL};
    MotusJudge *judge = NULL;
    int several = 0, alone = 0;
    REQUIRE_OK(motus_judge_open(&judge, &config));
    for (int round = 0; round < 40; round++) {
        MotusParsedMb mb[MBS] = {{.type = 0}};
        const int lambda = motus_test_range(0, 5000);
        motus_test_fill(cur_data, sizeof cur_data);
        motus_test_fill(ref_data, sizeof ref_data);
        for (int n = 0; n < MBS; n++) {
            mb[n].type = (uint8_t)motus_test_range(MOTUS_MB_P_SKIP, MOTUS_MB_I_16x16);
            mb[n].predictor =
                (MotusMv){(int16_t)motus_test_range(-37, 37), (int16_t)motus_test_range(-37, 37)};
            for (int q = 0; q < 4; q++) mb[n].sub_type[q] = (uint8_t)motus_test_range(0, 3);
            MotusPartition parts[16];
            const int n_parts = motus_parsed_partitions(&mb[n], parts);
            for (int i = 0; i < n_parts; i++) {
                const MotusMv mv = {(int16_t)(4 * motus_test_range(-12, 12)),
                                    (int16_t)(4 * motus_test_range(-12, 12))};
                for (int y = parts[i].y; y < parts[i].y + parts[i].height; y++)
                    for (int x = parts[i].x; x < parts[i].x + parts[i].width; x++)
                        mb[n].mv[4 * y + x] = mv;
            }
        }
        EXPECT_OK(motus_judge_picture(judge, &cur, &ref, mb, (uint32_t)lambda));
        EXPECT_OK(motus_judge_search(judge));
        for (int n = 0; n < MBS; n++) {
            MotusMbPairs pairs;
            motus_judge_mb(judge, n, &pairs);
            CU_ASSERT(pairs.n_own > 0 && (pairs.n_x264 > 0) == (mb[n].type < MOTUS_MB_I_4x4));
            for (int i = 0; i < pairs.n_x264; i++)
                check_pair(&pairs.x264[i], &cur, &ref, n, mb[n].predictor, lambda, RANGE);
            for (int i = 0; i < pairs.n_own; i++) {
                check_pair(&pairs.own[i], &cur, &ref, n, mb[n].predictor, lambda, RANGE);
                several += !pairs.own[i].has_both;
                alone += pairs.own[i].has_both;
            }
        }
    }
    CU_ASSERT(several > 20 && alone > 20);
    motus_judge_close(&judge);
}

// Returns the least J of a block over all quarter-sample MVs of the window.
static uint32_t oracle_bound(const MotusPlane *cur, const MotusPlane *ref, int n, int b,
                             MotusMv predictor, uint32_t lambda, int range) {
    const MotusMv centre = {(int16_t)nearest(predictor.x), (int16_t)nearest(predictor.y)};
    uint32_t least = UINT32_MAX;
    int x, y, w, h;
    oracle_block(b, &x, &y, &w, &h);
    x += n % 3 * 16, y += n / 3 * 16;
    for (int dy = -4 * range - 3; dy <= 4 * range + 3; dy++)
        for (int dx = -4 * range - 3; dx <= 4 * range + 3; dx++) {
            const MotusMv mv = {(int16_t)(centre.x + dx), (int16_t)(centre.y + dy)};
            const uint32_t j =
                oracle_satd(cur, ref, x, y, w, h, mv) + oracle_vector_cost(lambda, mv, predictor);
            if (j < least) least = j;
        }
    return least;
}

enum { BOUND_W = 48, BOUND_H = 32, BOUND_MBS = 6, BOUND_RANGE = 1, BOUND_LAMBDA = 700 };

static void check_bounds(const MotusJudge *judge, const MotusPlane *cur, const MotusPlane *ref,
                         const MotusParsedMb *mb) {
    for (int n = 0; n < BOUND_MBS; n++)
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const uint32_t want = oracle_bound(cur, ref, n, b, mb[n].predictor, BOUND_LAMBDA,
                                               BOUND_RANGE),
                           got = motus_judge_least(judge, n)[b],
                           found = motus_judge_cost(judge, n, b);
            MOTUS_CHECK(got == want && found >= got, "MB %d block %d: %u, want %u; search %u", n, b,
                        got, want, found);
        }
}

// The bound by AVX2 and by plain C, against its definition; no search costs less.
static void bounds(void) {
    uint8_t cur_data[BOUND_W * BOUND_H], ref_data[BOUND_W * BOUND_H];
    const MotusPlane cur = {cur_data, BOUND_W, BOUND_W, BOUND_H},
                     ref = {ref_data, BOUND_W, BOUND_W, BOUND_H};
    for (int round = 0; round < 4; round++) {
        MotusParsedMb mb[BOUND_MBS] = {{.type = 0}};
        MotusJudge *judge = NULL;
        const MotusJudgeConfig config = {.width = BOUND_W,
                                         .height = BOUND_H,
                                         .range = BOUND_RANGE,
                                         .threads = 1 + round,
                                         .subpel =
                                             round & 1 ? MOTUS_SUBPEL_BEST : MOTUS_SUBPEL_QUARTER,
                                         .modes = MOTUS_MODES_ALL};
        motus_test_fill(cur_data, sizeof cur_data);
        motus_test_fill(ref_data, sizeof ref_data);
        for (int n = 0; n < BOUND_MBS; n++)
            mb[n].predictor =
                (MotusMv){(int16_t)motus_test_range(-37, 37), (int16_t)motus_test_range(-37, 37)};
        REQUIRE_OK(motus_judge_open(&judge, &config));
        EXPECT_OK(motus_judge_picture(judge, &cur, &ref, mb, BOUND_LAMBDA));
        EXPECT_OK(motus_judge_search(judge));
        if (round & 2) motus_test_cpu("c");
        EXPECT_OK(motus_judge_bound(judge));
        motus_test_cpu(NULL);
        check_bounds(judge, &cur, &ref, mb);
        motus_judge_close(&judge);
    }
}

// As many pictures as wanted, and no first one.
static void bounded_pictures(void) {
    for (int pictures = 2; pictures < 40; pictures++)
        for (int wanted = 0; wanted < 50; wanted++) {
            int n = 0;
            for (int i = 0; i < pictures; i++) n += motus_bound_picks(i, pictures, wanted);
            CU_ASSERT_EQUAL(n, motus_min(wanted, pictures - 1));
            CU_ASSERT(!motus_bound_picks(0, pictures, wanted));
        }
}

static MotusRun compare(const Material *m, const MotusBytes *x264, int qp, int feed) {
    MotusOurStream ours = encode_ours(m, qp, MOTUS_PRESET_FASTER, MOTUS_PROFILE_BASELINE);
    MotusRun run;
    MotusError error = {0};
    const MotusRunSetup setup = {.clip = &m->clip,
                                 .name = "test",
                                 .x264 = x264->data,
                                 .x264_size = x264->n,
                                 .ours = &ours,
                                 .qp = qp,
                                 .threads = 1,
                                 .subpel = -1,
                                 .feed_x264 = feed};
    MOTUS_CHECK(!motus_run(&setup, &run, &error), "%s", error.text);
    cJSON_Delete(run.frame_list);
    run.frame_list = NULL;
    MOTUS_CHECK(run.frames == FRAMES && run.p_frames == FRAMES - 1 && run.figures.blocks > 0,
                "%d frames", run.frames);
    motus_our_stream_free(&ours);
    return run;
}

static int no_difference(const MotusFigures *f) {
    return f->within[0] == f->blocks && f->distance[0] == f->blocks &&
           f->difference[5] == f->blocks && f->sad.same == f->blocks && f->satd.same == f->blocks &&
           f->j.same == f->blocks && f->j.ours == f->j.x264 && !f->sad.less && !f->satd.less &&
           !f->j.less && f->sad.ours == f->sad.x264 && f->satd.ours == f->satd.x264 && !f->worse;
}

// With x264's MVs in place of ours there is no difference.
static void the_same_vectors(void) {
    static const char *const words[] = {"--partitions", "all", NULL};
    if (!have_x264()) return;
    for (int i = 0; i < 3; i++) {
        Material m;
        make_material(&m, lively(128 - 10 * i, 96));
        MotusBytes x264 = encode_x264(&m, 10 + 12 * i, words);
        MotusRun run = compare(&m, &x264, 10 + 12 * i, 1);
        MOTUS_CHECK(no_difference(&run.figures) && no_difference(&run.own),
                    "figures of %llu blocks", (unsigned long long)run.figures.blocks);
        uint64_t blocks = 0;
        for (int s = 0; s < MOTUS_MODES; s++) {
            MOTUS_CHECK(no_difference(&run.by_size[s]), "size %d", s);
            blocks += run.by_size[s].blocks;
        }
        CU_ASSERT_EQUAL(blocks, run.figures.blocks);
        motus_bytes_free(&x264);
        motus_work_folder_remove(&m.folder);
    }
}

// x264's whole-sample searches, one of them exhaustive: ours costs no more on any block whose x264
// MV lies in our window.
static void whole_samples(void) {
    static const char *const words[][7] = {
        {"--me", "esa", "--subme", "0", "--partitions", "all", NULL},
        {"--me", "umh", "--subme", "0", "--partitions", "all", NULL},
        {"--me", "dia", "--subme", "0", "--partitions", "p8x8", NULL}};
    if (!have_x264()) return;
    for (int i = 0; i < 3; i++) {
        Material m;
        MotusSynthConfig scene = lively(160, 128);
        scene.pan_x = 4; // a sample: x264's exhaustive search misses what is farther at --subme 0,
                         // and then codes intra
        scene.pan_y = -4;
        make_material(&m, scene);
        MotusBytes x264 = encode_x264(&m, 20 + 6 * i, words[i]);
        MotusRun run = compare(&m, &x264, 20 + 6 * i, 0);
        CU_ASSERT_EQUAL(run.subpel, MOTUS_SUBPEL_FULL);
        CU_ASSERT_EQUAL(run.modes, i == 2 ? 0xFu : MOTUS_MODES_ALL);
        MOTUS_CHECK(run.figures.inside > run.figures.blocks / 2 && !run.figures.worse,
                    "%s: %llu of %llu blocks in the window cost more", words[i][1],
                    (unsigned long long)run.figures.worse, (unsigned long long)run.figures.inside);
        MOTUS_CHECK(!run.own.worse, "own partition: %llu", (unsigned long long)run.own.worse);
        motus_bytes_free(&x264);
        motus_work_folder_remove(&m.folder);
    }
}

// A pan by quarter samples: both are right about nearly all blocks, so they agree.
static void known_motion(void) {
    if (!have_x264()) return;
    MotusSynthConfig scene = motus_synth_config_default(176, 144);
    scene.pan_x = 5;
    scene.pan_y = -3;
    Material m;
    make_material(&m, scene);
    MotusBytes x264 = encode_x264(&m, 14, NULL);
    MotusRun run = compare(&m, &x264, 14, 0);
    char path[600];
    snprintf(path, sizeof path, "%s", m.folder.log);
    FILE *file = fopen(path, "w");
    fputs("frame,x,y,w,h,mv_x,mv_y,layer,whole,flat\n", file);
    for (int n = 1; n < FRAMES; n++)
        for (int y = 0; y < 144; y += 16)
            for (int x = 0; x < 176; x += 16)
                fprintf(file, "%d,%d,%d,16,16,-5,3,0,%d,0\n", n, x, y,
                        x > 0 && y > 0 && x < 160 && y < 128);
    fclose(file);
    MotusTruth *truth = NULL;
    MotusError error = {0};
    MotusMv mv;
    MOTUS_CHECK(!motus_truth_load(&truth, path, &error), "%s", error.text);
    CU_ASSERT(motus_truth_at(truth, 1, 24, 40, 8, 8, &mv) && mv.x == -5 && mv.y == 3);
    CU_ASSERT(!motus_truth_at(truth, 1, 8, 40, 16, 8, &mv) &&
              !motus_truth_at(truth, 0, 24, 40, 8, 8, &mv));
    MotusOurStream ours = encode_ours(&m, 14, MOTUS_PRESET_FASTER, MOTUS_PROFILE_BASELINE);
    const MotusRunSetup setup = {.clip = &m.clip,
                                 .name = "pan",
                                 .x264 = x264.data,
                                 .x264_size = x264.n,
                                 .ours = &ours,
                                 .qp = 14,
                                 .threads = 1,
                                 .subpel = -1,
                                 .truth = truth};
    motus_run(&setup, &run, &error);
    cJSON_Delete(run.frame_list);
    const MotusFigures *f = &run.figures;
    MOTUS_CHECK(f->true_blocks > 100 && f->error_ours < 0.02 * (double)f->true_blocks &&
                    f->error_x264 < 0.02 * (double)f->true_blocks,
                "mean error of %llu blocks: ours %f, x264's %f samples",
                (unsigned long long)f->true_blocks, f->error_ours / (double)f->true_blocks,
                f->error_x264 / (double)f->true_blocks);
    motus_our_stream_free(&ours);
    motus_truth_free(&truth);
    motus_bytes_free(&x264);
    motus_work_folder_remove(&m.folder);
}

// ---- Real sequences -----------------------------------------------------------------------------

// The first frames of a file: both readers agree, x264's MVs in place of ours make no difference,
// and no whole-sample MV of x264's in our window is cheaper.
static void check_file(const char *path) {
    static const char *const words[][7] = {
        {"--partitions", "all", "--subme", "9", NULL},
        {"--me", "umh", "--subme", "0", "--partitions", "all", NULL}};
    Material m = {.clip = {0}};
    MotusError error = {0};
    MotusStatus status = motus_work_folder_make(&m.folder, &error);
    if (!status) status = motus_compare_clip_make(&m.clip, &m.folder, path, FRAMES, &error);
    MOTUS_CHECK(!status && m.clip.frames >= 2, "%s", error.text);
    for (int i = 0; i < 2 && !status && m.clip.frames == FRAMES; i++) {
        MotusBytes x264 = encode_x264(&m, 27, words[i]);
        check_extraction(x264.data, x264.n, path);
        MotusRun fed = compare(&m, &x264, 27, 1);
        MOTUS_CHECK(no_difference(&fed.figures) && no_difference(&fed.own), "%s", path);
        if (i == 1) {
            MotusRun run = compare(&m, &x264, 27, 0);
            MOTUS_CHECK(!run.figures.worse && !run.own.worse, "%s: %llu blocks", path,
                        (unsigned long long)run.figures.worse);
            printf(" %s: %llu blocks, %llu in the window, none cheaper;", path,
                   (unsigned long long)run.figures.blocks, (unsigned long long)run.figures.inside);
        }
        motus_bytes_free(&x264);
    }
    motus_work_folder_remove(&m.folder);
}

static void sequences(void) {
    const char *folder = getenv("MOTUS_SEQS");
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir) {
        motus_test_skip("MOTUS_SEQS names no folder");
        return;
    }
    for (struct dirent *entry; have_x264() && (entry = readdir(dir));) {
        char path[1024];
        const size_t n = strlen(entry->d_name);
        if (n < 4 || strcmp(entry->d_name + n - 4, ".y4m")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        check_file(path);
    }
    closedir(dir);
}

MOTUS_SUITE("compare", TEST(digits), TEST(measures), TEST(bounds), TEST(bounded_pictures),
            TEST(the_same_vectors), TEST(whole_samples), TEST(known_motion), TEST(sequences))
