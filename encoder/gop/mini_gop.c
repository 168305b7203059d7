// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/mini_gop.h"

#include <assert.h>

#include "common/int_core.h"

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

void motus_mini_gop_end(MotusMiniGop *m) { m->ended = 1; }

// ---- Order --------------------------------------------------------------------------------------

static MotusPendingPicture *remove_behind(MotusMiniGop *m, MotusPendingPicture *before) {
    MotusPendingPicture *p = before ? before->next : m->first;
    if (before)
        before->next = p->next;
    else
        m->first = p->next;
    if (m->last == p) m->last = before;
    p->next = NULL;
    p->held = 0;
    return p;
}

// Same as find_end with b_adapt.
static int find_planned_end(const MotusMiniGop *m, MotusPendingPicture **before) {
    int n = 1;
    for (MotusPendingPicture *p = m->first; p && p->state == MOTUS_PENDING_READY;
         p = p->next, n++) {
        if (p->ends_mini_gop) return n;
        *before = p;
    }
    return 0;
}

// Finds the mini-GOP that begins with the first held picture. Returns its pictures; 0: its end is
// not known yet. *before: the one before its last, or NULL.
static int find_end(const MotusMiniGop *m, MotusPendingPicture **before) {
    const MotusPendingPicture *end = m->untyped, *last = NULL;
    MotusPendingPicture *p = m->first;
    int n = 0;
    *before = NULL;
    if (m->adapts) return find_planned_end(m, before);
    for (; p != end && !p->params.idr && n <= m->bframes; p = p->next, n++) {
        *before = (MotusPendingPicture *)last;
        last = p;
    }
    if (n > m->bframes || (p != end && p->params.idr)) return n;
    return !p && m->ended ? n : 0;
}

// ---- Parameters of a picture that is taken ------------------------------------------------------

static void number_idr(MotusMiniGop *m, MotusPendingPicture *p) {
    m->since_idr = m->frame_num = 0;
    m->shown[0] = m->shown[1] = 0;
    p->params.type = MOTUS_SLICE_I;
    p->params.shown = 0;
}

// The last of n pictures of a mini-GOP.
static void number_p(MotusMiniGop *m, MotusPendingPicture *p, int n) {
    m->shown[1] = m->shown[0];
    m->shown[0] += n;
    p->params.type = MOTUS_SLICE_P;
    p->params.shown = m->shown[0];
    p->params.ref_shown[0] = m->shown[1];
}

static void number_b(MotusMiniGop *m, MotusPendingPicture *p) {
    p->params.type = MOTUS_SLICE_B;
    p->params.external = (MotusExternalMvs){.mv = NULL}; // they are for P pictures
    p->params.shown = m->shown[0] - m->b_left;
    p->params.ref_shown[0] = m->shown[1];
    p->params.ref_shown[1] = m->shown[0];
    m->b_left--;
}

// A reference picture has the time of the one before it: all frames in between are shown first.
static int64_t dts_of(const MotusMiniGop *m, const MotusPendingPicture *p) {
    if (!m->bframes || !p->params.is_reference) return p->pts;
    if (m->has_taken) return m->reference_pts;
    return p->pts - (p->duration > 1 ? p->duration : 1);
}

static void complete(MotusMiniGop *m, MotusPendingPicture *p, int is_reference) {
    p->params.is_reference = is_reference;
    p->params.since_idr = m->since_idr++;
    p->params.frame_num = m->frame_num;
    m->frame_num += (uint32_t)is_reference;
    p->dts = dts_of(m, p);
    if (is_reference) m->reference_pts = p->pts;
    m->has_taken = 1;
}

MotusPendingPicture *motus_mini_gop_take(MotusMiniGop *m) {
    MotusPendingPicture *p = m->first, *before = NULL;
    const int is_b = m->b_left > 0;
    if (!p || p == m->untyped) return NULL;
    if (is_b) {
        number_b(m, remove_behind(m, NULL));
    } else if (p->params.idr) {
        number_idr(m, remove_behind(m, NULL));
    } else {
        const int n = find_end(m, &before);
        if (!n) return NULL;
        p = remove_behind(m, before);
        number_p(m, p, n);
        m->b_left = n - 1;
    }
    p->plan->b_left = m->b_left;
    p->plan->next_b = m->b_left ? m->first->plan : NULL;
    complete(m, p, !is_b);
    return p;
}
