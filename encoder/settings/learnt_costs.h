// Which costs of CABAC's bins a picture is decided with. Three kinds of pictures learn apart: P
// pictures, B pictures that are references, other B pictures. All pictures of a kind in a mini-GOP
// take the costs that the first one of the last mini-GOP has left, so that they can be coded side
// by side. This is the state of a GOP coder; the tables are the executor's.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_LEARNT_COSTS_H
#define ENCODER_SETTINGS_LEARNT_COSTS_H

#include "encoder/settings/stream.h"

enum {
    MOTUS_COST_KINDS = 3,
    // Tables of each kind, used in turn. A table is not written before the pictures that read it
    // are done, as more P pictures have begun since than pictures are in flight.
    MOTUS_COST_TABLES = 10,
};

typedef struct MotusLearntCosts {
    int table[MOTUS_COST_KINDS]; // in use, once has_table is set
    int has_table[MOTUS_COST_KINDS];
    int has_next[MOTUS_COST_KINDS]; // the table behind it is learnt: for the next mini-GOP
} MotusLearntCosts;

static inline int motus_cost_kind(const MotusPictureParams *params) {
    return params->type == MOTUS_SLICE_B ? 2 - params->is_reference : 0;
}

// Returns the table that a kind's next costs are learnt into.
static inline int motus_next_cost_table(const MotusLearntCosts *l, int kind) {
    return (l->table[kind] + 1) % MOTUS_COST_TABLES;
}

// Begins a picture: an IDR picture forgets all costs, a P picture begins a mini-GOP.
static inline void motus_learnt_costs_begin(MotusLearntCosts *l, const MotusPictureParams *params) {
    for (int kind = 0; kind < MOTUS_COST_KINDS; kind++) {
        if (params->idr) l->has_table[kind] = l->has_next[kind] = 0;
        if (params->type != MOTUS_SLICE_P || !l->has_next[kind]) continue;
        l->table[kind] = motus_next_cost_table(l, kind);
        l->has_table[kind] = 1;
        l->has_next[kind] = 0;
    }
}

// True if costs are learnt from a picture.
static inline int motus_costs_are_learnt(const MotusLearntCosts *l,
                                         const MotusPictureParams *params) {
    return !params->idr && !l->has_next[motus_cost_kind(params)];
}

#endif
