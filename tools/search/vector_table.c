// SPDX-License-Identifier: BSD-2-Clause
#include "tools/search/vector_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/options.h"

static const char *const names[MOTUS_COLUMNS] = {
    "frame", "x", "y", "w", "h", "mv_x", "mv_y", "skip", "block", "cost", "list", "distance"};

enum { MAX_FIELDS = 32, MAX_HEADER = 4096, MAX_ROW = 512 };

// Place of a column. CSV: the field's number; .npy: byte offset, size, sign.
typedef struct TableColumn {
    int at, bytes, is_signed;
} TableColumn;

struct MotusTable {
    const char *path;
    FILE *file;
    int npy;
    TableColumn column[MOTUS_COLUMNS]; // at < 0: missing
    int row_bytes;                     // .npy
    long long rows, row;               // .npy: in all; read so far
};

static int column_of(const char *name, size_t length) {
    for (int c = 0; c < MOTUS_COLUMNS; c++)
        if (strlen(names[c]) == length && !memcmp(names[c], name, length)) return c;
    return -1;
}

static MotusStatus check_columns(const MotusTable *t, MotusError *error) {
    for (int c = 0; c < MOTUS_COLUMNS_NEEDED; c++)
        if (t->column[c].at < 0)
            return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                              "%s: is no table of vectors: has no column %s", motus_shown(t->path),
                              names[c]);
    return MOTUS_OK;
}

// ---- CSV ----------------------------------------------------------------------------------------

static MotusStatus csv_header(MotusTable *t, MotusError *error) {
    char line[MAX_ROW];
    if (!fgets(line, sizeof line, t->file))
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: is empty", motus_shown(t->path));
    const char *at = line;
    for (int field = 0; field < MAX_FIELDS; field++) {
        size_t length = strcspn(at, ",\r\n");
        int c = column_of(at, length);
        if (c >= 0) t->column[c].at = field;
        if (at[length] != ',') break;
        at += length + 1;
    }
    return check_columns(t, error);
}

// Reads the next row's values. MOTUS_END after the last one.
static MotusStatus csv_row(MotusTable *t, long long values[MOTUS_COLUMNS], MotusError *error) {
    char line[MAX_ROW];
    long long field[MAX_FIELDS];
    int n = 0;
    if (!fgets(line, sizeof line, t->file)) return MOTUS_END;
    t->row++;
    for (char *at = line, *end; n < MAX_FIELDS; at = end + 1) {
        errno = 0;
        field[n++] = strtoll(at, &end, 10);
        if (end == at || errno || !strchr(",\r\n", *end)) n = 0;
        if (!n || *end != ',') break;
    }
    for (int c = 0; c < MOTUS_COLUMNS; c++) {
        if (t->column[c].at >= n)
            return motus_fail(error, MOTUS_ERR_FORMAT, "%s: row %lld is no row of numbers",
                              motus_shown(t->path), t->row);
        values[c] = t->column[c].at < 0 ? 0 : field[t->column[c].at];
    }
    return MOTUS_OK;
}

// ---- .npy ---------------------------------------------------------------------------------------

static MotusStatus npy_refuse(const MotusTable *t, MotusError *error) {
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: is no table of vectors that motus wrote",
                      motus_shown(t->path));
}

// Reads "('NAME', '<i2')" pairs of the header's descr.
static int npy_columns(MotusTable *t, const char *text) {
    for (const char *at = strchr(text, '('); at && at[1] == '\''; at = strchr(at + 1, '(')) {
        const char *name = at + 2, *end = strchr(name, '\'');
        if (!end || strncmp(end, "', '", 4) || (end[4] != '<' && end[4] != '|') || !end[5])
            return 0;
        const char kind = end[5];
        const int bytes = end[6] && end[7] == '\'' ? end[6] - '0' : 0;
        if ((kind != 'i' && kind != 'u') || (bytes != 1 && bytes != 2 && bytes != 4)) return 0;
        int c = column_of(name, (size_t)(end - name));
        if (c >= 0) t->column[c] = (TableColumn){t->row_bytes, bytes, kind == 'i'};
        t->row_bytes += bytes;
        if (t->row_bytes > MAX_ROW) return 0;
    }
    return t->row_bytes > 0;
}

static MotusStatus npy_more_rows(const MotusTable *t, MotusError *error) {
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: has more rows than the %lld of its header",
                      motus_shown(t->path), t->rows);
}

// Compares a regular file's size with its header. A pipe shows only at its end what it has.
static MotusStatus npy_check_size(const MotusTable *t, MotusError *error) {
    struct stat is;
    const long at = ftell(t->file);
    if (at < 0 || fstat(fileno(t->file), &is) || !S_ISREG(is.st_mode)) return MOTUS_OK;
    const long long bytes = (long long)is.st_size - at;
    return bytes > 0 && (bytes - 1) / t->row_bytes >= t->rows ? npy_more_rows(t, error) : MOTUS_OK;
}

static MotusStatus npy_header(MotusTable *t, MotusError *error) {
    unsigned char start[10];
    char text[MAX_HEADER + 1];
    if (fread(start, 1, sizeof start, t->file) != sizeof start || memcmp(start, "\x93NUMPY\x01", 7))
        return npy_refuse(t, error);
    size_t length = start[8] + 256U * start[9];
    if (length > MAX_HEADER || fread(text, 1, length, t->file) != length)
        return npy_refuse(t, error);
    text[length] = 0;
    const char *shape = strstr(text, "'shape': (");
    if (!strstr(text, "'fortran_order': False") || !shape) return npy_refuse(t, error);
    const char *count = shape + strlen("'shape': (");
    char *behind;
    t->rows = strtoll(count, &behind, 10);
    if (behind == count || strncmp(behind, ",)", 2) || t->rows < 0) return npy_refuse(t, error);
    text[shape - text] = 0;
    if (!npy_columns(t, text)) return npy_refuse(t, error);
    const MotusStatus status = check_columns(t, error);
    return status ? status : npy_check_size(t, error);
}

static long long number_at(const unsigned char *row, TableColumn c) {
    uint32_t v = 0;
    for (int i = 0; i < c.bytes; i++) v |= (uint32_t)row[c.at + i] << 8 * i;
    if (!c.is_signed) return v;
    return c.bytes == 1 ? (int8_t)v : c.bytes == 2 ? (int16_t)v : (int32_t)v;
}

static MotusStatus npy_row(MotusTable *t, long long values[MOTUS_COLUMNS], MotusError *error) {
    unsigned char row[MAX_ROW];
    if (t->row == t->rows) return getc(t->file) == EOF ? MOTUS_END : npy_more_rows(t, error);
    if (fread(row, 1, (size_t)t->row_bytes, t->file) != (size_t)t->row_bytes)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: ends in row %lld of %lld",
                          motus_shown(t->path), t->row + 1, t->rows);
    t->row++;
    for (int c = 0; c < MOTUS_COLUMNS; c++)
        values[c] = t->column[c].at < 0 ? 0 : number_at(row, t->column[c]);
    return MOTUS_OK;
}

// ---- Both ---------------------------------------------------------------------------------------

MotusStatus motus_table_open(MotusTable **table, const char *path, MotusError *error) {
    MotusTable *t = *table = motus_alloc(1, sizeof *t);
    if (!t) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    t->path = path;
    t->npy = motus_has_ending(path, ".npy\0");
    for (int c = 0; c < MOTUS_COLUMNS; c++) t->column[c].at = -1;
    t->file = fopen(path, "rb");
    MotusStatus status =
        t->file ? MOTUS_OK
                : motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path), strerror(errno));
    if (!status) status = (t->npy ? npy_header : csv_header)(t, error);
    if (status) motus_table_close(table);
    return status;
}

MotusStatus motus_table_row(MotusTable *t, long long values[MOTUS_COLUMNS], MotusError *error) {
    MotusStatus status = (t->npy ? npy_row : csv_row)(t, values, error);
    if (status && ferror(t->file))
        status = motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(t->path), strerror(errno));
    return status;
}

int motus_table_has(const MotusTable *t, int column) { return t->column[column].at >= 0; }

long long motus_table_rows(const MotusTable *t) { return t->row; }

void motus_table_close(MotusTable **table) {
    if (!table || !*table) return;
    if ((*table)->file) fclose((*table)->file);
    motus_free(*table);
    *table = NULL;
}
