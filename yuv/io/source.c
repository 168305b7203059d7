// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"

#define CAPACITY 65536 // bytes of the buffer; longer reads bypass it

int motus_is_url(const char *path) {
    const size_t scheme =
        strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return scheme > 1 && !strncmp(path + scheme, "://", 3) && access(path, F_OK);
}

const char *motus_plain_path(const char *path) {
    if (strncmp(path, "file:", 5) || !access(path, F_OK)) return path;
    return path + (strncmp(path + 5, "//", 2) ? 5 : 7);
}

MotusStatus motus_source_open(MotusSource **source, const char *path, MotusError *error) {
    int is_stdin = !strcmp(path, "-");
    const char *name = is_stdin ? "standard input" : motus_shown(path);
    MotusSource *s = motus_alloc(1, sizeof *s);
    if (!s) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", name);
    s->size = -1;
    MotusStatus status = MOTUS_OK;
    s->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0) status = motus_fail(error, MOTUS_ERR_IO, "%s: %s", name, strerror(errno));
    struct stat st = {0};
    if (!status && fstat(s->fd, &st))
        status = motus_fail(error, MOTUS_ERR_IO, "%s: %s", name, strerror(errno));
    if (!status && S_ISDIR(st.st_mode))
        status = motus_fail(error, MOTUS_ERR_IO, "%s: is a directory", name);
    if (!status && S_ISREG(st.st_mode)) {
        s->seekable = 1;
        s->size = st.st_size;
        s->after = lseek(s->fd, 0, SEEK_CUR); // not 0 if standard input was read before
        if (!st.st_size)
            status = motus_fail(error, MOTUS_ERR_FORMAT, "%s: is empty", name);
        else if (s->after < 0)
            status = motus_fail(error, MOTUS_ERR_IO, "%s: %s", name, strerror(errno));
    }
    if (!status && !(s->buffer = motus_alloc(1, CAPACITY)))
        status = motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", name);
    if (status)
        motus_source_close(&s);
    else
        *source = s;
    return status;
}

// Does one read(2) into `to`; blocks also if the descriptor is in non-blocking mode. Returns 0 at
// the input's end and on errors.
static size_t pull(MotusSource *s, uint8_t *to, size_t n) {
    struct pollfd input = {.fd = s->fd, .events = POLLIN};
    // First waits 1 ms: a fast pipe is empty now and then.
    for (int ms = 1; s->idle && !s->seekable; ms = 4) {
        const int ready = poll(&input, 1, ms);
        if (ready > 0 || (ready < 0 && errno != EINTR)) break;
        const int more = s->idle(s->opaque);
        if (more < 0) s->error = EINTR;
        if (more < 0) return 0;
        if (!more) break;
    }
    ssize_t got = read(s->fd, to, n);
    while (got < 0 && errno == EAGAIN) got = poll(&input, 1, -1) < 0 ? -1 : read(s->fd, to, n);
    if (got < 0) s->error = errno;
    if (got <= 0) return 0;
    s->after += got;
    return (size_t)got;
}

// Adds bytes to the buffered ones. Returns 0 at the end, or if the buffer is full.
static size_t refill(MotusSource *s) {
    if (s->begin == s->end || s->begin > CAPACITY - MOTUS_SOURCE_PEEK) {
        memmove(s->buffer, s->buffer + s->begin, s->end - s->begin);
        s->end -= s->begin;
        s->begin = 0;
    }
    size_t got = s->end < CAPACITY ? pull(s, s->buffer + s->end, CAPACITY - s->end) : 0;
    s->end += got;
    return got;
}

size_t motus_source_peek(MotusSource *s, size_t n, int stop) {
    for (;;) {
        size_t have = s->end - s->begin;
        if (have > n) have = n;
        const uint8_t *found = stop >= 0 && have ? memchr(s->buffer + s->begin, stop, have) : NULL;
        if (found) return (size_t)(found - s->buffer) - s->begin + 1;
        if (have == n || !refill(s)) return have;
    }
}

size_t motus_source_read(MotusSource *s, void *data, size_t n) {
    uint8_t *to = data;
    size_t left = n;
    while (left) {
        size_t have = s->end - s->begin;
        if (have) {
            if (have > left) have = left;
            memcpy(to, s->buffer + s->begin, have);
            s->begin += have;
        } else if (left >= CAPACITY) {
            if (!(have = pull(s, to, left))) break;
        } else {
            if (!refill(s)) break;
            continue;
        }
        to += have;
        left -= have;
    }
    return n - left;
}

int64_t motus_source_position(const MotusSource *s) {
    return s->after - (int64_t)(s->end - s->begin);
}

int motus_source_seek(MotusSource *s, int64_t position) {
    if (!s->seekable || position < 0 || position > s->size) return 0;
    int64_t first = s->after - (int64_t)s->end; // position of buffer[0]
    if (position >= first && position <= s->after) {
        s->begin = (size_t)(position - first);
        return 1;
    }
    if (lseek(s->fd, position, SEEK_SET) < 0) {
        s->error = errno;
        return 0;
    }
    s->after = position;
    s->begin = s->end = 0;
    return 1;
}

int64_t motus_source_skip(MotusSource *s, int64_t n) {
    int64_t position = motus_source_position(s);
    if (s->seekable) {
        int64_t left = s->size > position ? s->size - position : 0;
        if (n > left) n = left;
        return motus_source_seek(s, position + n) ? n : 0;
    }
    int64_t skipped = 0;
    while (skipped < n) {
        if (s->begin == s->end && !refill(s)) break;
        int64_t have = (int64_t)(s->end - s->begin);
        if (have > n - skipped) have = n - skipped;
        s->begin += (size_t)have;
        skipped += have;
    }
    return skipped;
}

void motus_source_close(MotusSource **source) {
    if (!source || !*source) return;
    if ((*source)->fd >= 0) close((*source)->fd);
    motus_free((*source)->buffer);
    motus_free(*source);
    *source = NULL;
}
