// Arithmetic decoding (9.3.1, 9.3.3.2), bit by bit, with the encoder's own tables; independent
// decoders test those.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/h264/h264_internal.h"

void motus_arithmetic_start(MotusArithmetic *a, MotusRbsp *rbsp) {
    a->range = 510;
    a->offset = motus_rbsp_u(rbsp, 9);
    motus_rbsp_expect(rbsp, a->offset < a->range, "codIOffset");
}

void motus_arithmetic_begin(MotusArithmetic *a, MotusRbsp *rbsp, int table, int slice_qp) {
    for (int i = 0; i < MOTUS_CONTEXTS; i++)
        if (i < MOTUS_CTX_TERMINATE || i >= MOTUS_CTX_TRANSFORM_8x8)
            a->state[i] = motus_cabac_first_state(table, i, slice_qp);
    motus_arithmetic_start(a, rbsp);
}

static void renormalize(MotusArithmetic *a, MotusRbsp *rbsp) {
    const int shift = 9 - motus_bit_length(a->range);
    a->range <<= shift;
    a->offset = a->offset << shift | motus_rbsp_u(rbsp, shift);
}

int motus_arithmetic_bin(MotusMbParser *r, int context) {
    MotusArithmetic *a = r->arithmetic;
    const int state = a->state[context] >> 1, mps = a->state[context] & 1;
    const uint32_t lps = motus_cabac_lps_range(state, (int)(a->range >> 6 & 3));
    int bin = mps;
    a->range -= lps;
    if (a->offset >= a->range) {
        bin = !mps;
        a->offset -= a->range;
        a->range = lps;
        a->state[context] = (uint8_t)(motus_cabac_next_lps(state) << 1 | (state == 0 ? !mps : mps));
    } else if (state < 62) {
        a->state[context] = (uint8_t)(a->state[context] + 2);
    }
    renormalize(a, r->rbsp);
    r->coverage->bins[context][bin]++;
    return bin;
}

int motus_arithmetic_bypass(MotusMbParser *r) {
    MotusArithmetic *a = r->arithmetic;
    a->offset = a->offset << 1 | motus_rbsp_u(r->rbsp, 1);
    if (a->offset < a->range) return 0;
    a->offset -= a->range;
    return 1;
}

int motus_arithmetic_terminate(MotusMbParser *r) {
    MotusArithmetic *a = r->arithmetic;
    a->range -= 2;
    if (a->offset >= a->range) return 1;
    renormalize(a, r->rbsp);
    return 0;
}

// Decodes the k-th order Exp-Golomb suffix of UEGk (9.3.2.3).
uint32_t motus_arithmetic_exp_golomb(MotusMbParser *r, int k) {
    uint32_t value = 0;
    while (k < 20 && motus_arithmetic_bypass(r)) value += 1u << k++;
    motus_rbsp_expect(r->rbsp, k < 20, "the suffix of a value is too long");
    while (k-- > 0) value += (uint32_t)motus_arithmetic_bypass(r) << k;
    return value;
}
