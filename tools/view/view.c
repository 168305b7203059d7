// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/view.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "tools/cli/options.h"
#include "tools/media/png.h"
#include "tools/search/vector_table.h"

static MotusStatus no_memory(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_MEMORY, "view: out of memory");
}

void motus_view_close(MotusView *view) {
    motus_plane_free(&view->picture);
    motus_plane_free(&view->before);
    motus_free(view->blocks);
    view->blocks = NULL;
}

MotusStatus motus_view_add(MotusView *view, const MotusViewBlock *block, MotusError *error) {
    if (view->n == view->capacity) {
        size_t capacity = view->capacity ? 2 * view->capacity : 1024;
        MotusViewBlock *more = motus_alloc(capacity, sizeof *more);
        if (!more) return no_memory(error);
        if (view->n) memcpy(more, view->blocks, view->n * sizeof *more);
        motus_free(view->blocks);
        view->blocks = more;
        view->capacity = capacity;
    }
    view->blocks[view->n++] = *block;
    return MOTUS_OK;
}

static MotusStatus copy_plane(MotusPlane *to, const MotusPlane *from, MotusError *error) {
    *to = motus_plane_alloc(from->width, from->height);
    if (!to->data) return no_memory(error);
    motus_plane_paste(to, from, 0, 0);
    return MOTUS_OK;
}

MotusStatus motus_view_pictures(MotusView *view, const MotusPlane *picture,
                                const MotusPlane *before, MotusError *error) {
    assert(picture);
    view->width = picture->width;
    view->height = picture->height;
    MotusStatus status = copy_plane(&view->picture, picture, error);
    return status || !before ? status : copy_plane(&view->before, before, error);
}

// Reads the picture of a file and the one before it.
static MotusStatus read_pictures(MotusView *view, const char *path,
                                 const MotusReaderOptions *options, MotusError *error) {
    MotusReader *reader = NULL;
    MotusFrame *before = NULL, *frame = NULL;
    MotusStatus status = motus_reader_open(&reader, path, options, error);
    if (!status && view->frame > 1) status = motus_reader_skip(reader, view->frame - 1, error);
    if (!status && view->frame > 0) status = motus_reader_next(reader, &before, error);
    if (!status) status = motus_reader_next(reader, &frame, error);
    if (status == MOTUS_END)
        status = motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: has no picture %d", motus_shown(path),
                            view->frame);
    if (!status)
        status =
            motus_view_pictures(view, &frame->plane[0], before ? &before->plane[0] : NULL, error);
    motus_frame_unref(&before);
    motus_frame_unref(&frame);
    motus_reader_close(&reader);
    return status;
}

// ---- Fields of all sizes ------------------------------------------------------------------------

// Maps MB and block to an index of view->blocks plus 1, 0 for none.
typedef struct BlockIndex {
    uint32_t *at;
    int mb_width, n_mb;
} BlockIndex;

static MotusStatus index_blocks(BlockIndex *index, const MotusView *view, MotusError *error) {
    int right = 0, bottom = 0;
    for (size_t i = 0; i < view->n; i++) {
        right = motus_max(right, view->blocks[i].x / 16 + 1);
        bottom = motus_max(bottom, view->blocks[i].y / 16 + 1);
    }
    *index =
        (BlockIndex){motus_alloc((size_t)right * (size_t)bottom, MOTUS_BLOCKS * sizeof(uint32_t)),
                     right, right * bottom};
    if (!index->at) return no_memory(error);
    for (size_t i = 0; i < view->n; i++) {
        const MotusViewBlock *b = &view->blocks[i];
        index->at[(b->y / 16 * right + b->x / 16) * MOTUS_BLOCKS + b->block] = (uint32_t)i + 1;
    }
    return MOTUS_OK;
}

// Returns the blocks of `mode` in the square of an MB at (x, y) as a mask, and the sum of their
// costs; 0: some are missing.
static uint64_t blocks_in(const MotusView *view, const uint32_t *at, int mode, int x, int y,
                          int size, double *cost) {
    uint64_t mask = 0;
    *cost = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        const MotusBlock *k = &motus_blocks[b];
        if (k->mode != mode || k->x < x || k->x >= x + size || k->y < y || k->y >= y + size)
            continue;
        if (!at[b]) return 0;
        mask |= (uint64_t)1 << b;
        *cost += view->blocks[at[b] - 1].value;
    }
    return mask;
}

// Chooses the blocks of one MB to draw: those of the mode, or of the partition with the least cost
// (on a tie the one with larger blocks).
static uint64_t choose(const MotusView *view, const uint32_t *at, int mode) {
    double cost, least = -1;
    if (mode < MOTUS_MODES) return blocks_in(view, at, mode, 0, 0, 16, &cost);
    uint64_t best = 0, quarters = 0;
    for (int m = MOTUS_MODE_16x16; m <= MOTUS_MODE_8x16; m++) {
        uint64_t mask = blocks_in(view, at, m, 0, 0, 16, &cost);
        if (mask && (!best || cost < least)) best = mask, least = cost;
    }
    double sum = 0;
    for (int q = 0; q < 4; q++) {
        uint64_t sub = 0;
        double sub_least = 0;
        for (int m = MOTUS_MODE_8x8; m <= MOTUS_MODE_4x4; m++) {
            uint64_t mask = blocks_in(view, at, m, q % 2 * 8, q / 2 * 8, 8, &cost);
            if (mask && (!sub || cost < sub_least)) sub = mask, sub_least = cost;
        }
        if (!sub) return best;
        quarters |= sub, sum += sub_least;
    }
    return !best || sum < least ? quarters : best;
}

// Keeps the blocks to draw, drops the others. mode as in MotusViewSource.
static MotusStatus keep_chosen(MotusView *view, int mode, const char *path, MotusError *error) {
    BlockIndex index;
    size_t kept = 0, n = view->n;
    if (mode < 0)
        for (mode = MOTUS_MODES - 1; n--;)
            mode = motus_min(mode, motus_blocks[view->blocks[n].block].mode);
    MotusStatus status = index_blocks(&index, view, error);
    if (status) return status;
    MotusViewBlock *chosen = motus_alloc(view->n, sizeof *chosen);
    for (int mb = 0; chosen && mb < index.n_mb; mb++) {
        const uint32_t *at = index.at + (size_t)mb * MOTUS_BLOCKS;
        uint64_t mask = choose(view, at, mode);
        for (int b = 0; b < MOTUS_BLOCKS; b++)
            if (mask >> b & 1) chosen[kept++] = view->blocks[at[b] - 1];
    }
    motus_free(index.at);
    if (!chosen) return no_memory(error);
    motus_free(view->blocks);
    view->blocks = chosen;
    view->n = view->capacity = kept;
    if (kept) return MOTUS_OK;
    return motus_fail(
        error, MOTUS_ERR_UNSUPPORTED, "%s: has no blocks of size %s", motus_shown(path),
        mode < MOTUS_MODES ? motus_mode_name((MotusMode)mode) : "that make up a partition");
}

// ---- Tables -------------------------------------------------------------------------------------

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

// Reads the rows of view->frame in a table of vectors.
static MotusStatus add_table(MotusView *view, const char *path, MotusError *error) {
    MotusTable *table;
    MotusStatus status = motus_table_open(&table, path, error);
    if (!status) status = read_table(view, table, path, error);
    motus_table_close(&table);
    return status;
}

// ---- Sources ------------------------------------------------------------------------------------

static MotusStatus add_field(MotusView *view, const MotusField *field, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int mb = 0; mb < field->n_mb; mb++)
        for (int b = 0; b < MOTUS_BLOCKS && !status; b++) {
            const MotusBlock *k = &motus_blocks[b];
            const MotusViewBlock block = {.x = 16 * (mb % field->mb_width) + k->x,
                                          .y = 16 * (mb / field->mb_width) + k->y,
                                          .width = k->width,
                                          .height = k->height,
                                          .block = (uint8_t)b,
                                          .mv = field->mv[b][mb],
                                          .value = field->cost[b][mb]};
            status = motus_view_add(view, &block, error);
        }
    view->has_cost = 1;
    return status;
}

static MotusStatus search_pictures(MotusView *view, const MotusViewSource *source,
                                   MotusError *error) {
    MotusMe *me = NULL;
    MotusField *field = NULL;
    MotusMeConfig config = source->me;
    config.width = view->width;
    config.height = view->height;
    const MotusMeHints hints = {.lambda_q8 = source->lambda_q8};
    MotusStatus status = motus_me_open(&me, &config);
    if (!status) status = motus_field_alloc(&field, view->width, view->height);
    if (!status) status = motus_me_search(me, &view->picture, &view->before, &hints, field);
    if (status)
        motus_fail(error, status, "%s: search: %s", motus_shown(source->path),
                   motus_status_text(status));
    if (!status) status = add_field(view, field, error);
    motus_field_free(&field);
    motus_me_close(&me);
    return status ? status : keep_chosen(view, source->mode, source->path, error);
}

static MotusStatus open_table(MotusView *view, const MotusViewSource *source, MotusError *error) {
    MotusStatus status = add_table(view, source->path, error);
    if (!status && view->blocks[0].block != MOTUS_VIEW_CODED)
        status = keep_chosen(view, source->mode, source->path, error);
    if (!status && source->picture)
        return read_pictures(view, source->picture, &source->reader, error);
    for (size_t i = 0; i < view->n && !status; i++) {
        view->width = motus_max(view->width, view->blocks[i].x + view->blocks[i].width);
        view->height = motus_max(view->height, view->blocks[i].y + view->blocks[i].height);
    }
    return status;
}

MotusStatus motus_view_open(MotusView *view, const MotusViewSource *source, MotusError *error) {
    const char *slash = strrchr(source->path, '/');
    *view = (MotusView){.name = slash ? slash + 1 : source->path, .frame = source->frame};
    if (motus_has_ending(source->path, MOTUS_TABLE_ENDINGS)) return open_table(view, source, error);
    MotusStatus status = MOTUS_END;
#ifdef MOTUS_HAVE_MEDIA
    if (!source->search) status = motus_view_stream(view, source->path, error);
#endif
    if (status != MOTUS_END) return status;
    if (!view->frame)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%s: picture 0 has none before it to be searched in",
                          motus_shown(source->path));
    status = read_pictures(view, source->path, &source->reader, error);
    return status ? status : search_pictures(view, source, error);
}
