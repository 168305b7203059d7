// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mvs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/options.h"
#include "yuv/writer.h"

#define ROW_BYTES 15

struct MotusMvsFile {
    MotusOutput *out;
    FILE *rows; // .npy: its header says how many rows follow, so they wait here; NULL for .csv
    uint64_t n_rows;
};

static const char csv_header[] = "frame,x,y,mv_x,mv_y,w,h,skip\n";
static const char npy_columns[] =
    "[('frame', '<i4'), ('x', '<u2'), ('y', '<u2'), ('mv_x', '<i2'), ('mv_y', '<i2'), ('w', '|u1'), "
    "('h', '|u1'), ('skip', '|u1')]";

static MotusStatus spool_failed(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_IO, "temporary file for vectors: %s", strerror(errno));
}

MotusStatus motus_mvs_open(MotusMvsFile **mvs, const char *path, MotusError *error) {
    MotusMvsFile *m = *mvs = motus_alloc(1, sizeof *m);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    MotusStatus status = motus_output_open(&m->out, path, error);
    if (!status && motus_has_ending(path, ".npy\0")) {
        if (!(m->rows = tmpfile())) status = spool_failed(error);
    } else if (!status) {
        status = motus_output_write(m->out, csv_header, sizeof csv_header - 1, error);
    }
    if (status) motus_mvs_abandon(mvs);
    return status;
}

static uint8_t *put16(uint8_t *p, unsigned v) {
    *p++ = (uint8_t)v;
    *p++ = (uint8_t)(v >> 8);
    return p;
}

static MotusStatus put_binary(MotusMvsFile *mvs, int64_t frame, const MotusCodedMv *b, MotusError *error) {
    uint8_t row[ROW_BYTES], *p = put16(row, (unsigned)frame & 0xFFFF);
    p = put16(p, (unsigned)(frame >> 16) & 0xFFFF);
    p = put16(put16(p, b->x), b->y);
    p = put16(put16(p, (uint16_t)b->mv.x), (uint16_t)b->mv.y);
    *p++ = b->width;
    *p++ = b->height;
    *p = b->skip;
    return fwrite(row, sizeof row, 1, mvs->rows) == 1 ? MOTUS_OK : spool_failed(error);
}

static MotusStatus put_text(MotusMvsFile *mvs, int64_t frame, const MotusCodedMv *b, MotusError *error) {
    char line[96];
    int length = snprintf(line, sizeof line, "%lld,%d,%d,%d,%d,%d,%d,%d\n", (long long)frame, b->x, b->y, b->mv.x, b->mv.y,
                          b->width, b->height, b->skip);
    return motus_output_write(mvs->out, line, (size_t)length, error);
}

MotusStatus motus_mvs_picture(MotusMvsFile *mvs, const MotusPicture *picture, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (size_t i = 0; i < picture->n_mvs && !status; i++)
        status = (mvs->rows ? put_binary : put_text)(mvs, picture->number, &picture->mvs[i], error);
    mvs->n_rows += picture->n_mvs;
    return status;
}

// NumPy's format 1.0: magic, length of the text, text padded so that the rows begin at a multiple of 64.
static MotusStatus put_npy_header(MotusMvsFile *mvs, MotusError *error) {
    char header[512] = "\x93NUMPY\x01";
    int length = snprintf(header + 10, sizeof header - 10, "{'descr': %s, 'fortran_order': False, 'shape': (%llu,), }",
                          npy_columns, (unsigned long long)mvs->n_rows);
    size_t end = (10 + (size_t)length + 1 + 63) / 64 * 64;
    memset(header + 10 + length, ' ', end - 10 - (size_t)length);
    header[end - 1] = '\n';
    put16((uint8_t *)header + 8, (unsigned)(end - 10));
    return motus_output_write(mvs->out, header, end, error);
}

static MotusStatus copy_rows(MotusMvsFile *mvs, MotusError *error) {
    char block[16384];
    size_t n;
    if (fflush(mvs->rows) || fseek(mvs->rows, 0, SEEK_SET)) return spool_failed(error);
    MotusStatus status = MOTUS_OK;
    while (!status && (n = fread(block, 1, sizeof block, mvs->rows)) > 0) status = motus_output_write(mvs->out, block, n, error);
    return !status && ferror(mvs->rows) ? spool_failed(error) : status;
}

MotusStatus motus_mvs_commit(MotusMvsFile **mvs, MotusError *error) {
    MotusMvsFile *m = *mvs;
    MotusStatus status = MOTUS_OK;
    if (m->rows) status = put_npy_header(m, error);
    if (m->rows && !status) status = copy_rows(m, error);
    if (!status) status = motus_output_commit(&m->out, error);
    motus_mvs_abandon(mvs);
    return status;
}

void motus_mvs_abandon(MotusMvsFile **mvs) {
    if (!mvs || !*mvs) return;
    motus_output_abandon(&(*mvs)->out);
    if ((*mvs)->rows) fclose((*mvs)->rows);
    motus_free(*mvs);
    *mvs = NULL;
}
