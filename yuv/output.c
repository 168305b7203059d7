// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/writer.h"

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
