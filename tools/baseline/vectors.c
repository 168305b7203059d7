// Vectors of inter MBs and their prediction (7.3.5.1, 7.3.5.2, 8.4.1), for any number of
// references.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/int_core.h"
#include "encoder/mb/mv_core.h"
#include "tools/baseline/baseline_internal.h"

// What a neighbouring block brings to the prediction.
typedef struct Neighbour {
    int there; // 0: not available
    int ref;   // -1: none, of intra and of what is not available
    MotusMv mv;
} Neighbour;

// The block at (x, y), units of 4 samples from the MB's corner, -1..4; `done`: the MB's own blocks
// that have their vectors, a bit each.
static Neighbour neighbour_at(const MotusMbReader *r, int x, int y, unsigned done) {
    Neighbour none = {0, -1, {0, 0}};
    const int inside = x >= 0 && x < 4 && y >= 0;
    if (y >= 0 && x > 3) return none; // an MB that comes later
    if (inside && !(done >> (4 * y + x) & 1)) return none;
    const MotusReadMb *mb =
        inside ? r->mb + r->n : motus_read_neighbour(r, x < 0 ? -1 : x > 3, y < 0 ? -1 : 0);
    if (!mb) return none;
    x &= 3;
    y &= 3;
    return (Neighbour){1, mb->ref_idx[y / 2 * 2 + x / 2], mb->mv[4 * y + x]};
}

static Neighbour neighbour_c(const MotusMbReader *r, int x, int y, int width, unsigned done) {
    const Neighbour c = neighbour_at(r, x + width, y - 1, done);
    return c.there ? c : neighbour_at(r, x - 1, y - 1, done);
}

static MotusMv median_of(const MotusMbReader *r, int x, int y, int width, int ref,
                         unsigned done) { // 8.4.1.3.1
    const Neighbour a = neighbour_at(r, x - 1, y, done), b = neighbour_at(r, x, y - 1, done),
                    c = neighbour_c(r, x, y, width, done);
    if (!b.there && !c.there && a.there) return a.mv;
    const int same = (a.ref == ref) + (b.ref == ref) + (c.ref == ref);
    if (same == 1) return a.ref == ref ? a.mv : b.ref == ref ? b.mv : c.mv;
    return (MotusMv){(int16_t)motus_median(a.mv.x, b.mv.x, c.mv.x),
                     (int16_t)motus_median(a.mv.y, b.mv.y, c.mv.y)};
}

static MotusMv predict(const MotusMbReader *r, const MotusPartition *p, int ref,
                       unsigned done) { // 8.4.1.3
    Neighbour n = {0, -1, {0, 0}};
    if (p->mode == MOTUS_MODE_16x8)
        n = p->part ? neighbour_at(r, -1, 2, done) : neighbour_at(r, 0, -1, done);
    if (p->mode == MOTUS_MODE_8x16)
        n = p->part ? neighbour_c(r, 2, 0, 2, done) : neighbour_at(r, -1, 0, done);
    return n.ref == ref ? n.mv : median_of(r, p->x, p->y, p->width, ref, done);
}

MotusMv motus_predict_16x16(const MotusMbReader *r) { return median_of(r, 0, 0, 4, 0, 0); }

MotusMv motus_predict_skip(const MotusMbReader *r) { // 8.4.1.1
    const Neighbour a = neighbour_at(r, -1, 0, 0), b = neighbour_at(r, 0, -1, 0);
    const int still = !a.there || !b.there || (a.ref == 0 && !a.mv.x && !a.mv.y) ||
                      (b.ref == 0 && !b.mv.x && !b.mv.y);
    return still ? (MotusMv){0, 0} : motus_predict_16x16(r);
}

static int read_difference(MotusMbReader *r) {
    const size_t from = r->rbsp->at;
    const int32_t d = motus_rbsp_se(r->rbsp);
    const size_t bits = r->rbsp->at - from;
    if (r->coverage) r->coverage->mvd_bits[bits < 33 ? bits : 32]++;
    motus_rbsp_expect(r->rbsp, d >= -32768 && d <= 32767,
                      "mvd_l0"); // -8192 to 8191.75 samples, 7.4.5.1
    return d;
}

void motus_read_vectors(MotusMbReader *r) {
    MotusReadMb *mb = r->mb + r->n;
    MotusPartition parts[16];
    MotusMb shape = {.type = mb->type};
    for (int q = 0; q < 4; q++) shape.sub_type[q] = mb->sub_type[q];
    const int n = motus_mb_partitions(&shape, parts);
    unsigned done = 0;
    for (int i = 0; i < n && !r->rbsp->wrong; i++) {
        const MotusPartition *p = &parts[i];
        MotusMv mv = predict(r, p, mb->ref_idx[p->y / 2 * 2 + p->x / 2], done);
        mv.x = (int16_t)(mv.x + read_difference(r));
        mv.y = (int16_t)(mv.y + read_difference(r));
        for (int y = p->y; y < p->y + p->height; y++)
            for (int x = p->x; x < p->x + p->width; x++) {
                mb->mv[4 * y + x] = mv;
                done |= 1u << (4 * y + x);
            }
    }
}
