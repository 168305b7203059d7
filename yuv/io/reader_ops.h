// What the kinds of readers (y4m, raw, media) share: a reader is its source, what is known of the
// sequence, and three functions of its kind.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_READER_OPS_H
#define YUV_IO_READER_OPS_H

#include "yuv/frame_pool.h"
#include "yuv/io/reader.h"
#include "yuv/io/source.h"

typedef struct MotusReaderOps {
    MotusStatus (*next)(MotusReader *reader, MotusFrame **frame, MotusError *error);
    MotusStatus (*skip)(MotusReader *reader, int64_t n, MotusError *error);
    void (*close)(MotusReader *reader); // frees `state`; NULL: nothing to free
    int has_times;                      // next and skip call motus_reader_set_time
} MotusReaderOps;

struct MotusReader {
    const MotusReaderOps *ops; // NULL until the kind is known
    MotusSource *source;       // NULL where libavformat opens the file by itself
    MotusSequenceInfo info;
    MotusReaderOptions options;
    MotusFramePool pool; // of pictures stored as three planes
    int64_t number;      // of the next frame
    int64_t *samples_at; // where motus_reader_begin wants to know where the samples of a file's
                         // picture lie, instead of them; else NULL
    MotusTime times[MOTUS_READER_TIMES];
    int64_t start; // time of frame 0
    MotusDamage damage;
    void *state;    // of the kind
    char name[128]; // for error texts
};

// Notes the time of the next frame, reader->number; readers of constant rate count frames.
void motus_reader_set_time(MotusReader *reader, MotusTime time);

// Passes a line on to options.tell: "NAME: " and the text.
void motus_reader_tell(const MotusReader *reader, MotusTold kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Finds the kind and opens it. The reader owns `source`, also when this fails. `path` is a name for
// libavformat to guess from.
MotusStatus motus_reader_open_source(MotusReader **reader, MotusSource *source, const char *path,
                                     const MotusReaderOptions *options, MotusError *error);

// Opens whatever libavformat and libavcodec decode, from reader->source or, where that is NULL,
// from `path`.
MotusStatus motus_media_open(MotusReader *reader, const char *path, MotusError *error);

// Bytes of one picture's samples: three planes without gaps.
int64_t motus_picture_bytes(const MotusSequenceInfo *info);

// Reads or skips pictures stored as three planes without gaps.
MotusStatus motus_picture_read(MotusReader *reader, MotusFrame **frame, MotusError *error);
MotusStatus motus_picture_skip(MotusReader *reader, int64_t n, MotusError *error);

// ---- YUV4MPEG2: one text line for the stream, then for each picture the line "FRAME" and three
// planes (y4m.c) ----------------------------------

#define MOTUS_Y4M_MAGIC "YUV4MPEG2"
#define MOTUS_Y4M_MAX_LINE 1024 // bytes of a header line with its newline; real ones have 30..150

typedef struct MotusY4mHeader {
    MotusSequenceInfo info; // frames is left at -1
    size_t length;          // bytes of the line with its newline
    char interlaced;        // 't', 'b' or 'm' as the tag says, 0: progressive or unknown
    int is_420;             // 8-bit 4:2:0: what motus_y4m_open can read
} MotusY4mHeader;

// Parses the stream header that lies ahead of `source` and consumes nothing. `name` is for error
// texts. MOTUS_ERR_FORMAT, _TRUNCATED, _IO.
MotusStatus motus_y4m_header(MotusSource *source, MotusY4mHeader *header, const char *name,
                             MotusError *error);

// Consumes the header and makes `reader` (source and name are set) a y4m reader.
void motus_y4m_open(MotusReader *reader, const MotusY4mHeader *header);

#endif
