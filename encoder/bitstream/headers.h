// Parameter sets, slice headers, SEI (7.3.2, 7.3.3, Annexes D and E) and levels (Annex A).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_HEADERS_H
#define ENCODER_BITSTREAM_HEADERS_H

#include "encoder/bitstream/bits_core.h"
#include "encoder/mb/mb.h"
#include "encoder/mb/weights_core.h"
#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

// Limits of a level (table A-1).
typedef struct MotusLevel {
    int level_idc;        // 10, 11, ... 62
    uint32_t max_mbps;    // MBs per second
    uint32_t max_fs;      // MBs per picture; no side is above sqrt(8 * max_fs) MBs
    uint32_t max_dpb_mbs; // MBs of all frames in the decoded picture buffer
    int max_mv_y;         // vertical MVs are within [-max_mv_y, max_mv_y - 0.25] luma samples
    int max_mvs_per_2mb;  // 0 = no limit
    int max_br, max_cpb;  // NAL HRD: units of 1,200 bits/s and of 1,200 bits
} MotusLevel;

// Returns the lowest level that allows the size, the rate, `refs` frames in the decoded picture
// buffer and vertical MVs of +-reach_y luma samples (clipped to the highest level's); the highest
// level if none allows the MB rate. NULL: the picture is too large for every level.
const MotusLevel *motus_level_choose(int mb_width, int mb_height, MotusRational fps, int refs,
                                     int reach_y);

// Returns the lowest level from `level` on that allows a bit rate (bits/s) and buffer size (bits);
// the highest level if none does.
const MotusLevel *motus_level_for_rate(const MotusLevel *level, int64_t rate, int64_t size);

// Contents of the parameter sets.
typedef struct MotusSequenceSettings {
    MotusProfile profile;
    int cabac;         // else CAVLC
    int transform_8x8; // transform_8x8_mode_flag
    int width, height; // visible luma samples, even
    MotusRational fps;
    MotusColour colour;
    const MotusLevel *level;
    int log2_max_frame_num; // 4..16
    int max_refs;           // max_num_ref_frames
    int gaps;               // gaps_in_frame_num_value_allowed_flag
    int active_refs;        // of P slices by default (PPS); 0 = 1
    int weighted_pred;      // weighted_pred_flag: P slices have a pred_weight_table
    int weighted_bipred;    // weighted_bipred_idc 2: implicit weights
    int reorder;            // max_num_reorder_frames; 0: output order is coding order
    int pic_init_qp;        // PPS
    int deblock;
    MotusHrd hrd;
    int64_t hrd_rate, hrd_size; // bits/s and bits, from motus_hrd_value
} MotusSequenceSettings;

// Removal times of an access unit (Annex C).
typedef struct MotusHrdTiming {
    uint32_t initial;      // 1/90000 s from arrival of the first bit to removal, at most
    uint32_t whole;        // 1/90000 s, the same for a full buffer
    uint32_t since_idr;    // clock ticks (half pictures) since removal of the previous IDR picture
    uint32_t output_delay; // clock ticks from removal to output
} MotusHrdTiming;

// Contents of a slice header.
typedef struct MotusSliceSettings {
    int first_mb;                // raster index
    int idr, idr_pic_id;         // idr_pic_id 0..65535
    int slice_type;              // MotusSliceType
    int refs;                    // num_ref_idx_l0_active; 0 = 1
    int copies;                  // MotusPictureParams.copies
    const MotusWeights *weights; // P: with weighted_pred
    int is_reference;            // else nal_ref_idc is 0; IDR pictures are
    uint32_t frame_num;
    int32_t poc;              // PicOrderCnt; written if the stream reorders pictures
    int direct_spatial;       // B: direct_spatial_mv_pred_flag
    uint32_t list_command[2]; // abs_diff_pic_num of each list's first picture; 0: the default list
    uint32_t drop_command;    // difference_of_pic_nums of a picture to drop; 0: sliding window
    int qp;
    int deblock, is_apart;     // is_apart: edges of the slice are not filtered
    int cabac, cabac_init_idc; // else CAVLC; 0..2, of P slices
    int transform_8x8;         // transform_8x8_mode_flag
} MotusSliceSettings;

// Write RBSPs. SPS: profile_idc 66, 77 or 100 with the constraint flags that hold (A.2),
// pic_order_cnt_type 2, or 0 with reordering.
void motus_write_sps(MotusBits *bits, const MotusSequenceSettings *settings);
void motus_write_pps(MotusBits *bits, const MotusSequenceSettings *settings);
void motus_write_aud(MotusBits *bits, int slice_type);
void motus_write_slice_header(MotusBits *bits, const MotusSequenceSettings *settings,
                              const MotusSliceSettings *slice);

enum { MOTUS_MAX_WEIGHTS_BYTES = 212 }; // of pred_weight_table(), 16 references of 104 bits

// Slice header for a slice written on a device: made on the host, read by the kernels.
typedef struct MotusSliceHead {
    // slice_header(), at most 150 bits and pred_weight_table(), then zeros
    uint8_t header[20 + MOTUS_MAX_WEIGHTS_BYTES];
    uint32_t header_bits;
    uint8_t nal_header; // nal_ref_idc and nal_unit_type
    uint8_t slice_type; // MotusSliceType
    uint8_t qp;
    uint8_t cabac_table;   // 0 for I slices, else 1 + cabac_init_idc
    uint8_t transform_8x8; // transform_8x8_mode_flag
    uint8_t reserved[3];
} MotusSliceHead;

MotusSliceHead motus_slice_head(const MotusSequenceSettings *settings,
                                const MotusSliceSettings *slice, int nal_ref_idc);

// Returns the largest rate (unit 6) or size (unit 4) up to `value` that an HRD can express: a
// multiple of 1 << (unit + *scale). *scale: bit_rate_scale or cpb_size_scale (E.2.2), the least
// that keeps the ue(v) below 32 bits; openh264 does not read longer ones everywhere.
int64_t motus_hrd_value(int64_t value, int unit, int *scale);

// Writes the SEI of an access unit: buffering_period() if it is IDR, and pic_timing() (D.1.2,
// D.1.3). Requires settings->hrd.
void motus_write_sei(MotusBits *bits, const MotusHrdTiming *timing, int idr);

// Writes the SEI of a recovery point (D.1.8): a decoder that begins here is exact from `frames`
// pictures later on.
void motus_write_recovery_point(MotusBits *bits, int frames);

#ifdef __cplusplus
}
#endif

#endif
