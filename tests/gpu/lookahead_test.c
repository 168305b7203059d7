// The lookahead's passes over pictures of any size, random and moving ones; and plans, which must
// be the CPU's for any depth, AQ, mb-tree and number of pending pictures.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead.h"
#include "encoder/lookahead/lookahead_passes_cuda.h"
#include "tests/encoder/lookahead/pictures.h"
#include "tests/gpu/sequence.h"

// Two pictures and what the passes make of the second.
typedef struct Passes {
    int mb_width, mb_height, with_before, with_aq, is_idr, strength;
    size_t n; // MBs
    MotusAqMode mode;
    GpuPlane luma[2];
    GpuBuffer *half_memory[2], *intra, *inter, *mv, *first, *earlier, *offset, *aq, *propagated,
        *before, *later, *both, *after, *sums;
    MotusHalfPicture half[2][2]; // [picture][on]
    MotusMbCosts costs[2];
    uint64_t detail; // of the second picture, on the CPU
} Passes;

enum { HALF, INTRA, SEARCH, AQ, PROPAGATE, OFFSETS, PASSES }; // row->variant
enum { CONTENTS = 4 };

static void open_passes(GpuCase *c) {
    static const struct {
        GpuUse half, intra, inter, offset;
    } uses[PASSES] = {{GPU_OUTPUT, GPU_RESULT, GPU_RESULT, GPU_RESULT},
                      {GPU_INPUT, GPU_OUTPUT, GPU_RESULT, GPU_RESULT},
                      {GPU_INPUT, GPU_INPUT, GPU_OUTPUT, GPU_RESULT},
                      {GPU_INPUT, GPU_INPUT, GPU_INPUT, GPU_OUTPUT},
                      {GPU_INPUT, GPU_INPUT, GPU_INPUT, GPU_RESULT},
                      {GPU_INPUT, GPU_INPUT, GPU_INPUT, GPU_IN_OUT}};
    const int pass = c->row->variant;
    Passes *p = c->state;
    p->mb_width = (c->width + 15) / 16, p->mb_height = (c->height + 15) / 16;
    p->n = (size_t)p->mb_width * (size_t)p->mb_height;
    for (int k = 0; k < 2; k++) {
        p->luma[k] = gpu_plane(c, "luma", GPU_INPUT, c->width, c->height,
                               k ? gpu_round16(c->width) : c->width + 3, 1);
        p->half_memory[k] = gpu_buffer(c, "half planes", uses[pass].half,
                                       motus_half_bytes(p->mb_width, p->mb_height));
        for (int on = 0; on < 2; on++)
            motus_half_layout(&p->half[k][on], p->half_memory[k]->at[on], p->mb_width,
                              p->mb_height);
    }
    p->intra = gpu_buffer(c, "intra costs", uses[pass].intra, p->n * sizeof(uint16_t));
    p->inter = gpu_buffer(c, "inter costs", uses[pass].inter, p->n * sizeof(uint16_t));
    p->mv = gpu_buffer(c, "MVs", uses[pass].inter, p->n * sizeof(MotusMv));
    p->first = gpu_buffer(c, "MVs of the first pass", GPU_RESULT, p->n * sizeof(MotusMv));
    for (int on = 0; on < 2; on++)
        p->costs[on] =
            (MotusMbCosts){p->intra->at[on], p->inter->at[on], p->mv->at[on], p->first->at[on]};
    p->earlier = gpu_buffer(c, "earlier MVs", GPU_INPUT, p->n * sizeof(MotusMv));
    p->offset = gpu_buffer(c, "offsets", uses[pass].offset, p->n * sizeof(int16_t));
    p->aq = gpu_buffer(c, "AQ offsets", GPU_INPUT, p->n * sizeof(int16_t));
    p->propagated = gpu_buffer(c, "propagated", GPU_INPUT, p->n * sizeof(uint64_t));
    p->before = gpu_buffer(c, "propagated before", GPU_STATE, p->n * sizeof(uint64_t));
    p->later = gpu_buffer(c, "later costs", GPU_INPUT, p->n * sizeof(uint16_t));
    p->both = gpu_buffer(c, "costs of both", GPU_INPUT, p->n * sizeof(uint16_t));
    p->after = gpu_buffer(c, "propagated behind", GPU_STATE, p->n * sizeof(uint64_t));
    p->sums = gpu_buffer(c, "sums", GPU_STATE, sizeof(MotusLookaheadSums));
}

static void mb_costs(const Passes *p) {
    motus_mb_costs(&p->costs[0], &p->half[1][0], p->with_before ? &p->half[0][0] : NULL, NULL, 1);
}

// Draws amounts of all magnitudes; some pass 32 bits.
static void fill_propagated(Passes *p) {
    uint64_t *amount = p->propagated->at[ON_CPU];
    for (size_t i = 0; i < p->n; i++) {
        const int kind = motus_test_range(0, 5);
        amount[i] = kind ? (uint64_t)motus_test_range(0, 1 << (4 * kind))
                         : UINT32_MAX - 4 + (uint64_t)motus_test_range(0, 9);
    }
    memset(p->before->at[ON_CPU], 0, p->before->bytes);
    memset(p->after->at[ON_CPU], 0, p->after->bytes);
}

// Draws the costs of a B picture, none above those of the reference behind it.
static void fill_b_costs(const Passes *p) {
    uint16_t *later = p->later->at[ON_CPU], *both = p->both->at[ON_CPU];
    for (size_t i = 0; i < p->n; i++) {
        const int inter = p->costs[ON_CPU].inter[i];
        later[i] = (uint16_t)motus_test_range(0, p->costs[ON_CPU].intra[i]);
        both[i] = (uint16_t)motus_test_range(0, later[i] < inter ? later[i] : inter);
    }
}

// Each content with the half planes of the picture before, twice, and without. Passes that read
// offsets get AQ's.
static void fill_passes(GpuCase *c) {
    static const int contents[CONTENTS] = {MOTUS_MATERIAL_SCENE, MOTUS_MATERIAL_NOISE,
                                           GPU_NEARLY_STILL, GPU_CHECKERS};
    Passes *p = c->state;
    const int content = contents[c->round / 3 % CONTENTS];
    MotusMv *earlier = p->earlier->at[ON_CPU];
    p->with_before = c->round % 3 < 2;
    p->mode = c->round % 2 ? MOTUS_AQ_AUTO : MOTUS_AQ_VARIANCE, p->is_idr = c->round % 2;
    p->strength = motus_test_range(50, 1000), p->with_aq = motus_test_range(0, 1);
    for (size_t i = 0; i < p->n; i++)
        earlier[i] =
            (MotusMv){(int16_t)motus_test_range(-200, 200), (int16_t)motus_test_range(-200, 200)};
    memset(p->sums->at[ON_CPU], 0, p->sums->bytes);
    for (int k = 0; k < 2; k++) {
        MotusFrame *frame = gpu_picture(content, c->width, c->height, k);
        gpu_copy_plane(&p->luma[k].at[ON_CPU], &frame->plane[0]);
        motus_frame_unref(&frame);
        if (p->half_memory[k]->use & GPU_FILLED)
            motus_half_build(&p->half[k][0], &p->luma[k].at[ON_CPU], 1);
    }
    if (p->intra->use & GPU_FILLED) mb_costs(p);
    motus_aq_offsets(p->aq->at[ON_CPU], &p->luma[1].at[ON_CPU], p->mb_width, p->mb_height, p->mode,
                     p->strength, 1);
    memcpy(p->offset->at[ON_CPU], p->aq->at[ON_CPU], p->offset->bytes);
    fill_propagated(p);
    if (p->inter->use & GPU_FILLED) fill_b_costs(p);
    snprintf(c->what, sizeof c->what, "content %d, before %d, AQ %d, mode %d", content,
             p->with_before, p->with_aq, (int)p->mode);
}

// The second picture's detail is added up; the first one's is not wanted.
static MotusStatus run_half(GpuCase *c, int on) {
    Passes *p = c->state;
    MotusLookaheadSums *sums = p->sums->at[on];
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < 2 && !status; k++)
        if (on)
            status = motus_half_build_cuda(&p->half[k][on], &p->luma[k].at[on],
                                           k ? &sums->detail : NULL, c->stream, &c->error);
        else
            p->detail = motus_half_build(&p->half[k][on], &p->luma[k].at[on], 1);
    return status;
}

static void check_detail(GpuCase *c) {
    const Passes *p = c->state;
    const MotusLookaheadSums *sums = p->sums->got;
    gpu_expect(c, sums->detail == p->detail, "detail %llu, not %llu",
               (unsigned long long)sums->detail, (unsigned long long)p->detail);
}

static MotusStatus run_intra(GpuCase *c, int on) {
    const Passes *p = c->state;
    if (on)
        return motus_intra_costs_cuda(&p->costs[on], NULL, &p->half[1][on], c->stream, &c->error);
    mb_costs(p);
    return MOTUS_OK;
}

static MotusStatus run_search(GpuCase *c, int on) {
    const Passes *p = c->state;
    MotusLookaheadSearch search = {
        .costs = p->costs[on], .cur = p->half[1][on], .sums = p->sums->at[on]};
    if (p->with_before) search.before = p->half[0][on];
    if (on) return motus_lookahead_search_cuda(&search, c->stream, &c->error);
    mb_costs(p);
    return MOTUS_OK;
}

static uint64_t sum_of(const uint16_t *v, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += v[i];
    return sum;
}

static void check_sums(GpuCase *c) {
    const Passes *p = c->state;
    const MotusLookaheadSums *sums = p->sums->got;
    gpu_expect(c, sums->intra == sum_of(p->costs[ON_CPU].intra, p->n), "sum of intra costs");
    gpu_expect(c, sums->inter == sum_of(p->costs[ON_CPU].inter, p->n), "sum of inter costs");
}

static MotusStatus run_aq(GpuCase *c, int on) {
    const Passes *p = c->state;
    const MotusPlane *luma = &p->luma[1].at[on];
    int16_t *offset = p->offset->at[on];
    if (on)
        return motus_aq_offsets_cuda(offset, luma, p->mb_width, p->mb_height, p->mode, p->strength,
                                     p->sums->at[on], c->stream, &c->error);
    motus_aq_offsets(offset, luma, p->mb_width, p->mb_height, p->mode, p->strength, 1);
    return MOTUS_OK;
}

static MotusStatus run_propagate(GpuCase *c, int on) {
    const Passes *p = c->state;
    const MotusMbCosts *costs = &p->costs[on];
    const int is_b = p->is_idr; // every second round
    const MotusTreePicture picture = {costs->intra,
                                      {costs->inter, p->later->at[on]},
                                      {costs->mv, p->earlier->at[on]},
                                      is_b ? p->both->at[on] : NULL,
                                      p->with_aq ? p->aq->at[on] : NULL};
    uint64_t *const to[2] = {p->before->at[on], p->after->at[on]};
    if (on)
        return motus_mb_tree_propagate_cuda(to, p->propagated->at[on], &picture, p->mb_width,
                                            p->mb_height, c->stream, &c->error);
    motus_mb_tree_propagate(to, p->propagated->at[on], &picture, p->mb_width, p->mb_height);
    return MOTUS_OK;
}

static void check_propagated(GpuCase *c) {
    const Passes *p = c->state;
    for (int list = 0; list < 2; list++) {
        const GpuBuffer *to = list ? p->after : p->before;
        gpu_expect(c, !memcmp(to->got, to->at[ON_CPU], to->bytes), "list %d", list);
    }
}

static MotusStatus run_offsets(GpuCase *c, int on) {
    const Passes *p = c->state;
    if (on)
        return motus_mb_tree_offsets_cuda(p->offset->at[on], p->propagated->at[on], &p->costs[on],
                                          p->is_idr, (int)p->n, p->strength, p->sums->at[on],
                                          c->stream, &c->error);
    motus_mb_tree_offsets(p->offset->at[on], p->propagated->at[on], &p->costs[on], (int)p->n,
                          p->strength);
    return MOTUS_OK;
}

static void check_offsets(GpuCase *c) {
    const Passes *p = c->state;
    const MotusLookaheadSums *sums = p->sums->got;
    int64_t all = 0;
    for (size_t i = 0; i < p->n; i++) all += ((const int16_t *)p->offset->at[ON_CPU])[i];
    gpu_expect(c, (int64_t)sums->offsets == all, "sum of offsets %lld, not %lld",
               (long long)sums->offsets, (long long)all);
}

#define KERNEL(run, check)                                                                         \
    { sizeof(Passes), open_passes, fill_passes, run, check, NULL }
static const GpuKernel passes[PASSES] = {
    KERNEL(run_half, check_detail),          KERNEL(run_intra, NULL),
    KERNEL(run_search, check_sums),          KERNEL(run_aq, NULL),
    KERNEL(run_propagate, check_propagated), KERNEL(run_offsets, check_offsets)};

enum { ROUNDS = 3 * CONTENTS };
static const GpuSize sizes[] = {{2, 2, ROUNDS},     {16, 16, ROUNDS},  {18, 14, ROUNDS},
                                {176, 144, ROUNDS}, {130, 66, ROUNDS}, {34, 258, ROUNDS},
                                {958, 62, ROUNDS},  {1920, 1080, 1},   {0, 0, 0}};

// ---- Plans --------------------------------------------------------------------------------------

enum { PICTURES = 40, FIRST_SEGMENT = 28, IDR = 11 }; // picture 11 is forced to be IDR

typedef struct Plans {
    MotusLookaheadPlan plan[PICTURES], alone[PICTURES]; // alone: with keep_aq, AQ's
    int16_t *offset[PICTURES], *aq[PICTURES];
    int n;
} Plans;

// Frames in both memories, with cuts between some of them.
typedef struct Clip {
    MotusFrame *host[PICTURES];
    DeviceFrame device[PICTURES];
} Clip;

// fades: its light flickers.
static void make_clip(Clip *clip, int width, int height, int fades) {
    for (int i = 0, content = MOTUS_MATERIAL_SCENE; i < PICTURES; i++) {
        if (!motus_test_range(0, 7)) content = motus_test_range(0, GPU_PICTURES - 1);
        clip->host[i] = gpu_picture(content, width, height, i);
        if (fades) fade(&clip->host[i]->plane[0], motus_test_range(40, 64));
        clip->device[i] = device_frame(width, height, 5, 0);
        upload(&clip->device[i], clip->host[i], NULL);
    }
    GPU_OK(cudaDeviceSynchronize());
}

static void drop_clip(Clip *clip) {
    for (int i = 0; i < PICTURES; i++) {
        drop_device_frame(&clip->device[i]);
        motus_frame_unref(&clip->host[i]);
    }
}

// Puts picture i, each third one from device memory, and checks the upload of the others.
static void put(MotusLookahead *look, const Clip *clip, int i, int device) {
    int idr = i == IDR;
    const int on_device = device != MOTUS_LOOKAHEAD_HOST && i % 3 == 1;
    const MotusFrame *host = clip->host[i];
    const MotusFrameSource source = {.frame = on_device ? clip->device[i].frame : host,
                                     .on_device = on_device};
    MotusFrameSource up;
    CU_ASSERT_EQUAL(motus_lookahead_put(look, &source, &idr, NULL), MOTUS_OK);
    const int is_up = motus_lookahead_uploaded(look, device, &up);
    CU_ASSERT(is_up == (device != MOTUS_LOOKAHEAD_HOST && !on_device));
    CU_ASSERT(!motus_lookahead_uploaded(look, device + 1, &up));
    for (int p = 0; is_up && p < 3; p++) {
        const MotusPlane *want = &host->plane[p], *got = &up.frame->plane[p];
        uint8_t row[512];
        CU_ASSERT(got->width == want->width && got->height == want->height);
        for (int y = 0; y < want->height; y += want->height / 2 + 1) {
            GPU_OK(cudaMemcpy(row, got->data + y * got->stride, (size_t)got->width,
                              cudaMemcpyDeviceToHost));
            MOTUS_CHECK(!memcmp(row, want->data + y * want->stride, (size_t)want->width),
                        "picture %d plane %d row %d", i, p, y);
        }
    }
}

// Begins pictures from *begun on, before `end`: as many as may be pending, or fewer, and picture i
// at least. Then waits for the oldest type.
static void begin_and_wait(MotusLookahead *look, const Clip *clip, int i, int end, int *begun,
                           cudaEvent_t filled) {
    int idr;
    for (const int most = motus_test_range(1, MOTUS_LOOKAHEAD_MAX_PENDING);
         *begun < end && (*begun <= i || *begun - i < most); ++*begun) {
        GPU_OK(cudaEventRecord(filled, NULL));
        CU_ASSERT_EQUAL(motus_lookahead_begin(look, &clip->device[*begun].frame->plane[0], filled,
                                              *begun == IDR, NULL),
                        MOTUS_OK);
    }
    CU_ASSERT_EQUAL(motus_lookahead_wait_type(look, &idr, NULL), MOTUS_OK);
}

// Plans two segments of a stream; some pictures are put, taken back and put again. pending: they
// begin, many at a time, and are waited for afterwards.
static void plan_all(Plans *out, const MotusLookaheadSettings *s, const Clip *clip, int device,
                     int pending) {
    MotusLookahead *look;
    MotusError error = {0};
    int i = 0, begun = 0, ended = 0;
    cudaEvent_t filled;
    out->n = 0;
    GPU_OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    MOTUS_CHECK(motus_lookahead_open(&look, s, device, &error) == MOTUS_OK, "%s", error.text);
    CU_ASSERT_FATAL(look != NULL && motus_lookahead_device(look) == device);
    for (MotusStatus status = MOTUS_AGAIN; out->n < PICTURES;) {
        if (status == MOTUS_END) motus_lookahead_next_segment(look, 1000), ended = 0;
        if (status && (i == PICTURES || (i == FIRST_SEGMENT && out->n < FIRST_SEGMENT && !ended))) {
            motus_lookahead_end(look);
            ended = 1;
        } else if (status && pending) {
            begin_and_wait(look, clip, i, i < FIRST_SEGMENT ? FIRST_SEGMENT : PICTURES, &begun,
                           filled);
            i++;
        } else if (status) {
            for (int again = i % (PICTURES / 5) == 3; again >= 0; again--) {
                put(look, clip, i, device);
                if (again) motus_lookahead_undo(look);
            }
            i++;
        }
        status = motus_lookahead_get(look, &out->plan[out->n], out->offset[out->n], &error);
        MOTUS_CHECK(status >= 0, "%s", error.text);
        if (status < 0) break;
        out->alone[out->n] = out->plan[out->n];
        if (!status && s->keep_aq) motus_lookahead_aq(look, &out->alone[out->n], out->aq[out->n]);
        out->n += !status;
    }
    motus_lookahead_close(&look);
    GPU_OK(cudaEventDestroy(filled));
}

static void compare_plans(const Plans *want, const Plans *got, size_t n_mb, int keeps_aq,
                          const char *what) {
    CU_ASSERT(want->n == PICTURES && got->n == PICTURES);
    for (int i = 0; i < got->n; i++) {
        const MotusLookaheadPlan *a = &want->plan[i], *b = &got->plan[i];
        MOTUS_CHECK(a->number == b->number && a->idr == b->idr && a->forced == b->forced &&
                        a->has_offsets == b->has_offsets && a->cost == b->cost &&
                        a->intra == b->intra && a->b == b->b,
                    "%s: picture %d", what, i);
        MOTUS_CHECK(a->weighted == b->weighted && a->mean == b->mean &&
                        !memcmp(want->offset[i], got->offset[i], n_mb * 2),
                    "%s: offsets of picture %d", what, i);
        const MotusLookaheadPlan *p = &want->alone[i], *q = &got->alone[i];
        MOTUS_CHECK(p->weighted == q->weighted && p->mean == q->mean &&
                        (!keeps_aq || !memcmp(want->aq[i], got->aq[i], n_mb * 2)),
                    "%s: AQ of picture %d", what, i);
    }
}

static void plans_agree(void) {
    static const int spans[] = {0, 8, 2, 3, 4, 5, 6};
    static const int depths[] = {20, 0, 1, 9, 40}, keyints[] = {250, 7, 0};
    for (int k = 0; k < 30; k++) {
        const int width = motus_test_range(1, 100) * 2, height = motus_test_range(1, 60) * 2;
        const size_t n_mb = (size_t)((width + 15) / 16 * ((height + 15) / 16));
        const MotusLookaheadSettings s = {
            .mb_width = (width + 15) / 16,
            .mb_height = (height + 15) / 16,
            .threads = 1,
            .depth = depths[k % 5],
            .keyint = keyints[k / 5 % 3],
            .min_keyint = 2,
            .scenecut = k % 4 ? 40 : 0,
            .aq_mode = (MotusAqMode)(k % 3),
            .aq_strength_q8 = 256,
            .mb_tree_q8 = k / 3 % 4 ? 512 : 0,
            .keep_aq = k % 3 && k / 3 % 4 && k % 2,
            .b_span = k % 2 ? spans[k % 7] : motus_min(spans[k % 7], MOTUS_B_FLAT_SPAN),
            .b_pyramid = k % 2,
            .weights = k / 2 % 2};
        char what[100];
        snprintf(what, sizeof what, "%dx%d, depth %d, AQ %d, mb-tree %d, B %d", width, height,
                 s.depth, (int)s.aq_mode, s.mb_tree_q8, s.b_span);
        Clip clip;
        static Plans plans[2];
        for (int i = 0; i < 2 * PICTURES; i++) plans[i & 1].offset[i / 2] = malloc(n_mb * 2);
        for (int i = 0; i < 2 * PICTURES; i++) plans[i & 1].aq[i / 2] = malloc(n_mb * 2);
        make_clip(&clip, width, height, k / 4 % 2);
        plan_all(&plans[0], &s, &clip, MOTUS_LOOKAHEAD_HOST, 0);
        for (int pending = 0; pending < 2; pending++) {
            plan_all(&plans[1], &s, &clip, 0, pending);
            compare_plans(&plans[0], &plans[1], n_mb, s.keep_aq, what);
        }
        drop_clip(&clip);
        for (int i = 0; i < 2 * PICTURES; i++) free(plans[i & 1].offset[i / 2]);
        for (int i = 0; i < 2 * PICTURES; i++) free(plans[i & 1].aq[i / 2]);
    }
}

// ---- Rows ---------------------------------------------------------------------------------------

#define ROW(label, pass)                                                                           \
    {                                                                                              \
        .name = label, .kernel = &passes[pass], .variant = pass, .rounds = ROUNDS,                 \
        .most = {200, 150, 0}, .cases = 14, .sizes = sizes, .bench = {                             \
            1920,                                                                                  \
            1080,                                                                                  \
            0                                                                                      \
        }                                                                                          \
    }
static const GpuRow rows[] = {ROW("half_planes", HALF),
                              ROW("intra_costs", INTRA),
                              ROW("search", SEARCH),
                              ROW("aq_offsets", AQ),
                              ROW("mb_tree_propagate", PROPAGATE),
                              ROW("mb_tree_offsets", OFFSETS),
                              GPU_TEST(plans_agree),
                              {0}};
const GpuSuite gpu_lookahead = {"lookahead", rows};
