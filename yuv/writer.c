// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/writer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/y4m.h"

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
