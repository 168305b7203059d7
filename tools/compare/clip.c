// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/run.h"

#include <stdio.h>

#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/input.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"
#include "yuv/io/writer.h"

// Copies the rest of the input; frames lose an odd row or column.
static MotusStatus copy_frames(MotusInput *in, MotusWriter *writer, MotusCompareClip *clip,
                               MotusError *error) {
    MotusFrame *frame = NULL;
    MotusStatus status;
    while (!(status = motus_input_next(in, &frame, error))) {
        MotusFrame *part = NULL;
        status = motus_frame_crop(&part, frame, clip->width, clip->height);
        motus_frame_unref(&frame);
        if (status) return motus_fail(error, status, "cropping: %s", motus_status_text(status));
        status = motus_writer_put(writer, part, error);
        motus_frame_unref(&part);
        if (status) return status;
        clip->frames++;
    }
    return status == MOTUS_END ? MOTUS_OK : status;
}

static MotusStatus write_clip(MotusCompareClip *clip, MotusInput *in, const char *input,
                              MotusError *error) {
    MotusSequenceInfo info = *motus_reader_info(in->reader);
    clip->width = info.width &= ~1;
    clip->height = info.height &= ~1;
    clip->fps = info.fps;
    clip->full_range = info.colour.full_range == 1;
    if (!info.width || !info.height)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: is too small: H.264 4:2:0 begins at 2x2", motus_shown(input));
    MotusWriter *writer = NULL;
    MotusStatus status = motus_writer_open(&writer, clip->path, &info, error);
    if (!status) status = copy_frames(in, writer, clip, error);
    if (!status && motus_signal_caught()) status = motus_fail(error, MOTUS_END, "interrupted");
    if (!status && clip->frames < 2)
        status = motus_fail(error, MOTUS_ERR_TRUNCATED,
                            "%s: has %s: without a second frame there is no P picture to compare",
                            motus_shown(input), clip->frames ? "one frame only" : "no frame");
    if (!status) status = motus_writer_commit(&writer, error);
    motus_writer_abandon(&writer);
    if (!status && in->cut) motus_warn("%s", in->warning.text);
    return status;
}

MotusStatus motus_compare_clip_make(MotusCompareClip *clip, const MotusWorkFolder *folder,
                                    const char *input, int limit, MotusError *error) {
    *clip = (MotusCompareClip){.path = folder->clip};
    MotusInput in = {.limit = limit};
    MotusStatus status =
        motus_reader_open(&in.reader, input, &(MotusReaderOptions){.log = motus_print_log}, error);
    if (!status) status = write_clip(clip, &in, input, error);
    motus_reader_close(&in.reader);
    return status;
}

MotusStatus motus_clip_frames_open(MotusClipFrames *frames, const MotusCompareClip *clip,
                                   MotusError *error) {
    *frames = (MotusClipFrames){0};
    return motus_reader_open(&frames->reader, clip->path, &(MotusReaderOptions){0}, error);
}

MotusStatus motus_clip_frames_next(void *opaque, int n, const MotusFrame **frame,
                                   MotusError *error) {
    MotusClipFrames *frames = opaque;
    (void)n;
    motus_frame_unref(&frames->frame);
    MotusStatus status = motus_reader_next(frames->reader, &frames->frame, error);
    *frame = frames->frame;
    return status;
}

void motus_clip_frames_close(MotusClipFrames *frames) {
    motus_frame_unref(&frames->frame);
    motus_reader_close(&frames->reader);
}
