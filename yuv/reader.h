// Sequence readers: one frame at a time from .y4m, headerless .yuv, or (where libavformat was found) any other video file.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_READER_H
#define YUV_READER_H

#include "motus/frame.h"

typedef struct MotusReader MotusReader;

typedef struct MotusReaderOptions {
    int width, height; // of headerless .yuv (both 0: not given); must agree with the header of files that have one
    MotusRational fps; // of headerless .yuv, or to override; num 0: not given
    int threads;       // for decoders; 0 = automatic
} MotusReaderOptions;

typedef struct MotusSequenceInfo {
    int width, height;
    MotusRational fps; // 25/1 where the input does not say
    int64_t frames;    // how many frames to expect (from the file's length or the container); -1 = unknown (pipes)
    MotusColour colour;
    const char *format; // "y4m", "yuv", or the container's name; lives as long as the reader
} MotusSequenceInfo;

// Opens `path` ("-" is standard input: y4m, or yuv when a size is given). The kind is found by content (y4m's magic), then by the name's
// ending (.yuv), then libavformat is asked (also for y4m that is not 8-bit 4:2:0). Directories, empty files, cut headers, interlaced y4m, absurd
// sizes are refused with a clear line in *error. A read that a signal interrupts (handler without SA_RESTART) ends in MOTUS_ERR_IO.
MotusStatus motus_reader_open(MotusReader **reader, const char *path, const MotusReaderOptions *options, MotusError *error);

const MotusSequenceInfo *motus_reader_info(const MotusReader *reader);

// Reads the next frame into *frame (a new reference; the caller unrefs). MOTUS_END after the last whole frame.
// MOTUS_ERR_TRUNCATED: the input ends inside a frame (the whole frames before have been handed out).
MotusStatus motus_reader_next(MotusReader *reader, MotusFrame **frame, MotusError *error);

// Skips n frames (seeks where the file allows). MOTUS_END when there are fewer.
MotusStatus motus_reader_skip(MotusReader *reader, int64_t n, MotusError *error);

void motus_reader_close(MotusReader **reader);

#endif
