// Bits of CABAC bins, for decisions: a table that is fixed before a picture begins.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CABAC_COSTS_H
#define ENCODER_BITSTREAM_CABAC_COSTS_H

#include "encoder/bitstream/cabac.h"
#include "encoder/bitstream/cabac_costs_core.h"
#include "encoder/mb/mb.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets the costs of a GOP's first pictures: the mean ones of I pictures (table 0), those of the
// initial states of P slices (1 + cabac_init_idc).
void motus_cabac_costs_set(MotusCabacCosts *costs, int table, int slice_qp);

// Moves the costs to those of the bins that a picture had. Costs of contexts with few bins hardly
// change.
void motus_cabac_costs_learn(MotusCabacCosts *costs, const MotusBinCounts *counts);

enum {
    MOTUS_COST_KINDS = 3,
    // Tables of each kind, used in turn. A table is not written before the pictures that read it
    // are done, as more P pictures have begun since than pictures are in flight.
    MOTUS_COST_TABLES = 10,
};

// Which costs the pictures of a GOP coder are decided with. Three kinds of pictures learn apart: P
// pictures, B pictures that are references, other B pictures. All pictures of a kind in a mini-GOP
// take the costs that the first one of the last mini-GOP has left, so that they can be coded side
// by side. The tables are the executor's.
typedef struct MotusLearntCosts {
    int table[MOTUS_COST_KINDS]; // in use, once has_table is set
    int has_table[MOTUS_COST_KINDS];
    int has_next[MOTUS_COST_KINDS]; // the table behind it is learnt: for the next mini-GOP
} MotusLearntCosts;

// Returns the kind of a picture. slice_type: MOTUS_SLICE_*.
static inline int motus_cost_kind(int slice_type, int is_reference) {
    return slice_type == MOTUS_SLICE_B ? 2 - is_reference : 0;
}

// Returns the table that a kind's next costs are learnt into.
static inline int motus_next_cost_table(const MotusLearntCosts *l, int kind) {
    return (l->table[kind] + 1) % MOTUS_COST_TABLES;
}

// Begins a picture: an IDR picture forgets all costs, a P picture begins a mini-GOP.
static inline void motus_learnt_costs_begin(MotusLearntCosts *l, int slice_type, int idr) {
    for (int kind = 0; kind < MOTUS_COST_KINDS; kind++) {
        if (idr) l->has_table[kind] = l->has_next[kind] = 0;
        if (slice_type != MOTUS_SLICE_P || !l->has_next[kind]) continue;
        l->table[kind] = motus_next_cost_table(l, kind);
        l->has_table[kind] = 1;
        l->has_next[kind] = 0;
    }
}

// True if costs are learnt from a picture of a kind.
static inline int motus_costs_are_learnt(const MotusLearntCosts *l, int kind, int idr) {
    return !idr && !l->has_next[kind];
}

#ifdef __cplusplus
}
#endif

#endif
