// Planes to draw on, and 8-bit PNG files of them (through libavcodec).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_PNG_H
#define TOOLS_MEDIA_PNG_H

#include "motus/frame.h"

// Allocates a plane without gaps between rows, all 0; data NULL: no memory.
MotusPlane motus_plane_alloc(int width, int height);
void motus_plane_free(MotusPlane *plane);

// Copies src into dst at (x, y); it must fit.
void motus_plane_paste(const MotusPlane *dst, const MotusPlane *src, int x, int y);

// Writes a picture of `channels` 1 (grey) or 3 (RGB24, a plane of 3 * pixels a row).
// MOTUS_ERR_UNSUPPORTED: there is no PNG encoder.
MotusStatus motus_png_write(const char *path, const MotusPlane *picture, int channels,
                            MotusError *error);

#endif
