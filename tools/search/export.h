// Motion fields as tables: CSV text, or rows of a NumPy structured array. One row per block of the
// modes asked for; MBs in raster order, blocks in the order of motus_blocks, also of MBs that reach
// beyond the picture. Columns: frame, mb (raster number), block (0..40), w, h (samples), x, y
// (top-left corner, samples), mv_x, mv_y (quarter samples), sad, cost.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SEARCH_EXPORT_H
#define TOOLS_SEARCH_EXPORT_H

#include <stddef.h>

#include "motus/me.h"

// Takes bytes. Any status but MOTUS_OK ends the export with it.
typedef MotusStatus (*MotusSink)(void *opaque, const void *data, size_t size);

#define MOTUS_FIELD_CSV_HEADER "frame,mb,block,w,h,x,y,mv_x,mv_y,sad,cost\n"

// Writes the rows of a field for a mask of modes as CSV, without header.
MotusStatus motus_field_csv(const MotusField *field, int64_t frame, uint32_t modes, MotusSink sink,
                            void *opaque);

#define MOTUS_FIELD_NPY_HEADER_SIZE 384
#define MOTUS_FIELD_NPY_ROW_SIZE 25

// Writes the same rows as motus_field_rows(...) little-endian rows of MOTUS_FIELD_NPY_ROW_SIZE
// bytes.
MotusStatus motus_field_npy(const MotusField *field, int64_t frame, uint32_t modes, MotusSink sink,
                            void *opaque);
uint64_t motus_field_rows(const MotusField *field, uint32_t modes);

// Writes the header of an .npy file with n_rows of these rows.
void motus_field_npy_header(char header[MOTUS_FIELD_NPY_HEADER_SIZE], uint64_t n_rows);

// Writes the header of an .npy file (format 1.0) of `size` bytes, a multiple of 64: the type of an
// element (descr) and the shape, "(%d,)". The fixed size allows to rewrite it when the shape is
// known.
void motus_npy_header(char *header, size_t size, const char *descr, const char *shape);

// Writes `value` in little-endian order. Returns the byte behind it.
uint8_t *motus_put_le(uint8_t *to, uint32_t value, int bytes);

#endif
