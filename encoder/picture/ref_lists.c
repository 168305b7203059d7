// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/ref_lists.h"

#include <assert.h>
#include <string.h>

#include "common/int_core.h"

void motus_dpb_add(MotusDpb *dpb, int32_t shown, uint32_t frame_num) {
    dpb->n = motus_min(dpb->n + 1, dpb->size);
    memmove(dpb->picture + 1, dpb->picture, (size_t)(dpb->n - 1) * sizeof *dpb->picture);
    dpb->picture[0] = (MotusDpbPicture){shown, frame_num};
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
