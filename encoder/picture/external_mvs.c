// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/external_mvs.h"

#include <string.h>

#include "common/error.h"
#include "common/int_core.h"
#include "me/centres/centres_core.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/measure_core.h"

static uint32_t modes_of(const MotusFrameParams *params) {
    return params->external_modes && !params->n_reference_mvs ? params->external_modes
                                                              : MOTUS_MODES_ALL;
}

static size_t count_mbs(const MotusStream *s) { return (size_t)s->mb_width * (size_t)s->mb_height; }

// ---- Checks -------------------------------------------------------------------------------------

// Checks an MV of a field. Refinement may still move it by up to 3 quarter samples.
static MotusStatus check_mv(const MotusStream *s, MotusMv mv, int mb, int b, MotusError *error) {
    const int max_x = 4 * 2047, max_y = s->limits.max_mv_y - 4, unit = s->limits.unit;
    if (motus_abs(mv.x) > max_x || motus_abs(mv.y) > max_y)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "vector (%d, %d) of macroblock %d, block %d, is outside +-%d, +-%d "
                          "quarter samples, the range of level %d.%d",
                          mv.x, mv.y, mb, b, max_x, max_y, s->sequence.level->level_idc / 10,
                          s->sequence.level->level_idc % 10);
    if ((mv.x | mv.y) & (unit - 1))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "vector (%d, %d) of macroblock %d, block %d, in quarter samples, is "
                          "finer than the encoder's vectors",
                          mv.x, mv.y, mb, b);
    return MOTUS_OK;
}

// Returns the block that an entry is in its MB; -1: none of the 41.
static int block_of(const MotusCodedMv *entry) {
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (motus_blocks[b].x == entry->x % 16 && motus_blocks[b].y == entry->y % 16 &&
            motus_blocks[b].width == entry->width && motus_blocks[b].height == entry->height)
            return b;
    return -1;
}

static int mb_of(const MotusStream *s, const MotusCodedMv *entry) {
    return entry->y / 16 * s->mb_width + entry->x / 16;
}

// Checks an entry. MVs beyond the range of the stream's level are clipped later (fit).
static MotusStatus check_entry(const MotusStream *s, const MotusCodedMv *entry, MotusError *error) {
    const int max_x = 4 * 2048, max_y = 4 * 512; // the largest range of table A-1
    const char *cause = NULL;
    if (entry->x >= 16 * s->mb_width || entry->y >= 16 * s->mb_height)
        cause = "is outside the picture";
    else if (block_of(entry) < 0)
        cause = "is no block of a macroblock";
    else if (!entry->distance)
        cause = "has no reference: its distance is 0";
    else if (motus_abs(entry->mv.x) > max_x || motus_abs(entry->mv.y) > max_y)
        cause = "is outside the range of all levels";
    return cause ? motus_fail(error, MOTUS_ERR_ARGUMENT,
                              "the %dx%d block at %d, %d with vector (%d, %d) %s", entry->width,
                              entry->height, entry->x, entry->y, entry->mv.x, entry->mv.y, cause)
                 : MOTUS_OK;
}

static MotusStatus check_field(const MotusStream *s, const MotusFrameParams *params,
                               MotusError *error) {
    const MotusField *field = params->external_mvs;
    const uint32_t modes = modes_of(params);
    if (field->mb_width != s->mb_width || field->mb_height != s->mb_height ||
        field->n_mb != s->mb_width * s->mb_height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "the field has %dx%d macroblocks, the picture %dx%d", field->mb_width,
                          field->mb_height, s->mb_width, s->mb_height);
    if (modes & ~MOTUS_MODES_ALL || !(modes >> MOTUS_MODE_16x16 & 1))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "the field's modes 0x%x are unknown or lack 16x16", (unsigned)modes);
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        if (!(modes >> motus_blocks[b].mode & 1)) continue;
        if (!field->mv[b])
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "the field has no vectors of block %d", b);
        for (int mb = 0; mb < field->n_mb; mb++) {
            MotusStatus status = check_mv(s, field->mv[b][mb], mb, b, error);
            if (status) return status;
        }
    }
    return MOTUS_OK;
}

MotusStatus motus_external_mvs_check(const MotusStream *s, const MotusFrameParams *params,
                                     MotusError *error) {
    MotusStatus status = MOTUS_OK;
    if (!params->n_reference_mvs) return check_field(s, params, error);
    if (params->external_mvs)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "external_mvs and reference_mvs are given");
    if (!params->reference_mvs || params->n_reference_mvs > UINT32_MAX)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "reference_mvs has no entries, or too many");
    for (size_t i = 0; i < params->n_reference_mvs && !status; i++)
        status = check_entry(s, &params->reference_mvs[i], error);
    return status;
}

// ---- Copies -------------------------------------------------------------------------------------

size_t motus_external_mvs_bytes(const MotusStream *s, const MotusFrameParams *params) {
    const size_t n_mb = count_mbs(s), n = params->n_reference_mvs;
    if (!params->external_mvs && !n) return 0;
    return MOTUS_BLOCKS * sizeof(MotusMv) * n_mb +
           (n ? (n_mb + 1) * sizeof(uint32_t) + n * sizeof(MotusCodedMv) : 0);
}

MotusExternalMvs motus_external_mvs_copy(const MotusStream *s, const MotusFrameParams *params,
                                         void *memory) {
    const size_t n_mb = count_mbs(s), n = params->n_reference_mvs;
    MotusMv *mv = memory;
    MotusExternalMvs external = {
        .mv = mv, .modes = modes_of(params), .final = params->external_final != 0};
    if (n) { // entries are sorted by MB, in their order within each
        const MotusCodedMv *from = params->reference_mvs;
        uint32_t *first = (uint32_t *)(void *)(mv + MOTUS_BLOCKS * n_mb);
        MotusCodedMv *entry = (MotusCodedMv *)(void *)(first + n_mb + 1);
        memset(first, 0, (n_mb + 1) * sizeof *first);
        for (size_t i = 0; i < n; i++) first[mb_of(s, &from[i])]++;
        for (size_t i = 0, sum = 0; i <= n_mb; i++) first[i] = (uint32_t)(sum += first[i]);
        for (size_t i = n; i--;) entry[--first[mb_of(s, &from[i])]] = from[i];
        external.entry = entry, external.first = first;
    }
    for (int b = 0; b < MOTUS_BLOCKS && params->external_mvs; b++)
        if (external.modes >> motus_blocks[b].mode & 1)
            memcpy(mv + (size_t)b * n_mb, params->external_mvs->mv[b], n_mb * sizeof *mv);
    return external;
}

// ---- MVs of a reference -------------------------------------------------------------------------

static MotusMv fit(const MotusStream *s, MotusMv mv, int unit) {
    const int max_x = 4 * 2047, max_y = s->limits.max_mv_y - 4, mask = ~(unit - 1);
    return (MotusMv){(int16_t)motus_clip(-max_x, max_x, (mv.x + unit / 2) & mask),
                     (int16_t)motus_clip(-max_y, max_y, (mv.y + unit / 2) & mask)};
}

// Returns an entry's MV for a reference at `distance`.
static MotusMv mv_at(const MotusStream *s, const MotusCodedMv *entry, int distance, int final) {
    const int unit = s->limits.unit, from = entry->distance;
    if (from == distance) return fit(s, entry->mv, unit);
    // motus_mv_over() takes ratios of a positive denominator.
    return fit(s, motus_mv_over(entry->mv, from < 0 ? -distance : distance, motus_abs(from)),
               final ? unit : 4);
}

// Finds the MVs of an MB's 4x4 blocks, in raster order, for a reference. Blocks without entries
// keep the MB's before.
static void find_cells(const MotusExternalMvs *external, const MotusStream *s, int distance, int mb,
                       MotusMv cell[16]) {
    uint32_t rank[16];
    memset(rank, 0xFF, sizeof rank);
    for (uint32_t i = external->first[mb]; i < external->first[mb + 1]; i++) {
        const MotusCodedMv *e = &external->entry[i];
        const int x = e->x % 16 / 4, y = e->y % 16 / 4;
        // Rank of the entry; less is better. Its own reference comes first, then those on the same
        // side, the nearest ones; then the smallest block.
        const uint32_t far = (uint32_t)motus_abs(e->distance - distance),
                       opposite = (e->distance < 0) != (distance < 0),
                       own = (opposite << 17 | far) << 9 | (uint32_t)(e->width * e->height);
        const MotusMv mv = mv_at(s, e, distance, external->final);
        for (int row = y; row < y + e->height / 4; row++)
            for (int c = 4 * row + x; c < 4 * row + x + e->width / 4; c++)
                if (own <= rank[c]) rank[c] = own, cell[c] = mv;
    }
}

void motus_external_mvs_choose(const MotusExternalMvs *external, const MotusStream *s,
                               int distance) {
    const size_t n_mb = count_mbs(s);
    MotusMv cell[16] = {{0, 0}};
    if (!external->entry) return;
    for (size_t mb = 0; mb < n_mb; mb++) {
        find_cells(external, s, distance, (int)mb, cell);
        for (int b = 0; b < MOTUS_BLOCKS; b++)
            external->mv[(size_t)b * n_mb + mb] = cell[motus_blocks[b].y + motus_blocks[b].x / 4];
        for (uint32_t i = external->first[mb]; i < external->first[mb + 1]; i++) {
            const MotusCodedMv *e = &external->entry[i];
            if (e->distance == distance)
                external->mv[(size_t)block_of(e) * n_mb + mb] = fit(s, e->mv, s->limits.unit);
        }
    }
}

void motus_external_mvs_measure(const MotusExternalMvs *external, uint32_t modes,
                                const MotusPlane *src, const MotusRefLuma *ref,
                                const MotusMv *predictor, uint32_t lambda_q8, int threads,
                                MotusField *field) {
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int mb = 0; mb < field->n_mb; mb++) {
        const int x = 16 * (mb % field->mb_width), y = 16 * (mb / field->mb_width);
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            if (!(modes >> motus_blocks[b].mode & 1)) continue;
            const MotusMv mv = external->mv[(size_t)b * (size_t)field->n_mb + (size_t)mb];
            const uint32_t sad = motus_measure_block(&motus_blocks[b], src, ref, x, y, mv).sad;
            field->mv[b][mb] = mv;
            field->sad[b][mb] = (uint16_t)sad;
            field->cost[b][mb] = sad + motus_mv_cost(lambda_q8, mv, predictor[mb]);
        }
    }
}
