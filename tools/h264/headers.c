// Parameter sets and slice headers (7.3.2, 7.3.3).
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/h264/h264_internal.h"

static void parse_poc(MotusRbsp *rbsp, MotusSps *sps) {
    sps->poc_type = (int)motus_rbsp_ue_max(rbsp, 2, "pic_order_cnt_type");
    if (sps->poc_type == 0) {
        sps->log2_max_poc_lsb =
            4 + (int)motus_rbsp_ue_max(rbsp, 12, "log2_max_pic_order_cnt_lsb_minus4");
    } else if (sps->poc_type == 1) {
        sps->delta_pic_order_always_zero = (int)motus_rbsp_u(rbsp, 1);
        motus_rbsp_se(rbsp); // offset_for_non_ref_pic
        motus_rbsp_se(rbsp); // offset_for_top_to_bottom_field
        const uint32_t cycle =
            motus_rbsp_ue_max(rbsp, 255, "num_ref_frames_in_pic_order_cnt_cycle");
        for (uint32_t i = 0; i < cycle && !rbsp->error; i++) motus_rbsp_se(rbsp);
    }
}

void motus_parse_sps(MotusRbsp *rbsp, MotusSps *sps) {
    *sps = (MotusSps){0};
    const int profile = sps->profile_idc = (int)motus_rbsp_u(rbsp, 8);
    motus_rbsp_expect(rbsp, profile == 66 || profile == 77 || profile == 100,
                      "the profile is none of Baseline, Main and High");
    motus_rbsp_u(rbsp, 16); // constraint flags, level_idc
    motus_rbsp_ue_max(rbsp, 0, "seq_parameter_set_id");
    if (profile == 100) {
        motus_rbsp_expect(rbsp, motus_rbsp_ue(rbsp) == 1, "only 4:2:0 is read");
        motus_rbsp_ue_max(rbsp, 0, "bit_depth_luma_minus8");
        motus_rbsp_ue_max(rbsp, 0, "bit_depth_chroma_minus8");
        motus_rbsp_u(rbsp, 1); // qpprime_y_zero_transform_bypass_flag, of other profiles
        motus_rbsp_expect(rbsp, motus_rbsp_u(rbsp, 1) == 0, "scaling matrices are not read");
    }
    sps->log2_max_frame_num = 4 + (int)motus_rbsp_ue_max(rbsp, 12, "log2_max_frame_num_minus4");
    parse_poc(rbsp, sps);
    motus_rbsp_ue_max(rbsp, 16, "max_num_ref_frames");
    motus_rbsp_u(rbsp, 1); // gaps_in_frame_num_value_allowed_flag
    const uint32_t width = motus_rbsp_ue_max(rbsp, 1023, "picture size");
    const uint32_t height = motus_rbsp_ue_max(rbsp, 1023, "picture size");
    motus_rbsp_expect(rbsp, motus_rbsp_u(rbsp, 1) == 1,
                      "fields are not read (frame_mbs_only_flag)");
    if (rbsp->error) return;
    sps->mb_width = 1 + (int)width;
    sps->mb_height = 1 + (int)height;
}

void motus_parse_pps(MotusRbsp *rbsp, MotusPps *pps) {
    *pps = (MotusPps){0};
    motus_rbsp_ue_max(rbsp, 0, "pic_parameter_set_id");
    motus_rbsp_ue_max(rbsp, 0, "seq_parameter_set_id");
    pps->cabac = (int)motus_rbsp_u(rbsp, 1);
    pps->bottom_field_pic_order = (int)motus_rbsp_u(rbsp, 1);
    motus_rbsp_ue_max(rbsp, 0, "slice groups are not read");
    pps->num_ref_idx = 1 + (int)motus_rbsp_ue_max(rbsp, 31, "num_ref_idx_l0_default_active_minus1");
    motus_rbsp_ue(rbsp); // num_ref_idx_l1_default_active_minus1
    pps->weighted_pred = (int)motus_rbsp_u(rbsp, 1);
    motus_rbsp_u(rbsp, 2); // weighted_bipred_idc
    pps->pic_init_qp = 26 + motus_rbsp_se(rbsp);
    motus_rbsp_se(rbsp); // pic_init_qs_minus26
    motus_rbsp_se(rbsp); // chroma_qp_index_offset
    pps->deblocking_control = (int)motus_rbsp_u(rbsp, 1);
    pps->constrained_intra = (int)motus_rbsp_u(rbsp, 1);
    motus_rbsp_expect(rbsp, motus_rbsp_u(rbsp, 1) == 0, "redundant_pic_cnt_present_flag");
    if (rbsp->at < motus_rbsp_end(rbsp)) {
        pps->transform_8x8 = (int)motus_rbsp_u(rbsp, 1);
        motus_rbsp_expect(rbsp, motus_rbsp_u(rbsp, 1) == 0, "scaling matrices are not read");
        motus_rbsp_se(rbsp); // second_chroma_qp_index_offset
    }
    pps->is_valid = !rbsp->error;
}

// Skips ref_pic_list_modification() (7.3.3.1): the parser does not need to know the pictures.
// Returns the number of its commands.
static int skip_list_modification(MotusRbsp *rbsp) {
    if (!motus_rbsp_u(rbsp, 1)) return 0;
    for (int i = 0; i < 67 && !rbsp->error; i++) {
        if (motus_rbsp_ue_max(rbsp, 3, "modification_of_pic_nums_idc") == 3) return i;
        motus_rbsp_ue(rbsp);
    }
    motus_rbsp_fail(rbsp, "ref_pic_list_modification()");
    return 0;
}

// Skips pred_weight_table() (7.3.3.2) of a P slice.
static void skip_weights(MotusRbsp *rbsp, int num_ref_idx) {
    for (int i = 0; i < 2; i++) motus_rbsp_ue_max(rbsp, 7, "log2_weight_denom");
    for (int i = 0; i < num_ref_idx; i++)
        for (int values = 2; values <= 4; values += 2) // luma, chroma
            for (int k = motus_rbsp_u(rbsp, 1) ? values : 0; k > 0; k--) motus_rbsp_se(rbsp);
}

// Skips dec_ref_pic_marking() (7.3.3.3).
static void skip_marking(MotusRbsp *rbsp, int idr) {
    if (idr) {
        motus_rbsp_u(rbsp, 2);
        return;
    }
    if (!motus_rbsp_u(rbsp, 1)) return;
    for (int i = 0; i < 67 && !rbsp->error; i++) {
        const uint32_t operation =
            motus_rbsp_ue_max(rbsp, 6, "memory_management_control_operation");
        if (operation == 0) return;
        if (operation != 5) motus_rbsp_ue(rbsp);
        if (operation == 3) motus_rbsp_ue(rbsp);
    }
    motus_rbsp_fail(rbsp, "dec_ref_pic_marking()");
}

static void skip_order(MotusRbsp *rbsp, const MotusSps *sps, const MotusPps *pps) {
    if (sps->poc_type == 0) {
        motus_rbsp_u(rbsp, sps->log2_max_poc_lsb);
        if (pps->bottom_field_pic_order) motus_rbsp_se(rbsp);
    } else if (sps->poc_type == 1 && !sps->delta_pic_order_always_zero) {
        motus_rbsp_se(rbsp);
        if (pps->bottom_field_pic_order) motus_rbsp_se(rbsp);
    }
}

static void skip_deblocking(MotusRbsp *rbsp) {
    if (motus_rbsp_ue(rbsp) == 1) return; // disable_deblocking_filter_idc
    for (int i = 0; i < 2; i++) {
        const int offset = motus_rbsp_se(rbsp);
        motus_rbsp_expect(rbsp, offset >= -6 && offset <= 6, "offsets of the deblocking filter");
    }
}

void motus_parse_slice_header(MotusRbsp *rbsp, const MotusSps *sps, const MotusPps *pps,
                              int nal_ref_idc, int idr, MotusParsedSlice *slice) {
    slice->first_mb = (int)motus_rbsp_ue(rbsp);
    const uint32_t type = motus_rbsp_ue(rbsp);
    slice->is_p = type % 5 == 0;
    motus_rbsp_expect(rbsp, type < 10 && (slice->is_p || type % 5 == 2),
                      "only I and P slices are read");
    motus_rbsp_ue_max(rbsp, 0, "pic_parameter_set_id");
    motus_rbsp_u(rbsp, sps->log2_max_frame_num);
    if (idr) motus_rbsp_ue(rbsp); // idr_pic_id
    skip_order(rbsp, sps, pps);
    slice->num_ref_idx = pps->num_ref_idx;
    if (slice->is_p) {
        if (motus_rbsp_u(rbsp, 1)) // num_ref_idx_active_override_flag
            slice->num_ref_idx =
                1 + (int)motus_rbsp_ue_max(rbsp, 31, "num_ref_idx_l0_active_minus1");
        slice->list_commands = skip_list_modification(rbsp);
        if (pps->weighted_pred) skip_weights(rbsp, slice->num_ref_idx);
    }
    if (nal_ref_idc) skip_marking(rbsp, idr);
    if (pps->cabac && slice->is_p)
        slice->cabac_init_idc = (int)motus_rbsp_ue_max(rbsp, 2, "cabac_init_idc");
    slice->qp = pps->pic_init_qp + motus_rbsp_se(rbsp);
    motus_rbsp_expect(rbsp, slice->qp >= 0 && slice->qp <= 51, "slice_qp_delta");
    if (pps->deblocking_control) skip_deblocking(rbsp);
}
