// Motion fields in files, picture by picture: read as external MVs (--mvs-in), like tables of coded
// MVs, and written (motus search, --field).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SEARCH_FIELD_FILE_H
#define TOOLS_SEARCH_FIELD_FILE_H

#include <stdint.h>

#include "motus/encoder.h"

typedef struct MotusFieldIn MotusFieldIn;

// Opens a table of vectors (vector_table.h) for pictures of this size, whose rows are ordered by
// picture. MOTUS_ERR_IO, _UNSUPPORTED, _TRUNCATED, _MEMORY.
MotusStatus motus_field_in_open(MotusFieldIn **opened, const char *path, int width, int height,
                                MotusError *error);

// True if the table has a column `distance` (encode --mvs), and so MVs by reference. Opens the file
// for that; false for pipes and for files that are no table.
int motus_field_file_by_reference(const char *path);

// Skips rows of pictures before `number`.
void motus_field_in_skip(MotusFieldIn *in, int64_t number);

// Sets the MVs of picture `number`, a field or MVs by reference; numbers must ascend. They are
// valid until the next call. params->opaque is NULL if the table has no rows of this picture.
// MOTUS_ERR_FORMAT: a row is none of the 41 blocks, repeated or out of order; a field lacks 16x16
// or some MBs of a mode; a distance is 0. MOTUS_ERR_TRUNCATED, _IO, _MEMORY.
MotusStatus motus_field_in_params(MotusFieldIn *in, int64_t number, MotusFrameParams *params,
                                  MotusError *error);

// Checks a picture that was coded with these parameters. *searched is 1 if it has inter MBs that
// the table had no MVs by reference for. MOTUS_ERR_TRUNCATED: a P picture had no field.
MotusStatus motus_field_in_check(const MotusFieldIn *in, const MotusPacket *picture, int *searched,
                                 MotusError *error);

void motus_field_in_close(MotusFieldIn **in); // accepts NULL and *in == NULL

// Tables, and the shapes of interop/field.h. flo: one file per picture; the others: all pictures in
// a file.
typedef enum MotusFieldFormat {
    MOTUS_FIELD_CSV,
    MOTUS_FIELD_NPY,
    MOTUS_FIELD_FLO,         // Middlebury's optical flow
    MOTUS_FIELD_FLOW,        // the same as a NumPy array, float32 [pictures, height, width, 2]
    MOTUS_FIELD_NVENC,       // MotusNvencMb
    MOTUS_FIELD_NVENC_HINTS, // uint32_t
    MOTUS_FIELD_FEI,         // MotusFeiMb
    MOTUS_FIELD_FORMATS
} MotusFieldFormat;

#define MOTUS_FIELD_FORMAT_WORDS "csv\0npy\0flo\0flow\0nvenc\0nvenc-hints\0fei\0"

// Returns the format by the ending, .csv (also for -), .npy or .flo; -1: none of these.
int motus_field_format_of(const char *path);

typedef struct MotusFieldOut MotusFieldOut;

// Opens a file, or standard output (-), for fields of pictures of this size. A path of format flo
// may have the picture's number in it, %d or %04d; else a second picture is MOTUS_ERR_UNSUPPORTED.
MotusStatus motus_field_out_open(MotusFieldOut **out, const char *path, MotusFieldFormat format,
                                 int width, int height, MotusError *error);
MotusStatus motus_field_out_picture(MotusFieldOut *out, int64_t number, const MotusField *field,
                                    uint32_t modes, MotusError *error);
MotusStatus motus_field_out_commit(MotusFieldOut **out, MotusError *error); // frees in every case
void motus_field_out_abandon(MotusFieldOut **out); // accepts NULL and *out == NULL

#endif
