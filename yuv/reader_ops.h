// What the kinds of readers (y4m, raw, media) share: a reader is its source, what is known of the sequence, and three functions of its kind.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_READER_OPS_H
#define YUV_READER_OPS_H

#include "yuv/reader.h"
#include "yuv/source.h"

typedef struct MotusReaderOps {
    MotusStatus (*next)(MotusReader *reader, MotusFrame **frame, MotusError *error);
    MotusStatus (*skip)(MotusReader *reader, int64_t n, MotusError *error);
    void (*close)(MotusReader *reader); // frees `state`; NULL: nothing to free
} MotusReaderOps;

struct MotusReader {
    const MotusReaderOps *ops; // NULL until the kind is known
    MotusSource *source;       // NULL where libavformat opens the file by itself
    MotusSequenceInfo info;
    int64_t number; // of the next frame
    void *state;    // of the kind
    char name[128]; // for error texts
};

// Finds the kind and opens it. The reader owns `source`, also when this fails. `path` is a name for libavformat to guess from.
MotusStatus motus_reader_open_source(MotusReader **reader, MotusSource *source, const char *path,
                                     const MotusReaderOptions *options, MotusError *error);

// Opens a headerless sequence of reader->info.width x height.
void motus_raw_open(MotusReader *reader);

// Opens whatever libavformat and libavcodec decode, from reader->source or, where that is NULL, from `path`.
MotusStatus motus_media_open(MotusReader *reader, const char *path, int threads, MotusError *error);

// Bytes of one picture's samples: three planes without gaps.
int64_t motus_picture_bytes(const MotusSequenceInfo *info);

// Reads or skips pictures stored as three planes without gaps.
MotusStatus motus_picture_read(MotusReader *reader, MotusFrame **frame, MotusError *error);
MotusStatus motus_picture_skip(MotusReader *reader, int64_t n, MotusError *error);

#endif
