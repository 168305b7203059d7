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
    const MotusPlane *in = &((Toy *)c->state)->in.at[ON_CPU];
    gpu_fill(in->data, (size_t)(in->stride * in->height), c->content);
    for (int i = 0; i < in->stride * in->height; i++) digest = digest * 31 + in->data[i];
    filled++;
}

// Inverts samples, adds them to *sum, and then makes the row's mistake. No sample becomes poison.
static MotusStatus run_toy(GpuCase *c, int on) {
    const Toy *t = c->state;
    const MotusPlane *in = &t->in.at[on], *out = &t->out.at[on];
    const ptrdiff_t stride = out->stride, last = stride * (c->height - 1) + c->width - 1;
    const int mistake = on == ON_CUDA || c->row->variant == CPU_BEHIND ? c->row->variant : RIGHT;
    uint8_t *data = out->data;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            data[y * stride + x] = (uint8_t)(~in->data[y * stride + x] & 0x5F);
            *(uint32_t *)t->sum->at[on] += in->data[y * stride + x];
        }
    if (mistake == UP_TO_ALIGNMENT) memset(data + last + 1, 3, (size_t)(stride - 16 - c->width));
    if (mistake == WRONG_BYTE) data[last / 2 / stride * stride] ^= 1;
    if (mistake == MISSING_BYTE) data[last] = GPU_POISON;
    if (mistake == BEFORE) data[-1] = 0;
    if (mistake == BEHIND || (mistake == CPU_BEHIND && on == ON_CPU)) data[stride * c->height] = 0;
    if (mistake == BEYOND_A_ROW) data[stride - 16] = 0;
    if (mistake == INPUT_CHANGED) in->data[stride - 1] ^= 1;
    if (mistake == STATE_WRONG) ++*(uint32_t *)t->sum->at[on];
    if (mistake == SCRATCH_PASSED) ((uint8_t *)t->scratch->at[on])[t->scratch->bytes] = 0;
    return mistake == LAUNCH_FAILED ? MOTUS_ERR_CUDA : MOTUS_OK;
}

static void check_toy(GpuCase *c) { gpu_expect(c, c->row->variant != CHECK_FAILED, "as wanted"); }

static const GpuKernel toy = {sizeof(Toy), open_toy, fill_toy, run_toy, check_toy, NULL};
static const GpuSize sizes[] = {{1, 1, 0}, {17, 5, 0}, {48, 3, 4}, {0, 0, 0}};

// Each mistake is noticed in each of the eight rounds.
static void mistakes_are_seen(void) {
    for (int variant = 0; variant < VARIANTS; variant++) {
        const GpuRow row = {
            .name = "toy", .kernel = &toy, .variant = variant, .sizes = sizes, .rounds = 2};
        const int failures = gpu_row_failures(&row), wanted = variant > UP_TO_ALIGNMENT ? 8 : 0;
        MOTUS_CHECK(failures == wanted, "variant %d: %d failures", variant, failures);
    }
}

static void rows_are_repeated(void) {
    const GpuRow row = {.name = "toy", .kernel = &toy, .most = {90, 70, 0}, .cases = 9};
    uint32_t digests[3];
    for (int k = 0; k < 3; k++) {
        digest = 0, opened = filled = 0, gpu_seed += k == 2;
        CU_ASSERT_EQUAL(gpu_row_failures(&row), 0);
        CU_ASSERT(opened == motus_test_cases(9) && filled == opened);
        digests[k] = digest;
    }
    gpu_seed--;
    CU_ASSERT(digests[0] == digests[1] && digests[0] != digests[2]); // another seed
}

static void rows_run_together(void) {
    const GpuRow row = {.name = "toy", .kernel = &toy, .sizes = sizes, .rounds = 3, .together = 1};
    opened = filled = 0;
    CU_ASSERT_EQUAL(gpu_row_failures(&row), 0);
    CU_ASSERT(opened == 3 && filled == 9);
}

static const GpuRow rows[] = {
    GPU_TEST(mistakes_are_seen), GPU_TEST(rows_are_repeated), GPU_TEST(rows_run_together), {0}};
const GpuSuite gpu_driver = {"driver", rows};
