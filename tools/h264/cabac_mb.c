// Syntax elements of a macroblock in CABAC (9.3.2, 9.3.3.1): contexts from neighbours, and values
// from bins.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/h264/h264_internal.h"

static const MotusParsedMb *left_mb(const MotusMbParser *r) {
    return motus_parsed_neighbour(r, -1, 0);
}
static const MotusParsedMb *upper_mb(const MotusMbParser *r) {
    return motus_parsed_neighbour(r, 0, -1);
}

// Returns the sum of a condition of the neighbours, 0 for a missing one.
#define OF_BOTH(condition) ((a && (a->condition)) + (b && (b->condition)))

int motus_cabac_skip_flag(MotusMbParser *r) {
    const MotusParsedMb *a = left_mb(r), *b = upper_mb(r);
    return motus_arithmetic_bin(r, MOTUS_CTX_SKIP + OF_BOTH(type != MOTUS_MB_P_SKIP));
}

// Returns mb_type of table 7-11 behind its first bin. context: of cbp's luma bin; spread: 1 in I
// slices, where the bins behind it have contexts of their own.
static uint32_t intra_type(MotusMbParser *r, int context, int spread) {
    if (motus_arithmetic_terminate(r)) return 25;
    uint32_t type = motus_arithmetic_bin(r, context) ? 13 : 1;
    if (motus_arithmetic_bin(r, context + 1))
        type += motus_arithmetic_bin(r, context + 1 + spread) ? 8 : 4;
    type += motus_arithmetic_bin(r, context + 2 + spread) ? 2 : 0;
    return type + (uint32_t)motus_arithmetic_bin(r, context + 2 + 2 * spread);
}

uint32_t motus_cabac_mb_type(MotusMbParser *r) {
    const MotusParsedMb *a = left_mb(r), *b = upper_mb(r);
    if (!r->is_p) {
        const int context = MOTUS_CTX_I_TYPE + OF_BOTH(type != MOTUS_MB_I_4x4);
        return motus_arithmetic_bin(r, context) ? intra_type(r, MOTUS_CTX_I_TYPE + 3, 1) : 0;
    }
    if (motus_arithmetic_bin(r, MOTUS_CTX_P_TYPE)) {
        const int is_nxn = !motus_arithmetic_bin(r, MOTUS_CTX_I_TYPE_IN_P);
        return 5 + (is_nxn ? 0 : intra_type(r, MOTUS_CTX_I_TYPE_IN_P + 1, 0));
    }
    if (motus_arithmetic_bin(r, MOTUS_CTX_P_TYPE + 1))
        return motus_arithmetic_bin(r, MOTUS_CTX_P_TYPE + 3) ? 1 : 2;
    return motus_arithmetic_bin(r, MOTUS_CTX_P_TYPE + 2) ? 3 : 0;
}

uint32_t motus_cabac_sub_type(MotusMbParser *r) {
    if (motus_arithmetic_bin(r, MOTUS_CTX_SUB_TYPE)) return MOTUS_SUB_8x8;
    if (!motus_arithmetic_bin(r, MOTUS_CTX_SUB_TYPE + 1)) return MOTUS_SUB_8x4;
    return motus_arithmetic_bin(r, MOTUS_CTX_SUB_TYPE + 2) ? MOTUS_SUB_4x8 : MOTUS_SUB_4x4;
}

int motus_cabac_transform_size(MotusMbParser *r) {
    const MotusParsedMb *a = left_mb(r), *b = upper_mb(r);
    return motus_arithmetic_bin(r, MOTUS_CTX_TRANSFORM_8x8 + OF_BOTH(transform_8x8));
}

uint32_t motus_cabac_chroma_mode(MotusMbParser *r) {
    const MotusParsedMb *a = left_mb(r), *b = upper_mb(r);
    uint32_t mode = (uint32_t)motus_arithmetic_bin(r, MOTUS_CTX_CHROMA_MODE +
                                                          OF_BOTH(intra_chroma_pred_mode != 0));
    while (mode && mode < 3 && motus_arithmetic_bin(r, MOTUS_CTX_CHROMA_MODE + 3)) mode++;
    return mode;
}

int motus_cabac_ref_idx(MotusMbParser *r, int q) {
    const MotusParsedMb *own = r->mb + r->n, *a = q & 1 ? own : left_mb(r),
                        *b = q & 2 ? own : upper_mb(r);
    const int context = (a && a->ref_idx[q ^ 1] > 0) + 2 * (b && b->ref_idx[q ^ 2] > 0);
    int index = motus_arithmetic_bin(r, MOTUS_CTX_REF_IDX + context);
    if (index && motus_arithmetic_bin(r, MOTUS_CTX_REF_IDX + 4))
        for (index = 2; index < 32 && motus_arithmetic_bin(r, MOTUS_CTX_REF_IDX + 5);) index++;
    return index;
}

// Returns mvd_l0 of a block, in 4x4 blocks the context of the MB or of a neighbour.
static MotusMv mvd_at(const MotusMbParser *r, int x, int y) {
    const int dx = x < 0 ? -1 : 0, dy = y < 0 ? -1 : 0;
    if ((dx || dy) && !motus_parsed_neighbour(r, dx, dy)) return (MotusMv){0, 0};
    return r->context[r->n + dx + dy * r->mb_width].mvd[4 * (y & 3) + (x & 3)];
}

static int mvd_component(MotusMbParser *r, int context, int around) {
    int magnitude = motus_arithmetic_bin(r, context + (around > 2) + (around > 32));
    while (magnitude && magnitude < 9 &&
           motus_arithmetic_bin(r, context + 2 + motus_min(magnitude, 4)))
        magnitude++;
    if (magnitude == 9) magnitude += (int)motus_arithmetic_exp_golomb(r, 3);
    return magnitude && motus_arithmetic_bypass(r) ? -magnitude : magnitude;
}

int motus_cabac_mvd(MotusMbParser *r, const MotusPartition *p, int vertical) {
    const MotusMv a = mvd_at(r, p->x - 1, p->y), b = mvd_at(r, p->x, p->y - 1);
    const int around = vertical ? motus_abs(a.y) + motus_abs(b.y) : motus_abs(a.x) + motus_abs(b.x);
    return mvd_component(r, MOTUS_CTX_MVD + 7 * vertical, around);
}

int motus_cabac_cbp(MotusMbParser *r) {
    const MotusParsedMb *a = left_mb(r), *b = upper_mb(r);
    int cbp = 0;
    for (int q = 0; q < 4; q++) {
        const int left = q & 1 ? cbp : a ? a->cbp : 15, above = q & 2 ? cbp : b ? b->cbp : 15;
        const int context = !(left >> (q ^ 1) & 1) + 2 * !(above >> (q ^ 2) & 1);
        cbp |= motus_arithmetic_bin(r, MOTUS_CTX_CBP_LUMA + context) << q;
    }
    const int left = a ? a->cbp >> 4 : 0, above = b ? b->cbp >> 4 : 0;
    if (!motus_arithmetic_bin(r, MOTUS_CTX_CBP_CHROMA + (left > 0) + 2 * (above > 0))) return cbp;
    const int context = MOTUS_CTX_CBP_CHROMA + 4 + (left == 2) + 2 * (above == 2);
    return cbp | 16 << motus_arithmetic_bin(r, context);
}

int motus_cabac_qp_delta(MotusMbParser *r) {
    const int first = MOTUS_CTX_QP_DELTA + (r->qp_delta != 0);
    int value = motus_arithmetic_bin(r, first);
    while (value && value < 53 && motus_arithmetic_bin(r, MOTUS_CTX_QP_DELTA + 2 + (value > 1)))
        value++;
    motus_rbsp_expect(r->rbsp, value < 53, "mb_qp_delta");
    return value & 1 ? (value + 1) / 2 : -(value / 2);
}

// ---- Residual blocks (7.3.5.3.3) ----------------------------------------------------------------

enum { CATEGORY_8x8 = 5 }; // ctxBlockCat

// First contexts of a category (tables 9-34, 9-40), and levels of its blocks.
static const struct {
    short coded, significant, last, level, n;
} categories[6] = {{85, 105, 166, 227, 16}, {89, 120, 181, 237, 15},  {93, 134, 195, 247, 16},
                   {97, 149, 210, 257, 4},  {101, 152, 213, 266, 15}, {0, 402, 417, 426, 64}};

// Fills the contexts of both flags of the map at position i.
static void map_contexts(int category, int i, int context[2]) {
    context[0] = categories[category].significant + i;
    context[1] = categories[category].last + i;
    if (category == CATEGORY_8x8) {
        context[0] = motus_map8_significant(i);
        context[1] = motus_map8_last(i);
    }
}

// Returns the number of levels other than 0.
static int parse_map(MotusMbParser *r, int category) {
    const int n = categories[category].n;
    int found = 0;
    for (int i = 0; i < n - 1; i++) {
        int context[2];
        map_contexts(category, i, context);
        if (!motus_arithmetic_bin(r, context[0])) continue;
        found++;
        if (motus_arithmetic_bin(r, context[1])) return found;
    }
    return found + 1; // the last one is inferred
}

static void parse_level(MotusMbParser *r, int category, int *ones, int *larger) {
    const int base = categories[category].level, most = category == 3 ? 3 : 4;
    const int first = base + (*larger ? 0 : motus_min(4, 1 + *ones)),
              more = base + 5 + motus_min(*larger, most);
    int rest = motus_arithmetic_bin(r, first);
    while (rest && rest < 14 && motus_arithmetic_bin(r, more)) rest++;
    *(rest ? larger : ones) += 1;
    if (rest == 14) motus_arithmetic_exp_golomb(r, 0);
    motus_arithmetic_bypass(r); // sign
}

int motus_cabac_residual(MotusMbParser *r, int category, int flag_context) {
    if (category != CATEGORY_8x8 &&
        !motus_arithmetic_bin(r, categories[category].coded + flag_context))
        return 0;
    const int n = parse_map(r, category);
    int ones = 0, larger = 0;
    for (int i = 0; i < n && !r->rbsp->error; i++) parse_level(r, category, &ones, &larger);
    return n;
}

// Returns the context of coded_block_flag from the flags of blocks A and B; `missing` stands for
// both if they are not available.
static int flag_context(int left, int above, int missing) {
    return (left < 0 ? missing : left) + 2 * (above < 0 ? missing : above);
}

int motus_cabac_dc_flag(MotusMbParser *r, int component) {
    const int dc = 1 << component, intra = r->mb[r->n].type >= MOTUS_MB_I_4x4;
    const int left = left_mb(r) ? (r->context[r->n - 1].dc & dc) != 0 : -1,
              above = upper_mb(r) ? (r->context[r->n - r->mb_width].dc & dc) != 0 : -1;
    return flag_context(left, above, intra);
}

int motus_cabac_ac_flag(MotusMbParser *r, int left_count, int upper_count) {
    const int intra = r->mb[r->n].type >= MOTUS_MB_I_4x4;
    return flag_context(left_count < 0 ? -1 : left_count > 0,
                        upper_count < 0 ? -1 : upper_count > 0, intra);
}
