// What all pictures of a stream have in common: made once at the opening, read by every lane.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_STREAM_H
#define ENCODER_SETTINGS_STREAM_H

#include "encoder/analyse/effort.h"
#include "encoder/bitstream/headers.h"
#include "encoder/mb/qp_core.h"
#include "encoder/rate/rate.h"
#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOTUS_HEADER_BYTES = 512 }; // parameter sets, delimiter and slice header

// The slices of whole MB rows that every picture of a stream has.
typedef struct MotusSlices {
    int n;      // of a picture, from 1 on
    int *first; // per MB: the first MB of its slice (motus_slice_first); NULL: one slice
    // Rows in the order of wavefronts (MotusWave): all slices' first rows, then their second ones,
    // ...; NULL: from the top.
    int *row_order;
    int *begin; // n + 1: the row that slice k begins with, and the end of the last one; NULL: one
                // slice
} MotusSlices;

// `wanted` slices, or as many as there are rows, as even as possible. MOTUS_ERR_MEMORY.
MotusStatus motus_slices_make(MotusSlices *slices, int wanted, int mb_width, int mb_height);
void motus_slices_free(MotusSlices *slices); // accepts a zeroed one

typedef struct MotusStream {
    MotusEncoderConfig config;
    MotusSequenceSettings sequence;
    int mb_width, mb_height;
    MotusEffort effort;
    MotusInterLimits limits;
    int centre_limit_y; // of search centres, quarter samples: the whole window stays within the
                        // level's vertical range
    MotusSlices slices;
    size_t rbsp_capacity; // bytes of a picture's largest slices, together
    MotusQp qp_table[52];
    uint8_t headers[MOTUS_HEADER_BYTES]; // SPS and PPS, Annex B
    size_t headers_size;
    MotusLookaheadSettings look; // with a rate control other than QP
    MotusRateSettings control;
    MotusPassLog log;      // of the first pass; control.log points at it
    char fingerprint[200]; // of what both passes must share
} MotusStream;

// Vectors in place of the search's: [MOTUS_BLOCKS][n_mb], of those modes (16x16 among them). mv
// NULL: none are given.
typedef struct MotusExternalMvs {
    const MotusMv *mv;
    uint32_t modes;
    int final; // 1: none is refined
} MotusExternalMvs;

// A picture's place in the stream: with the frame and the pictures before it in its GOP it
// determines every bit.
typedef struct MotusPictureParams {
    int64_t number; // from 0
    int idr, qp;
    const int8_t *qp_offset; // per MB, NULL: none
    uint32_t since_idr, idr_pic_id;
    MotusHrdTiming hrd;
    MotusExternalMvs external; // for a P picture
} MotusPictureParams;

// Whether a part may begin at that picture and IDR picture of a stream.
int motus_stream_segment_is_possible(int64_t first_picture, int64_t first_gop);

// Checks the configuration. MOTUS_ERR_ARGUMENT, _UNSUPPORTED, _FORMAT (the pass log), _MEMORY with
// words in *error.
MotusStatus motus_stream_open(MotusStream *stream, const MotusEncoderConfig *config,
                              MotusError *error);
void motus_stream_close(MotusStream *stream); // accepts a zeroed one

// Of the slice that begins with that MB.
MotusSliceSettings motus_slice_settings(const MotusStream *stream, const MotusPictureParams *place,
                                        int first_mb);

// Writes what comes before the picture's slices into `dst`, which has room for 2 *
// MOTUS_HEADER_BYTES; returns the bytes.
size_t motus_access_unit_begin(const MotusStream *stream, const MotusPictureParams *place,
                               uint8_t *dst);

#ifdef __cplusplus
}
#endif
#endif
