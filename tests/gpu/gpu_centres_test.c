// What precedes the search of a P picture: reference planes and search centres made on a CUDA
// device equal the CPU's, bit for bit.
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>

#include "me/centres/centres_cuda.h"
#include "me/me_cpu.h"
#include "me/pixel/ref_luma_cuda.h"
#include "tests/gpu/gpu.h"

#define POISON 0xA5
#define STREAMS 3

static const struct {
    int width, height;
} sizes[] = {{16, 16}, {16, 64}, {64, 16}, {48, 80}, {352, 288}, {1920, 1088}, {4096, 2304}};

#define SIZES ((int)(sizeof sizes / sizeof *sizes))

static void ok(cudaError_t error, const char *what) {
    MOTUS_CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

static void *on_device(const void *host, size_t size) {
    void *device = NULL;
    ok(cudaMalloc(&device, size), "cudaMalloc");
    if (host)
        ok(cudaMemcpy(device, host, size, cudaMemcpyHostToDevice), "upload");
    else
        ok(cudaMemset(device, POISON, size), "cudaMemset");
    return device;
}

static MotusPlane plane_of(int width, int height) {
    MotusPlane p = {NULL, (width + 63) / 64 * 64, width, height};
    p.data = malloc((size_t)p.stride * (size_t)height);
    return p;
}

static size_t bytes_of(const MotusPlane *p) { return (size_t)p->stride * (size_t)p->height; }

// ---- Planes -------------------------------------------------------------------------------------

// What the device must leave: the planes with their border, and nothing beyond it.
static uint8_t *wanted_planes(const MotusRefLuma *ref, size_t size) {
    uint8_t *want = malloc(size);
    memset(want, POISON, size);
    for (int k = 0; k < 4; k++)
        for (int y = -MOTUS_REF_PAD; y < ref->height + MOTUS_REF_PAD; y++) {
            const uint8_t *row = ref->plane[k] + y * ref->stride - MOTUS_REF_PAD;
            memcpy(want + (row - ref->memory), row, (size_t)(ref->width + 2 * MOTUS_REF_PAD));
        }
    return want;
}

static void compare_planes(const MotusPlane *luma, const char *what) {
    MotusRefLuma cpu, gpu;
    size_t size = motus_ref_luma_bytes(luma->width, luma->height);
    CU_ASSERT_EQUAL_FATAL(motus_ref_luma_alloc(&cpu, luma->width, luma->height), MOTUS_OK);
    motus_ref_luma_build(&cpu, luma, 1, 1);
    void *memory = on_device(NULL, size), *samples = on_device(luma->data, bytes_of(luma));
    motus_ref_luma_layout(&gpu, memory, luma->width, luma->height);
    CU_ASSERT(!memcmp(gpu.tap, cpu.tap, sizeof cpu.tap) && gpu.stride == cpu.stride && !gpu.ops);
    ok(motus_ref_luma_cuda_build(
           &gpu, &(MotusPlane){samples, luma->stride, luma->width, luma->height}, 0),
       "build");
    uint8_t *got = malloc(size), *want = wanted_planes(&cpu, size);
    ok(cudaMemcpy(got, memory, size, cudaMemcpyDeviceToHost), "download");
    size_t at = 0;
    while (at < size - 1 && got[at] == want[at]) at++;
    MOTUS_CHECK(got[at] == want[at], "%dx%d %s: byte %zu of %zu is %d, want %d", luma->width,
                luma->height, what, at, size, got[at], want[at]);
    free(got);
    free(want);
    cudaFree(memory);
    cudaFree(samples);
    motus_ref_luma_free(&cpu);
}

static void planes(void) {
    static const int odd[][2] = {{1, 1}, {17, 15}, {83, 61}, {1281, 33}};
    if (!motus_test_has_gpu()) return;
    for (int i = 0; i < SIZES + 4; i++) {
        MotusPlane p = i < SIZES ? plane_of(sizes[i].width, sizes[i].height)
                                 : plane_of(odd[i - SIZES][0], odd[i - SIZES][1]);
        motus_test_fill(p.data, bytes_of(&p));
        compare_planes(&p, "noise");
        for (size_t k = 0; k < bytes_of(&p); k++) p.data[k] = p.data[k] & 1 ? 255 : 0;
        compare_planes(&p, "extremes");
        free(p.data);
    }
}

// ---- Centres ------------------------------------------------------------------------------------

enum { MOVED, NOISE, FLAT, BLACK_AND_WHITE, STRIPES, CONTENTS };

// A picture and what it is searched with.
typedef struct Case {
    int content, reach, limit_x, limit_y;
    uint32_t lambda_q8;
    MotusPlane cur, ref;
    MotusMv *previous; // or NULL
    int n_mb;
} Case;

// Both pictures get a texture of small blocks; cur takes 96x96 areas of ref from elsewhere.
static void fill_moved(Case *c) {
    uint8_t texture[1024];
    int shift[16][2];
    motus_test_fill(texture, sizeof texture);
    for (int i = 0; i < 16; i++)
        shift[i][0] = motus_test_range(-70, 70), shift[i][1] = motus_test_range(-70, 70);
    for (int y = 0; y < c->ref.height; y++)
        for (int x = 0; x < c->ref.width; x++)
            c->ref.data[y * c->ref.stride + x] =
                (uint8_t)(texture[(x / 6 * 37 + y / 5 * 101) % 1024] / 2 + (x ^ y) % 16);
    for (int y = 0; y < c->cur.height; y++)
        for (int x = 0; x < c->cur.width; x++) {
            const int *s = shift[(x / 96 + 5 * (y / 96)) & 15];
            int from_x = motus_clip(0, c->ref.width - 1, x + s[0]),
                from_y = motus_clip(0, c->ref.height - 1, y + s[1]);
            c->cur.data[y * c->cur.stride + x] =
                (uint8_t)(c->ref.data[from_y * c->ref.stride + from_x] +
                          (texture[(x * 7 + y * 13) & 1023] & 3));
        }
}

static void fill(Case *c) {
    size_t size = bytes_of(&c->cur);
    switch (c->content) {
    case MOVED:
        fill_moved(c);
        break;
    case NOISE:
        motus_test_fill(c->cur.data, size);
        motus_test_fill(c->ref.data, size);
        break;
    case STRIPES:
        for (size_t i = 0; i < size; i++) c->cur.data[i] = c->ref.data[i] = i / 16 & 1 ? 255 : 0;
        break;
    default:
        memset(c->cur.data, c->content == FLAT ? 9 : 0, size);
        memset(c->ref.data, c->content == FLAT ? 9 : 255, size);
    }
}

// kind 0: none; 1: small ones; 2: any; 3: all the same.
static void make_previous(Case *c, int kind) {
    if (!kind) return;
    int most = kind == 1 ? 300 : 8191;
    c->previous = malloc((size_t)c->n_mb * sizeof *c->previous);
    for (int i = 0; i < c->n_mb; i++)
        c->previous[i] = kind == 3 && i ? c->previous[0]
                                        : (MotusMv){(int16_t)motus_test_range(-most, most),
                                                    (int16_t)motus_test_range(-most, most)};
}

static Case case_of(int width, int height, int number) {
    static const uint32_t lambdas[] = {0, 300, 65535, 2000};
    static const int reaches[] = {64, 32, 4, 60, 28},
                     limits[] = {MOTUS_MAX_CENTRE, 99, 0, 400, 100000, 263};
    Case c = {.content = number % CONTENTS,
              .reach = reaches[number / 2 % 5],
              .limit_x = limits[number % 6]};
    c.limit_y = limits[number / 3 % 6];
    c.lambda_q8 = lambdas[number / 3 % 4];
    c.cur = plane_of(width, height), c.ref = plane_of(width, height);
    c.n_mb = width / 16 * (height / 16);
    fill(&c);
    make_previous(&c, number % 4);
    return c;
}

static void free_case(Case *c) {
    free(c->cur.data);
    free(c->ref.data);
    free(c->previous);
}

static MotusMv *on_cpu(const Case *c) {
    MotusMeCpu *me;
    MotusRefLuma ref;
    const MotusMeConfig config = motus_me_config_default(c->cur.width, c->cur.height);
    MotusMv *centre = malloc((size_t)c->n_mb * sizeof *centre);
    CU_ASSERT_EQUAL_FATAL(motus_me_cpu_open(&me, &config), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_ref_luma_alloc(&ref, c->cur.width, c->cur.height), MOTUS_OK);
    motus_ref_luma_build(&ref, &c->ref, 0, 1);
    motus_me_cpu_predict(me, &(MotusCentresPicture){.cur = c->cur.data,
                                                    .cur_stride = c->cur.stride,
                                                    .ref = &ref,
                                                    .previous = c->previous,
                                                    .lambda_q8 = c->lambda_q8,
                                                    .reach = c->reach,
                                                    .limit_x = c->limit_x,
                                                    .limit_y = c->limit_y,
                                                    .centre = centre});
    motus_ref_luma_free(&ref);
    motus_me_cpu_close(&me);
    return centre;
}

// A case under way on the device.
typedef struct Job {
    void *cur, *luma, *planes, *previous, *centre, *work;
    MotusRefLuma ref;
    MotusPlane device_luma;
    MotusCentresPicture picture;
} Job;

static void open_job(Job *j, const Case *c) {
    int width = c->cur.width, height = c->cur.height;
    size_t vectors = (size_t)c->n_mb * sizeof(MotusMv);
    j->cur = on_device(c->cur.data, bytes_of(&c->cur));
    j->luma = on_device(c->ref.data, bytes_of(&c->ref));
    j->planes = on_device(NULL, motus_ref_luma_bytes(width, height));
    j->previous = c->previous ? on_device(c->previous, vectors) : NULL;
    j->centre = on_device(NULL, vectors);
    j->work = on_device(NULL, motus_centres_cuda_bytes(width, height));
    motus_ref_luma_layout(&j->ref, j->planes, width, height);
    j->device_luma = (MotusPlane){j->luma, c->ref.stride, width, height};
    j->picture = (MotusCentresPicture){.cur = j->cur,
                                       .cur_stride = c->cur.stride,
                                       .ref = &j->ref,
                                       .previous = j->previous,
                                       .lambda_q8 = c->lambda_q8,
                                       .reach = c->reach,
                                       .limit_x = c->limit_x,
                                       .limit_y = c->limit_y,
                                       .centre = j->centre};
}

static void launch(Job *j, cudaStream_t stream) {
    ok(motus_ref_luma_cuda_build(&j->ref, &j->device_luma, stream), "planes");
    ok(motus_centres_cuda(&j->picture, j->work, stream), "centres");
}

static void check_job(const Job *j, const Case *c) {
    MotusMv *want = on_cpu(c), *got = malloc((size_t)c->n_mb * sizeof *got);
    ok(cudaMemcpy(got, j->centre, (size_t)c->n_mb * sizeof *got, cudaMemcpyDeviceToHost),
       "download");
    int mb = 0;
    while (mb < c->n_mb - 1 && !memcmp(got + mb, want + mb, sizeof *got)) mb++;
    MOTUS_CHECK(!memcmp(got + mb, want + mb, sizeof *got),
                "%dx%d content %d reach %d limits %d, %d lambda %u previous %d: MB %d of %d is "
                "(%d, %d), want (%d, %d)",
                c->cur.width, c->cur.height, c->content, c->reach, c->limit_x, c->limit_y,
                c->lambda_q8, c->previous != NULL, mb, c->n_mb, got[mb].x, got[mb].y, want[mb].x,
                want[mb].y);
    free(want);
    free(got);
}

static void close_job(Job *j) {
    void *all[] = {j->cur, j->luma, j->planes, j->previous, j->centre, j->work};
    for (int i = 0; i < 6; i++) ok(cudaFree(all[i]), "cudaFree");
}

static void centres(void) {
    static const int large[][2] = {
        {10, 25},
        {20, 30}}; // with motion; with previous vectors or without, a wide reach or a narrow one
    if (!motus_test_has_gpu()) return;
    for (int i = 0; i < SIZES; i++)
        for (int k = 0, n = i < 4 ? 60 : i == 4 ? 20 : 2; k < n; k++) {
            Case c = case_of(sizes[i].width, sizes[i].height, i < 5 ? k : large[i - 5][k]);
            Job j;
            open_job(&j, &c);
            launch(&j, 0);
            check_job(&j, &c);
            close_job(&j);
            free_case(&c);
        }
}

// Several pictures under way at once, each by a graph of its own that was captured before and is
// launched twice.
static void streams_and_graphs(void) {
    if (!motus_test_has_gpu()) return;
    Case c[STREAMS];
    Job j[STREAMS];
    cudaStream_t stream[STREAMS];
    cudaGraphExec_t graph[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        cudaGraph_t captured;
        c[i] = case_of(640, 352, 5 * i + 10);
        open_job(&j[i], &c[i]);
        ok(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking), "stream");
        ok(cudaStreamBeginCapture(stream[i], cudaStreamCaptureModeThreadLocal), "begin of capture");
        launch(&j[i], stream[i]);
        ok(cudaStreamEndCapture(stream[i], &captured), "end of capture");
        ok(cudaGraphInstantiateWithFlags(&graph[i], captured, 0), "graph");
        ok(cudaGraphDestroy(captured), "graph");
    }
    ok(cudaDeviceSynchronize(), "uploads");
    for (int i = 0; i < 2 * STREAMS; i++)
        ok(cudaGraphLaunch(graph[i % STREAMS], stream[i % STREAMS]), "launch");
    for (int i = 0; i < STREAMS; i++) {
        ok(cudaStreamSynchronize(stream[i]), "synchronize");
        check_job(&j[i], &c[i]);
        ok(cudaGraphExecDestroy(graph[i]), "graph");
        ok(cudaStreamDestroy(stream[i]), "stream");
        close_job(&j[i]);
        free_case(&c[i]);
    }
}

static const MotusTest tests[] = {
    {"planes", planes}, {"centres", centres}, {"streams_and_graphs", streams_and_graphs}, {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_centres", tests, argc, argv); }
