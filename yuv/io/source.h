// The bytes of a reader: a file or standard input, buffered. Bytes can be peeked at, so that the
// kind of an input is found without consuming it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_SOURCE_H
#define YUV_IO_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

#define MOTUS_SOURCE_PEEK 4096 // most bytes to peek at

typedef struct MotusSource {
    int fd;
    int seekable;  // a regular file
    int error;     // errno of the read or seek that failed, else 0
    int64_t size;  // bytes in all; -1 = unknown
    int64_t after; // position of the byte after the buffered ones
    uint8_t *buffer;
    size_t begin, end;         // buffer[begin .. end) is not yet read
    int (*idle)(void *opaque); // see MotusReaderOptions; may be NULL
    void *opaque;
} MotusSource;

// True for scheme://..., unless a file has that name.
int motus_is_url(const char *path);

// Returns the path behind file: or file://, unless a file has the whole name.
const char *motus_plain_path(const char *path);

// Opens `path`, "-" for standard input. MOTUS_ERR_IO: missing, no permission, a directory.
// MOTUS_ERR_FORMAT: an empty regular file.
MotusStatus motus_source_open(MotusSource **source, const char *path, MotusError *error);

// Buffers n bytes (<= MOTUS_SOURCE_PEEK), or fewer up to and with the first byte `stop` (-1: none),
// from source->buffer + source->begin on. Returns their number: fewer than n at the input's end or
// after source->error.
size_t motus_source_peek(MotusSource *source, size_t n, int stop);

// Read or skip n bytes. Return the number done: fewer than n at the input's end or after
// source->error. An interrupted read (EINTR) is an error, so that signal handlers without
// SA_RESTART regain control.
size_t motus_source_read(MotusSource *source, void *data, size_t n);
int64_t motus_source_skip(MotusSource *source, int64_t n);

// Returns the position of the next byte that motus_source_read gives.
int64_t motus_source_position(const MotusSource *source);

// Returns 1 on success, 0 if the source is not seekable or the position is outside.
int motus_source_seek(MotusSource *source, int64_t position);

void motus_source_close(MotusSource **source);

#endif
