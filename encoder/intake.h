// How frames come in: filled up to whole MBs by repeating the last column and row, from host memory or from a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTAKE_H
#define ENCODER_INTAKE_H

#include "encoder/intake_cuda.h"
#include "motus/frame.h"

typedef struct MotusIntake {
    int width, height;      // visible
    int locked;             // host memory is to be page-locked where there is such memory
    MotusFrame *whole;      // the frame in whole MBs, host memory
    MotusFrame *visible;    // the same samples at the visible size
    MotusPlane device_luma; // of `whole`, in device memory; data NULL where the frame did not come from there
    MotusIntakeCuda *cuda;  // NULL until a frame came from a device
} MotusIntake;

MotusStatus motus_intake_open(MotusIntake *intake, int width, int height, int locked);
void motus_intake_close(MotusIntake *intake); // accepts a zeroed one

// Take in a frame of the visible size, which is not needed any more afterwards. `visible` and `whole` are then good until the next call; whoever
// refers to one of them keeps it.
MotusStatus motus_intake_host(MotusIntake *intake, const MotusFrame *frame);
MotusStatus motus_intake_device(MotusIntake *intake, const MotusFrame *frame, void *stream, MotusError *error);

#endif
