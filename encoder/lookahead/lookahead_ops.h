// Executors of a lookahead: what differs between the CPU and a CUDA device. lookahead.c holds the
// ring of pictures, their types and windows. An executor analyses pictures and plans their offsets;
// both give the same results.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_OPS_H
#define ENCODER_LOOKAHEAD_LOOKAHEAD_OPS_H

#include "encoder/lookahead/b_costs.h"
#include "encoder/lookahead/lookahead.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sums over a picture's MBs.
typedef struct MotusLookaheadSums {
    uint64_t intra, inter; // costs
    uint64_t energies;     // motus_aq_log2_energy
    uint64_t offsets;      // QP offsets, 1/256 QP: a signed number
    uint64_t weighted;     // motus_weighted_cost
    uint64_t detail;       // motus_half_build; with b_span
    MotusBCosts mini_gops; // with b_span
} MotusLookaheadSums;

// A picture to analyse.
typedef struct MotusLookaheadPicture {
    int64_t number;       // in the ring: slot number % n_slots
    int first_in_segment; // no previous picture
    int span;             // earlier pictures, at most b_span, that mini-GOPs may begin behind
} MotusLookaheadPicture;

// Returns how many earlier pictures it is searched in.
static inline int motus_lookahead_refs(const MotusLookaheadPicture *picture) {
    return motus_max(picture->span, !picture->first_in_segment);
}

// A picture of a window and the distances of its references in display order.
typedef struct MotusTreeLink {
    int16_t at;     // pictures behind the window's first one
    uint8_t before; // its reference is so many pictures earlier, 1..MOTUS_B_SPAN
    uint8_t after;  // the other one so many later; 0: a P picture
} MotusTreeLink;

// Returns a linked picture. b is not read of pictures that refer to the previous one alone.
static inline MotusTreePicture motus_tree_picture(const MotusTreeLink *link,
                                                  const MotusMbCosts *costs, const MotusBPicture *b,
                                                  const int16_t *aq) {
    MotusTreePicture picture = {costs->intra, {costs->inter, NULL}, {costs->mv, NULL}, NULL, aq};
    if (link->before > 1) {
        picture.cost[0] = b->earlier[link->before - 1].cost;
        picture.mv[0] = b->earlier[link->before - 1].mv;
    }
    if (link->after) {
        picture.cost[1] = b->later[link->after - 1].cost;
        picture.mv[1] = b->later[link->after - 1].mv;
        picture.both = b->between[motus_b_pair(link->before, link->after)];
    }
    return picture;
}

typedef struct MotusLookaheadOps {
    int max_pending; // pictures that may have begun and have no type yet; 0: `begin` waits

    // Opens an executor whose ring has n_slots slots. MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
    MotusStatus (*open)(void **executor, const MotusLookaheadSettings *settings, int n_slots,
                        int device, MotusError *error);
    void (*close)(void **executor); // accepts NULL inside

    // Makes the source's luma readable by the executor: *luma, once *filled (cudaEvent_t) has
    // fired. An upload is kept for `uploaded`.
    MotusStatus (*take)(void *executor, const MotusFrameSource *source, MotusPlane *luma,
                        void **filled, MotusError *error);

    // Begins the analysis of a picture, after all that have begun before. After a failure nothing
    // waits for `filled` or reads luma any more.
    MotusStatus (*begin)(void *executor, const MotusLookaheadPicture *picture,
                         const MotusPlane *luma, void *filled, MotusError *error);

    // Blocks until the picture in `slot` has been analysed; fills sums->intra and inter. After a
    // failure nothing reads a luma plane any more.
    MotusStatus (*wait)(void *executor, int slot, MotusLookaheadSums *sums, MotusError *error);

    // Same as motus_lookahead_uploaded. NULL: nothing is uploaded.
    int (*uploaded)(const void *executor, int device, MotusFrameSource *source);

    // Plans the offsets of the first n_final of n pictures, from slot `first` on (slot 0 follows
    // the last one). mb-tree propagates along the links, in their order. Blocks until they are
    // done. Called only with AQ or mb-tree.
    MotusStatus (*plan)(void *executor, int first, int n, int n_final, int first_is_idr,
                        const MotusTreeLink *links, int n_links, MotusError *error);

    // Returns the offsets that `plan` left in `slot`; fills sums->offsets and weighted.
    const int16_t *(*offsets)(const void *executor, int slot, MotusLookaheadSums *sums);

    // The same with AQ alone, of a P picture. Called only with
    // keep_aq.
    const int16_t *(*aq_offsets)(const void *executor, int slot, MotusLookaheadSums *sums);
} MotusLookaheadOps;

extern const MotusLookaheadOps motus_lookahead_ops_cpu;
extern const MotusLookaheadOps motus_lookahead_ops_cuda; // only in builds with the CUDA backend

#ifdef __cplusplus
}
#endif
#endif
