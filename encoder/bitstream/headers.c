// Levels, parameter sets, access unit delimiter, SEI and slice header (headers.h).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/headers.h"

#include "common/int_core.h"

// ---- Levels (A.3.1) -----------------------------------------------------------------------------

// Table A-1. Level 1b is left out: it differs from level 1 in bit rates only.
static const MotusLevel levels[] = {
    {10, 1485, 99, 396, 64, 0, 64, 175},
    {11, 3000, 396, 900, 128, 0, 192, 500},
    {12, 6000, 396, 2376, 128, 0, 384, 1000},
    {13, 11880, 396, 2376, 128, 0, 768, 2000},
    {20, 11880, 396, 2376, 128, 0, 2000, 2000},
    {21, 19800, 792, 4752, 256, 0, 4000, 4000},
    {22, 20250, 1620, 8100, 256, 0, 4000, 4000},
    {30, 40500, 1620, 8100, 256, 32, 10000, 10000},
    {31, 108000, 3600, 18000, 512, 16, 14000, 14000},
    {32, 216000, 5120, 20480, 512, 16, 20000, 20000},
    {40, 245760, 8192, 32768, 512, 16, 20000, 25000},
    {41, 245760, 8192, 32768, 512, 16, 50000, 62500},
    {42, 522240, 8704, 34816, 512, 16, 50000, 62500},
    {50, 589824, 22080, 110400, 512, 16, 135000, 135000},
    {51, 983040, 36864, 184320, 512, 16, 240000, 240000},
    {52, 2073600, 36864, 184320, 512, 16, 240000, 240000},
    {60, 4177920, 139264, 696320, 8192, 16, 240000, 240000},
    {61, 8355840, 139264, 696320, 8192, 16, 480000, 480000},
    {62, 16711680, 139264, 696320, 8192, 16, 800000, 800000},
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

static int size_fits(const MotusLevel *level, int mb_width, int mb_height) {
    uint64_t w = (uint64_t)mb_width, h = (uint64_t)mb_height, side = w > h ? w : h;
    return w * h <= level->max_fs && side * side <= 8u * (uint64_t)level->max_fs;
}

const MotusLevel *motus_level_choose(int mb_width, int mb_height, MotusRational fps, int refs,
                                     int reach_y) {
    const MotusLevel *highest = &levels[LEVELS - 1];
    if (!size_fits(highest, mb_width, mb_height)) return NULL;
    reach_y = motus_min(reach_y, highest->max_mv_y - 1);
    const uint64_t n_mb = (uint64_t)(mb_width * mb_height),
                   rate = n_mb * (uint64_t)fps.num; // MBs per fps.den seconds
    for (const MotusLevel *level = levels; level < highest; level++)
        if (size_fits(level, mb_width, mb_height) && rate <= level->max_mbps * (uint64_t)fps.den &&
            (uint64_t)refs * n_mb <= level->max_dpb_mbs && reach_y < level->max_mv_y)
            return level;
    return highest;
}

#define BITS_OF_UNIT 1200 // cpbBrNalFactor of the Baseline profiles

const MotusLevel *motus_level_for_rate(const MotusLevel *level, int64_t rate, int64_t size) {
    while (level < &levels[LEVELS - 1] && (rate > level->max_br * (int64_t)BITS_OF_UNIT ||
                                           size > level->max_cpb * (int64_t)BITS_OF_UNIT))
        level++;
    return level;
}

// ---- Parameter sets (7.3.2, E.1.1) --------------------------------------------------------------

enum {
    EXTENDED_SAR = 255, // aspect_ratio_idc
    VIDEO_FORMAT_UNSPECIFIED = 5,
    COLOUR_UNSPECIFIED = 2,
    LOG2_MAX_POC_LSB = 8, // PicOrderCnt of reference pictures differs by at most 34 (8.2.1.1)
};

static void put_flag(MotusBits *bits, int flag) { motus_bits_put(bits, 1, flag != 0); }

// Writes a ratio whose reduced terms exceed 16 bits as unknown.
static void write_aspect_ratio(MotusBits *bits, MotusRational sar) {
    static const uint8_t table[16][2] = {
        // aspect_ratio_idc from 1 on (table E-1)
        {1, 1},   {12, 11}, {10, 11}, {16, 11}, {40, 33},  {24, 11}, {20, 11}, {32, 11},
        {80, 33}, {18, 11}, {15, 11}, {64, 33}, {160, 99}, {4, 3},   {3, 2},   {2, 1}};
    int known = sar.num > 0 && sar.den > 0, num = sar.num, den = sar.den, idc = 0;
    for (int rest = den; known && rest;) { // num becomes the greatest common divisor
        const int next = num % rest;
        num = rest;
        rest = next;
    }
    den = known ? sar.den / num : 0, num = known ? sar.num / num : 0;
    known = known && num <= 65535 && den <= 65535;
    put_flag(bits, known); // aspect_ratio_info_present_flag
    if (!known) return;
    while (idc < 16 && (table[idc][0] != num || table[idc][1] != den)) idc++;
    motus_bits_put(bits, 8, idc < 16 ? (uint32_t)idc + 1 : EXTENDED_SAR);
    if (idc < 16) return;
    motus_bits_put(bits, 16, (uint32_t)num);
    motus_bits_put(bits, 16, (uint32_t)den);
}

static void write_colour(MotusBits *bits, const MotusColour *colour) {
    int described = colour->primaries != COLOUR_UNSPECIFIED ||
                    colour->transfer != COLOUR_UNSPECIFIED || colour->matrix != COLOUR_UNSPECIFIED;
    int present = described || colour->full_range >= 0;
    put_flag(bits, present); // video_signal_type_present_flag
    if (present) {
        motus_bits_put(bits, 3, VIDEO_FORMAT_UNSPECIFIED);
        put_flag(bits, colour->full_range == 1);
        put_flag(bits, described); // colour_description_present_flag
        if (described) {
            motus_bits_put(bits, 8, (uint32_t)colour->primaries & 255);
            motus_bits_put(bits, 8, (uint32_t)colour->transfer & 255);
            motus_bits_put(bits, 8, (uint32_t)colour->matrix & 255);
        }
    }
    put_flag(bits, colour->chroma_location >= 0); // chroma_loc_info_present_flag
    if (colour->chroma_location >= 0)
        for (int field = 0; field < 2; field++)
            motus_bits_ue(bits, (uint32_t)colour->chroma_location);
}

#define DELAY_BITS 24 // of every delay: 186 s in 1/90000 s, 97 hours in ticks of 24 pictures/s

int64_t motus_hrd_value(int64_t value, int unit, int *scale) {
    for (*scale = 0; *scale < 15 && value >> (unit + *scale) > 65535;) ++*scale;
    return value >> (unit + *scale) << (unit + *scale);
}

static void write_vui(MotusBits *bits, const MotusSequenceSettings *settings) {
    write_aspect_ratio(bits, settings->colour.sar);
    put_flag(bits, 0); // overscan_info_present_flag
    write_colour(bits, &settings->colour);
    put_flag(bits, 1); // timing_info_present_flag
    motus_bits_put(bits, 32, (uint32_t)settings->fps.den);
    motus_bits_put(bits, 32, 2 * (uint32_t)settings->fps.num); // time_scale counts fields
    put_flag(bits, 1);                                         // fixed_frame_rate_flag
    put_flag(bits, settings->hrd != MOTUS_HRD_NONE);           // nal_hrd_parameters_present_flag
    if (settings->hrd) { // hrd_parameters() with one schedule (E.1.2)
        int rate_scale, size_scale;
        const int64_t rate = motus_hrd_value(settings->hrd_rate, 6, &rate_scale),
                      size = motus_hrd_value(settings->hrd_size, 4, &size_scale);
        motus_bits_ue(bits, 0); // cpb_cnt_minus1
        motus_bits_put(bits, 4, (uint32_t)rate_scale);
        motus_bits_put(bits, 4, (uint32_t)size_scale);
        motus_bits_ue(bits, (uint32_t)(rate >> (6 + rate_scale)) - 1);
        motus_bits_ue(bits, (uint32_t)(size >> (4 + size_scale)) - 1);
        put_flag(bits, settings->hrd == MOTUS_HRD_CBR);
        motus_bits_put(bits, 5, DELAY_BITS - 1); // initial_cpb_removal_delay_length_minus1
        motus_bits_put(bits, 5, DELAY_BITS - 1); // cpb_removal_delay_length_minus1
        motus_bits_put(bits, 5, DELAY_BITS - 1); // dpb_output_delay_length_minus1
        motus_bits_put(bits, 5, 0);              // time_offset_length
    }
    put_flag(bits, 0);                    // vcl_hrd_parameters_present_flag
    if (settings->hrd) put_flag(bits, 0); // low_delay_hrd_flag
    put_flag(bits, 0);                    // pic_struct_present_flag
    put_flag(bits, 1);                    // bitstream_restriction_flag
    put_flag(bits, 1);                    // motion_vectors_over_pic_boundaries_flag
    motus_bits_ue(bits, 0);               // max_bytes_per_pic_denom: no limit
    motus_bits_ue(bits, 0);               // max_bits_per_mb_denom: no limit
    motus_bits_ue(bits, 13); // log2_max_mv_length_horizontal: 2048 luma samples in quarters
    // log2_max_mv_length_vertical
    motus_bits_ue(bits, (uint32_t)motus_bit_length((uint32_t)settings->level->max_mv_y) + 1);
    motus_bits_ue(bits, (uint32_t)settings->reorder);  // max_num_reorder_frames
    motus_bits_ue(bits, (uint32_t)settings->max_refs); // max_dec_frame_buffering
}

// Constraint flags, in their byte of the SPS.
enum {
    OBEYS_BASELINE = 0x80, // constraint_set0_flag
    OBEYS_MAIN = 0x40,     // constraint_set1_flag
    ONLY_FRAMES = 0x08,    // constraint_set4_flag, from Main on
    NO_B_PICTURES = 0x04,  // constraint_set5_flag, from Main on
};

// profile_idc and constraint flags by profile.
static const uint8_t profiles[MOTUS_PROFILES][2] = {
    [MOTUS_PROFILE_BASELINE] = {66, OBEYS_BASELINE | OBEYS_MAIN},
    [MOTUS_PROFILE_MAIN] = {77, OBEYS_MAIN | ONLY_FRAMES | NO_B_PICTURES},
    [MOTUS_PROFILE_HIGH] = {100, ONLY_FRAMES | NO_B_PICTURES},
};

void motus_write_sps(MotusBits *bits, const MotusSequenceSettings *settings) {
    motus_bits_put(bits, 8, profiles[settings->profile][0]);
    motus_bits_put(bits, 8,
                   profiles[settings->profile][1] & ~(settings->reorder ? NO_B_PICTURES : 0u));
    motus_bits_put(bits, 8, (uint32_t)settings->level->level_idc);
    motus_bits_ue(bits, 0); // seq_parameter_set_id
    if (settings->profile == MOTUS_PROFILE_HIGH) {
        motus_bits_ue(bits, 1); // chroma_format_idc: 4:2:0
        motus_bits_ue(bits, 0); // bit_depth_luma_minus8
        motus_bits_ue(bits, 0); // bit_depth_chroma_minus8
        put_flag(bits, 0);      // qpprime_y_zero_transform_bypass_flag
        put_flag(bits, 0);      // seq_scaling_matrix_present_flag
    }
    motus_bits_ue(bits, (uint32_t)settings->log2_max_frame_num - 4);
    motus_bits_ue(bits, settings->reorder ? 0 : 2); // pic_order_cnt_type; 2: as they are coded
    if (settings->reorder) motus_bits_ue(bits, LOG2_MAX_POC_LSB - 4);
    motus_bits_ue(bits, (uint32_t)settings->max_refs); // max_num_ref_frames
    put_flag(bits, settings->gaps);                    // gaps_in_frame_num_value_allowed_flag
    motus_bits_ue(bits, (uint32_t)motus_mbs(settings->width) - 1);
    motus_bits_ue(bits, (uint32_t)motus_mbs(settings->height) - 1);
    put_flag(bits, 1); // frame_mbs_only_flag
    put_flag(bits, 1); // direct_8x8_inference_flag
    // CropUnitX = CropUnitY = 2 for frames of 4:2:0.
    const int right = (motus_mbs(settings->width) * 16 - settings->width) / 2,
              bottom = (motus_mbs(settings->height) * 16 - settings->height) / 2;
    put_flag(bits, right || bottom); // frame_cropping_flag
    if (right || bottom) {
        motus_bits_ue(bits, 0);
        motus_bits_ue(bits, (uint32_t)right);
        motus_bits_ue(bits, 0);
        motus_bits_ue(bits, (uint32_t)bottom);
    }
    put_flag(bits, 1); // vui_parameters_present_flag
    write_vui(bits, settings);
    motus_bits_trailing(bits);
}

void motus_write_pps(MotusBits *bits, const MotusSequenceSettings *settings) {
    motus_bits_ue(bits, 0);          // pic_parameter_set_id
    motus_bits_ue(bits, 0);          // seq_parameter_set_id
    put_flag(bits, settings->cabac); // entropy_coding_mode_flag
    put_flag(bits, 0);               // bottom_field_pic_order_in_frame_present_flag
    motus_bits_ue(bits, 0);          // num_slice_groups_minus1
    // num_ref_idx_l0_default_active_minus1
    motus_bits_ue(bits, (uint32_t)motus_max(settings->active_refs, 1) - 1);
    motus_bits_ue(bits, 0); // num_ref_idx_l1_default_active_minus1
    put_flag(bits, settings->weighted_pred);
    motus_bits_put(bits, 2, settings->weighted_bipred ? 2 : 0); // weighted_bipred_idc
    motus_bits_se(bits, settings->pic_init_qp - 26);
    motus_bits_se(bits, 0); // pic_init_qs_minus26
    motus_bits_se(bits, 0); // chroma_qp_index_offset
    put_flag(bits, 1);      // deblocking_filter_control_present_flag
    put_flag(bits, 0);      // constrained_intra_pred_flag
    put_flag(bits, 0);      // redundant_pic_cnt_present_flag
    if (settings->transform_8x8) {
        put_flag(bits, 1);      // transform_8x8_mode_flag
        put_flag(bits, 0);      // pic_scaling_matrix_present_flag
        motus_bits_se(bits, 0); // second_chroma_qp_index_offset
    }
    motus_bits_trailing(bits);
}

void motus_write_aud(MotusBits *bits, int slice_type) {
    motus_bits_put(bits, 3, (uint32_t)slice_type); // primary_pic_type: I, also P, also B (7-5)
    motus_bits_trailing(bits);
}

// ---- SEI (7.3.2.3.1, D.1) -----------------------------------------------------------------------

enum { SEI_BUFFERING_PERIOD = 0, SEI_PIC_TIMING = 1, SEI_RECOVERY_POINT = 6 };

// Writes a message of less than 255 bytes. bit_equal_to_one and zeros fill up a partial byte of the
// payload (D.1.1).
static void write_message(MotusBits *bits, uint32_t type, MotusBits *payload) {
    if (motus_bits_count(payload) % 8)
        motus_bits_trailing(payload);
    else
        motus_bits_align_zero(payload);
    motus_bits_put(bits, 8, type);
    motus_bits_put(bits, 8, (uint32_t)payload->size);
    for (size_t i = 0; i < payload->size; i++) motus_bits_put(bits, 8, payload->data[i]);
}

void motus_write_sei(MotusBits *bits, const MotusHrdTiming *timing, int idr) {
    const uint32_t most = (1u << DELAY_BITS) - 1,
                   whole = timing->whole < most ? timing->whole : most;
    const uint32_t initial = timing->initial < 1       ? 1
                             : timing->initial < whole ? timing->initial
                                                       : whole;
    uint8_t room[32];
    MotusBits payload;
    if (idr) {
        motus_bits_init(&payload, room, sizeof room);
        motus_bits_ue(&payload, 0); // seq_parameter_set_id
        motus_bits_put(&payload, DELAY_BITS, initial);
        motus_bits_put(&payload, DELAY_BITS, whole - initial); // initial_cpb_removal_delay_offset
        write_message(bits, SEI_BUFFERING_PERIOD, &payload);
    }
    motus_bits_init(&payload, room, sizeof room);
    motus_bits_put(&payload, DELAY_BITS, timing->since_idr & most); // cpb_removal_delay
    motus_bits_put(&payload, DELAY_BITS, timing->output_delay);     // dpb_output_delay
    write_message(bits, SEI_PIC_TIMING, &payload);
    motus_bits_trailing(bits);
}

void motus_write_recovery_point(MotusBits *bits, int frames) {
    uint8_t room[16];
    MotusBits payload;
    motus_bits_init(&payload, room, sizeof room);
    motus_bits_ue(&payload, (uint32_t)frames); // recovery_frame_cnt
    put_flag(&payload, 1);                     // exact_match_flag
    put_flag(&payload, 0);                     // broken_link_flag
    motus_bits_put(&payload, 2, 0);            // changing_slice_group_idc
    write_message(bits, SEI_RECOVERY_POINT, &payload);
    motus_bits_trailing(bits);
}

// ---- Slice header (7.3.3) -----------------------------------------------------------------------

// Writes ref_pic_list_modification() of a list (7.3.3.1): a command for its first picture, and one
// for each copy, which is MaxPicNum before it. The default first picture of a P picture, which a
// copy has to name, is the reference before it.
static void write_list(MotusBits *bits, uint32_t abs_diff_pic_num, int copies,
                       uint32_t max_pic_num) {
    const int any = abs_diff_pic_num || copies;
    put_flag(bits, any); // ref_pic_list_modification_flag
    for (int i = 0; i <= copies && any; i++) {
        const uint32_t first = abs_diff_pic_num ? abs_diff_pic_num : 1;
        motus_bits_ue(bits, 0); // modification_of_pic_nums_idc: subtract
        motus_bits_ue(bits, (i ? max_pic_num : first) - 1);
    }
    if (any) motus_bits_ue(bits, 3); // end
}

// Writes pred_weight_table() of a P slice (7.3.3.2).
static void write_weights(MotusBits *bits, const MotusWeights *weights, int refs) {
    motus_bits_ue(bits, (uint32_t)weights->log2_denom); // luma_log2_weight_denom
    motus_bits_ue(bits, (uint32_t)weights->log2_denom); // chroma_log2_weight_denom
    for (int i = 0; i < refs; i++)
        for (int chroma = 0; chroma < 2; chroma++) {
            const int has = chroma ? weights->ref[i].has_chroma : weights->ref[i].has_luma;
            put_flag(bits, has); // luma_weight_l0_flag, chroma_weight_l0_flag
            for (int p = chroma; has && p <= 2 * chroma; p++) {
                const MotusWeight *w = &weights->ref[i].plane[p];
                motus_bits_se(bits, w->weight);
                motus_bits_se(bits, w->offset);
            }
        }
}

// Writes dec_ref_pic_marking() (7.3.3.3).
static void write_marking(MotusBits *bits, const MotusSliceSettings *slice) {
    if (slice->idr) {
        put_flag(bits, 0); // no_output_of_prior_pics_flag
        put_flag(bits, 0); // long_term_reference_flag
        return;
    }
    put_flag(bits, slice->drop_command != 0); // adaptive_ref_pic_marking_mode_flag
    if (!slice->drop_command) return;
    motus_bits_ue(bits, 1); // memory_management_control_operation: drop a picture
    motus_bits_ue(bits, slice->drop_command - 1);
    motus_bits_ue(bits, 0); // end
}

void motus_write_slice_header(MotusBits *bits, const MotusSequenceSettings *settings,
                              const MotusSliceSettings *slice) {
    static const uint8_t slice_type[] = {7, 5, 6}; // I, P, B: of all slices (table 7-6)
    const int is_b = slice->slice_type == MOTUS_SLICE_B;
    motus_bits_ue(bits, (uint32_t)slice->first_mb);
    motus_bits_ue(bits, slice_type[slice->slice_type]);
    motus_bits_ue(bits, 0); // pic_parameter_set_id
    motus_bits_put(bits, settings->log2_max_frame_num,
                   slice->frame_num & ((1u << settings->log2_max_frame_num) - 1));
    if (slice->idr) motus_bits_ue(bits, (uint32_t)slice->idr_pic_id);
    if (settings->reorder) // pic_order_cnt_lsb
        motus_bits_put(bits, LOG2_MAX_POC_LSB,
                       (uint32_t)slice->poc & ((1u << LOG2_MAX_POC_LSB) - 1));
    if (is_b) put_flag(bits, slice->direct_spatial); // direct_spatial_mv_pred_flag
    if (slice->slice_type) {
        const int refs = motus_max(slice->refs, 1),
                  is_other = refs != motus_max(settings->active_refs, 1);
        put_flag(bits, is_other); // num_ref_idx_active_override_flag
        if (is_other) motus_bits_ue(bits, (uint32_t)refs - 1);
        if (is_other && is_b) motus_bits_ue(bits, 0); // one reference in list 1
        for (int list = 0; list < 1 + is_b; list++)
            write_list(bits, slice->list_command[list], list ? 0 : slice->copies,
                       1u << settings->log2_max_frame_num);
        if (settings->weighted_pred && !is_b) write_weights(bits, slice->weights, refs);
    }
    if (slice->is_reference) write_marking(bits, slice);
    if (slice->cabac && slice->slice_type) motus_bits_ue(bits, (uint32_t)slice->cabac_init_idc);
    motus_bits_se(bits, slice->qp - settings->pic_init_qp);
    motus_bits_ue(bits, !slice->deblock   ? 1
                        : slice->is_apart ? 2
                                          : 0); // disable_deblocking_filter_idc
    if (slice->deblock) {
        motus_bits_se(bits, 0); // slice_alpha_c0_offset_div2
        motus_bits_se(bits, 0); // slice_beta_offset_div2
    }
}

MotusSliceHead motus_slice_head(const MotusSequenceSettings *settings,
                                const MotusSliceSettings *slice, int nal_ref_idc) {
    MotusSliceHead head = {.slice_type = (uint8_t)slice->slice_type,
                           .qp = (uint8_t)slice->qp,
                           .cabac_table =
                               (uint8_t)(slice->slice_type ? 1 + slice->cabac_init_idc : 0),
                           .transform_8x8 = slice->transform_8x8 != 0};
    MotusBits bits;
    motus_bits_init(&bits, head.header, sizeof head.header);
    motus_write_slice_header(&bits, settings, slice);
    head.header_bits = (uint32_t)motus_bits_count(&bits);
    motus_bits_align_zero(&bits);
    assert(!bits.overflow);
    head.nal_header = (uint8_t)(nal_ref_idc << 5 | (slice->idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE));
    return head;
}
