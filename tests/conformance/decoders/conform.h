// Encodes a few frames, then holds the stream against everything that can be known of it: the
// encoder's own figures, the level's limits, and the reconstruction against independent decoders.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_CONFORM_H
#define TESTS_DECODERS_CONFORM_H

#include "motus/encoder.h"
#include "tests/conformance/decoders/parse.h"

typedef struct MotusCoded {
    uint8_t *data; // the whole byte stream
    size_t size;
    MotusFrame **recon; // of each picture
    int *slices;        // the packets' numbers; NULL: one a picture
    int pictures;
    int level;
    size_t most;             // bytes of a NAL unit without its start code, 0: any
    MotusPictureStats stats; // summed up over the pictures
    char failure[320];       // the first thing found wrong; empty while all is well
} MotusCoded;

// Encodes frames[0..n-1] (not changed) and checks what the encoder reports; maps: with offsets of
// QP for each MB, wild ones. Free with motus_coded_free in every case.
void motus_conform_encode(MotusCoded *coded, const MotusEncoderConfig *config,
                          MotusFrame *const *frames, int n, int maps);

// Parses the stream (counting into *coverage) and decodes it with every decoder.
void motus_conform_judge(MotusCoded *coded, MotusCoverage *coverage);

// Checks that both are all well and the same stream.
void motus_conform_same(const MotusCoded *a, const MotusCoded *b, const char *what);

// Ways to choose QPs, at about config->qp: 0 fixed, 1 CRF, 2 with AQ, 3 a bitrate, 4 a constant one
// with HRD and filler. Scene cuts are switched off.
enum { MOTUS_CONFORM_RATES = 5 };
void motus_conform_rate(MotusEncoderConfig *config, int rate);

void motus_coded_free(MotusCoded *coded);

#endif
