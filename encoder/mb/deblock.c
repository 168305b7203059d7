// Deblocking of a picture (8.7). deblock_avx2.c includes this file, with edges of its own.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/deblock.h"

#include <assert.h>

#include "common/cpu.h"
#include "common/threads.h"
#include "encoder/mb/deblock_core.h"

#ifndef MOTUS_DEBLOCK_PICTURE
#define MOTUS_DEBLOCK_PICTURE motus_deblock_picture_c

void motus_deblock_picture(MotusFrame *rec, const MotusCodedMbs *mbs) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) {
        motus_deblock_picture_avx2(rec, mbs);
        return;
    }
#endif
    motus_deblock_picture_c(rec, mbs);
}

// bS of one direction, [edge][4x4 block along it].
typedef uint8_t Strengths[4][4];

// Computes bS of one direction. outside: MB beyond edge 0; NULL: that edge is not filtered. Returns
// 0 if all are 0.
static int find_strengths(Strengths strengths, const MotusMb *mb, const MotusMb *outside,
                          int direction, int refs, int copies) {
    int any = 0;
    for (int edge = 0; edge < 4; edge++) {
        const int all = motus_deblock_strength_edge(mb, outside, edge, refs == MOTUS_REFS_B);
        for (int k = 0; k < 4; k++) {
            const int strength = all >= 0 ? all
                                          : motus_deblock_strength_block(mb, outside, direction,
                                                                         edge, k, refs, copies);
            strengths[edge][k] = (uint8_t)strength;
            any |= strength;
        }
    }
    return any;
}

static void filter_line(uint8_t *s, ptrdiff_t across, int chroma, int bs,
                        const MotusDeblockLimits *limits) {
    if (bs == 4)
        motus_deblock_strong(s, across, chroma, limits);
    else if (bs)
        motus_deblock_normal(s, across, chroma, limits->tc0[bs], limits);
}

// Filters 16 luma lines across an edge. s: first q0 sample.
static void luma_edge(uint8_t *s, ptrdiff_t stride, int direction, const uint8_t strength[4],
                      const MotusDeblockLimits *limits) {
    const ptrdiff_t across = direction == MOTUS_VERTICAL ? 1 : stride, along = stride + 1 - across;
    for (int i = 0; i < 16; i++) filter_line(s + i * along, across, 0, strength[i >> 2], limits);
}

// Filters 8 lines of both chroma planes across an edge, two lines for each bS.
static void chroma_edge(uint8_t *cb, uint8_t *cr, ptrdiff_t stride, int direction,
                        const uint8_t strength[4], const MotusDeblockLimits *limits) {
    const ptrdiff_t across = direction == MOTUS_VERTICAL ? 1 : stride, along = stride + 1 - across;
    for (int i = 0; i < 8; i++) {
        filter_line(cb + i * along, across, 1, strength[i >> 1], limits);
        filter_line(cr + i * along, across, 1, strength[i >> 1], limits);
    }
}

#endif

// Filters the edges of one direction of an MB. at: its first samples; stride: luma, chroma.
static void filter_direction(uint8_t *const at[3], const ptrdiff_t stride[2], const MotusMb *mb,
                             const MotusMb *outside, int direction, const MotusCodedMbs *mbs) {
    const int refs = mbs->slice_type == MOTUS_SLICE_B ? MOTUS_REFS_B
                     : mbs->refs > 1                  ? MOTUS_REFS_LIST0
                                                      : MOTUS_REFS_ONE;
    Strengths strengths;
    if (!find_strengths(strengths, mb, outside, direction, refs, mbs->copies)) return;
    // From edge to edge.
    const ptrdiff_t luma_step = 4 * (direction == MOTUS_VERTICAL ? 1 : stride[0]),
                    chroma_step = 2 * (direction == MOTUS_VERTICAL ? 1 : stride[1]);
    for (int edge = 0; edge < 4; edge++) {
        const uint8_t *bs = strengths[edge];
        if (!(bs[0] | bs[1] | bs[2] | bs[3])) continue;
        const MotusMb *p = edge == 0 ? outside : mb;
        assert(p); // bS is 0 at the picture's border
        const MotusDeblockLimits luma = motus_deblock_limits(motus_deblock_qp(p, mb, 0));
        if (luma.alpha) luma_edge(at[0] + edge * luma_step, stride[0], direction, bs, &luma);
        if (edge % 2) continue;
        const MotusDeblockLimits chroma = motus_deblock_limits(motus_deblock_qp(p, mb, 1));
        const ptrdiff_t to = edge * chroma_step;
        if (chroma.alpha) chroma_edge(at[1] + to, at[2] + to, stride[1], direction, bs, &chroma);
    }
}

typedef struct Picture {
    MotusFrame *rec;
    const MotusCodedMbs *mbs;
} Picture;

// Filters MB (x, y). It changes the last rows of the MB above after the MB above right did, an
// order that motus_wavefront keeps.
static void filter_mb(void *context, int x, int y) {
    const Picture *picture = context;
    const MotusCodedMbs *mbs = picture->mbs;
    const int mb_width = mbs->mb_width;
    const MotusMb *mb = mbs->mb + y * mb_width + x;
    const MotusPlane *plane = picture->rec->plane;
    const ptrdiff_t stride[2] = {plane[0].stride, plane[1].stride};
    uint8_t *const at[3] = {plane[0].data + 16 * (y * stride[0] + x),
                            plane[1].data + 8 * (y * stride[1] + x),
                            plane[2].data + 8 * (y * stride[1] + x)};
    const int i = y * mb_width + x, slice = motus_slice_first(mbs->slice_first, i);
    // The first MB that may share a filtered edge with this one.
    const int first = mbs->apart_row && slice / mb_width == mbs->apart_row ? slice : 0;
    filter_direction(at, stride, mb, x > 0 && i - 1 >= first ? mb - 1 : NULL, MOTUS_VERTICAL, mbs);
    filter_direction(at, stride, mb, i - mb_width >= first ? mb - mb_width : NULL, MOTUS_HORIZONTAL,
                     mbs);
}

void MOTUS_DEBLOCK_PICTURE(MotusFrame *rec, const MotusCodedMbs *mbs) {
    Picture picture = {rec, mbs};
    assert(rec->plane[1].stride == rec->plane[2].stride);
    const MotusWave wave = {filter_mb, NULL, &picture, NULL};
    motus_wavefront(mbs->mb_width, mbs->mb_height, motus_cpu_threads(mbs->threads), &wave);
}
