// MVs of inter MBs and their prediction (7.3.5.1, 7.3.5.2, 8.4.1), for any number of references.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/int_core.h"
#include "encoder/mb/mv_core.h"
#include "tools/h264/h264_internal.h"

const MotusParsedMb *motus_parsed_neighbour(const MotusMbParser *r, int dx, int dy) {
    const int column = r->n % r->mb_width + dx, n = r->n + dx + dy * r->mb_width;
    if (column < 0 || column >= r->mb_width || n < 0) return NULL;
    return r->mb[n].slice == r->mb[r->n].slice ? r->mb + n : NULL;
}

// A neighbouring block, as MV prediction sees it.
typedef struct Neighbour {
    int available;
    int ref; // -1 if intra or not available
    MotusMv mv;
} Neighbour;

// Returns the block at (x, y), in units of 4 samples from the MB's corner, -1..4. `done` has a bit
// for each of the MB's own blocks whose MV is known.
static Neighbour neighbour_at(const MotusMbParser *r, int x, int y, unsigned done) {
    Neighbour none = {0, -1, {0, 0}};
    const int inside = x >= 0 && x < 4 && y >= 0;
    if (y >= 0 && x > 3) return none; // in an MB that follows later
    if (inside && !(done >> (4 * y + x) & 1)) return none;
    const MotusParsedMb *mb =
        inside ? r->mb + r->n : motus_parsed_neighbour(r, x < 0 ? -1 : x > 3, y < 0 ? -1 : 0);
    if (!mb) return none;
    x &= 3;
    y &= 3;
    return (Neighbour){1, mb->ref_idx[y / 2 * 2 + x / 2], mb->mv[4 * y + x]};
}

static Neighbour neighbour_c(const MotusMbParser *r, int x, int y, int width, unsigned done) {
    const Neighbour c = neighbour_at(r, x + width, y - 1, done);
    return c.available ? c : neighbour_at(r, x - 1, y - 1, done);
}

// Returns the median prediction (8.4.1.3.1).
static MotusMv median_of(const MotusMbParser *r, int x, int y, int width, int ref, unsigned done) {
    const Neighbour a = neighbour_at(r, x - 1, y, done), b = neighbour_at(r, x, y - 1, done),
                    c = neighbour_c(r, x, y, width, done);
    if (!b.available && !c.available && a.available) return a.mv;
    const int same = (a.ref == ref) + (b.ref == ref) + (c.ref == ref);
    if (same == 1) return a.ref == ref ? a.mv : b.ref == ref ? b.mv : c.mv;
    return (MotusMv){(int16_t)motus_median(a.mv.x, b.mv.x, c.mv.x),
                     (int16_t)motus_median(a.mv.y, b.mv.y, c.mv.y)};
}

// Returns the MV prediction of a partition (8.4.1.3).
static MotusMv predict(const MotusMbParser *r, const MotusPartition *p, int ref, unsigned done) {
    Neighbour n = {0, -1, {0, 0}};
    if (p->mode == MOTUS_MODE_16x8)
        n = p->part ? neighbour_at(r, -1, 2, done) : neighbour_at(r, 0, -1, done);
    if (p->mode == MOTUS_MODE_8x16)
        n = p->part ? neighbour_c(r, 2, 0, 2, done) : neighbour_at(r, -1, 0, done);
    return n.ref == ref ? n.mv : median_of(r, p->x, p->y, p->width, ref, done);
}

MotusMv motus_predict_16x16(const MotusMbParser *r) { return median_of(r, 0, 0, 4, 0, 0); }

// P_Skip (8.4.1.1).
MotusMv motus_predict_skip(const MotusMbParser *r) {
    const Neighbour a = neighbour_at(r, -1, 0, 0), b = neighbour_at(r, 0, -1, 0);
    const int still = !a.available || !b.available || (a.ref == 0 && !a.mv.x && !a.mv.y) ||
                      (b.ref == 0 && !b.mv.x && !b.mv.y);
    return still ? (MotusMv){0, 0} : motus_predict_16x16(r);
}

// Parses mvd_l0, -8192 to 8191.75 samples (7.4.5.1).
static int parse_difference(MotusMbParser *r, const MotusPartition *p, int vertical) {
    const size_t from = r->rbsp->at;
    const int32_t d = r->arithmetic ? motus_cabac_mvd(r, p, vertical) : motus_rbsp_se(r->rbsp);
    const size_t bits = r->rbsp->at - from;
    r->coverage->mvd_bits[bits < 33 ? bits : 32]++;
    motus_rbsp_expect(r->rbsp, d >= -32768 && d <= 32767, "mvd_l0");
    return (int16_t)d;
}

int motus_parsed_partitions(const MotusParsedMb *mb, MotusPartition partitions[16]) {
    MotusMb shape = {.type = mb->type};
    for (int q = 0; q < 4; q++) shape.sub_type[q] = mb->sub_type[q];
    return motus_mb_partitions(&shape, partitions);
}

void motus_parse_mvs(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    MotusPartition partitions[16];
    const int n = motus_parsed_partitions(mb, partitions);
    unsigned done = 0;
    for (int i = 0; i < n && !r->rbsp->error; i++) {
        const MotusPartition *p = &partitions[i];
        MotusMv mv = predict(r, p, mb->ref_idx[p->y / 2 * 2 + p->x / 2], done);
        MotusMv mvd;
        mvd.x = (int16_t)parse_difference(r, p, 0);
        mvd.y = (int16_t)parse_difference(r, p, 1);
        mv.x = (int16_t)(mv.x + mvd.x);
        mv.y = (int16_t)(mv.y + mvd.y);
        for (int y = p->y; y < p->y + p->height; y++)
            for (int x = p->x; x < p->x + p->width; x++) {
                mb->mv[4 * y + x] = mv;
                r->context[r->n].mvd[4 * y + x] = mvd;
                done |= 1u << (4 * y + x);
            }
    }
}
