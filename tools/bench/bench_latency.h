// Latency of pictures that are sent at a fixed rate, by one or more encoders at once.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_LATENCY_H
#define TOOLS_BENCH_BENCH_LATENCY_H

#include "motus/encoder.h"

// Sessions: encoders with the same settings, each with a thread that sends a picture, takes its
// packet and waits until the next picture is due. Their pictures are due in turn.
typedef struct MotusBenchSessions {
    const MotusEncoderConfig *config;
    MotusFrame *const *frame; // n_frames, encoded to and fro
    int n_frames, on_device;
    int n;        // encoders
    int rate;     // pictures/s of each; 0: the next one is sent when the last one is done
    int pictures; // of each that are timed; some more go before them
} MotusBenchSessions;

// Milliseconds from a picture's call to its packet in host memory; if the picture before it took
// until after it was due, from when it was due. All 0: there was no picture.
typedef struct MotusLatency {
    double median, p99, worst;
} MotusLatency;

typedef struct MotusLatencies {
    MotusLatency all, p, i; // of all pictures, P pictures, I pictures
    double late;            // share of pictures that took longer than 1 / rate
} MotusLatencies;

// MOTUS_END, with a text: a signal came (if signals are caught).
MotusStatus motus_bench_sessions(const MotusBenchSessions *sessions, MotusLatencies *out,
                                 MotusError *error);

#endif
