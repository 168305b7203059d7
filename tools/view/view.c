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

static MotusStatus no_memory(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_MEMORY, "view: out of memory");
}

void motus_view_free(MotusView *view) {
    motus_plane_free(&view->picture);
    motus_plane_free(&view->before);
    motus_free(view->blocks);
    *view = (MotusView){0};
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
    view->has_list1 |= block->list;
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

MotusStatus motus_view_keep(MotusView *view, int mode, const char *path, MotusError *error) {
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
