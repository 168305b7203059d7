// Exhaustive search by vectors of any width; the includer defines the instructions. No branch
// depends on samples: each lane keeps the least J of its points per block, and the lanes are
// compared at the end.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SEARCH_TMPL_H
#define ME_SEARCH_SEARCH_TMPL_H

#include <string.h>

#include "me/pixel/cost_core.h"
#include "me/search/search.h"

// The includer includes me/pixel/vector_tmpl.h and defines:
//   mv_cost(table, code)       table[code], codes 0..31
//   offer(least, at, j, now, any)  lanes with j < *least: *least = j, *at = now. any: `now` may
//                              fall; lanes with j == *least take the lesser of *at and now
//   least_keys(key, least, at)  key[i], i < GROUP: the least of the lanes of least[i] above at[i]
//   column_sads(sad, row, x, cur)  SADs of the 16 4x4 blocks, in raster order; lane i: of the
//                              window that begins at row[i] + x

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
    int sample_rows; // rows of samples,
    int width;       // and samples that are read of each
    int strip;       // bytes of a strip: rows + 15 vectors
    uint8_t *memory; // chunks + 1 strips; then at these offsets:
    int last;        // the last row: per LANES points 16 vectors, then 16 for samples 8 further
    int plain;       // whole rows, of windows that reach too far out of the picture
} Window;

static Window lay_out(int range, uint8_t *memory) {
    Window w = {.points = 2 * range + 1,
                .fits = 2 * range < 256,
                .alone = 2 * range % PARTS == 0,
                .column = 2 * range % 8 == 0,
                .memory = memory};
    w.rows = (w.points - w.alone + PARTS - 1) / PARTS;
    w.chunks = (w.points - w.column + 7) / 8;
    w.sample_rows = PARTS * w.rows + 15 + w.alone;
    w.width = (w.points + 7) / 8 * 8 + 16;
    w.strip = WIDTH * (w.rows + 15);
    w.last = (w.chunks + 1) * w.strip;
    w.plain = w.last + w.alone * (w.points + LANES - 1) / LANES * 32 * WIDTH;
    return w;
}

static size_t scratch_bytes(int range) {
    const Window w = lay_out(range, NULL);
    return (size_t)(w.plain + w.sample_rows * w.width);
}

// Takes the nine blocks of quadrant q of the MB at LANES points, from the SADs of its 4x4 blocks,
// at most 4080 each; returns the SAD of the 8x8 block, at most 16,320. J is at most 16,320 + 15,871
// = 32,191; of points outside 32,767 to 49,087, so never the least.
INLINE V take_quadrant(Scan *s, const V sad[4], int q, V cost, V now, int small, int any) {
    const int x = 2 * (q & 1), y = 8 * (q >> 1), b44 = MOTUS_BLOCK_4x4 + y + x,
              b84 = MOTUS_BLOCK_8x4 + y / 2 + x / 2, b48 = MOTUS_BLOCK_4x8 + y / 2 + x,
              b88 = MOTUS_BLOCK_8x8 + q;
    const V j0 = OP(add_epi16)(sad[0], cost), upper = OP(add_epi16)(j0, sad[1]),
            lower = OP(add_epi16)(sad[2], sad[3]), j88 = OP(add_epi16)(upper, lower);
    offer(&s->least[b88], &s->at[b88], j88, now, any);
    if (small) {
        const V j1 = OP(add_epi16)(sad[1], cost);
        const struct {
            int block;
            V j;
        } taken[8] = {{b44, j0},
                      {b44 + 1, j1},
                      {b44 + 4, OP(add_epi16)(sad[2], cost)},
                      {b44 + 5, OP(add_epi16)(sad[3], cost)},
                      {b84, upper},
                      {b84 + 2, OP(add_epi16)(lower, cost)},
                      {b48, OP(add_epi16)(j0, sad[2])},
                      {b48 + 1, OP(add_epi16)(j1, sad[3])}};
        for (int i = 0; i < 8; i++)
            offer(&s->least[taken[i].block], &s->at[taken[i].block], taken[i].j, now, any);
    }
    return OP(sub_epi16)(j88, cost);
}

// Takes the five largest blocks from the SADs of the four 8x8. Sums are at most 65,280; J
// saturates. Bit 14 of a cost is set in points outside alone, whose J here is 65,535.
INLINE void take_large(Scan *s, const V s88[4], V cost, V now, int any) {
    const V upper = OP(add_epi16)(s88[0], s88[1]), lower = OP(add_epi16)(s88[2], s88[3]),
            outside = OP(srai_epi16)(OP(slli_epi16)(cost, 1), 15),
            sum[5] = {OP(add_epi16)(upper, lower), upper, lower, OP(add_epi16)(s88[0], s88[2]),
                      OP(add_epi16)(s88[1], s88[3])};
    cost = OP(adds_epu16)(cost, outside);
    for (int b = 0; b < 5; b++)
        offer(&s->least[b], &s->at[b], OP(adds_epu16)(sum[b], cost), now, any);
}

// Takes quadrant q at LANES points, whose samples begin at `strip`.
INLINE V scan_quadrant(Scan *s, const uint8_t *strip, int q, V cost, V now, int small) {
    const int x = 2 * (q & 1), y = 8 * (q >> 1);
    V sad[4];
    for (int i = 0; i < 4; i++) {
        const int row = y + 4 * (i >> 1);
        const V *ref = (const V *)(strip + WIDTH * row);
        V of[4];
        for (int k = 0; k < 4; k++) of[k] = sad4x1(ref[k], s->cur[row + k], x + (i & 1));
        sad[i] = OP(add_epi16)(OP(add_epi16)(of[0], of[1]), OP(add_epi16)(of[2], of[3]));
    }
    return take_quadrant(s, sad, q, cost, now, small, 0);
}

// Takes all blocks at LANES points. Samples 8 to the right are `next` bytes further. code: per lane
// the sum of its row's and column's codes, at most OUTSIDE.
static __attribute__((noinline)) void scan_points(Scan *s, const uint8_t *strip, ptrdiff_t next,
                                                  int small, V code, V now) {
    const V cost = mv_cost(s->cost_of, code);
    V s88[4];
    s88[0] = scan_quadrant(s, strip, 0, cost, now, small);
    s88[1] = scan_quadrant(s, strip + next, 1, cost, now, small);
    s88[2] = scan_quadrant(s, strip, 2, cost, now, small);
    s88[3] = scan_quadrant(s, strip + next, 3, cost, now, small);
    take_large(s, s88, cost, now, 0);
}

// Loads for each part the eight codes at code[0], code[step], ...
INLINE V codes_of(const uint16_t *code, int step) {
    const void *p[PARTS];
    for (int i = 0; i < PARTS; i++) p[i] = code + i * step;
    return parts(p);
}

// Takes rows [first, first + LANES) of the column on its own, those that are in the window.
static __attribute__((noinline)) void
scan_column(Scan *s, const Window *w, const uint8_t *const *rows, int first, int small) {
    const uint8_t *row[LANES + 15];
    uint16_t code[LANES], index[LANES];
    V sad[16], s88[4];
    for (int i = 0; i < LANES + 15; i++)
        row[i] = rows[first + i < w->sample_rows ? first + i : w->sample_rows - 1];
    memcpy(code, s->row_code + first, sizeof code);
    for (int i = w->points - w->alone - first; i < LANES; i++) code[i] = OUTSIDE;
    for (int i = 0; i < LANES; i++)
        index[i] = (uint16_t)(256 * (first + i) + (w->fits ? 8 : 1) * w->chunks);
    column_sads(sad, row, 8 * w->chunks, s->cur);
    const V column = OP(set1_epi16)((short)s->column_code[w->points - 1]),
            codes = OP(add_epi16)(codes_of(code, 8), column),
            cost = mv_cost(s->cost_of, OP(min_epu16)(codes, OP(set1_epi16)(OUTSIDE))),
            now = codes_of(index, 8);
    for (int q = 0; q < 4; q++) {
        const V *at = sad + 8 * (q >> 1) + 2 * (q & 1), four[4] = {at[0], at[1], at[4], at[5]};
        s88[q] = take_quadrant(s, four, q, cost, now, small, 1);
    }
    take_large(s, s88, cost, now, 1);
}

static void scan_window(Scan *s, const Window *w, const uint8_t *const *rows, int small) {
    const V outside = OP(set1_epi16)(OUTSIDE);
    uint16_t index[LANES];
    for (int i = 0; i < LANES; i++) // of each part's first point, or of its first eight points
        index[i] = (uint16_t)(i / 8 * w->rows * 256 + (w->fits ? i % 8 : 0));
    V at = codes_of(index, 8);
    for (int i = 0; i < w->rows; i++, at = OP(add_epi16)(at, OP(set1_epi16)(256))) {
        const V row_code = codes_of(s->row_codes[i], 8 * w->rows);
        for (int chunk = 0; chunk < w->chunks; chunk++) {
            const V code = OP(add_epi16)(row_code, repeat(s->column_code + 8 * chunk)),
                    now = OP(set1_epi16)((short)((w->fits ? 8 : 1) * chunk));
            scan_points(s, w->memory + chunk * w->strip + WIDTH * i, w->strip, small,
                        OP(min_epu16)(code, outside), OP(add_epi16)(at, now));
        }
    }
    for (int column = 0; column < w->points * w->alone; column += LANES) {
        const V row_code = OP(set1_epi16)((short)s->row_code[w->points - 1]),
                code = OP(add_epi16)(row_code, codes_of(s->column_code + column, 8));
        for (int i = 0; i < LANES; i++)
            index[i] = (uint16_t)(w->fits ? 256 * (w->points - 1) + column + i
                                          : LAST_ROW + column / LANES);
        scan_points(s, w->memory + w->last + column / LANES * 32 * WIDTH, 16 * WIDTH, small,
                    OP(min_epu16)(code, outside), codes_of(index, 8));
    }
    for (int y = 0; w->column && y < w->points - w->alone; y += LANES)
        scan_column(s, w, rows, y, small);
}

static void set_up(Scan *s, const MotusMbJob *job, int blocks) {
    const int points = 2 * job->range + 1,
              first[2] = {job->centre.x - 4 * job->range - job->predictor.x,
                          job->centre.y - 4 * job->range - job->predictor.y};
    uint16_t *const codes[2] = {s->column_code, s->row_code};
    for (int k = 0; k < OUTSIDE; k++)
        s->cost_of[k] = (uint16_t)motus_bits_cost(job->lambda_q8, 2 * k + 2);
    s->cost_of[OUTSIDE] = 32767;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < points; i++)
            codes[k][i] = (uint16_t)((motus_se_bits(first[k] + 4 * i) - 1) / 2);
        for (int i = points; i < (points + 31) / 32 * 32; i++) codes[k][i] = OUTSIDE;
    }
    for (int y = 0; y < (points + PARTS - 1) / PARTS * PARTS; y++)
        for (int i = 0; i < 8; i++) s->row_codes[y][i] = s->row_code[y];
    for (int b = 0; b < (blocks + GROUP - 1) / GROUP * GROUP; b++)
        s->least[b] = OP(set1_epi16)(-1), s->at[b] = OP(set1_epi16)(0);
    for (int y = 0; y < 16; y++) memcpy(s->cur[y], job->cur + y * job->cur_stride, 16);
}

typedef const uint8_t *Rows[MAX_POINTS + 15 + 3];

// Copies one row of each part: `pieces` of 16 samples, 8 apart.
INLINE void fill_row(uint8_t *to, ptrdiff_t strip, const uint8_t *const row[PARTS], int pieces) {
    for (int k = 0; k < pieces; k++, to += strip) {
        const void *p[PARTS];
        for (int i = 0; i < PARTS; i++) p[i] = row[i] + 8 * k;
        *(V *)to = parts(p);
    }
}

// Finds the window's rows, in the reference if its border is wide enough, else in a copy, and fills
// the strips and the last row.
static void load_window(const Window *w, const MotusMbJob *job, Rows rows) {
    const MotusRefLuma *ref = job->ref;
    const int x0 = job->x + job->centre.x / 4 - job->range,
              y0 = job->y + job->centre.y / 4 - job->range,
              inside = x0 >= -MOTUS_REF_PAD && x0 + w->width <= ref->width + MOTUS_REF_PAD;
    const uint8_t *row[PARTS];
    for (int y = 0; y < w->sample_rows; y++) {
        const uint8_t *from = motus_ref_row(ref, y0 + y);
        uint8_t *copy = w->memory + w->plain + y * w->width;
        rows[y] = inside ? from + x0 : copy;
        for (int x = 0; x < w->width && !inside; x++)
            copy[x] = from[motus_clip(0, ref->width - 1, x0 + x)];
    }
    for (int y = 0; y < w->rows + 15; y++) {
        for (int i = 0; i < PARTS; i++) row[i] = rows[y + i * w->rows];
        fill_row(w->memory + WIDTH * y, w->strip, row, w->chunks + 1);
    }
    // Pieces beyond the window repeat its last one, which may be read; their points don't count.
    for (int column = 0; column < w->points * w->alone; column += LANES)
        for (int y = 0; y < 16; y++) {
            for (int i = 0; i < PARTS; i++)
                row[i] = rows[w->points - 1 + y] + motus_min(column + 8 * i, w->width - 24);
            fill_row(w->memory + w->last + (column / LANES * 32 + y) * WIDTH, 16 * WIDTH, row, 2);
        }
}

// Finds each block's first point of least J, by index, then by lane. Returns 0 if all J of a block
// are 65,535 or more.
static int finish(const Scan *s, const Window *w, const MotusMbJob *job, int blocks,
                  MotusMbMotion *out) {
    uint32_t key[SCANNED], most = 0; // J << 16 | index
    const int left = job->centre.x - 4 * job->range, top = job->centre.y - 4 * job->range;
    for (int b = 0; b < blocks; b += GROUP) least_keys(key + b, s->least + b, s->at + b);
    for (int b = 0; b < blocks; b++) most = key[b] > most ? key[b] : most;
    if (most >> 16 == 65535) return 0;
    for (int b = 0; b < blocks; b++) {
        const uint16_t cost = (uint16_t)(key[b] >> 16), index = (uint16_t)key[b];
        int x = index & 255, y = index >> 8;
        if (!(job->modes >> motus_blocks[b].mode & 1)) continue;
        if (!w->fits) {
            const uint16_t *least = (const uint16_t *)&s->least[b],
                           *at = (const uint16_t *)&s->at[b];
            int lane = 0;
            while (least[lane] != cost || at[lane] != index) lane++;
            if (index >= LAST_ROW)
                x = LANES * (index - LAST_ROW) + lane, y = w->points - 1;
            else
                x = 8 * x + (x < w->chunks ? lane % 8 : 0);
        }
        out->mv[b] = (MotusMv){(int16_t)(left + 4 * x), (int16_t)(top + 4 * y)};
        out->cost[b] = cost;
        out->sad[b] = (uint16_t)(cost - s->cost_of[s->column_code[x] + s->row_code[y]]);
    }
    return 1;
}

static void search_mb(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch) {
    const uint32_t below_8x8 = 1u << MOTUS_MODE_8x4 | 1u << MOTUS_MODE_4x8 | 1u << MOTUS_MODE_4x4;
    const int small = (job->modes & below_8x8) != 0,
              blocks = small ? MOTUS_BLOCKS : MOTUS_BLOCK_8x4;
    const Window w = lay_out(job->range, scratch);
    Scan s;
    Rows rows;
    set_up(&s, job, blocks);
    load_window(&w, job, rows);
    scan_window(&s, &w, rows, small);
    // Only plain C counts beyond 65,535.
    if (!finish(&s, &w, job, blocks, out)) motus_search_ops_c.search(job, out, scratch);
}

#endif
