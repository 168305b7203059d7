// Motion fields as tables: CSV text, or the rows of a NumPy structured array. One row per block
// asked for, MBs in raster order, the blocks of an MB in the order of motus_blocks (those of MBs
// that reach beyond the picture included).
//
// Columns: frame, mb (raster number), block (0..40), w, h (samples), x, y (top-left corner in the
// picture, samples), mv_x, mv_y (quarter samples), sad, cost.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SEARCH_EXPORT_H
#define TOOLS_SEARCH_EXPORT_H

#include <stddef.h>

#include "motus/me.h"

// Takes bytes; anything but MOTUS_OK ends the export with that status.
typedef MotusStatus (*MotusSink)(void *opaque, const void *data, size_t size);

#define MOTUS_FIELD_CSV_HEADER "frame,mb,block,w,h,x,y,mv_x,mv_y,sad,cost\n"

// The rows of one field for the modes of a mask, without header.
MotusStatus motus_field_csv(const MotusField *field, int64_t frame, uint32_t modes, MotusSink sink,
                            void *opaque);

#define MOTUS_FIELD_NPY_HEADER_SIZE 384
#define MOTUS_FIELD_NPY_ROW_SIZE 25

// Header of an .npy file (format 1.0) with n_rows rows: a one-dimensional structured array,
// little-endian, packed. Always the same size, so that it can be written over once the number of
// rows is known.
void motus_field_npy_header(char header[MOTUS_FIELD_NPY_HEADER_SIZE], uint64_t n_rows);

// The rows of one field: MOTUS_FIELD_NPY_ROW_SIZE bytes each, motus_field_rows of them.
MotusStatus motus_field_npy(const MotusField *field, int64_t frame, uint32_t modes, MotusSink sink,
                            void *opaque);
uint64_t motus_field_rows(const MotusField *field, uint32_t modes);

#endif
