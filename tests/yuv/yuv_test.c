// yuv/: frames, padding, differences, PSNR, SSIM.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "common/int_core.h"
#include "motus/frame.h"
#include "tests/support/harness.h"

#include <math.h>
#include <string.h>

// Every row starts on a 64-byte line and planes share no sample: each keeps its value after all are
// written.
static void check_shape(int width, int height) {
    MotusFrame *f = NULL;
    MOTUS_CHECK(motus_frame_alloc(&f, width, height) == MOTUS_OK, "%dx%d", width, height);
    if (!f) return;
    for (int i = 0; i < 3; i++) {
        const MotusPlane *p = &f->plane[i];
        MOTUS_CHECK(p->width == (i ? (width + 1) / 2 : width) &&
                        p->height == (i ? (height + 1) / 2 : height),
                    "%dx%d plane %d", width, height, i);
        MOTUS_CHECK((uintptr_t)p->data % 64 == 0 && p->stride % 64 == 0 && p->stride >= p->width,
                    "%dx%d plane %d", width, height, i);
        for (int y = 0; y < p->height; y++)
            memset(p->data + y * p->stride, i + 1, (size_t)p->width);
    }
    int wrong = 0;
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < f->plane[i].height; y++)
            for (int x = 0; x < f->plane[i].width; x++)
                wrong += f->plane[i].data[y * f->plane[i].stride + x] != i + 1;
    MOTUS_CHECK(!wrong, "%dx%d: %d samples", width, height, wrong);
    motus_frame_unref(&f);
    CU_ASSERT_PTR_NULL(f);
}

static void frame_shapes(void) {
    static const int sizes[][2] = {{1, 1},
                                   {1, 2},
                                   {2, 1},
                                   {63, 65},
                                   {64, 64},
                                   {129, 3},
                                   {MOTUS_MAX_SIZE, 1},
                                   {1, MOTUS_MAX_SIZE}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_shape(sizes[i][0], sizes[i][1]);
    for (int i = 0; i < 50; i++) check_shape(motus_test_range(1, 300), motus_test_range(1, 200));
}

static void count_release(void *opaque) { ++*(int *)opaque; }

static void frame_references(void) {
    uint8_t samples[3][64];
    uint8_t *data[3] = {samples[0], samples[1], samples[2]};
    ptrdiff_t stride[3] = {8, 4, 4}, narrow[3] = {7, 4, 4};
    int released = 0;
    MotusFrame *f = NULL;
    CU_ASSERT_EQUAL(motus_frame_wrap(&f, 8, 8, data, narrow, count_release, &released),
                    MOTUS_ERR_ARGUMENT);
    CU_ASSERT(!f && !released);
    REQUIRE_OK(motus_frame_wrap(&f, 8, 8, data, stride, count_release, &released));
    CU_ASSERT(f->plane[0].data == data[0] && f->plane[2].data == data[2] &&
              f->plane[1].stride == 4 && f->plane[1].width == 4);
    MotusFrame *second = motus_frame_ref(f);
    CU_ASSERT_PTR_EQUAL(second, f);
    motus_frame_unref(&f);
    CU_ASSERT(!f && !released);
    motus_frame_unref(&second);
    CU_ASSERT_EQUAL(released, 1);
    motus_frame_unref(&second);
    motus_frame_unref(NULL);
    EXPECT_OK(motus_frame_wrap(&f, 8, 8, data, stride, NULL, NULL));
    motus_frame_unref(&f);
    CU_ASSERT_PTR_NULL(motus_frame_ref(NULL));
}

static void check_padding(int width, int height, int to_width, int to_height) {
    MotusFrame *src = motus_test_frame(width, height), *dst = motus_test_frame(to_width, to_height);
    EXPECT_OK(motus_frame_copy_padded(dst, src));
    int wrong = 0;
    for (int i = 0; i < 3; i++) {
        const MotusPlane *s = &src->plane[i], *d = &dst->plane[i];
        for (int y = 0; y < d->height; y++)
            for (int x = 0; x < d->width; x++)
                wrong +=
                    d->data[y * d->stride + x] !=
                    s->data[motus_min(y, s->height - 1) * s->stride + motus_min(x, s->width - 1)];
    }
    MOTUS_CHECK(!wrong, "%dx%d to %dx%d: %d samples", width, height, to_width, to_height, wrong);
    if (to_width > width) CU_ASSERT_EQUAL(motus_frame_copy_padded(src, dst), MOTUS_ERR_ARGUMENT);
    motus_frame_unref(&src);
    motus_frame_unref(&dst);
}

static void padding(void) {
    check_padding(1, 1, 16, 16);
    check_padding(16, 16, 16, 16);
    check_padding(17, 15, 17, 16);
    for (int i = 0; i < 100; i++) {
        int width = motus_test_range(1, 100), height = motus_test_range(1, 80);
        check_padding(width, height, motus_mbs(width) * 16, motus_mbs(height) * 16);
        check_padding(width, height, width + motus_test_range(0, 40),
                      height + motus_test_range(0, 40));
    }
}

// Returns a plane of the kind: 0 noise, 1 black, 2 white, 3 checkerboard, 4 ramp. No bytes follow
// its last sample.
static MotusPlane make_plane(int width, int height, int kind) {
    int stride = width + motus_test_range(0, 9);
    MotusPlane p = {motus_test_guarded((size_t)stride * (size_t)(height - 1) + (size_t)width),
                    stride, width, height};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int values[5] = {(int)(motus_test_random() >> 24), 0, 255, ((x ^ y) & 1) * 255,
                                   100 + (x + y) % 7};
            p.data[y * p.stride + x] = (uint8_t)values[kind];
        }
    return p;
}

static uint64_t naive_ssd(const MotusPlane *a, const MotusPlane *b) {
    uint64_t sum = 0;
    for (int y = 0; y < a->height; y++)
        for (int x = 0; x < a->width; x++) {
            int64_t d = (int64_t)a->data[y * a->stride + x] - b->data[y * b->stride + x];
            sum += (uint64_t)(d * d);
        }
    return sum;
}

// SSIM of the 8x8 window at (x, y) from means, unbiased variances and covariance.
static double naive_window(const MotusPlane *a, const MotusPlane *b, int x0, int y0) {
    double ma = 0, mb = 0, va = 0, vb = 0, cov = 0;
    for (int i = 0; i < 64; i++) {
        ma += a->data[(y0 + i / 8) * a->stride + x0 + i % 8] / 64.0;
        mb += b->data[(y0 + i / 8) * b->stride + x0 + i % 8] / 64.0;
    }
    for (int i = 0; i < 64; i++) {
        double da = a->data[(y0 + i / 8) * a->stride + x0 + i % 8] - ma,
               db = b->data[(y0 + i / 8) * b->stride + x0 + i % 8] - mb;
        va += da * da / 63;
        vb += db * db / 63;
        cov += da * db / 63;
    }
    const double c1 = 6.5025, c2 = 58.5225; // (0.01 * 255)^2, (0.03 * 255)^2
    return (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

static double naive_ssim(const MotusPlane *a, const MotusPlane *b) {
    double sum = 0;
    int n = 0;
    for (int y = 0; y + 8 <= a->height; y += 4)
        for (int x = 0; x + 8 <= a->width; x += 4, n++) sum += naive_window(a, b, x, y);
    return sum / n;
}

static void check_metrics(int width, int height, int kind_a, int kind_b) {
    MotusPlane a = make_plane(width, height, kind_a), b = make_plane(width, height, kind_b);
    MOTUS_CHECK(motus_plane_ssd(&a, &b, width, height) == naive_ssd(&a, &b), "%dx%d kinds %d %d",
                width, height, kind_a, kind_b);
    double ssim = motus_plane_ssim(&a, &b, width, height);
    int equal = !naive_ssd(&a, &b);
    double want = width < 8 || height < 8 ? equal : naive_ssim(&a, &b);
    // The integer form rounds its constants: c1 by 0.16 of 416, c2 by 0.3 of 235963.
    MOTUS_CHECK(fabs(ssim - want) < 1e-3 && (!equal || ssim == 1),
                "%dx%d kinds %d %d: %.9f, not %.9f", width, height, kind_a, kind_b, ssim, want);
    MOTUS_CHECK(motus_plane_ssim(&a, &a, width, height) == 1.0, "%dx%d kind %d", width, height,
                kind_a);
    CU_ASSERT(motus_test_guard_ok(a.data) && motus_test_guard_ok(b.data));
    motus_test_guard_free(a.data);
    motus_test_guard_free(b.data);
}

static void metrics(void) {
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) check_metrics(64, 48, a, b);
    check_metrics(7, 100, 0, 0);
    check_metrics(8, 8, 0, 0);
    check_metrics(MOTUS_MAX_SIZE, 2, 1, 2); // the largest row sum
    for (int i = 0; i < 60; i++)
        check_metrics(motus_test_range(1, 600), motus_test_range(1, 70), i % 5, i / 5 % 5);
}

static void psnr(void) {
    CU_ASSERT_EQUAL(motus_psnr(0, 100), 100);
    CU_ASSERT_DOUBLE_EQUAL(motus_psnr(65025 * 100, 100), 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(motus_psnr(100, 100), 48.130803608679, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(motus_psnr((uint64_t)65025 << 32, (uint64_t)1 << 40), 24.082399653118,
                           1e-9);
}

static void failing_allocations(void) {
    MotusFrame *f = NULL;
    uint8_t samples[64];
    uint8_t *const data[3] = {samples, samples, samples};
    const ptrdiff_t stride[3] = {4, 4, 4};
    motus_alloc_fail_after(0);
    CU_ASSERT(motus_frame_alloc(&f, 64, 64) == MOTUS_ERR_MEMORY && !f);
    motus_alloc_fail_after(0);
    CU_ASSERT(motus_frame_wrap(&f, 4, 4, data, stride, NULL, NULL) == MOTUS_ERR_MEMORY && !f);
    motus_alloc_fail_after(-1);
}

// A cropped frame shares the samples of the whole and keeps it alive; a larger crop is refused.
static void parts(void) {
    MotusFrame *whole = NULL, *part = NULL;
    REQUIRE_OK(motus_frame_alloc(&whole, 33, 17));
    CU_ASSERT_EQUAL(motus_frame_crop(&part, whole, 34, 16), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_frame_crop(&part, whole, 32, 18), MOTUS_ERR_ARGUMENT);
    CU_ASSERT(!motus_frame_shared(whole) && !part);
    whole->number = 7;
    REQUIRE_OK(motus_frame_crop(&part, whole, 32, 16));
    CU_ASSERT(motus_frame_shared(whole) && !motus_frame_shared(part) && part->number == 7);
    whole->plane[2].data[7 * whole->plane[2].stride + 15] = 99;
    motus_frame_unref(&whole);
    CU_ASSERT(part->width == 32 && part->plane[2].width == 16 && part->plane[2].height == 8);
    CU_ASSERT_EQUAL(part->plane[2].data[7 * part->plane[2].stride + 15], 99);
    motus_frame_unref(&part);
}

MOTUS_SUITE("yuv", TEST(frame_shapes), TEST(frame_references), TEST(padding), TEST(parts),
            TEST(metrics), TEST(psnr), TEST(failing_allocations))
