// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/picture_plan.h"

#include <string.h>

#include "common/alloc.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/rate/log2_core.h"

MotusStatus motus_picture_plan_alloc(MotusPicturePlan **planned, const MotusStream *stream,
                                     const MotusFrameParams *params, MotusExternalMvs *given) {
    const MotusStream *s = stream;
    const int8_t *extra = params->qp_offset;
    const size_t n = (size_t)s->mb_width * (size_t)s->mb_height, ahead = (size_t)s->look.depth;
    const int looks = s->config.rate != MOTUS_RATE_QP, maps = looks || extra;
    const size_t head = (sizeof(MotusPicturePlan) + 15) & ~(size_t)15,
                 field =
                     params->external_mvs ? (motus_external_mvs_bytes(s) + 15) & ~(size_t)15 : 0;
    uint8_t *at = motus_alloc(1, head + field + (looks ? ahead * 9 + 2 * n : 0) + (maps ? n : 0) +
                                     (extra ? n : 0));
    MotusPicturePlan *p = *planned = (MotusPicturePlan *)(void *)at;
    if (!p) return MOTUS_ERR_MEMORY;
    at += head;
    if (field) *given = motus_external_mvs_keep(s, params, at), at += field;
    if (looks) p->cost = (uint64_t *)(void *)at, at += 8 * ahead;
    if (looks) p->offset = (int16_t *)(void *)at, at += 2 * n;
    if (looks) p->idr = at, at += ahead;
    if (maps) p->map = (int8_t *)at, at += n;
    if (extra) p->extra = memcpy(at, extra, n);
    p->known = !looks;
    p->held = INT64_MAX;
    return MOTUS_OK;
}

MotusStatus motus_picture_plan_get(MotusPicturePlan *planned, MotusLookahead *look,
                                   MotusError *error) {
    MotusPicturePlan *p = planned;
    const MotusStatus status = motus_lookahead_get(look, &p->plan, p->offset, error);
    if (status) return status;
    p->n_ahead = motus_lookahead_costs(look, p->cost, p->idr, MOTUS_MAX_LOOKAHEAD);
    p->ended = motus_lookahead_ended(look);
    return MOTUS_OK;
}

// Offsets that are all the same, and none from the caller, need no map.
static void map_qps(MotusPicturePlan *p, const MotusStream *s, MotusPictureParams *place) {
    const MotusEncoderConfig *c = &s->config;
    const int fixed = c->rate == MOTUS_RATE_QP, n = s->mb_width * s->mb_height;
    place->qp_offset = NULL;
    p->mean_q8 = place->qp * MOTUS_QP_UNIT;
    if (!p->map) return;
    place->qp =
        motus_rate_map(p->map, fixed ? place->qp * MOTUS_QP_UNIT : p->qp_q8, p->offset, p->extra, n,
                       fixed ? 0 : c->qp_min, fixed ? 51 : c->qp_max, &p->mean_q8);
    int8_t any = 0;
    for (int i = 0; i < n; i++) any |= p->map[i];
    if (any) place->qp_offset = p->map;
}

void motus_picture_plan_begin(MotusPicturePlan *p, MotusRate *rate, const MotusStream *s,
                              MotusPictureParams *place) {
    if (s->config.rate != MOTUS_RATE_QP) {
        const MotusFutureCosts ahead = {p->cost, p->idr, p->n_ahead, p->ended};
        if (p->change.wanted)
            motus_rate_change(rate, p->change.bitrate, p->change.vbv_rate, p->change.vbv_size,
                              rate->settings.fps);
        const int64_t before = rate->coded_again;
        p->qp_q8 = motus_rate_qp(rate, &p->plan, &ahead, p->duration);
        p->again = (int)(rate->coded_again - before);
        place->hrd = (MotusHrdTiming){.initial = motus_vbv_removal_delay(&rate->vbv),
                                      .whole = motus_vbv_size_delay(&rate->vbv),
                                      .since_idr = 2 * (uint32_t)rate->since_idr};
    }
    map_qps(p, s, place);
}

int motus_picture_plan_coded(MotusPicturePlan *p, MotusRate *rate, const MotusStream *s,
                             MotusPictureParams *place, size_t bytes) {
    if (s->config.rate == MOTUS_RATE_QP || !motus_rate_wants_sizes(&rate->settings)) return 0;
    if (motus_rate_coded(rate, 8 * (int64_t)bytes, &p->qp_q8, &p->filler_bytes)) {
        p->again++;
        map_qps(p, s, place);
        return 1;
    }
    p->held = rate->held;
    return 0;
}

char *motus_picture_plan_log(const MotusPicturePlan *p, const MotusStream *s, size_t bytes) {
    MotusPassPicture picture = {.idr = p->plan.idr,
                                .qp_q8 = p->qp_q8,
                                .bits = 8 * (int64_t)bytes,
                                .duration = p->duration,
                                .cost = p->plan.cost,
                                .weighted = p->plan.weighted};
    MotusPassLog log = {.picture = &picture, .n = 1};
    memcpy(log.fingerprint, s->fingerprint, sizeof log.fingerprint);
    const size_t most = 512;
    char *text = motus_alloc(most, 1);
    size_t size = 0;
    if (!text) return NULL;
    for (int64_t line = p->plan.number ? 0 : -2; line < 1; line++)
        size += (size_t)motus_pass_log_line(&log, line, text + size, most - size);
    return text;
}
