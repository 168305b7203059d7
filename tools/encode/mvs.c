// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/mvs.h"

#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/options.h"
#include "yuv/io/writer.h"

#define ROW_BYTES 15
#define NPY_HEADER_BYTES 320 // a multiple of 64, with room for any number of rows

struct MotusMvsFile {
    MotusOutput *out;
    int npy;
    uint64_t n_rows;
};

static const char csv_header[] = "frame,x,y,mv_x,mv_y,w,h,skip\n";
static const char npy_columns[] = "[('frame', '<i4'), ('x', '<u2'), ('y', '<u2'), ('mv_x', '<i2'), "
                                  "('mv_y', '<i2'), ('w', '|u1'), "
                                  "('h', '|u1'), ('skip', '|u1')]";

static uint8_t *put16(uint8_t *p, unsigned v) {
    *p++ = (uint8_t)v;
    *p++ = (uint8_t)(v >> 8);
    return p;
}

static MotusStatus put_binary(MotusMvsFile *mvs, int64_t frame, const MotusCodedMv *b,
                              MotusError *error) {
    uint8_t row[ROW_BYTES], *p = put16(row, (unsigned)frame & 0xFFFF);
    p = put16(p, (unsigned)(frame >> 16) & 0xFFFF);
    p = put16(put16(p, b->x), b->y);
    p = put16(put16(p, (uint16_t)b->mv.x), (uint16_t)b->mv.y);
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

// NumPy's format 1.0: magic, length of the text, text padded with spaces and a newline.
static void npy_header(char header[NPY_HEADER_BYTES], uint64_t n_rows) {
    static const char magic[8] = "\x93NUMPY\x01";
    memset(header, ' ', NPY_HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    put16((uint8_t *)header + 8, NPY_HEADER_BYTES - 10);
    int length = snprintf(header + 10, NPY_HEADER_BYTES - 10,
                          "{'descr': %s, 'fortran_order': False, 'shape': (%llu,), }", npy_columns,
                          (unsigned long long)n_rows);
    header[10 + length] = ' '; // where the text's terminating zero was
    header[NPY_HEADER_BYTES - 1] = '\n';
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
