// motus compare's engine: the reader of streams against the decoder's exported vectors and the encoder's own statistics; the judge on x264's vectors in place of ours,
// on motion that is known, and on x264's whole-sample searches. Streams of x264 need the program.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tools/compare/run.h"
#include "tools/synth.h"

// ---- Material -----------------------------------------------------------------------------------------------------------------------------

enum { FRAMES = 6 };

typedef struct Material {
    MotusWorkFolder folder;
    MotusCompareClip clip;
    MotusSynthConfig scene;
} Material;

// A generated clip in a folder of its own; the clip's path points into *m.
static void make_material(Material *m, MotusSynthConfig scene) {
    *m = (Material){.scene = scene};
    MotusError error = {0};
    MotusSynth *synth = NULL;
    MotusWriter *writer = NULL;
    MotusFrame *frame = NULL;
    const MotusSequenceInfo info = {.width = scene.width, .height = scene.height, .fps = {25, 1}, .colour = MOTUS_COLOUR_UNKNOWN};
    MotusStatus status = motus_work_folder_make(&m->folder, &error);
    if (!status) status = motus_synth_open(&synth, &scene);
    if (!status) status = motus_frame_alloc(&frame, scene.width, scene.height);
    if (!status) status = motus_writer_open(&writer, m->folder.clip, &info, &error);
    for (int n = 0; n < FRAMES && !status; n++) {
        motus_synth_frame(synth, n, frame);
        status = motus_writer_put(writer, frame, &error);
    }
    if (!status) status = motus_writer_commit(&writer, &error);
    motus_writer_abandon(&writer);
    motus_frame_unref(&frame);
    motus_synth_close(&synth);
    MOTUS_CHECK(!status, "%s", error.text);
    m->clip = (MotusCompareClip){
        .path = m->folder.clip, .width = scene.width, .height = scene.height, .frames = FRAMES, .fps = {25, 1}};
}

static MotusSynthConfig lively(int width, int height) {
    MotusSynthConfig c = motus_synth_config_default(width, height);
    c.seed = motus_test_random();
    c.pan_x = motus_test_range(-20, 20);
    c.pan_y = motus_test_range(-12, 12);
    c.objects = 6;
    c.noise = 3;
    c.flat = 10;
    return c;
}

static int have_x264(void) {
    static int have = -1;
    char text[128];
    if (have < 0) have = !motus_x264_version("x264", "/dev/null", text, sizeof text, NULL);
    MotusWorkFolder folder = {0};
    if (have <= 0 && !motus_work_folder_make(&folder, NULL))
        have = !motus_x264_version("x264", folder.log, text, sizeof text, NULL);
    motus_work_folder_remove(&folder);
    if (!have) motus_test_skip("x264 is not installed");
    return have;
}

// x264's stream of the clip with these further options.
static MotusBytes encode_x264(const Material *m, int qp, const char *const *words) {
    MotusError error = {0};
    MotusBytes bytes = {0};
    double seconds;
    const MotusX264Job job = {.program = "x264",
                              .words = words,
                              .qp = qp,
                              .threads = 1,
                              .range = 16,
                              .input = m->folder.clip,
                              .output = m->folder.stream,
                              .log = m->folder.log,
                              .frames = FRAMES};
    MOTUS_CHECK(!motus_x264_encode(&job, &seconds, &error), "%s", error.text);
    FILE *file = fopen(m->folder.stream, "rb");
    uint8_t part[4096];
    for (size_t n; file && (n = fread(part, 1, sizeof part, file));) motus_bytes_add(&bytes, part, n);
    if (file) fclose(file);
    return bytes;
}

static MotusOurStream encode_ours(const Material *m, int qp, MotusPreset preset) {
    MotusEncoderConfig config = motus_encoder_config_default(m->clip.width, m->clip.height, m->clip.fps);
    MotusOurStream out;
    MotusError error = {0};
    config.qp = qp;
    config.keyint = 0;
    config.preset = preset;
    config.backend = MOTUS_BACKEND_CPU;
    config.threads = 1;
    MOTUS_CHECK(!motus_our_encode(&config, &m->clip, NULL, NULL, &out, &error), "%s", error.text);
    return out;
}

// ---- The reader of streams ----------------------------------------------------------------------------------------------------------------

// Both ways to read a stream's vectors agree, and the bits add up to the stream's.
static MotusExtraction check_extraction(const uint8_t *data, size_t size, const char *what) {
    MotusBaseline *stream = NULL;
    MotusStreamDecoder *decoder = NULL;
    MotusReadPicture picture;
    MotusDecoded decoded;
    MotusExtraction e = {0};
    MotusError error = {0};
    int pictures = 0;
    MotusStatus status = motus_baseline_open(&stream, data, size, NULL);
    if (!status) status = motus_stream_decoder_open(&decoder, &error);
    while (!status && !(status = motus_baseline_next(stream, &picture))) {
        status = motus_stream_decoder_next(decoder, data + picture.begin, picture.end - picture.begin, &decoded, &error);
        if (!status) status = motus_extraction_add(&e, &picture, &decoded);
        pictures++;
    }
    MOTUS_CHECK(status == MOTUS_END && pictures == FRAMES, "%s: %s %s, %d pictures", what, error.text,
                status == MOTUS_ERR_FORMAT && motus_baseline_wrong(stream) ? motus_baseline_wrong(stream) : "", pictures);
    MOTUS_CHECK(e.compared > 0 && e.equal == e.compared && e.unknown == 0, "%s: %llu of %llu vectors agree, %llu unknown", what,
                (unsigned long long)e.equal, (unsigned long long)e.compared, (unsigned long long)e.unknown);
    motus_baseline_close(&stream);
    motus_stream_decoder_close(&decoder);
    return e;
}

static void our_streams(void) {
    for (int i = 0; i < 4; i++) {
        Material m;
        make_material(&m, lively(i % 2 ? 96 : 118, i % 2 ? 80 : 66));
        MotusOurStream s = encode_ours(&m, 12 * i + 4, (MotusPreset)i);
        MotusBaseline *stream = NULL;
        MotusReadPicture p;
        uint64_t bits[3] = {0}, bytes = 0;
        char what[32];
        snprintf(what, sizeof what, "ours, QP %d", 12 * i + 4);
        check_extraction(s.stream.data, s.stream.n, what);
        CU_ASSERT_EQUAL(motus_baseline_open(&stream, s.stream.data, s.stream.n, NULL), MOTUS_OK);
        while (!motus_baseline_next(stream, &p)) {
            bytes += p.bytes;
            for (int n = 0; n < p.mb_width * p.mb_height; n++) {
                bits[0] += p.mb[n].bits_mode;
                bits[1] += p.mb[n].bits_mv;
                bits[2] += p.mb[n].bits_residual;
            }
        }
        MOTUS_CHECK(bytes == s.stream.n, "%s: bytes", what);
        MOTUS_CHECK(bits[0] == s.bits.mode && bits[1] == s.bits.mv && bits[2] == s.bits.residual,
                    "%s: mode %llu of %llu, vectors %llu of %llu, residual %llu of %llu", what, (unsigned long long)bits[0],
                    (unsigned long long)s.bits.mode, (unsigned long long)bits[1], (unsigned long long)s.bits.mv,
                    (unsigned long long)bits[2], (unsigned long long)s.bits.residual);
        motus_baseline_close(&stream);
        motus_our_stream_free(&s);
        motus_work_folder_remove(&m.folder);
    }
}

static void streams_of_x264(void) {
    static const char *const words[][12] = {{NULL},
                                            {"--partitions", "all", "--me", "umh", "--subme", "9", NULL},
                                            {"--slices", "3", "--partitions", "all", NULL},
                                            {"--slice-max-mbs", "7", "--no-deblock", NULL},
                                            {"--deblock", "2:-2", "--constrained-intra", "--keyint", "3", NULL},
                                            {"--ref", "4", "--partitions", "all", "--b-pyramid", "none", NULL},
                                            {"--preset", "ultrafast", "--aud", NULL},
                                            {"--profile", "main", "--no-cabac", "--no-weightb", "--chroma-qp-offset", "3", NULL}};
    if (!have_x264()) return;
    for (int i = 0; i < 8; i++) {
        Material m;
        make_material(&m, lively(112, 96));
        MotusBytes bytes = encode_x264(&m, 6 * i + 3, words[i]);
        MotusExtraction e = check_extraction(bytes.data, bytes.n, words[i][0] ? words[i][0] : "medium");
        if (words[i][0] && !strcmp(words[i][0], "--partitions")) MOTUS_CHECK(e.only_here > 0, "small blocks");
        motus_bytes_free(&bytes);
        motus_work_folder_remove(&m.folder);
    }
}

// What is no Baseline stream is refused in words.
static void refusals(void) {
    static const char *const words[][6] = {{"--profile", "main", NULL},
                                           {"--profile", "high", "--no-cabac", NULL},
                                           {"--profile", "main", "--no-cabac", "--bframes", "2", NULL}};
    static const char *const text[] = {"CABAC is not read", "the profile is neither Baseline nor Main",
                                       "only I and P slices are read"};
    if (!have_x264()) return;
    Material m;
    make_material(&m, lively(96, 80));
    for (int i = 0; i < 3; i++) {
        MotusBytes bytes = encode_x264(&m, 30, words[i]);
        MotusBaseline *stream = NULL;
        MotusReadPicture picture;
        MotusStatus status = motus_baseline_open(&stream, bytes.data, bytes.n, NULL);
        while (!status) status = motus_baseline_next(stream, &picture);
        MOTUS_CHECK(status == MOTUS_ERR_FORMAT && !strcmp(motus_baseline_wrong(stream), text[i]), "%s",
                    motus_baseline_wrong(stream));
        motus_baseline_close(&stream);
        motus_bytes_free(&bytes);
    }
    motus_work_folder_remove(&m.folder);
}

// Streams with random damage: an error or pictures, never anything else (under the sanitizers). MOTUS_FUZZ_CASES: for longer.
static void damaged(void) {
    const char *wanted = getenv("MOTUS_FUZZ_CASES");
    const int cases = wanted ? atoi(wanted) : 400;
    Material m;
    make_material(&m, lively(64, 48));
    MotusOurStream s = encode_ours(&m, 24, MOTUS_PRESET_FAST);
    for (int i = 0; i < cases; i++) {
        MotusBytes copy = {0};
        motus_bytes_add(&copy, s.stream.data, i % 3 ? s.stream.n : (size_t)motus_test_range(1, (int)s.stream.n));
        for (int k = motus_test_range(0, 6); k > 0; k--)
            copy.data[motus_test_range(0, (int)copy.n - 1)] = (uint8_t)motus_test_random();
        MotusBaseline *stream = NULL;
        MotusReadPicture picture;
        int pictures = 0;
        MotusStatus status = motus_baseline_open(&stream, copy.data, copy.n, NULL);
        while (!status && !(status = motus_baseline_next(stream, &picture))) pictures++;
        MOTUS_CHECK(status == MOTUS_END || (status == MOTUS_ERR_FORMAT && motus_baseline_wrong(stream)), "status %d", status);
        MOTUS_CHECK(pictures <= FRAMES * 40, "%d pictures", pictures);
        motus_baseline_close(&stream);
        motus_bytes_free(&copy);
    }
    motus_our_stream_free(&s);
    motus_work_folder_remove(&m.folder);
}

// One vector that differs, one that is missing, one that nobody expects: each is found.
static void disagreement(void) {
    Material m;
    make_material(&m, lively(96, 80));
    MotusOurStream s = encode_ours(&m, 20, MOTUS_PRESET_MEDIUM);
    MotusBaseline *stream = NULL;
    MotusStreamDecoder *decoder = NULL;
    MotusReadPicture picture;
    MotusDecoded decoded;
    CU_ASSERT(!motus_baseline_open(&stream, s.stream.data, s.stream.n, NULL) && !motus_stream_decoder_open(&decoder, NULL));
    for (int n = 0; n < 2; n++) {
        CU_ASSERT_EQUAL_FATAL(motus_baseline_next(stream, &picture), MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(
            motus_stream_decoder_next(decoder, s.stream.data + picture.begin, picture.end - picture.begin, &decoded, NULL),
            MOTUS_OK);
    }
    MotusExtraction e[4] = {{0}};
    MotusExportedMv mv[2000];
    CU_ASSERT_FATAL(decoded.n_mv > 1 && decoded.n_mv < 1999);
    size_t whole = 0; // a vector of a block that is not divided
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
    motus_baseline_close(&stream);
    motus_stream_decoder_close(&decoder);
    motus_our_stream_free(&s);
    motus_work_folder_remove(&m.folder);
}

// ---- The judge ----------------------------------------------------------------------------------------------------------------------------

static int clamp(int v, int hi) { return v < 0 ? 0 : v > hi ? hi : v; }

static uint32_t plain_sad(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h, MotusMv mv) {
    uint32_t sum = 0;
    for (int j = y; j < y + h; j++)
        for (int i = x; i < x + w; i++)
            sum += (uint32_t)abs(
                cur->data[j * cur->stride + i] -
                ref->data[clamp(j + mv.y / 4, ref->height - 1) * ref->stride + clamp(i + mv.x / 4, ref->width - 1)]);
    return sum;
}

static int plain_bits(int v) { // of se(v)
    int bits = 1;
    for (unsigned code = v > 0 ? 2u * (unsigned)v : 2u * (unsigned)-v + 1; code > 1; code >>= 1) bits += 2;
    return bits;
}

static void check_pair(const MotusPair *p, const MotusPlane *cur, const MotusPlane *ref, int n, MotusMv predictor, int lambda,
                       int range) {
    const int x = n % 3 * 16 + 4 * p->part.x, y = n / 3 * 16 + 4 * p->part.y, w = 4 * p->part.width, h = 4 * p->part.height;
    for (int side = p->has_both ? MOTUS_X264 : MOTUS_OURS; side < MOTUS_SIDES; side++) {
        const int bits = plain_bits(p->mv[side].x - predictor.x) + plain_bits(p->mv[side].y - predictor.y);
        const uint32_t sad = plain_sad(cur, ref, x, y, w, h, p->mv[side]);
        MOTUS_CHECK(p->sad[side] == sad && p->bits[side] == bits && p->j[side] == sad + (uint32_t)(lambda * bits >> 8),
                    "side %d: %u %d %u", side, p->sad[side], p->bits[side], p->j[side]);
    }
    if (!p->has_both) return;
    const int dx = p->mv[MOTUS_X264].x - predictor.x, dy = p->mv[MOTUS_X264].y - predictor.y;
    CU_ASSERT_EQUAL(p->inside, abs(dx) <= 4 * range && abs(dy) <= 4 * range);
    if (p->inside) CU_ASSERT(p->j[MOTUS_OURS] <= p->j[MOTUS_X264]);
}

// Made-up answers of whole samples on random pictures, measured again here in the plainest way.
static void measures(void) {
    enum { W = 48, H = 32, MBS = 6, RANGE = 5 };
    uint8_t cur_data[W * H], ref_data[W * H];
    const MotusPlane cur = {cur_data, W, W, H}, ref = {ref_data, W, W, H};
    const MotusJudgeConfig config = {
        .width = W, .height = H, .range = RANGE, .threads = 1, .subpel = MOTUS_SUBPEL_FULL, .modes = MOTUS_MODES_ALL};
    MotusJudge *judge = NULL;
    int several = 0, alone = 0;
    CU_ASSERT_EQUAL_FATAL(motus_judge_open(&judge, &config), MOTUS_OK);
    for (int round = 0; round < 40; round++) {
        MotusReadMb mb[MBS] = {{.type = 0}};
        const int lambda = motus_test_range(0, 5000);
        motus_test_fill(cur_data, sizeof cur_data);
        motus_test_fill(ref_data, sizeof ref_data);
        for (int n = 0; n < MBS; n++) {
            mb[n].type = (uint8_t)motus_test_range(MOTUS_MB_P_SKIP, MOTUS_MB_I_16x16);
            mb[n].predictor = (MotusMv){(int16_t)(4 * motus_test_range(-9, 9)), (int16_t)(4 * motus_test_range(-9, 9))};
            for (int q = 0; q < 4; q++) mb[n].sub_type[q] = (uint8_t)motus_test_range(0, 3);
            MotusPart parts[16];
            const int n_parts = motus_read_parts(&mb[n], parts);
            for (int i = 0; i < n_parts; i++) {
                const MotusMv mv = {(int16_t)(4 * motus_test_range(-12, 12)), (int16_t)(4 * motus_test_range(-12, 12))};
                for (int y = parts[i].y; y < parts[i].y + parts[i].height; y++)
                    for (int x = parts[i].x; x < parts[i].x + parts[i].width; x++) mb[n].mv[4 * y + x] = mv;
            }
        }
        CU_ASSERT_EQUAL(motus_judge_picture(judge, &cur, &ref, mb, (uint32_t)lambda), MOTUS_OK);
        CU_ASSERT_EQUAL(motus_judge_search(judge), MOTUS_OK);
        for (int n = 0; n < MBS; n++) {
            MotusMbPairs pairs;
            motus_judge_mb(judge, n, &pairs);
            CU_ASSERT(pairs.n_own > 0 && (pairs.n_x264 > 0) == (mb[n].type < MOTUS_MB_I_4x4));
            for (int i = 0; i < pairs.n_x264; i++) check_pair(&pairs.x264[i], &cur, &ref, n, mb[n].predictor, lambda, RANGE);
            for (int i = 0; i < pairs.n_own; i++) {
                check_pair(&pairs.own[i], &cur, &ref, n, mb[n].predictor, lambda, RANGE);
                CU_ASSERT_EQUAL(pairs.own[i].j[MOTUS_OURS], motus_judge_field(judge)->cost[pairs.own[i].part.block][n]);
                several += !pairs.own[i].has_both;
                alone += pairs.own[i].has_both;
            }
        }
    }
    CU_ASSERT(several > 20 && alone > 20);
    motus_judge_close(&judge);
}

static MotusRun compare(const Material *m, const MotusBytes *x264, int qp, int feed) {
    MotusOurStream ours = encode_ours(m, qp, MOTUS_PRESET_FASTER);
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
    MOTUS_CHECK(run.frames == FRAMES && run.p_frames == FRAMES - 1 && run.figures.blocks > 0, "%d frames", run.frames);
    motus_our_stream_free(&ours);
    return run;
}

static int no_difference(const MotusFigures *f) {
    return f->within[0] == f->blocks && f->distance[0] == f->blocks && f->difference[5] == f->blocks &&
           f->sad.same == f->blocks && f->satd.same == f->blocks && f->j.same == f->blocks && f->j.ours == f->j.x264 &&
           f->sad.ours == f->sad.x264 && f->satd.ours == f->satd.x264 && !f->worse;
}

// With x264's vectors in place of ours there is no difference anywhere.
static void the_same_vectors(void) {
    static const char *const words[] = {"--partitions", "all", NULL};
    if (!have_x264()) return;
    for (int i = 0; i < 3; i++) {
        Material m;
        make_material(&m, lively(128 - 10 * i, 96));
        MotusBytes x264 = encode_x264(&m, 10 + 12 * i, words);
        MotusRun run = compare(&m, &x264, 10 + 12 * i, 1);
        MOTUS_CHECK(no_difference(&run.figures) && no_difference(&run.own), "figures of %llu blocks",
                    (unsigned long long)run.figures.blocks);
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

// x264's whole-sample searches, one of them exhaustive: ours costs no more on any block whose x264 vector lies in our window.
static void whole_samples(void) {
    static const char *const words[][7] = {{"--me", "esa", "--subme", "0", "--partitions", "all", NULL},
                                           {"--me", "umh", "--subme", "0", "--partitions", "all", NULL},
                                           {"--me", "dia", "--subme", "0", "--partitions", "p8x8", NULL}};
    if (!have_x264()) return;
    for (int i = 0; i < 3; i++) {
        Material m;
        MotusSynthConfig scene = lively(160, 128);
        scene.pan_x = 4; // a sample: x264's exhaustive search misses what is farther at --subme 0, and then codes intra
        scene.pan_y = -4;
        make_material(&m, scene);
        MotusBytes x264 = encode_x264(&m, 20 + 6 * i, words[i]);
        MotusRun run = compare(&m, &x264, 20 + 6 * i, 0);
        CU_ASSERT_EQUAL(run.subpel, MOTUS_SUBPEL_FULL);
        CU_ASSERT_EQUAL(run.modes, i == 2 ? 0xFu : MOTUS_MODES_ALL);
        MOTUS_CHECK(run.figures.inside > run.figures.blocks / 2 && !run.figures.worse,
                    "%s: %llu of %llu blocks in the window cost more", words[i][1], (unsigned long long)run.figures.worse,
                    (unsigned long long)run.figures.inside);
        MOTUS_CHECK(!run.own.worse, "own partition: %llu", (unsigned long long)run.own.worse);
        motus_bytes_free(&x264);
        motus_work_folder_remove(&m.folder);
    }
}

// A pan by quarter samples: both are right about nearly all blocks, and so about each other.
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
                fprintf(file, "%d,%d,%d,16,16,-5,3,0,%d,0\n", n, x, y, x > 0 && y > 0 && x < 160 && y < 128);
    fclose(file);
    MotusTruth *truth = NULL;
    MotusError error = {0};
    MotusMv mv;
    MOTUS_CHECK(!motus_truth_load(&truth, path, &error), "%s", error.text);
    CU_ASSERT(motus_truth_at(truth, 1, 24, 40, 8, 8, &mv) && mv.x == -5 && mv.y == 3);
    CU_ASSERT(!motus_truth_at(truth, 1, 8, 40, 16, 8, &mv) && !motus_truth_at(truth, 0, 24, 40, 8, 8, &mv));
    MotusOurStream ours = encode_ours(&m, 14, MOTUS_PRESET_FASTER);
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
                "mean error of %llu blocks: ours %f, x264's %f samples", (unsigned long long)f->true_blocks,
                f->error_ours / (double)f->true_blocks, f->error_x264 / (double)f->true_blocks);
    motus_our_stream_free(&ours);
    motus_truth_free(&truth);
    motus_bytes_free(&x264);
    motus_work_folder_remove(&m.folder);
}

int main(int argc, char **argv) {
    const MotusTest tests[] = {{"our_streams", our_streams},
                               {"streams_of_x264", streams_of_x264},
                               {"refusals", refusals},
                               {"damaged", damaged},
                               {"disagreement", disagreement},
                               {"measures", measures},
                               {"the_same_vectors", the_same_vectors},
                               {"whole_samples", whole_samples},
                               {"known_motion", known_motion},
                               {0}};
    return motus_test_main("compare", tests, argc, argv);
}
