// Decisions: every MB, its levels and its reconstruction, for I and P pictures of generated and
// (MOTUS_SEQS) real sequences. Each picture refers to what the CPU made of the one before.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_cuda.h"
#include "encoder/mb/deblock.h"
#include "encoder/preset/preset.h"
#include "encoder/settings/stream.h"
#include "me/me_cpu.h"
#include "me/search/refine.h"
#include "tests/encoder/levels/random_costs.h"
#include "tests/encoder/levels/same_levels.h"
#include "tests/gpu/sequence.h"
#include "yuv/io/reader.h"

enum { FRAMES = 3 }; // of a sequence: I, P, P

static MotusFrame *real_frame[FRAMES]; // NULL: a generated sequence

// Settings of a sequence.
typedef struct Settings {
    MotusPreset preset;
    int qp, maps, slices;     // maps: MBs have QP offsets
    int cabac, transform_8x8; // levels are chosen with costs of CABAC; the 8x8 transform is tried
} Settings;

typedef struct Decide {
    int mb_width, mb_height, n_mb;
    Settings settings;
    MotusEffort effort;
    int is_p, block_mbs, early;
    MotusFrame *frame[FRAMES];
    // CPU:
    MotusPictureState pic;
    MotusSlices slices;
    MotusMeCpu *me;
    MotusField *field;
    MotusRefLuma ref_luma;
    MotusMv *centre;
    MotusQp qp_table[MOTUS_SLICE_TYPES][MOTUS_QPS];
    MotusQuant8 quant8[MOTUS_SLICE_TYPES][MOTUS_QPS];
    MotusFrame *rec, *ref, *whole;
    // Device:
    MotusPictureStateCuda gpu;
    GpuPlane src[3], d_rec[3], chroma[3]; // chroma[1], [2]: the reference's
    GpuBuffer *state, *offset, *slice_first, *planes, *mv, *cost, *bins; // bins: of CABAC
} Decide;

// ---- Memory -------------------------------------------------------------------------------------

static void open_device(GpuCase *c, Decide *d) {
    const size_t n = (size_t)d->n_mb;
    d->state =
        gpu_buffer(c, "state", GPU_KEPT, motus_picture_state_cuda_bytes(d->mb_width, d->mb_height));
    CU_ASSERT_FATAL(
        !motus_picture_state_cuda_place(&d->gpu, d->state->at[ON_CUDA], d->mb_width, d->mb_height));
    d->block_mbs = d->gpu.block_mbs, d->early = d->gpu.early;
    for (int p = 0; p < 3; p++) {
        const int w = d->whole->plane[p].width, h = d->whole->plane[p].height;
        d->src[p] = gpu_plane(c, "source", GPU_INPUT, w, h, gpu_round16(w), 1);
        d->d_rec[p] = gpu_plane(c, "reconstruction", GPU_OUTPUT, w, h, gpu_round16(w), 1);
        if (p) d->chroma[p] = gpu_plane(c, "reference", GPU_INPUT, w, h, gpu_round16(w), 1);
        d->gpu.src[p] = d->src[p].at[ON_CUDA].data, d->gpu.rec[p] = d->d_rec[p].at[ON_CUDA].data;
        d->gpu.src_stride[p] = d->gpu.rec_stride[p] = d->src[p].at[ON_CUDA].stride;
    }
    d->offset = gpu_buffer(c, "QP offsets", GPU_INPUT, n);
    d->slice_first = gpu_buffer(c, "first MBs", GPU_INPUT, n * sizeof(int));
    d->bins = gpu_buffer(c, "costs of bins", GPU_INPUT, sizeof(MotusCabacCosts));
    d->planes = gpu_buffer(c, "luma planes", GPU_INPUT,
                           motus_ref_luma_bytes(16 * d->mb_width, 16 * d->mb_height));
    d->mv = gpu_buffer(c, "MVs", GPU_INPUT, n * MOTUS_BLOCKS * sizeof(MotusMv));
    d->cost = gpu_buffer(c, "costs", GPU_INPUT, n * MOTUS_BLOCKS * sizeof(uint32_t));
}

static void open_decide(GpuCase *c) {
    Decide *d = c->state;
    const int w = (c->width + 15) & ~15, h = (c->height + 15) & ~15;
    d->mb_width = w / 16, d->mb_height = h / 16, d->n_mb = d->mb_width * d->mb_height;
    for (int type = 0; type < MOTUS_SLICE_TYPES; type++)
        for (int qp = 0; qp < MOTUS_QPS; qp++) {
            d->qp_table[type][qp] = motus_qp_at(qp, type);
            d->quant8[type][qp] = motus_quant8_at(qp, type);
        }
    CU_ASSERT_FATAL(!motus_picture_state_alloc(&d->pic, d->mb_width, d->mb_height, 4));
    CU_ASSERT_FATAL(!motus_field_alloc(&d->field, w, h));
    CU_ASSERT_FATAL(!motus_ref_luma_alloc(&d->ref_luma, w, h));
    CU_ASSERT_FATAL(!motus_frame_alloc(&d->whole, w, h));
    CU_ASSERT_FATAL(!motus_frame_alloc(&d->rec, w, h));
    CU_ASSERT_FATAL(!motus_frame_alloc(&d->ref, w, h));
    d->centre = calloc((size_t)d->n_mb, sizeof *d->centre);
    open_device(c, d);
}

static void close_decide(GpuCase *c) {
    Decide *d = c->state;
    for (int t = 0; t < FRAMES; t++) motus_frame_unref(&d->frame[t]);
    motus_slices_free(&d->slices);
    motus_picture_state_free(&d->pic);
    motus_me_cpu_close(&d->me);
    motus_field_free(&d->field);
    motus_ref_luma_free(&d->ref_luma);
    motus_frame_unref(&d->whole);
    motus_frame_unref(&d->rec);
    motus_frame_unref(&d->ref);
    free(d->centre);
}

// ---- Content ------------------------------------------------------------------------------------

// Settings of sequence k, for the size of that number: each preset plain, with offsets and in
// slices; the ends of the QP range; a slice a row. Half have costs of CABAC, half the 8x8
// transform.
static Settings settings_of(int k, int number) {
    static const int qps[4] = {20, 28, 36, 44};
    static const Settings ends[3] = {{MOTUS_PRESET_MEDIUM, 0, 0, 1, 0, 0},
                                     {MOTUS_PRESET_FAST, 51, 0, 1, 0, 0},
                                     {MOTUS_PRESET_MEDIUM, 8, 0, 99, 0, 0}};
    const int preset = k / 3, way = k % 3, qp = qps[(preset + number + way) % 4],
              mix = (k + k / 4 + number) % 4; // all pairs with QPs and ways
    Settings settings = {(MotusPreset)preset,           qp, way == 2 ? preset % 2 : way,
                         way == 2 ? 2 + 3 * preset : 1, 0,  0};
    if (preset >= MOTUS_PRESETS) settings = ends[way];
    settings.cabac = mix & 1, settings.transform_8x8 = mix >> 1;
    return settings;
}

static Settings real_settings_of(int k) {
    const int preset = k % MOTUS_PRESETS;
    return (Settings){(MotusPreset)preset,
                      26 + 3 * preset,
                      preset % 2,
                      preset == MOTUS_PRESET_FASTER ? 4 : 1,
                      k / MOTUS_PRESETS & 1,
                      k / MOTUS_PRESETS >> 1};
}

static void begin_sequence(GpuCase *c, const Settings *settings, int material) {
    Decide *d = c->state;
    const int w = 16 * d->mb_width, h = 16 * d->mb_height;
    for (int t = 0; t < FRAMES; t++) {
        motus_frame_unref(&d->frame[t]);
        d->frame[t] = real_frame[0]
                          ? motus_frame_ref(real_frame[t])
                          : motus_material_frame((MotusMaterial)material, c->width, c->height, t);
    }
    MotusEncoderConfig config = motus_encoder_config_default(w, h, (MotusRational){25, 1});
    MotusMeConfig me = motus_me_config_default(w, h);
    config.preset = settings->preset;
    d->settings = *settings;
    d->effort = motus_effort_of(&config);
    me.subpel = MOTUS_SUBPEL_FULL, me.range = d->effort.range;
    motus_slices_free(&d->slices);
    motus_me_cpu_close(&d->me);
    CU_ASSERT_FATAL(!motus_me_cpu_open(&d->me, &me));
    CU_ASSERT_FATAL(
        !motus_slices_alloc(&d->slices, settings->slices, 0, d->mb_width, d->mb_height));
    d->pic.mbs.slice_first = d->slices.first;
    d->pic.row_order = d->slices.row_order;
}

// Leaves the picture that was coded last as reference.
static void end_picture(Decide *d) {
    motus_deblock_picture(d->rec, &d->pic.mbs);
    MotusFrame *swap = d->ref;
    d->ref = d->rec, d->rec = swap;
}

// Leaves in `mv` what refining the marked blocks gives, as the search of the device would.
static void refine_marked(Decide *d, uint32_t lambda_q8) {
    MotusMv *mv = d->mv->at[ON_CPU];
    for (int i = 0; i < d->n_mb; i++) {
        const int x = i % d->mb_width * 16, y = i / d->mb_width * 16;
        const MotusPlane *luma = &d->whole->plane[0];
        MotusMbJob job = {.cur = luma->data + y * luma->stride + x,
                          .cur_stride = luma->stride,
                          .ref = &d->ref_luma,
                          .x = x,
                          .y = y,
                          .predictor = d->centre[i],
                          .lambda_q8 = lambda_q8};
        MotusMbMotion motion;
        for (int k = 0; k < MOTUS_BLOCKS; k++)
            motion.mv[k] = d->field->mv[k][i], motion.cost[k] = d->field->cost[k][i];
        motus_refine_blocks(&job, MOTUS_SUBPEL_QUARTER, motus_refine_ops(),
                            motus_candidate_blocks(motion.cost, &d->effort, lambda_q8), &motion);
        for (int k = 0; k < MOTUS_BLOCKS; k++)
            mv[(size_t)k * (size_t)d->n_mb + (size_t)i] = motion.mv[k];
    }
}

static void search_p(Decide *d) {
    const MotusPlane *luma = &d->whole->plane[0];
    const uint32_t lambda_q8 = d->qp_table[MOTUS_SLICE_P][d->settings.qp].lambda_q8;
    const MotusMeHints hints = {
        .centre = d->centre, .predictor = d->centre, .lambda_q8 = lambda_q8};
    motus_ref_luma_build(&d->ref_luma, &d->ref->plane[0], 1, 4);
    motus_me_cpu_predict(d->me, &(MotusCentresPicture){.cur = luma->data,
                                                       .cur_stride = luma->stride,
                                                       .ref = &d->ref_luma,
                                                       .lambda_q8 = lambda_q8,
                                                       .reach = 64,
                                                       .limit_x = 400,
                                                       .limit_y = 400,
                                                       .centre = d->centre});
    motus_me_cpu_search(d->me, luma, &d->ref_luma, &hints, d->field);
    refine_marked(d, lambda_q8);
    memcpy(d->planes->at[ON_CPU], d->ref_luma.memory, d->planes->bytes);
    memcpy(d->cost->at[ON_CPU], d->field->cost[0], d->cost->bytes);
}

// Picture t of the sequence. `alone`, the device has nothing else to do: the intra wavefront has a
// block for each MB that it has at a time, decisions begin early.
static void fill_picture(GpuCase *c, int t) {
    Decide *d = c->state;
    const int alone = (d->settings.qp + t) % 2, maps = d->settings.maps;
    int8_t *offset = d->offset->at[ON_CPU];
    if (t) end_picture(d);
    d->is_p = t > 0;
    CU_ASSERT_FATAL(!motus_frame_copy_padded(d->whole, d->frame[t]));
    d->pic.mbs.src = d->whole, d->pic.rec = d->rec;
    for (int i = 0; i < d->n_mb; i++)
        offset[i] = (int8_t)(i % 7 ? motus_test_range(-8, 8) : motus_test_range(-51, 51));
    d->pic.qp_offset = maps ? offset : NULL;
    d->gpu.qp_offset = maps ? d->offset->at[ON_CUDA] : NULL;
    d->gpu.slice_first = d->slices.first ? d->slice_first->at[ON_CUDA] : NULL;
    d->gpu.block_mbs = alone ? 1 : d->block_mbs, d->gpu.early = alone ? d->early : 0;
    motus_random_costs(d->bins->at[ON_CPU], d->settings.qp);
    d->gpu.costs = d->settings.cabac ? d->bins->at[ON_CUDA] : NULL;
    d->gpu.transform_8x8 = d->settings.transform_8x8;
    if (d->slices.first) memcpy(d->slice_first->at[ON_CPU], d->slices.first, d->slice_first->bytes);
    if (d->is_p) search_p(d);
    for (int p = 0; p < 3; p++) {
        gpu_copy_plane(&d->src[p].at[ON_CPU], &d->whole->plane[p]);
        if (p && d->is_p) gpu_copy_plane(&d->chroma[p].at[ON_CPU], &d->ref->plane[p]);
    }
    snprintf(c->what, sizeof c->what, "%s, QP %d%s, %d slices%s%s, picture %d",
             motus_preset_name(d->settings.preset), d->settings.qp, maps ? " and a map" : "",
             d->slices.n, d->settings.cabac ? ", CABAC" : "",
             d->settings.transform_8x8 ? ", 8x8" : "", t);
}

static void fill_decide(GpuCase *c) {
    const int k = c->round / FRAMES;
    const Settings settings = real_frame[0] ? real_settings_of(k) : settings_of(k, c->number);
    if (c->round % FRAMES == 0) begin_sequence(c, &settings, k % MOTUS_MATERIALS);
    fill_picture(c, c->round % FRAMES);
}

// ---- Both versions ------------------------------------------------------------------------------

static MotusReference reference_on(const Decide *d, int on) {
    const ptrdiff_t at = d->ref_luma.plane[0] - d->ref_luma.memory;
    MotusReference ref = {.width = d->ref_luma.width,
                          .height = d->ref_luma.height,
                          .luma = (const uint8_t *)d->planes->at[on] + at,
                          .chroma = {d->chroma[1].at[on].data, d->chroma[2].at[on].data},
                          .luma_stride = d->ref_luma.stride,
                          .chroma_stride = d->chroma[1].at[on].stride};
    memcpy(ref.tap, d->ref_luma.tap, sizeof ref.tap);
    return ref;
}

static MotusPictureJob job_on(const Decide *d, int on) {
    MotusPictureJob job = {
        .type = d->is_p ? MOTUS_SLICE_P : MOTUS_SLICE_I,
        .refs = d->is_p,
        .qp = d->settings.qp,
        .effort = d->effort,
        .limits = {.max_mvs = 16, .max_mv_y = 512, .unit = 1, .steps = d->effort.steps},
        .subpel = MOTUS_SUBPEL_QUARTER,
        .qp_table = d->qp_table[d->is_p],
        .quant8 = d->settings.transform_8x8 ? d->quant8[d->is_p] : NULL,
        .costs = d->settings.cabac ? d->bins->at[ON_CPU] : NULL,
        .luma = {&d->ref_luma}};
    if (d->is_p) job.ref[0] = reference_on(d, on);
    job.motion[0] =
        on ? (MotusMotion){.mv = d->mv->at[ON_CUDA], .cost = d->cost->at[ON_CUDA]}
           : (MotusMotion){d->field->mv[0], d->field->sad[0], d->field->cost[0], d->centre};
    return job;
}

static MotusStatus run_decide(GpuCase *c, int on) {
    Decide *d = c->state;
    const MotusPictureJob job = job_on(d, on);
    cudaError_t status = cudaSuccess;
    if (on) {
        d->gpu.lambda = d->is_p ? MOTUS_LAMBDA_P : MOTUS_LAMBDA_I;
        if (d->is_p) status = motus_mark_cuda(&d->gpu, &job, NULL, c->stream);
        if (d->is_p && !status) status = motus_decide_cuda(&d->gpu, &job, c->stream);
        if (!status) status = motus_code_intra_cuda(&d->gpu, &job, c->stream);
        return gpu_launched(c, status);
    }
    motus_decide_ops()->decide(&d->pic, &job);
    motus_decide_ops()->code_intra(&d->pic, &job);
    for (int i = 0; i < 3; i++) gpu_copy_plane(&d->d_rec[i].at[ON_CPU], &d->rec->plane[i]);
    return MOTUS_OK;
}

static void check_mbs(GpuCase *c) {
    const Decide *d = c->state;
    const size_t n = (size_t)d->n_mb;
    const MotusMb *want = d->pic.mbs.mb;
    MotusMb *mb = malloc(n * sizeof *mb);
    MotusMbCoef *coef = malloc(n * sizeof *coef);
    int mbs = 0, levels = 0, first = 0;
    gpu_download(c, mb, d->gpu.mb, n * sizeof *mb);
    gpu_download(c, coef, d->gpu.coef, n * sizeof *coef);
    for (int i = 0; i < d->n_mb; i++) {
        const int differs = memcmp(&mb[i], &want[i], sizeof mb[i]) != 0;
        if (differs && !mbs) first = i;
        mbs += differs;
        levels += !differs && !same_levels(&mb[i], &coef[i], &d->pic.mbs.coef[i]);
    }
    gpu_expect(c, !mbs, "%d of %d MBs, the first (%d, %d): type %d, not %d", mbs, d->n_mb,
               first % d->mb_width, first / d->mb_width, mb[first].type, want[first].type);
    gpu_expect(c, !levels, "levels of %d of %d MBs", levels, d->n_mb);
    free(mb);
    free(coef);
}

// ---- Rows ---------------------------------------------------------------------------------------

enum { BENCH_P = 1, BENCH_CABAC = 2, BENCH_8x8 = 4 }; // variants of the rows that are timed

// One picture again and again: as I, or as P behind one that the CPU codes. Costs of bins are those
// of a GOP's first pictures.
static void fill_bench(GpuCase *c) {
    const int variant = c->row->variant;
    const Settings medium = {MOTUS_PRESET_MEDIUM,       28, 0, 1, (variant & BENCH_CABAC) != 0,
                             (variant & BENCH_8x8) != 0};
    Decide *d = c->state;
    begin_sequence(c, &medium, MOTUS_MATERIAL_SCENE);
    for (int t = 0;; t++) {
        fill_picture(c, t);
        if (medium.cabac) motus_cabac_costs_set(d->bins->at[ON_CPU], d->is_p, d->settings.qp);
        if (t || !(variant & BENCH_P)) return;
        run_decide(c, ON_CPU);
    }
}

static const GpuKernel decide = {sizeof(Decide), open_decide, fill_decide,
                                 run_decide,     check_mbs,   close_decide};
static const GpuKernel timed = {sizeof(Decide), open_decide, fill_bench,
                                run_decide,     check_mbs,   close_decide};

enum { ROUNDS = 15 * FRAMES };
static const GpuSize sizes[] = {{16, 16, ROUNDS},   {64, 16, ROUNDS},   {16, 80, ROUNDS},
                                {176, 144, ROUNDS}, {352, 288, ROUNDS}, {640, 368, ROUNDS},
                                {0, 0, 0}};

static void real(void) {
    static const char *const names[] = {"foreman_cif_300", "carphone_qcif_120", "scenecuts_cif_39",
                                        "soccer_720x480_24", "street_1080p_40"};
    const char *dir = getenv("MOTUS_SEQS");
    if (!dir) motus_test_skip("MOTUS_SEQS names no folder");
    for (size_t i = 0; dir && i < sizeof names / sizeof *names; i++) {
        char path[1024];
        MotusReader *reader = NULL;
        int n = 0;
        snprintf(path, sizeof path, "%s/%s.y4m", dir, names[i]);
        if (motus_reader_open(&reader, path, NULL, NULL)) continue;
        while (n < FRAMES && !motus_reader_next(reader, &real_frame[n], NULL)) n++;
        if (n == FRAMES) {
            const GpuSize size[] = {
                {real_frame[0]->width, real_frame[0]->height, 4 * n * MOTUS_PRESETS}, {0, 0, 0}};
            gpu_row_run("decide", &(GpuRow){.name = "real", .kernel = &decide, .sizes = size});
        }
        while (n > 0) motus_frame_unref(&real_frame[--n]);
        motus_reader_close(&reader);
    }
}

#define TIMED(what, bits)                                                                          \
    {                                                                                              \
        .name = (what), .kernel = &timed, .variant = (bits), .bench = { 1920, 1088, 0 }            \
    }

static const GpuRow rows[] = {{.name = "generated", .kernel = &decide, .sizes = sizes},
                              TIMED("code_i", 0),
                              TIMED("code_p", BENCH_P),
                              TIMED("code_i_cabac", BENCH_CABAC),
                              TIMED("code_p_cabac", BENCH_CABAC | BENCH_P),
                              TIMED("code_i_8x8", BENCH_8x8 | BENCH_CABAC),
                              TIMED("code_p_8x8", BENCH_8x8 | BENCH_CABAC | BENCH_P),
                              TIMED("code_i_8x8_cavlc", BENCH_8x8),
                              TIMED("code_p_8x8_cavlc", BENCH_8x8 | BENCH_P),
                              GPU_TEST(real),
                              {0}};

const GpuSuite gpu_decide = {"decide", rows};
