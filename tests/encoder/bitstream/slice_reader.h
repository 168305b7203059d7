// A reader of slices (7.3.4, 7.3.5) of one small picture, for tests. It derives neighbours (nC,
// predicted intra modes) and QP from its own picture-wide arrays and shares only the output
// structures with the encoder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_SLICE_READER_H
#define TESTS_SLICE_READER_H

#include "encoder/mb/mb.h"
#include "tests/encoder/bitstream/cavlc_reader.h"

enum { READ_WIDTH = 5, READ_HEIGHT = 4, READ_MBS = READ_WIDTH * READ_HEIGHT }; // MBs of the picture

// An MB as read from the slice.
typedef struct ReadMb {
    MotusMb mb; // without MVs
    MotusMbCoef coef;
    MotusMv mvd[16];
    int n_mvd;
    uint8_t pcm[384];
} ReadMb;

// State of the reader. Set reader, slice_type and qp (the slice's) before each slice; the counts
// add up over slices.
typedef struct SliceReader {
    Reader reader;
    int slice_type, qp; // QP of the previous MB
    MotusPictureStats stats;
    // By block, -1 before it is decoded: total_coeff, and Intra4x4 modes (2 in other MBs).
    int luma_count[4 * READ_HEIGHT][4 * READ_WIDTH],
        chroma_count[2][2 * READ_HEIGHT][2 * READ_WIDTH];
    int mode[4 * READ_HEIGHT][4 * READ_WIDTH];
    long seen_mb_type[2][31], seen_sub_type[4], seen_cbp[2][48], seen_mode[9][9];
} SliceReader;

// Reads the slice data of a whole picture. Errors fail the test or set reader.error.
void read_slice(SliceReader *p, ReadMb mbs[READ_MBS]);

#endif
