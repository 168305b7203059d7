// Deblocking of a picture: see deblock.h.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/deblock.h"

#include <string.h>

#include "common/cpu.h"
#include "encoder/deblock_core.h"
#include "encoder/wavefront.h"
#include "motus/dct.h"

enum { VERTICAL, HORIZONTAL };

// bS of the four edges of one direction, four 4x4 blocks each.
typedef uint8_t Strengths[4][4];

static void fill_strength(uint8_t edge[4], int strength) { memset(edge, strength, 4); }

static int any(const uint8_t edge[4]) { return edge[0] | edge[1] | edge[2] | edge[3]; }

// `outside` is the MB on the other side of edge 0, NULL where that edge is not filtered.
static void find_strengths(Strengths strengths, const MotusMb *mb, const MotusMb *outside, int direction) {
    const int across = direction == VERTICAL ? 1 : 4, along = direction == VERTICAL ? 4 : 1;
    const int intra = motus_mb_is_intra(mb);
    if (!outside) {
        fill_strength(strengths[0], 0);
    } else if (intra || motus_mb_is_intra(outside)) {
        fill_strength(strengths[0], 4);
    } else {
        for (int k = 0; k < 4; k++)
            strengths[0][k] = (uint8_t)motus_deblock_strength_inter(outside, k * along + 3 * across, mb, k * along);
    }
    const int even = !intra && (mb->type == MOTUS_MB_P_SKIP || mb->type == MOTUS_MB_P_16x16) && !(mb->cbp & 15);
    if (intra || even) {
        for (int edge = 1; edge < 4; edge++) fill_strength(strengths[edge], intra ? 3 : 0);
        return;
    }
    for (int edge = 1; edge < 4; edge++) {
        for (int k = 0; k < 4; k++) {
            const int blk = k * along + edge * across;
            strengths[edge][k] = (uint8_t)motus_deblock_strength_inter(mb, blk - across, mb, blk);
        }
    }
}

// 16 lines; s is the first sample beyond the edge.
static void luma_edge(uint8_t *s, ptrdiff_t across, ptrdiff_t along, const uint8_t strength[4], int qp) {
    const MotusDeblockLimits limits = motus_deblock_limits(qp);
    if (limits.alpha == 0) return;
    for (int k = 0; k < 4; k++, s += 4 * along) {
        if (strength[k] == 4)
            for (int i = 0; i < 4; i++) motus_deblock_luma_strong(s + i * along, across, &limits);
        else if (strength[k])
            for (int i = 0; i < 4; i++) motus_deblock_luma_normal(s + i * along, across, limits.tc0[strength[k]], &limits);
    }
}

// 8 lines, two for each bS.
static void chroma_edge(uint8_t *s, ptrdiff_t across, ptrdiff_t along, const uint8_t strength[4], int qp_c) {
    const MotusDeblockLimits limits = motus_deblock_limits(qp_c);
    if (limits.alpha == 0) return;
    for (int i = 0; i < 8; i++)
        if (strength[i >> 1]) motus_deblock_chroma(s + i * along, across, strength[i >> 1], &limits);
}

// All edges of one direction of an MB. `at` are the MB's first samples in the three planes.
static void filter_direction(uint8_t *const at[3], const ptrdiff_t stride[3], const MotusMb *mb, const MotusMb *outside,
                             int direction) {
    Strengths strengths;
    find_strengths(strengths, mb, outside, direction);
    const int qp_c = motus_chroma_qp(mb->qp, 0);
    for (int edge = outside ? 0 : 1; edge < 4; edge++) {
        if (!any(strengths[edge])) continue;
        int qp = mb->qp, edge_qp_c = qp_c;
        if (edge == 0) {
            qp = (outside->qp + qp + 1) >> 1;
            edge_qp_c = (motus_chroma_qp(outside->qp, 0) + qp_c + 1) >> 1;
        }
        for (int c = 0; c < 3; c++) {
            const ptrdiff_t across = direction == VERTICAL ? 1 : stride[c], along = direction == VERTICAL ? stride[c] : 1;
            if (c == 0)
                luma_edge(at[0] + 4 * edge * across, across, along, strengths[edge], qp);
            else if (edge % 2 == 0)
                chroma_edge(at[c] + 2 * edge * across, across, along, strengths[edge], edge_qp_c);
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
    filter_direction(at, stride, mb, x > 0 ? mb - 1 : NULL, VERTICAL);
    filter_direction(at, stride, mb, y > 0 ? mb - picture->mb_width : NULL, HORIZONTAL);
}

void motus_deblock_picture(MotusFrame *rec, const MotusMb *mb, int mb_width, int mb_height, int threads) {
    Picture picture = {rec, mb, mb_width};
    motus_wavefront(mb_width, mb_height, motus_cpu_threads(threads), filter_mb, &picture);
}
