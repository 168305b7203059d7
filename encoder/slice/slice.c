// Slices on the CPU: MB rows are finalized and written in parallel, then joined (slice.h).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/slice/slice.h"

#include "common/alloc.h"

// ---- State at the start of each MB row ----------------------------------------------------------

#define MAX_ROWS (MOTUS_MAX_SIZE / 16)

// Returns the state after row y alone; qp -1: the row has no mb_qp_delta.
static MotusSliceState find_end(const MotusCodedMbs *mbs, int y) {
    const MotusMb *row = mbs->mb + (ptrdiff_t)y * mbs->mb_width;
    MotusSliceState end = {.qp = -1};
    int x = mbs->mb_width;
    while (x > 0 && row[x - 1].type == MOTUS_MB_P_SKIP) x--;
    end.skip_run = (uint32_t)(mbs->mb_width - x);
    while (x > 0 && !motus_mb_has_qp_delta(&row[x - 1])) x--;
    if (x > 0) end.qp = row[x - 1].qp;
    return end;
}

// Replaces the states after rows [from, to) alone by those before them. Returns the state after the
// last row.
static MotusSliceState propagate(MotusSliceState *rows, const MotusCodedMbs *mbs, int from, int to,
                                 int slice_qp) {
    MotusSliceState now = {.qp = slice_qp};
    for (int y = from; y < to; y++) {
        const MotusSliceState end = rows[y];
        const int first = y * mbs->mb_width;
        if (motus_slice_first(mbs->slice_first, first) == first)
            now = (MotusSliceState){.qp = slice_qp};
        rows[y] = now;
        now.skip_run =
            end.skip_run == (uint32_t)mbs->mb_width ? now.skip_run + end.skip_run : end.skip_run;
        if (end.qp >= 0) now.qp = end.qp;
    }
    return now;
}

// ---- Finalization -------------------------------------------------------------------------------

static void finalize_skip(MotusCodedMbs *mbs, int i) {
    const MotusNeighbours neighbours = motus_neighbours_at(mbs, i);
    if (mbs->slice_type == MOTUS_SLICE_B)
        motus_mb_finalize_b(&mbs->mb[i], &neighbours, &mbs->direct, i);
    else
        motus_mb_finalize_skip(&mbs->mb[i], &neighbours, mbs->refs);
}

// Finalizes the QP of MB i, and its contexts. Returns the QP that mb_qp_delta behind it refers to.
static int finalize_qp(MotusCodedMbs *mbs, int i, int qp_before) {
    MotusMb *mb = &mbs->mb[i];
    motus_mb_finalize_qp(mb, qp_before);
    if (mbs->context) {
        const MotusNeighbours neighbours = motus_neighbours_at(mbs, i);
        motus_mb_context_set(&mbs->context[i], mb, &mbs->coef[i], &neighbours, mbs->slice_type,
                             motus_qp_delta(mb->qp, qp_before));
    }
    return motus_mb_has_qp_delta(mb) ? mb->qp : qp_before;
}

void motus_finalize_mb(MotusCodedMbs *mbs, int i, const MotusSliceState *state) {
    finalize_skip(mbs, i);
    finalize_qp(mbs, i, state->qp);
}

void motus_finalize_mbs(MotusCodedMbs *mbs, int slice_qp) {
    const int width = mbs->mb_width;
    MotusSliceState rows[MAX_ROWS];
    assert(mbs->mb_height <= MAX_ROWS);
#pragma omp parallel num_threads(mbs->threads)
    {
        // Every other row: no type changes while the row below reads it.
        for (int odd = 0; odd < 2; odd++) {
#pragma omp for schedule(static)
            for (int y = odd; y < mbs->mb_height; y += 2) {
                for (int i = y * width; i < (y + 1) * width; i++) finalize_skip(mbs, i);
                rows[y] = find_end(mbs, y);
            }
        }
#pragma omp single
        propagate(rows, mbs, 0, mbs->mb_height, slice_qp);
#pragma omp for schedule(static)
        for (int y = 0; y < mbs->mb_height; y++)
            for (int i = y * width, qp = rows[y].qp; i < (y + 1) * width; i++)
                qp = finalize_qp(mbs, i, qp);
    }
}

// ---- Writing ------------------------------------------------------------------------------------

static void align(MotusBits *bits, uint64_t count[MOTUS_BIT_KINDS]) {
    size_t before = motus_bits_count(bits);
    motus_bits_align_zero(bits);
    count[MOTUS_BITS_MODE] += motus_bits_count(bits) - before;
}

// Pads bits that will be moved to a whole byte. Returns their number without the padding.
static size_t pad(MotusBits *bits) {
    size_t n = motus_bits_count(bits);
    motus_bits_align_zero(bits);
    return n;
}

// Writes units of an MB (bit i standing for unit i) in order, and counts their bits.
static void put_units(MotusBits *bits, const MotusMbSyntax *s, uint32_t units,
                      uint64_t count[MOTUS_BIT_KINDS]) {
    size_t mark = motus_bits_count(bits), now;
    for (; units; units &= units - 1, mark = now) {
        int unit = motus_bit_length(units & (0u - units)) - 1;
        (s->slice_type == MOTUS_SLICE_B ? motus_put_b_unit : motus_put_unit)(bits, s, unit);
        now = motus_bits_count(bits);
        count[motus_unit_kind(unit)] += now - mark;
    }
}

static void write_cavlc_mb(MotusMbWriter *writer, const MotusCodedMbs *mbs, int i,
                           MotusSliceState *state) {
    const MotusMb *mb = &mbs->mb[i];
    if (mb->type == MOTUS_MB_P_SKIP) {
        state->skip_run++;
        return;
    }
    const MotusMbSyntax syntax = {
        .mb = mb,
        .coef = &mbs->coef[i],
        .neighbours = motus_neighbours_at(mbs, i),
        .src = motus_mb_source(mbs->src, i % mbs->mb_width, i / mbs->mb_width),
        .slice_type = writer->slice->slice_type,
        .skip_run = state->skip_run,
        .qp_delta = motus_qp_delta(mb->qp, state->qp),
        .transform_8x8 = writer->slice->transform_8x8,
        .refs = writer->slice->refs};
    MotusBits *bits = writer->in_tail ? &writer->tail : &writer->bits;
    uint32_t units = motus_mb_units(mb, syntax.slice_type);
    if (mb->type == MOTUS_MB_I_PCM) {
        const uint32_t first = units & (1u << MOTUS_UNIT_RUN | 1u << MOTUS_UNIT_MODE);
        put_units(bits, &syntax, first, writer->count);
        units ^= first;
        if (writer->floating && !writer->in_tail) { // `tail` begins after the last byte of `bits`
            writer->n = pad(bits);
            writer->in_tail = 1;
            motus_bits_init(&writer->tail, bits->data + bits->size, bits->capacity - bits->size);
            bits = &writer->tail;
        } else {
            align(bits, writer->count);
        }
    }
    put_units(bits, &syntax, units, writer->count);
    if (motus_mb_has_qp_delta(mb)) state->qp = mb->qp;
    state->skip_run = 0;
}

// ---- CABAC --------------------------------------------------------------------------------------

static void code(MotusMbWriter *writer, const MotusSymbols *symbols, int kind) {
    const size_t before = motus_cabac_bits(&writer->cabac);
    motus_cabac_code(&writer->cabac, symbols);
    writer->count[kind] += motus_cabac_bits(&writer->cabac) - before;
}

// Codes end_of_slice_flag.
static void code_end(MotusMbWriter *writer, int is_end) {
    uint16_t symbol[1];
    MotusSymbols symbols = {.symbol = symbol};
    motus_put_bin(&symbols, MOTUS_CTX_TERMINATE, is_end);
    code(writer, &symbols, MOTUS_BITS_MODE);
}

static void code_samples(MotusMbWriter *writer, const MotusMbSource *src) {
    MotusCabac *cabac = &writer->cabac;
    const size_t before = motus_cabac_bits(cabac);
    motus_cabac_finish(cabac);
    writer->count[MOTUS_BITS_MODE] += motus_cabac_bits(cabac) - before;
    for (int p = 0; p < 3; p++) {
        const int size = p ? 8 : 16;
        for (int row = 0; row < size; row++)
            motus_cabac_bytes(cabac, src->plane[p] + row * src->stride[p], (size_t)size);
        writer->count[p ? MOTUS_BITS_CHROMA : MOTUS_BITS_LUMA] += (uint64_t)(8 * size * size);
    }
    motus_cabac_restart(cabac);
}

// Writes the symbols of a unit to symbol[] and returns their number. The compiler knows here that
// they are neither marked nor costed.
static __attribute__((flatten)) uint32_t put_unit(uint16_t *symbol, const MotusMbSyntax *syntax,
                                                  int unit) {
    MotusSymbols symbols = {.symbol = symbol};
    if (syntax->slice_type == MOTUS_SLICE_B)
        motus_put_b_unit_symbols(&symbols, syntax, unit);
    else
        motus_put_unit_symbols(&symbols, syntax, unit);
    return symbols.n;
}

static void write_cabac_mb(MotusMbWriter *writer, const MotusCodedMbs *mbs, int i,
                           MotusSliceState *state) {
    const MotusMb *mb = &mbs->mb[i];
    const MotusMbSyntax syntax = {.mb = mb,
                                  .coef = &mbs->coef[i],
                                  .own = &mbs->context[i],
                                  .neighbours = motus_neighbours_at(mbs, i),
                                  .a = &mbs->context[i] - 1,
                                  .b = &mbs->context[i] - mbs->mb_width,
                                  .qp_delta_before = state->qp_delta,
                                  .slice_type = writer->slice->slice_type,
                                  .transform_8x8 = writer->slice->transform_8x8,
                                  .refs = writer->slice->refs};
    uint16_t symbol[MOTUS_MB_SYMBOLS];
    if (state->has_mb) code_end(writer, 0);
    for (uint32_t units = motus_mb_symbol_units(mb, syntax.slice_type); units; units &= units - 1) {
        const int unit = motus_bit_length(units & (0u - units)) - 1;
        const MotusSymbols symbols = {.symbol = symbol, .n = put_unit(symbol, &syntax, unit)};
        code(writer, &symbols, motus_unit_kind(unit));
    }
    if (mb->type == MOTUS_MB_I_PCM) {
        const MotusMbSource src = motus_mb_source(mbs->src, i % mbs->mb_width, i / mbs->mb_width);
        code_samples(writer, &src);
    }
    if (motus_mb_has_qp_delta(mb)) state->qp = mb->qp;
    state->qp_delta = mbs->context[i].qp_delta;
}

// ---- Both ---------------------------------------------------------------------------------------

void motus_begin_slice_data(MotusMbWriter *writer, const MotusSliceSettings *slice) {
    MotusBits *bits = &writer->bits;
    writer->slice = slice;
    if (!slice->cabac) return;
    while (motus_bits_count(bits) % 8) motus_bits_put(bits, 1, 1); // cabac_alignment_one_bit
    motus_bits_align_zero(bits);
    motus_cabac_begin(&writer->cabac, slice->slice_type ? 1 + slice->cabac_init_idc : 0, slice->qp,
                      bits->data + bits->size, bits->capacity - bits->size);
}

void motus_write_mb(MotusMbWriter *writer, const MotusCodedMbs *mbs, int i,
                    MotusSliceState *state) {
    const MotusMb *mb = &mbs->mb[i];
    MotusPictureStats *stats = &writer->stats;
    const int transform = motus_transform_8x8_kind(mb);
    stats->mb[mb->type]++;
    stats->direct +=
        mbs->slice_type == MOTUS_SLICE_B && mb->type == MOTUS_MB_P_16x16 && motus_is_direct(mb);
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++) stats->sub[mb->sub_type[q]]++;
    if (transform >= 0) stats->transform_8x8[transform]++;
    (writer->slice->cabac ? write_cabac_mb : write_cavlc_mb)(writer, mbs, i, state);
    state->has_mb = 1;
}

size_t motus_written_bits(const MotusMbWriter *writer) {
    return motus_bits_count(&writer->bits) +
           (writer->slice->cabac ? motus_cabac_bits(&writer->cabac) : 0);
}

void motus_end_slice(MotusMbWriter *writer, const MotusSliceState *state) {
    MotusBits *bits = &writer->bits;
    if (writer->slice->cabac) {
        code_end(writer, 1);
        motus_cabac_finish(&writer->cabac);
        bits->size += writer->cabac.size;
        bits->overflow |= writer->cabac.overflow;
        return;
    }
    if (state->skip_run) {
        const size_t before = motus_bits_count(bits);
        motus_bits_ue(bits, state->skip_run);
        writer->count[MOTUS_BITS_MODE] += motus_bits_count(bits) - before;
    }
    motus_bits_trailing(bits);
}

static void put_row(MotusMbWriter *writer, const MotusCodedMbs *mbs, int y,
                    MotusSliceState *state) {
    for (int i = y * mbs->mb_width; i < (y + 1) * mbs->mb_width; i++)
        motus_write_mb(writer, mbs, i, state);
}

void motus_add_written(const MotusMbWriter *writer, const MotusCodedMbs *mbs,
                       MotusPictureStats *stats) {
    for (int i = 0; i < 2 * MOTUS_SYMBOL_BIN && mbs->bins && writer->slice->cabac; i++)
        mbs->bins->bin[i] += writer->cabac.counts.bin[i];
    if (mbs->bins && writer->slice->cabac) mbs->bins->others += writer->cabac.counts.others;
    for (int i = 0; i < MOTUS_MB_KINDS; i++) stats->mb[i] += writer->stats.mb[i];
    for (int i = 0; i < 4; i++) stats->sub[i] += writer->stats.sub[i];
    for (int i = 0; i < 2; i++) stats->transform_8x8[i] += writer->stats.transform_8x8[i];
    stats->direct += writer->stats.direct;
    stats->bits_mode += writer->count[MOTUS_BITS_MODE];
    stats->bits_mv += writer->count[MOTUS_BITS_MV];
    stats->bits_luma += writer->count[MOTUS_BITS_LUMA];
    stats->bits_chroma += writer->count[MOTUS_BITS_CHROMA];
}

// ---- Rows in parallel ---------------------------------------------------------------------------

// Writes rows [from, to) in parallel, each into its own part of the buffer, and joins them in
// place: as every row fits its part, bits only move towards the front. Returns 0 if a row does not
// fit or memory is missing; *writer, *state and *stats are then unchanged.
static int put_rows_parallel(MotusMbWriter *writer, const MotusCodedMbs *mbs, int from, int to,
                             MotusSliceState *state, MotusPictureStats *stats) {
    const int height = to - from;
    MotusBits *bits = &writer->bits;
    const size_t first = bits->size + 4; // after what is still in the cache
    if (writer->slice->cabac || mbs->threads == 1 || height > MAX_ROWS || first > bits->capacity)
        return 0;
    const size_t part = (bits->capacity - first) / (size_t)height;
    MotusMbWriter *rows = motus_alloc((size_t)height, sizeof *rows);
    if (!rows) return 0;
    MotusSliceState starts[MAX_ROWS], end = *state; // by row of the picture
    int overflow = 0;
#pragma omp parallel num_threads(mbs->threads)
    {
#pragma omp for schedule(static)
        for (int y = from; y < to; y++) starts[y] = find_end(mbs, y);
#pragma omp single
        end = propagate(starts, mbs, from, to, state->qp);
#pragma omp for schedule(dynamic, 1)
        for (int k = 0; k < height; k++) {
            MotusMbWriter *row = &rows[k];
            *row = (MotusMbWriter){.slice = writer->slice, .floating = 1};
            motus_bits_init(&row->bits, bits->data + first + (size_t)k * part, part);
            put_row(row, mbs, from + k, &starts[from + k]);
            if (row->in_tail)
                row->n_tail = pad(&row->tail);
            else
                row->n = pad(&row->bits);
        }
    }
    for (int y = 0; y < height; y++) overflow |= rows[y].bits.overflow | rows[y].tail.overflow;
    for (int y = 0; y < height && !overflow; y++) {
        MotusMbWriter *row = &rows[y];
        motus_bits_append(bits, row->bits.data, row->n);
        if (row->in_tail) {
            align(bits, row->count);
            motus_bits_append(bits, row->tail.data, row->n_tail);
        }
        motus_add_written(row, mbs, stats);
    }
    if (!overflow) *state = end;
    motus_free(rows);
    return !overflow;
}

void motus_write_slice_data(MotusBits *bits, const MotusCodedMbs *mbs, int from, int to,
                            const MotusSliceSettings *slice, MotusPictureStats *stats) {
    MotusSliceState state = {.qp = slice->qp};
    MotusMbWriter writer = {.bits = *bits};
    motus_begin_slice_data(&writer, slice);
    if (!put_rows_parallel(&writer, mbs, from, to, &state, stats))
        for (int y = from; y < to; y++) put_row(&writer, mbs, y, &state);
    motus_end_slice(&writer, &state);
    motus_add_written(&writer, mbs, stats);
    *bits = writer.bits;
}
