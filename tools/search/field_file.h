// Motion fields in a table, picture by picture: read for an encode (--mvs-in) and written (motus
// search, --field).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SEARCH_FIELD_FILE_H
#define TOOLS_SEARCH_FIELD_FILE_H

#include <stdint.h>

#include "motus/me.h"

typedef struct MotusFieldIn MotusFieldIn;

// Opens a table of vectors (tools/search/vector_table.h) of pictures of this size, whose rows are
// ordered by picture. MOTUS_ERR_IO, _UNSUPPORTED, _TRUNCATED, _MEMORY.
MotusStatus motus_field_in_open(MotusFieldIn **opened, const char *path, int width, int height,
                                MotusError *error);

// The field of picture `number`; to be asked for in ascending order. *modes is the mask of what it
// has, 0: the table has no rows of that picture. For each mode there is a vector of every block of
// every macroblock. Good until the next call. MOTUS_ERR_FORMAT: a row is no block of the 41, is
// there twice or out of order; 16x16 or some macroblocks are missing. MOTUS_ERR_TRUNCATED, _IO.
MotusStatus motus_field_in_picture(MotusFieldIn *in, int64_t number, const MotusField **field,
                                   uint32_t *modes, MotusError *error);

void motus_field_in_close(MotusFieldIn **in); // accepts NULL and *in == NULL

// Tables, and the shapes of interop/field.h: flo is a file a picture, the others have their
// pictures one after another.
typedef enum MotusFieldFormat {
    MOTUS_FIELD_CSV,
    MOTUS_FIELD_NPY,
    MOTUS_FIELD_FLO,         // Middlebury's optical flow
    MOTUS_FIELD_FLOW,        // the same as a NumPy array, float32 [pictures, height, width, 2]
    MOTUS_FIELD_NVENC,       // MotusNvencMb
    MOTUS_FIELD_NVENC_HINTS, // words
    MOTUS_FIELD_FEI,         // MotusFeiMb
    MOTUS_FIELD_FORMATS
} MotusFieldFormat;
#define MOTUS_FIELD_FORMAT_NAMES "csv, npy, flo, flow, nvenc, nvenc-hints or fei"

const char *motus_field_format_name(MotusFieldFormat format); // NULL: no such
int motus_field_format_of(
    const char *path); // by the ending: csv (- as well), npy or flo; -1: none of these

typedef struct MotusFieldOut MotusFieldOut;

// Fields of pictures of this size. - is standard output. Of flo, a path with %d or %04d in it is a
// pattern of names, each with the number of its picture; without it there can be but one picture:
// MOTUS_ERR_UNSUPPORTED for a second one.
MotusStatus motus_field_out_open(MotusFieldOut **out, const char *path, MotusFieldFormat format,
                                 int width, int height, MotusError *error);
MotusStatus motus_field_out_picture(MotusFieldOut *out, int64_t number, const MotusField *field,
                                    uint32_t modes, MotusError *error);
MotusStatus motus_field_out_commit(MotusFieldOut **out, MotusError *error); // frees in every case
void motus_field_out_abandon(MotusFieldOut **out); // accepts NULL and *out == NULL

#endif
