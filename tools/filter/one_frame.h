// Commands that show one frame as pictures: the shared command line, and planes side by side.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTER_ONE_FRAME_H
#define TOOLS_FILTER_ONE_FRAME_H

#include "tools/cli/options.h"
#include "tools/media/png.h"
#include "yuv/io/reader.h"

// Options that all of them have.
typedef struct MotusOneFrame {
    const char *input, *output; // video or picture; directory for pictures
    int frame, size[2], threads;
} MotusOneFrame;

#define MOTUS_ONE_FRAME_OPTIONS 4 // most options of a command's own

// Shows the frame as pictures in the directory.
typedef MotusStatus MotusShowFrame(void *opaque, const MotusFrame *frame, MotusError *error);

// Runs such a command: parses the command line into `o` and the command's `own` options (which end
// with a NULL name), reads the frame and shows it. Returns the exit status.
int motus_one_frame_command(const char *name, const char *about, const MotusOption *own,
                            MotusOneFrame *o, MotusShowFrame *show, void *opaque, int argc,
                            char **argv);

// Maps |v| to a logarithmic scale: 0 at 0, 255 at `most`.
uint8_t motus_log_shade(double v, double most);

// Writes the planes side by side as DIR/NAME, a PNG, with grey lines between them.
MotusStatus motus_strip_write(const char *directory, const char *name, const MotusPlane *planes,
                              int n, MotusError *error);

#endif
