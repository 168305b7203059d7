// Encodes a few frames and checks the stream: against the encoder's own figures, the level's
// limits, and independent decoders.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_CONFORM_H
#define TESTS_DECODERS_CONFORM_H

#include <stddef.h>
#include <stdint.h>

#include "motus/encoder.h"
#include "tools/h264/h264.h"

// Pairwise cases: every pair of values of every two axes occurs in at least one row.

enum { MOTUS_MAX_AXES = 20, MOTUS_MAX_VALUES = 12 };

// Fills at most `most` rows with values 0..sizes[axis]-1, the same for the same sizes; returns the
// number of rows needed.
int motus_pairwise(int axes, const int *sizes, int (*rows)[MOTUS_MAX_AXES], int most);

// Coverage of a set of our streams: counts their syntax elements, within the subset that motus
// writes (one reference).

// Adds the counts of a whole byte stream to *coverage. `slices` is the number in each of the n
// pictures; NULL: one. Returns NULL, or the stream's fault (static text).
const char *motus_parse(const uint8_t *data, size_t size, const int *slices, int n,
                        MotusCoverage *coverage);

// QP offsets per MB for tests.

typedef enum MotusConformMaps {
    MOTUS_MAPS_NONE,
    MOTUS_MAPS_MIXED,   // mostly small offsets, some that reach any QP
    MOTUS_MAPS_WILD,    // -51..51
    MOTUS_MAPS_EXTREME, // QP 0 beside 51: mb_qp_delta wraps around
    MOTUS_MAPS_ZERO,
} MotusConformMaps;

// Returns QP offsets for n MBs, the same for the same arguments, or NULL for none. Free with
// free().
int8_t *motus_conform_map(MotusConformMaps maps, int number, size_t n);

typedef struct MotusCoded {
    uint8_t *data; // the whole byte stream
    size_t size;
    MotusFrame **recon; // of each picture, in display order
    int *slices;        // of each packet; NULL: one
    int pictures, b_pictures;
    int copies; // 1: a picture has several slices, and P slices list a reference twice
    int level;
    size_t most;             // limit of a NAL unit without its start code in bytes, 0: none
    MotusPictureStats stats; // sums over the pictures
    char failure[320];       // the first fault; empty if there is none
} MotusCoded;

// Encodes frames[0..n-1] with QP offsets and checks the encoder's reports. Free with
// motus_coded_free in every case.
void motus_conform_encode(MotusCoded *coded, const MotusEncoderConfig *config,
                          MotusFrame *const *frames, int n, MotusConformMaps maps);

// Decodes the stream with libavcodec. If it has no B pictures, also decodes it with openh264 and
// parses it, counting into *coverage.
void motus_conform_judge(MotusCoded *coded, MotusCoverage *coverage);

// Checks that neither has a failure and that their streams are the same.
void motus_conform_same(const MotusCoded *a, const MotusCoded *b, const char *what);

// Sets rate control near config->qp: 0 fixed QP, 1 CRF, 2 CRF with AQ, 3 a bitrate, 4 CBR with HRD
// and filler data. Switches scene cuts off.
enum { MOTUS_CONFORM_RATES = 5 };
void motus_conform_rate(MotusEncoderConfig *config, int rate);

void motus_coded_free(MotusCoded *coded);

#endif
