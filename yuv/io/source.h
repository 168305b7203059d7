// Where a reader's bytes come from: a file or standard input. Buffered, with look-ahead, so that
// the kind of an input is found without consuming it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_SOURCE_H
#define YUV_IO_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

#define MOTUS_SOURCE_PEEK 4096 // most bytes of look-ahead

typedef struct MotusSource {
    int fd;
    int seekable;  // a regular file
    int error;     // errno of the read or seek that failed, else 0
    int64_t size;  // bytes in all; -1 = unknown
    int64_t after; // position of the byte that follows the buffered ones
    uint8_t *buffer;
    size_t begin, end;         // buffered and not yet read: buffer[begin .. end)
    int (*idle)(void *opaque); // see MotusReaderOptions; NULL: reading just waits
    void *opaque;
} MotusSource;

// Opens `path`, "-" for standard input. MOTUS_ERR_IO: missing, no permission, a directory;
// MOTUS_ERR_FORMAT: an empty regular file.
MotusStatus motus_source_open(MotusSource **source, const char *path, MotusError *error);

// Buffers n bytes (<= MOTUS_SOURCE_PEEK), or as many as there are up to and with the first byte
// `stop` (-1: no such byte), and returns how many stand at motus_source_ahead(). Fewer than asked
// for: the input ends, or source->error.
size_t motus_source_peek(MotusSource *source, size_t n, int stop);
const uint8_t *motus_source_ahead(const MotusSource *source);

// Reads or skips n bytes and returns how many; fewer at the end of the input, or source->error. An
// interrupted read (EINTR) is an error: a program that catches signals without SA_RESTART must get
// control back.
size_t motus_source_read(MotusSource *source, void *data, size_t n);
int64_t motus_source_skip(MotusSource *source, int64_t n);

int64_t motus_source_position(const MotusSource *source); // of the next byte that read gives
int motus_source_seek(MotusSource *source,
                      int64_t position); // 1: done; 0: not seekable, or outside

void motus_source_close(MotusSource **source);

#endif
