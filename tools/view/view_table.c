// Vectors to draw from a table of vectors.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/search/vector_table.h"
#include "tools/view/view.h"

static int in_range(long long v, long long lo, long long hi) { return v >= lo && v <= hi; }

static MotusStatus add_row(MotusView *view, const MotusTable *t, const char *path,
                           const long long v[MOTUS_COLUMNS], MotusError *error) {
    const int all_sizes = motus_table_has(t, MOTUS_COLUMN_BLOCK);
    const long long x = v[MOTUS_COLUMN_X], y = v[MOTUS_COLUMN_Y], w = v[MOTUS_COLUMN_W],
                    h = v[MOTUS_COLUMN_H];
    const long long mv_x = v[MOTUS_COLUMN_MV_X], mv_y = v[MOTUS_COLUMN_MV_Y],
                    b = v[MOTUS_COLUMN_BLOCK];
    if (!in_range(x, 0, MOTUS_MAX_SIZE) || !in_range(y, 0, MOTUS_MAX_SIZE) ||
        !in_range(w, 1, 255) || !in_range(h, 1, 255) || !in_range(mv_x, INT16_MIN, INT16_MAX) ||
        !in_range(mv_y, INT16_MIN, INT16_MAX) || (all_sizes && !in_range(b, 0, MOTUS_BLOCKS - 1)))
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: row %lld is no block of a picture",
                          motus_shown(path), motus_table_rows(t));
    const MotusViewBlock block = {.x = (int)x,
                                  .y = (int)y,
                                  .width = (uint8_t)w,
                                  .height = (uint8_t)h,
                                  .skip = v[MOTUS_COLUMN_SKIP] != 0,
                                  .block = all_sizes ? (uint8_t)b : MOTUS_VIEW_CODED,
                                  .mv = {(int16_t)mv_x, (int16_t)mv_y},
                                  .value = (double)v[MOTUS_COLUMN_COST]};
    return motus_view_add(view, &block, error);
}

static MotusStatus read_table(MotusView *view, MotusTable *t, const char *path, MotusError *error) {
    long long values[MOTUS_COLUMNS], last = -1;
    MotusStatus status = MOTUS_OK;
    while (!status && !(status = motus_table_row(t, values, error))) {
        if (values[MOTUS_COLUMN_FRAME] > last) last = values[MOTUS_COLUMN_FRAME];
        if (values[MOTUS_COLUMN_FRAME] == view->frame)
            status = add_row(view, t, path, values, error);
    }
    if (status != MOTUS_END) return status;
    view->has_cost = motus_table_has(t, MOTUS_COLUMN_COST);
    if (view->n) return MOTUS_OK;
    if (last < 0)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: has no vectors at all",
                          motus_shown(path));
    return motus_fail(
        error, MOTUS_ERR_TRUNCATED,
        "%s: has no vectors of picture %d (its last picture is %lld; I pictures have none)",
        motus_shown(path), view->frame, last);
}

MotusStatus motus_view_table(MotusView *view, const char *path, MotusError *error) {
    MotusTable *table;
    MotusStatus status = motus_table_open(&table, path, error);
    if (!status) status = read_table(view, table, path, error);
    motus_table_close(&table);
    return status;
}
