// What the CUDA filters refuse, and that an equalizer whose run failed half way says so from then
// on.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/filter_cuda.h"
#include "motus/upload.h"
#include "tests/gpu/gpu.h"

enum { WIDTH = 64, HEIGHT = 48 };

// Lets the n-th CUDA call of a run fail, for every n up to success.
static void failed_equalizers_stay_so(void) {
    if (!motus_test_has_gpu()) return;
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(motus_cuda_alloc(&memory, WIDTH * HEIGHT, NULL), MOTUS_OK);
    const MotusPlane plane = {memory, WIDTH, WIDTH, HEIGHT};
    for (int tiles = 0; tiles < 2; tiles++) {
        const MotusEqualizeConfig config =
            tiles ? motus_equalize_config_clahe() : motus_equalize_config_default();
        int failures = 0;
        for (int done = 0; !done; failures += !done) {
            MotusCudaEqualizer *equalizer = NULL;
            MotusError error = {0}, again = {0};
            CU_ASSERT_EQUAL_FATAL(
                motus_cuda_equalizer_open(&equalizer, &config, WIDTH, HEIGHT, NULL), MOTUS_OK);
            motus_device_fail_after(failures);
            MotusStatus status = motus_cuda_equalizer_run(equalizer, &plane, &plane, NULL, &error);
            motus_device_fail_after(-1);
            done = !status;
            MOTUS_CHECK(done || (status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error")),
                        "n=%d: %d %s", failures, status, error.text);
            status = motus_cuda_equalizer_run(equalizer, &plane, &plane, NULL, &again);
            MOTUS_CHECK(status == error.status && !strcmp(error.text, again.text), "n=%d: %d %s",
                        failures, status, again.text);
            motus_cuda_equalizer_close(&equalizer);
        }
        MOTUS_CHECK(failures >= 2, "%d", failures); // launches
    }
    motus_cuda_free(memory);
}

// A frame and an RGB24 picture of one size with its planes, at addresses that are never touched.
typedef struct Pictures {
    MotusFrame frame;
    MotusPlane rgb, channel[3];
} Pictures;

static Pictures pictures(void) {
    Pictures p = {.frame = {.width = WIDTH, .height = HEIGHT}};
    uint8_t *nowhere = (uint8_t *)4096;
    p.rgb = (MotusPlane){nowhere, 3 * WIDTH, 3 * WIDTH, HEIGHT};
    for (int k = 0; k < 3; k++) {
        p.frame.plane[k] =
            (MotusPlane){nowhere, WIDTH, k ? WIDTH / 2 : WIDTH, k ? HEIGHT / 2 : HEIGHT};
        p.channel[k] = (MotusPlane){nowhere, WIDTH, WIDTH, HEIGHT};
    }
    return p;
}

static void refused(MotusStatus status, const char *call, int plane, int bad) {
    MOTUS_CHECK(status == MOTUS_ERR_ARGUMENT, "%s, plane %d, case %d: %s", call, plane, bad,
                motus_status_name(status));
}

// No address, an odd one and an odd stride, in each plane in turn: 0..2 of the frame, 3 RGB24, 4..6
// its planes.
static void bad_planes_are_refused(void) {
    if (!motus_test_has_gpu()) return;
    const MotusEqualizeConfig config = motus_equalize_config_default();
    MotusCudaEqualizer *equalizer = NULL;
    MotusCudaRgbEqualizer *rgb = NULL;
    CU_ASSERT_EQUAL_FATAL(motus_cuda_equalizer_open(&equalizer, &config, WIDTH, HEIGHT, NULL),
                          MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_cuda_rgb_equalizer_open(&rgb, &config, WIDTH, HEIGHT, 0, 0, NULL),
                          MOTUS_OK);
    for (int plane = 0; plane < 7; plane++)
        for (int bad = 0; bad < 3; bad++) {
            const Pictures good = pictures();
            Pictures p = pictures();
            MotusPlane *spoilt = plane < 3    ? &p.frame.plane[plane]
                                 : plane == 3 ? &p.rgb
                                              : &p.channel[plane - 4];
            if (bad == 2)
                spoilt->stride += 8;
            else
                spoilt->data = bad ? spoilt->data + 8 : NULL;
            if (plane <= 3) {
                refused(motus_cuda_rgb24_to_frame(&p.frame, &p.rgb, 0, 0, NULL, NULL),
                        "rgb24_to_frame", plane, bad);
                refused(motus_cuda_frame_to_rgb24(&p.rgb, &p.frame, 0, 0, NULL, NULL),
                        "frame_to_rgb24", plane, bad);
            }
            if (plane >= 3) {
                refused(motus_cuda_rgb24_split(p.channel, &p.rgb, NULL, NULL), "split", plane, bad);
                refused(motus_cuda_rgb24_join(&p.rgb, p.channel, NULL, NULL), "join", plane, bad);
            }
            if (plane < 3) {
                refused(motus_cuda_rgb_equalizer_run(rgb, &p.frame, &good.frame, NULL, NULL),
                        "to the frame", plane, bad);
                refused(motus_cuda_rgb_equalizer_run(rgb, &good.frame, &p.frame, NULL, NULL),
                        "from the frame", plane, bad);
            }
            if (plane > 3) {
                refused(motus_cuda_equalizer_run(equalizer, spoilt, &good.channel[0], NULL, NULL),
                        "to the plane", plane, bad);
                refused(motus_cuda_equalizer_run(equalizer, &good.channel[0], spoilt, NULL, NULL),
                        "from the plane", plane, bad);
            }
        }
    motus_cuda_rgb_equalizer_close(&rgb);
    motus_cuda_equalizer_close(&equalizer);
}

static const MotusTest tests[] = {{"bad_planes_are_refused", bad_planes_are_refused},
                                  {"failed_equalizers_stay_so", failed_equalizers_stay_so},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_refusals", tests, argc, argv); }
