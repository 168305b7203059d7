// Sequence readers: one frame at a time from .y4m, headerless .yuv, or (through libavformat) any
// other video file.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_READER_H
#define YUV_IO_READER_H

#include "motus/frame.h"

typedef struct MotusReader MotusReader;

// Deinterlacing: AUTO of pictures that are marked as interlaced, ON of all, OFF of none.
typedef enum MotusDeinterlace {
    MOTUS_DEINTERLACE_AUTO,
    MOTUS_DEINTERLACE_OFF,
    MOTUS_DEINTERLACE_ON
} MotusDeinterlace;

// A line about the input, which begins with its name. Note: for information. Loss: the output lacks
// something that the input has. Warning: the input is damaged, or an output.
typedef enum MotusLogLevel { MOTUS_LOG_NOTE, MOTUS_LOG_LOSS, MOTUS_LOG_WARNING } MotusLogLevel;
typedef void MotusLogCallback(void *opaque, MotusLogLevel level, const char *line);

typedef struct MotusReaderOptions {
    int width, height; // of headerless .yuv, 0: not given; must agree with a header if there is one
    MotusRational fps; // of headerless .yuv, or instead of the input's; num 0: not given
    int threads;       // of decoders; 0 = automatic
    int pinned;        // 1: frames of .y4m and .yuv in pinned host memory, if possible
    int luma_only;     // 1: chroma is not needed; that of .y4m and .yuv is not read
    MotusDeinterlace deinterlace;
    int with_side_streams; // 1: keep audio and subtitles for motus_media_side_packet (media.h)
    MotusLogCallback *log; // may be NULL
    // Called every few milliseconds while a pipe has nothing to read, until it returns 0. -1: end
    // the read as a signal would. It must neither read nor block long. May be NULL.
    int (*idle)(void *opaque);
    void *opaque;             // for log and idle
    int (*interrupted)(void); // true once a signal came: ends libavformat's waiting. May be NULL
} MotusReaderOptions;

// Damage of the input so far.
typedef struct MotusDamage {
    int64_t lost;             // pictures that could not be decoded
    int64_t repaired;         // pictures decoded with errors or concealment
    int64_t missing;          // pictures that the container counts, or its times show
    int64_t container_errors; // places that could not be parsed
    int cut;                  // the input ends early
} MotusDamage;

typedef struct MotusSequenceInfo {
    int width, height;
    MotusRational fps; // pictures per second, the average if `variable`; 25/1 if unknown
    int64_t frames;    // expected, by the file's length or the container; -1 = unknown (pipes)
    MotusColour colour;
    const char *format;      // "y4m", "yuv", or the container's name; valid as long as the reader
    MotusRational time_base; // seconds, unit of motus_reader_time
    int variable;            // pictures have no constant rate
    int rotation;  // by players, degrees clockwise: 0, 90, 180, 270; samples are as stored
    int64_t start; // time of frame 0, once it has been read or skipped
    MotusDamage damage;
} MotusSequenceInfo;

// Display time of a frame in units of info.time_base; `at` grows from frame to frame.
typedef struct MotusTime {
    int64_t at, duration;
} MotusTime;

// Opens `path`; "-" is standard input (y4m, or yuv if a size is given). The kind is found by
// content (y4m's magic), then by the ending (.yuv); the rest goes to libavformat, and y4m that is
// not 8-bit 4:2:0. Directories, empty files, cut headers and absurd sizes are refused. A read that
// a signal interrupts (handler without SA_RESTART) ends with MOTUS_ERR_IO.
MotusStatus motus_reader_open(MotusReader **reader, const char *path,
                              const MotusReaderOptions *options, MotusError *error);

// Returns the facts of the sequence, `start` and `damage` as of now.
const MotusSequenceInfo *motus_reader_info(const MotusReader *reader);

// Returns the time of one of the last MOTUS_READER_TIMES frames handed out, by frame->number.
#define MOTUS_READER_TIMES 64
MotusTime motus_reader_time(const MotusReader *reader, int64_t number);

// Reads the next frame into *frame (a new reference, which the caller unrefs). MOTUS_END after the
// last whole frame. MOTUS_ERR_TRUNCATED: the input ends inside a frame.
MotusStatus motus_reader_next(MotusReader *reader, MotusFrame **frame, MotusError *error);

// Does the same in two steps, so that several threads can read a file. begin (one thread at a time)
// allocates the next frame; *at gets the file offset of its samples, -1 if they are read already.
// fill (any thread) reads them. After a failure, with the errors of motus_reader_next, drop this
// frame and the later ones.
MotusStatus motus_reader_begin(MotusReader *reader, MotusFrame **frame, int64_t *at,
                               MotusError *error);
MotusStatus motus_reader_fill(const MotusReader *reader, MotusFrame *frame, int64_t at,
                              MotusError *error);

// Returns the ticks of info.time_base from the first frame to the first one at `us` microseconds or
// later. Half a millisecond is allowed for containers that round their times.
int64_t motus_reader_ticks(const MotusReader *reader, int64_t us);

// Skips the frames before that time, counted from the first frame. MOTUS_END: there are no others.
MotusStatus motus_reader_skip_until(MotusReader *reader, int64_t us, MotusError *error);

// Skips n frames, by seeking if the file allows. MOTUS_END: there are fewer.
MotusStatus motus_reader_skip(MotusReader *reader, int64_t n, MotusError *error);

void motus_reader_close(MotusReader **reader);

#endif
