// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/reader_ops.h"

#include <limits.h>
#include <string.h>

#include "common/error.h"

// Tags of the stream header, not yet checked.
typedef struct Tags {
    int width, height;
    MotusRational fps, sar; // 0/0: unknown
    char interlace;         // 'p' progressive, '?' unknown, 't', 'b', 'm'
    int full_range;         // as in MotusColour
    const char *chroma;     // "420jpeg"...; not terminated
    size_t chroma_length;
    int has_c_tag; // tag C wins over the older comment XYSCSS
} Tags;

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

static int parse_size(const char *p, const char *end, int *value) {
    return parse_int(&p, end, value) && p == end;
}

// Parses "30000:1001"; a zero denominator is only valid in "0:0".
static int parse_ratio(const char *p, const char *end, MotusRational *ratio) {
    if (!parse_int(&p, end, &ratio->num) || p == end || *p++ != ':') return 0;
    return parse_int(&p, end, &ratio->den) && p == end && (ratio->den || !ratio->num);
}

static int equal(const char *p, const char *end, const char *word) {
    return (size_t)(end - p) == strlen(word) && !memcmp(p, word, strlen(word));
}

// Parses the X tags that other programs share; all others are comments.
static void parse_comment(Tags *tags, const char *p, const char *end) {
    static const char yscss[] = "YSCSS=";
    if (equal(p, end, "COLORRANGE=FULL")) tags->full_range = 1;
    if (equal(p, end, "COLORRANGE=LIMITED")) tags->full_range = 0;
    if (!tags->has_c_tag && (size_t)(end - p) >= strlen(yscss) &&
        !memcmp(p, yscss, strlen(yscss))) {
        tags->chroma = p + strlen(yscss);
        tags->chroma_length = (size_t)(end - tags->chroma);
    }
}

static int parse_tag(Tags *tags, const char *p, const char *end) {
    switch (*p++) {
    case 'W':
        return parse_size(p, end, &tags->width);
    case 'H':
        return parse_size(p, end, &tags->height);
    case 'F':
        return parse_ratio(p, end, &tags->fps);
    case 'A':
        return parse_ratio(p, end, &tags->sar);
    case 'I':
        tags->interlace = p < end ? *p : 0;
        return end - p == 1 && memchr("p?tbm", *p, 5) != NULL;
    case 'C':
        tags->chroma = p;
        tags->chroma_length = (size_t)(end - p);
        tags->has_c_tag = 1;
        return p < end;
    case 'X':
        parse_comment(tags, p, end);
        return 1;
    default:
        return 1; // unknown tags are ignored
    }
}

static MotusStatus parse_tags(Tags *tags, const char *p, const char *end, const char *name,
                              MotusError *error) {
    while (p < end) {
        const char *stop = memchr(p, ' ', (size_t)(end - p));
        if (!stop) stop = end;
        if (stop > p && !parse_tag(tags, p, stop))
            return motus_fail(error, MOTUS_ERR_FORMAT, "%s: bad y4m header tag \"%.*s\"", name,
                              stop - p > 60 ? 60 : (int)(stop - p), p);
        p = stop < end ? stop + 1 : end;
    }
    return MOTUS_OK;
}

// Finds the chroma_sample_loc_type of a 4:2:0 name. Returns 0 if it is not 8-bit 4:2:0. Upper case
// is the older YSCSS spelling.
static int chroma_420(const Tags *tags, int *location) {
    static const struct {
        const char *name, *older;
        int location;
    } kinds[] = {{"420", "420", -1},
                 {"420jpeg", "420JPEG", 1},
                 {"420mpeg2", "420MPEG2", 0},
                 {"420paldv", "420PALDV", 2}};
    const char *end = tags->chroma + tags->chroma_length;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (equal(tags->chroma, end, kinds[i].name) || equal(tags->chroma, end, kinds[i].older)) {
            *location = kinds[i].location;
            return 1;
        }
    return 0;
}

// Checks the tags and fills in the header.
static MotusStatus check_tags(MotusY4mHeader *header, const Tags *tags, const char *name,
                              MotusError *error) {
    if (tags->width < 0 || tags->height < 0)
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: the y4m header gives no %s", name,
                          tags->width < 0 ? "width" : "height");
    if (tags->width < 1 || tags->width > MOTUS_MAX_SIZE || tags->height < 1 ||
        tags->height > MOTUS_MAX_SIZE)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: size %dx%d is out of the range 1x1 to %dx%d", name, tags->width,
                          tags->height, MOTUS_MAX_SIZE, MOTUS_MAX_SIZE);
    MotusSequenceInfo *info = &header->info;
    *info = (MotusSequenceInfo){.width = tags->width,
                                .height = tags->height,
                                .fps = {25, 1},
                                .frames = -1,
                                .colour = MOTUS_COLOUR_UNKNOWN,
                                .format = "y4m"};
    if (tags->fps.num) info->fps = tags->fps;
    if (tags->sar.num) info->colour.sar = tags->sar;
    info->colour.full_range = tags->full_range;
    header->interlaced = tags->interlace == 'p' || tags->interlace == '?' ? 0 : tags->interlace;
    header->is_420 = chroma_420(tags, &info->colour.chroma_location);
    return MOTUS_OK;
}

MotusStatus motus_y4m_header(MotusSource *source, MotusY4mHeader *header, const char *name,
                             MotusError *error) {
    size_t length = motus_source_peek(source, MOTUS_Y4M_MAX_LINE, '\n');
    const char *line = (const char *)motus_source_ahead(source);
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
    Tags tags = {-1, -1, {0, 0}, {0, 0}, '?', -1, "420", 3, 0};
    MotusStatus status = parse_tags(&tags, line + magic, line + length - 1, name, error);
    header->length = length;
    return status ? status : check_tags(header, &tags, name, error);
}

// Consumes the line before a picture. Its parameters, about fields, are ignored.
static MotusStatus frame_line(MotusReader *reader, MotusError *error) {
    MotusSource *source = reader->source;
    size_t length = motus_source_peek(source, MOTUS_Y4M_MAX_LINE, '\n');
    const char *line = (const char *)motus_source_ahead(source);
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
