// SPDX-License-Identifier: BSD-2-Clause
#include "tools/search/field_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/search/vector_table.h"

struct MotusFieldIn {
    const char *path;
    MotusTable *table;
    int width, height;
    MotusField *field;
    uint8_t *present; // [MOTUS_BLOCKS][n_mb]: 1 if the picture has an MV
    // Entries of a picture by reference, and their keys, by which check_doubles finds repeated
    // ones.
    MotusCodedMv *entry;
    uint64_t *key;
    size_t n, capacity;
    long long row[MOTUS_COLUMNS];
    int has_row;   // `row` belongs to a later picture
    int64_t first; // rows of earlier pictures are skipped
    int at_end;
};

MotusStatus motus_field_in_open(MotusFieldIn **opened, const char *path, int width, int height,
                                MotusError *error) {
    MotusFieldIn *in = *opened = motus_alloc(1, sizeof *in);
    if (!in) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    in->path = path, in->width = width, in->height = height;
    MotusStatus status = motus_table_open(&in->table, path, error);
    if (!status && (status = motus_field_alloc(&in->field, width, height)))
        motus_fail(error, status, "%s: %s", motus_shown(path), motus_status_text(status));
    if (!status && !(in->present = motus_alloc(MOTUS_BLOCKS * (size_t)in->field->n_mb, 1)))
        status = motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    if (status) motus_field_in_close(opened);
    return status;
}

void motus_field_in_close(MotusFieldIn **in) {
    if (!in || !*in) return;
    motus_table_close(&(*in)->table);
    motus_field_free(&(*in)->field);
    motus_free((*in)->present);
    free((*in)->entry);
    free((*in)->key);
    motus_free(*in);
    *in = NULL;
}

// Returns the number of the block at (x, y) of its MB; -1: none of the 41.
static int block_of(long long x, long long y, long long w, long long h) {
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        const MotusBlock *block = &motus_blocks[b];
        if (block->x == x && block->y == y && block->width == w && block->height == h) return b;
    }
    return -1;
}

// Finds the block of in->row in its MB and checks the MV.
static MotusStatus check_row(const MotusFieldIn *in, int *block, MotusError *error) {
    const long long *r = in->row, x = r[MOTUS_COLUMN_X], y = r[MOTUS_COLUMN_Y],
                    mv_x = r[MOTUS_COLUMN_MV_X], mv_y = r[MOTUS_COLUMN_MV_Y],
                    number = motus_table_rows(in->table);
    const MotusField *field = in->field;
    if (x < 0 || y < 0 || x >= 16LL * field->mb_width || y >= 16LL * field->mb_height)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: row %lld: a block at %lld, %lld, outside a picture of %dx%d",
                          motus_shown(in->path), number, x, y, in->width, in->height);
    *block = block_of(x % 16, y % 16, r[MOTUS_COLUMN_W], r[MOTUS_COLUMN_H]);
    if (*block < 0)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: row %lld: %lldx%lld at %lld, %lld is no block of a macroblock",
                          motus_shown(in->path), number, r[MOTUS_COLUMN_W], r[MOTUS_COLUMN_H], x,
                          y);
    if (mv_x < INT16_MIN || mv_x > INT16_MAX || mv_y < INT16_MIN || mv_y > INT16_MAX)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: row %lld: vector (%lld, %lld) is out of range",
                          motus_shown(in->path), number, mv_x, mv_y);
    return MOTUS_OK;
}

// Puts in->row into the field.
static MotusStatus take_row(MotusFieldIn *in, MotusError *error) {
    const long long *r = in->row, x = r[MOTUS_COLUMN_X], y = r[MOTUS_COLUMN_Y];
    MotusField *field = in->field;
    int b = 0;
    MotusStatus status = check_row(in, &b, error);
    if (status) return status;
    const size_t mb = (size_t)(y / 16 * field->mb_width + x / 16),
                 at = (size_t)b * (size_t)field->n_mb + mb;
    if (in->present[at])
        return motus_fail(
            error, MOTUS_ERR_FORMAT, "%s: row %lld: picture %lld has this block already",
            motus_shown(in->path), motus_table_rows(in->table), r[MOTUS_COLUMN_FRAME]);
    in->present[at] = 1;
    field->mv[b][mb] = (MotusMv){(int16_t)r[MOTUS_COLUMN_MV_X], (int16_t)r[MOTUS_COLUMN_MV_Y]};
    return MOTUS_OK;
}

static MotusStatus grow(MotusFieldIn *in, MotusError *error) {
    if (in->n < in->capacity) return MOTUS_OK;
    const size_t capacity = in->capacity ? 2 * in->capacity : 1024;
    MotusCodedMv *entry = realloc(in->entry, capacity * sizeof *entry);
    if (entry) in->entry = entry;
    uint64_t *key = entry ? realloc(in->key, capacity * sizeof *key) : NULL;
    if (!key)
        return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(in->path));
    in->key = key, in->capacity = capacity;
    return MOTUS_OK;
}

// Appends in->row to the entries.
static MotusStatus take_entry(MotusFieldIn *in, MotusError *error) {
    const long long *r = in->row, x = r[MOTUS_COLUMN_X], y = r[MOTUS_COLUMN_Y],
                    distance = r[MOTUS_COLUMN_DISTANCE];
    int b = 0;
    MotusStatus status = check_row(in, &b, error);
    if (status) return status;
    if (!distance || distance < INT16_MIN || distance > INT16_MAX)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: row %lld: distance %lld is that of no reference picture",
                          motus_shown(in->path), motus_table_rows(in->table), distance);
    if ((status = grow(in, error))) return status;
    in->entry[in->n] =
        (MotusCodedMv){.x = (uint16_t)x,
                       .y = (uint16_t)y,
                       .width = motus_blocks[b].width,
                       .height = motus_blocks[b].height,
                       .list = distance > 0,
                       .mv = {(int16_t)r[MOTUS_COLUMN_MV_X], (int16_t)r[MOTUS_COLUMN_MV_Y]},
                       .distance = (int16_t)distance};
    // By MB, block and distance.
    in->key[in->n++] =
        (uint64_t)y / 16 << 48 | (uint64_t)x / 16 << 32 | (uint64_t)b << 16 | (uint16_t)distance;
    return MOTUS_OK;
}

// True if the table has MVs by reference.
static int by_reference(const MotusFieldIn *in) {
    return motus_table_has(in->table, MOTUS_COLUMN_DISTANCE);
}

// Takes the rows of picture `number`, and reads the first one behind them.
static MotusStatus take_rows(MotusFieldIn *in, int64_t number, int *taken, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (*taken = 0; !in->at_end; in->has_row = 0) {
        if (!in->has_row) status = motus_table_row(in->table, in->row, error);
        in->at_end = status == MOTUS_END;
        if (status) return in->at_end ? MOTUS_OK : status;
        in->has_row = 1;
        const int64_t picture = in->row[MOTUS_COLUMN_FRAME];
        if (picture > number) break;
        if (picture >= 0 && picture < in->first) continue;
        if (picture < number)
            return motus_fail(error, MOTUS_ERR_FORMAT, "%s: row %lld: picture %lld is out of order",
                              motus_shown(in->path), motus_table_rows(in->table),
                              (long long)picture);
        if ((status = (by_reference(in) ? take_entry : take_row)(in, error))) return status;
        ++*taken;
    }
    return MOTUS_OK;
}

// Collects the modes. Fails if a mode has an MV for some of its blocks only.
static MotusStatus check_picture(const MotusFieldIn *in, int64_t number, uint32_t *modes,
                                 MotusError *error) {
    const size_t n = (size_t)in->field->n_mb;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (memchr(in->present + (size_t)b * n, 1, n)) *modes |= 1u << motus_blocks[b].mode;
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        if (!(*modes >> motus_blocks[b].mode & 1) && b) continue;
        const uint8_t *gap = memchr(in->present + (size_t)b * n, 0, n);
        const int mb = gap ? (int)(gap - (in->present + (size_t)b * n)) : 0;
        if (gap)
            return motus_fail(
                error, MOTUS_ERR_FORMAT,
                "%s: picture %lld has no vector of the %dx%d block at %d, %d: a field of %dx%d "
                "samples has all of them",
                motus_shown(in->path), (long long)number, motus_blocks[b].width,
                motus_blocks[b].height, 16 * (mb % in->field->mb_width) + motus_blocks[b].x,
                16 * (mb / in->field->mb_width) + motus_blocks[b].y, in->width, in->height);
    }
    return MOTUS_OK;
}

static MotusStatus read_field(MotusFieldIn *in, int64_t number, MotusFrameParams *params,
                              MotusError *error) {
    int taken;
    memset(in->present, 0, MOTUS_BLOCKS * (size_t)in->field->n_mb);
    MotusStatus status = take_rows(in, number, &taken, error);
    if (status || !taken) return status;
    params->external_mvs = in->field;
    return check_picture(in, number, &params->external_modes, error);
}

// ---- By reference -------------------------------------------------------------------------------

int motus_field_file_by_reference(const char *path) {
    struct stat st;
    MotusError error;
    MotusTable *table;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || motus_table_open(&table, path, &error)) return 0;
    const int has = motus_table_has(table, MOTUS_COLUMN_DISTANCE);
    motus_table_close(&table);
    return has;
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Fails if a block has two MVs for a reference.
static MotusStatus check_doubles(const MotusFieldIn *in, int64_t number, MotusError *error) {
    qsort(in->key, in->n, sizeof *in->key, compare_keys);
    for (size_t i = 1; i < in->n; i++) {
        const uint64_t key = in->key[i];
        const MotusBlock *block = &motus_blocks[key >> 16 & 63];
        if (key == in->key[i - 1])
            return motus_fail(error, MOTUS_ERR_FORMAT,
                              "%s: picture %lld has two vectors of the %dx%d block at %d, %d with "
                              "distance %d",
                              motus_shown(in->path), (long long)number, block->width, block->height,
                              16 * (int)(key >> 32 & 0xFFFF) + block->x,
                              16 * (int)(key >> 48) + block->y, (int16_t)key);
    }
    return MOTUS_OK;
}

static MotusStatus read_entries(MotusFieldIn *in, int64_t number, MotusFrameParams *params,
                                MotusError *error) {
    int taken;
    in->n = 0;
    MotusStatus status = take_rows(in, number, &taken, error);
    if (!status && taken) status = check_doubles(in, number, error);
    params->reference_mvs = in->entry;
    params->n_reference_mvs = in->n;
    return status;
}

// ---- Pictures -----------------------------------------------------------------------------------

void motus_field_in_skip(MotusFieldIn *in, int64_t number) { in->first = number; }

MotusStatus motus_field_in_params(MotusFieldIn *in, int64_t number, MotusFrameParams *params,
                                  MotusError *error) {
    MotusStatus status = (by_reference(in) ? read_entries : read_field)(in, number, params, error);
    params->opaque = params->external_mvs || params->n_reference_mvs ? in : NULL;
    return status;
}

MotusStatus motus_field_in_check(const MotusFieldIn *in, const MotusPacket *picture, int *searched,
                                 MotusError *error) {
    *searched = 0;
    if (picture->opaque) return MOTUS_OK;
    if (!by_reference(in) && picture->type == 'P')
        return motus_fail(error, MOTUS_ERR_TRUNCATED,
                          "%s: has no vectors of picture %lld, which is a P picture",
                          motus_shown(in->path), (long long)picture->number);
    for (int kind = MOTUS_MB_P_SKIP; by_reference(in) && kind <= MOTUS_MB_P_8x8; kind++)
        *searched |= picture->stats.mb[kind] != 0;
    return MOTUS_OK;
}
