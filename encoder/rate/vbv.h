// VBV: the decoder's buffer (HRD, Annex C). Bits arrive at a rate; a picture's bits leave at once
// when it is decoded (removal); while the buffer is full a VBR channel pauses. A picture that is
// too large arrives late, and those behind it wait for it (C.1.1): the buffer then holds less than
// nothing until the channel has caught up.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_VBV_H
#define ENCODER_RATE_VBV_H

#include <stdint.h>

#include "motus/frame.h"

// Counted in 1 / fps.num bits, so that nothing is rounded.
typedef struct MotusVbv {
    int64_t unit;     // units per bit; 0: no VBV
    int64_t size;     // units
    int64_t fullness; // units, before the next removal; below 0: that many are missing
    int64_t arriving; // units per 1 / fps
    int64_t rate;     // bits per second
} MotusVbv;

// Opens a buffer of `size` bits, nine tenths full. rate 0: no VBV.
void motus_vbv_open(MotusVbv *vbv, int64_t rate, int64_t size, MotusRational fps);

// Returns the largest number of bits that the next picture may have; below 0: none would do.
int64_t motus_vbv_limit(const MotusVbv *vbv);

// Removes a picture, then lets `duration` / fps pass. Returns the bits left by the removal; below 0
// the picture came late by that many.
int64_t motus_vbv_remove(MotusVbv *vbv, int64_t bits, int64_t duration);

// Returns the bits that would overflow the buffer after such a removal on a CBR channel.
int64_t motus_vbv_overflow(const MotusVbv *vbv, int64_t bits, int64_t duration);

// Rounds size and fullness down to the delays below, as the decoder does at the first picture, and
// on a VBR channel at each buffering period: bits arrive no earlier than these delays allow
// (C.1.1).
void motus_vbv_round(MotusVbv *vbv);

// Returns the time in 1 / 90000 s in which so many units arrive: of `fullness`
// initial_cpb_removal_delay (D.2.2), 0 if bits are missing; of `size` the whole buffer's.
int64_t motus_vbv_delay(const MotusVbv *vbv, int64_t units);

#endif
