// Headerless sequences, and the reading of planes that y4m shares.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "yuv/reader_ops.h"

int64_t motus_picture_bytes(const MotusSequenceInfo *info) {
    int64_t chroma = (int64_t)((info->width + 1) / 2) * ((info->height + 1) / 2);
    return (int64_t)info->width * info->height + 2 * chroma;
}

// The input ended after `got` bytes of the picture `number`.
static MotusStatus cut_picture(MotusReader *reader, int64_t number, int64_t got, MotusError *error) {
    if (reader->source->error) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", reader->name, strerror(reader->source->error));
    return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: ends inside frame %lld, after %lld of the %lld bytes of a %dx%d picture",
                      reader->name, (long long)number, (long long)got, (long long)motus_picture_bytes(&reader->info),
                      reader->info.width, reader->info.height);
}

// Returns how many bytes came.
static int64_t read_planes(MotusSource *source, MotusFrame *frame) {
    int64_t total = 0;
    for (int i = 0; i < 3; i++) {
        const MotusPlane *plane = &frame->plane[i];
        for (int y = 0; y < plane->height; y++) {
            size_t got = motus_source_read(source, plane->data + y * plane->stride, (size_t)plane->width);
            total += (int64_t)got;
            if (got < (size_t)plane->width) return total;
        }
    }
    return total;
}

MotusStatus motus_picture_read(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    int64_t left = reader->source->size - motus_source_position(reader->source);
    if (reader->source->size >= 0 && left < motus_picture_bytes(&reader->info)) { // no memory for what cannot come
        motus_source_skip(reader->source, left);
        return cut_picture(reader, reader->number, left > 0 ? left : 0, error);
    }
    MotusFrame *f = NULL;
    MotusStatus status = motus_frame_alloc(&f, reader->info.width, reader->info.height);
    if (status) return motus_fail(error, status, "%s: out of memory", reader->name);
    int64_t got = read_planes(reader->source, f);
    if (got < motus_picture_bytes(&reader->info)) {
        motus_frame_unref(&f);
        return cut_picture(reader, reader->number, got, error);
    }
    f->number = reader->number++;
    *frame = f;
    return MOTUS_OK;
}

MotusStatus motus_picture_skip(MotusReader *reader, int64_t n, MotusError *error) {
    int64_t size = motus_picture_bytes(&reader->info);
    if (n > INT64_MAX / size) n = INT64_MAX / size; // more than any file holds
    int64_t got = motus_source_skip(reader->source, n * size);
    reader->number += got / size;
    if (got == n * size) return MOTUS_OK;
    if (got % size || reader->source->error) return cut_picture(reader, reader->number, got % size, error);
    return MOTUS_END;
}

static MotusStatus raw_next(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    if (!motus_source_peek(reader->source, 1, -1) && !reader->source->error) return MOTUS_END;
    return motus_picture_read(reader, frame, error);
}

void motus_raw_open(MotusReader *reader) {
    static const MotusReaderOps ops = {raw_next, motus_picture_skip, NULL};
    reader->ops = &ops;
    reader->info.format = "yuv";
    if (reader->source->size >= 0)
        reader->info.frames = (reader->source->size - motus_source_position(reader->source)) / motus_picture_bytes(&reader->info);
}
