// The passes before the search of a P picture: reference planes and search centres.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/centres/centres_cuda.h"
#include "me/me_cpu.h"
#include "me/pixel/ref_luma_cuda.h"
#include "tests/gpu/gpu_test.h"

static ptrdiff_t stride_of(int width) { return (width + 63) / 64 * 64; }

// ---- Planes -------------------------------------------------------------------------------------

typedef struct Planes {
    GpuPlane luma;
    GpuBuffer *planes;
    MotusRefLuma ref[2];
} Planes;

static void open_planes(GpuCase *c) {
    Planes *p = c->state;
    CU_ASSERT_FATAL(!motus_ref_luma_alloc(&p->ref[ON_CPU], c->width, c->height));
    p->luma = gpu_plane(c, "luma", GPU_INPUT, c->width, c->height, stride_of(c->width), 1);
    p->planes = gpu_buffer(c, "planes", GPU_OUTPUT, motus_ref_luma_bytes(c->width, c->height));
    motus_ref_luma_layout(&p->ref[ON_CUDA], p->planes->at[ON_CUDA], c->width, c->height);
    gpu_expect(c, !memcmp(p->ref[0].tap, p->ref[1].tap, sizeof p->ref[0].tap), "taps");
    gpu_expect(c, p->ref[0].stride == p->ref[1].stride && !p->ref[ON_CUDA].ops, "layout");
}

// The CPU's planes are copied with their border; the bytes beyond it stay poisoned.
static MotusStatus run_planes(GpuCase *c, int on) {
    Planes *p = c->state;
    MotusRefLuma *ref = &p->ref[on];
    if (on) return gpu_launched(c, motus_ref_luma_cuda_build(ref, &p->luma.at[on], c->stream));
    motus_ref_luma_build(ref, &p->luma.at[on], 1, 1);
    for (int k = 0; k < 4; k++)
        for (int y = -MOTUS_REF_PAD; y < ref->height + MOTUS_REF_PAD; y++) {
            const uint8_t *row = ref->plane[k] + y * ref->stride - MOTUS_REF_PAD;
            memcpy((uint8_t *)p->planes->at[on] + (row - ref->memory), row,
                   (size_t)(ref->width + 2 * MOTUS_REF_PAD));
        }
    return MOTUS_OK;
}

static void close_planes(GpuCase *c) { motus_ref_luma_free(&((Planes *)c->state)->ref[ON_CPU]); }

static const GpuKernel planes = {sizeof(Planes), open_planes, NULL, run_planes, NULL, close_planes};

// ---- Centres ------------------------------------------------------------------------------------

enum { MOVED, NOISE, FLAT, BLACK_AND_WHITE, STRIPES, CONTENTS };
enum { CYCLED, LARGE, SMALLER_LARGE, GRAPHS }; // which cases: row->variant

typedef struct Centres {
    int content, reach, wide, limit_x, limit_y, n_mb, with_previous;
    uint32_t lambda_q8;
    GpuPlane cur, luma, other_luma;
    GpuBuffer *previous, *centre, *other, *scratch;
    MotusMeCpu *me;
    MotusRefLuma ref[2], other_ref[2];
} Centres;

// Opens a reference's planes on both sides.
static void open_reference(GpuCase *c, MotusRefLuma ref[2], const char *name) {
    GpuBuffer *memory = gpu_buffer(c, name, GPU_SCRATCH, motus_ref_luma_bytes(c->width, c->height));
    CU_ASSERT_FATAL(!motus_ref_luma_alloc(&ref[ON_CPU], c->width, c->height));
    motus_ref_luma_layout(&ref[ON_CUDA], memory->at[ON_CUDA], c->width, c->height);
}

static void open_centres(GpuCase *c) {
    Centres *s = c->state;
    const MotusMeConfig config = motus_me_config_default(c->width, c->height);
    s->n_mb = c->width / 16 * (c->height / 16);
    const size_t mvs = (size_t)s->n_mb * sizeof(MotusMv);
    CU_ASSERT_FATAL(!motus_me_cpu_open(&s->me, &config));
    s->cur = gpu_plane(c, "cur", GPU_INPUT, c->width, c->height, stride_of(c->width), 1);
    s->luma = gpu_plane(c, "luma", GPU_INPUT, c->width, c->height, stride_of(c->width), 1);
    s->other_luma = gpu_plane(c, "other", GPU_INPUT, c->width, c->height, stride_of(c->width), 1);
    s->previous = gpu_buffer(c, "previous", GPU_INPUT, mvs);
    open_reference(c, s->ref, "planes");
    open_reference(c, s->other_ref, "other planes");
    s->centre = gpu_buffer(c, "centres", GPU_OUTPUT, mvs);
    s->other = gpu_buffer(c, "centres again", GPU_OUTPUT, mvs);
    s->scratch =
        gpu_buffer(c, "scratch", GPU_SCRATCH, motus_centres_cuda_bytes(c->width, c->height));
}

// Fills both pictures with a texture of small blocks; cur takes 96x96 areas of ref from elsewhere,
// up to `most` samples away.
static void fill_moved(const MotusPlane *cur, const MotusPlane *ref, int most) {
    uint8_t texture[1024];
    int shift[16][2];
    motus_test_fill(texture, sizeof texture);
    for (int i = 0; i < 16; i++)
        shift[i][0] = motus_test_range(-most, most), shift[i][1] = motus_test_range(-most, most);
    for (int y = 0; y < ref->height; y++)
        for (int x = 0; x < ref->width; x++)
            ref->data[y * ref->stride + x] =
                (uint8_t)(texture[(x / 6 * 37 + y / 5 * 101) % 1024] / 2 + (x ^ y) % 16);
    for (int y = 0; y < cur->height; y++)
        for (int x = 0; x < cur->width; x++) {
            const int *s = shift[(x / 96 + 5 * (y / 96)) & 15];
            const int from_x = motus_clip(0, ref->width - 1, x + s[0]),
                      from_y = motus_clip(0, ref->height - 1, y + s[1]);
            cur->data[y * cur->stride + x] = (uint8_t)(ref->data[from_y * ref->stride + from_x] +
                                                       (texture[(x * 7 + y * 13) & 1023] & 3));
        }
}

// Moves a plane by a few samples.
static void fill_other(uint8_t *other, const uint8_t *ref, size_t size) {
    for (size_t i = 0; i < size; i++) other[i] = ref[(i + 5) % size];
}

static void fill_pictures(const Centres *s) {
    const size_t size = (size_t)(s->cur.at[ON_CPU].stride * s->cur.at[ON_CPU].height);
    uint8_t *cur = s->cur.at[ON_CPU].data, *ref = s->luma.at[ON_CPU].data;
    memset(cur, s->content == FLAT ? 9 : 0, size);
    memset(ref, s->content == FLAT ? 9 : 255, size);
    if (s->content == MOVED)
        fill_moved(&s->cur.at[ON_CPU], &s->luma.at[ON_CPU], s->wide ? 280 : 70);
    if (s->content == NOISE) motus_test_fill(cur, size), motus_test_fill(ref, size);
    for (size_t i = 0; i < size && s->content == STRIPES; i++)
        cur[i] = ref[i] = i / 16 & 1 ? 255 : 0;
    fill_other(s->other_luma.at[ON_CPU].data, ref, size);
}

// Previous MVs: small ones, any, or all the same (kind 3).
static void fill_previous(const Centres *s, int kind) {
    MotusMv *mv = s->previous->at[ON_CPU];
    const int most = kind == 1 ? 300 : 8191;
    for (int i = 0; i < s->n_mb; i++)
        mv[i] = kind == 3 && i ? mv[0]
                               : (MotusMv){(int16_t)motus_test_range(-most, most),
                                           (int16_t)motus_test_range(-most, most)};
}

// Numbers of the cases with motion that large pictures and graphs have: with previous MVs or
// without, a wide reach or a narrow one.
static int case_number(const GpuCase *c) {
    static const int numbers[][2] = {{0, 0}, {10, 25}, {20, 30}};
    return c->row->variant == CYCLED   ? c->round
           : c->row->variant == GRAPHS ? 5 * c->number + 10
                                       : numbers[c->row->variant][c->round];
}

static void fill_centres(GpuCase *c) {
    static const uint32_t lambdas[] = {0, 300, 65535, 2000};
    static const int reaches[] = {64, 32, 4, 60, 28},
                     limits[] = {MOTUS_MAX_CENTRE, 99, 0, 400, 100000, 263};
    Centres *s = c->state;
    const int number = case_number(c);
    s->content = number % CONTENTS;
    s->reach = reaches[number / 2 % 5];
    s->wide = number % 3 > 0;
    s->limit_x = limits[number % 6];
    s->limit_y = limits[number / 3 % 6];
    s->lambda_q8 = lambdas[number / 3 % 4];
    s->with_previous = number % 4 > 0;
    fill_pictures(s);
    fill_previous(s, number % 4);
    snprintf(c->what, sizeof c->what,
             "content %d reach %d wide %d limits %d, %d lambda %u previous %d", s->content,
             s->reach, s->wide, s->limit_x, s->limit_y, s->lambda_q8, number % 4);
}

// The second reference has previous MVs where the first one has none.
static MotusStatus run_centres(GpuCase *c, int on) {
    Centres *s = c->state;
    const MotusPlane *cur = &s->cur.at[on];
    const MotusMv *previous = s->previous->at[on];
    MotusCentresPicture p[2] = {{.cur = cur->data,
                                 .cur_stride = cur->stride,
                                 .ref = &s->ref[on],
                                 .previous = s->with_previous ? previous : NULL,
                                 .lambda_q8 = s->lambda_q8,
                                 .reach = s->reach,
                                 .wide = s->wide,
                                 .limit_x = s->limit_x,
                                 .limit_y = s->limit_y,
                                 .centre = s->centre->at[on]}};
    p[1] = p[0];
    p[1].ref = &s->other_ref[on];
    p[1].previous = s->with_previous ? NULL : previous;
    p[1].centre = s->other->at[on];
    if (!on) {
        motus_ref_luma_build(&s->ref[on], &s->luma.at[on], 0, 1);
        motus_ref_luma_build(&s->other_ref[on], &s->other_luma.at[on], 0, 1);
        for (int k = 0; k < 2; k++) motus_me_cpu_predict(s->me, &p[k]);
        return MOTUS_OK;
    }
    cudaError_t status = motus_ref_luma_cuda_build(&s->ref[on], &s->luma.at[on], c->stream);
    if (!status)
        status = motus_ref_luma_cuda_build(&s->other_ref[on], &s->other_luma.at[on], c->stream);
    if (!status) status = motus_centres_cuda(p, 2, s->scratch->at[on], c->stream);
    return gpu_launched(c, status);
}

static void close_centres(GpuCase *c) {
    Centres *s = c->state;
    motus_ref_luma_free(&s->ref[ON_CPU]);
    motus_ref_luma_free(&s->other_ref[ON_CPU]);
    motus_me_cpu_close(&s->me);
}

static const GpuKernel centres = {sizeof(Centres), open_centres, fill_centres,
                                  run_centres,     NULL,         close_centres};

// ---- Rows ---------------------------------------------------------------------------------------

static const GpuSize plane_sizes[] = {{16, 16, 0},   {16, 64, 0},     {64, 16, 0},     {48, 80, 0},
                                      {352, 288, 0}, {1920, 1088, 0}, {4096, 2304, 3}, {1, 1, 0},
                                      {17, 15, 0},   {83, 61, 0},     {1281, 33, 0},   {0, 0, 0}};
static const GpuSize small[] = {{16, 16, 60}, {16, 64, 60},   {64, 16, 60},
                                {48, 80, 60}, {352, 288, 20}, {0, 0, 0}};
static const GpuSize hd[] = {{1920, 1088, 2}, {0, 0, 0}}, uhd[] = {{4096, 2304, 2}, {0, 0, 0}};
static const GpuSize three[] = {{640, 352, 1}, {640, 352, 1}, {640, 352, 1}, {0, 0, 0}};

static const GpuRow rows[] = {
    {.name = "planes",
     .kernel = &planes,
     .rounds = GPU_CONTENTS,
     .sizes = plane_sizes,
     .bench = {1920, 1088, 0}},
    {.name = "centres", .kernel = &centres, .sizes = small},
    {.name = "large", .kernel = &centres, .variant = LARGE, .sizes = hd, .bench = {1920, 1088, 0}},
    {.name = "larger", .kernel = &centres, .variant = SMALLER_LARGE, .sizes = uhd},
    // Several pictures in flight, each by a graph of its own that is launched twice.
    {.name = "graphs",
     .kernel = &centres,
     .variant = GRAPHS,
     .sizes = three,
     .together = 1,
     .launches = 2,
     .graph = 1},
    {0}};

const GpuSuite gpu_centres = {"centres", rows};
