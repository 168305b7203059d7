// Without libavcodec there are no PNG files.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/png.h"

MotusStatus motus_png_write(const char *path, const MotusPlane *picture, int channels, MotusError *error) {
    (void)picture, (void)channels;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: this build has no PNG encoder (libavcodec was not found)",
                      motus_shown(path));
}
