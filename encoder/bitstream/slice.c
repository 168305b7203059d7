// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/slice.h"

#include "common/alloc.h"
#include "encoder/bitstream/slice_core.h"

// ---- What MB rows hand down ---------------------------------------------------------------------

#define MAX_ROWS (MOTUS_MAX_SIZE / 16)

// What row y alone would leave; qp -1 without mb_qp_delta.
static MotusSliceState find_end(const MotusCodedMbs *mbs, int y) {
    const MotusMb *row = mbs->mb + (ptrdiff_t)y * mbs->mb_width;
    MotusSliceState end = {0, -1};
    int x = mbs->mb_width;
    while (x > 0 && row[x - 1].type == MOTUS_MB_P_SKIP) x--;
    end.skip_run = (uint32_t)(mbs->mb_width - x);
    while (x > 0 && !motus_mb_has_qp_delta(&row[x - 1])) x--;
    if (x > 0) end.qp = row[x - 1].qp;
    return end;
}

static int begins_slice(const MotusCodedMbs *mbs, int y) {
    const int i = y * mbs->mb_width;
    return motus_slice_first(mbs->slice_first, i) == i;
}

// Of rows [from, to). In: what each alone leaves. Out: what each finds. Returns what the last one
// leaves.
static MotusSliceState hand_down(MotusSliceState *rows, const MotusCodedMbs *mbs, int from, int to,
                                 int slice_qp) {
    MotusSliceState now = {0, slice_qp};
    for (int y = from; y < to; y++) {
        const MotusSliceState end = rows[y];
        if (begins_slice(mbs, y)) now = (MotusSliceState){0, slice_qp};
        rows[y] = now;
        now.skip_run =
            end.skip_run == (uint32_t)mbs->mb_width ? now.skip_run + end.skip_run : end.skip_run;
        if (end.qp >= 0) now.qp = end.qp;
    }
    return now;
}

// ---- Settling -----------------------------------------------------------------------------------

static MotusNeighbours neighbours_of(const MotusCodedMbs *mbs, int i) {
    return motus_neighbours(mbs->mb, mbs->mb_width, i % mbs->mb_width, i / mbs->mb_width,
                            motus_slice_first(mbs->slice_first, i));
}

static void settle_skip(MotusCodedMbs *mbs, int i) {
    const MotusNeighbours neighbours = neighbours_of(mbs, i);
    motus_mb_finalize_skip(&mbs->mb[i], &neighbours);
}

static void settle_skips(MotusCodedMbs *mbs, int y) {
    for (int i = y * mbs->mb_width; i < (y + 1) * mbs->mb_width; i++) settle_skip(mbs, i);
}

static void settle_qps(MotusCodedMbs *mbs, int y, int qp) {
    MotusMb *row = mbs->mb + (ptrdiff_t)y * mbs->mb_width;
    for (int x = 0; x < mbs->mb_width; x++) {
        motus_mb_finalize_qp(&row[x], qp);
        if (motus_mb_has_qp_delta(&row[x])) qp = row[x].qp;
    }
}

void motus_finalize_mbs(MotusCodedMbs *mbs, int slice_qp) {
    MotusSliceState rows[MAX_ROWS];
    assert(mbs->mb_height <= MAX_ROWS);
#pragma omp parallel num_threads(mbs->threads)
    {
        // Every other row, so that nobody changes a type while a neighbour in the row below reads
        // it.
        for (int odd = 0; odd < 2; odd++) {
#pragma omp for schedule(static)
            for (int y = odd; y < mbs->mb_height; y += 2) {
                settle_skips(mbs, y);
                rows[y] = find_end(mbs, y);
            }
        }
#pragma omp single
        hand_down(rows, mbs, 0, mbs->mb_height, slice_qp);
#pragma omp for schedule(static)
        for (int y = 0; y < mbs->mb_height; y++) settle_qps(mbs, y, rows[y].qp);
    }
}

// ---- Writing ------------------------------------------------------------------------------------

static void count_kind(const MotusMb *mb, MotusPictureStats *stats) {
    stats->mb[mb->type]++;
    if (mb->type == MOTUS_MB_P_8x8)
        for (int q = 0; q < 4; q++) stats->sub[mb->sub_type[q]]++;
}

static void align(MotusBits *bits, uint64_t count[MOTUS_BIT_KINDS]) {
    size_t before = motus_bits_count(bits);
    motus_bits_align_zero(bits);
    count[MOTUS_BITS_MODE] += motus_bits_count(bits) - before;
}

// Ends a stretch of bits that is to be moved: padded to a whole byte. Returns how many bits there
// are.
static size_t end_stretch(MotusBits *bits) {
    size_t n = motus_bits_count(bits);
    motus_bits_align_zero(bits);
    return n;
}

// Begins `rest`, at the first byte that `bits` leaves free.
static void split(MotusMbWriter *row) {
    row->n = end_stretch(&row->bits);
    row->split = 1;
    motus_bits_init(&row->rest, row->bits.data + row->bits.size,
                    row->bits.capacity - row->bits.size);
}

static void put_mb(MotusMbWriter *writer, const MotusMbSyntax *s) {
    MotusBits *bits = writer->split ? &writer->rest : &writer->bits;
    uint32_t units = motus_mb_units(s->mb, s->p_slice);
    if (s->mb->type == MOTUS_MB_I_PCM) {
        const uint32_t first = units & (1u << MOTUS_UNIT_RUN | 1u << MOTUS_UNIT_MODE);
        motus_put_units(bits, s, first, writer->count);
        units ^= first;
        if (writer->apart && !writer->split) {
            split(writer);
            bits = &writer->rest;
        } else {
            align(bits, writer->count);
        }
    }
    motus_put_units(bits, s, units, writer->count);
}

void motus_finalize_mb(MotusCodedMbs *mbs, int i, const MotusSliceState *state) {
    settle_skip(mbs, i);
    motus_mb_finalize_qp(&mbs->mb[i], state->qp);
}

void motus_write_mb(MotusMbWriter *writer, const MotusCodedMbs *mbs, int p_slice, int i,
                    MotusSliceState *state) {
    const MotusMb *mb = &mbs->mb[i];
    count_kind(mb, &writer->stats);
    if (mb->type == MOTUS_MB_P_SKIP) {
        state->skip_run++;
        return;
    }
    const MotusMbSyntax syntax = {
        .mb = mb,
        .coef = &mbs->coef[i],
        .neighbours = neighbours_of(mbs, i),
        .src = motus_mb_source(mbs->src, i % mbs->mb_width, i / mbs->mb_width),
        .p_slice = p_slice,
        .skip_run = state->skip_run,
        .qp_delta = motus_qp_delta(mb->qp, state->qp)};
    put_mb(writer, &syntax);
    if (motus_mb_has_qp_delta(mb)) state->qp = mb->qp;
    state->skip_run = 0;
}

// Writes row y; *start goes on to the next one.
static void put_row(MotusMbWriter *writer, const MotusCodedMbs *mbs, int p_slice, int y,
                    MotusSliceState *start) {
    for (int i = y * mbs->mb_width; i < (y + 1) * mbs->mb_width; i++)
        motus_write_mb(writer, mbs, p_slice, i, start);
}

void motus_add_written(const MotusMbWriter *writer, MotusPictureStats *stats) {
    for (int i = 0; i < MOTUS_MB_KINDS; i++) stats->mb[i] += writer->stats.mb[i];
    for (int i = 0; i < 4; i++) stats->sub[i] += writer->stats.sub[i];
    stats->bits_mode += writer->count[MOTUS_BITS_MODE];
    stats->bits_mv += writer->count[MOTUS_BITS_MV];
    stats->bits_luma += writer->count[MOTUS_BITS_LUMA];
    stats->bits_chroma += writer->count[MOTUS_BITS_CHROMA];
}

// Appends a row that was written apart.
static void join(MotusBits *bits, MotusMbWriter *row) {
    motus_bits_append(bits, row->bits.data, row->n);
    if (!row->split) return;
    align(bits, row->count);
    motus_bits_append(bits, row->rest.data, row->n_rest);
}

static void put_row_apart(MotusMbWriter *row, uint8_t *data, size_t capacity,
                          const MotusCodedMbs *mbs, int p_slice, int y, MotusSliceState start) {
    *row = (MotusMbWriter){.apart = 1};
    motus_bits_init(&row->bits, data, capacity);
    put_row(row, mbs, p_slice, y, &start);
    if (row->split)
        row->n_rest = end_stretch(&row->rest);
    else
        row->n = end_stretch(&row->bits);
}

// Rows [from, to) side by side, each into a stretch of its own of the buffer, which are then joined
// in place: a row's bits go to where they are or before it, since every row before fits its
// stretch. Returns whether all do and there is memory for it; else *bits, *start and *stats are as
// they were.
static int put_rows_apart(MotusBits *bits, const MotusCodedMbs *mbs, int from, int to, int p_slice,
                          MotusSliceState *start, MotusPictureStats *stats) {
    const int height = to - from;
    const size_t first = bits->size + 4; // behind what is still in the cache
    if (mbs->threads == 1 || height > MAX_ROWS || first > bits->capacity) return 0;
    const size_t room = (bits->capacity - first) / (size_t)height;
    MotusMbWriter *rows = motus_alloc((size_t)height, sizeof *rows);
    if (!rows) return 0;
    MotusSliceState starts[MAX_ROWS], end = *start; // by rows of the picture
    int overflow = 0;
#pragma omp parallel num_threads(mbs->threads)
    {
#pragma omp for schedule(static)
        for (int y = from; y < to; y++) starts[y] = find_end(mbs, y);
#pragma omp single
        end = hand_down(starts, mbs, from, to, start->qp);
#pragma omp for schedule(dynamic, 1)
        for (int k = 0; k < height; k++)
            put_row_apart(&rows[k], bits->data + first + (size_t)k * room, room, mbs, p_slice,
                          from + k, starts[from + k]);
    }
    for (int y = 0; y < height; y++) overflow |= rows[y].bits.overflow | rows[y].rest.overflow;
    for (int y = 0; y < height && !overflow; y++) {
        join(bits, &rows[y]);
        motus_add_written(&rows[y], stats);
    }
    if (!overflow) *start = end;
    motus_free(rows);
    return !overflow;
}

static void put_rows_in_order(MotusBits *bits, const MotusCodedMbs *mbs, int from, int to,
                              int p_slice, MotusSliceState *start, MotusPictureStats *stats) {
    MotusMbWriter writer = {.bits = *bits};
    for (int y = from; y < to; y++) put_row(&writer, mbs, p_slice, y, start);
    motus_add_written(&writer, stats);
    *bits = writer.bits;
}

void motus_end_slice(MotusBits *bits, const MotusSliceState *state, MotusPictureStats *stats) {
    if (state->skip_run) {
        size_t before = motus_bits_count(bits);
        motus_bits_ue(bits, state->skip_run);
        stats->bits_mode += motus_bits_count(bits) - before;
    }
    motus_bits_trailing(bits);
}

void motus_write_slice_data(MotusBits *bits, const MotusCodedMbs *mbs, int from, int to,
                            int p_slice, int slice_qp, MotusPictureStats *stats) {
    MotusSliceState state = {0, slice_qp};
    if (!put_rows_apart(bits, mbs, from, to, p_slice, &state, stats))
        put_rows_in_order(bits, mbs, from, to, p_slice, &state, stats);
    motus_end_slice(bits, &state, stats);
}

MotusSliceHead motus_slice_head(const MotusSequenceSettings *settings,
                                const MotusSliceSettings *slice, int nal_ref_idc) {
    MotusSliceHead head = {.p_slice = slice->p_slice != 0, .qp = (uint8_t)slice->qp};
    MotusBits bits;
    motus_bits_init(&bits, head.header, sizeof head.header);
    motus_write_slice_header(&bits, settings, slice);
    head.header_bits = (uint32_t)motus_bits_count(&bits);
    motus_bits_align_zero(&bits);
    assert(!bits.overflow);
    head.nal_header = (uint8_t)(nal_ref_idc << 5 | (slice->idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE));
    return head;
}

static int part_count(const MotusMb *mb) {
    MotusPartition parts[16];
    return motus_mb_partitions(mb, parts);
}

static void list_row(const MotusCodedMbs *mbs, int y, MotusCodedMv *mvs) {
    for (int x = 0; x < mbs->mb_width; x++) {
        const MotusMb *mb = mbs->mb + (ptrdiff_t)y * mbs->mb_width + x;
        MotusPartition parts[16];
        int n = motus_mb_partitions(mb, parts);
        for (int k = 0; k < n; k++) {
            const MotusPartition *p = &parts[k];
            *mvs++ = (MotusCodedMv){.x = (uint16_t)(16 * x + 4 * p->x),
                                    .y = (uint16_t)(16 * y + 4 * p->y),
                                    .width = (uint8_t)(4 * p->width),
                                    .height = (uint8_t)(4 * p->height),
                                    .skip = mb->type == MOTUS_MB_P_SKIP,
                                    .mv = mb->mv[4 * p->y + p->x]};
        }
    }
}

size_t motus_list_mvs(const MotusCodedMbs *mbs, MotusCodedMv *mvs) {
    size_t first[MAX_ROWS], total = 0;
    assert(mbs->mb_height <= MAX_ROWS);
#pragma omp parallel num_threads(mbs->threads)
    {
#pragma omp for schedule(static)
        for (int y = 0; y < mbs->mb_height; y++) {
            first[y] = 0;
            for (int x = 0; x < mbs->mb_width; x++)
                first[y] += (size_t)part_count(mbs->mb + (ptrdiff_t)y * mbs->mb_width + x);
        }
#pragma omp single
        for (int y = 0; y < mbs->mb_height; y++) {
            size_t n = first[y];
            first[y] = total;
            total += n;
        }
#pragma omp for schedule(static)
        for (int y = 0; y < mbs->mb_height; y++) list_row(mbs, y, mvs + first[y]);
    }
    return total;
}
