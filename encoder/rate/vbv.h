// The decoder's buffer as the stream's HRD describes it (Annex C): bits arrive at a rate, a
// picture's bits leave at once when it is decoded, and a channel that is not constant pauses while
// the buffer is full.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_VBV_H
#define ENCODER_RATE_VBV_H

#include "motus/frame.h"

// In units of 1 / fps.num bits, so that nothing is rounded.
typedef struct MotusVbv {
    int64_t unit;           // of a bit; 0: there is no buffer
    int64_t size, fullness; // before the next picture leaves
    int64_t arriving;       // in a duration of 1 / fps
    int64_t rate;           // bits a second
} MotusVbv;

// Size in bits; nine tenths full.
void motus_vbv_open(MotusVbv *vbv, int64_t rate, int64_t size, MotusRational fps);

// Another channel: what the buffer holds stays, up to its new size.
void motus_vbv_change(MotusVbv *vbv, int64_t rate, int64_t size, MotusRational fps);

// Bits that the next picture may have.
int64_t motus_vbv_room(const MotusVbv *vbv);

// A picture leaves, then time passes (in 1 / fps). Returns what the buffer held in between, bits:
// below 0 the picture came too late.
int64_t motus_vbv_take(MotusVbv *vbv, int64_t bits, int64_t duration);

// Bits that would have to leave with such a picture beside its own, so that a channel that never
// pauses does not find the buffer full.
int64_t motus_vbv_over(const MotusVbv *vbv, int64_t bits, int64_t duration);

// In 1 / 90000 s of arrival: what the buffer holds (initial_cpb_removal_delay), and its size.
uint32_t motus_vbv_removal_delay(const MotusVbv *vbv);
uint32_t motus_vbv_size_delay(const MotusVbv *vbv);

#endif
