// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/mvs.h"

#include <stdio.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/options.h"
#include "tools/search/export.h"
#include "yuv/io/writer.h"

enum { ROW_BYTES = 15, NPY_HEADER_BYTES = 320 };

struct MotusMvsFile {
    MotusOutput *out;
    int npy;
    uint64_t n_rows;
};

static const char csv_header[] = "frame,x,y,mv_x,mv_y,w,h,skip\n";
static const char npy_columns[] =
    "[('frame', '<i4'), ('x', '<u2'), ('y', '<u2'), ('mv_x', '<i2'), ('mv_y', '<i2'), "
    "('w', '|u1'), ('h', '|u1'), ('skip', '|u1')]";

static MotusStatus put_binary(MotusMvsFile *mvs, int64_t frame, const MotusCodedMv *b,
                              MotusError *error) {
    uint8_t row[ROW_BYTES], *p = motus_put_le(row, (uint32_t)frame, 4);
    p = motus_put_le(motus_put_le(p, b->x, 2), b->y, 2);
    p = motus_put_le(motus_put_le(p, (uint16_t)b->mv.x, 2), (uint16_t)b->mv.y, 2);
    *p++ = b->width;
    *p++ = b->height;
    *p = b->skip;
    return motus_output_write(mvs->out, row, sizeof row, error);
}

static MotusStatus put_text(MotusMvsFile *mvs, int64_t frame, const MotusCodedMv *b,
                            MotusError *error) {
    char line[96];
    int length = snprintf(line, sizeof line, "%lld,%d,%d,%d,%d,%d,%d,%d\n", (long long)frame, b->x,
                          b->y, b->mv.x, b->mv.y, b->width, b->height, b->skip);
    return motus_output_write(mvs->out, line, (size_t)length, error);
}

static void npy_header(char header[NPY_HEADER_BYTES], uint64_t n_rows) {
    char shape[32];
    snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)n_rows);
    motus_npy_header(header, NPY_HEADER_BYTES, npy_columns, shape);
}

MotusStatus motus_mvs_open(MotusMvsFile **mvs, const char *path, MotusError *error) {
    char header[NPY_HEADER_BYTES];
    MotusMvsFile *m = *mvs = motus_alloc(1, sizeof *m);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    m->npy = motus_has_ending(path, ".npy\0");
    npy_header(header, 0);
    MotusStatus status = motus_output_open(&m->out, path, error);
    if (!status)
        status = m->npy ? motus_output_write(m->out, header, sizeof header, error)
                        : motus_output_write(m->out, csv_header, sizeof csv_header - 1, error);
    if (status) motus_mvs_abandon(mvs);
    return status;
}

MotusStatus motus_mvs_picture(MotusMvsFile *mvs, const MotusPacket *picture, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (size_t i = 0; i < picture->n_mvs && !status; i++)
        status = (mvs->npy ? put_binary : put_text)(mvs, picture->number, &picture->mvs[i], error);
    mvs->n_rows += picture->n_mvs;
    return status;
}

MotusStatus motus_mvs_commit(MotusMvsFile **mvs, MotusError *error) {
    MotusMvsFile *m = *mvs;
    char header[NPY_HEADER_BYTES];
    npy_header(header, m->n_rows);
    MotusStatus status =
        m->npy ? motus_output_rewrite(m->out, header, sizeof header, error) : MOTUS_OK;
    if (!status) status = motus_output_commit(&m->out, error);
    motus_mvs_abandon(mvs);
    return status;
}

void motus_mvs_abandon(MotusMvsFile **mvs) {
    if (!mvs || !*mvs) return;
    motus_output_abandon(&(*mvs)->out);
    motus_free(*mvs);
    *mvs = NULL;
}
