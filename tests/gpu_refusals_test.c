// What the CUDA filters refuse, and that an equalizer whose run failed half way says so from then on.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"
#include "motus/filter_cuda.h"
#include "motus/upload.h"
#include "tests/gpu.h"

enum { WIDTH = 64, HEIGHT = 48 };

// Lets the n-th CUDA call of a run fail, for every n up to success.
static void failed_equalizers_stay_so(void) {
    if (!motus_test_has_gpu()) return;
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(motus_cuda_alloc(&memory, WIDTH * HEIGHT, NULL), MOTUS_OK);
    const MotusPlane plane = {memory, WIDTH, WIDTH, HEIGHT};
    for (int tiles = 0; tiles < 2; tiles++) {
        const MotusEqualizeConfig config = tiles ? motus_equalize_config_clahe() : motus_equalize_config_default();
        int failures = 0;
        for (int done = 0; !done; failures += !done) {
            MotusCudaEqualizer *equalizer = NULL;
            MotusError error = {0}, again = {0};
            CU_ASSERT_EQUAL_FATAL(motus_cuda_equalizer_open(&equalizer, &config, WIDTH, HEIGHT, NULL), MOTUS_OK);
            motus_device_fail_after(failures);
            MotusStatus status = motus_cuda_equalizer_run(equalizer, &plane, &plane, NULL, &error);
            motus_device_fail_after(-1);
            done = !status;
            MOTUS_CHECK(done || (status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error")), "n=%d: %d %s", failures,
                        status, error.text);
            status = motus_cuda_equalizer_run(equalizer, &plane, &plane, NULL, &again);
            MOTUS_CHECK(status == error.status && !strcmp(error.text, again.text), "n=%d: %d %s", failures, status, again.text);
            motus_cuda_equalizer_close(&equalizer);
        }
        MOTUS_CHECK(failures >= 2, "%d", failures); // launches
    }
    motus_cuda_free(memory);
}

static const MotusTest tests[] = {{"failed_equalizers_stay_so", failed_equalizers_stay_so}, {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_refusals", tests, argc, argv); }
