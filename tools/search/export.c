// SPDX-License-Identifier: BSD-2-Clause
#include "tools/search/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// 11 numbers of at most 20, 10, 2, 2, 2, 5, 5, 6, 6, 5 and 10 characters, and separators.
enum { CSV_ROW_MAX = 112 };

typedef struct FieldRow {
    int64_t frame;
    int mb, block, x, y;
    MotusMv mv;
    uint32_t sad, cost;
} FieldRow;

static FieldRow row_of(const MotusField *field, int64_t frame, int mb, int b) {
    return (FieldRow){.frame = frame,
                      .mb = mb,
                      .block = b,
                      .x = 16 * (mb % field->mb_width) + motus_blocks[b].x,
                      .y = 16 * (mb / field->mb_width) + motus_blocks[b].y,
                      .mv = field->mv[b][mb],
                      .sad = field->sad[b][mb],
                      .cost = field->cost[b][mb]};
}

static size_t format_csv(uint8_t *to, const FieldRow *r) {
    return (size_t)snprintf(
        (char *)to, CSV_ROW_MAX, "%" PRId64 ",%d,%d,%d,%d,%d,%d,%d,%d,%" PRIu32 ",%" PRIu32 "\n",
        r->frame, r->mb, r->block, motus_blocks[r->block].width, motus_blocks[r->block].height,
        r->x, r->y, r->mv.x, r->mv.y, r->sad, r->cost);
}

uint8_t *motus_put_le(uint8_t *to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

static const char npy_columns[] =
    "[('frame', '<i4'), ('mb', '<i4'), ('block', '|u1'), ('w', '|u1'), ('h', '|u1'), ('x', '<u2'), "
    "('y', '<u2'), ('mv_x', '<i2'), ('mv_y', '<i2'), ('sad', '<u2'), ('cost', '<u4')]";

static size_t format_npy(uint8_t *to, const FieldRow *r) {
    uint8_t *p = motus_put_le(to, (uint32_t)r->frame, 4);
    p = motus_put_le(p, (uint32_t)r->mb, 4);
    p = motus_put_le(p, (uint32_t)r->block, 1);
    p = motus_put_le(p, motus_blocks[r->block].width, 1);
    p = motus_put_le(p, motus_blocks[r->block].height, 1);
    p = motus_put_le(p, (uint32_t)r->x, 2);
    p = motus_put_le(p, (uint32_t)r->y, 2);
    p = motus_put_le(p, (uint16_t)r->mv.x, 2);
    p = motus_put_le(p, (uint16_t)r->mv.y, 2);
    p = motus_put_le(p, r->sad, 2);
    p = motus_put_le(p, r->cost, 4);
    return (size_t)(p - to);
}

// Formats the rows and hands them over one MB at a time.
static MotusStatus export_rows(const MotusField *field, int64_t frame, uint32_t modes,
                               size_t (*format)(uint8_t *, const FieldRow *), MotusSink sink,
                               void *opaque) {
    uint8_t text[MOTUS_BLOCKS * CSV_ROW_MAX];
    MotusStatus status = MOTUS_OK;
    for (int mb = 0; mb < field->n_mb && status == MOTUS_OK; mb++) {
        size_t size = 0;
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            if (!(modes >> motus_blocks[b].mode & 1)) continue;
            FieldRow row = row_of(field, frame, mb, b);
            size += format(text + size, &row);
        }
        if (size) status = sink(opaque, text, size);
    }
    return status;
}

MotusStatus motus_field_csv(const MotusField *field, int64_t frame, uint32_t modes, MotusSink sink,
                            void *opaque) {
    return export_rows(field, frame, modes, format_csv, sink, opaque);
}

MotusStatus motus_field_npy(const MotusField *field, int64_t frame, uint32_t modes, MotusSink sink,
                            void *opaque) {
    return export_rows(field, frame, modes, format_npy, sink, opaque);
}

uint64_t motus_field_rows(const MotusField *field, uint32_t modes) {
    uint64_t blocks = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++) blocks += modes >> motus_blocks[b].mode & 1;
    return blocks * (uint64_t)field->n_mb;
}

void motus_npy_header(char *header, size_t size, const char *descr, const char *shape) {
    memset(header, ' ', size);
    memcpy(header, "\x93NUMPY\x01", 8); // the version ends with a zero
    motus_put_le((uint8_t *)header + 8, (uint32_t)size - 10, 2);
    const int length =
        snprintf(header + 10, size - 10, "{'descr': %s, 'fortran_order': False, 'shape': %s, }",
                 descr, shape);
    header[10 + length] = ' '; // instead of the terminating zero
    header[size - 1] = '\n';
}

void motus_field_npy_header(char header[MOTUS_FIELD_NPY_HEADER_SIZE], uint64_t n_rows) {
    char shape[32];
    snprintf(shape, sizeof shape, "(%" PRIu64 ",)", n_rows);
    motus_npy_header(header, MOTUS_FIELD_NPY_HEADER_SIZE, npy_columns, shape);
}
