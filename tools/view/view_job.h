// Reads the pictures of one or two sources and draws them: one as a PNG, or all as a video.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_VIEW_JOB_H
#define TOOLS_VIEW_VIEW_JOB_H

#include "tools/view/view.h"

typedef struct MotusViewJob {
    MotusViewSource source[MOTUS_VIEW_PANES];
    int n; // sources
    const char *output;
    int frame, frames; // the first picture; of a video: most pictures, 0: all
    MotusViewStyle style;
    int zoom, stretch; // as motus_view_layout
    int needs_stream;  // the first source must have H.264
    int threads, quiet;
} MotusViewJob;

// Draws picture job->frame.
MotusStatus motus_view_png(const MotusViewJob *job, MotusError *error);

// Draws all pictures from job->frame on, until a source ends or a signal comes, as H.264 in a
// container of `format`, a MotusFormat. Lengths and colours have the scale of the first pictures.
MotusStatus motus_view_video(const MotusViewJob *job, int format, MotusError *error);

#endif
