// What the commands that show one picture share: its luma plane, and planes side by side.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTER_ONE_FRAME_H
#define TOOLS_FILTER_ONE_FRAME_H

#include "tools/cli/options.h"
#include "yuv/io/reader.h"

// What all of them are given.
typedef struct MotusOneFrame {
    const char *input, *output; // video or picture; directory for pictures
    int frame, size[2], threads;
} MotusOneFrame;

#define MOTUS_ONE_FRAME_OPTIONS 4 // of a command's own, at most

// Shows the frame as pictures in the directory.
typedef MotusStatus MotusShowFrame(void *opaque, const MotusFrame *frame, MotusError *error);

// The whole of such a command: reads the command line into `o` and the values of its `own` options
// (the list ends with a NULL name), reads the frame and shows it. Returns the exit status.
int motus_one_frame_command(const char *name, const char *about, const MotusOption *own,
                            MotusOneFrame *o, MotusShowFrame *show, void *opaque, int argc,
                            char **argv);

// An owned plane without gaps between rows; data NULL: no memory.
MotusPlane motus_plane_new(int width, int height);
void motus_plane_free(MotusPlane *plane);

// Copies src into dst at (x, y); it must fit.
void motus_plane_paste(const MotusPlane *dst, const MotusPlane *src, int x, int y);

// |v| on a logarithmic scale: 0 at 0, 255 at `most`.
uint8_t motus_log_shade(double v, double most);

// Writes the planes side by side as DIR/NAME, a PNG, with grey lines between.
MotusStatus motus_strip_write(const char *directory, const char *name, const MotusPlane *planes,
                              int n, MotusError *error);

#endif
