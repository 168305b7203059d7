// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/judge.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/threads.h"
#include "me/me_cpu.h"
#include "me/pixel/cost_core.h"
#include "yuv/pad.h"

struct MotusJudge {
    MotusJudgeConfig config;
    MotusMeCpu *me;
    MotusField *field;
    MotusRefLuma ref;
    MotusPlane cur; // padded to whole MBs
    MotusMv *centre, *predictor;
    const MotusPixelOps *pixel;
    uint32_t (*least)[MOTUS_BLOCKS]; // per MB; allocated when first asked for
    const MotusParsedMb *mb;         // of x264's stream
    uint32_t lambda_q8;
    int mb_width, n_mb, threads;
};

MotusStatus motus_judge_open(MotusJudge **judge, const MotusJudgeConfig *config) {
    MotusJudge *j = *judge = motus_alloc(1, sizeof *j);
    if (!j) return MOTUS_ERR_MEMORY;
    j->config = *config;
    j->mb_width = config->width / 16;
    j->n_mb = j->mb_width * (config->height / 16);
    j->pixel = motus_pixel_ops();
    j->threads = motus_threads_open(config->threads);
    MotusMeConfig me = motus_me_config_default(config->width, config->height);
    me.range = config->range;
    me.threads = config->threads;
    me.subpel = config->subpel;
    me.modes = config->modes;
    const size_t samples = (size_t)config->width * (size_t)config->height;
    j->cur = (MotusPlane){motus_alloc(samples, 1), config->width, config->width, config->height};
    j->centre = motus_alloc((size_t)j->n_mb, sizeof *j->centre);
    j->predictor = motus_alloc((size_t)j->n_mb, sizeof *j->predictor);
    MotusStatus status = j->cur.data && j->centre && j->predictor ? MOTUS_OK : MOTUS_ERR_MEMORY;
    if (!status) status = motus_ref_luma_alloc(&j->ref, config->width, config->height);
    if (!status) status = motus_field_alloc(&j->field, config->width, config->height);
    if (!status) status = motus_me_cpu_open(&j->me, &me);
    if (status) motus_judge_close(judge);
    return status;
}

void motus_judge_close(MotusJudge **judge) {
    if (!judge || !*judge) return;
    MotusJudge *j = *judge;
    motus_me_cpu_close(&j->me);
    motus_field_free(&j->field);
    motus_ref_luma_free(&j->ref);
    motus_free(j->cur.data);
    motus_free(j->centre);
    motus_free(j->predictor);
    motus_free(j->least);
    motus_free(j);
    *judge = NULL;
}

// Rounds to whole samples, halves away from zero, within the search's limit.
static int16_t to_whole(int v) {
    const int rounded = (v < 0 ? -((-v + 2) >> 2) : (v + 2) >> 2) * 4;
    return (int16_t)motus_clip(-MOTUS_MAX_CENTRE, MOTUS_MAX_CENTRE, rounded);
}

MotusStatus motus_judge_picture(MotusJudge *j, const MotusPlane *source, const MotusPlane *ref,
                                const MotusParsedMb *mb, uint32_t lambda_q8) {
    if (source->width > j->cur.width || source->height > j->cur.height ||
        ref->width != j->cur.width || ref->height != j->cur.height)
        return MOTUS_ERR_ARGUMENT;
    motus_plane_copy_padded(&j->cur, source);
    motus_ref_luma_build(&j->ref, ref, 1, j->threads);
    j->mb = mb;
    j->lambda_q8 = lambda_q8;
    for (int n = 0; n < j->n_mb; n++) {
        j->predictor[n] = mb[n].predictor;
        j->centre[n] = (MotusMv){to_whole(mb[n].predictor.x), to_whole(mb[n].predictor.y)};
    }
    return MOTUS_OK;
}

MotusStatus motus_judge_search(MotusJudge *j) {
    const MotusMeHints hints = {
        .centre = j->centre, .predictor = j->predictor, .lambda_q8 = j->lambda_q8};
    motus_me_cpu_search(j->me, &j->cur, &j->ref, &hints, j->field);
    return MOTUS_OK;
}

// Writes the least SATD + MV cost of each of the 41 blocks over all MVs of the window.
static void bound_mb(const MotusMbJob *job, const MotusRefineOps *ops,
                     uint32_t least[MOTUS_BLOCKS]) {
    const MotusRefLuma *ref = job->ref;
    const int reach = 4 * job->range + 3;
    MotusRefineCur cur;
    MotusRefineBest best = {{0}, {0}};
    ops->prepare(&cur, job->cur, job->cur_stride);
    for (int b = 0; b < MOTUS_BLOCKS; b++) best.cost[b] = INT32_MAX;
    for (int dy = -reach; dy <= reach; dy++)
        for (int dx = -reach; dx <= reach; dx++) {
            const MotusMv mv = {(int16_t)(job->centre.x + dx), (int16_t)(job->centre.y + dy)};
            MotusTaps taps;
            motus_ref_luma_taps(ref, job->x, job->y, mv, taps.tap);
            uint32_t satd[MOTUS_BLOCKS];
            ops->satd_mb(&cur, &taps, ref->stride, 15, satd);
            ops->offer(&best, satd, motus_mv_cost(job->lambda_q8, mv, job->predictor), 0);
        }
    for (int b = 0; b < MOTUS_BLOCKS; b++) least[b] = best.cost[b];
}

MotusStatus motus_judge_bound(MotusJudge *j) {
    const MotusRefineOps *ops = motus_refine_ops();
    if (!j->least) j->least = motus_alloc((size_t)j->n_mb, sizeof *j->least);
    if (!j->least) return MOTUS_ERR_MEMORY;
    const int threads = motus_threads_ready(j->threads);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
    for (int n = 0; n < j->n_mb; n++) {
        const int x = n % j->mb_width * 16, y = n / j->mb_width * 16;
        const MotusMbJob job = {.cur = j->cur.data + y * j->cur.stride + x,
                                .cur_stride = j->cur.stride,
                                .ref = &j->ref,
                                .x = x,
                                .y = y,
                                .centre = j->centre[n],
                                .predictor = j->predictor[n],
                                .lambda_q8 = j->lambda_q8,
                                .range = j->config.range};
        bound_mb(&job, ops, j->least[n]);
    }
    return MOTUS_OK;
}

const uint32_t *motus_judge_least(const MotusJudge *j, int n) { return j->least[n]; }

uint32_t motus_judge_cost(const MotusJudge *j, int n, int block) {
    const int searched = j->config.modes >> motus_blocks[block].mode & 1;
    return searched ? j->field->cost[block][n] : UINT32_MAX;
}

// ---- Measures -----------------------------------------------------------------------------------

static int is_intra(const MotusParsedMb *mb) { return mb->type >= MOTUS_MB_I_4x4; }

// Measures the block p of MB n with this MV.
static void measure(const MotusJudge *j, int n, const MotusPartition *p, MotusMv mv, uint32_t *sad,
                    uint32_t *satd) {
    uint8_t samples[16 * 16];
    ptrdiff_t stride = 16;
    const int x = n % j->mb_width * 16 + 4 * p->x, y = n / j->mb_width * 16 + 4 * p->y,
              w = 4 * p->width, h = 4 * p->height;
    const uint8_t *cur = j->cur.data + y * j->cur.stride + x;
    const uint8_t *ref = motus_ref_luma_block(&j->ref, x, y, mv, w, h, samples, &stride);
    *sad = j->pixel->sad(cur, j->cur.stride, ref, stride, w, h);
    *satd = j->pixel->satd(cur, j->cur.stride, ref, stride, w, h);
}

// Measures the pair's block with the MV of one side.
static void measure_side(const MotusJudge *j, int n, MotusPair *pair, int side) {
    measure(j, n, &pair->partition, pair->mv[side], &pair->sad[side], &pair->satd[side]);
    pair->bits[side] = motus_mv_bits(pair->mv[side], j->predictor[n]);
    const uint32_t distortion =
        j->config.subpel == MOTUS_SUBPEL_FULL ? pair->sad[side] : pair->satd[side];
    pair->j[side] = distortion + motus_bits_cost(j->lambda_q8, pair->bits[side]);
}

static int within_window(const MotusJudge *j, int n, MotusMv mv) {
    const int reach = 4 * j->config.range;
    return abs(mv.x - j->centre[n].x) <= reach && abs(mv.y - j->centre[n].y) <= reach;
}

// True if x264 has one MV in the whole block.
static int has_one_mv(const MotusParsedMb *mb, const MotusPartition *p) {
    const MotusMv mv = mb->mv[4 * p->y + p->x];
    for (int y = p->y; y < p->y + p->height; y++)
        for (int x = p->x; x < p->x + p->width; x++)
            if (!motus_mv_equal(mb->mv[4 * y + x], mv)) return 0;
    return 1;
}

// Sums SAD and SATD over the 4x4 blocks of a block in which x264 has several MVs.
static void measure_several(const MotusJudge *j, int n, MotusPair *pair) {
    const MotusPartition *p = &pair->partition;
    for (int y = p->y; y < p->y + p->height; y++)
        for (int x = p->x; x < p->x + p->width; x++) {
            const MotusPartition cell = {.x = (uint8_t)x, .y = (uint8_t)y, .width = 1, .height = 1};
            uint32_t sad, satd;
            measure(j, n, &cell, j->mb[n].mv[4 * y + x], &sad, &satd);
            pair->sad[MOTUS_X264] += sad;
            pair->satd[MOTUS_X264] += satd;
        }
}

static MotusPair compare_block(const MotusJudge *j, int n, const MotusPartition *p) {
    const MotusParsedMb *mb = j->mb + n;
    MotusPair pair = {.partition = *p, .has_both = !is_intra(mb) && has_one_mv(mb, p)};
    pair.mv[MOTUS_OURS] = j->field->mv[p->block][n];
    measure_side(j, n, &pair, MOTUS_OURS);
    if (pair.has_both) {
        pair.mv[MOTUS_X264] = mb->mv[4 * p->y + p->x];
        pair.inside = within_window(j, n, pair.mv[MOTUS_X264]);
        measure_side(j, n, &pair, MOTUS_X264);
    } else if (!is_intra(mb)) {
        measure_several(j, n, &pair);
    }
    return pair;
}

void motus_judge_copy_x264(MotusJudge *j) {
    for (int n = 0; n < j->n_mb; n++)
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const MotusBlock *block = &motus_blocks[b];
            const int x = block->x / 4, y = block->y / 4;
            MotusPair pair = {.partition = motus_partition_at(block->mode, 0, x, y)};
            pair.mv[MOTUS_OURS] = j->mb[n].mv[4 * y + x];
            measure_side(j, n, &pair, MOTUS_OURS);
            j->field->mv[b][n] = pair.mv[MOTUS_OURS];
            j->field->sad[b][n] = (uint16_t)pair.sad[MOTUS_OURS];
            j->field->cost[b][n] = pair.j[MOTUS_OURS];
        }
}

// ---- The partition with the least J -------------------------------------------------------------

// Chooses the sub type of quarter q with the least J; returns that J.
static uint32_t best_sub(const MotusJudge *j, int n, int q, uint8_t *sub) {
    uint32_t best = UINT32_MAX;
    for (int s = 0; s < 4; s++) {
        if (!(j->config.modes >> (MOTUS_MODE_8x8 + s) & 1)) continue;
        uint32_t cost = motus_bits_cost(j->lambda_q8, motus_ue_bits((uint32_t)s));
        for (int i = 0; i < motus_sub_partitions(s); i++)
            cost += j->field->cost[motus_sub_partition(s, q, i).block][n];
        if (cost >= best) continue;
        best = cost;
        *sub = (uint8_t)s;
    }
    return best;
}

// Chooses the MB type with the least J. mb_type's code counts; the lower mb_type wins a tie.
static void choose_own(const MotusJudge *j, int n, MotusMbPairs *pairs) {
    static const uint8_t first[3] = {MOTUS_BLOCK_16x16, MOTUS_BLOCK_16x8, MOTUS_BLOCK_8x16};
    uint32_t best = UINT32_MAX;
    for (int type = 0; type < 3; type++) {
        if (!(j->config.modes >> type & 1)) continue;
        uint32_t cost = motus_bits_cost(j->lambda_q8, motus_ue_bits((uint32_t)type));
        for (int i = 0; i < (type ? 2 : 1); i++) cost += j->field->cost[first[type] + i][n];
        if (cost >= best) continue;
        best = cost;
        pairs->own_type = (uint8_t)(MOTUS_MB_P_16x16 + type);
    }
    if (!(j->config.modes >> MOTUS_MODE_8x8 & 15)) return;
    uint8_t sub[4] = {0};
    uint32_t cost = motus_bits_cost(j->lambda_q8, motus_ue_bits(3));
    for (int q = 0; q < 4; q++) cost += best_sub(j, n, q, &sub[q]);
    if (cost >= best) return;
    pairs->own_type = MOTUS_MB_P_8x8;
    for (int q = 0; q < 4; q++) pairs->own_sub[q] = sub[q];
}

void motus_judge_mb(const MotusJudge *j, int n, MotusMbPairs *pairs) {
    MotusPartition partitions[16];
    *pairs = (MotusMbPairs){.predictor = j->predictor[n]};
    pairs->n_x264 = motus_parsed_partitions(j->mb + n, partitions);
    for (int i = 0; i < pairs->n_x264; i++) pairs->x264[i] = compare_block(j, n, partitions + i);
    choose_own(j, n, pairs);
    MotusParsedMb own = {.type = pairs->own_type};
    for (int q = 0; q < 4; q++) own.sub_type[q] = pairs->own_sub[q];
    pairs->n_own = motus_parsed_partitions(&own, partitions);
    for (int i = 0; i < pairs->n_own; i++) pairs->own[i] = compare_block(j, n, partitions + i);
}
