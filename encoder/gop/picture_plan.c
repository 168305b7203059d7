// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/picture_plan.h"

#include <string.h>

#include "common/alloc.h"
#include "common/int_core.h"
#include "common/log2_core.h"
#include "encoder/lookahead/b_order.h"
#include "encoder/picture/external_mvs.h"

static size_t aligned(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

// One block holds the plan and its arrays.
MotusStatus motus_picture_plan_alloc(MotusPicturePlan **plan, const MotusStream *s,
                                     const MotusFrameParams *params, MotusExternalMvs *external) {
    const int8_t *extra = params->qp_offset;
    const size_t n_mb = (size_t)s->mb_width * (size_t)s->mb_height,
                 depth = (size_t)motus_lookahead_delay(&s->lookahead),
                 head = aligned(sizeof(MotusPicturePlan)),
                 mvs = aligned(motus_external_mvs_bytes(s, params));
    const int offsets = extra || s->refresh_period, looks = s->config.rate != MOTUS_RATE_QP,
              maps = looks || offsets, keeps_aq = looks && s->lookahead.keep_aq;
    uint8_t *at =
        motus_alloc(1, head + mvs + (looks ? depth * 9 + 2 * n_mb : 0) + (keeps_aq ? 2 * n_mb : 0) +
                           (maps ? n_mb : 0) + (offsets ? n_mb : 0));
    MotusPicturePlan *p = *plan = (MotusPicturePlan *)(void *)at;
    if (!p) return MOTUS_ERR_MEMORY;
    at += head;
    if (mvs) *external = motus_external_mvs_copy(s, params, at), at += mvs;
    p->most_future = (int)depth;
    if (looks) p->future_cost = (uint64_t *)(void *)at, at += 8 * depth;
    if (looks) p->offset = (int16_t *)(void *)at, at += 2 * n_mb;
    if (keeps_aq) p->b_offset = (int16_t *)(void *)at, at += 2 * n_mb;
    if (looks) p->future_flags = at, at += depth;
    if (maps) p->map = (int8_t *)at, at += n_mb;
    if (offsets) p->extra = (int8_t *)at;
    if (extra) memcpy(p->extra, extra, n_mb);
    p->held = INT64_MAX;
    return MOTUS_OK;
}

MotusStatus motus_picture_plan_get(MotusPicturePlan *p, MotusLookahead *look, MotusError *error) {
    const MotusStatus status = motus_lookahead_get(look, &p->lookahead, p->offset, error);
    if (status) return status;
    if (!p->offset) return MOTUS_OK; // fixed QP
    p->b_lookahead = p->lookahead;
    if (p->b_offset) motus_lookahead_aq(look, &p->b_lookahead, p->b_offset);
    p->n_future =
        motus_lookahead_costs(look, p->future_cost, p->future_flags, p->most_future, &p->ended);
    return MOTUS_OK;
}

// Maps QPs to MBs. If all offsets are 0, the picture needs no map.
static void map_qps(MotusPicturePlan *p, const MotusRate *rate, const MotusStream *s,
                    MotusPictureParams *params) {
    const MotusEncoderConfig *c = &s->config;
    const int fixed = c->rate == MOTUS_RATE_QP, n_mb = s->mb_width * s->mb_height,
              spread = !fixed && motus_rate_holds_one(rate) ? s->mb_width : 0;
    params->qp_offset = NULL;
    p->mean_q8 = params->qp * MOTUS_QP_UNIT;
    if (!p->map) return;
    params->qp =
        motus_rate_map(p->map, fixed ? params->qp * MOTUS_QP_UNIT : p->qp_q8, p->offset, p->extra,
                       n_mb, spread, fixed ? 0 : c->qp_min, fixed ? 51 : c->qp_max, &p->mean_q8);
    int8_t any = 0;
    for (int i = 0; i < n_mb; i++) any |= p->map[i];
    if (any) params->qp_offset = p->map;
}

// ---- Pictures that are coded next ---------------------------------------------------------------

typedef struct FutureList {
    uint64_t cost[MOTUS_MAX_LOOKAHEAD + MOTUS_MAX_BFRAMES];
    uint8_t idr[MOTUS_MAX_LOOKAHEAD + MOTUS_MAX_BFRAMES];
    uint8_t b[MOTUS_MAX_LOOKAHEAD + MOTUS_MAX_BFRAMES];
    int n;
} FutureList;

static void add_future(FutureList *list, uint64_t cost, int idr, int b) {
    list->cost[list->n] = cost;
    list->idr[list->n] = (uint8_t)idr;
    list->b[list->n++] = (uint8_t)b;
}

// Lists the pictures that are coded after this one, in coding order. The lookahead tells those that
// are shown after it: a B picture leaves out the rest of its mini-GOP there, of which the P picture
// is coded; the mini-GOP's other B pictures are known by their own plans.
static MotusFutureCosts list_future(const MotusPicturePlan *p, const MotusStream *s,
                                    FutureList *list) {
    const int bframes = s->config.bframes, levels = s->config.b_pyramid ? MOTUS_B_LEVELS : 0;
    if (!bframes)
        return (MotusFutureCosts){p->future_cost, p->future_flags, p->n_future, p->ended, NULL};
    list->n = 0;
    for (const MotusPicturePlan *b = p->next_b; b; b = b->next_b)
        add_future(list, b->lookahead.cost, 0, b->is_reference ? MOTUS_B_REFERENCE : MOTUS_B);
    for (int i = p->mini_gop_left, n; i < p->n_future; i += motus_max(n, 1)) {
        // Pictures of the mini-GOP that begins here. The last one that is known ends it, as if the
        // stream ended there.
        for (n = 0;
             i + n < p->n_future && n <= bframes && !(p->future_flags[i + n] & MOTUS_FUTURE_IDR);)
            if (p->future_flags[i + n++] & MOTUS_FUTURE_P) break;
        add_future(list, p->future_cost[i + motus_max(n - 1, 0)], !n, MOTUS_NOT_B);
        MotusBPlace place[MOTUS_MAX_BFRAMES];
        if (n) motus_b_order(place, n, levels);
        for (int k = 0; k + 1 < n; k++)
            add_future(list, p->future_cost[i + place[k].at], 0,
                       place[k].is_reference ? MOTUS_B_REFERENCE : MOTUS_B);
    }
    return (MotusFutureCosts){list->cost, list->idr, list->n, p->ended, list->b};
}

// B pictures have no offsets of mb-tree, unless they are references and it knows that: with
// b_adapt.
static void become_b(MotusPicturePlan *p, const MotusLookaheadSettings *s, int is_reference) {
    if (is_reference && s->b_span) {
        // The offsets are those of mb-tree.
    } else if (p->b_offset) {
        p->lookahead = p->b_lookahead;
        p->offset = p->b_offset;
    } else if (s->mb_tree_q8) {
        p->lookahead.mean = 0;
        p->lookahead.weighted = p->lookahead.cost;
        p->offset = NULL;
    }
    p->lookahead.b = is_reference ? MOTUS_B_REFERENCE : MOTUS_B;
}

// ---- QPs ----------------------------------------------------------------------------------------

void motus_picture_plan_begin(MotusPicturePlan *p, MotusRate *rate, const MotusStream *s,
                              MotusPictureParams *params) {
    const MotusEncoderConfig *c = &s->config;
    for (int i = 0; i < s->mb_width * s->mb_height && params->refresh.end; i++)
        if (motus_is_refreshed(&params->refresh, i / s->mb_width))
            p->extra[i] = (int8_t)motus_max(INT8_MIN, p->extra[i] - MOTUS_REFRESH_FINER);
    params->moves = 8 * p->lookahead.cost > 3 * p->lookahead.intra;
    if (c->rate == MOTUS_RATE_QP) {
        // B pictures beside P pictures alone have the ratio's QP. Half of its offset is between a
        // reference and other pictures of its level, and between two levels.
        const int halves = params->b_level + !params->is_reference,
                  b_offset = (halves * motus_ratio_q8(c->pb_ratio) / 2 + MOTUS_QP_UNIT / 2) >> 8;
        params->qp = params->idr                     ? motus_clip(0, 51, c->qp + c->qp_i_offset)
                     : params->type == MOTUS_SLICE_P ? c->qp
                                                     : motus_clip(0, 51, c->qp + b_offset);
    } else {
        FutureList list;
        if (params->type == MOTUS_SLICE_B) become_b(p, &s->lookahead, params->is_reference);
        const MotusFutureCosts future = list_future(p, s, &list);
        if (p->change.wanted)
            motus_rate_change(rate, p->change.bitrate, p->change.vbv_rate, p->change.vbv_size,
                              rate->settings.fps);
        const int64_t before = rate->coded_again;
        p->lookahead.refreshed = params->refresh.end > 0;
        p->qp_q8 = motus_rate_qp(rate, &p->lookahead, &future, p->duration);
        p->again = (int)(rate->coded_again - before);
        const MotusVbv *vbv = &rate->vbv;
        params->hrd = (MotusHrdTiming){.initial = (uint32_t)motus_vbv_delay(vbv, vbv->fullness),
                                       .whole = (uint32_t)motus_vbv_delay(vbv, vbv->size),
                                       .since_idr = 2 * (uint32_t)rate->since_idr};
    }
    map_qps(p, rate, s, params);
}

int motus_picture_plan_coded(MotusPicturePlan *p, MotusRate *rate, const MotusStream *s,
                             MotusPictureParams *params, size_t bytes) {
    if (s->config.rate == MOTUS_RATE_QP || !motus_rate_wants_sizes(&rate->settings)) return 0;
    if (motus_rate_coded(rate, 8 * (int64_t)bytes, &p->qp_q8, &p->filler_bytes)) {
        p->again++;
        map_qps(p, rate, s, params);
        return 1;
    }
    p->held = rate->held;
    return 0;
}

char *motus_picture_plan_log(const MotusPicturePlan *p, const MotusStream *s, size_t bytes) {
    MotusPassPicture picture = {.idr = p->lookahead.idr,
                                .qp_q8 = p->qp_q8,
                                .bits = 8 * (int64_t)bytes,
                                .duration = p->duration,
                                .cost = p->lookahead.cost,
                                .weighted = p->lookahead.weighted,
                                .b = p->lookahead.b};
    return motus_pass_log_text(&picture, p->lookahead.number ? NULL : s->fingerprint);
}
