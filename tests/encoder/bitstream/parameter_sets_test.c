// encoder/bitstream/headers.c and bits.c: parameter sets and slice headers parsed back field
// by field, levels against table A-1, emulation prevention.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/headers.h"
#include "tests/encoder/bitstream/cavlc_reader.h"
#include "tests/support/harness.h"

#include <string.h>

static void expect_u(Reader *reader, int n, uint32_t want, const char *name) {
    uint32_t got = read_bits(reader, n);
    MOTUS_CHECK(got == want && !reader->error, "%s: %u, not %u", name, got, want);
}

static void expect_ue(Reader *reader, uint32_t want, const char *name) {
    uint32_t got = read_ue(reader);
    MOTUS_CHECK(got == want && !reader->error, "%s: %u, not %u", name, got, want);
}

static void expect_se(Reader *reader, int32_t want, const char *name) {
    int32_t got = read_se(reader);
    MOTUS_CHECK(got == want && !reader->error, "%s: %d, not %d", name, got, want);
}

static void expect_end(Reader *reader) {
    expect_u(reader, 1, 1, "rbsp_stop_one_bit");
    MOTUS_CHECK(8 * reader->size - reader->pos < 8, "%zu bits left",
                8 * reader->size - reader->pos);
    while (reader->pos < 8 * reader->size) expect_u(reader, 1, 0, "rbsp_alignment_zero_bit");
}

// Writes a parameter set to memory that the next call overwrites.
static Reader written(void (*write)(MotusBits *, const MotusSequenceSettings *),
                      const MotusSequenceSettings *s) {
    static uint8_t data[128];
    MotusBits bits;
    motus_bits_init(&bits, data, sizeof data);
    write(&bits, s);
    return (Reader){data, bits.size, 0, 0};
}

static MotusSequenceSettings random_settings(void) {
    MotusSequenceSettings s = {0};
    s.width = 2 * motus_test_range(1, 1000);
    s.height = 2 * motus_test_range(1, 1000);
    s.fps = (MotusRational){motus_test_range(1, 120000), motus_test_range(1, 1001)};
    s.colour = (MotusColour)MOTUS_COLOUR_UNKNOWN;
    if (motus_test_range(0, 1)) s.colour.full_range = motus_test_range(0, 1);
    if (motus_test_range(0, 1)) s.colour.primaries = motus_test_range(0, 12);
    if (motus_test_range(0, 1)) s.colour.transfer = motus_test_range(0, 18);
    if (motus_test_range(0, 1)) s.colour.matrix = motus_test_range(0, 14);
    if (motus_test_range(0, 1)) s.colour.chroma_location = motus_test_range(0, 5);
    s.level = motus_level_choose((s.width + 15) / 16, (s.height + 15) / 16, s.fps, 1,
                                 motus_test_range(0, 600));
    s.reorder = motus_test_range(0, 3);
    s.max_refs = (const int[]){1, 2, 4, 4}[s.reorder];
    s.gaps = motus_test_range(0, 1);
    s.log2_max_frame_num = motus_test_range(4, 16);
    s.pic_init_qp = motus_test_range(0, 51);
    s.deblock = motus_test_range(0, 1);
    return s;
}

static void expect_colour(Reader *reader, const MotusColour *colour) {
    int described = colour->primaries != 2 || colour->transfer != 2 || colour->matrix != 2;
    int present = described || colour->full_range >= 0;
    expect_u(reader, 1, (uint32_t)present, "video_signal_type_present_flag");
    if (present) {
        expect_u(reader, 3, 5, "video_format");
        expect_u(reader, 1, colour->full_range == 1, "video_full_range_flag");
        expect_u(reader, 1, (uint32_t)described, "colour_description_present_flag");
        if (described) {
            expect_u(reader, 8, (uint32_t)colour->primaries, "colour_primaries");
            expect_u(reader, 8, (uint32_t)colour->transfer, "transfer_characteristics");
            expect_u(reader, 8, (uint32_t)colour->matrix, "matrix_coefficients");
        }
    }
    expect_u(reader, 1, colour->chroma_location >= 0, "chroma_loc_info_present_flag");
    if (colour->chroma_location < 0) return;
    expect_ue(reader, (uint32_t)colour->chroma_location, "chroma_sample_loc_type_top_field");
    expect_ue(reader, (uint32_t)colour->chroma_location, "chroma_sample_loc_type_bottom_field");
}

// Reads the VUI behind aspect_ratio_info_present_flag, of a sequence with an unknown aspect ratio.
static void expect_rest_of_vui(Reader *reader, const MotusSequenceSettings *s) {
    expect_u(reader, 1, 0, "overscan_info_present_flag");
    expect_colour(reader, &s->colour);
    expect_u(reader, 1, 1, "timing_info_present_flag");
    expect_u(reader, 32, (uint32_t)s->fps.den, "num_units_in_tick");
    expect_u(reader, 32, 2 * (uint32_t)s->fps.num, "time_scale");
    expect_u(reader, 1, 1, "fixed_frame_rate_flag");
    expect_u(reader, 1, 0, "nal_hrd_parameters_present_flag");
    expect_u(reader, 1, 0, "vcl_hrd_parameters_present_flag");
    expect_u(reader, 1, 0, "pic_struct_present_flag");
    expect_u(reader, 1, 1, "bitstream_restriction_flag");
    expect_u(reader, 1, 1, "motion_vectors_over_pic_boundaries_flag");
    expect_ue(reader, 0, "max_bytes_per_pic_denom");
    expect_ue(reader, 0, "max_bits_per_mb_denom");
    expect_ue(reader, 13, "log2_max_mv_length_horizontal");
    uint32_t vertical = read_ue(reader);
    MOTUS_CHECK(1 << vertical == 4 * s->level->max_mv_y, "log2_max_mv_length_vertical %u",
                vertical);
    expect_ue(reader, (uint32_t)s->reorder, "max_num_reorder_frames");
    expect_ue(reader, (uint32_t)s->max_refs, "max_dec_frame_buffering");
    expect_end(reader);
}

static void expect_sps_up_to_vui(Reader *reader, const MotusSequenceSettings *s) {
    expect_u(reader, 8, 66, "profile_idc");
    expect_u(reader, 8, 0xC0, "constraint flags");
    expect_u(reader, 8, (uint32_t)s->level->level_idc, "level_idc");
    expect_ue(reader, 0, "seq_parameter_set_id");
    expect_ue(reader, (uint32_t)s->log2_max_frame_num - 4, "log2_max_frame_num_minus4");
    expect_ue(reader, s->reorder ? 0 : 2, "pic_order_cnt_type");
    if (s->reorder) expect_ue(reader, 4, "log2_max_pic_order_cnt_lsb_minus4");
    expect_ue(reader, (uint32_t)s->max_refs, "max_num_ref_frames");
    expect_u(reader, 1, (uint32_t)s->gaps, "gaps_in_frame_num_value_allowed_flag");
    uint32_t mb_width = read_ue(reader) + 1, mb_height = read_ue(reader) + 1;
    expect_u(reader, 1, 1, "frame_mbs_only_flag");
    expect_u(reader, 1, 1, "direct_8x8_inference_flag");
    uint32_t crop[4] = {0};
    if (read_bits(reader, 1))
        for (int i = 0; i < 4; i++) crop[i] = read_ue(reader);
    MOTUS_CHECK(!crop[0] && !crop[2] && crop[1] < 8 && crop[3] < 8, "crop %u %u %u %u", crop[0],
                crop[1], crop[2], crop[3]);
    MOTUS_CHECK((int)(16 * mb_width - 2 * crop[1]) == s->width &&
                    (int)(16 * mb_height - 2 * crop[3]) == s->height,
                "%dx%d", s->width, s->height);
    expect_u(reader, 1, 1, "vui_parameters_present_flag");
}

static void sps_reads_back(void) {
    for (int round = 0; round < 2000; round++) {
        MotusSequenceSettings s = random_settings();
        Reader reader = written(motus_write_sps, &s);
        expect_sps_up_to_vui(&reader, &s);
        expect_u(&reader, 1, 0, "aspect_ratio_info_present_flag");
        expect_rest_of_vui(&reader, &s);
    }
}

static void aspect_ratios(void) {
    static const struct {
        MotusRational sar;
        int idc, num, den; // idc -1: unknown
    } cases[] = {{{0, 1}, -1, 0, 0},      {{1, 1}, 1, 0, 0},           {{7, 7}, 1, 0, 0},
                 {{12, 11}, 2, 0, 0},     {{10, 11}, 3, 0, 0},         {{128, 88}, 4, 0, 0},
                 {{40, 33}, 5, 0, 0},     {{24, 11}, 6, 0, 0},         {{20, 11}, 7, 0, 0},
                 {{32, 11}, 8, 0, 0},     {{80, 33}, 9, 0, 0},         {{18, 11}, 10, 0, 0},
                 {{15, 11}, 11, 0, 0},    {{64, 33}, 12, 0, 0},        {{160, 99}, 13, 0, 0},
                 {{4, 3}, 14, 0, 0},      {{3, 2}, 15, 0, 0},          {{2, 1}, 16, 0, 0},
                 {{59, 54}, 255, 59, 54}, {{65535, 2}, 255, 65535, 2}, {{131072, 6}, -1, 0, 0},
                 {{-1, 1}, -1, 0, 0},     {{5, 0}, -1, 0, 0},          {{200, 180}, 255, 10, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        MotusSequenceSettings s = random_settings();
        s.colour.sar = cases[i].sar;
        Reader reader = written(motus_write_sps, &s);
        expect_sps_up_to_vui(&reader, &s);
        expect_u(&reader, 1, cases[i].idc >= 0, "aspect_ratio_info_present_flag");
        if (cases[i].idc >= 0) expect_u(&reader, 8, (uint32_t)cases[i].idc, "aspect_ratio_idc");
        if (cases[i].idc == 255) {
            expect_u(&reader, 16, (uint32_t)cases[i].num, "sar_width");
            expect_u(&reader, 16, (uint32_t)cases[i].den, "sar_height");
        }
        expect_rest_of_vui(&reader, &s);
    }
}

static void pps_and_aud_read_back(void) {
    for (int qp = 0; qp <= 51; qp++) {
        MotusSequenceSettings s = random_settings();
        s.pic_init_qp = qp;
        Reader reader = written(motus_write_pps, &s);
        expect_ue(&reader, 0, "pic_parameter_set_id");
        expect_ue(&reader, 0, "seq_parameter_set_id");
        expect_u(&reader, 1, 0, "entropy_coding_mode_flag");
        expect_u(&reader, 1, 0, "bottom_field_pic_order_in_frame_present_flag");
        expect_ue(&reader, 0, "num_slice_groups_minus1");
        expect_ue(&reader, 0, "num_ref_idx_l0_default_active_minus1");
        expect_ue(&reader, 0, "num_ref_idx_l1_default_active_minus1");
        expect_u(&reader, 1, 0, "weighted_pred_flag");
        expect_u(&reader, 2, 0, "weighted_bipred_idc");
        expect_se(&reader, qp - 26, "pic_init_qp_minus26");
        expect_se(&reader, 0, "pic_init_qs_minus26");
        expect_se(&reader, 0, "chroma_qp_index_offset");
        expect_u(&reader, 1, 1, "deblocking_filter_control_present_flag");
        expect_u(&reader, 1, 0, "constrained_intra_pred_flag");
        expect_u(&reader, 1, 0, "redundant_pic_cnt_present_flag");
        expect_end(&reader);
        uint8_t data[8];
        MotusBits bits;
        motus_bits_init(&bits, data, sizeof data);
        motus_write_aud(&bits, qp & 1);
        reader = (Reader){data, bits.size, 0, 0};
        expect_u(&reader, 3, qp & 1, "primary_pic_type");
        expect_end(&reader);
    }
}

// The first picture is named if it comes twice; a copy of it is a whole cycle of numbers before it.
static void expect_list(Reader *reader, uint32_t command, int copies, int log2_max) {
    expect_u(reader, 1, command || copies, "ref_pic_list_modification_flag");
    if (!command && !copies) return;
    expect_ue(reader, 0, "modification_of_pic_nums_idc");
    expect_ue(reader, command ? command - 1 : 0, "abs_diff_pic_num_minus1");
    for (int i = 0; i < copies; i++) {
        expect_ue(reader, 0, "modification_of_pic_nums_idc");
        expect_ue(reader, (1u << log2_max) - 1, "abs_diff_pic_num_minus1");
    }
    expect_ue(reader, 3, "modification_of_pic_nums_idc");
}

static void slice_header_reads_back(void) {
    for (int round = 0; round < 4000; round++) {
        MotusSequenceSettings s = random_settings();
        const int type = round & 1 ? 0 : motus_test_range(0, 1 + (s.reorder > 0));
        MotusSliceSettings slice = {
            .idr = round & 1,
            .idr_pic_id = motus_test_range(0, 65535),
            .slice_type = type,
            .is_reference = round & 1 || motus_test_range(0, 1),
            .direct_spatial = motus_test_range(0, 1),
            .copies = type == MOTUS_SLICE_P && motus_test_range(0, 1),
            .list_command = {(uint32_t)motus_test_range(0, 5), (uint32_t)motus_test_range(0, 1)},
            .drop_command = (uint32_t)motus_test_range(0, 1) * (uint32_t)motus_test_range(1, 9),
            .poc = 2 * motus_test_range(0, 1000),
            .frame_num = motus_test_random() >> 8,
            .qp = motus_test_range(0, 51),
            .deblock = motus_test_range(0, 1)};
        uint8_t data[64];
        MotusBits bits;
        motus_bits_init(&bits, data, sizeof data);
        motus_write_slice_header(&bits, &s, &slice);
        size_t count = motus_bits_count(&bits);
        motus_bits_trailing(&bits);
        Reader reader = {data, bits.size, 0, 0};
        expect_ue(&reader, 0, "first_mb_in_slice");
        expect_ue(&reader, type == 2 ? 6 : type ? 5 : 7, "slice_type");
        expect_ue(&reader, 0, "pic_parameter_set_id");
        expect_u(&reader, s.log2_max_frame_num, slice.frame_num % (1u << s.log2_max_frame_num),
                 "frame_num");
        if (slice.idr) expect_ue(&reader, (uint32_t)slice.idr_pic_id, "idr_pic_id");
        if (s.reorder) expect_u(&reader, 8, (uint32_t)slice.poc % 256, "pic_order_cnt_lsb");
        if (type == 2)
            expect_u(&reader, 1, (uint32_t)slice.direct_spatial, "direct_spatial_mv_pred_flag");
        if (type) expect_u(&reader, 1, 0, "num_ref_idx_active_override_flag");
        for (int list = 0; list < type; list++)
            expect_list(&reader, slice.list_command[list], slice.copies, s.log2_max_frame_num);
        if (slice.idr)
            expect_u(&reader, 2, 0, "no_output_of_prior_pics_flag, long_term_reference_flag");
        if (!slice.idr && slice.is_reference)
            expect_u(&reader, 1, slice.drop_command > 0, "adaptive_ref_pic_marking_mode_flag");
        if (!slice.idr && slice.is_reference && slice.drop_command) {
            expect_ue(&reader, 1, "memory_management_control_operation");
            expect_ue(&reader, slice.drop_command - 1, "difference_of_pic_nums_minus1");
            expect_ue(&reader, 0, "memory_management_control_operation");
        }
        expect_se(&reader, slice.qp - s.pic_init_qp, "slice_qp_delta");
        expect_ue(&reader, slice.deblock ? 0 : 1, "disable_deblocking_filter_idc");
        if (slice.deblock) expect_se(&reader, 0, "slice_alpha_c0_offset_div2");
        if (slice.deblock) expect_se(&reader, 0, "slice_beta_offset_div2");
        MOTUS_CHECK(reader.pos == count, "read %zu of %zu bits", reader.pos, count);
    }
}

// Sizes in luma samples, rates and vertical ranges with their levels by table A-1; 0 = none.
static void levels_of_known_pictures(void) {
    static const struct {
        int width, height;
        MotusRational fps;
        int reach_y, level_idc, max_mvs_per_2mb;
    } cases[] = {
        {176, 144, {15, 1}, 16, 10, 0},       {176, 144, {15001, 1000}, 16, 11, 0},
        {176, 144, {15, 1}, 63, 10, 0},       {176, 144, {15, 1}, 64, 11, 0},
        {176, 144, {30, 1}, 127, 11, 0},      {176, 144, {15, 1}, 128, 21, 0},
        {176, 144, {15, 1}, 256, 31, 16},     {176, 144, {15, 1}, 512, 60, 16},
        {176, 144, {15, 1}, 1 << 20, 60, 16}, {320, 240, {20, 1}, 16, 12, 0},
        {352, 288, {15, 1}, 16, 12, 0},       {352, 288, {30000, 1001}, 16, 13, 0},
        {352, 576, {25, 1}, 16, 21, 0},       {720, 480, {15, 1}, 16, 22, 0},
        {640, 480, {30, 1}, 16, 30, 32},      {720, 576, {25, 1}, 16, 30, 32},
        {720, 576, {26, 1}, 16, 31, 16},      {1280, 720, {30, 1}, 16, 31, 16},
        {1280, 720, {60, 1}, 16, 32, 16},     {1920, 1080, {30, 1}, 16, 40, 16},
        {1920, 1080, {30, 1}, 511, 40, 16},   {1920, 1080, {60, 1}, 16, 42, 16},
        {2560, 1920, {30, 1}, 16, 50, 16},    {3840, 2160, {30, 1}, 16, 51, 16},
        {3840, 2160, {60, 1}, 16, 52, 16},    {7680, 4320, {30, 1}, 16, 60, 16},
        {7680, 4320, {60, 1}, 16, 61, 16},    {7680, 4320, {120, 1}, 16, 62, 16},
        {7680, 4320, {1000, 1}, 16, 62, 16},  {16, 16, {INT32_MAX, 1}, 16, 62, 16},
        {28 * 16, 16, {1, 1}, 16, 10, 0}, // sides: 8 * 99 = 792
        {29 * 16, 16, {1, 1}, 16, 11, 0},     {16, 57 * 16, {1, 1}, 16, 21, 0},
        {16384, 2176, {1, 1}, 16, 60, 16},    {16384, 2177, {1, 1}, 16, 0, 0},
        {16384, 16384, {1, 1}, 16, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const MotusLevel *level =
            motus_level_choose((cases[i].width + 15) / 16, (cases[i].height + 15) / 16,
                               cases[i].fps, 1, cases[i].reach_y);
        int idc = level ? level->level_idc : 0, mvs = level ? level->max_mvs_per_2mb : 0;
        MOTUS_CHECK(idc == cases[i].level_idc, "%dx%d %d/%d reach %d: %d, not %d", cases[i].width,
                    cases[i].height, cases[i].fps.num, cases[i].fps.den, cases[i].reach_y, idc,
                    cases[i].level_idc);
        MOTUS_CHECK(mvs == cases[i].max_mvs_per_2mb, "level %d: %d vectors", idc, mvs);
    }
}

// Each limit of table A-1, met exactly and exceeded by one. A picture of one MB has as many MBs per
// second as pictures.
static void limits_are_exact(void) {
    static const struct {
        int max_mbps, level_idc, beyond; // level at max_mbps, level at one more
    } rates[] = {{1485, 10, 11},    {3000, 11, 12},    {6000, 12, 13},    {11880, 13, 21},
                 {19800, 21, 22},   {20250, 22, 30},   {40500, 30, 31},   {108000, 31, 32},
                 {216000, 32, 40},  {245760, 40, 42},  {522240, 42, 50},  {589824, 50, 51},
                 {983040, 51, 52},  {2073600, 52, 60}, {4177920, 60, 61}, {8355840, 61, 62},
                 {16711680, 62, 62}};
    static const struct {
        int mb_width, mb_height, level_idc,
            beyond; // MaxFS as a product, its level, the level with one more column
    } sizes[] = {{11, 9, 10, 11},    {22, 18, 11, 21},   {33, 24, 21, 22},  {45, 36, 22, 31},
                 {60, 60, 31, 32},   {80, 64, 32, 40},   {128, 64, 40, 42}, {136, 64, 42, 50},
                 {184, 120, 50, 51}, {192, 192, 51, 60}, {544, 256, 60, 0}};
    for (size_t i = 0; i < 2 * (sizeof rates / sizeof rates[0]); i++) {
        const int more = i & 1, rate = rates[i / 2].max_mbps + more,
                  idc = motus_level_choose(1, 1, (MotusRational){rate, 1}, 1, 0)->level_idc;
        MOTUS_CHECK(idc == (more ? rates[i / 2].beyond : rates[i / 2].level_idc), "%d MB/s: %d",
                    rate, idc);
    }
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof sizes[0]); i++) {
        const int more = i & 1, width = sizes[i / 2].mb_width + more,
                  height = sizes[i / 2].mb_height;
        const MotusLevel *level = motus_level_choose(width, height, (MotusRational){1, 100}, 1, 0);
        const int idc = level ? level->level_idc : 0;
        MOTUS_CHECK(idc == (more ? sizes[i / 2].beyond : sizes[i / 2].level_idc), "%dx%d MBs: %d",
                    width, height, idc);
    }
}

static void check_nal(const uint8_t *rbsp, size_t size) {
    size_t bound = motus_nal_bound(size), n = 0, zeros = 0;
    uint8_t *nal = motus_test_guarded(bound), back[512];
    size_t written = motus_nal_write(nal, 3, MOTUS_NAL_IDR, rbsp, size);
    MOTUS_CHECK(written <= bound && motus_test_guard_ok(nal), "size %zu: %zu of %zu", size, written,
                bound);
    MOTUS_CHECK(!memcmp(nal, "\0\0\0\1\x65", 5), "start code");
    for (size_t i = 5; i < written;
         i++) { // 7.3.1: 0x000003 loses its 3; 0x000000..0x000002 are not allowed
        if (zeros >= 2) MOTUS_CHECK(nal[i] > 2, "size %zu: emulated start code at %zu", size, i);
        if (zeros >= 2 && nal[i] == 3) {
            zeros = 0;
            MOTUS_CHECK(i + 1 == written || nal[i + 1] <= 3, "needless prevention at %zu", i);
            continue;
        }
        if (i + 1 == written && size && !rbsp[size - 1]) break; // the 3 after a last zero byte
        zeros = nal[i] ? 0 : zeros + 1;
        if (n < sizeof back) back[n++] = nal[i];
    }
    MOTUS_CHECK(n == size && !memcmp(back, rbsp, size), "size %zu: %zu came back", size, n);
    MOTUS_CHECK(nal[written - 1] != 0, "last byte is zero");
    motus_test_guard_free(nal);
}

static void emulation_prevention(void) {
    uint8_t rbsp[400];
    for (int round = 0; round < 20000; round++) {
        size_t size = (size_t)motus_test_range(0, round % 10 ? 12 : 400);
        int most = round & 1 ? 4 : 255;
        for (size_t i = 0; i < size; i++)
            rbsp[i] = (uint8_t)(motus_test_range(0, 2) ? 0 : motus_test_range(0, most));
        check_nal(rbsp, size);
    }
    memset(rbsp, 0, sizeof rbsp);
    for (size_t size = 0; size <= sizeof rbsp; size++) check_nal(rbsp, size);
}

static void level_of_a_rate(void) {
    static const struct {
        int64_t rate, size;
        int level;
    } cases[] = {
        {0, 0, 10},         {76800, 0, 10},           {76801, 0, 11},     {0, 210000, 10},
        {0, 210001, 11},    {2400000, 0, 20},         {2400001, 0, 21},   {24000000, 0, 32},
        {24000001, 0, 41},  {24000000, 30000000, 40}, {300000000, 0, 61}, {0, 75000001, 50},
        {960000000, 0, 62}, {990000000, 0, 62}};
    const MotusLevel *lowest = motus_level_choose(1, 1, (MotusRational){25, 1}, 1, 0);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int idc = motus_level_for_rate(lowest, cases[i].rate, cases[i].size)->level_idc;
        MOTUS_CHECK(idc == cases[i].level, "%lld bit/s, %lld bits: level %d, not %d",
                    (long long)cases[i].rate, (long long)cases[i].size, idc, cases[i].level);
    }
}

// Rates and sizes of an HRD: exact if the value is short, else less than 1/32768 below, in as few
// bits as all decoders read.
static void hrd_values(void) {
    for (int i = 0; i < 20000; i++) {
        const int unit = i % 2 ? 6 : 4, bits = motus_test_range(unit, unit + 30);
        const int64_t value =
            ((int64_t)1 << bits) + (((int64_t)motus_test_range(0, 1 << 20) << bits) >> 20);
        int scale;
        const int64_t got = motus_hrd_value(value, unit, &scale), code = got >> (unit + scale);
        const int exact = value >> unit <= 65535;
        MOTUS_CHECK(got <= value && value - got < (exact ? (int64_t)1 << unit : value / 32768),
                    "%lld: %lld", (long long)value, (long long)got);
        MOTUS_CHECK(exact ? !scale : scale <= 15 && code > 32767, "%lld: scale %d",
                    (long long)value, scale);
        MOTUS_CHECK(code << (unit + scale) == got && code >= 1 && code <= 65535, "%lld: code %lld",
                    (long long)value, (long long)code);
    }
}

MOTUS_SUITE("parameter_sets", TEST(hrd_values), TEST(sps_reads_back), TEST(aspect_ratios),
            TEST(pps_and_aud_read_back), TEST(slice_header_reads_back),
            TEST(levels_of_known_pictures), TEST(limits_are_exact), TEST(emulation_prevention),
            TEST(level_of_a_rate))
