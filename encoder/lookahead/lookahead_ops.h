// Executors of a lookahead: what differs between the CPU and a CUDA device. lookahead.c holds the
// order of pictures, their types and windows. An executor analyses pictures and plans their
// offsets; both give the same results and keep them in the same ring.
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
    uint64_t samples[2];   // with weights: MotusHalfStats.sums
} MotusLookaheadSums;

// ---- Ring of pictures ---------------------------------------------------------------------------

// An analysed picture. Sums and offsets lie in one block, so that one copy brings them to the host
// and one memset clears them. With keep_aq a second block follows, with those of AQ alone.
typedef struct MotusLookaheadSlot {
    MotusMbCosts costs;
    MotusLookaheadSums *sums, *aq_sums;
    int16_t *offset, *aq;    // offset: AQ's; final after `plan`
    uint64_t *propagated;    // mb-tree
    MotusHalfStats stats;    // with weights
    MotusHalfWeight *weight; // with weights: of earlier pictures
    MotusBPicture b;         // with b_span
} MotusLookaheadSlot;

enum {
    MOTUS_LOOKAHEAD_SUMS_BYTES = 256, // of a block, before the offsets
    MOTUS_LOOKAHEAD_MOST_HALVES = MOTUS_B_SPAN + 3,
};

typedef struct MotusLookaheadRing {
    MotusLookaheadSettings settings;
    int n_mb, n_slots, n_halves;
    MotusLookaheadSlot *slot;                           // number % n_slots
    MotusHalfPicture half[MOTUS_LOOKAHEAD_MOST_HALVES]; // the last ones: number % n_halves
    uint8_t *memory;                                    // of all arrays, owned by the executor
    uint64_t *propagated;                               // of all slots, without gaps
    size_t block, blocks;                               // bytes of one block and of a slot's
} MotusLookaheadRing;

// Sets up a zeroed ring whose arrays have no memory yet. MOTUS_ERR_MEMORY; free ring->slot with
// motus_free.
MotusStatus motus_lookahead_ring_open(MotusLookaheadRing *ring,
                                      const MotusLookaheadSettings *settings, int n_slots,
                                      int n_halves);

// Lays out all arrays from `memory` on, host or device memory at a multiple of 256 bytes (NULL:
// only counts). Returns their bytes.
size_t motus_lookahead_ring_lay_out(MotusLookaheadRing *ring, uint8_t *memory);

static inline MotusLookaheadSlot *motus_lookahead_slot(const MotusLookaheadRing *ring,
                                                       int64_t number) {
    return &ring->slot[(number + ring->n_slots) % ring->n_slots];
}
static inline MotusHalfPicture *motus_lookahead_half(MotusLookaheadRing *ring, int64_t number) {
    return &ring->half[(number + ring->n_halves) % ring->n_halves];
}

// Lists a picture and the `span` before it, for motus_b_costs.
void motus_lookahead_list(MotusLookaheadRing *ring, int64_t number, int span,
                          const MotusBPicture *list[MOTUS_B_SPAN + 1]);

// A picture of a window and the distances of its references in display order.
typedef struct MotusTreeLink {
    int16_t at;     // pictures behind the window's first one
    uint8_t before; // its reference is so many pictures earlier, 1..MOTUS_B_SPAN
    uint8_t after;  // the other one so many later; 0: a P picture
} MotusTreeLink;

// Returns a linked picture of the window that begins in slot `first`, and fills in the amounts of
// its references.
MotusTreePicture motus_tree_picture(const MotusLookaheadRing *ring, int first,
                                    const MotusTreeLink *link, uint64_t *references[2]);

// ---- Executors ----------------------------------------------------------------------------------

typedef struct MotusLookaheadOps {
    int max_pending; // pictures that may have begun and have no type yet; 0: `begin` waits

    // Opens an executor whose ring has n_slots slots. MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
    MotusStatus (*open)(void **executor, const MotusLookaheadSettings *settings, int n_slots,
                        int device, MotusError *error);
    void (*close)(void **executor); // accepts NULL inside

    // Makes the source's luma readable by the executor: *luma, once *filled (cudaEvent_t) has
    // fired. An upload is kept for `uploaded`. NULL: frames are read where they lie.
    MotusStatus (*take)(void *executor, const MotusFrameSource *source, MotusPlane *luma,
                        void **filled, MotusError *error);

    // Begins the analysis of picture `number` of the ring, after all that have begun before. It is
    // searched in `refs` earlier pictures; 0: it is its segment's first. Mini-GOPs that end with it
    // may begin behind `span` of them, at most b_span. After a failure nothing waits for `filled`
    // or reads luma any more.
    MotusStatus (*begin)(void *executor, int64_t number, int refs, int span, const MotusPlane *luma,
                         void *filled, MotusError *error);

    // Blocks until the picture in `slot` has been analysed; fills sums->intra and inter. After a
    // failure nothing reads a luma plane any more.
    MotusStatus (*wait)(void *executor, int slot, MotusLookaheadSums *sums, MotusError *error);

    // See motus_lookahead_uploaded. NULL: nothing is uploaded.
    int (*uploaded)(const void *executor, int device, MotusFrameSource *source);

    // Plans the offsets of the first n_final of n pictures, from slot `first` on (slot 0 follows
    // the last one). mb-tree propagates along the links, in their order. Blocks until they are
    // done. Called only with AQ or mb-tree.
    MotusStatus (*plan)(void *executor, int first, int n, int n_final, int first_is_idr,
                        const MotusTreeLink *links, int n_links, MotusError *error);

    // Returns the offsets that `plan` left in `slot`; fills sums->offsets and weighted. aq: 1 =
    // those of AQ alone, of a P picture; only with keep_aq.
    const int16_t *(*offsets)(const void *executor, int slot, int aq, MotusLookaheadSums *sums);
} MotusLookaheadOps;

extern const MotusLookaheadOps motus_lookahead_ops_cpu;
extern const MotusLookaheadOps motus_lookahead_ops_cuda; // only in builds with the CUDA backend

#ifdef __cplusplus
}
#endif
#endif
