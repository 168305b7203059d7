// Stands in for media.c in builds without libavformat.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "yuv/reader_ops.h"

MotusStatus motus_media_open(MotusReader *reader, const char *path, int threads, MotusError *error) {
    (void)path;
    (void)threads;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      "%s: is neither 8-bit 4:2:0 .y4m nor .yuv, and this build (without libavformat) reads nothing else",
                      reader->name);
}
