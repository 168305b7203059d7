// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/ref_lists.h"

#include <assert.h>
#include <string.h>

#include "common/int_core.h"

enum { SOURCES = 64 }; // MotusDpbPicture.sources: bits

MotusDpbPicture *motus_dpb_find(MotusDpb *dpb, int32_t shown) {
    int i = 0;
    while (i < dpb->n && dpb->picture[i].shown != shown) i++;
    assert(i < dpb->n);
    return &dpb->picture[i];
}

// Returns the index of the picture that is dropped for a further one; dpb->n: none.
static int dropped(const MotusDpb *dpb) {
    int k = dpb->n - 1;
    if (dpb->n < dpb->size) return dpb->n;
    for (int i = 0; i < dpb->n && dpb->drops_first_shown; i++)
        if (dpb->picture[i].shown < dpb->picture[k].shown) k = i;
    return k;
}

uint32_t motus_dpb_drop_command(const MotusDpb *dpb, uint32_t frame_num) {
    const int k = dropped(dpb);
    return k < dpb->n - 1 ? frame_num - dpb->picture[k].frame_num : 0;
}

void motus_dpb_add(MotusDpb *dpb, int32_t shown, uint32_t frame_num, const int32_t *source, int n) {
    MotusDpbPicture added = {
        .shown = shown, .frame_num = frame_num, .sources = 1, .first = n ? source[0] : shown};
    for (int i = 0; i < n; i++) {
        const MotusDpbPicture *from = motus_dpb_find(dpb, source[i]);
        const int32_t distance = shown - from->shown;
        if (distance >= 0 && distance < SOURCES) added.sources |= from->sources << distance;
        added.is_lost |= from->is_lost;
    }
    const int k = dropped(dpb);
    added.slot = k < dpb->n ? dpb->picture[k].slot : dpb->n;
    memmove(dpb->picture + 1, dpb->picture, (size_t)k * sizeof *dpb->picture);
    dpb->n = motus_min(dpb->n + 1, dpb->size);
    dpb->picture[0] = added;
}

// A picture that is too far back for `sources` counts as predicted from.
void motus_dpb_lose(MotusDpb *dpb, int32_t shown) {
    for (int i = 0; i < dpb->n; i++) {
        MotusDpbPicture *p = &dpb->picture[i];
        const int32_t distance = p->shown - shown;
        p->is_lost |= distance >= SOURCES || (distance >= 0 && (p->sources >> distance & 1));
    }
}

const MotusDpbPicture *motus_dpb_newest(const MotusDpb *dpb) {
    for (int i = 0; i < dpb->n; i++)
        if (!dpb->picture[i].is_lost) return &dpb->picture[i];
    return NULL;
}

// Appends the pictures before `shown`, or (later) those behind it, the nearest first.
static int append_nearest(const MotusDpb *dpb, int32_t shown, int later, MotusDpbPicture *entry,
                          int n) {
    const int first = n;
    for (int i = 0; i < dpb->n; i++) {
        const MotusDpbPicture p = dpb->picture[i];
        if ((p.shown > shown) != later) continue;
        int at = n++;
        for (; at > first && (entry[at - 1].shown > p.shown) == later; at--)
            entry[at] = entry[at - 1];
        entry[at] = p;
    }
    return n;
}

int motus_default_list(const MotusDpb *dpb, MotusSliceType type, int32_t shown, int list,
                       MotusDpbPicture entry[MOTUS_MAX_REFERENCES]) {
    if (type == MOTUS_SLICE_P) {
        memcpy(entry, dpb->picture, (size_t)dpb->n * sizeof *entry);
        return dpb->n;
    }
    const int near = append_nearest(dpb, shown, list, entry, 0),
              n = append_nearest(dpb, shown, !list, entry, near);
    // List 1 would equal list 0 where all pictures are on one side: its first two are exchanged.
    if (list && n > 1 && (near == 0 || near == n)) {
        const MotusDpbPicture first = entry[0];
        entry[0] = entry[1];
        entry[1] = first;
    }
    return n;
}

uint32_t motus_list_command(const MotusDpb *dpb, MotusSliceType type, int32_t shown,
                            uint32_t frame_num, int list, int32_t wanted) {
    MotusDpbPicture entry[MOTUS_MAX_REFERENCES];
    const int n = motus_default_list(dpb, type, shown, list, entry);
    int i = 0;
    while (i < n && entry[i].shown != wanted) i++;
    assert(i < n);
    return i ? frame_num - entry[i].frame_num : 0;
}
