// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/reader_ops.h"

#include <limits.h>
#include <string.h>

#include "common/error.h"
#include "yuv/usable.h"

static int parse_int(const char **p, const char *end, int *value) {
    const char *start = *p;
    int v = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        if (v > (INT_MAX - 9) / 10) return 0;
        v = v * 10 + **p - '0';
    }
    *value = v;
    return *p > start;
}

// Parses "30000:1001"; a zero denominator is only valid in "0:0".
static int parse_ratio(const char *p, const char *end, MotusRational *ratio) {
    if (!parse_int(&p, end, &ratio->num) || p == end || *p++ != ':') return 0;
    return parse_int(&p, end, &ratio->den) && p == end && (ratio->den || !ratio->num);
}

static int equal(const char *p, const char *end, const char *word) {
    return (size_t)(end - p) == strlen(word) && !memcmp(p, word, strlen(word));
}

// Reads the name of a pixel format. Upper case is the older YSCSS spelling.
static void parse_chroma(MotusY4mHeader *header, const char *p, const char *end) {
    static const struct {
        const char *name, *older;
        int location; // chroma_sample_loc_type
    } kinds[] = {{"420", "420", -1},
                 {"420jpeg", "420JPEG", 1},
                 {"420mpeg2", "420MPEG2", 0},
                 {"420paldv", "420PALDV", 2}};
    header->is_420 = 0;
    header->info.colour.chroma_location = -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (equal(p, end, kinds[i].name) || equal(p, end, kinds[i].older)) {
            header->is_420 = 1;
            header->info.colour.chroma_location = kinds[i].location;
        }
}

// Returns 0 if the tag cannot be. Unknown ones are ignored, and of X, which are comments, all but
// those that other programs share.
static int parse_tag(MotusY4mHeader *header, const char *p, const char *end) {
    static const char yscss[] = "YSCSS=";
    MotusSequenceInfo *info = &header->info;
    MotusRational ratio = {0, 0};
    switch (*p++) {
    case 'W':
        return parse_int(&p, end, &info->width) && p == end;
    case 'H':
        return parse_int(&p, end, &info->height) && p == end;
    case 'F':
        if (!parse_ratio(p, end, &ratio) || (ratio.num && !motus_rate_usable(ratio))) return 0;
        info->fps = ratio.num ? ratio : (MotusRational){25, 1};
        return 1;
    case 'A':
        if (!parse_ratio(p, end, &ratio)) return 0;
        info->colour.sar = ratio.num ? ratio : (MotusRational){0, 1};
        return 1;
    case 'I':
        header->interlaced = p < end && memchr("tbm", *p, 3) ? *p : 0;
        return end - p == 1 && memchr("p?tbm", *p, 5) != NULL;
    case 'C':
        header->has_c_tag = 1;
        parse_chroma(header, p, end);
        return p < end;
    case 'X':
        if (equal(p, end, "COLORRANGE=FULL")) info->colour.full_range = 1;
        if (equal(p, end, "COLORRANGE=LIMITED")) info->colour.full_range = 0;
        if (!header->has_c_tag && (size_t)(end - p) >= strlen(yscss) &&
            !memcmp(p, yscss, strlen(yscss)))
            parse_chroma(header, p + strlen(yscss), end);
        return 1;
    default:
        return 1;
    }
}

// Parses and checks the tags of the line from p on.
static MotusStatus parse_tags(MotusY4mHeader *header, const char *p, const char *end,
                              const char *name, MotusError *error) {
    MotusSequenceInfo *info = &header->info;
    header->is_420 = 1;
    *info = (MotusSequenceInfo){.width = -1,
                                .height = -1,
                                .fps = {25, 1},
                                .frames = -1,
                                .colour = MOTUS_COLOUR_UNKNOWN,
                                .format = "y4m"};
    while (p < end) {
        const char *stop = memchr(p, ' ', (size_t)(end - p));
        if (!stop) stop = end;
        if (stop > p && !parse_tag(header, p, stop))
            return motus_fail(error, MOTUS_ERR_FORMAT, "%s: bad y4m header tag \"%.*s\"", name,
                              stop - p > 60 ? 60 : (int)(stop - p), p);
        p = stop < end ? stop + 1 : end;
    }
    if (info->width < 0 || info->height < 0)
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: the y4m header gives no %s", name,
                          info->width < 0 ? "width" : "height");
    if (!motus_size_usable(info->width, info->height))
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: size %dx%d is out of the range 1x1 to %dx%d", name, info->width,
                          info->height, MOTUS_MAX_SIZE, MOTUS_MAX_SIZE);
    return MOTUS_OK;
}

MotusStatus motus_y4m_header(MotusSource *source, MotusY4mHeader *header, const char *name,
                             MotusError *error) {
    size_t length = motus_source_peek(source, MOTUS_Y4M_MAX_LINE, '\n');
    const char *line = (const char *)source->buffer + source->begin;
    const size_t magic = strlen(MOTUS_Y4M_MAGIC);
    if (source->error)
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", name, strerror(source->error));
    if (!length || line[length - 1] != '\n')
        return length < MOTUS_Y4M_MAX_LINE
                   ? motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: ends inside the y4m header", name)
                   : motus_fail(error, MOTUS_ERR_FORMAT,
                                "%s: the y4m header is longer than %d bytes", name,
                                MOTUS_Y4M_MAX_LINE);
    if (length <= magic || memcmp(line, MOTUS_Y4M_MAGIC, magic) ||
        (line[magic] != ' ' && line[magic] != '\n'))
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: does not begin with " MOTUS_Y4M_MAGIC,
                          name);
    *header = (MotusY4mHeader){.length = length};
    return parse_tags(header, line + magic, line + length - 1, name, error);
}

// Consumes the line before a picture. Its parameters, about fields, are ignored.
static MotusStatus frame_line(MotusReader *reader, MotusError *error) {
    MotusSource *source = reader->source;
    size_t length = motus_source_peek(source, MOTUS_Y4M_MAX_LINE, '\n');
    const char *line = (const char *)source->buffer + source->begin;
    long long number = (long long)reader->number;
    if (source->error)
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", reader->name, strerror(source->error));
    if (!length) return MOTUS_END;
    if (memcmp(line, "FRAME", length < 5 ? length : 5) ||
        (length > 5 && line[5] != ' ' && line[5] != '\n'))
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: frame %lld does not begin with FRAME",
                          reader->name, number);
    if (line[length - 1] != '\n')
        return length < MOTUS_Y4M_MAX_LINE
                   ? motus_fail(error, MOTUS_ERR_TRUNCATED,
                                "%s: ends inside the header of frame %lld", reader->name, number)
                   : motus_fail(error, MOTUS_ERR_FORMAT,
                                "%s: the header of frame %lld is longer than %d bytes",
                                reader->name, number, MOTUS_Y4M_MAX_LINE);
    motus_source_skip(source, (int64_t)length);
    return MOTUS_OK;
}

static MotusStatus y4m_next(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    MotusStatus status = frame_line(reader, error);
    return status ? status : motus_picture_read(reader, frame, error);
}

static MotusStatus y4m_skip(MotusReader *reader, int64_t n, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (; n > 0 && !status; n--) {
        status = frame_line(reader, error);
        if (!status) status = motus_picture_skip(reader, 1, error);
    }
    return status;
}

void motus_y4m_open(MotusReader *reader, const MotusY4mHeader *header) {
    static const MotusReaderOps ops = {.next = y4m_next, .skip = y4m_skip};
    reader->ops = &ops;
    reader->info = header->info;
    motus_source_skip(reader->source, (int64_t)header->length);
    if (reader->source->size < 0) return;
    // Assumes that all frame headers are as long as the first one.
    int64_t left = reader->source->size - motus_source_position(reader->source);
    int64_t line = (int64_t)motus_source_peek(reader->source, MOTUS_Y4M_MAX_LINE, '\n');
    reader->info.frames = left > 0 ? left / (line + motus_picture_bytes(&reader->info)) : 0;
}
