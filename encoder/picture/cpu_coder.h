// A GOP coder on the CPU: its memory (cpu_executor.c) and its passes (passes_cpu.c).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CPU_CODER_H
#define ENCODER_PICTURE_CPU_CODER_H

#include "encoder/decide/decide.h"
#include "encoder/picture/passes.h"
#include "me/me_cpu.h"

typedef struct MotusCpuCoder {
    MotusJobs jobs; // first
    const MotusDecideOps *ops;
    MotusMeCpu *me;
    int max_threads;
    MotusPictureState pic;
    MotusFrame *frame[MOTUS_MAX_REFERENCES]; // of `buffer`, by MotusPictureParams.slot
    MotusPictureBuffer buffer[MOTUS_MAX_REFERENCES];
    MotusSearchMemory memory;                // its motion: of `field`
    MotusField *field[MOTUS_MAX_REFERENCES]; // of the references that a picture lists
    MotusMeHints hints[2];                   // of searches MB by MB
    MotusCabacCosts *costs;                  // of all tables, behind memory.first_costs
    MotusCostTables tables;
    uint8_t *rbsp, *nal;
    int *cut_first;          // n_mb, with config.slice_max_size (MotusSliceCut)
    MotusMbContext *context; // n_mb, with CABAC
    // State of the picture between begin() and finish().
    MotusBinCounts bins;
    MotusStageClock clock;
    MotusPictureStats stats;
    size_t size; // bytes in nal
    int n_slices;
} MotusCpuCoder;

extern const MotusPassTable motus_passes_cpu;

#endif
