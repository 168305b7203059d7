// Look-ahead on a CUDA device: every pass gives what its CPU version gives, over pictures of any
// size, random and moving ones, and whole plans are the host's.
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "encoder/rate/lookahead_passes_cuda.h"
#include "tests/gpu/gpu.h"

// ---- Pictures -----------------------------------------------------------------------------------

static int lattice(int scene, int x, int y) {
    uint32_t h = (uint32_t)x * 73856093u ^ (uint32_t)y * 19349663u ^ (uint32_t)scene * 83492791u;
    h = (h ^ h >> 13) * 0x5bd1e995u;
    return (int)((h ^ h >> 15) & 255);
}

// Values by chance every 7 samples, linear in between.
static int noise(int scene, int x, int y) {
    const int i = x / 7, k = y / 7, u = x % 7, v = y % 7;
    const int top = lattice(scene, i, k) * (7 - u) + lattice(scene, i + 1, k) * u;
    const int bottom = lattice(scene, i, k + 1) * (7 - u) + lattice(scene, i + 1, k + 1) * u;
    return (top * (7 - v) + bottom * v) / 49;
}

enum { PAN, RANDOM, FLAT, CHECKERS, CONTENTS }; // CHECKERS: the largest costs

// `t`: which of the moving pictures; in some places they stand still.
static void draw(const MotusPlane *plane, int content, int t) {
    for (int y = 0; y < plane->height; y++)
        for (int x = 0; x < plane->width; x++) {
            const int moves = (x / 40 + y / 30) % 3, u = x + 4096 + (moves ? 5 * t * moves : 0),
                      v = y + 4096 - (moves ? 3 * t : 0);
            uint8_t *to = &plane->data[y * plane->stride + x];
            *to = (uint8_t)(content == PAN        ? noise(1, u, v)
                            : content == RANDOM   ? motus_test_range(0, 255)
                            : content == CHECKERS ? (x / 2 + y / 2 + t) % 2 * 255
                                                  : 90 + t % 2);
        }
}

// ---- Passes -------------------------------------------------------------------------------------

// What both executors make of two pictures.
typedef struct Case {
    int width, height, mb_width, mb_height, n;
    uint8_t *luma[2];
    MotusHalfPicture half[2];
    MotusMbCosts costs[2];
    MotusMv *earlier;
    int16_t *offset;
    uint32_t *passed[2];
} Case;

// One block of managed memory, which both read.
static void *managed(size_t bytes) {
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL((int)cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), 0);
    memset(memory, 0xA5, bytes);
    return memory;
}

static void open_case(Case *c, int width, int height) {
    *c = (Case){.width = width,
                .height = height,
                .mb_width = (width + 15) / 16,
                .mb_height = (height + 15) / 16};
    c->n = c->mb_width * c->mb_height;
    for (int i = 0; i < 2; i++) {
        c->luma[i] = managed((size_t)(width + 3) * (size_t)height);
        CU_ASSERT_EQUAL_FATAL(motus_half_alloc(&c->half[i], c->mb_width, c->mb_height), MOTUS_OK);
        c->costs[i].intra = malloc((size_t)c->n * 2);
        c->costs[i].inter = malloc((size_t)c->n * 2);
        c->costs[i].mv = malloc((size_t)c->n * sizeof(MotusMv));
        c->passed[i] = malloc((size_t)c->n * 4);
    }
    c->earlier = managed((size_t)c->n * sizeof(MotusMv));
    c->offset = malloc((size_t)c->n * 2);
}

static void close_case(Case *c) {
    for (int i = 0; i < 2; i++) {
        cudaFree(c->luma[i]);
        motus_half_free(&c->half[i]);
        free(c->costs[i].intra);
        free(c->costs[i].inter);
        free(c->costs[i].mv);
        free(c->passed[i]);
    }
    cudaFree(c->earlier);
    free(c->offset);
}

static MotusPlane plane_of(const Case *c, int i) {
    return (MotusPlane){c->luma[i], c->width + 3, c->width, c->height};
}

static int same(const void *a, const void *b, size_t bytes) { return !memcmp(a, b, bytes); }

static uint64_t sum_of(const uint16_t *v, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) sum += v[i];
    return sum;
}

// Offsets of variance, what a picture passes back, and what that makes of offsets; costs->intra is
// the device's.
static void check_offsets(const Case *c, const MotusMbCosts *costs, MotusLookaheadSums *sums,
                          const char *what) {
    const size_t n = (size_t)c->n;
    int16_t *offset = managed(n * 2);
    uint64_t *passed[2] = {managed(n * 8), managed(n * 8)};
    const MotusPlane plane = plane_of(c, 1);
    for (int mode = MOTUS_AQ_VARIANCE; mode <= MOTUS_AQ_AUTO; mode++) {
        const int strength = motus_test_range(50, 1000), is_idr = mode == MOTUS_AQ_AUTO;
        memset(sums, 0, sizeof *sums);
        CU_ASSERT_EQUAL(motus_aq_offsets_cuda(offset, &plane, c->mb_width, c->mb_height,
                                              (MotusAqMode)mode, strength, sums, NULL, NULL),
                        MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL((int)cudaDeviceSynchronize(), 0);
        motus_aq_offsets(c->offset, &plane, c->mb_width, c->mb_height, (MotusAqMode)mode, strength,
                         1);
        MOTUS_CHECK(same(offset, c->offset, n * 2), "%s: variance, mode %d", what, mode);
        for (size_t i = 0; i < n; i++) { // some so that they no longer fit
            const int kind = motus_test_range(0, 5);
            c->passed[1][i] = kind ? (uint32_t)motus_test_range(0, 1 << (4 * kind))
                                   : UINT32_MAX - (uint32_t)motus_test_range(0, 9);
            passed[1][i] = kind                            ? c->passed[1][i]
                           : c->passed[1][i] == UINT32_MAX ? (uint64_t)1 << 40
                                                           : c->passed[1][i];
            c->passed[0][i] = 0, passed[0][i] = 0;
        }
        const int with_aq = motus_test_range(0, 1);
        motus_mb_tree_propagate(c->passed[0], c->passed[1], &c->costs[1],
                                with_aq ? c->offset : NULL, c->mb_width, c->mb_height);
        CU_ASSERT_EQUAL(motus_mb_tree_propagate_cuda(passed[0], passed[1], costs,
                                                     with_aq ? offset : NULL, c->mb_width,
                                                     c->mb_height, NULL, NULL),
                        MOTUS_OK);
        CU_ASSERT_EQUAL(motus_mb_tree_offsets_cuda(offset, passed[1], costs, is_idr, c->n, strength,
                                                   sums, NULL, NULL),
                        MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL((int)cudaDeviceSynchronize(), 0);
        motus_mb_tree_offsets(c->offset, c->passed[1], &c->costs[1], c->n, strength);
        int equal = 1;
        for (size_t i = 0; i < n; i++)
            equal &= (passed[0][i] < UINT32_MAX ? passed[0][i] : UINT32_MAX) == c->passed[0][i];
        MOTUS_CHECK(equal, "%s: passed back, aq %d", what, with_aq);
        MOTUS_CHECK(same(offset, c->offset, n * 2), "%s: propagated", what);
        int64_t all = 0;
        for (size_t i = 0; i < n; i++) all += c->offset[i];
        MOTUS_CHECK((int64_t)sums->offsets == all, "%s: offsets add up to %lld", what,
                    (long long)all);
    }
    cudaFree(offset);
    cudaFree(passed[0]);
    cudaFree(passed[1]);
}

static void check_case(Case *c, int content, int with_earlier, int with_before) {
    const size_t n = (size_t)c->n, half_bytes = motus_half_bytes(c->mb_width, c->mb_height);
    char what[80];
    snprintf(what, sizeof what, "%dx%d, content %d, %d, %d", c->width, c->height, content,
             with_earlier, with_before);
    MotusHalfPicture half[2];
    MotusMbCosts costs = {managed(n * 2), managed(n * 2), managed(n * sizeof(MotusMv))};
    MotusLookaheadSums *sums = managed(sizeof *sums);
    memset(sums, 0, sizeof *sums);
    for (int i = 0; i < c->n; i++)
        c->earlier[i] =
            (MotusMv){(int16_t)motus_test_range(-200, 200), (int16_t)motus_test_range(-200, 200)};
    for (int i = 0; i < 2; i++) {
        const MotusPlane plane = plane_of(c, i);
        draw(&plane, content, i);
        motus_half_layout(&half[i], managed(half_bytes), c->mb_width, c->mb_height);
        motus_half_build(&c->half[i], &plane, 1);
        CU_ASSERT_EQUAL(motus_half_build_cuda(&half[i], &plane, NULL, NULL), MOTUS_OK);
    }
    const MotusMv *earlier = with_earlier ? c->earlier : NULL;
    motus_mb_costs(&c->costs[1], &c->half[1], with_before ? &c->half[0] : NULL, earlier, 1);
    MotusLookaheadSearch search = {
        .costs = costs, .cur = half[1], .earlier = earlier, .sums = sums};
    if (with_before) search.before = half[0];
    CU_ASSERT_EQUAL(motus_intra_costs_cuda(&costs, &half[1], NULL, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_lookahead_search_cuda(&search, NULL, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL((int)cudaDeviceSynchronize(), 0);
    const size_t rows = (size_t)(8 * c->mb_height + 2 * MOTUS_HALF_BORDER),
                 bytes = (size_t)(8 * c->mb_width + 2 * MOTUS_HALF_BORDER);
    int equal = 1;
    for (int p = 0; p < 4; p++)
        for (size_t y = 0; y < rows; y++) {
            const ptrdiff_t at =
                ((ptrdiff_t)y - MOTUS_HALF_BORDER) * half[1].stride - MOTUS_HALF_BORDER;
            equal &= same(half[1].plane[p] + at, c->half[1].plane[p] + at, bytes);
        }
    MOTUS_CHECK(equal, "%s: half planes", what);
    MOTUS_CHECK(same(costs.intra, c->costs[1].intra, n * 2), "%s: intra costs", what);
    MOTUS_CHECK(same(costs.mv, c->costs[1].mv, n * sizeof(MotusMv)), "%s: vectors", what);
    MOTUS_CHECK(same(costs.inter, c->costs[1].inter, n * 2), "%s: inter costs", what);
    MOTUS_CHECK(sums->intra == sum_of(costs.intra, c->n) &&
                    sums->inter == sum_of(costs.inter, c->n),
                "%s: sums", what);
    check_offsets(c, &costs, sums, what);
    for (int i = 0; i < 2; i++) cudaFree(half[i].memory);
    cudaFree(costs.intra);
    cudaFree(costs.inter);
    cudaFree(costs.mv);
    cudaFree(sums);
}

static void passes_agree(void) {
    if (!motus_test_has_gpu()) return;
    static const int sizes[][2] = {{2, 2},    {16, 16},  {18, 14},  {176, 144},
                                   {130, 66}, {34, 258}, {958, 62}, {1920, 1080}};
    for (int k = 0; k < 22; k++) {
        Case c;
        const int listed = k < 8, width = listed ? sizes[k][0] : motus_test_range(1, 200),
                  height = listed ? sizes[k][1] : motus_test_range(1, 150);
        open_case(&c, width, height);
        for (int content = 0; content < CONTENTS; content++)
            for (int i = 0; i < 3; i++)
                if (width < 1000 || (content == PAN && !i)) check_case(&c, content, i == 0, i < 2);
        close_case(&c);
    }
}

// ---- Plans --------------------------------------------------------------------------------------

enum { PICTURES = 40, FIRST_PART = 28 };

typedef struct Plans {
    MotusLookaheadPlan plan[PICTURES];
    int16_t *offset[PICTURES];
    int n;
} Plans;

// Frames in both memories, cuts between some of them.
typedef struct Clip {
    MotusFrame *host[PICTURES], device[PICTURES];
} Clip;

static void make_clip(Clip *clip, int width, int height) {
    for (int i = 0, content = PAN, t = 0; i < PICTURES; i++, t++) {
        if (!motus_test_range(0, 7)) content = motus_test_range(0, CONTENTS - 1);
        CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&clip->host[i], width, height), MOTUS_OK);
        MotusFrame *d = &clip->device[i];
        *d = *clip->host[i];
        for (int p = 0; p < 3; p++) {
            const MotusPlane *from = &clip->host[i]->plane[p];
            draw(from, p ? FLAT : content, t);
            d->plane[p].stride = from->width + 5;
            CU_ASSERT_EQUAL_FATAL((int)cudaMalloc((void **)&d->plane[p].data,
                                                  (size_t)(d->plane[p].stride * from->height)),
                                  0);
            cudaMemcpy2D(d->plane[p].data, (size_t)d->plane[p].stride, from->data,
                         (size_t)from->stride, (size_t)from->width, (size_t)from->height,
                         cudaMemcpyHostToDevice);
        }
    }
}

static void drop_clip(Clip *clip) {
    for (int i = 0; i < PICTURES; i++) {
        for (int p = 0; p < 3; p++) cudaFree(clip->device[i].plane[p].data);
        motus_frame_unref(&clip->host[i]);
    }
}

// device: MOTUS_LOOKAHEAD_HOST for what must come out.
static void put(MotusLookahead *look, Clip *clip, int i, int device) {
    int idr = i == 11;
    const int on_device = device != MOTUS_LOOKAHEAD_HOST && i % 3 == 1;
    const MotusFrameSource source = {on_device ? &clip->device[i] : clip->host[i], on_device, NULL};
    MotusFrameSource up;
    CU_ASSERT_EQUAL(motus_lookahead_put(look, &source, &idr, NULL), MOTUS_OK);
    const int is_up = motus_lookahead_uploaded(look, device, &up);
    CU_ASSERT(is_up == (device != MOTUS_LOOKAHEAD_HOST && !on_device));
    CU_ASSERT(!motus_lookahead_uploaded(look, device + 1, &up));
    for (int p = 0; is_up && p < 3; p++) {
        const MotusPlane *want = &clip->host[i]->plane[p], *got = &up.frame->plane[p];
        uint8_t row[512];
        CU_ASSERT(got->width == want->width && got->height == want->height);
        for (int y = 0; y < want->height; y += want->height / 2 + 1) {
            cudaMemcpy(row, got->data + y * got->stride, (size_t)got->width,
                       cudaMemcpyDeviceToHost);
            MOTUS_CHECK(!memcmp(row, want->data + y * want->stride, (size_t)want->width),
                        "picture %d plane %d row %d", i, p, y);
        }
    }
}

// Begins pictures from *begun on, before `end`, as many as there may be, or fewer, until picture i
// has begun; and settles that.
static void begin_and_settle(MotusLookahead *look, Clip *clip, int i, int end, int *begun,
                             cudaEvent_t filled) {
    int idr;
    for (const int most = motus_test_range(1, MOTUS_LOOKAHEAD_MAX_PENDING);
         *begun < end && (*begun <= i || *begun - i < most); ++*begun) {
        CU_ASSERT_EQUAL((int)cudaEventRecord(filled, NULL), 0);
        CU_ASSERT_EQUAL(
            motus_lookahead_begin(look, &clip->device[*begun].plane[0], filled, *begun == 11, NULL),
            MOTUS_OK);
    }
    CU_ASSERT_EQUAL(motus_lookahead_wait_type(look, &idr, NULL), MOTUS_OK);
}

// Two parts of a stream; some pictures are put, taken back and put again. late: they begin, many at
// a time, and are settled afterwards.
static void plan_all(Plans *out, const MotusLookaheadSettings *s, Clip *clip, int device,
                     int late) {
    MotusLookahead *look;
    MotusError error = {0};
    const int sent_twice = PICTURES / 5;
    int i = 0, begun = 0, ended = 0;
    cudaEvent_t filled;
    out->n = 0;
    cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
    MOTUS_CHECK(motus_lookahead_open(&look, s, device, &error) == MOTUS_OK, "%s", error.text);
    CU_ASSERT_FATAL(look != NULL && motus_lookahead_device(look) == device);
    for (MotusStatus status = MOTUS_AGAIN; out->n < PICTURES;) {
        if (status == MOTUS_END) motus_lookahead_next_segment(look, 1000), ended = 0;
        if (status && (i == PICTURES || (i == FIRST_PART && out->n < FIRST_PART && !ended))) {
            motus_lookahead_end(look);
            ended = 1;
        } else if (status && late) {
            begin_and_settle(look, clip, i, i < FIRST_PART ? FIRST_PART : PICTURES, &begun, filled);
            i++;
        } else if (status) {
            for (int again = i % sent_twice == 3; again >= 0; again--) {
                put(look, clip, i, device);
                if (again) motus_lookahead_undo(look);
            }
            i++;
        }
        status = motus_lookahead_get(look, &out->plan[out->n], out->offset[out->n], &error);
        MOTUS_CHECK(status >= 0, "%s", error.text);
        if (status < 0) break;
        out->n += !status;
    }
    motus_lookahead_close(&look);
    cudaEventDestroy(filled);
}

static void compare_plans(const Plans *want, const Plans *got, size_t n_mb, const char *what) {
    CU_ASSERT(want->n == PICTURES && got->n == PICTURES);
    for (int i = 0; i < got->n; i++) {
        const MotusLookaheadPlan *a = &want->plan[i], *b = &got->plan[i];
        MOTUS_CHECK(a->number == b->number && a->idr == b->idr && a->forced == b->forced &&
                        a->has_offsets == b->has_offsets && a->cost == b->cost &&
                        a->intra == b->intra,
                    "%s: picture %d", what, i);
        MOTUS_CHECK(a->weighted == b->weighted && a->mean == b->mean &&
                        !memcmp(want->offset[i], got->offset[i], n_mb * 2),
                    "%s: offsets of picture %d", what, i);
    }
}

static void plans_agree(void) {
    if (!motus_test_has_gpu()) return;
    static const int depths[] = {20, 0, 1, 9, 40}, keyints[] = {250, 7, 0};
    for (int k = 0; k < 30; k++) {
        const int width = motus_test_range(1, 100) * 2, height = motus_test_range(1, 60) * 2;
        const size_t n_mb = (size_t)((width + 15) / 16 * ((height + 15) / 16));
        const MotusLookaheadSettings s = {.mb_width = (width + 15) / 16,
                                          .mb_height = (height + 15) / 16,
                                          .threads = 1,
                                          .depth = depths[k % 5],
                                          .keyint = keyints[k / 5 % 3],
                                          .min_keyint = 2,
                                          .scenecut = k % 4 ? 40 : 0,
                                          .aq_mode = (MotusAqMode)(k % 3),
                                          .aq_strength_q8 = 256,
                                          .mb_tree_q8 = k / 3 % 4 ? 512 : 0};
        char what[100];
        snprintf(what, sizeof what, "%dx%d, depth %d, AQ %d, mb-tree %d", width, height, s.depth,
                 (int)s.aq_mode, s.mb_tree_q8);
        Clip clip;
        static Plans plans[2];
        for (int i = 0; i < 2 * PICTURES; i++) plans[i & 1].offset[i / 2] = malloc(n_mb * 2);
        make_clip(&clip, width, height);
        plan_all(&plans[0], &s, &clip, MOTUS_LOOKAHEAD_HOST, 0);
        for (int late = 0; late < 2; late++) {
            plan_all(&plans[1], &s, &clip, 0, late);
            compare_plans(&plans[0], &plans[1], n_mb, what);
        }
        drop_clip(&clip);
        for (int i = 0; i < 2 * PICTURES; i++) free(plans[i & 1].offset[i / 2]);
    }
}

static const MotusTest tests[] = {
    {"passes_agree", passes_agree}, {"plans_agree", plans_agree}, {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_lookahead", tests, argc, argv); }
