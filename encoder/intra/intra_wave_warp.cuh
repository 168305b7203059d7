// Intra MBs whose types are known, where blocks wait for blocks: luma and chroma of an MB are coded
// by a warp each, which learns of its neighbours' 4x4 blocks one by one. A block is handed on as a
// word of its own: no other memory has to be complete when the word is. In I pictures MBs of a row
// are coded by the warps of a block in turn, and luma is handed on to the right in shared memory.
// Equals code_as (intra.c): suite `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_WAVE_WARP_CUH
#define ENCODER_INTRA_INTRA_WAVE_WARP_CUH

#include "encoder/intra/intra8x8_warp.cuh"

namespace motus_wave {

// Reads and writes of the device's scope, past the L1 cache and as one access. They say nothing of
// other memory.
static __device__ uint64_t load_relaxed(const uint64_t *from) {
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
    return v;
}
static __device__ void store_relaxed(uint64_t *to, uint64_t v) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(to), "l"(v) : "memory");
}

// ---- Blocks that are handed on ------------------------------------------------------------------

// Returns the word of a 4x4 block: its samples at the MB's edge, its Intra4x4 mode (DC in MBs of
// other types) and its count. Never 0.
MOTUS_WARP uint64_t word_of(uint32_t samples, int mode, int count) {
    return samples | (uint64_t)(mode + 1) << 32 | (uint64_t)count << 40;
}

// Returns the four samples of a row (step 1) or a column, from `at` on.
MOTUS_WARP uint32_t four_samples(const uint8_t *at, ptrdiff_t step) {
    uint32_t samples = 0;
    for (int i = 0; i < 4; i++) samples |= (uint32_t)at[i * step] << (8 * i);
    return samples;
}

MOTUS_WARP int mode_of(uint64_t word) { return (int)(word >> 32 & 255) - 1; }
MOTUS_WARP int count_of(uint64_t word) { return (int)(word >> 40 & 255); }

// The neighbour's block that a lane waits for. Lanes 0 to 3: A's right column, of luma not if it is
// in shared memory; 4 to 7: B's bottom row. Luma: 8 and 9 C's first blocks, 10 D's last one;
// chroma: 8 and 9 D's last ones of Cb and Cr.
typedef struct Wanted {
    const uint64_t *at; // NULL: there is none, or it has been delivered
    uint64_t word;      // not 0: there already
} Wanted;

// Right columns of the MBs that a row's warps code, by warp: words that are 0 until they are
// written, and again once they are taken. A word is not written again before it is taken, as each
// row of an MB's 4x4 blocks needs the one to its left.
enum { ROW_WARPS = 4 };
typedef struct Row {
    unsigned long long right[ROW_WARPS][4];
} Row;

// An MB's place in its row, without a row if its neighbours are anywhere.
typedef struct Place {
    Row *row;      // NULL: none
    int left, own; // warps of A and of this MB; -1: no A, no MB to the right; or no row
} Place;

enum { LEFT = 0, ABOVE = 4, ABOVE_RIGHT = 8, CORNER = 10, CHROMA_CORNER = 8 };

// Returns the mask of n lanes.
MOTUS_WARP uint32_t lanes(int first, int n) { return ((1u << n) - 1) << first; }

// Looks once for what has not come.
MOTUS_WARP void look(Wanted *w) {
    if (w->at && !w->word) w->word = load_relaxed(w->at);
}

// Blocks until the words of these lanes have come. True in lanes that got one now. All lanes stay
// together: a warp whose lanes wait apart took up to a third longer for an I picture.
MOTUS_WARP bool wait_for(Wanted *w, uint32_t of) {
    const bool mine = w->at && of >> motus_lane() & 1;
    while (__any_sync(MOTUS_ALL_LANES, mine && !w->word))
        if (mine && !w->word) w->word = load_relaxed(w->at);
    if (mine) w->at = nullptr;
    return mine;
}

// Blocks until the words of these lanes have come for luma, of A in shared memory.
MOTUS_WARP bool wait_for_luma(Wanted *w, const Place *p, uint32_t of) {
    const int lane = motus_lane();
    const bool came = wait_for(w, of), is_left = p->left >= 0 && lane < ABOVE && of >> lane & 1;
    if (is_left) w->word = 0;
    while (__any_sync(MOTUS_ALL_LANES, is_left && !w->word))
        if (is_left && !w->word) w->word = atomicExch(&p->row->right[p->left][lane], 0);
    return came || is_left;
}

// Puts a lane's luma samples on a canvas.
MOTUS_WARP void put_luma(uint8_t *canvas, uint64_t word) {
    const int lane = motus_lane();
    uint8_t *first = canvas + MOTUS_CANVAS_ORIGIN, *above = first - MOTUS_CANVAS_STRIDE;
    if (lane < ABOVE)
        for (int i = 0; i < 4; i++)
            first[(4 * lane + i) * MOTUS_CANVAS_STRIDE - 1] = (uint8_t)(word >> (8 * i));
    else if (lane < CORNER)
        motus_word_put(above + 4 * (lane - ABOVE), (uint32_t)word);
    else
        above[-1] = (uint8_t)(word >> 24);
}

// Sets the counts of the neighbours' 4x4 blocks from the words of lanes 0 to 7. around: A, B.
MOTUS_WARP void put_counts(MotusMb around[2], uint64_t word, int chroma) {
    const int lane = motus_lane(), k = lane & 3;
    if (lane >= 8) return;
    const int blk = !chroma ? (lane < ABOVE ? 4 * k + 3 : 12 + k)
                            : 16 + 4 * (k >> 1) + (lane < ABOVE ? 2 * (k & 1) + 1 : 2 + (k & 1));
    around[lane >= ABOVE].total_coeff[blk] = (uint8_t)count_of(word);
}

// ---- Luma ---------------------------------------------------------------------------------------

// Shared memory of a warp that codes luma.
typedef struct Luma {
    MotusTrial trial;
    MotusIntraShared scratch;
    MotusI8Lanes lanes;
    MotusMb around[2];
    __attribute__((aligned(16))) uint8_t source[256];
} Luma;

// Keeps a block of an MB's edge for its neighbours, the one to the right or the one below.
MOTUS_WARP void keep_edge(const Place *p, MotusHandedMb *to, int below, int k, uint64_t word) {
    if (below)
        store_relaxed(&to->below[k], word);
    else if (!p->row)
        store_relaxed(&to->right[k], word);
    else if (p->own >= 0)
        atomicExch(&p->row->right[p->own][k], word);
}

// Keeps right block y and bottom block x of an Intra4x4 MB after a step.
MOTUS_WARP void keep_edges_4x4(const MotusI4Lanes *s, const uint8_t *canvas, const Place *p,
                               MotusHandedMb *to, int step, int keeps_left) {
    const int lane = motus_lane(), below = lane == 1,
              k = keeps_left ? step - 3
                  : below    ? step - 6
                             : (step - 3) >> 1;
    if (lane > 1 || k < 0 || (!keeps_left && !below && !(step & 1))) return;
    const int x = below ? k : 3, y = below ? 3 : k;
    const uint8_t *at =
        canvas + MOTUS_CANVAS_ORIGIN +
        (below ? 15 * MOTUS_CANVAS_STRIDE + 4 * k : 4 * k * MOTUS_CANVAS_STRIDE + 15);
    const uint32_t samples = four_samples(at, below ? 1 : MOTUS_CANVAS_STRIDE);
    keep_edge(p, to, below, k, word_of(samples, s->mode[y + 1][x + 1], s->count[y + 1][x + 1]));
}

// Returns the lanes whose words a step of Intra4x4 needs first.
MOTUS_WARP uint32_t needed_by_4x4(int step, int keeps_left) {
    if (keeps_left)
        return step > 3
                   ? 0
                   : lanes(LEFT + step, 1) | lanes(ABOVE + step, 1) | (step ? 0 : lanes(CORNER, 1));
    return step == 0   ? lanes(LEFT, 1) | lanes(ABOVE, 2) | lanes(CORNER, 1)
           : step == 1 ? lanes(ABOVE + 2, 1)
           : step == 2 ? lanes(LEFT + 1, 1) | lanes(ABOVE + 3, 1)
           : step == 3 ? lanes(ABOVE_RIGHT, 1)
           : step == 4 ? lanes(LEFT + 2, 1)
           : step == 6 ? lanes(LEFT + 3, 1)
                       : 0;
}

MOTUS_WARP MotusIntraPart code_4x4(const MotusIntraMb *in, Luma *s, const Place *place,
                                   Wanted *wanted, MotusHandedMb *to) {
    MotusI4Lanes *i4 = MOTUS_SHARED(&s->scratch.i4);
    uint8_t *canvas = MOTUS_SHARED(&s->scratch.canvas[0]);
    const int lane = motus_lane(), k = lane & 3, left = lane < ABOVE;
    const MotusI4Mb mb = motus_i4_prepare(in, &s->scratch);
    const MotusI4Memory m = {i4, MOTUS_SHARED(&s->trial), canvas, s->scratch.i4_minus,
                             s->scratch.residual.coef};
    if (lane < 8)
        i4->count[left ? k + 1 : 0][left ? 0 : k + 1] =
            i4->mode[left ? k + 1 : 0][left ? 0 : k + 1] = -1;
    motus_lanes_sync(); // before blocks are delivered
    MotusI4Block block = motus_i4_block_of(&mb, &m, 0);
    const int keeps_left = in->keeps_left, steps = keeps_left ? 7 : 10;
    MOTUS_ONE_BODY
    for (int step = 0; step < steps; step++) {
        const MotusI4Block now = block;
        if (wait_for_luma(wanted, place, needed_by_4x4(step, keeps_left))) {
            put_luma(canvas, wanted->word);
            if (lane < 8) {
                i4->count[left ? k + 1 : 0][left ? 0 : k + 1] = (int8_t)count_of(wanted->word);
                i4->mode[left ? k + 1 : 0][left ? 0 : k + 1] = (int8_t)mode_of(wanted->word);
            }
        }
        motus_lanes_sync(); // the edge is written
        look(wanted);       // overlaps this step
        block = motus_i4_block_of(&mb, &m, motus_min(step + 1, steps - 1));
        motus_i4_block(&mb, &m, &now, in->i4_trials, 0);
        keep_edges_4x4(i4, canvas, place, to, step, keeps_left);
    }
    return motus_i4_finish(&mb, &s->scratch, m.to);
}

// Keeps the blocks at the edges of an Intra8x8 MB's block q.
MOTUS_WARP void keep_edges_8x8(const Luma *s, const Place *p, MotusHandedMb *to, int q) {
    const int lane = motus_lane(), below = lane >> 1 & 1, half = lane & 1;
    if (lane > 3 || !(below ? q & 2 : q & 1)) return;
    const int blk = motus_blk_at(4 * q + (below ? 2 + half : 1 + 2 * half)),
              k = below ? blk & 3 : blk >> 2;
    const uint8_t *at =
        s->lanes.canvas + MOTUS_CANVAS_ORIGIN +
        (below ? 15 * MOTUS_CANVAS_STRIDE + 4 * k : 4 * k * MOTUS_CANVAS_STRIDE + 15);
    const uint32_t samples = four_samples(at, below ? 1 : MOTUS_CANVAS_STRIDE);
    keep_edge(p, to, below, k,
              word_of(samples, s->trial.mb.intra4x4_pred_mode[blk], s->trial.mb.total_coeff[blk]));
}

MOTUS_WARP MotusIntraPart code_8x8(const MotusIntraMb *in, const MotusQuant8 *quant, Luma *s,
                                   const Place *place, Wanted *wanted, MotusHandedMb *to) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    MotusI8Lanes *i8 = MOTUS_SHARED(&s->lanes);
    const int lane = motus_lane(), k = lane >> 1 & 1, left = lane < ABOVE;
    const MotusI8Mb mb = motus_i8_prepare(in, quant, i8);
    motus_i4_prepare(in, &s->scratch);
    if (lane == 0) s->trial.mb.transform_8x8 = 1;
    if (lane < 8 && !(lane & 1)) i8->mode[left ? k + 1 : 0][left ? 0 : k + 1] = -1;
    motus_lanes_sync(); // before blocks are delivered
    MOTUS_ONE_BODY
    for (int q = 0; q < 4; q++) {
        const uint32_t needed = q == 0   ? lanes(LEFT, 2) | lanes(ABOVE, 4) | lanes(CORNER, 1)
                                : q == 1 ? lanes(ABOVE_RIGHT, 2)
                                : q == 2 ? lanes(LEFT + 2, 2)
                                         : 0;
        if (wait_for_luma(wanted, place, needed)) {
            put_luma(i8->canvas, wanted->word);
            if (lane < 8 && !(lane & 1))
                i8->mode[left ? k + 1 : 0][left ? 0 : k + 1] = (int8_t)mode_of(wanted->word);
        }
        motus_lanes_sync(); // the edge is written
        look(wanted);       // overlaps this block
        motus_i8_block(&mb, in, MOTUS_SHARED(&s->scratch.i4_minus[0]), i8, MOTUS_SHARED(&s->trial),
                       q, &part);
        keep_edges_8x8(s, place, to, q);
    }
    motus_i8_finish(&part);
    return part;
}

// Codes luma as Intra16x16 by a mode that was chosen before.
MOTUS_WARP MotusIntraPart code_16x16(const MotusIntraMb *in, int mode, Luma *s, const Place *place,
                                     Wanted *wanted, MotusHandedMb *to) {
    motus_apart_costs_load(&s->scratch.costs, in->levels->costs, 1);
    if (motus_lane() == 0) s->trial.mb.intra16x16_pred_mode = (uint8_t)mode;
    if (wait_for_luma(wanted, place, lanes(LEFT, 8) | lanes(CORNER, 1))) {
        put_luma(s->scratch.canvas, wanted->word);
        put_counts(s->around, wanted->word, 0);
    }
    motus_lanes_sync(); // edges and counts are written
    motus_intra16x16_predict_warp(in, &s->scratch.sides, mode, s->trial.luma);
    const MotusWhole whole = motus_code_intra_samples(in, &s->scratch, &s->trial, 0);
    const int lane = motus_lane(), below = lane >> 2 & 1, k = lane & 3,
              blk = below ? 12 + k : 4 * k + 3;
    const uint8_t *at =
        s->trial.luma + (below ? 15 * MOTUS_LUMA_STRIDE + 4 * k : 4 * k * MOTUS_LUMA_STRIDE + 15);
    const uint32_t samples = four_samples(at, below ? 1 : MOTUS_LUMA_STRIDE);
    if (lane < 8)
        keep_edge(place, to, below, k, word_of(samples, MOTUS_I4_DC, s->trial.mb.total_coeff[blk]));
    return motus_intra_sums(in, &s->trial, &whole, 0);
}

// ---- Chroma -------------------------------------------------------------------------------------

enum { CHROMA_CANVAS_STRIDE = 16, CHROMA_CANVAS_ORIGIN = CHROMA_CANVAS_STRIDE + 8 };

// Shared memory of a warp that codes chroma.
typedef struct Chroma {
    MotusTrial trial;
    MotusIntraShared scratch;
    uint8_t canvas[2][9 * CHROMA_CANVAS_STRIDE];
    MotusMb around[2];
    __attribute__((aligned(16))) uint8_t source[2][64];
} Chroma;

MOTUS_WARP MotusIntraPart code_chroma(const MotusIntraMb *in, Chroma *s, Wanted *wanted,
                                      MotusHandedMb *to) {
    const int lane = motus_lane(), below = lane >> 2 & 1, c = lane >> 1 & 1, k = lane & 1;
    motus_apart_costs_load(&s->scratch.costs, in->levels->costs, 4);
    if (wait_for(wanted, lanes(LEFT, 8) | lanes(CHROMA_CORNER, 2))) {
        const int plane = lane < CHROMA_CORNER ? c : k;
        uint8_t *first = s->canvas[plane] + CHROMA_CANVAS_ORIGIN;
        for (int i = 0; i < 4 && lane < CHROMA_CORNER; i++)
            first[below ? 4 * k + i - CHROMA_CANVAS_STRIDE
                        : (4 * k + i) * CHROMA_CANVAS_STRIDE - 1] =
                (uint8_t)(wanted->word >> (8 * i));
        if (lane >= CHROMA_CORNER) first[-CHROMA_CANVAS_STRIDE - 1] = (uint8_t)(wanted->word >> 24);
        put_counts(s->around, wanted->word, 1);
    }
    motus_lanes_sync(); // edges and counts are written
    motus_predict_intra_whole(in, &s->scratch, &s->trial, 1);
    const MotusWhole whole = motus_code_intra_samples(in, &s->scratch, &s->trial, 1);
    const int blk = 16 + 4 * c + (below ? 2 + k : 2 * k + 1);
    const uint8_t *at = s->trial.chroma[c] +
                        (below ? 7 * MOTUS_CHROMA_STRIDE + 4 * k : 4 * k * MOTUS_CHROMA_STRIDE + 7);
    const uint32_t samples = four_samples(at, below ? 1 : MOTUS_CHROMA_STRIDE);
    if (lane < 8)
        store_relaxed(below ? &to->chroma_below[lane & 3] : &to->chroma_right[lane & 3],
                      word_of(samples, MOTUS_I4_DC, s->trial.mb.total_coeff[blk]));
    return motus_intra_sums(in, &s->trial, &whole, 1);
}

} // namespace motus_wave

#endif
