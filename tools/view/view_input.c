// Sources of views: tables of vectors, H.264 streams, searched videos.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "tools/cli/options.h"
#include "tools/search/vector_table.h"
#include "tools/view/view.h"

struct MotusViewInput {
    MotusViewSource source;
    const char *name;        // of the file, without folders
    MotusTable *table;       // of vectors; else
    MotusViewStream *stream; // of H.264; else pictures are searched
    MotusReader *reader;     // of pictures to search in, or under a table's vectors
    int64_t read;            // its pictures handed out
    MotusFrame *before;      // the last of them
    MotusMe *me;
    MotusField *field;
    long long row[MOTUS_COLUMNS], last; // of the table: a row that was read too early; last picture
    int has_row, ended;
};

// ---- Pictures -----------------------------------------------------------------------------------

static MotusStatus no_picture(const char *path, int n, MotusError *error) {
    return motus_fail(error, MOTUS_END, "%s: has no picture %d", motus_shown(path), n);
}

// Reads picture n of the reader, and the one before it if there is one, into the view.
static MotusStatus read_pictures(MotusViewInput *in, const char *path, int n, MotusView *view,
                                 MotusError *error) {
    MotusFrame *frame = NULL;
    MotusStatus status = MOTUS_OK;
    if (in->read < n - 1) { // not in a video, where n counts one by one
        motus_frame_unref(&in->before);
        status = motus_reader_skip(in->reader, n - 1 - in->read, error);
        in->read = n - 1;
    }
    if (!status && in->read < n) {
        motus_frame_unref(&in->before);
        status = motus_reader_next(in->reader, &in->before, error);
        in->read++;
    }
    if (!status) status = motus_reader_next(in->reader, &frame, error);
    if (status == MOTUS_END) return no_picture(path, n, error);
    if (status) return status;
    in->read++;
    status = motus_view_pictures(view, &frame->plane[0], in->before ? &in->before->plane[0] : NULL,
                                 error);
    motus_frame_unref(&in->before);
    in->before = frame;
    return status;
}

// ---- Searches -----------------------------------------------------------------------------------

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
    return status;
}

static MotusStatus open_search(MotusViewInput *in, const MotusView *view) {
    MotusMeConfig config = in->source.me;
    config.width = view->width;
    config.height = view->height;
    MotusStatus status = motus_me_open(&in->me, &config);
    return status ? status : motus_field_alloc(&in->field, view->width, view->height);
}

// Picture 0 has none before it: in a video it has no vectors.
static MotusStatus search_picture(MotusViewInput *in, int n, MotusView *view, MotusError *error) {
    const char *path = in->source.path;
    const MotusMeHints hints = {.lambda_q8 = in->source.lambda_q8};
    view->has_cost = 1;
    if (!n && !in->source.all)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%s: picture 0 has none before it to be searched in", motus_shown(path));
    MotusStatus status = read_pictures(in, path, n, view, error);
    if (status || !view->before.data) return status;
    if (!in->me) status = open_search(in, view);
    if (!status) status = motus_me_search(in->me, &view->picture, &view->before, &hints, in->field);
    if (status)
        return motus_fail(error, status, "%s: search: %s", motus_shown(path),
                          motus_status_text(status));
    status = add_field(view, in->field, error);
    return status ? status : motus_view_keep(view, in->source.mode, path, error);
}

// ---- Tables -------------------------------------------------------------------------------------

static int in_range(long long v, long long lo, long long hi) { return v >= lo && v <= hi; }

static MotusStatus add_row(const MotusViewInput *in, MotusView *view, MotusError *error) {
    const int all_sizes = motus_table_has(in->table, MOTUS_COLUMN_BLOCK);
    const long long *v = in->row;
    const long long x = v[MOTUS_COLUMN_X], y = v[MOTUS_COLUMN_Y], w = v[MOTUS_COLUMN_W],
                    h = v[MOTUS_COLUMN_H];
    const long long mv_x = v[MOTUS_COLUMN_MV_X], mv_y = v[MOTUS_COLUMN_MV_Y],
                    b = v[MOTUS_COLUMN_BLOCK];
    if (!in_range(x, 0, MOTUS_MAX_SIZE) || !in_range(y, 0, MOTUS_MAX_SIZE) ||
        !in_range(w, 1, 255) || !in_range(h, 1, 255) || !in_range(mv_x, INT16_MIN, INT16_MAX) ||
        !in_range(mv_y, INT16_MIN, INT16_MAX) || !in_range(v[MOTUS_COLUMN_LIST], 0, 1) ||
        (all_sizes && !in_range(b, 0, MOTUS_BLOCKS - 1)))
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: row %lld is no block of a picture",
                          motus_shown(in->source.path), motus_table_rows(in->table));
    const MotusViewBlock block = {.x = (int)x,
                                  .y = (int)y,
                                  .width = (uint8_t)w,
                                  .height = (uint8_t)h,
                                  .skip = v[MOTUS_COLUMN_SKIP] != 0,
                                  .list = (uint8_t)v[MOTUS_COLUMN_LIST],
                                  .block = all_sizes ? (uint8_t)b : MOTUS_VIEW_CODED,
                                  .mv = {(int16_t)mv_x, (int16_t)mv_y},
                                  .value = (double)v[MOTUS_COLUMN_COST]};
    return motus_view_add(view, &block, error);
}

static MotusStatus no_vectors(const MotusViewInput *in, int n, MotusError *error) {
    const char *path = in->source.path;
    if (in->last < 0)
        return motus_fail(error, MOTUS_END, "%s: has no vectors at all", motus_shown(path));
    return motus_fail(error, MOTUS_END,
                      "%s: has no vectors of picture %d (its last picture is %lld; I pictures have "
                      "none)",
                      motus_shown(path), n, in->last);
}

// Reads the rows of picture n: of one picture from the whole table, of a video up to the first row
// of a later picture.
static MotusStatus read_rows(MotusViewInput *in, int n, MotusView *view, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    while (!status && !in->ended) {
        if (!in->has_row) status = motus_table_row(in->table, in->row, error);
        in->ended = status == MOTUS_END;
        in->has_row = !status;
        if (status) break;
        const long long frame = in->row[MOTUS_COLUMN_FRAME];
        if (in->source.all && frame < in->last)
            return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                              "%s: row %lld: a video needs the rows in the order of pictures",
                              motus_shown(in->source.path), motus_table_rows(in->table));
        if (frame > in->last) in->last = frame;
        if (in->source.all && frame > n) break;
        if (frame == n) status = add_row(in, view, error);
        in->has_row = 0;
    }
    if (status < 0) return status;
    return view->n || (in->source.all && !in->ended) ? MOTUS_OK : no_vectors(in, n, error);
}

static MotusStatus read_table(MotusViewInput *in, int n, MotusView *view, MotusError *error) {
    view->has_cost = motus_table_has(in->table, MOTUS_COLUMN_COST);
    view->coded = !motus_table_has(in->table, MOTUS_COLUMN_BLOCK);
    MotusStatus status = read_rows(in, n, view, error);
    if (!status && view->n && !view->coded)
        status = motus_view_keep(view, in->source.mode, in->source.path, error);
    if (!status && in->reader) return read_pictures(in, in->source.picture, n, view, error);
    for (size_t i = 0; i < view->n && !status; i++) {
        view->width = motus_max(view->width, view->blocks[i].x + view->blocks[i].width);
        view->height = motus_max(view->height, view->blocks[i].y + view->blocks[i].height);
    }
    return status;
}

// ---- All of them --------------------------------------------------------------------------------

static MotusStatus open_input(MotusViewInput *in, MotusError *error) {
    const MotusViewSource *s = &in->source;
    if (motus_has_ending(s->path, MOTUS_TABLE_ENDINGS)) {
        MotusStatus status = motus_table_open(&in->table, s->path, error);
        if (!status && s->picture)
            status = motus_reader_open(&in->reader, s->picture, &s->reader, error);
        return status;
    }
    MotusStatus status = MOTUS_END;
#ifdef MOTUS_HAVE_MEDIA
    if (!s->search) status = motus_view_stream_open(&in->stream, s->path, s->all, error);
#endif
    return status == MOTUS_END ? motus_reader_open(&in->reader, s->path, &s->reader, error)
                               : status;
}

MotusStatus motus_view_open(MotusViewInput **input, const MotusViewSource *source,
                            MotusError *error) {
    const char *slash = strrchr(source->path, '/');
    MotusViewInput *in = *input = motus_alloc(1, sizeof *in);
    if (!in) return motus_fail(error, MOTUS_ERR_MEMORY, "view: out of memory");
    in->source = *source;
    in->name = slash ? slash + 1 : source->path;
    in->last = -1;
    MotusStatus status = open_input(in, error);
    if (status) motus_view_close(input);
    return status;
}

MotusStatus motus_view_read(MotusViewInput *in, int n, MotusView *view, MotusError *error) {
    *view = (MotusView){.name = in->name, .frame = n};
    if (in->table) return read_table(in, n, view, error);
#ifdef MOTUS_HAVE_MEDIA
    if (in->stream) return motus_view_stream_read(in->stream, n, view, error);
#endif
    return search_picture(in, n, view, error);
}

MotusRational motus_view_rate(const MotusViewInput *in) {
    const MotusRational usual = {25, 1};
#ifdef MOTUS_HAVE_MEDIA
    if (in->stream) return motus_view_stream_rate(in->stream);
#endif
    return in->reader ? motus_reader_info(in->reader)->fps : usual;
}

void motus_view_close(MotusViewInput **input) {
    if (!*input) return;
    MotusViewInput *in = *input;
    motus_table_close(&in->table);
#ifdef MOTUS_HAVE_MEDIA
    motus_view_stream_close(&in->stream);
#endif
    motus_frame_unref(&in->before);
    motus_reader_close(&in->reader);
    motus_field_free(&in->field);
    motus_me_close(&in->me);
    motus_free(in);
    *input = NULL;
}
