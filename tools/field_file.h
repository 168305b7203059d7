// Motion fields in a table, picture by picture: read for an encode (--mvs-in) and written (motus search, --field).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FIELD_FILE_H
#define TOOLS_FIELD_FILE_H

#include <stdint.h>

#include "motus/me.h"

typedef struct MotusFieldIn MotusFieldIn;

// Opens a table of vectors (tools/vector_table.h) of pictures of this size, whose rows are ordered by picture. MOTUS_ERR_IO, _UNSUPPORTED, _TRUNCATED, _MEMORY.
MotusStatus motus_field_in_open(MotusFieldIn **in, const char *path, int width, int height, MotusError *error);

// The field of picture `number`; to be asked for in ascending order. *modes is the mask of what it has, 0: the table has no rows of that picture. For each mode
// there is a vector of every block of every macroblock. Good until the next call. MOTUS_ERR_FORMAT: a row is no block of the 41, is there twice or out of order;
// 16x16 or some macroblocks are missing. MOTUS_ERR_TRUNCATED, _IO.
MotusStatus motus_field_in_picture(MotusFieldIn *in, int64_t number, const MotusField **field, uint32_t *modes,
                                   MotusError *error);

void motus_field_in_close(MotusFieldIn **in); // accepts NULL and *in == NULL

typedef struct MotusFieldOut MotusFieldOut;

MotusStatus motus_field_out_open(MotusFieldOut **out, const char *path,
                                 MotusError *error); // .npy, else CSV; - is standard output
MotusStatus motus_field_out_picture(MotusFieldOut *out, int64_t number, const MotusField *field, uint32_t modes,
                                    MotusError *error);
MotusStatus motus_field_out_commit(MotusFieldOut **out, MotusError *error); // frees in every case
void motus_field_out_abandon(MotusFieldOut **out);                          // accepts NULL and *out == NULL

#endif
