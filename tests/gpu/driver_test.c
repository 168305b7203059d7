// The driver of rows itself, without a GPU: a toy kernel runs on memory of the host, right and in
// every wrong way that the driver has to notice.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/gpu/gpu_test.h"

enum {
    RIGHT,
    UP_TO_ALIGNMENT, // writes where it may
    WRONG_BYTE,
    MISSING_BYTE,
    BEFORE,
    BEHIND,
    BEYOND_A_ROW,
    INPUT_CHANGED,
    STATE_WRONG,
    SCRATCH_PASSED,
    LAUNCH_FAILED,
    CHECK_FAILED,
    CPU_BEHIND,
    VARIANTS
};

typedef struct Toy {
    GpuPlane in, out;
    GpuBuffer *sum, *scratch;
} Toy;

static uint32_t digest; // of all sizes and inputs
static int opened, filled;

static void open_toy(GpuCase *c) {
    Toy *t = c->state;
    const ptrdiff_t stride = gpu_round16(c->width) + 16;
    t->in = gpu_plane(c, "in", GPU_INPUT, c->width, c->height, stride, 1);
    t->out = gpu_plane(c, "out", GPU_OUTPUT, c->width, c->height, stride, 16);
    t->sum = gpu_buffer(c, "sum", GPU_IN_OUT, sizeof(uint32_t));
    t->scratch = gpu_buffer(c, "scratch", GPU_SCRATCH, 40);
    digest = digest * 31 + (uint32_t)(c->width + 1000 * c->height);
    opened++;
}

static void fill_toy(GpuCase *c) {
    Toy *t = c->state;
    gpu_fill(t->in.cpu.data, (size_t)(t->in.cpu.stride * c->height), c->content);
    gpu_fill(t->sum->cpu, sizeof(uint32_t), GPU_RANDOM);
    for (int i = 0; i < t->in.cpu.stride * c->height; i++) digest = digest * 31 + t->in.cpu.data[i];
    filled++;
}

// Writes inverted samples, never the poison, and adds the samples to *sum.
static void invert(const MotusPlane *out, const MotusPlane *in, uint32_t *sum) {
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const uint8_t v = in->data[y * in->stride + x];
            out->data[y * out->stride + x] = (uint8_t)(~v & 0x5F);
            *sum += v;
        }
}

static void toy_cpu(GpuCase *c) {
    Toy *t = c->state;
    invert(&t->out.cpu, &t->in.cpu, t->sum->cpu);
    if (c->row->variant == CPU_BEHIND) t->out.cpu.data[t->out.cpu.stride * c->height] = 1;
}

static MotusStatus toy_cuda(GpuCase *c, cudaStream_t stream) {
    Toy *t = c->state;
    uint8_t *out = t->out.cuda.data;
    const ptrdiff_t stride = t->out.cuda.stride, last = stride * (c->height - 1) + c->width - 1;
    (void)stream;
    invert(&t->out.cuda, &t->in.cuda, t->sum->cuda);
    switch (c->row->variant) {
    case UP_TO_ALIGNMENT:
        memset(out + last + 1, 3, (size_t)(gpu_round16(c->width) - c->width));
        break;
    case WRONG_BYTE:
        out[last / 2 / stride * stride] ^= 1;
        break;
    case MISSING_BYTE:
        out[last] = GPU_POISON;
        break;
    case BEFORE:
        out[-1] = 0;
        break;
    case BEHIND:
        out[stride * c->height] = 0;
        break;
    case BEYOND_A_ROW:
        out[gpu_round16(c->width)] = 0;
        break;
    case INPUT_CHANGED:
        t->in.cuda.data[t->in.cuda.stride - 1] ^= 1;
        break;
    case STATE_WRONG:
        ++*(uint32_t *)t->sum->cuda;
        break;
    case SCRATCH_PASSED:
        ((uint8_t *)t->scratch->cuda)[t->scratch->bytes] = 0;
        break;
    case LAUNCH_FAILED:
        return MOTUS_ERR_CUDA;
    default:
        break;
    }
    return MOTUS_OK;
}

static void check_toy(GpuCase *c) { gpu_expect(c, c->row->variant != CHECK_FAILED, "as wanted"); }

static const GpuKernel toy = {sizeof(Toy), open_toy, fill_toy, toy_cpu, toy_cuda, check_toy, NULL};
static const GpuSize sizes[] = {{1, 1, 0}, {17, 5, 0}, {48, 3, 4}, {0, 0, 0}};

static void faults_are_seen(void) {
    for (int variant = 0; variant < VARIANTS; variant++) {
        const GpuRow row = {
            .name = "toy", .kernel = &toy, .variant = variant, .sizes = sizes, .rounds = 2};
        // One for each round. A byte behind the CPU version's memory stays there.
        const int failures = gpu_row_failures(&row), wanted = variant > UP_TO_ALIGNMENT ? 8 : 0;
        MOTUS_CHECK(failures == wanted, "variant %d: %d failures, not %d", variant, failures,
                    wanted);
    }
}

static void rows_are_repeated(void) {
    const GpuRow row = {.name = "toy", .kernel = &toy, .most = {90, 70, 0}, .cases = 9};
    uint32_t first = 0;
    for (int k = 0; k < 3; k++) {
        digest = 0, opened = filled = 0, gpu_seed += k == 2;
        CU_ASSERT_EQUAL(gpu_row_failures(&row), 0);
        CU_ASSERT(opened == motus_test_cases(9) && filled == opened);
        if (!k) first = digest;
    }
    gpu_seed--;
    CU_ASSERT_NOT_EQUAL(digest, first); // of another seed
    digest = 0;
    CU_ASSERT_EQUAL(gpu_row_failures(&row), 0);
    CU_ASSERT_EQUAL(digest, first);
}

static void rows_run_together(void) {
    const GpuRow row = {.name = "toy", .kernel = &toy, .sizes = sizes, .rounds = 3, .together = 1};
    opened = filled = 0;
    CU_ASSERT_EQUAL(gpu_row_failures(&row), 0);
    CU_ASSERT(opened == 3 && filled == 9);
}

static void contents(void) {
    enum { N = 1000 };
    uint8_t data[N], least, most;
    for (int content = 0; content < GPU_CONTENTS; content++) {
        int extremes = 0;
        gpu_fill(data, N, (GpuContent)content);
        least = most = data[0];
        for (int i = 0; i < N; i++) {
            least = data[i] < least ? data[i] : least, most = data[i] > most ? data[i] : most;
            extremes += data[i] == 0 || data[i] == 255;
        }
        const int flat = content == GPU_FLAT || content >= GPU_MINIMUM;
        MOTUS_CHECK((least == most) == flat, "%d: %d to %d", content, least, most);
        MOTUS_CHECK(extremes == N || (content != GPU_EXTREMES && content < GPU_MINIMUM), "%d",
                    content);
    }
    CU_ASSERT_EQUAL(data[0], 255);
}

static const MotusTest tests[] = {{"faults_are_seen", faults_are_seen},
                                  {"rows_are_repeated", rows_are_repeated},
                                  {"rows_run_together", rows_run_together},
                                  {"contents", contents},
                                  {0}};
const GpuSuite gpu_driver = {"driver", NULL, tests};
