// Files under construction, and sequence writers (.y4m, headerless .yuv). Bytes go to a temporary
// file (temp_output.h), which a successful commit renames to PATH. Standard output ("-"), devices
// and pipes are written directly.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_WRITER_H
#define YUV_IO_WRITER_H

#include "yuv/io/reader.h"

// A file under construction, for frames, streams and reports.
typedef struct MotusOutput MotusOutput;
MotusStatus motus_output_open(MotusOutput **out, const char *path, MotusError *error);

// Opens a file that is useful while it grows: under its final name from the start if that is free.
MotusStatus motus_output_open_live(MotusOutput **out, const char *path, MotusError *error);

// True if motus_output_abandon leaves such a file, not empty.
int motus_output_stays(const MotusOutput *out);

// Returns the number of the open descriptor that a path such as /dev/stdout or /dev/fd/5 names, -1
// for other paths. It is written directly, also if it is a regular file.
int motus_output_descriptor(const char *path);

MotusStatus motus_output_write(MotusOutput *out, const void *data, size_t size, MotusError *error);

// Overwrites the first `size` bytes, for headers that count what follows; not for pipes.
MotusStatus motus_output_rewrite(MotusOutput *out, const void *data, size_t size,
                                 MotusError *error);

// Hands everything so far to the system.
MotusStatus motus_output_flush(MotusOutput *out, MotusError *error);

// Seeks as lseek(2) does; -1 for outputs that are written directly.
int64_t motus_output_seek(MotusOutput *out, int64_t offset, int whence);

// Returns the name of the file under construction; NULL for outputs that are written directly.
const char *motus_output_temp_name(const MotusOutput *out);

// Flushes, makes the data durable and renames to the final name. MOTUS_ERR_IO (full disk ...): the
// temporary file is removed. Frees and nulls *out in every case.
MotusStatus motus_output_commit(MotusOutput **out, MotusError *error);

// Drops what was written; accepts NULL.
void motus_output_abandon(MotusOutput **out);

// A sequence: .yuv is headerless, every other ending y4m.
typedef struct MotusWriter MotusWriter;

// info: size, rate and colours are used.
MotusStatus motus_writer_open(MotusWriter **writer, const char *path, const MotusSequenceInfo *info,
                              MotusError *error);
MotusStatus motus_writer_put(MotusWriter *writer, const MotusFrame *frame, MotusError *error);
MotusStatus motus_writer_commit(MotusWriter **writer, MotusError *error);
void motus_writer_abandon(MotusWriter **writer);

#endif
