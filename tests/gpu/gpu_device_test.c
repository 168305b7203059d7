// The CUDA backend is there and AUTO takes it.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/gpu/gpu.h"

static void auto_takes_cuda(void) {
    if (!motus_test_has_gpu()) return;
    MotusBackend chosen = MOTUS_BACKEND_AUTO;
    CU_ASSERT_EQUAL(motus_backend_choose(MOTUS_BACKEND_AUTO, &chosen), MOTUS_OK);
    CU_ASSERT_EQUAL(chosen, MOTUS_BACKEND_CUDA);
}

static const MotusTest tests[] = {{"auto_takes_cuda", auto_takes_cuda}, {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_device", tests, argc, argv); }
