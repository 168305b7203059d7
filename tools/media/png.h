// 8-bit PNG files, through libavcodec where it was found.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_PNG_H
#define TOOLS_MEDIA_PNG_H

#include "motus/frame.h"

// Writes a picture of `channels` 1 (grey) or 3 (RGB24, a plane of 3 * pixels a row).
// MOTUS_ERR_UNSUPPORTED: this build has no PNG encoder.
MotusStatus motus_png_write(const char *path, const MotusPlane *picture, int channels,
                            MotusError *error);

#endif
