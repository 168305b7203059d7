// Sequence writers: .y4m, headerless .yuv. Bytes go to a part beside PATH (yuv/io/temp_output.h),
// which is renamed to PATH by a successful commit, so that nothing half-written ever stands under
// the final name; "-" is standard output. Devices and pipes are written directly.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_WRITER_H
#define YUV_IO_WRITER_H

#include "yuv/io/reader.h"

// A file under construction, for frames, streams and reports alike.
typedef struct MotusOutput MotusOutput;
MotusStatus motus_output_open(MotusOutput **out, const char *path, MotusError *error);
// For a file that is of use while it is being written: under its final name from the beginning,
// where there is no file of that name yet.
MotusStatus motus_output_open_live(MotusOutput **out, const char *path, MotusError *error);
// Whether abandoning leaves such a file, with something in it.
int motus_output_stays(const MotusOutput *out);
MotusStatus motus_output_write(MotusOutput *out, const void *data, size_t size, MotusError *error);
// Writes over the first `size` bytes, for headers that count what follows them; not for pipes.
MotusStatus motus_output_rewrite(MotusOutput *out, const void *data, size_t size,
                                 MotusError *error);
// Hands everything so far to the system.
MotusStatus motus_output_flush(MotusOutput *out, MotusError *error);
// As lseek(2); -1 for what is written directly.
int64_t motus_output_seek(MotusOutput *out, int64_t offset, int whence);
// Name of the file under construction, to read it again; NULL for what is written directly.
const char *motus_output_part(const MotusOutput *out);
// Flushes, makes the data durable and renames to the final name; MOTUS_ERR_IO (full disk...)
// removes the part. Frees and nulls *out in every case.
MotusStatus motus_output_commit(MotusOutput **out, MotusError *error);
// Drops what was written; accepts NULL.
void motus_output_abandon(MotusOutput **out);

typedef struct MotusWriter MotusWriter;

// The kind follows the name's ending: .yuv is headerless, everything else y4m. info gives size,
// rate, colours (frames and format are not read).
MotusStatus motus_writer_open(MotusWriter **writer, const char *path, const MotusSequenceInfo *info,
                              MotusError *error);
MotusStatus motus_writer_put(MotusWriter *writer, const MotusFrame *frame, MotusError *error);
MotusStatus motus_writer_commit(MotusWriter **writer, MotusError *error);
void motus_writer_abandon(MotusWriter **writer);

#endif
