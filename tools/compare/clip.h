// The input as both encoders get it: a .y4m file of its first frames, cropped to an even size, in
// the temporary folder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_CLIP_H
#define TOOLS_COMPARE_CLIP_H

#include "tools/x264/programs.h"
#include "yuv/io/reader.h"

typedef struct MotusCompareClip {
    const char *path; // belongs to the folder
    int width, height, frames, full_range;
    MotusRational fps;
} MotusCompareClip;

// Copies the input's first `limit` frames (0: all) to folder->clip. MOTUS_ERR_TRUNCATED: fewer than
// two frames. MOTUS_END: a signal.
MotusStatus motus_compare_clip_make(MotusCompareClip *clip, const MotusWorkFolder *folder,
                                    const char *input, int limit, MotusError *error);

// Reader of the clip's frames. motus_clip_frames_next is a MotusSourceFrame (tools/x264/x264.h)
// with the reader as `opaque`.
typedef struct MotusClipFrames {
    MotusReader *reader;
    MotusFrame *frame; // returned last
} MotusClipFrames;

MotusStatus motus_clip_frames_open(MotusClipFrames *frames, const MotusCompareClip *clip,
                                   MotusError *error);
MotusStatus motus_clip_frames_next(void *opaque, int n, const MotusFrame **frame,
                                   MotusError *error);
void motus_clip_frames_close(MotusClipFrames *frames);

#endif
