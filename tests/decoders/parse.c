// NAL units, parameter sets, slices (7.3.1 .. 7.3.4).
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/decoders/parse.h"

#include <stdlib.h>
#include <string.h>

#include "tests/decoders/decoders.h"
#include "tests/decoders/parse_internal.h"

unsigned rbsp_peek(const Rbsp *rbsp, int n) {
    unsigned value = 0;
    for (int i = 0; i < n; i++) {
        const size_t at = rbsp->at + (size_t)i;
        value = value << 1 | (at < rbsp->bits ? rbsp->data[at / 8] >> (7 - at % 8) & 1u : 0);
    }
    return value;
}

unsigned rbsp_u(Rbsp *rbsp, int n) {
    const unsigned value = rbsp_peek(rbsp, n);
    rbsp->at += (size_t)n;
    if (rbsp->at > rbsp->bits) rbsp_fail(rbsp, "the data end inside a syntax element");
    return value;
}

unsigned rbsp_ue(Rbsp *rbsp) {
    int zeros = 0;
    while (zeros < 32 && !rbsp_u(rbsp, 1)) zeros++;
    if (zeros == 32) rbsp_fail(rbsp, "ue(v) is too long");
    return zeros == 32 ? 0 : (1u << zeros) - 1 + rbsp_u(rbsp, zeros);
}

int rbsp_se(Rbsp *rbsp) {
    const unsigned code = rbsp_ue(rbsp);
    return code % 2 ? (int)(code / 2) + 1 : -(int)(code / 2);
}

void rbsp_fail(Rbsp *rbsp, const char *text) {
    if (!rbsp->wrong) rbsp->wrong = text;
}

// Parameter sets as far as slices need them.
typedef struct Parser {
    int log2_max_frame_num, poc_type, log2_max_poc_lsb, mb_width, mb_height;
    int pic_init_qp, deblocking_control;
    ParsedPicture picture;
    MotusCoverage *coverage;
} Parser;

static void expect(Rbsp *rbsp, int ok, const char *text) {
    if (!ok) rbsp_fail(rbsp, text);
}

static void parse_sps(Rbsp *rbsp, Parser *parser) {
    expect(rbsp, rbsp_u(rbsp, 8) == 66, "profile_idc");
    rbsp_u(rbsp, 16); // constraint flags, level_idc
    expect(rbsp, rbsp_ue(rbsp) == 0, "seq_parameter_set_id");
    parser->log2_max_frame_num = 4 + (int)rbsp_ue(rbsp);
    parser->poc_type = (int)rbsp_ue(rbsp);
    expect(rbsp, parser->poc_type != 1, "pic_order_cnt_type");
    if (parser->poc_type == 0) parser->log2_max_poc_lsb = 4 + (int)rbsp_ue(rbsp);
    expect(rbsp, rbsp_ue(rbsp) == 1, "max_num_ref_frames");
    rbsp_u(rbsp, 1); // gaps_in_frame_num_value_allowed_flag
    parser->mb_width = 1 + (int)rbsp_ue(rbsp);
    parser->mb_height = 1 + (int)rbsp_ue(rbsp);
    expect(rbsp, rbsp_u(rbsp, 1) == 1, "frame_mbs_only_flag");
    expect(rbsp, parser->mb_width <= 1024 && parser->mb_height <= 1024, "picture size");
    if (rbsp->wrong) return;
    ParsedPicture *picture = &parser->picture;
    picture->mb_width = parser->mb_width;
    picture->n_mb = parser->mb_width * parser->mb_height;
    free(picture->mb);
    picture->mb = calloc((size_t)picture->n_mb, sizeof *picture->mb);
    expect(rbsp, picture->mb != NULL, "no memory");
}

static void parse_pps(Rbsp *rbsp, Parser *parser) {
    expect(rbsp, rbsp_ue(rbsp) == 0 && rbsp_ue(rbsp) == 0, "parameter set ids");
    expect(rbsp, rbsp_u(rbsp, 1) == 0, "entropy_coding_mode_flag");
    rbsp_u(rbsp, 1); // bottom_field_pic_order_in_frame_present_flag
    expect(rbsp, rbsp_ue(rbsp) == 0, "num_slice_groups_minus1");
    expect(rbsp, rbsp_ue(rbsp) == 0 && rbsp_ue(rbsp) == 0, "num_ref_idx_default_active_minus1");
    expect(rbsp, rbsp_u(rbsp, 3) == 0, "weighted prediction");
    parser->pic_init_qp = 26 + rbsp_se(rbsp);
    rbsp_se(rbsp); // pic_init_qs_minus26
    expect(rbsp, rbsp_se(rbsp) == 0, "chroma_qp_index_offset");
    parser->deblocking_control = (int)rbsp_u(rbsp, 1);
    expect(rbsp, rbsp_u(rbsp, 2) == 0, "constrained_intra_pred_flag, redundant_pic_cnt_present_flag");
}

static void parse_slice_header(Rbsp *rbsp, Parser *parser, int nal_ref_idc, int idr) {
    expect(rbsp, rbsp_ue(rbsp) == 0, "first_mb_in_slice");
    const unsigned type = rbsp_ue(rbsp);
    parser->picture.p_slice = type % 5 == 0;
    expect(rbsp, type % 5 == 0 || type % 5 == 2, "slice_type");
    expect(rbsp, rbsp_ue(rbsp) == 0, "pic_parameter_set_id");
    rbsp_u(rbsp, parser->log2_max_frame_num);
    if (idr) rbsp_ue(rbsp); // idr_pic_id
    if (parser->poc_type == 0) rbsp_u(rbsp, parser->log2_max_poc_lsb);
    if (parser->picture.p_slice) {
        expect(rbsp, rbsp_u(rbsp, 1) == 0, "num_ref_idx_active_override_flag");
        expect(rbsp, rbsp_u(rbsp, 1) == 0, "ref_pic_list_modification_flag_l0");
    }
    if (nal_ref_idc) rbsp_u(rbsp, idr ? 2 : 1); // dec_ref_pic_marking() without operations
    parser->picture.qp = parser->pic_init_qp + rbsp_se(rbsp);
    expect(rbsp, parser->picture.qp >= 0 && parser->picture.qp <= 51, "slice_qp_delta");
    if (parser->deblocking_control && rbsp_ue(rbsp) != 1)
        expect(rbsp, rbsp_se(rbsp) == 0 && rbsp_se(rbsp) == 0, "filter offsets");
}

// Position of the rbsp_stop_one_bit.
static size_t end_of_data(const Rbsp *rbsp) {
    size_t bits = rbsp->bits;
    while (bits && !(rbsp->data[(bits - 1) / 8] >> (7 - (bits - 1) % 8) & 1)) bits--;
    return bits ? bits - 1 : 0;
}

static void skip_mbs(Rbsp *rbsp, Parser *parser, int *n) {
    const unsigned run = rbsp_ue(rbsp);
    if (run > (unsigned)(parser->picture.n_mb - *n)) {
        rbsp_fail(rbsp, "mb_skip_run");
        return;
    }
    parser->coverage->p_skip += run;
    for (unsigned i = 0; i < run; i++) {
        ParsedMb *mb = parser->picture.mb + (*n)++;
        memset(mb->total_coeff, 0, sizeof mb->total_coeff);
        memset(mb->intra4x4_pred_mode, 2, sizeof mb->intra4x4_pred_mode);
    }
}

static void parse_slice(Rbsp *rbsp, Parser *parser, int nal_ref_idc, int idr) {
    ParsedPicture *picture = &parser->picture;
    expect(rbsp, picture->mb != NULL, "a slice before its parameter sets");
    if (!rbsp->wrong) parse_slice_header(rbsp, parser, nal_ref_idc, idr);
    if (rbsp->wrong) return;
    const size_t end = end_of_data(rbsp);
    int n = 0;
    parser->coverage->pictures[picture->p_slice]++;
    while (rbsp->at < end && !rbsp->wrong) {
        if (picture->p_slice) skip_mbs(rbsp, parser, &n);
        if (rbsp->at >= end) break;
        expect(rbsp, n < picture->n_mb, "more MBs than the picture has");
        if (rbsp->wrong) return;
        const size_t before = rbsp->at;
        parse_mb(rbsp, picture, n++, parser->coverage);
        const unsigned bits = (unsigned)(rbsp->at - before);
        if (bits > parser->coverage->mb_bits) parser->coverage->mb_bits = bits;
        expect(rbsp, bits <= 3200, "macroblock_layer() of more than 3200 bits (A.3.1)");
    }
    expect(rbsp, rbsp->at == end && end + 8 >= rbsp->bits, "rbsp_slice_trailing_bits");
    expect(rbsp, n == picture->n_mb, "fewer MBs than the picture has");
}

// Copies a NAL unit's payload without emulation prevention bytes (7.3.1); returns its size.
static size_t unescape(uint8_t *rbsp, const uint8_t *nal, size_t size, MotusCoverage *coverage, const char **wrong) {
    size_t n = 0, zeros = 0;
    for (size_t i = 0; i < size; i++) {
        if (zeros >= 2 && nal[i] < 3) *wrong = "a start code inside a NAL unit";
        if (zeros >= 2 && nal[i] == 3) {
            if (i + 1 < size && nal[i + 1] > 3) *wrong = "a needless emulation prevention byte";
            coverage->emulation_prevention++;
            zeros = 0;
            continue;
        }
        zeros = nal[i] ? 0 : zeros + 1;
        rbsp[n++] = nal[i];
    }
    return n;
}

static const char *parse_nal(Parser *parser, const uint8_t *nal, size_t size) {
    const char *wrong = NULL;
    uint8_t *data = malloc(size + 1);
    if (!data || size < 2) {
        free(data);
        return "an empty NAL unit";
    }
    const int type = nal[0] & 31, nal_ref_idc = nal[0] >> 5;
    Rbsp rbsp = {data, 8 * unescape(data, nal + 1, size - 1, parser->coverage, &wrong), 0, NULL};
    parser->coverage->nal_unit_type[type]++;
    if (nal[size - 1] == 0) wrong = "a NAL unit that ends in a zero byte";
    switch (type) {
    case 1:
    case 5:
        parse_slice(&rbsp, parser, nal_ref_idc, type == 5);
        break;
    case 7:
        parse_sps(&rbsp, parser);
        break;
    case 8:
        parse_pps(&rbsp, parser);
        break;
    case 9:
        break;
    default:
        wrong = "nal_unit_type";
        break;
    }
    free(data);
    return wrong ? wrong : rbsp.wrong;
}

const char *motus_parse(const uint8_t *data, size_t size, MotusCoverage *coverage) {
    Parser parser = {0};
    parser.coverage = coverage;
    const char *wrong = NULL;
    size_t start;
    size_t nal = motus_next_nal(data, size, 0, &start);
    if (start != 0) wrong = "bytes before the first start code";
    while (nal < size && !wrong) {
        const size_t next = motus_next_nal(data, size, nal, &start);
        wrong = parse_nal(&parser, data + nal, start - nal);
        nal = next;
    }
    free(parser.picture.mb);
    return wrong;
}
