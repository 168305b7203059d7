// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/reader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/reader_ops.h"
#include "yuv/y4m.h"

static int ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), e = strlen(ending);
    return n >= e && !strcasecmp(name + n - e, ending);
}

static MotusStatus check_options(const MotusReaderOptions *o, MotusError *error) {
    int given = o->width || o->height;
    if (given && (o->width < 1 || o->width > MOTUS_MAX_SIZE || o->height < 1 || o->height > MOTUS_MAX_SIZE))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "size %dx%d is out of the range 1x1 to %dx%d", o->width, o->height,
                          MOTUS_MAX_SIZE, MOTUS_MAX_SIZE);
    if (o->fps.num < 0 || (o->fps.num && o->fps.den < 1))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "%d/%d is not a frame rate", o->fps.num, o->fps.den);
    return MOTUS_OK;
}

static MotusStatus open_y4m(MotusReader *reader, const char *path, int threads, MotusError *error) {
    MotusY4mHeader header;
    MotusStatus status = motus_y4m_header(reader->source, &header, reader->name, error);
    if (status) return status;
    if (!header.is_420) return motus_media_open(reader, path, threads, error);
    motus_y4m_open(reader, &header);
    return MOTUS_OK;
}

static MotusStatus open_raw(MotusReader *reader, const MotusReaderOptions *options, MotusError *error) {
    if (!options->width)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "%s: has no header, so its size WxH must be given", reader->name);
    reader->info = (MotusSequenceInfo){options->width, options->height, {25, 1}, -1, MOTUS_COLOUR_UNKNOWN, NULL};
    motus_raw_open(reader);
    return MOTUS_OK;
}

// The kind is found by content, then by the name. With a size, whatever is no file (a pipe) is headerless.
static MotusStatus open_kind(MotusReader *reader, const char *path, const MotusReaderOptions *options, MotusError *error) {
    MotusStatus status = check_options(options, error);
    if (status) return status;
    if (!reader->source) return motus_media_open(reader, path, options->threads, error);
    const size_t magic = strlen(MOTUS_Y4M_MAGIC);
    size_t have = motus_source_peek(reader->source, magic, -1);
    if (reader->source->error) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", reader->name, strerror(reader->source->error));
    if (!have) return motus_fail(error, MOTUS_ERR_FORMAT, "%s: is empty", reader->name);
    int begins_y4m = !memcmp(motus_source_ahead(reader->source), MOTUS_Y4M_MAGIC, have);
    int is_raw = ends_with(path, ".yuv") || (options->width && (!strcmp(path, "-") || !reader->source->seekable));
    if (ends_with(path, ".y4m") || (begins_y4m && (have == magic || !is_raw)))
        return open_y4m(reader, path, options->threads, error);
    if (is_raw) return open_raw(reader, options, error);
    return motus_media_open(reader, path, options->threads, error);
}

static MotusStatus apply_options(MotusReader *reader, const MotusReaderOptions *options, MotusError *error) {
    MotusSequenceInfo *info = &reader->info;
    if (options->width && (options->width != info->width || options->height != info->height))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "%s: pictures are %dx%d, not %dx%d", reader->name, info->width, info->height,
                          options->width, options->height);
    if (options->fps.num) info->fps = options->fps;
    return MOTUS_OK;
}

MotusStatus motus_reader_open_source(MotusReader **reader, MotusSource *source, const char *path,
                                     const MotusReaderOptions *options, MotusError *error) {
    MotusReader *r = motus_alloc(1, sizeof *r);
    if (!r) {
        motus_source_close(&source);
        return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    }
    r->source = source;
    snprintf(r->name, sizeof r->name, "%s", strcmp(path, "-") ? motus_shown(path) : "standard input");
    MotusStatus status = open_kind(r, path, options, error);
    if (!status) status = apply_options(r, options, error);
    if (status)
        motus_reader_close(&r);
    else
        *reader = r;
    return status;
}

// A name like img%03d.png stands for many files, which libavformat opens by itself.
static int is_pattern(const char *path) {
    const char *percent = strchr(path, '%');
    return percent && percent[1 + strspn(percent + 1, "0123456789")] == 'd' && access(path, F_OK);
}

MotusStatus motus_reader_open(MotusReader **reader, const char *path, const MotusReaderOptions *options, MotusError *error) {
    static const MotusReaderOptions none = {0, 0, {0, 1}, 0};
    if (!reader || !path) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no input is named");
    if (!options) options = &none;
    MotusSource *source = NULL;
    MotusStatus status = is_pattern(path) ? MOTUS_OK : motus_source_open(&source, path, error);
    return status ? status : motus_reader_open_source(reader, source, path, options, error);
}

const MotusSequenceInfo *motus_reader_info(const MotusReader *reader) { return &reader->info; }

MotusStatus motus_reader_next(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    if (!reader || !frame) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no reader or no place for a frame");
    return reader->ops->next(reader, frame, error);
}

MotusStatus motus_reader_skip(MotusReader *reader, int64_t n, MotusError *error) {
    if (!reader || n < 0) return motus_fail(error, MOTUS_ERR_ARGUMENT, "cannot skip %lld frames", (long long)n);
    return reader->ops->skip(reader, n, error);
}

void motus_reader_close(MotusReader **reader) {
    if (!reader || !*reader) return;
    if ((*reader)->ops && (*reader)->ops->close) (*reader)->ops->close(*reader);
    motus_source_close(&(*reader)->source);
    motus_free(*reader);
    *reader = NULL;
}
