// Motion estimation: the search kernels, and the public API on the same cases. MOTUS_CASES sets the
// number of random ones. me_api_test.c has sequences and failures.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/ref_luma_cuda.h"
#include "me/search/refine_cuda.h"
#include "me/search/search_cuda.h"
#include "tests/gpu/gpu_test.h"
#include "tests/me/me_case.h"

// ---- Kernels ------------------------------------------------------------------------------------

// A case for the kernels, and for the public API on both backends.
typedef struct Search {
    MeCase me;
    MotusMe *cpu, *cuda;
    MotusField *want;
    int stride;
    GpuBuffer *cur, *ref, *centre, *predictor, *lambda, *mv, *sad, *cost, *planes;
    MotusRefLuma ref_luma;
} Search;

static GpuBuffer *input(GpuCase *c, const char *name, const void *data, size_t bytes) {
    GpuBuffer *b = gpu_buffer(c, name, GPU_INPUT, bytes);
    if (data) memcpy(b->at[ON_CPU], data, bytes);
    return b;
}

// Kernels read up to 32 bytes behind a plane.
static GpuBuffer *input_plane(GpuCase *c, const char *name, const MotusPlane *plane, int stride) {
    GpuBuffer *b = gpu_buffer(c, name, GPU_INPUT, (size_t)stride * (size_t)plane->height + 32);
    for (int y = 0; y < plane->height; y++)
        memcpy((uint8_t *)b->at[ON_CPU] + y * stride, plane->data + y * plane->stride,
               (size_t)plane->width);
    return b;
}

static void open_case(GpuCase *c) {
    Search *s = c->state;
    const MotusMeConfig *config = &s->me.config;
    const MotusMeHints *hints = &s->me.hints;
    c->width = config->width, c->height = config->height;
    s->cpu = me_case_open(*config, MOTUS_BACKEND_CPU),
    s->cuda = me_case_open(*config, MOTUS_BACKEND_CUDA);
    s->want = me_case_field(c->width, c->height);
    const size_t n = (size_t)s->want->n_mb, all = n * MOTUS_BLOCKS;
    s->stride = gpu_round16(c->width);
    s->cur = input_plane(c, "cur", &s->me.cur, s->stride);
    s->ref = input_plane(c, "ref", &s->me.ref, s->stride);
    s->centre = input(c, "centres", hints->centre, n * sizeof(MotusMv));
    s->predictor = input(c, "predictors", hints->predictor, n * sizeof(MotusMv));
    s->lambda = input(c, "lambdas", hints->lambda, n * sizeof(uint16_t));
    s->mv = gpu_buffer(c, "MVs", GPU_OUTPUT, all * sizeof(MotusMv));
    s->sad = gpu_buffer(c, "SADs", GPU_OUTPUT, all * sizeof(uint16_t));
    s->cost = gpu_buffer(c, "costs", GPU_OUTPUT, all * sizeof(uint32_t));
    s->planes = gpu_buffer(c, "planes", GPU_SCRATCH, motus_ref_luma_bytes(c->width, c->height));
    motus_ref_luma_layout(&s->ref_luma, s->planes->at[ON_CUDA], c->width, c->height);
    GPU_OK(motus_search_cuda_prepare());
    snprintf(c->what, sizeof c->what, "R=%d subpel %d modes %x content %d lambda %u %d %d",
             config->range, (int)config->subpel, (unsigned)config->modes, (int)s->me.content,
             hints->lambda_q8, hints->centre != NULL, hints->predictor != NULL);
}

static void open_random(GpuCase *c) {
    static const int ranges[] = {1,  2,  3,  4,  5,  6,  7,  8,  15, 16,  16,
                                 17, 24, 31, 32, 33, 48, 64, 90, 91, 127, 128};
    Search *s = c->state;
    const int range = c->number & 1 ? ranges[motus_test_range(0, 21)] : motus_test_range(1, 40);
    me_case_random(&s->me, range, (MotusSubpel)motus_test_range(0, 3));
    open_case(c);
}

static void open_moved(GpuCase *c) {
    static const int ranges[] = {16, 32, 8, 16, 20, 128};
    Search *s = c->state;
    const MotusSubpel subpel = c->row->variant == 2               ? MOTUS_SUBPEL_BEST
                               : c->number % 2 || c->row->variant ? MOTUS_SUBPEL_FULL
                                                                  : MOTUS_SUBPEL_QUARTER;
    me_case_moved(&s->me, c->width, c->height, ranges[c->number], subpel);
    open_case(c);
}

static void fill_nothing(GpuCase *c) { (void)c; } // open() did

static MotusStatus search_on_cpu(const Search *s) {
    const MotusStatus status =
        motus_me_search(s->cpu, &s->me.cur, &s->me.ref, &s->me.hints, s->want);
    memcpy(s->mv->at[ON_CPU], s->want->mv[0], s->mv->bytes);
    memcpy(s->sad->at[ON_CPU], s->want->sad[0], s->sad->bytes);
    memcpy(s->cost->at[ON_CPU], s->want->cost[0], s->cost->bytes);
    return status;
}

static MotusStatus run_search(GpuCase *c, int on) {
    const Search *s = c->state;
    const MotusMeConfig *config = &s->me.config;
    const MotusMeHints *hints = &s->me.hints;
    const int w = c->width, h = c->height;
    const MotusSearchPicture p = {.cur = s->cur->at[on],
                                  .ref = s->ref->at[on],
                                  .cur_stride = s->stride,
                                  .ref_stride = s->stride,
                                  .centre = hints->centre ? s->centre->at[on] : NULL,
                                  .predictor = hints->predictor ? s->predictor->at[on] : NULL,
                                  .lambda = hints->lambda ? s->lambda->at[on] : NULL,
                                  .lambda_q8 = hints->lambda_q8,
                                  .mv = s->mv->at[on],
                                  .sad = s->sad->at[on],
                                  .cost = s->cost->at[on]};
    const MotusPlane luma = {s->ref->at[on], s->stride, w, h};
    if (!on) return search_on_cpu(s);
    cudaError_t status = motus_search_cuda(&p, 1, w, h, config->range, config->modes, c->stream);
    if (!status && config->subpel != MOTUS_SUBPEL_FULL) {
        status = motus_ref_luma_cuda_build(&s->ref_luma, &luma, c->stream);
        if (!status && config->subpel == MOTUS_SUBPEL_BEST)
            status = motus_refine_best_cuda(&p, &s->ref_luma, w, h, config->range, config->modes,
                                            (MotusWantedBlocks){0}, c->stream);
        else if (!status)
            status = motus_refine_cuda(&p, &s->ref_luma, w, h, config->subpel, config->modes,
                                       (MotusWantedBlocks){0}, c->stream);
    }
    return gpu_launched(c, status);
}

// Searches by the public API, twice in one context.
static void check_api(GpuCase *c) {
    Search *s = c->state;
    for (int run = 0; run < 2; run++) {
        MotusField *got = me_case_search(s->cuda, &s->me);
        gpu_expect(c, motus_test_same_fields(s->want, got), "motus_me_search, run %d", run);
        motus_field_free(&got);
    }
}

static void close_case(GpuCase *c) {
    Search *s = c->state;
    motus_field_free(&s->want);
    motus_me_close(&s->cpu);
    motus_me_close(&s->cuda);
    me_case_free(&s->me);
}

#define KERNEL(open)                                                                               \
    { sizeof(Search), open, fill_nothing, run_search, check_api, close_case }
static const GpuKernel random_kernel = KERNEL(open_random), moved = KERNEL(open_moved);

static const GpuSize large[] = {{1920, 1080, 0}, {1281, 719, 0}, {4096, 2304, 0}, {16, 4096, 0},
                                {4093, 16, 0},   {352, 288, 0},  {0, 0, 0}};
static const GpuSize best[] = {{1920, 1080, 0}, {1281, 719, 0}, {352, 288, 0}, {0, 0, 0}};
static const GpuRow rows[] = {
    {.name = "random_cases", .kernel = &random_kernel, .most = {1, 1, 0}, .cases = 100},
    {.name = "large", .kernel = &moved, .sizes = large, .bench = {1920, 1080, 0}},
    {.name = "whole_samples", .kernel = &moved, .variant = 1, .bench = {1920, 1080, 0}},
    {.name = "best", .kernel = &moved, .variant = 2, .sizes = best, .bench = {1920, 1080, 0}},
    {0}};

const GpuSuite gpu_me = {"me", rows};
