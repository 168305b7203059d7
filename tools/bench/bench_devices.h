// motus bench encode --devices: frames per second by the number of GPUs, as one encoder on all of
// them and as an encoder for each in one process.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_DEVICES_H
#define TOOLS_BENCH_BENCH_DEVICES_H

#include <cjson/cJSON.h>

#include "motus/encoder.h"
#include "tools/bench/bench_input.h"
#include "tools/cli/options.h"

typedef struct MotusBenchDevices {
    const MotusBenchClip
        *clip; // encoded again and again, as one closed GOP each time, from pinned memory
    MotusEncoderConfig config;      // for every row but for preset, lanes, keyint and devices
    const MotusDeviceList *devices; // the first one, the first two, four, ..., all
    int presets;                    // mask of 1 << MotusPreset
    int gop_coders;                 // of each device
    int pictures;                   // that are timed in each row, whole GOPs for every encoder
    int print;                      // the table on stdout
    cJSON *report;                  // gets "rows"
} MotusBenchDevices;

// Fails, too, where a row's stream is not the first row's.
MotusStatus motus_bench_devices(const MotusBenchDevices *options, MotusError *error);

#endif
