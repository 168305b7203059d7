// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/mini_gop.h"

#include <assert.h>

#include "common/int_core.h"

void motus_mini_gop_open(MotusMiniGop *m, const MotusStream *s) {
    *m = (MotusMiniGop){.bframes = s->config.bframes,
                        .adapts = s->lookahead.b_span > 0,
                        .delay = s->sequence.reorder,
                        .levels = s->config.b_pyramid ? MOTUS_B_LEVELS : 0,
                        .references = s->config.references,
                        .b_refs = s->b_refs,
                        .direct = s->config.direct,
                        .spatial_references = s->spatial_references,
                        .mb_height = s->mb_height,
                        .refresh_period = s->refresh_period,
                        // The second level begins with four B pictures.
                        .dpb = {.size = s->sequence.max_refs,
                                .drops_first_shown = s->config.bframes > 3 && s->config.b_pyramid}};
}

void motus_mini_gop_put(MotusMiniGop *m, MotusPendingPicture *p) {
    p->held = 1;
    p->next = NULL;
    if (m->last)
        m->last->next = p;
    else
        m->first = p;
    m->last = p;
    if (!m->untyped && p->state == MOTUS_PENDING_TYPE) m->untyped = p;
    if (m->ended) m->has_taken = m->ended = 0;
}

MotusPendingPicture *motus_mini_gop_set_type(MotusMiniGop *m, int idr) {
    MotusPendingPicture *p = m->untyped;
    assert(p);
    p->params.idr = idr;
    p->state = MOTUS_PENDING_PLAN;
    m->untyped = p->next;
    return p;
}

// ---- Order --------------------------------------------------------------------------------------

static MotusPendingPicture *remove_behind(MotusMiniGop *m, MotusPendingPicture *before) {
    MotusPendingPicture *p = before ? before->next : m->first;
    assert(p);
    if (before)
        before->next = p->next;
    else
        m->first = p->next;
    if (m->last == p) m->last = before;
    p->next = NULL;
    p->held = 0;
    return p;
}

// Finds the mini-GOP that begins with the first held picture. Returns its pictures; 0: its end is
// not known yet. *before: the one before its last, or NULL.
static int find_end(const MotusMiniGop *m, MotusPendingPicture **before) {
    const MotusPendingPicture *end = m->untyped, *last = NULL;
    MotusPendingPicture *p = m->first;
    int n = 0;
    *before = NULL;
    if (m->adapts) { // the lookahead says where it ends
        for (n = 1; p && p->state == MOTUS_PENDING_READY; p = p->next, n++) {
            if (p->ends_mini_gop) return n;
            *before = p;
        }
        return 0;
    }
    for (; p != end && !p->params.idr && n <= m->bframes; p = p->next, n++) {
        *before = (MotusPendingPicture *)last;
        last = p;
    }
    if (n > m->bframes || (p != end && p->params.idr)) return n;
    return !p && m->ended ? n : 0;
}

// ---- Decoding times -----------------------------------------------------------------------------

// Adds the times of a mini-GOP's n pictures, which begins with p; in a stream that begins, or in a
// segment, times before the first one's come first.
static void add_times(MotusMiniGop *m, const MotusPendingPicture *p, int n) {
    if (!m->has_taken) {
        m->n_pts = m->delay;
        for (int i = 0; i < m->delay; i++)
            m->pts[i] = p->pts - (m->delay - i) * (p->duration > 1 ? p->duration : 1);
        m->has_taken = 1;
    }
    for (; n; n--, p = p->next) m->pts[m->n_pts++] = p->pts;
}

// ---- Parameters of a picture that is taken ------------------------------------------------------

// Fills in the last of n pictures of a mini-GOP. References: the last P or IDR picture, then the
// others, those coded last first. A field of external MVs is of the first one. After a loss the
// first one is the newest that is not lost. One command of the list puts it there, so that the
// others end before the newest lost one.
static void number_p(MotusMiniGop *m, MotusPictureParams *params, int n) {
    const int most = motus_has_external_field(params) ? 1 : m->references;
    const MotusDpbPicture *newest = motus_dpb_newest(&m->dpb);
    const int32_t first = m->bframes || !newest ? m->shown_p : newest->shown;
    params->type = MOTUS_SLICE_P;
    params->shown = m->shown_p + n;
    params->is_reference = 1;
    params->ref_shown[0] = first;
    params->refs = 1;
    for (int i = 0; i < m->dpb.n && params->refs < most && !m->dpb.picture[i].is_lost; i++)
        if (m->dpb.picture[i].shown != first)
            params->ref_shown[params->refs++] = m->dpb.picture[i].shown;
    m->shown_p += n;
    motus_b_order(m->b, n, m->levels);
    m->n_b = n - 1;
    m->b_taken = 0;
}

// Fills in the references of a B picture: earlier ones and a later one, the nearest first, as lists
// begin by default. Chooses its direct mode by them.
static void list_b_refs(MotusMiniGop *m, MotusPictureParams *params) {
    MotusDpbPicture entry[MOTUS_MAX_REFERENCES];
    const int n = motus_default_list(&m->dpb, MOTUS_SLICE_B, params->shown, 0, entry);
    params->refs = 0;
    for (int i = 0; i < motus_min(n, m->b_refs) && entry[i].shown < params->shown; i++)
        params->ref_shown[params->refs++] = entry[i].shown;
    motus_default_list(&m->dpb, MOTUS_SLICE_B, params->shown, 1, entry);
    params->ref_shown[params->refs] = entry[0].shown;
    params->direct = m->direct;
    if (m->direct != MOTUS_DIRECT_TEMPORAL) return;
    params->direct = MOTUS_DIRECT_SPATIAL;
    if (m->spatial_references && params->is_reference) return;
    for (int k = 0; k < params->refs; k++)
        if (params->ref_shown[k] == entry[0].first) params->direct = MOTUS_DIRECT_TEMPORAL;
}

// Takes the next B picture of the last mini-GOP.
static MotusPendingPicture *take_b(MotusMiniGop *m) {
    const MotusBPlace *place = &m->b[m->b_taken];
    MotusPendingPicture *before = NULL;
    int held = place->at; // B pictures before it that are held
    for (int i = 0; i < m->b_taken; i++) held -= m->b[i].at < place->at;
    for (; held; held--) before = before ? before->next : m->first;
    MotusPendingPicture *p = remove_behind(m, before);
    p->params.type = MOTUS_SLICE_B;
    if (motus_has_external_field(&p->params))
        p->params.external = (MotusExternalMvs){.mv = NULL}; // a field is for P pictures
    p->params.is_reference = place->is_reference;
    p->params.b_level = place->level;
    p->params.shown = m->shown_p - m->n_b + place->at;
    list_b_refs(m, &p->params);
    m->b_taken++;
    return p;
}

static void complete(MotusMiniGop *m, MotusPendingPicture *p) {
    MotusPictureParams *params = &p->params;
    params->since_idr = m->since_idr++;
    params->frame_num = m->frame_num;
    for (int list = 0; list < (int)params->type; list++)
        params->list_command[list] =
            motus_list_command(&m->dpb, params->type, params->shown, params->frame_num, list,
                               params->ref_shown[list ? params->refs : 0]);
    params->refresh_at = -m->refresh_period;
    if (m->refresh_period && params->type == MOTUS_SLICE_P) {
        // Continues the intra refresh of its reference. The first cycle begins where an IDR picture
        // would follow the last one.
        const int at = motus_dpb_find(&m->dpb, params->ref_shown[0])->refresh + 1;
        params->refresh_at = at == m->refresh_period ? 0 : at;
        if (params->refresh_at >= 0)
            params->refresh = motus_refresh_at(m->mb_height, m->refresh_period, params->refresh_at);
    }
    if (params->is_reference) {
        params->drop_command = motus_dpb_drop_command(&m->dpb, m->frame_num);
        motus_dpb_add(&m->dpb, params->shown, m->frame_num++, params->ref_shown,
                      motus_references_listed(params));
        params->slot = m->dpb.picture[0].slot;
        m->dpb.picture[0].refresh = params->refresh_at;
    }
    // The k-th picture in coding order is decoded when picture k - delay in display order is shown.
    p->dts = m->pts[0];
    m->n_pts--;
    for (int i = 0; i < m->n_pts; i++) m->pts[i] = m->pts[i + 1];
}

// ---- Losses -------------------------------------------------------------------------------------

int motus_mini_gop_reference_lost(MotusMiniGop *m, int64_t number) {
    if (!m->dpb.n || number > m->idr_number + m->shown_p) return -1;
    if (number < m->idr_number) return 1;
    if (m->bframes) return 0;
    motus_dpb_lose(&m->dpb, (int32_t)(number - m->idr_number));
    return motus_dpb_newest(&m->dpb) != NULL;
}

// ---- Taking -------------------------------------------------------------------------------------

MotusPendingPicture *motus_mini_gop_take(MotusMiniGop *m) {
    MotusPendingPicture *p = m->first, *before = NULL;
    if (!p || p == m->untyped) return NULL;
    if (m->b_taken < m->n_b) {
        p = take_b(m);
    } else if (p->params.idr) {
        add_times(m, p, 1);
        remove_behind(m, NULL);
        m->since_idr = m->frame_num = 0;
        m->shown_p = 0;
        m->dpb.n = 0;
        m->idr_number = p->params.number;
        p->params.type = MOTUS_SLICE_I;
        p->params.shown = 0;
        p->params.is_reference = 1;
    } else {
        const int n = find_end(m, &before);
        if (!n) return NULL;
        add_times(m, p, n);
        p = remove_behind(m, before);
        number_p(m, &p->params, n);
        // Links the plans of its B pictures, which are held in display order, in coding order.
        MotusPicturePlan *plan[MOTUS_MAX_BFRAMES], *last = p->plan;
        const MotusPendingPicture *b = m->first;
        for (int i = 0; i < m->n_b; i++, b = b->next) plan[i] = b->plan;
        for (int i = 0; i < m->n_b; i++) {
            last = last->next_b = plan[m->b[i].at];
            last->is_reference = m->b[i].is_reference;
        }
    }
    p->plan->mini_gop_left = (int)(m->shown_p - p->params.shown);
    complete(m, p);
    return p;
}
