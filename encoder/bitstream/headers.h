// Parameter sets, slice headers, NAL units (7.3.1, 7.3.2, 7.3.3, Annex B, Annex E) and the level
// (Annex A).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_HEADERS_H
#define ENCODER_BITSTREAM_HEADERS_H

#include "encoder/bitstream/bits_core.h"
#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MOTUS_NAL_SLICE = 1,
    MOTUS_NAL_IDR = 5,
    MOTUS_NAL_SEI = 6,
    MOTUS_NAL_SPS = 7,
    MOTUS_NAL_PPS = 8,
    MOTUS_NAL_AUD = 9,
    MOTUS_NAL_FILLER = 12,
};

// Limits of a level (table A-1).
typedef struct MotusLevel {
    int level_idc;       // 10, 11, ... 62
    uint32_t max_mbps;   // MBs per second
    uint32_t max_fs;     // MBs per picture; also no side above sqrt(8 * max_fs) MBs
    int max_mv_y;        // vertical vectors stay within [-max_mv_y, max_mv_y - 0.25] luma samples
    int max_mvs_per_2mb; // 0 = no limit
    int max_br, max_cpb; // of the NAL HRD, in units of 1,200 bits a second and 1,200 bits
} MotusLevel;

// Lowest level that allows the size (in MBs), the rate, one reference, and vertical vectors of
// +-reach_y luma samples (reach_y as wanted, not more than the highest level's). NULL when the
// picture is too large for every level. Where only the MB rate is beyond every level, the highest
// level is returned.
const MotusLevel *motus_level_choose(int mb_width, int mb_height, MotusRational fps, int reach_y);

// This level or the lowest above it that allows the bit rate and the buffer; the highest level
// where none does.
const MotusLevel *motus_level_for_rate(const MotusLevel *level, int64_t rate, int64_t size);

typedef struct MotusSequenceSettings {
    int width, height; // visible luma samples, even
    MotusRational fps;
    MotusColour colour;
    const MotusLevel *level;
    int log2_max_frame_num; // 4..16
    int pic_init_qp;        // PPS: slices code the difference
    int deblock;
    MotusHrd hrd;
    int64_t hrd_rate, hrd_size; // bits a second; bits: as motus_hrd_value leaves them
} MotusSequenceSettings;

// When an access unit is due (Annex C).
typedef struct MotusHrdTiming {
    // 1 / 90000 s: from the first bit's arrival to the access unit's removal at most; the same for
    // a full buffer.
    uint32_t initial, whole;
    uint32_t since_idr; // clock ticks (half pictures) since the IDR picture before this picture was
                        // removed
} MotusHrdTiming;

typedef struct MotusSliceSettings {
    int first_mb;        // raster index
    int idr, idr_pic_id; // idr_pic_id 0..65535
    int p_slice;         // else I
    uint32_t frame_num;
    int qp;
    int deblock;
} MotusSliceSettings;

// Write RBSPs (without NAL header). The SPS: profile_idc 66 with constraint_set0 and 1, which is
// Constrained Baseline; pic_order_cnt_type 2.
void motus_write_sps(MotusBits *bits, const MotusSequenceSettings *settings);
void motus_write_pps(MotusBits *bits, const MotusSequenceSettings *settings);
void motus_write_aud(MotusBits *bits, int p_slice);
void motus_write_slice_header(MotusBits *bits, const MotusSequenceSettings *settings,
                              const MotusSliceSettings *slice);

// What an HRD can say of a rate (unit: 6 bits) or a size (4): the largest multiple of 1 << (unit +
// *scale) up to `value`, where *scale is bit_rate_scale or cpb_size_scale (E.2.2): the least that
// keeps the ue(v) below 32 bits, as longer ones are more than some decoders (openh264) read
// everywhere.
int64_t motus_hrd_value(int64_t value, int unit, int *scale);

// SEI of an access unit: buffering_period() with IDR pictures, and pic_timing() (D.1.2, D.1.3).
// Only with settings->hrd.
void motus_write_sei(MotusBits *bits, const MotusHrdTiming *timing, int idr);

// Wraps an RBSP as a NAL unit with a four-byte start code and emulation prevention. Returns the
// bytes written to dst, at most motus_nal_bound(size).
size_t motus_nal_write(uint8_t *dst, int nal_ref_idc, int nal_unit_type, const uint8_t *rbsp,
                       size_t size);
size_t motus_nal_bound(size_t size);

#ifdef __cplusplus
}
#endif

#endif
