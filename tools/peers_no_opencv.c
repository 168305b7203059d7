// A build without OpenCV.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/peers_opencv.h"

const char *motus_opencv_version(void) { return NULL; }

MotusStatus motus_opencv_run(const MotusSeed *seed, const void *in, void *out, void *scratch, int threads) {
    (void)seed, (void)in, (void)out, (void)scratch, (void)threads;
    return MOTUS_ERR_UNSUPPORTED;
}
