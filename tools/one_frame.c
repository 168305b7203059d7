// SPDX-License-Identifier: BSD-2-Clause
#include "tools/one_frame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "tools/png.h"

enum { GAP = 4, GAP_SHADE = 128 };

MotusStatus motus_frame_read(MotusFrame **frame, const char *path, int number, const int size[2], MotusError *error) {
    MotusReader *reader = NULL;
    const MotusReaderOptions options = {.width = size[0], .height = size[1]};
    MotusStatus status = motus_reader_open(&reader, path, &options, error);
    if (!status && number) status = motus_reader_skip(reader, number, error);
    if (!status) status = motus_reader_next(reader, frame, error);
    motus_reader_close(&reader);
    return status == MOTUS_END ? motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: has no frame %d", motus_shown(path), number)
                               : status;
}

MotusPlane motus_plane_new(int width, int height) {
    return (MotusPlane){motus_alloc((size_t)width, (size_t)height), width, width, height};
}

void motus_plane_free(MotusPlane *plane) {
    motus_free(plane->data);
    plane->data = NULL;
}

void motus_plane_paste(const MotusPlane *dst, const MotusPlane *src, int x, int y) {
    for (int r = 0; r < src->height; r++)
        memcpy(dst->data + (y + r) * dst->stride + x, src->data + r * src->stride, (size_t)src->width);
}

uint8_t motus_log_shade(double v, double most) {
    return (uint8_t)lround(255 * log1p(fmin(fabs(v), most)) / log1p(fmax(most, 1)));
}

MotusStatus motus_directory_make(const char *path, MotusError *error) {
    struct stat is;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &is) && S_ISDIR(is.st_mode))) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path), errno == EEXIST ? "is no directory" : strerror(errno));
}

MotusStatus motus_strip_write(const char *directory, const char *name, const MotusPlane *planes, int n, MotusError *error) {
    int width = GAP * (n - 1), height = 0, x = 0;
    for (int i = 0; i < n; i++) width += planes[i].width, height = motus_max(height, planes[i].height);
    MotusStatus status = motus_directory_make(directory, error);
    if (status) return status;
    MotusPlane strip = motus_plane_new(width, height);
    if (!strip.data) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    memset(strip.data, GAP_SHADE, (size_t)width * (size_t)height);
    for (int i = 0; i < n; x += planes[i].width + GAP, i++) motus_plane_paste(&strip, &planes[i], x, 0);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    status = motus_png_write(path, &strip, 1, error);
    motus_plane_free(&strip);
    return status;
}
