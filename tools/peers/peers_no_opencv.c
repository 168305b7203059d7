// A build without OpenCV.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/peers/peers_opencv.h"

const char *motus_opencv_version(void) { return NULL; }

MotusStatus motus_opencv_run(const MotusFilterJob *job, const void *in, void *out, void *scratch,
                             int threads) {
    (void)job, (void)in, (void)out, (void)scratch, (void)threads;
    return MOTUS_ERR_UNSUPPORTED;
}
