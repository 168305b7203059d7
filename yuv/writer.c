// Files under construction, and the frames that go into them.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/reader_ops.h"

#define CAPACITY 65536 // bytes of the buffer; longer writes pass it by

struct MotusOutput {
    int fd;
    int error; // errno of the first write that failed, else 0
    size_t used;
    char *part; // name while under construction; NULL: written directly (standard output, devices, pipes)
    char *path;
    uint8_t *buffer;
};

static const char *shown(const MotusOutput *out) { return strcmp(out->path, "-") ? motus_shown(out->path) : "standard output"; }

static MotusStatus io_error(const MotusOutput *out, int cause, MotusError *error) {
    return motus_fail(error, MOTUS_ERR_IO, "%s: %s", shown(out), strerror(cause));
}

// Closes and frees everything; the part, where there still is one, is removed.
static void discard(MotusOutput **out) {
    MotusOutput *o = *out;
    if (o->fd >= 0) close(o->fd);
    if (o->part) unlink(o->part);
    motus_free(o->part);
    motus_free(o->path);
    motus_free(o->buffer);
    motus_free(o);
    *out = NULL;
}

// Opens the part, or what is no regular file (devices, pipes) directly.
static MotusStatus open_file(MotusOutput *out, MotusError *error) {
    struct stat st;
    int exists = !stat(out->path, &st);
    if (exists && S_ISDIR(st.st_mode)) return io_error(out, EISDIR, error);
    if (exists && access(out->path, W_OK)) return io_error(out, errno, error); // renaming would replace even a read-only file
    int direct = exists && !S_ISREG(st.st_mode);
    if (!direct) {
        size_t size = strlen(out->path) + sizeof ".part";
        if (!(out->part = motus_alloc(1, size))) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", shown(out));
        snprintf(out->part, size, "%s.part", out->path);
    }
    out->fd = open(direct ? out->path : out->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd >= 0) return MOTUS_OK;
    int cause = errno;
    motus_free(out->part); // not ours to remove
    out->part = NULL;
    return io_error(out, cause, error);
}

MotusStatus motus_output_open(MotusOutput **out, const char *path, MotusError *error) {
    if (!out || !path || !*path) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no output is named");
    MotusOutput *o = motus_alloc(1, sizeof *o);
    if (!o) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    o->fd = -1;
    size_t size = strlen(path) + 1;
    o->path = motus_alloc(1, size);
    o->buffer = motus_alloc(1, CAPACITY);
    MotusStatus status = MOTUS_OK;
    if (!o->path || !o->buffer) {
        status = motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    } else {
        memcpy(o->path, path, size);
        if (strcmp(path, "-"))
            status = open_file(o, error);
        else if ((o->fd = dup(STDOUT_FILENO)) < 0)
            status = io_error(o, errno, error);
    }
    if (status)
        discard(&o);
    else
        *out = o;
    return status;
}

static void push(MotusOutput *out, const uint8_t *data, size_t size) {
    while (size && !out->error) {
        ssize_t done = write(out->fd, data, size);
        if (done < 0 && errno != EINTR) out->error = errno;
        if (done <= 0) continue;
        data += done;
        size -= (size_t)done;
    }
}

static void flush(MotusOutput *out) {
    push(out, out->buffer, out->used);
    out->used = 0;
}

MotusStatus motus_output_write(MotusOutput *out, const void *data, size_t size, MotusError *error) {
    if (size > CAPACITY - out->used) flush(out);
    if (size >= CAPACITY) {
        push(out, data, size);
    } else if (size) {
        memcpy(out->buffer + out->used, data, size);
        out->used += size;
    }
    return out->error ? io_error(out, out->error, error) : MOTUS_OK;
}

MotusStatus motus_output_rewrite(MotusOutput *out, const void *data, size_t size, MotusError *error) {
    flush(out);
    const uint8_t *from = data;
    for (size_t done = 0; done < size && !out->error;) {
        ssize_t n = pwrite(out->fd, from + done, size - done, (off_t)done);
        if (n < 0 && errno != EINTR) out->error = errno;
        if (n > 0) done += (size_t)n;
    }
    return out->error ? io_error(out, out->error, error) : MOTUS_OK;
}

MotusStatus motus_output_commit(MotusOutput **out, MotusError *error) {
    if (!out || !*out) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no output is open");
    MotusOutput *o = *out;
    flush(o);
    if (close(o->fd) && !o->error) o->error = errno;
    o->fd = -1;
    if (!o->error && o->part) {
        if (rename(o->part, o->path)) {
            o->error = errno;
        } else {
            motus_free(o->part);
            o->part = NULL;
        }
    }
    MotusStatus status = o->error ? io_error(o, o->error, error) : MOTUS_OK;
    discard(out);
    return status;
}

void motus_output_abandon(MotusOutput **out) {
    if (out && *out) discard(out);
}

// ---- Frames --------------------------------------------------------------------------------------------------------------------------------

struct MotusWriter {
    MotusOutput *out;
    int width, height;
    int headerless;
};

static const char *chroma_name(int location) {
    switch (location) {
    case 0:
        return "420mpeg2";
    case 1:
        return "420jpeg";
    case 2:
        return "420paldv";
    default:
        return "420";
    }
}

static MotusStatus write_header(MotusWriter *w, const MotusSequenceInfo *info, MotusError *error) {
    static const char *const ranges[] = {"", " XCOLORRANGE=LIMITED", " XCOLORRANGE=FULL"};
    const MotusColour *colour = &info->colour;
    int known_sar = colour->sar.num > 0 && colour->sar.den > 0;
    char line[160];
    int n = snprintf(line, sizeof line, MOTUS_Y4M_MAGIC " W%d H%d F%d:%d Ip A%d:%d C%s%s\n", info->width, info->height,
                     info->fps.num, info->fps.den, known_sar ? colour->sar.num : 0, known_sar ? colour->sar.den : 0,
                     chroma_name(colour->chroma_location), ranges[colour->full_range < 0 ? 0 : 1 + (colour->full_range > 0)]);
    return motus_output_write(w->out, line, (size_t)n, error);
}

MotusStatus motus_writer_open(MotusWriter **writer, const char *path, const MotusSequenceInfo *info, MotusError *error) {
    if (!writer || !path || !info || info->width < 1 || info->height < 1 || info->fps.num < 1 || info->fps.den < 1)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "a writer needs a path, a size and a frame rate");
    MotusWriter *w = motus_alloc(1, sizeof *w);
    if (!w) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    size_t length = strlen(path);
    w->width = info->width;
    w->height = info->height;
    w->headerless = length >= 4 && !strcasecmp(path + length - 4, ".yuv");
    MotusStatus status = motus_output_open(&w->out, path, error);
    if (!status && !w->headerless) status = write_header(w, info, error);
    if (status)
        motus_writer_abandon(&w);
    else
        *writer = w;
    return status;
}

MotusStatus motus_writer_put(MotusWriter *writer, const MotusFrame *frame, MotusError *error) {
    if (!writer || !frame || frame->width != writer->width || frame->height != writer->height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "a frame to be written has another size than the sequence");
    MotusStatus status = writer->headerless ? MOTUS_OK : motus_output_write(writer->out, "FRAME\n", 6, error);
    for (int i = 0; i < 3; i++) {
        const MotusPlane *plane = &frame->plane[i];
        for (int y = 0; y < plane->height && !status; y++)
            status = motus_output_write(writer->out, plane->data + y * plane->stride, (size_t)plane->width, error);
    }
    return status;
}

MotusStatus motus_writer_commit(MotusWriter **writer, MotusError *error) {
    if (!writer || !*writer) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no writer is open");
    MotusStatus status = motus_output_commit(&(*writer)->out, error);
    motus_free(*writer);
    *writer = NULL;
    return status;
}

void motus_writer_abandon(MotusWriter **writer) {
    if (!writer || !*writer) return;
    motus_output_abandon(&(*writer)->out);
    motus_free(*writer);
    *writer = NULL;
}
