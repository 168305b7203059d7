// Cases of conformance tests: a generated sequence and settings.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_CONFORM_CASE_H
#define TESTS_DECODERS_CONFORM_CASE_H

#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/decoders/material.h"

enum { CONFORM_CASE_FRAMES = 12 };

typedef struct ConformCase {
    MotusMaterial material;
    int frames; // at most CONFORM_CASE_FRAMES
    int grey;   // 1: flat chroma
    MotusConformMaps maps;
    MotusEncoderConfig config;
} ConformCase;

// Returns a case on the CPU: one thread, no QP offsets, IDR pictures by keyint only.
ConformCase conform_case(MotusMaterial material, int width, int height, int frames, int qp);

// Encodes the case. Free with motus_coded_free in every case.
void conform_case_encode(MotusCoded *coded, const ConformCase *c);

// Encodes the case and checks that it has no failure. Returns the number of slices; stores the sums
// of the statistics in *stats if it is not NULL.
int conform_case_run(const ConformCase *c, MotusCoverage *coverage, MotusPictureStats *stats);

// Checks that both cases give the same stream, `b` with MOTUS_CPU=cpu if it is not NULL.
void conform_case_same(const ConformCase *a, const ConformCase *b, const char *cpu,
                       const char *what);

#endif
