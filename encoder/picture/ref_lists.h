// Reference pictures of a GOP as a decoder has them (8.2.5.3), and its reference picture lists
// (8.2.4).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_REF_LISTS_H
#define ENCODER_PICTURE_REF_LISTS_H

#include <stdint.h>

#include "encoder/mb/mb.h"

typedef struct MotusDpbPicture {
    int32_t shown;      // MotusPictureParams.shown
    uint32_t frame_num; // MotusPictureParams.frame_num, not wrapped
    // Bit k: the picture shown k before it is predicted from, directly or not; bit 0: itself.
    uint64_t sources;
    int is_lost;   // a receiver has lost one of them
    int32_t first; // `shown` of its ref_idx 0, its own if it has none
    int refresh;   // MotusPictureParams.refresh_at
    int slot;      // MotusPictureParams.slot
} MotusDpbPicture;

typedef struct MotusDpb {
    MotusDpbPicture picture[MOTUS_MAX_REFERENCES]; // the one that was coded last first
    int n, size;                                   // size: max_num_ref_frames
    int drops_first_shown; // of a full one; else the picture that was coded first
} MotusDpb;

// Returns difference_of_pic_nums of the command that drops a picture when one with this frame_num
// is added (8.2.5.4.1); 0: none is dropped, or the sliding window does it (8.2.5.3).
uint32_t motus_dpb_drop_command(const MotusDpb *dpb, uint32_t frame_num);

// Adds a reference picture that is predicted from n others of the DPB. If that is full, another one
// is dropped and leaves its slot.
void motus_dpb_add(MotusDpb *dpb, int32_t shown, uint32_t frame_num, const int32_t *source, int n);

// Marks the picture shown at `shown`, which need not be there any more, and all that are predicted
// from it as lost. Without B pictures.
void motus_dpb_lose(MotusDpb *dpb, int32_t shown);

// Returns the picture shown at `shown`, which has to be there.
MotusDpbPicture *motus_dpb_find(MotusDpb *dpb, int32_t shown);

// Returns the newest picture that is not lost; NULL: there is none.
const MotusDpbPicture *motus_dpb_newest(const MotusDpb *dpb);

// Fills in the default list of a P or B picture that is shown at `shown`: P: the last one coded
// first; B: list 0 the nearest earlier one first, then later ones; list 1 the reverse (8.2.4.2).
// Returns the entries.
int motus_default_list(const MotusDpb *dpb, MotusSliceType type, int32_t shown, int list,
                       MotusDpbPicture entry[MOTUS_MAX_REFERENCES]);

// Returns abs_diff_pic_num of the command that puts the picture shown at `wanted` first in a list
// of the picture with this frame_num (8.2.4.3.1); 0: it is the first one by default.
uint32_t motus_list_command(const MotusDpb *dpb, MotusSliceType type, int32_t shown,
                            uint32_t frame_num, int list, int32_t wanted);

#endif
