// Files under construction, and the frames that go into them.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/io/reader_ops.h"
#include "yuv/io/temp_output.h"

#define CAPACITY 65536 // bytes of the buffer; longer writes bypass it
#define PATIENCE 1000  // milliseconds that a pipe's reader has after Ctrl-C

struct MotusOutput {
    int fd;          // of the temporary file, or of standard output, a device, a pipe
    int error;       // errno of the first write that failed, else 0
    int interrupted; // by a signal, in the middle of a write
    int built;       // 1: under construction in `temp`; 0: written directly
    MotusTempOutput temp;
    size_t used;
    char *path;
    uint8_t *buffer;
};

static MotusStatus io_error(const MotusOutput *out, int cause, MotusError *error) {
    return motus_fail(error, MOTUS_ERR_IO, "%s: %s",
                      strcmp(out->path, "-") ? motus_shown(out->path) : "standard output",
                      strerror(cause));
}

void motus_output_abandon(MotusOutput **out) {
    if (!out || !*out) return;
    MotusOutput *o = *out;
    if (o->built)
        motus_temp_output_close(&o->temp); // removes the file if there still is one
    else if (o->fd >= 0)
        close(o->fd);
    motus_free(o->path);
    motus_free(o->buffer);
    motus_free(o);
    *out = NULL;
}

int motus_output_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "/dev/stdout")) return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr")) return STDERR_FILENO;
    for (int i = 0; i < 2; i++) {
        const char *number = path + strlen(folders[i]);
        if (strncmp(path, folders[i], strlen(folders[i])) || *number < '0' || *number > '9')
            continue;
        char *end;
        long fd = strtol(number, &end, 10);
        if (!*end && fd <= INT_MAX) return (int)fd;
    }
    return -1;
}

// Opens a temporary file; devices, pipes and descriptors directly.
static MotusStatus open_file(MotusOutput *out, int live, MotusError *error) {
    struct stat st;
    const int own = motus_output_descriptor(out->path);
    if (own >= 0) {
        out->fd = dup(own);
        return out->fd < 0 ? io_error(out, errno, error) : MOTUS_OK;
    }
    int exists = !stat(out->path, &st);
    if (exists && S_ISDIR(st.st_mode)) return io_error(out, EISDIR, error);
    if (exists && !S_ISREG(st.st_mode)) {
        out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
        return out->fd < 0 ? io_error(out, errno, error) : MOTUS_OK;
    }
    MotusStatus status = motus_temp_output_open(&out->temp, out->path, live, error);
    out->built = !status;
    out->fd = out->temp.fd;
    return status;
}

static MotusStatus open_output(MotusOutput **out, const char *path, int live, MotusError *error) {
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
            status = open_file(o, live, error);
        else if ((o->fd = dup(STDOUT_FILENO)) < 0)
            status = io_error(o, errno, error);
    }
    if (status)
        motus_output_abandon(&o);
    else
        *out = o;
    return status;
}

MotusStatus motus_output_open(MotusOutput **out, const char *path, MotusError *error) {
    return open_output(out, path, 0, error);
}

MotusStatus motus_output_open_live(MotusOutput **out, const char *path, MotusError *error) {
    return open_output(out, path, 1, error);
}

int motus_output_stays(const MotusOutput *out) {
    return out->built && motus_temp_output_stays(&out->temp);
}

// Blocks until a descriptor in non-blocking mode takes more; after a signal for at most PATIENCE.
// Returns 0 or errno.
static int wait_for_room(const MotusOutput *out) {
    struct pollfd waited = {.fd = out->fd, .events = POLLOUT};
    int ready = poll(&waited, 1, out->interrupted ? PATIENCE : -1);
    if (ready > 0 || (ready < 0 && errno == EINTR)) return 0;
    return ready ? errno : EINTR;
}

static void push(MotusOutput *out, const uint8_t *data, size_t size) {
    while (size && !out->error) {
        if (out->interrupted) out->error = wait_for_room(out);
        ssize_t done = out->error ? 0
                                  : write(out->fd, data,
                                          out->interrupted && size > PIPE_BUF ? PIPE_BUF : size);
        if (done < 0 && errno == EINTR)
            out->interrupted = 1;
        else if (done < 0 && errno == EAGAIN)
            out->error = wait_for_room(out);
        else if (done < 0)
            out->error = errno;
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

MotusStatus motus_output_rewrite(MotusOutput *out, const void *data, size_t size,
                                 MotusError *error) {
    flush(out);
    const uint8_t *from = data;
    for (size_t done = 0; done < size && !out->error;) {
        ssize_t n = pwrite(out->fd, from + done, size - done, (off_t)done);
        if (n < 0 && errno != EINTR) out->error = errno;
        if (n > 0) done += (size_t)n;
    }
    return out->error ? io_error(out, out->error, error) : MOTUS_OK;
}

MotusStatus motus_output_flush(MotusOutput *out, MotusError *error) {
    flush(out);
    return out->error ? io_error(out, out->error, error) : MOTUS_OK;
}

int64_t motus_output_seek(MotusOutput *out, int64_t offset, int whence) {
    if (!out->built) return -1;
    flush(out);
    return (int64_t)lseek(out->fd, (off_t)offset, whence);
}

const char *motus_output_temp_name(const MotusOutput *out) {
    return out->built ? out->temp.name : NULL;
}

MotusStatus motus_output_commit(MotusOutput **out, MotusError *error) {
    if (!out || !*out) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no output is open");
    MotusOutput *o = *out;
    flush(o);
    if (!o->error && o->built) {
        o->error = motus_temp_output_commit(&o->temp);
    } else if (!o->error) {
        if (close(o->fd)) o->error = errno;
        o->fd = -1;
    }
    MotusStatus status = o->error ? io_error(o, o->error, error) : MOTUS_OK;
    motus_output_abandon(out);
    return status;
}

// ---- Frames -------------------------------------------------------------------------------------

struct MotusWriter {
    MotusOutput *out;
    int width, height;
    int headerless;
};

static MotusStatus write_header(MotusWriter *w, const MotusSequenceInfo *info, MotusError *error) {
    static const char *const ranges[] = {"", " XCOLORRANGE=LIMITED", " XCOLORRANGE=FULL"},
                             *const chroma[] = {"420mpeg2", "420jpeg", "420paldv", "420"};
    const MotusColour *colour = &info->colour;
    const unsigned location = (unsigned)colour->chroma_location;
    int known_sar = colour->sar.num > 0 && colour->sar.den > 0;
    char line[160];
    int n = snprintf(line, sizeof line, MOTUS_Y4M_MAGIC " W%d H%d F%d:%d Ip A%d:%d C%s%s\n",
                     info->width, info->height, info->fps.num, info->fps.den,
                     known_sar ? colour->sar.num : 0, known_sar ? colour->sar.den : 0,
                     chroma[location < 3 ? location : 3],
                     ranges[colour->full_range < 0 ? 0 : 1 + (colour->full_range > 0)]);
    return motus_output_write(w->out, line, (size_t)n, error);
}

MotusStatus motus_writer_open(MotusWriter **writer, const char *path, const MotusSequenceInfo *info,
                              MotusError *error) {
    if (!writer || !path || !info || info->width < 1 || info->height < 1 || info->fps.num < 1 ||
        info->fps.den < 1)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "a writer needs a path, a size and a frame rate");
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
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "a frame to be written has another size than the sequence");
    MotusStatus status =
        writer->headerless ? MOTUS_OK : motus_output_write(writer->out, "FRAME\n", 6, error);
    for (int i = 0; i < 3; i++) {
        const MotusPlane *plane = &frame->plane[i];
        for (int y = 0; y < plane->height && !status; y++)
            status = motus_output_write(writer->out, plane->data + y * plane->stride,
                                        (size_t)plane->width, error);
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
