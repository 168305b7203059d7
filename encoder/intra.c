// Intra prediction of whole blocks: see intra.h.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intra_core.h"

#include <assert.h>

void motus_intra_edge(MotusIntraEdge *edge, const uint8_t *at, ptrdiff_t stride, int size, int has) {
    if (has & MOTUS_HAS_LEFT)
        for (int y = 0; y < size; y++) edge->left[y] = at[y * stride - 1];
    if (has & MOTUS_HAS_TOP) {
        memcpy(edge->top, at - stride, (size_t)size);
        if (size == 4 && (has & MOTUS_HAS_TOP_RIGHT)) {
            memcpy(edge->top + 4, at - stride + 4, 4);
        } else if (size == 4) {
            memset(edge->top + 4, edge->top[3], 4);
            has |= MOTUS_HAS_TOP_RIGHT;
        }
    }
    if (has & MOTUS_HAS_CORNER) edge->corner = at[-stride - 1];
    edge->has = (uint8_t)has;
}

int motus_intra4x4_has(int blk, int mb_has) {
    const int x = blk & 3, y = blk >> 2;
    int has = 0;
    if (x > 0 || (mb_has & MOTUS_HAS_LEFT)) has |= MOTUS_HAS_LEFT;
    if (y > 0 || (mb_has & MOTUS_HAS_TOP)) has |= MOTUS_HAS_TOP;
    const int corner_from = x > 0 ? MOTUS_HAS_TOP : y > 0 ? MOTUS_HAS_LEFT : MOTUS_HAS_CORNER;
    if ((x > 0 && y > 0) || (mb_has & corner_from)) has |= MOTUS_HAS_CORNER;
    const int right_from = x < 3 ? MOTUS_HAS_TOP : MOTUS_HAS_TOP_RIGHT;
    if (y == 0) return mb_has & right_from ? has | MOTUS_HAS_TOP_RIGHT : has;
    // Inside the MB the block above to the right is coded later for column 1 in the lower row of a quarter, and outside for column 3.
    return x == 3 || (x == 1 && (y & 1)) ? has : has | MOTUS_HAS_TOP_RIGHT;
}

// All the neighbours of `needs` are in `has`.
static int allowed(int needs, int has) { return (needs & ~has) == 0; }

enum { NEEDS_LEFT = MOTUS_HAS_LEFT, NEEDS_TOP = MOTUS_HAS_TOP, NEEDS_ALL = MOTUS_HAS_LEFT | MOTUS_HAS_TOP | MOTUS_HAS_CORNER };

int motus_intra4x4_allowed(int mode, int has) {
    static const uint8_t needs[MOTUS_I4_MODES] = {NEEDS_TOP, NEEDS_LEFT, 0,         NEEDS_TOP, NEEDS_ALL,
                                                  NEEDS_ALL, NEEDS_ALL,  NEEDS_TOP, NEEDS_LEFT};
    assert(mode >= 0 && mode < MOTUS_I4_MODES);
    return allowed(needs[mode], has);
}

int motus_intra16x16_allowed(int mode, int has) {
    static const uint8_t needs[MOTUS_I16_MODES] = {NEEDS_TOP, NEEDS_LEFT, 0, NEEDS_ALL};
    assert(mode >= 0 && mode < MOTUS_I16_MODES);
    return allowed(needs[mode], has);
}

int motus_intra_chroma_allowed(int mode, int has) {
    static const uint8_t needs[MOTUS_IC_MODES] = {0, NEEDS_LEFT, NEEDS_TOP, NEEDS_ALL};
    assert(mode >= 0 && mode < MOTUS_IC_MODES);
    return allowed(needs[mode], has);
}

// The constant `size` of every call makes these loops plain stores.
static inline void fill_rows(uint8_t *pred, ptrdiff_t stride, const uint8_t *row, int size) {
    for (int y = 0; y < size; y++) memcpy(pred + y * stride, row, (size_t)size);
}

static inline void fill_columns(uint8_t *pred, ptrdiff_t stride, const uint8_t *column, int size) {
    for (int y = 0; y < size; y++) memset(pred + y * stride, column[y], (size_t)size);
}

static inline void fill(uint8_t *pred, ptrdiff_t stride, int value, int size) {
    for (int y = 0; y < size; y++) memset(pred + y * stride, value, (size_t)size);
}

static inline void fill_plane(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int size) {
    const MotusIntraPlane plane = motus_intra_plane(edge, size);
    for (int y = 0; y < size; y++) motus_intra_plane_row(pred + y * stride, &plane, y, size);
}

void motus_intra4x4(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode) {
    assert(motus_intra4x4_allowed(mode, edge->has));
    MotusIntraLine line;
    switch (mode) {
    case MOTUS_I4_VERTICAL:
        fill_rows(pred, stride, edge->top, 4);
        break;
    case MOTUS_I4_HORIZONTAL:
        fill_columns(pred, stride, edge->left, 4);
        break;
    case MOTUS_I4_DC:
        fill(pred, stride, motus_intra_dc(edge->top, edge->left, 2, edge->has), 4);
        break;
    default:
        motus_intra_line(&line, edge);
        motus_intra4x4_directional(pred, stride, &line, mode);
        break;
    }
}

void motus_intra16x16(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode) {
    assert(motus_intra16x16_allowed(mode, edge->has));
    switch (mode) {
    case MOTUS_I16_VERTICAL:
        fill_rows(pred, stride, edge->top, 16);
        break;
    case MOTUS_I16_HORIZONTAL:
        fill_columns(pred, stride, edge->left, 16);
        break;
    case MOTUS_I16_DC:
        fill(pred, stride, motus_intra_dc(edge->top, edge->left, 4, edge->has), 16);
        break;
    default:
        fill_plane(pred, stride, edge, 16);
        break;
    }
}

void motus_intra_chroma(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode) {
    assert(motus_intra_chroma_allowed(mode, edge->has));
    switch (mode) {
    case MOTUS_IC_VERTICAL:
        fill_rows(pred, stride, edge->top, 8);
        break;
    case MOTUS_IC_HORIZONTAL:
        fill_columns(pred, stride, edge->left, 8);
        break;
    case MOTUS_IC_PLANE:
        fill_plane(pred, stride, edge, 8);
        break;
    default:
        for (int quarter = 0; quarter < 4; quarter++) {
            const int x = quarter & 1, y = quarter >> 1;
            fill(pred + 4 * (y * stride + x), stride, motus_intra_chroma_dc(edge, x, y), 4);
        }
        break;
    }
}
