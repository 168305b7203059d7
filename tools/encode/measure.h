// The SSIM of pictures, measured on threads beside the encoder: at the speed of a GPU one thread
// could not follow.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_MEASURE_H
#define TOOLS_ENCODE_MEASURE_H

#include "motus/encoder.h"

typedef struct MotusSsimMeter MotusSsimMeter;

// NULL: there is no memory or not one thread for it.
MotusSsimMeter *motus_ssim_meter_open(int threads);

// Takes the packet over, whose `recon` and `source` are measured over width x height of luma. Never
// more of them than motus_ssim_meter_full allows.
void motus_ssim_meter_put(MotusSsimMeter *measure, MotusPacket *packet, int width, int height);

int motus_ssim_meter_full(
    const MotusSsimMeter *measure); // 1: one has to be taken before the next is put

// The oldest packet, with its luma's SSIM, once that is there; NULL: it is not yet, and `wait` is
// 0, or there is none.
MotusPacket *motus_ssim_meter_take(MotusSsimMeter *measure, int wait, double *ssim);

// Drops what has not been taken; accepts NULL inside.
void motus_ssim_meter_close(MotusSsimMeter **measure);

#endif
