// Reads tables of vectors row by row: CSV, or a NumPy structured array. Columns are found by their
// names.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SEARCH_VECTOR_TABLE_H
#define TOOLS_SEARCH_VECTOR_TABLE_H

#include "motus/status.h"

#define MOTUS_TABLE_ENDINGS ".csv\0.npy\0" // for motus_has_ending

// The first seven are in every table: picture, corner and size of the block in samples, vector in
// quarter samples.
enum {
    MOTUS_COLUMN_FRAME,
    MOTUS_COLUMN_X,
    MOTUS_COLUMN_Y,
    MOTUS_COLUMN_W,
    MOTUS_COLUMN_H,
    MOTUS_COLUMN_MV_X,
    MOTUS_COLUMN_MV_Y,
    MOTUS_COLUMNS_NEEDED,
    MOTUS_COLUMN_SKIP = MOTUS_COLUMNS_NEEDED,
    MOTUS_COLUMN_BLOCK,
    MOTUS_COLUMN_COST,
    MOTUS_COLUMN_LIST,
    MOTUS_COLUMN_DISTANCE,
    MOTUS_COLUMNS
};

typedef struct MotusTable MotusTable;

// Opens a table and keeps the pointer `path`: .npy is a NumPy array, any other ending CSV.
// MOTUS_ERR_IO, _UNSUPPORTED (no such table), _TRUNCATED (empty), _MEMORY.
MotusStatus motus_table_open(MotusTable **table, const char *path, MotusError *error);

// Reads the next row; columns that the table lacks are 0. MOTUS_END after the last one.
// MOTUS_ERR_TRUNCATED, _FORMAT, _IO.
MotusStatus motus_table_row(MotusTable *table, long long values[MOTUS_COLUMNS], MotusError *error);

int motus_table_has(const MotusTable *table, int column);
long long motus_table_rows(const MotusTable *table); // rows read so far
void motus_table_close(MotusTable **table);          // accepts NULL and *table == NULL

#endif
