// Deblocking of a picture: see deblock.h.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/deblock.h"

#include "common/cpu.h"
#include "encoder/deblock_core.h"
#include "encoder/wavefront.h"

// bS of the four edges of one direction, four 4x4 blocks each.
typedef uint8_t Strengths[4][4];

static int any(const uint8_t edge[4]) { return edge[0] | edge[1] | edge[2] | edge[3]; }

// `outside` is the MB on the other side of edge 0, NULL where that edge is not filtered.
static void find_strengths(Strengths strengths, const MotusMb *mb, const MotusMb *outside, int direction) {
    for (int edge = 0; edge < 4; edge++) {
        const int all = motus_deblock_strength_edge(mb, outside, edge);
        for (int k = 0; k < 4; k++)
            strengths[edge][k] = (uint8_t)(all >= 0 ? all : motus_deblock_strength_block(mb, outside, direction, edge, k));
    }
}

// 16 lines; s is the first sample beyond the edge.
static void luma_edge(uint8_t *s, ptrdiff_t across, ptrdiff_t along, const uint8_t strength[4], int qp) {
    const MotusDeblockLimits limits = motus_deblock_limits(qp);
    if (limits.alpha == 0) return;
    for (int k = 0; k < 4; k++, s += 4 * along) {
        if (strength[k] == 4)
            for (int i = 0; i < 4; i++) motus_deblock_strong(s + i * along, across, 0, &limits);
        else if (strength[k])
            for (int i = 0; i < 4; i++) motus_deblock_normal(s + i * along, across, 0, limits.tc0[strength[k]], &limits);
    }
}

// 8 lines, two for each bS.
static void chroma_edge(uint8_t *s, ptrdiff_t across, ptrdiff_t along, const uint8_t strength[4], int qp_c) {
    const MotusDeblockLimits limits = motus_deblock_limits(qp_c);
    if (limits.alpha == 0) return;
    for (int i = 0; i < 8; i++, s += along) {
        if (strength[i >> 1] == 4)
            motus_deblock_strong(s, across, 1, &limits);
        else if (strength[i >> 1])
            motus_deblock_normal(s, across, 1, limits.tc0[strength[i >> 1]], &limits);
    }
}

// All edges of one direction of an MB. `at` are the MB's first samples in the three planes.
static void filter_direction(uint8_t *const at[3], const ptrdiff_t stride[3], const MotusMb *mb, const MotusMb *outside,
                             int direction) {
    Strengths strengths;
    find_strengths(strengths, mb, outside, direction);
    for (int edge = outside ? 0 : 1; edge < 4; edge++) {
        if (!any(strengths[edge])) continue;
        const MotusMb *p = edge == 0 ? outside : mb;
        const int qp = motus_deblock_qp(p, mb, 0), qp_c = motus_deblock_qp(p, mb, 1);
        for (int c = 0; c < 3; c++) {
            const ptrdiff_t across = direction == MOTUS_VERTICAL ? 1 : stride[c],
                            along = direction == MOTUS_VERTICAL ? stride[c] : 1;
            if (c == 0)
                luma_edge(at[0] + 4 * edge * across, across, along, strengths[edge], qp);
            else if (edge % 2 == 0)
                chroma_edge(at[c] + 2 * edge * across, across, along, strengths[edge], qp_c);
        }
    }
}

typedef struct Picture {
    MotusFrame *rec;
    const MotusMb *mb;
    int mb_width;
} Picture;

// An MB changes the last rows of the one above, which the MB to the right of that one changes before it: motus_wavefront keeps that order.
static void filter_mb(void *context, int x, int y) {
    const Picture *picture = context;
    const MotusMb *mb = picture->mb + y * picture->mb_width + x;
    uint8_t *at[3];
    ptrdiff_t stride[3];
    for (int c = 0; c < 3; c++) {
        const int size = c ? 8 : 16;
        stride[c] = picture->rec->plane[c].stride;
        at[c] = picture->rec->plane[c].data + size * (y * stride[c] + x);
    }
    filter_direction(at, stride, mb, x > 0 ? mb - 1 : NULL, MOTUS_VERTICAL);
    filter_direction(at, stride, mb, y > 0 ? mb - picture->mb_width : NULL, MOTUS_HORIZONTAL);
}

void motus_deblock_picture(MotusFrame *rec, const MotusMb *mb, int mb_width, int mb_height, int threads) {
    Picture picture = {rec, mb, mb_width};
    motus_wavefront(mb_width, mb_height, motus_cpu_threads(threads), filter_mb, &picture);
}
