// What every GPU suite asks first.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GPU_H
#define TESTS_GPU_H

#include "motus/backend.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

// 1 when the CUDA backend can run here. Else marks the running test as skipped, or as failed under
// MOTUS_REQUIRE_GPU=1, and returns 0.
static inline int motus_test_has_gpu(void) {
    MotusBackend chosen;
    MotusStatus status = motus_backend_choose(MOTUS_BACKEND_CUDA, &chosen);
    if (status == MOTUS_OK) return 1;
    const char *required = getenv("MOTUS_REQUIRE_GPU");
    if (required && !strcmp(required, "1"))
        MOTUS_CHECK(0, "MOTUS_REQUIRE_GPU=1, but the CUDA backend says: %s",
                    motus_status_text(status));
    else
        motus_test_skip(motus_status_text(status));
    return 0;
}

#endif
