// Decisions on a CUDA device against the CPU's: every MB, its levels and its reconstruction, for I
// and P pictures of generated and (MOTUS_SEQS) real sequences.
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>

#include "encoder/decide/decide_cuda.h"
#include "encoder/mb/deblock.h"
#include "encoder/settings/preset.h"
#include "encoder/settings/stream.h"
#include "me/me_cpu.h"
#include "me/search/refine.h"
#include "tests/encoder/analyse/same_levels.h"
#include "tests/gpu/gpu.h"
#include "tools/synth/synth.h"
#include "yuv/io/reader.h"

// Everything of one sequence: the CPU's picture, and the device's copy of what it starts from.
typedef struct Bench {
    int width, height, mb_width, mb_height, n_mb;
    MotusPictureState pic;
    MotusMeCpu *me;
    MotusField *field;
    MotusRefLuma ref_luma;
    MotusMv *centre;
    MotusQp qp_table[52];
    MotusFrame *rec, *ref, *whole;
    MotusPictureStateCuda gpu;
    uint8_t *device; // work, planes, reference, vectors, costs
    size_t device_bytes;
    MotusMv *mv;    // refined, [41][n_mb]
    int8_t *offset; // of QP, per MB
    int maps;       // whether there are offsets
    int alone; // as if nothing else ran on the device: the intra wavefront has a block for each MB
               // it has at a time, decisions begin early
    MotusSlices slices;
} Bench;

static void bench_open(Bench *b, int width, int height, int range, int slices) {
    *b = (Bench){.width = (width + 15) & ~15, .height = (height + 15) & ~15};
    b->mb_width = b->width / 16, b->mb_height = b->height / 16,
    b->n_mb = b->mb_width * b->mb_height;
    MotusMeConfig config = motus_me_config_default(b->width, b->height);
    config.subpel = MOTUS_SUBPEL_FULL;
    config.range = range;
    CU_ASSERT_EQUAL_FATAL(motus_picture_state_alloc(&b->pic, b->mb_width, b->mb_height, 4),
                          MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_me_cpu_open(&b->me, &config), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_field_alloc(&b->field, b->width, b->height), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_ref_luma_alloc(&b->ref_luma, b->width, b->height), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&b->whole, b->width, b->height), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&b->rec, b->width, b->height), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&b->ref, b->width, b->height), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_slices_make(&b->slices, slices, b->mb_width, b->mb_height),
                          MOTUS_OK);
    b->pic.mbs.slice_first = b->slices.first;
    b->pic.row_order = b->slices.row_order;
    b->centre = calloc((size_t)b->n_mb, sizeof *b->centre);
    b->mv = calloc((size_t)b->n_mb * MOTUS_BLOCKS, sizeof *b->mv);
    b->offset = malloc((size_t)b->n_mb);
    for (int qp = 0; qp < 52; qp++) b->qp_table[qp] = motus_qp_at(qp);
    size_t plane_rows = (size_t)b->height + 2 * MOTUS_REF_PAD,
           luma = (size_t)b->ref_luma.stride * plane_rows * 4;
    b->device_bytes = motus_picture_state_cuda_bytes(b->mb_width, b->mb_height) +
                      5 * (size_t)b->n_mb + 8 * (size_t)b->width * b->height + luma +
                      (size_t)b->n_mb * MOTUS_BLOCKS * 8 + 65536;
    CU_ASSERT_EQUAL_FATAL((int)cudaMalloc((void **)&b->device, b->device_bytes), 0);
}

static void bench_close(Bench *b) {
    cudaFree(b->device);
    motus_slices_free(&b->slices);
    motus_picture_state_free(&b->pic);
    motus_me_cpu_close(&b->me);
    motus_field_free(&b->field);
    motus_ref_luma_free(&b->ref_luma);
    motus_frame_unref(&b->whole);
    motus_frame_unref(&b->rec);
    motus_frame_unref(&b->ref);
    free(b->centre);
    free(b->mv);
    free(b->offset);
}

static uint8_t *place(Bench *b, size_t *end, size_t bytes) {
    size_t at = *end;
    *end += (bytes + 255) & ~(size_t)255;
    CU_ASSERT_FATAL(*end <= b->device_bytes);
    return b->device + at;
}

static uint8_t *put(Bench *b, size_t *end, const void *data, size_t bytes) {
    uint8_t *to = place(b, end, bytes);
    CU_ASSERT_EQUAL_FATAL((int)cudaMemcpy(to, data, bytes, cudaMemcpyHostToDevice), 0);
    return to;
}

// A plane without gaps; NULL data: only its place, poisoned.
static uint8_t *put_plane(Bench *b, size_t *end, const MotusPlane *plane, int filled) {
    uint8_t *to = place(b, end, (size_t)plane->width * (size_t)plane->height);
    cudaMemset(to, 0xA5, (size_t)plane->width * (size_t)plane->height);
    if (filled)
        cudaMemcpy2D(to, (size_t)plane->width, plane->data, (size_t)plane->stride,
                     (size_t)plane->width, (size_t)plane->height, cudaMemcpyHostToDevice);
    return to;
}

static size_t place_work(Bench *b) {
    size_t end = 0;
    uint8_t *memory = place(b, &end, motus_picture_state_cuda_bytes(b->mb_width, b->mb_height));
    CU_ASSERT_EQUAL_FATAL(
        (int)motus_picture_state_cuda_place(&b->gpu, memory, b->mb_width, b->mb_height), 0);
    if (b->alone) b->gpu.teams = 1;
    if (!b->alone) b->gpu.early = 0;
    for (int p = 0; p < 3; p++) {
        b->gpu.src[p] = put_plane(b, &end, &b->whole->plane[p], 1);
        b->gpu.rec[p] = put_plane(b, &end, &b->rec->plane[p], 0);
        b->gpu.src_stride[p] = b->gpu.rec_stride[p] = b->whole->plane[p].width;
    }
    for (int i = 0; i < b->n_mb; i++)
        b->offset[i] = (int8_t)(i % 7 ? motus_test_range(-8, 8) : motus_test_range(-51, 51));
    b->pic.qp_offset = b->maps ? b->offset : NULL;
    b->gpu.qp_offset = b->maps ? (const int8_t *)put(b, &end, b->offset, (size_t)b->n_mb) : NULL;
    if (b->slices.first)
        b->gpu.slice_first =
            (const int *)(void *)put(b, &end, b->slices.first, (size_t)b->n_mb * sizeof(int));
    return end;
}

static void compare(Bench *b, const char *what) {
    MotusMb *mb = malloc((size_t)b->n_mb * sizeof *mb);
    MotusMbCoef *coef = malloc((size_t)b->n_mb * sizeof *coef);
    int mbs = 0, levels = 0, samples = 0, first = -1;
    cudaError_t status = cudaDeviceSynchronize();
    MOTUS_CHECK(status == cudaSuccess, "%s: %s", what, cudaGetErrorString(status));
    cudaMemcpy(mb, b->gpu.mb, (size_t)b->n_mb * sizeof *mb, cudaMemcpyDeviceToHost);
    cudaMemcpy(coef, b->gpu.coef, (size_t)b->n_mb * sizeof *coef, cudaMemcpyDeviceToHost);
    for (int i = 0; i < b->n_mb; i++) {
        int differs = memcmp(&mb[i], &b->pic.mbs.mb[i], sizeof mb[i]) != 0;
        if (differs && first < 0) first = i;
        mbs += differs;
        levels += !differs && !same_levels(&mb[i], &coef[i], &b->pic.mbs.coef[i]);
    }
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &b->rec->plane[p];
        uint8_t *row = malloc((size_t)plane->width * (size_t)plane->height);
        cudaMemcpy(row, b->gpu.rec[p], (size_t)plane->width * (size_t)plane->height,
                   cudaMemcpyDeviceToHost);
        for (int y = 0; y < plane->height; y++)
            samples += memcmp(row + (size_t)y * plane->width, plane->data + y * plane->stride,
                              (size_t)plane->width) != 0;
        free(row);
    }
    MOTUS_CHECK(!mbs && !levels && !samples,
                "%s: %d of %d MBs (first %d,%d: type %d, not %d), levels of %d, %d rows of samples",
                what, mbs, b->n_mb, first % b->mb_width, first / b->mb_width,
                first < 0 ? 0 : mb[first].type, first < 0 ? 0 : b->pic.mbs.mb[first].type, levels,
                samples);
    free(mb);
    free(coef);
}

// The vectors that refining the marked blocks gives, as the search of the device would leave them.
static void refine_marked(Bench *b, const MotusEffort *effort, int qp) {
    uint32_t lambda_q8 = b->qp_table[qp].lambda_q8;
    for (int i = 0; i < b->n_mb; i++) {
        int x = i % b->mb_width * 16, y = i / b->mb_width * 16;
        const MotusPlane *luma = &b->whole->plane[0];
        MotusMbJob job = {.cur = luma->data + y * luma->stride + x,
                          .cur_stride = luma->stride,
                          .ref = &b->ref_luma,
                          .x = x,
                          .y = y,
                          .predictor = b->centre[i],
                          .lambda_q8 = lambda_q8};
        MotusMbMotion motion;
        for (int k = 0; k < MOTUS_BLOCKS; k++)
            motion.mv[k] = b->field->mv[k][i], motion.cost[k] = b->field->cost[k][i];
        motus_refine_blocks(&job, MOTUS_SUBPEL_QUARTER, motus_refine_ops(),
                            motus_blocks_with_a_chance(motion.cost, effort, lambda_q8), &motion);
        for (int k = 0; k < MOTUS_BLOCKS; k++) b->mv[(size_t)k * b->n_mb + i] = motion.mv[k];
    }
}

static MotusReference reference(const MotusRefLuma *luma, const uint8_t *base, const uint8_t *cb,
                                const uint8_t *cr, ptrdiff_t chroma_stride) {
    MotusReference ref = {.width = luma->width,
                          .height = luma->height,
                          .luma = base,
                          .chroma = {cb, cr},
                          .luma_stride = luma->stride,
                          .chroma_stride = chroma_stride};
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

static void code_p(Bench *b, const MotusEffort *effort, int qp, const char *what) {
    const MotusInterLimits limits = {
        .max_mvs = 16, .max_mv_y = 512, .unit = 1, .steps = effort->steps};
    const MotusPlane *luma = &b->whole->plane[0];
    uint32_t lambda_q8 = b->qp_table[qp].lambda_q8;
    motus_ref_luma_build(&b->ref_luma, &b->ref->plane[0], 1, 4);
    motus_me_cpu_predict(b->me, &(MotusCentresPicture){.cur = luma->data,
                                                       .cur_stride = luma->stride,
                                                       .ref = &b->ref_luma,
                                                       .lambda_q8 = lambda_q8,
                                                       .reach = 64,
                                                       .limit_x = 400,
                                                       .limit_y = 400,
                                                       .centre = b->centre});
    MotusMeHints hints = {.centre = b->centre, .predictor = b->centre, .lambda_q8 = lambda_q8};
    motus_me_cpu_search(b->me, luma, &b->ref_luma, &hints, b->field);
    refine_marked(b, effort, qp);

    size_t end = place_work(b), rows = (size_t)b->height + 2 * MOTUS_REF_PAD,
           bytes = (size_t)b->ref_luma.stride * rows * 4;
    uint8_t *planes = put(b, &end, b->ref_luma.memory, bytes);
    uint8_t *cb = put_plane(b, &end, &b->ref->plane[1], 1),
            *cr = put_plane(b, &end, &b->ref->plane[2], 1);
    MotusPCodingCuda p = {.ref = reference(&b->ref_luma,
                                           planes + (b->ref_luma.plane[0] - b->ref_luma.memory), cb,
                                           cr, b->width / 2),
                          .limits = limits};
    p.mv = (const MotusMv *)(void *)put(b, &end, b->mv,
                                        (size_t)b->n_mb * MOTUS_BLOCKS * sizeof *b->mv);
    p.cost = (const uint32_t *)(void *)put(b, &end, b->field->cost[0],
                                           (size_t)b->n_mb * MOTUS_BLOCKS * sizeof(uint32_t));
    CU_ASSERT_EQUAL((int)motus_mark_blocks_cuda(&b->gpu, p.cost, p.mv, NULL, qp, effort, 0), 0);
    CU_ASSERT_EQUAL((int)motus_code_p_cuda(&b->gpu, &p, qp, effort, 0), 0);

    const MotusCoding coding = {b->qp_table, qp, *effort};
    const MotusPCoding cpu = {.ref = reference(&b->ref_luma, b->ref_luma.plane[0],
                                               b->ref->plane[1].data, b->ref->plane[2].data,
                                               b->ref->plane[1].stride),
                              .ref_luma = &b->ref_luma,
                              .field = b->field,
                              .centre = b->centre,
                              .limits = limits,
                              .subpel = MOTUS_SUBPEL_QUARTER};
    motus_passes()->code_p(&b->pic, &coding, &cpu);
    compare(b, what);
}

static void code_i(Bench *b, const MotusEffort *effort, int qp, const char *what) {
    const MotusCoding coding = {b->qp_table, qp, *effort};
    place_work(b);
    CU_ASSERT_EQUAL((int)motus_code_i_cuda(&b->gpu, qp, effort, 0), 0);
    motus_passes()->code_i(&b->pic, &coding);
    compare(b, what);
}

// The first picture as I, the others as P.
static void code_frames(MotusFrame *const *frames, int n, MotusPreset preset, int qp, int maps,
                        int slices, const char *name) {
    MotusEncoderConfig config =
        motus_encoder_config_default(frames[0]->width, frames[0]->height, (MotusRational){25, 1});
    config.preset = preset;
    MotusEffort effort = motus_effort_of(&config);
    Bench b;
    bench_open(&b, frames[0]->width, frames[0]->height, effort.range, slices);
    b.maps = maps;
    for (int t = 0; t < n; t++) {
        char what[128];
        snprintf(what, sizeof what, "%s %dx%d, %s, QP %d%s, %d slices, picture %d", name,
                 frames[0]->width, frames[0]->height, motus_preset_name(preset), qp,
                 maps ? " and a map" : "", b.slices.n, t);
        CU_ASSERT_EQUAL_FATAL(motus_frame_copy_padded(b.whole, frames[t]), MOTUS_OK);
        b.alone = (qp + t) % 2;
        b.pic.mbs.src = b.whole;
        b.pic.rec = b.rec;
        if (t)
            code_p(&b, &effort, qp, what);
        else
            code_i(&b, &effort, qp, what);
        motus_deblock_picture(b.rec, &b.pic.mbs);
        MotusFrame *swap = b.ref;
        b.ref = b.rec;
        b.rec = swap;
    }
    bench_close(&b);
}

enum { N = 3 };

static void generated(void) {
    static const int sizes[][2] = {{16, 16},   {64, 16},   {16, 80},
                                   {176, 144}, {352, 288}, {640, 368}};
    if (!motus_test_has_gpu()) return;
    const int n = (int)(sizeof sizes / sizeof sizes[0]), wanted = motus_test_cases(n); // sizes
    for (int i = 0; i < n && i < wanted; i++) {
        MotusFrame *frames[N];
        MotusSynth *synth = NULL;
        MotusSynthConfig config = motus_synth_config_default(sizes[i][0], sizes[i][1]);
        config.pan_x = 5, config.pan_y = -3, config.objects = 6, config.noise = 3,
        config.cut_every = 7;
        CU_ASSERT_EQUAL_FATAL(motus_synth_open(&synth, &config), MOTUS_OK);
        for (int t = 0; t < N; t++) {
            CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&frames[t], sizes[i][0], sizes[i][1]),
                                  MOTUS_OK);
            motus_synth_frame(synth, t, frames[t]);
        }
        for (int preset = 0; preset < MOTUS_PRESETS; preset++) {
            static const int qps[4] = {20, 28, 36, 44};
            code_frames(frames, N, (MotusPreset)preset, qps[(preset + i) % 4], 0, 1, "synth");
            code_frames(frames, N, (MotusPreset)preset, qps[(preset + i + 1) % 4], 1, 1, "synth");
            code_frames(frames, N, (MotusPreset)preset, qps[(preset + i + 2) % 4], preset % 2,
                        2 + 3 * preset, "synth");
        }
        code_frames(frames, N, MOTUS_PRESET_MEDIUM, 0, 0, 1, "synth");
        code_frames(frames, N, MOTUS_PRESET_FAST, 51, 0, 1, "synth");
        code_frames(frames, N, MOTUS_PRESET_MEDIUM, 8, 0, 99, "synth");
        motus_synth_close(&synth);
        for (int t = 0; t < N; t++) motus_frame_unref(&frames[t]);
    }
}

static void real(void) {
    static const char *const names[] = {"foreman_cif_300", "carphone_qcif_120", "scenecuts_cif_39",
                                        "soccer_720x480_24", "street_1080p_40"};
    const char *dir = getenv("MOTUS_SEQS");
    if (!motus_test_has_gpu()) return;
    if (!dir) {
        motus_test_skip("MOTUS_SEQS names no folder");
        return;
    }
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        char path[1024];
        MotusReader *reader = NULL;
        MotusFrame *frames[N] = {NULL};
        int n = 0;
        snprintf(path, sizeof path, "%s/%s.y4m", dir, names[i]);
        if (motus_reader_open(&reader, path, NULL, NULL)) continue;
        while (n < N && !motus_reader_next(reader, &frames[n], NULL)) n++;
        for (int preset = 0; preset < MOTUS_PRESETS && n == N; preset++)
            code_frames(frames, n, (MotusPreset)preset, 26 + 3 * preset, preset % 2,
                        preset == MOTUS_PRESET_FASTER ? 4 : 1, names[i]);
        for (int t = 0; t < n; t++) motus_frame_unref(&frames[t]);
        motus_reader_close(&reader);
    }
}

static const MotusTest tests[] = {{"generated", generated}, {"real", real}, {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_decide", tests, argc, argv); }
