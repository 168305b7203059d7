// Opens readers of every kind; reads the pictures without gaps of y4m and headerless files.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/io/reader_ops.h"

enum {
    PIECES = 512,  // of a frame, read by one call
    ROUNDING = 500 // microseconds
};

// ---- Pictures stored as three planes without gaps -----------------------------------------------

int64_t motus_picture_bytes(const MotusSequenceInfo *info) {
    int64_t chroma = (int64_t)((info->width + 1) / 2) * ((info->height + 1) / 2);
    return (int64_t)info->width * info->height + 2 * chroma;
}

// Fails because the input ended after `got` bytes of a picture, or could not be read (cause: errno,
// else 0).
static MotusStatus cut_picture(const MotusReader *reader, int64_t number, int64_t got, int cause,
                               MotusError *error) {
    if (cause) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", reader->name, strerror(cause));
    return motus_fail(error, MOTUS_ERR_TRUNCATED,
                      "%s: ends inside frame %lld, after %lld of the %lld bytes of a %dx%d picture",
                      reader->name, (long long)number, (long long)got,
                      (long long)motus_picture_bytes(&reader->info), reader->info.width,
                      reader->info.height);
}

// Returns the number of bytes read.
static int64_t read_planes(MotusSource *source, MotusFrame *frame, int planes) {
    int64_t total = 0;
    for (int i = 0; i < planes; i++) {
        const MotusPlane *plane = &frame->plane[i];
        const int whole = plane->stride == plane->width; // its rows have no gaps, as in the file
        const size_t piece = (size_t)plane->width * (size_t)(whole ? plane->height : 1);
        for (int y = 0; y < (whole ? 1 : plane->height); y++) {
            size_t got = motus_source_read(source, plane->data + y * plane->stride, piece);
            total += (int64_t)got;
            if (got < piece) return total;
        }
    }
    return total;
}

MotusStatus motus_picture_read(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    int64_t left = reader->source->size - motus_source_position(reader->source);
    if (reader->source->size >= 0 && left < motus_picture_bytes(&reader->info)) {
        motus_source_skip(reader->source, left);
        return cut_picture(reader, reader->number, left > 0 ? left : 0, reader->source->error,
                           error);
    }
    MotusFrame *f = NULL;
    MotusFramePool *pool = &reader->pool;
    pool->width = reader->info.width, pool->height = reader->info.height,
    pool->pinned = reader->options.pinned;
    MotusStatus status = motus_frame_pool_take(pool, &f);
    if (status) return motus_fail(error, status, "%s: out of memory", reader->name);
    const int64_t bytes = motus_picture_bytes(&reader->info),
                  at = motus_source_position(reader->source);
    const int apart = reader->samples_at && reader->source->size >= 0 && reader->source->fd >= 0;
    const int64_t wanted =
        reader->options.luma_only ? (int64_t)reader->info.width * reader->info.height : bytes;
    int64_t got = apart ? 0 : read_planes(reader->source, f, reader->options.luma_only ? 1 : 3);
    if (apart || (wanted < bytes && got == wanted))
        got += motus_source_skip(reader->source, bytes - got);
    if (got < bytes) {
        motus_frame_unref(&f);
        return cut_picture(reader, reader->number, got, reader->source->error, error);
    }
    if (apart) *reader->samples_at = at;
    f->number = reader->number++;
    *frame = f;
    return MOTUS_OK;
}

// Lists the pieces of a frame after the first `done` bytes: whole planes if their rows have no
// gaps, else rows. Returns their number.
static int pieces_behind(const MotusFrame *frame, int64_t done, struct iovec *piece, int most) {
    int n = 0;
    for (int i = 0; i < 3; i++) {
        const MotusPlane *plane = &frame->plane[i];
        const int whole = plane->stride == plane->width;
        const int64_t size = (int64_t)plane->width * (whole ? plane->height : 1);
        for (int y = 0; y < (whole ? 1 : plane->height) && n < most; y++, done -= size) {
            if (done >= size) continue;
            const int64_t begin = done > 0 ? done : 0;
            piece[n++] =
                (struct iovec){plane->data + y * plane->stride + begin, (size_t)(size - begin)};
        }
    }
    return n;
}

MotusStatus motus_reader_fill(const MotusReader *reader, MotusFrame *frame, int64_t at,
                              MotusError *error) {
    struct iovec piece[PIECES];
    const int64_t bytes = motus_picture_bytes(&reader->info);
    int64_t done = at < 0 ? bytes : 0;
    while (done < bytes) {
        const ssize_t got =
            preadv(reader->source->fd, piece, pieces_behind(frame, done, piece, PIECES), at + done);
        if (got <= 0) return cut_picture(reader, frame->number, done, got ? errno : 0, error);
        done += got;
    }
    return MOTUS_OK;
}

MotusStatus motus_picture_skip(MotusReader *reader, int64_t n, MotusError *error) {
    int64_t size = motus_picture_bytes(&reader->info);
    if (n > INT64_MAX / size) n = INT64_MAX / size; // more than any file holds
    int64_t got = motus_source_skip(reader->source, n * size);
    reader->number += got / size;
    if (got == n * size) return MOTUS_OK;
    if (got % size || reader->source->error)
        return cut_picture(reader, reader->number, got % size, reader->source->error, error);
    return MOTUS_END;
}

static MotusStatus raw_next(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    if (!motus_source_peek(reader->source, 1, -1) && !reader->source->error) return MOTUS_END;
    return motus_picture_read(reader, frame, error);
}

// ---- Finding the kind ---------------------------------------------------------------------------

#ifdef MOTUS_HAVE_DEINTERLACE
static const int can_deinterlace = 1;
#else
static const int can_deinterlace = 0;
#endif

static int ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), e = strlen(ending);
    return n >= e && !strcasecmp(name + n - e, ending);
}

#ifndef MOTUS_HAVE_MEDIA
MotusStatus motus_media_open(MotusReader *reader, const char *path, MotusError *error) {
    (void)path;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      "%s: is neither 8-bit 4:2:0 .y4m nor .yuv, and this build (without "
                      "libavformat) reads nothing else",
                      reader->name);
}
#endif

// Opens y4m. Interlaced pictures go through libavformat, which deinterlaces, unless that is off.
static MotusStatus open_y4m(MotusReader *reader, const char *path, MotusError *error) {
    MotusY4mHeader header;
    MotusStatus status = motus_y4m_header(reader->source, &header, reader->name, error);
    if (status) return status;
    MotusDeinterlace wanted = reader->options.deinterlace;
    if (header.interlaced && wanted != MOTUS_DEINTERLACE_OFF &&
        (!can_deinterlace || header.interlaced == 'm'))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: is interlaced (y4m tag I%c) and cannot be deinterlaced here; "
                          "--deinterlace off reads it as it is",
                          reader->name, header.interlaced);
    if (header.interlaced ? wanted != MOTUS_DEINTERLACE_OFF : wanted == MOTUS_DEINTERLACE_ON)
        header.is_420 = 0;
    if (!header.is_420) return motus_media_open(reader, path, error);
    motus_y4m_open(reader, &header);
    return MOTUS_OK;
}

static MotusStatus open_raw(MotusReader *reader, const MotusReaderOptions *options,
                            MotusError *error) {
    if (!options->width)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%s: has no header, so its size WxH must be given", reader->name);
    if (options->deinterlace == MOTUS_DEINTERLACE_ON)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: headerless pictures cannot be deinterlaced", reader->name);
    static const MotusReaderOps ops = {.next = raw_next, .skip = motus_picture_skip};
    reader->ops = &ops;
    reader->info = (MotusSequenceInfo){.width = options->width,
                                       .height = options->height,
                                       .fps = {25, 1},
                                       .frames = -1,
                                       .colour = MOTUS_COLOUR_UNKNOWN,
                                       .format = "yuv"};
    if (reader->source->size >= 0)
        reader->info.frames = (reader->source->size - motus_source_position(reader->source)) /
                              motus_picture_bytes(&reader->info);
    return MOTUS_OK;
}

// Finds the kind by content, then by the name, and opens it. With a size, a pipe is headerless.
static MotusStatus open_kind(MotusReader *reader, const char *path,
                             const MotusReaderOptions *options, MotusError *error) {
    const int width = options->width, height = options->height;
    if ((width || height) &&
        (width < 1 || width > MOTUS_MAX_SIZE || height < 1 || height > MOTUS_MAX_SIZE))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "size %dx%d is out of the range 1x1 to %dx%d",
                          width, height, MOTUS_MAX_SIZE, MOTUS_MAX_SIZE);
    if (options->fps.num < 0 || (options->fps.num && options->fps.den < 1))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "%d/%d is not a frame rate", options->fps.num,
                          options->fps.den);
    if (!reader->source) return motus_media_open(reader, path, error);
    const size_t magic = strlen(MOTUS_Y4M_MAGIC);
    size_t have = motus_source_peek(reader->source, magic, -1);
    if (reader->source->error)
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", reader->name,
                          strerror(reader->source->error));
    if (!have) return motus_fail(error, MOTUS_ERR_FORMAT, "%s: is empty", reader->name);
    int begins_y4m = !memcmp(reader->source->buffer + reader->source->begin, MOTUS_Y4M_MAGIC, have);
    int is_raw = ends_with(path, ".yuv") ||
                 (options->width && (!strcmp(path, "-") || !reader->source->seekable));
    if (ends_with(path, ".y4m") || (begins_y4m && (have == magic || !is_raw)))
        return open_y4m(reader, path, error);
    if (is_raw) return open_raw(reader, options, error);
    return motus_media_open(reader, path, error);
}

MotusStatus motus_reader_open_source(MotusReader **reader, MotusSource *source, const char *path,
                                     const MotusReaderOptions *options, MotusError *error) {
    MotusReader *r = motus_alloc(1, sizeof *r);
    if (!r) {
        motus_source_close(&source);
        return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    }
    r->source = source;
    if (source && options) source->idle = options->idle, source->opaque = options->opaque;
    if (options) r->options = *options;
    snprintf(r->name, sizeof r->name, "%s",
             strcmp(path, "-") ? motus_shown(path) : "standard input");
    MotusStatus status = open_kind(r, path, &r->options, error);
    MotusSequenceInfo *info = &r->info;
    const int width = r->options.width, height = r->options.height;
    if (!status && width && (width != info->width || height != info->height))
        status = motus_fail(error, MOTUS_ERR_ARGUMENT, "%s: pictures are %dx%d, not %dx%d", r->name,
                            info->width, info->height, width, height);
    if (r->options.fps.num) info->fps = r->options.fps, info->variable = 0;
    // Without times of its own, or with a forced rate, the reader counts pictures.
    if (r->options.fps.num || !info->time_base.num)
        info->time_base = (MotusRational){info->fps.den, info->fps.num};
    if (status)
        motus_reader_close(&r);
    else
        *reader = r;
    return status;
}

MotusStatus motus_reader_open(MotusReader **reader, const char *path,
                              const MotusReaderOptions *options, MotusError *error) {
    if (!reader || !path) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no input is named");
    path = motus_plain_path(path);
    if (motus_is_url(path))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: is a URL, and motus opens files; ffmpeg -i URL -f yuv4mpegpipe - "
                          "writes its pictures into a pipe",
                          motus_shown(path));
    MotusSource *source = NULL;
    // A name like img%03d.png stands for files that libavformat opens.
    const char *percent = strchr(path, '%');
    const int is_pattern =
        percent && percent[1 + strspn(percent + 1, "0123456789")] == 'd' && access(path, F_OK);
    MotusStatus status = is_pattern ? MOTUS_OK : motus_source_open(&source, path, error);
    return status ? status : motus_reader_open_source(reader, source, path, options, error);
}

const MotusSequenceInfo *motus_reader_info(const MotusReader *reader) { return &reader->info; }

// True unless the reader counts pictures: without times, or with a forced rate.
static int has_times(const MotusReader *reader) {
    return reader->ops->has_times && !reader->options.fps.num;
}

MotusTime motus_reader_time(const MotusReader *reader, int64_t number) {
    return reader->times[number % MOTUS_READER_TIMES];
}

void motus_reader_log(const MotusReader *reader, MotusLogLevel level, const char *format, ...) {
    char text[300];
    int used = snprintf(text, sizeof text, "%s: %s", reader->name,
                        level == MOTUS_LOG_WARNING ? "" : "note: ");
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, args);
    va_end(args);
    if (reader->options.log) reader->options.log(reader->options.opaque, level, text);
}

MotusStatus motus_reader_next(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    if (!reader || !frame)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "no reader or no pointer for a frame");
    int64_t number = reader->number;
    MotusStatus status = reader->ops->next(reader, frame, error);
    if (!status && !has_times(reader))
        reader->times[number % MOTUS_READER_TIMES] = (MotusTime){number, 1};
    return status;
}

MotusStatus motus_reader_begin(MotusReader *reader, MotusFrame **frame, int64_t *at,
                               MotusError *error) {
    *at = -1;
    reader->samples_at = at;
    MotusStatus status = motus_reader_next(reader, frame, error);
    reader->samples_at = NULL;
    return status;
}

MotusStatus motus_reader_skip(MotusReader *reader, int64_t n, MotusError *error) {
    if (!reader || n < 0)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "cannot skip %lld frames", (long long)n);
    return reader->ops->skip(reader, n, error);
}

int64_t motus_reader_ticks(const MotusReader *reader, int64_t us) {
    const MotusRational unit = reader->info.time_base;
    const long double ticks = (long double)(us - ROUNDING) * unit.den / (1e6L * unit.num);
    const int64_t whole = (int64_t)ticks;
    return ticks > 0 ? whole + ((long double)whole < ticks) : 0;
}

MotusStatus motus_reader_skip_until(MotusReader *reader, int64_t us, MotusError *error) {
    const int64_t ticks = motus_reader_ticks(reader, us);
    return has_times(reader) && reader->ops->skip_until
               ? reader->ops->skip_until(reader, ticks, error)
               : motus_reader_skip(reader, ticks, error); // a frame a tick
}

void motus_reader_close(MotusReader **reader) {
    if (!reader || !*reader) return;
    if ((*reader)->ops && (*reader)->ops->close) (*reader)->ops->close(*reader);
    motus_source_close(&(*reader)->source);
    motus_frame_pool_close(&(*reader)->pool);
    motus_free(*reader);
    *reader = NULL;
}
