// CUDA == CPU, bit for bit, for the deblocking of whole pictures, with several of them in flight;
// nothing beside the planes is touched. MOTUS_CASES sets the number of random cases.
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>

#include "encoder/mb/deblock.h"
#include "encoder/mb/deblock_cuda.h"
#include "tests/encoder/mb/deblock_case.h"
#include "tests/gpu/gpu.h"

#define POISON 0xA5

#define CHECK_CUDA(call) check_cuda(call, #call)
static void check_cuda(cudaError_t status, const char *what) {
    MOTUS_CHECK(status == cudaSuccess, "%s: %s", what, cudaGetErrorString(status));
}

// A picture in one block of memory, with bytes around each plane and behind each of its lines that
// nobody may touch.
typedef struct Picture {
    int mb_width, mb_height;
    MotusFrame frame;        // in `before`, later the expected one
    size_t bytes, offset[3]; // bytes outside the planes are poison
    uint8_t *before, *after, *d_before, *d_picture;
    MotusMb *mb, *d_mb;
    void *d_work;
    cudaStream_t stream;
} Picture;

static void lay_out(Picture *p) {
    size_t end = 0;
    p->frame = (MotusFrame){.width = 16 * p->mb_width, .height = 16 * p->mb_height};
    for (int c = 0; c < 3; c++) {
        MotusPlane *plane = &p->frame.plane[c];
        plane->width = p->frame.width >> (c > 0), plane->height = p->frame.height >> (c > 0);
        plane->stride = (plane->width + 127) / 64 * 64;
        p->offset[c] = end + 2 * (size_t)plane->stride;
        end += (size_t)plane->stride * (size_t)(plane->height + 4);
    }
    p->bytes = end;
}

static void open_picture(Picture *p, int mb_width, int mb_height) {
    const size_t n = (size_t)mb_width * (size_t)mb_height,
                 work = motus_deblock_cuda_bytes(mb_width, mb_height);
    memset(p, 0, sizeof *p);
    p->mb_width = mb_width, p->mb_height = mb_height;
    lay_out(p);
    p->before = malloc(p->bytes), p->after = malloc(p->bytes), p->mb = malloc(n * sizeof *p->mb);
    if (!p->before || !p->after || !p->mb) abort();
    for (int c = 0; c < 3; c++) p->frame.plane[c].data = p->before + p->offset[c];
    CHECK_CUDA(cudaMalloc((void **)&p->d_before, p->bytes));
    CHECK_CUDA(cudaMalloc((void **)&p->d_picture, p->bytes));
    CHECK_CUDA(cudaMalloc((void **)&p->d_mb, n * sizeof *p->mb));
    CHECK_CUDA(cudaMalloc(&p->d_work, work));
    CHECK_CUDA(cudaMemset(p->d_work, 0xFF, work)); // whatever an earlier use left
    CHECK_CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
}

static void close_picture(Picture *p) {
    CHECK_CUDA(cudaStreamDestroy(p->stream));
    CHECK_CUDA(cudaFree(p->d_before));
    CHECK_CUDA(cudaFree(p->d_picture));
    CHECK_CUDA(cudaFree(p->d_mb));
    CHECK_CUDA(cudaFree(p->d_work));
    free(p->before);
    free(p->after);
    free(p->mb);
}

// New content, on the host and on the device. The copies are done when it returns.
static void fill(Picture *p, DeblockKind kind, int qp, int spread) {
    const size_t n = (size_t)p->mb_width * (size_t)p->mb_height;
    memset(p->before, POISON, p->bytes);
    for (int c = 0; c < 3; c++) deblock_case_samples(&p->frame.plane[c], spread);
    for (size_t i = 0; i < n; i++) deblock_case_mb(p->mb + i, kind, qp);
    CHECK_CUDA(cudaMemcpy(p->d_before, p->before, p->bytes, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(p->d_mb, p->mb, n * sizeof *p->mb, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaDeviceSynchronize());
}

static void submit(Picture *p) {
    uint8_t *to[3];
    const uint8_t *from[3];
    ptrdiff_t stride[3];
    for (int c = 0; c < 3; c++) {
        to[c] = p->d_picture + p->offset[c], from[c] = p->d_before + p->offset[c];
        stride[c] = p->frame.plane[c].stride;
    }
    CHECK_CUDA(cudaMemsetAsync(p->d_picture, POISON, p->bytes, p->stream));
    CHECK_CUDA(motus_deblock_cuda(to, from, stride, p->d_mb, p->mb_width, p->mb_height, p->d_work,
                                  0, p->stream));
}

// After this `before` is the filtered picture.
static void expect(Picture *p) {
    const MotusCodedMbs mbs = {.mb_width = p->mb_width, .mb_height = p->mb_height, .mb = p->mb};
    motus_deblock_picture(&p->frame, &mbs);
}

static int as_expected(Picture *p) {
    memset(p->after, 0, p->bytes);
    CHECK_CUDA(
        cudaMemcpyAsync(p->after, p->d_picture, p->bytes, cudaMemcpyDeviceToHost, p->stream));
    CHECK_CUDA(cudaStreamSynchronize(p->stream));
    return !memcmp(p->before, p->after, p->bytes);
}

static void one_case(Picture *p, DeblockKind kind, int qp, int spread) {
    fill(p, kind, qp, spread);
    submit(p);
    expect(p);
    MOTUS_CHECK(as_expected(p), "%dx%d MBs kind %d qp %d spread %d", p->mb_width, p->mb_height,
                (int)kind, qp, spread);
}

static void every_qp(void) {
    if (!motus_test_has_gpu()) return;
    Picture p;
    open_picture(&p, 5, 4);
    for (int qp = -1; qp <= 51; qp++)
        for (int i = 0; i < 8; i++)
            one_case(&p, (DeblockKind)(i % DEBLOCK_KINDS), qp, 2 << motus_test_range(0, 6));
    close_picture(&p);
}

static void random_sizes(void) {
    if (!motus_test_has_gpu()) return;
    for (int i = 0, n = motus_test_cases(60); i < n; i++) {
        Picture p;
        open_picture(&p, motus_test_range(1, 12), motus_test_range(1, 12));
        one_case(&p, i % 3 ? DEBLOCK_MIXED : DEBLOCK_INTER, i % 2 ? -1 : motus_test_range(20, 51),
                 2 << motus_test_range(0, 6));
        close_picture(&p);
    }
}

static void usual_sizes(void) {
    static const int sizes[][2] = {{1, 1},   {1, 4},   {4, 1},    {3, 5},
                                   {22, 18}, {80, 45}, {120, 68}, {256, 144}};
    if (!motus_test_has_gpu()) return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Picture p;
        open_picture(&p, sizes[i][0], sizes[i][1]);
        const int large = sizes[i][0] > 100;
        for (int kind = 0; kind < (large ? 1 : DEBLOCK_KINDS); kind++)
            one_case(&p, (DeblockKind)kind, -1, 16);
        one_case(&p, DEBLOCK_INTRA, 44, 24);
        close_picture(&p);
    }
}

enum { STREAMS = 6 };

// More row walkers than one stream has, in pictures of different sizes, and each picture's memory
// used again and again.
static void several_streams(void) {
    if (!motus_test_has_gpu()) return;
    Picture p[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        open_picture(&p[i], 60 - 9 * i, 12 + 11 * i);
        fill(&p[i], i % 2 ? DEBLOCK_INTER : DEBLOCK_MIXED, i % 3 ? -1 : 38, 16);
        expect(&p[i]);
    }
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < STREAMS; i++)
            for (int again = 0; again < 3; again++) submit(&p[i]);
        for (int i = 0; i < STREAMS; i++)
            MOTUS_CHECK(as_expected(&p[i]), "round %d stream %d", round, i);
    }
    for (int i = 0; i < STREAMS; i++) close_picture(&p[i]);
}

static void in_a_graph(void) {
    if (!motus_test_has_gpu()) return;
    Picture p;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    open_picture(&p, 22, 18);
    fill(&p, DEBLOCK_MIXED, 36, 12);
    expect(&p);
    CHECK_CUDA(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeThreadLocal));
    submit(&p);
    CHECK_CUDA(cudaStreamEndCapture(p.stream, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&run, graph, 0));
    for (int i = 0; i < 4; i++) {
        CHECK_CUDA(cudaMemsetAsync(p.d_picture, 0, p.bytes, p.stream));
        CHECK_CUDA(cudaGraphLaunch(run, p.stream));
        MOTUS_CHECK(as_expected(&p), "launch %d", i);
    }
    CHECK_CUDA(cudaGraphExecDestroy(run));
    CHECK_CUDA(cudaGraphDestroy(graph));
    close_picture(&p);
}

static const MotusTest tests[] = {
    {"every_qp", every_qp},       {"random_sizes", random_sizes},
    {"usual_sizes", usual_sizes}, {"several_streams", several_streams},
    {"in_a_graph", in_a_graph},   {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_deblock", tests, argc, argv); }
