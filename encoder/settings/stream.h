// Settings of a stream, made once at the opening and read by every GOP coder; and the parameters of
// a picture.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_STREAM_H
#define ENCODER_SETTINGS_STREAM_H

#include "encoder/bitstream/headers.h"
#include "encoder/mb/qp_core.h"
#include "encoder/mb/refresh_core.h"
#include "encoder/preset/preset.h"
#include "encoder/rate/rate.h"
#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOTUS_HEADER_BYTES = 512 }; // bound of parameter sets, delimiter, SEI and slice header

// Slices of whole MB rows. Arrays are NULL for one slice.
typedef struct MotusSlices {
    int n;      // slices per picture, at least 1
    int *first; // per MB: first MB of its slice (motus_slice_first)
    // MB rows in the order of wavefronts (MotusWave): the slices' first rows, then their second
    // ones.
    int *row_order;
    int *begin; // n + 1 entries: first row of slice k; begin[n] is the number of rows
} MotusSlices;

// Divides the rows into `wanted` slices, at most one per row, as even as possible. One more begins
// at row `extra` unless one does; 0 or mb_height: none. MOTUS_ERR_MEMORY.
MotusStatus motus_slices_alloc(MotusSlices *slices, int wanted, int extra, int mb_width,
                               int mb_height);
void motus_slices_free(MotusSlices *slices); // accepts a zeroed one

// Must not be copied: rate.log points at pass_log.
typedef struct MotusStream {
    MotusEncoderConfig config;
    MotusSequenceSettings sequence;
    int mb_width, mb_height;
    MotusEffort effort;
    MotusInterLimits limits;
    int p_refs;             // of list 0 of P pictures, at most, copies included
    int spatial_references; // B pictures that are references do not have temporal direct prediction
    int b_refs;             // of list 0 of B pictures, at most; 0 without B pictures
    // Largest |y| of search centres, quarter samples: keeps search windows in the level's range.
    int centre_limit_y;
    MotusSlices slices;
    MotusSlices *refresh_slices; // of the n_refreshes pictures of a cycle that have a range
    int n_refreshes;
    int most_slices;      // of a picture, slices of limited size aside
    int refresh_period;   // pictures of an intra refresh cycle; 0: none
    size_t rbsp_capacity; // bound of the bytes of a picture's slices
    MotusQp qp_table[MOTUS_LAMBDAS][MOTUS_QPS];
    MotusQuant8 quant8_table[MOTUS_LAMBDAS][MOTUS_QPS];
    uint8_t headers[MOTUS_HEADER_BYTES]; // SPS and PPS, Annex B
    size_t headers_size;
    MotusLookaheadSettings lookahead;
    // Unused with rate control QP.
    MotusRateSettings rate;
    MotusPassLog pass_log; // second pass: the first one's
    char fingerprint[200]; // of the settings that both passes must share: one line without its end
} MotusStream;

// External MVs of a picture: of a P picture's first reference, or by reference.
typedef struct MotusExternalMvs {
    MotusMv *mv; // [MOTUS_BLOCKS][n_mb]; NULL: none
    // By reference: sorted by MB, those of MB i from first[i] on, n_mb + 1 entries. `mv` is memory
    // for the MVs of one reference at a time. NULL: none.
    const MotusCodedMv *entry;
    const uint32_t *first;
    uint32_t modes; // modes in mv, mask of 1 << MotusMode, 16x16 among them
    int final;      // 1: no MV is refined
} MotusExternalMvs;

// Parameters of a picture. Together with the frame and the pictures coded before it in its GOP they
// determine every bit.
typedef struct MotusPictureParams {
    int64_t number; // of the frame in the stream, in display order, from 0
    int idr;
    MotusSliceType type; // I: an IDR picture
    int is_reference;    // B pictures are none, but those of a pyramid's levels
    int b_level;         // MotusBPlace.level of a B picture
    // 1: takes little from the picture before it: the lookahead's costs are above 3/8 of intra ones
    int moves;
    uint32_t frame_num; // pictures of reference since the IDR picture, before this one
    int32_t shown;      // frames since the IDR picture in display order; PicOrderCnt is twice it
    int refs;           // of list 0: num_ref_idx_l0_active
    int copies;         // P: so many entries behind the first one are the same picture again
    // `shown` of reference pictures: of list 0 by ref_idx, then, of B pictures, of list 1's only
    // one.
    int32_t ref_shown[MOTUS_MAX_REFERENCES];
    MotusDirectMode direct;   // B
    uint32_t list_command[2]; // motus_list_command of it
    uint32_t drop_command;    // motus_dpb_drop_command
    int slot;                 // of a reference, below max_num_ref_frames: where it is kept
    int qp;                   // of the slices
    const int8_t *qp_offset;  // per MB, added to qp; NULL: none
    uint32_t since_idr;       // pictures since the IDR picture in coding order; 0 for itself
    uint32_t idr_pic_id;      // number of the GOP
    MotusWeights weights;     // P: with weightp
    MotusRefresh refresh;     // P: with intra refresh
    int refresh_at;           // place in its cycle, from 0; below 0: none
    MotusHrdTiming hrd;
    MotusExternalMvs external;
} MotusPictureParams;

// True if the picture has a motion field of its first reference from the caller.
static inline int motus_has_external_field(const MotusPictureParams *params) {
    return params->external.mv && !params->external.entry;
}

// Returns 6 log2(ratio) in 1/256 QP: the QP difference of two quantizer steps.
int motus_ratio_q8(double ratio);

// Checks the configuration and fills a zeroed *stream. MOTUS_ERR_ARGUMENT, MOTUS_ERR_UNSUPPORTED,
// MOTUS_ERR_FORMAT (the pass log), MOTUS_ERR_MEMORY.
MotusStatus motus_stream_open(MotusStream *stream, const MotusEncoderConfig *config,
                              MotusError *error);
void motus_stream_close(MotusStream *stream); // accepts a zeroed one

// Returns the effort of a picture: the preset's by type, without partitions that its external MVs
// lack.
MotusEffort motus_picture_effort(const MotusStream *stream, const MotusPictureParams *params);

// Returns a picture's MotusLambda.
int motus_picture_lambda(const MotusStream *stream, const MotusPictureParams *params);

// Returns the search range in further references of a P picture.
int motus_far_range(int range);

// Returns how many pictures params->ref_shown has.
static inline int motus_references_listed(const MotusPictureParams *params) {
    return params->type ? params->refs + (params->type == MOTUS_SLICE_B) : 0;
}

// Returns nal_ref_idc of the picture's slices.
static inline int motus_nal_ref_idc(const MotusPictureParams *params) {
    return params->is_reference ? 2 : 0;
}

// Returns the header settings of the slice that begins with MB first_mb.
MotusSliceSettings motus_slice_settings(const MotusStream *stream, const MotusPictureParams *params,
                                        int first_mb);

// Writes the NAL units before a picture's slices (delimiter, parameter sets, SEI) to dst, which
// holds 2 * MOTUS_HEADER_BYTES. Returns the bytes.
size_t motus_access_unit_begin(const MotusStream *stream, const MotusPictureParams *params,
                               uint8_t *dst);

#ifdef __cplusplus
}
#endif
#endif
