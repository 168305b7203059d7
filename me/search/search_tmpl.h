// Exhaustive search by vectors of any width; the includer defines the instructions. No branch
// depends on samples: each lane keeps the least J of its points per block, and the lanes are
// compared at the end.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SEARCH_TMPL_H
#define ME_SEARCH_SEARCH_TMPL_H

#include <string.h>

#include "me/pixel/cost_core.h"
#include "me/search/search.h"

// The includer defines:
//   INLINE, PARTS, V                 V: a vector of PARTS parts of 128 bits; lanes are 16 bits
//   load, store, splat, add, sub     load and store: aligned
//   adds, min_lanes                  unsigned: saturating sum, minimum
//   above(v, n)                      all ones in lanes with v > n, signed
//   parts(p)                         the 16 bytes at p[0], p[1], ...
//   repeat(p)                        the 16 bytes at p in each part; aligned
//   sad4x1(ref, cur, x)              per lane the SAD of samples 4x .. 4x + 3 of the MB's row
//   `cur`;
//                                    odd x: against samples 4 further in ref; x is a constant
//   mv_cost(table, code)             table[code], codes 0..31
//   offer(least, at, j, now)         lanes with j < *least: *least = j, *at = now; `now` never
//                                    falls
//   least_keys(key, least, at)       key[i], i < GROUP: the least of the lanes of least[i] above
//   at[i] first_lane(v, value, at, index)  the first lane where v is value and `at` is index
//   offer_any(least, at, j, now)     as offer, but `now` may fall: lanes with j == *least take the
//                                    lesser of *at and now
//   column_sads(sad, row, x, cur)    SADs of the 16 4x4 blocks, in raster order; lane i: of the
//                                    window that begins at row[i] + x

#define LANES (8 * PARTS)
#define WIDTH ((int)sizeof(V))
#define GROUP (LANES / 2)
#define SCANNED ((MOTUS_BLOCKS + GROUP - 1) / GROUP * GROUP)
#define MAX_POINTS (2 * MOTUS_MAX_RANGE + 1)
#define MAX_CODES ((MAX_POINTS + 31) / 32 * 32)
#define OUTSIDE 31 // code of rows and columns beyond R

// Index of a point: row * 256 + column, in raster order. 257 columns do not fit: there it is row *
// 256 + column / 8, rows 0..255, in a last row on its own LAST_ROW + column / LANES, and the lane
// tells the rest.
#define LAST_ROW 0xFF80

typedef struct Scan {
    V least[SCANNED]; // J of each lane so far; 65,535: none
    V at[SCANNED];    // index of its point
    _Alignas(16) uint8_t cur[16][16];
    uint16_t cost_of[32]; // of an MV of 2k + 2 bits, k = 0..30, at most 15,871; [OUTSIDE]: 32,767
    // Per dx: (bits of the horizontal code - 1) / 2, or OUTSIDE.
    _Alignas(16) uint16_t column_code[MAX_CODES];
    uint16_t row_code[MAX_CODES];                  // per dy
    _Alignas(16) uint16_t row_codes[MAX_CODES][8]; // the same eight times
} Scan;

// The window's samples, cut into pieces of 16 columns, 8 apart. A part of a vector is eight
// neighbouring dx of one row of points; the rows of the parts are 1/PARTS of the window apart. A
// strip holds PARTS pieces side by side for consecutive rows, so a row of a block is one aligned
// load. If 2R + 1 rows leave one over, that row's columns are spread over the parts; if 2R + 1
// columns leave one over, LANES rows of that column are taken at a time.
typedef struct Window {
    int points;      // 2R + 1, rows and columns
    int fits;        // 1: indices have columns
    int alone;       // 1: the last row is on its own
    int column;      // 1: the last column is on its own, but for its last row
    int rows;        // of a part, rounded up
    int chunks;      // of eight columns, rounded up; without a column on its own
    int strip;       // bytes of a strip: rows + 15 vectors
    uint8_t *memory; // chunks + 1 strips; then at these offsets:
    int last;        // the last row: per LANES points 16 vectors, then 16 for samples 8 further
    int plain;       // whole rows, of windows that reach too far out of the picture
} Window;

// Returns the number of samples that are read of a row.
static int width_of(const Window *w) { return (w->points + 7) / 8 * 8 + 16; }

static Window lay_out(int range, uint8_t *memory) {
    Window w = {.points = 2 * range + 1,
                .fits = 2 * range < 256,
                .alone = 2 * range % PARTS == 0,
                .column = 2 * range % 8 == 0,
                .memory = memory};
    w.rows = (w.points - w.alone + PARTS - 1) / PARTS;
    w.chunks = (w.points - w.column + 7) / 8;
    w.strip = WIDTH * (w.rows + 15);
    w.last = (w.chunks + 1) * w.strip;
    w.plain = w.last + w.alone * (w.points + LANES - 1) / LANES * 32 * WIDTH;
    return w;
}

static int window_rows(const Window *w) { return PARTS * w->rows + 15 + w->alone; }

static size_t scratch_bytes(int range) {
    Window w = lay_out(range, NULL);
    return (size_t)(w.plain + window_rows(&w) * width_of(&w));
}

// Sums the SADs of four rows of a 4x4 block, at most 4 * 1020 = 4080.
INLINE V sad4x4(const Scan *s, const uint8_t *strip, int x, int y) {
    V sad[4];
    for (int i = 0; i < 4; i++) sad[i] = sad4x1(load(strip + WIDTH * (y + i)), s->cur[y + i], x);
    return add(add(sad[0], sad[1]), add(sad[2], sad[3]));
}

// Points that J is taken of. any: in any order.
typedef struct Points {
    V cost, now;
    int small, any;
} Points;

INLINE void take(Scan *s, int b, V j, const Points *p) {
    if (p->any)
        offer_any(&s->least[b], &s->at[b], j, p->now);
    else
        offer(&s->least[b], &s->at[b], j, p->now);
}

// Takes the nine blocks of quadrant q of the MB; returns the SAD of the 8x8 block, at most 16,320.
// J is at most 16,320 + 15,871 = 32,191; of points outside 32,767 to 49,087, so never the least.
INLINE V take_quadrant(Scan *s, V s0, V s1, V s2, V s3, int q, const Points *p) {
    int x = 2 * (q & 1), y = 8 * (q >> 1);
    int b44 = MOTUS_BLOCK_4x4 + y + x, b84 = MOTUS_BLOCK_8x4 + y / 2 + x / 2,
        b48 = MOTUS_BLOCK_4x8 + y / 2 + x;
    V j0 = add(s0, p->cost), upper = add(j0, s1), lower = add(s2, s3), j88 = add(upper, lower);
    take(s, MOTUS_BLOCK_8x8 + q, j88, p);
    if (!p->small) return sub(j88, p->cost);
    V j1 = add(s1, p->cost);
    take(s, b44, j0, p);
    take(s, b44 + 1, j1, p);
    take(s, b44 + 4, add(s2, p->cost), p);
    take(s, b44 + 5, add(s3, p->cost), p);
    take(s, b84, upper, p);
    take(s, b84 + 2, add(lower, p->cost), p);
    take(s, b48, add(j0, s2), p);
    take(s, b48 + 1, add(j1, s3), p);
    return sub(j88, p->cost);
}

INLINE V quadrant(Scan *s, const uint8_t *strip, int q, const Points *p) {
    int x = 2 * (q & 1), y = 8 * (q >> 1);
    return take_quadrant(s, sad4x4(s, strip, x, y), sad4x4(s, strip, x + 1, y),
                         sad4x4(s, strip, x, y + 4), sad4x4(s, strip, x + 1, y + 4), q, p);
}

INLINE void quadrants(Scan *s, const uint8_t *strip, ptrdiff_t next, const Points *p, V s88[4]) {
    s88[0] = quadrant(s, strip, 0, p);
    s88[1] = quadrant(s, strip + next, 1, p);
    s88[2] = quadrant(s, strip, 2, p);
    s88[3] = quadrant(s, strip + next, 3, p);
}

// Takes the five largest blocks from the four 8x8. Sums are at most 65,280; J saturates.
INLINE void large_blocks(Scan *s, const V s88[4], const Points *p) {
    V upper = add(s88[0], s88[1]), lower = add(s88[2], s88[3]);
    V sum[5] = {add(upper, lower), upper, lower, add(s88[0], s88[2]), add(s88[1], s88[3])};
    V cost = adds(p->cost, above(p->cost, 15871)); // points outside: 65,535
    for (int b = 0; b < 5; b++) take(s, b, adds(sum[b], cost), p);
}

// Takes all blocks at LANES points. Samples 8 to the right are `next` bytes further. code: per lane
// the sum of its row's and column's codes, at most OUTSIDE.
static __attribute__((noinline)) void scan_points(Scan *s, const uint8_t *strip, ptrdiff_t next,
                                                  int small, V code, V now) {
    const Points with = {mv_cost(s->cost_of, code), now, 1, 0}, without = {with.cost, now, 0, 0};
    V s88[4];
    if (small)
        quadrants(s, strip, next, &with, s88);
    else
        quadrants(s, strip, next, &without, s88);
    large_blocks(s, s88, &with);
}

// Loads for each part the eight codes at code[0], code[step], ...
INLINE V codes_of(const uint16_t *code, int step) {
    const void *p[PARTS];
    for (int i = 0; i < PARTS; i++) p[i] = code + i * step;
    return parts(p);
}

// Returns 0, 1, ... in all lanes.
INLINE V numbers(void) {
    uint16_t number[LANES];
    for (int i = 0; i < LANES; i++) number[i] = (uint16_t)i;
    return codes_of(number, 8);
}

// Returns the index of each part's first point, or of its first eight points, `rows` rows apart.
INLINE V first_points(int rows, int per_column) {
    uint16_t index[LANES];
    for (int i = 0; i < LANES; i++)
        index[i] = (uint16_t)(i / 8 * rows * 256 + (per_column ? i % 8 : 0));
    return codes_of(index, 8);
}

// Takes rows [first, first + LANES) of the column on its own, those that are in the window.
static __attribute__((noinline)) void
scan_column(Scan *s, const Window *w, const uint8_t *const *rows, int first, int small) {
    const uint8_t *row[LANES + 15];
    uint16_t code[LANES], index[LANES];
    V sad[16], s88[4];
    for (int i = 0; i < LANES + 15; i++)
        row[i] = rows[first + i < window_rows(w) ? first + i : window_rows(w) - 1];
    memcpy(code, s->row_code + first, sizeof code);
    for (int i = w->points - w->alone - first; i < LANES; i++) code[i] = OUTSIDE;
    for (int i = 0; i < LANES; i++)
        index[i] = (uint16_t)(256 * (first + i) + (w->fits ? 8 : 1) * w->chunks);
    column_sads(sad, row, 8 * w->chunks, s->cur);
    const V codes = add(codes_of(code, 8), splat(s->column_code[w->points - 1])),
            cost = mv_cost(s->cost_of, min_lanes(codes, splat(OUTSIDE)));
    const Points p = {cost, codes_of(index, 8), small, 1};
    for (int q = 0; q < 4; q++) {
        const V *at = sad + 8 * (q >> 1) + 2 * (q & 1);
        s88[q] = take_quadrant(s, at[0], at[1], at[4], at[5], q, &p);
    }
    large_blocks(s, s88, &p);
}

static void scan_window(Scan *s, const Window *w, int small) {
    V at = first_points(w->rows, w->fits), outside = splat(OUTSIDE);
    for (int i = 0; i < w->rows; i++, at = add(at, splat(256))) {
        V row_code = codes_of(s->row_codes[i], 8 * w->rows);
        for (int chunk = 0; chunk < w->chunks; chunk++) {
            V code = min_lanes(add(row_code, repeat(s->column_code + 8 * chunk)), outside);
            scan_points(s, w->memory + chunk * w->strip + WIDTH * i, w->strip, small, code,
                        add(at, splat((w->fits ? 8 : 1) * chunk)));
        }
    }
    for (int column = 0; column < w->points * w->alone; column += LANES) {
        V code = min_lanes(
            add(splat(s->row_code[w->points - 1]), codes_of(s->column_code + column, 8)), outside);
        scan_points(s, w->memory + w->last + column / LANES * 32 * WIDTH, 16 * WIDTH, small, code,
                    w->fits ? add(splat(256 * (w->points - 1) + column), numbers())
                            : splat(LAST_ROW + column / LANES));
    }
}

static void set_up_codes(uint16_t *code, int first, int n) {
    for (int i = 0; i < n; i++) code[i] = (uint16_t)((motus_se_bits(first + 4 * i) - 1) / 2);
    for (int i = n; i < (n + 31) / 32 * 32; i++) code[i] = OUTSIDE;
}

static void set_up(Scan *s, const MotusMbJob *job, int blocks) {
    int points = 2 * job->range + 1;
    for (int k = 0; k < OUTSIDE; k++)
        s->cost_of[k] = (uint16_t)motus_bits_cost(job->lambda_q8, 2 * k + 2);
    s->cost_of[OUTSIDE] = 32767;
    set_up_codes(s->column_code, job->centre.x - 4 * job->range - job->predictor.x, points);
    set_up_codes(s->row_code, job->centre.y - 4 * job->range - job->predictor.y, points);
    for (int y = 0; y < (points + PARTS - 1) / PARTS * PARTS; y++)
        for (int i = 0; i < 8; i++) s->row_codes[y][i] = s->row_code[y];
    for (int b = 0; b < (blocks + GROUP - 1) / GROUP * GROUP; b++)
        s->least[b] = splat(65535), s->at[b] = splat(0);
    for (int y = 0; y < 16; y++) memcpy(s->cur[y], job->cur + y * job->cur_stride, 16);
}

typedef const uint8_t *Rows[MAX_POINTS + 15 + 3];

// Finds the window's rows: in the reference if its border is wide enough, else in a copy.
static void find_rows(const Window *w, const MotusMbJob *job, Rows rows) {
    const MotusRefLuma *ref = job->ref;
    int x0 = job->x + job->centre.x / 4 - job->range, y0 = job->y + job->centre.y / 4 - job->range,
        width = width_of(w);
    int inside = x0 >= -MOTUS_REF_PAD && x0 + width <= ref->width + MOTUS_REF_PAD;
    for (int y = 0; y < window_rows(w); y++) {
        const uint8_t *row = motus_ref_row(ref, y0 + y);
        uint8_t *copy = w->memory + w->plain + y * width;
        rows[y] = inside ? row + x0 : copy;
        for (int x = 0; x < width && !inside; x++)
            copy[x] = row[motus_clip(0, ref->width - 1, x0 + x)];
    }
}

// Copies one row of each part: `pieces` of 16 samples, 8 apart.
INLINE void fill_row(uint8_t *to, ptrdiff_t strip, const uint8_t *const row[PARTS], int pieces) {
    for (int k = 0; k < pieces; k++, to += strip) {
        const void *p[PARTS];
        for (int i = 0; i < PARTS; i++) p[i] = row[i] + 8 * k;
        store(to, parts(p));
    }
}

static void fill_strips(const Window *w, const Rows rows) {
    const uint8_t *row[PARTS];
    for (int y = 0; y < w->rows + 15; y++) {
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): find_rows has filled them all
        for (int i = 0; i < PARTS; i++) row[i] = rows[y + i * w->rows];
        fill_row(w->memory + WIDTH * y, w->strip, row, w->chunks + 1);
    }
}

// Pieces beyond the window repeat its last one, which may be read; their points don't count.
static void fill_last_row(const Window *w, const Rows rows) {
    const uint8_t *row[PARTS];
    for (int column = 0; column < w->points * w->alone; column += LANES)
        for (int y = 0; y < 16; y++) {
            for (int i = 0; i < PARTS; i++)
                row[i] = rows[w->points - 1 + y] + motus_min(column + 8 * i, width_of(w) - 24);
            fill_row(w->memory + w->last + (column / LANES * 32 + y) * WIDTH, 16 * WIDTH, row, 2);
        }
}

// Finds the row and column of each block's point of least J, from its J << 16 | index.
INLINE void find_points(const Scan *s, const Window *w, const uint32_t *key, int blocks, int16_t *x,
                        int16_t *y) {
    for (int b = 0; b < blocks; b++) {
        x[b] = key[b] & 255;
        y[b] = key[b] >> 8 & 255;
    }
    for (int b = 0; b < blocks && !w->fits; b++) {
        const uint16_t cost = (uint16_t)(key[b] >> 16), index = (uint16_t)key[b];
        const int lane = first_lane(s->least[b], cost, s->at[b], index), last = index >= LAST_ROW;
        if (last) y[b] = (int16_t)(w->points - 1);
        x[b] = (int16_t)(last ? LANES * (index - LAST_ROW) + lane
                              : 8 * x[b] + (x[b] < w->chunks ? lane % 8 : 0));
    }
}

static void copy_blocks(MotusMbMotion *to, const MotusMbMotion *from, uint32_t modes, int blocks) {
    for (int b = 0; b < blocks; b++) {
        if (!(modes >> motus_blocks[b].mode & 1)) continue;
        to->mv[b] = from->mv[b];
        to->cost[b] = from->cost[b];
        to->sad[b] = from->sad[b];
    }
}

// Finds each block's first point of least J, by index, then by lane. Returns 0 if all J of a block
// are 65,535 or more.
static int finish(const Scan *s, const Window *w, const MotusMbJob *job, int blocks,
                  MotusMbMotion *out) {
    uint32_t key[SCANNED], most = 0; // J << 16 | index
    int16_t x[SCANNED], y[SCANNED];
    // cppcheck-suppress uninitvar
    MotusMbMotion all, *to = job->modes == MOTUS_MODES_ALL ? out : &all;
    const int left = job->centre.x - 4 * job->range, top = job->centre.y - 4 * job->range;
    for (int b = 0; b < blocks; b += GROUP) least_keys(key + b, s->least + b, s->at + b);
    for (int b = 0; b < blocks; b++) most = key[b] > most ? key[b] : most;
    if (most >> 16 == 65535) return 0;
    find_points(s, w, key, blocks, x, y);
    for (int b = 0; b < blocks; b++) {
        to->mv[b].x = (int16_t)(left + 4 * x[b]);
        to->mv[b].y = (int16_t)(top + 4 * y[b]);
        to->cost[b] = key[b] >> 16;
    }
    for (int b = 0; b < blocks; b++)
        to->sad[b] = (uint16_t)(to->cost[b] - s->cost_of[s->column_code[x[b]] + s->row_code[y[b]]]);
    if (to == &all) copy_blocks(out, &all, job->modes, blocks);
    return 1;
}

static void search_mb(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch) {
    const uint32_t below_8x8 = 1u << MOTUS_MODE_8x4 | 1u << MOTUS_MODE_4x8 | 1u << MOTUS_MODE_4x4;
    int small = (job->modes & below_8x8) != 0, blocks = small ? MOTUS_BLOCKS : MOTUS_BLOCK_8x4;
    Scan s;
    Rows rows;
    Window w = lay_out(job->range, scratch);
    set_up(&s, job, blocks);
    find_rows(&w, job, rows);
    fill_strips(&w, rows);
    fill_last_row(&w, rows);
    scan_window(&s, &w, small);
    for (int y = 0; w.column && y < w.points - w.alone; y += LANES)
        scan_column(&s, &w, rows, y, small);
    // Only plain C counts beyond 65,535.
    if (!finish(&s, &w, job, blocks, out)) motus_search_ops_c.search(job, out, scratch);
}

#endif
