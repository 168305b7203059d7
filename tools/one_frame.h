// What the commands that show one picture share: its luma plane, and planes side by side.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ONE_FRAME_H
#define TOOLS_ONE_FRAME_H

#include "yuv/reader.h"

// Reads frame `number` of a video or picture; the caller unrefs it.
MotusStatus motus_frame_read(MotusFrame **frame, const char *path, int number, const int size[2], MotusError *error);

// An owned plane without gaps between rows; data NULL: no memory.
MotusPlane motus_plane_new(int width, int height);
void motus_plane_free(MotusPlane *plane);

// Copies src into dst at (x, y); it must fit.
void motus_plane_paste(const MotusPlane *dst, const MotusPlane *src, int x, int y);

// |v| on a logarithmic scale: 0 at 0, 255 at `most`.
uint8_t motus_log_shade(double v, double most);

// Writes the planes side by side as DIR/NAME, a PNG, with grey lines between.
MotusStatus motus_strip_write(const char *directory, const char *name, const MotusPlane *planes, int n, MotusError *error);

#endif
