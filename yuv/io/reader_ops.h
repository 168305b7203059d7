// The inside of readers: a reader is a source, the facts of the sequence, and the operations of its
// kind (y4m, raw, media).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_READER_OPS_H
#define YUV_IO_READER_OPS_H

#include "yuv/frame_pool.h"
#include "yuv/io/reader.h"
#include "yuv/io/source.h"

typedef struct MotusReaderOps {
    MotusStatus (*next)(MotusReader *reader, MotusFrame **frame, MotusError *error);
    MotusStatus (*skip)(MotusReader *reader, int64_t n, MotusError *error);
    // Skips the frames that come less than `ticks` after the first one; NULL: counted pictures.
    MotusStatus (*skip_until)(MotusReader *reader, int64_t ticks, MotusError *error);
    void (*close)(MotusReader *reader); // frees `state`; NULL: nothing to free
    int has_times; // next and skip set `times` and info.start, unless options.fps is given
} MotusReaderOps;

struct MotusReader {
    const MotusReaderOps *ops; // NULL until the kind is known
    MotusSource *source;       // NULL: libavformat opens the file itself
    MotusSequenceInfo info;
    MotusReaderOptions options;
    MotusFramePool pool; // of pictures stored as three planes
    int64_t number;      // of the next frame
    int64_t *samples_at; // not NULL: gets the file offset of the samples, which are not read
    MotusTime times[MOTUS_READER_TIMES];
    void *state;    // of the kind
    char name[128]; // for messages
};

// Passes "NAME: note: TEXT" (note, loss) or "NAME: TEXT" (warning) to options.log.
void motus_reader_log(const MotusReader *reader, MotusLogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Finds the kind and opens it. The reader owns `source`, also after a failure. libavformat guesses
// from the name `path`.
MotusStatus motus_reader_open_source(MotusReader **reader, MotusSource *source, const char *path,
                                     const MotusReaderOptions *options, MotusError *error);

// Opens what libavformat and libavcodec decode, from reader->source, or from `path` if that is
// NULL.
MotusStatus motus_media_open(MotusReader *reader, const char *path, MotusError *error);

// Returns the bytes of one picture: three planes without gaps.
int64_t motus_picture_bytes(const MotusSequenceInfo *info);

// Read or skip pictures stored as three planes without gaps.
MotusStatus motus_picture_read(MotusReader *reader, MotusFrame **frame, MotusError *error);
MotusStatus motus_picture_skip(MotusReader *reader, int64_t n, MotusError *error);

// ---- YUV4MPEG2 (y4m.c): a header line, then "FRAME" and three planes for each picture -----------

#define MOTUS_Y4M_MAGIC "YUV4MPEG2"
#define MOTUS_Y4M_MAX_LINE 1024 // bytes of a header line with its newline; real ones have 30..150

typedef struct MotusY4mHeader {
    MotusSequenceInfo info; // frames stays -1
    size_t length;          // bytes of the line with its newline
    char interlaced;        // 't', 'b' or 'm' by the tag, 0: progressive or unknown
    int is_420;             // 8-bit 4:2:0, which motus_y4m_open reads
    int has_c_tag;          // which wins over the older comment XYSCSS
} MotusY4mHeader;

// Parses the stream header at the source's position and consumes nothing. `name` is for messages.
// MOTUS_ERR_FORMAT, _TRUNCATED, _IO.
MotusStatus motus_y4m_header(MotusSource *source, MotusY4mHeader *header, const char *name,
                             MotusError *error);

// Consumes the header and makes `reader` (source and name are set) a y4m reader.
void motus_y4m_open(MotusReader *reader, const MotusY4mHeader *header);

#endif
