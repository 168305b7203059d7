// Measures the SSIM of coded pictures on threads beside the encoder: a GPU codes faster than one
// thread measures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_SSIM_METER_H
#define TOOLS_ENCODE_SSIM_METER_H

#include "motus/encoder.h"

typedef struct MotusSsimMeter MotusSsimMeter;

// Returns NULL without memory or threads.
MotusSsimMeter *motus_ssim_meter_open(int threads);

// Takes the packet over; the luma of `recon` is compared with `source` over width x height. The
// meter must not be full.
void motus_ssim_meter_put(MotusSsimMeter *meter, MotusPacket *packet, int width, int height);

// True if a packet has to be taken before the next put.
int motus_ssim_meter_full(const MotusSsimMeter *meter);

// Hands out the oldest packet and its luma SSIM. NULL: there is none, or it is not measured yet and
// `wait` is 0.
MotusPacket *motus_ssim_meter_take(MotusSsimMeter *meter, int wait, double *ssim);

// Drops the packets that were not taken; accepts *meter == NULL.
void motus_ssim_meter_close(MotusSsimMeter **meter);

#endif
