// The MVs of coded pictures as a table, .csv or .npy (a one-dimensional structured array): one row
// per block as it was coded. Columns: frame, x, y, mv_x, mv_y (quarter samples), w, h, skip.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_MVS_H
#define TOOLS_ENCODE_MVS_H

#include "motus/encoder.h"

typedef struct MotusMvsFile MotusMvsFile;

// Opens a table, whose kind follows the path's ending.
MotusStatus motus_mvs_open(MotusMvsFile **mvs, const char *path, MotusError *error);
MotusStatus motus_mvs_picture(MotusMvsFile *mvs, const MotusPacket *picture, MotusError *error);
MotusStatus motus_mvs_commit(MotusMvsFile **mvs, MotusError *error); // frees in every case
void motus_mvs_abandon(MotusMvsFile **mvs); // accepts NULL and *mvs == NULL

#endif
