// Sequence readers: one frame at a time from .y4m, headerless .yuv, or (where libavformat was
// found) any other video file.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_READER_H
#define YUV_IO_READER_H

#include "motus/frame.h"

typedef struct MotusReader MotusReader;

// What becomes of interlaced pictures: AUTO deinterlaces those that say so, ON all, OFF none.
typedef enum MotusDeinterlace {
    MOTUS_DEINTERLACE_AUTO,
    MOTUS_DEINTERLACE_OFF,
    MOTUS_DEINTERLACE_ON
} MotusDeinterlace;

// Told by a reader when it happens, one line that names the file. A note says what was done to the
// pictures, a warning that something is lost.
typedef enum MotusTold { MOTUS_TOLD_NOTE, MOTUS_TOLD_WARNING } MotusTold;
typedef void MotusTell(void *opaque, MotusTold kind, const char *line);

typedef struct MotusReaderOptions {
    int width, height; // of headerless .yuv (both 0: not given); must agree with the header of
                       // files that have one
    MotusRational fps; // of headerless .yuv, or to override; num 0: not given
    int threads;       // for decoders; 0 = automatic
    int pinned; // 1: frames are to lie in pinned memory where there is such memory (.y4m and .yuv):
                // a GPU takes them several times as fast
    int luma_only; // 1: chroma is not wanted; of .y4m and .yuv it is not read
    MotusDeinterlace deinterlace;
    int with_side_streams; // keep the container's audio and subtitles for motus_media_side_packet
                           // (yuv/io/media.h)
    MotusTell *tell;       // NULL: nobody listens
    // What else there is to do while an input that is no file has nothing to read: called every few
    // milliseconds until it returns 0, or -1 where reading is to end as if a signal had interrupted
    // it. It may neither read nor wait long. NULL: reading just waits.
    int (*idle)(void *opaque);
    void *opaque;             // for both
    int (*interrupted)(void); // whether a signal came: ends libavformat's waiting for more of a
                              // playlist. NULL: never
} MotusReaderOptions;

typedef struct MotusSequenceInfo {
    int width, height;
    MotusRational
        fps; // pictures per second, on average where `variable`; 25/1 where the input does not say
    int64_t frames; // how many frames to expect (from the file's length or the container); -1 =
                    // unknown (pipes)
    MotusColour colour;
    const char *format;      // "y4m", "yuv", or the container's name; lives as long as the reader
    MotusRational time_base; // seconds, of motus_reader_time
    int variable;            // pictures do not follow each other at one rate
    int rotation; // degrees clockwise that players turn the picture by, 0, 90, 180, 270; the
                  // samples are as stored
} MotusSequenceInfo;

// When a frame is shown.
typedef struct MotusTime {
    int64_t at, duration; // in units of info.time_base; `at` grows from frame to frame
} MotusTime;

// What was wrong with the input, so far.
typedef struct MotusDamage {
    int64_t packets;  // that the decoder could not use
    int64_t pictures; // that were decoded with errors or concealment
    int64_t missing;  // that the container counts or its times show, but that did not come
    int64_t places;   // in the container that could not be parsed
    int cut;          // the input ends before its time
} MotusDamage;

// Opens `path` ("-" is standard input: y4m, or yuv when a size is given). The kind is found by
// content (y4m's magic), then by the name's ending (.yuv), then libavformat is asked (also for y4m
// that is not 8-bit 4:2:0). Directories, empty files, cut headers, absurd sizes are refused with a
// clear line in *error. A read that a signal interrupts (handler without SA_RESTART) ends in
// MOTUS_ERR_IO.
MotusStatus motus_reader_open(MotusReader **reader, const char *path,
                              const MotusReaderOptions *options, MotusError *error);

const MotusSequenceInfo *motus_reader_info(const MotusReader *reader);

// Time of a frame that was handed out: of the last MOTUS_READER_TIMES ones, by frame->number; and
// of frame 0, as soon as it was read or skipped.
#define MOTUS_READER_TIMES 64
MotusTime motus_reader_time(const MotusReader *reader, int64_t number);
int64_t motus_reader_start(const MotusReader *reader);

MotusDamage motus_reader_damage(const MotusReader *reader);

// Reads the next frame into *frame (a new reference; the caller unrefs). MOTUS_END after the last
// whole frame. MOTUS_ERR_TRUNCATED: the input ends inside a frame (the whole frames before have
// been handed out).
MotusStatus motus_reader_next(MotusReader *reader, MotusFrame **frame, MotusError *error);

// The same in two steps, so that several threads read frames of a file at the same time. The first,
// by one thread at a time, finds the next frame and makes room for it; *at: where in the file its
// samples lie, or -1 where they are in place. The second, by any number of threads, reads them;
// after a failure, with the errors of motus_reader_next, the frame is to be dropped, and so are
// those behind it.
MotusStatus motus_reader_begin(MotusReader *reader, MotusFrame **frame, int64_t *at,
                               MotusError *error);
MotusStatus motus_reader_fill(const MotusReader *reader, MotusFrame *frame, int64_t at,
                              MotusError *error);

// Skips n frames (seeks where the file allows). MOTUS_END when there are fewer.
MotusStatus motus_reader_skip(MotusReader *reader, int64_t n, MotusError *error);

void motus_reader_close(MotusReader **reader);

#endif
