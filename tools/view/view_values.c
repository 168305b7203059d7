// Values of blocks: their difference from the prediction, or the bits of their vectors.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/error.h"
#include "encoder/mb/mv_core.h"
#include "me/pixel/ref_luma.h"
#include "tools/view/view.h"

// Returns the SAD per sample of the block against its prediction, inside the picture.
static double block_sad(const MotusRefLuma *ref, const MotusPlane *cur, const MotusViewBlock *b) {
    uint64_t sum = 0, samples = 0;
    for (int y = 0; y < b->height; y += 4)
        for (int x = 0; x < b->width; x += 4) {
            uint8_t dst[16 * 16];
            ptrdiff_t stride = 16;
            const uint8_t *p =
                motus_ref_luma_block(ref, b->x + x, b->y + y, b->mv, 4, 4, dst, &stride);
            for (int i = 0; i < 16; i++) {
                int u = b->x + x + i % 4, v = b->y + y + i / 4;
                if (u >= cur->width || v >= cur->height) continue;
                sum +=
                    (uint64_t)motus_abs(cur->data[v * cur->stride + u] - p[i / 4 * stride + i % 4]);
                samples++;
            }
        }
    return samples ? (double)sum / (double)samples : 0;
}

// Refuses a B picture.
static MotusStatus check_lists(const MotusView *view, const char *what, MotusError *error) {
    return view->has_list1 ? motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                                        "%s: picture %d is a B picture, which has no %s here",
                                        motus_shown(view->name), view->frame, what)
                           : MOTUS_OK;
}

MotusStatus motus_view_costs(MotusView *view, MotusError *error) {
    if (view->has_cost) {
        for (size_t i = 0; i < view->n; i++)
            view->blocks[i].value /= view->blocks[i].width * view->blocks[i].height;
        return MOTUS_OK;
    }
    MotusStatus status = check_lists(view, "costs", error);
    if (status) return status;
    if (!view->before.data)
        return motus_fail(
            error, MOTUS_ERR_UNSUPPORTED,
            "%s: has no costs, and without the picture before it none can be measured%s",
            motus_shown(view->name), view->is_stream ? "" : " (--picture)");
    MotusRefLuma ref = {0};
    status = motus_ref_luma_alloc(&ref, view->width, view->height);
    if (status)
        return motus_fail(error, status, "%s: %s", motus_shown(view->name),
                          motus_status_text(status));
    motus_ref_luma_build(&ref, &view->before, 1, 1);
    for (size_t i = 0; i < view->n; i++)
        view->blocks[i].value = block_sad(&ref, &view->picture, &view->blocks[i]);
    motus_ref_luma_free(&ref);
    return MOTUS_OK;
}

// ---- Bits ---------------------------------------------------------------------------------------

// The picture's 4x4 blocks decoded so far; MBs without vectors are intra.
typedef struct ViewCells {
    MotusMv *mv;
    uint8_t *state;
    int width, height;
} ViewCells;

// Loads the neighbourhood of the MB at (x, y), in cells.
static void load(MotusMvGrid *grid, const ViewCells *cells, int x, int y) {
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 6; column++) {
            int u = x + column - 1, v = y + row - 1, at = v * cells->width + u;
            int inside = u >= 0 && v >= 0 && u < cells->width && v < cells->height &&
                         (row == 0 || column < 5);
            const MotusMv zero = {0, 0};
            MotusMvCell *cell = &grid->cell[row][column];
            cell->state = inside ? cells->state[at] : MOTUS_CELL_NONE;
            cell->mv = inside && cells->state[at] == MOTUS_CELL_INTER ? cells->mv[at] : zero;
        }
}

static int mode_of(const MotusViewBlock *b) {
    for (int i = 0; i < MOTUS_BLOCKS; i++)
        if (motus_blocks[i].width == b->width && motus_blocks[i].height == b->height)
            return motus_blocks[i].mode;
    return -1;
}

static void put(const ViewCells *cells, const MotusViewBlock *b) {
    for (int y = b->y / 4; y < (b->y + b->height) / 4 && y < cells->height; y++)
        for (int x = b->x / 4; x < (b->x + b->width) / 4 && x < cells->width; x++) {
            cells->mv[y * cells->width + x] = b->mv;
            cells->state[y * cells->width + x] = MOTUS_CELL_INTER;
        }
}

// Returns the bits of one vector, 0 for P_Skip. libavcodec does not mark P_Skip.
static int bits_of(const ViewCells *cells, const MotusViewBlock *b, int mode) {
    MotusMvGrid grid;
    load(&grid, cells, b->x / 16 * 4, b->y / 16 * 4);
    int x = b->x % 16 / 4, y = b->y % 16 / 4;
    int second = (mode == MOTUS_MODE_16x8 && y) || (mode == MOTUS_MODE_8x16 && x);
    const MotusPartition part = motus_partition_at(mode, second, x, y);
    const MotusMv p = motus_grid_mvp(&grid, &part, 0);
    return b->skip ? 0 : motus_se_bits(b->mv.x - p.x) + motus_se_bits(b->mv.y - p.y);
}

// Counts the bits of blocks in raster order of MBs, as all sources have them. MBs left out are
// intra.
static MotusStatus count_bits(MotusView *view, const ViewCells *cells, MotusError *error) {
    int mb_width = cells->width / 4, next = 0;
    for (size_t i = 0; i < view->n; i++) {
        MotusViewBlock *b = &view->blocks[i];
        int mode = mode_of(b), mb = b->y / 16 * mb_width + b->x / 16;
        if (mode < 0 || b->x % b->width || b->y % b->height || b->x / 16 >= mb_width ||
            mb < next - 1)
            return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                              "%s: bits need the blocks of H.264, in raster order of macroblocks",
                              motus_shown(view->name));
        for (; next <= mb; next++)
            for (int c = 0; next < mb && c < 16; c++)
                cells->state[(next / mb_width * 4 + c / 4) * cells->width + next % mb_width * 4 +
                             c % 4] = MOTUS_CELL_INTRA;
        b->value = bits_of(cells, b, mode);
        put(cells, b);
    }
    return MOTUS_OK;
}

MotusStatus motus_view_bits(MotusView *view, MotusError *error) {
    ViewCells cells = {.width = 4 * motus_mbs(view->width), .height = 4 * motus_mbs(view->height)};
    size_t n = (size_t)cells.width * (size_t)cells.height;
    MotusStatus status = check_lists(view, "bits of vectors", error);
    if (status) return status;
    cells.mv = motus_alloc(n, sizeof *cells.mv);
    cells.state = motus_alloc(n, 1);
    status = cells.mv && cells.state ? count_bits(view, &cells, error)
                                     : motus_fail(error, MOTUS_ERR_MEMORY, "view: out of memory");
    motus_free(cells.mv);
    motus_free(cells.state);
    return status;
}
