// Bits of an RBSP (7.2, 9.1) and NAL units of a byte stream (7.3.1, Annex B).
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/h264/h264_internal.h"

uint32_t motus_rbsp_peek(const MotusRbsp *rbsp, int n) {
    if (n == 0 || rbsp->at >= rbsp->bits) return 0;
    const uint8_t *p = rbsp->data + rbsp->at / 8;
    uint64_t window = 0;
    for (int i = 0; i < 5; i++) window = window << 8 | p[i];
    return (uint32_t)(window >> (40 - (int)(rbsp->at % 8) - n) & (UINT64_MAX >> (64 - n)));
}

uint32_t motus_rbsp_u(MotusRbsp *rbsp, int n) {
    const uint32_t value = motus_rbsp_peek(rbsp, n);
    rbsp->at += (size_t)n;
    if (rbsp->at > rbsp->bits) motus_rbsp_fail(rbsp, "the data end inside a syntax element");
    return value;
}

uint32_t motus_rbsp_ue(MotusRbsp *rbsp) {
    int zeros = 0;
    while (zeros < 32 && !motus_rbsp_u(rbsp, 1)) zeros++;
    if (zeros == 32) motus_rbsp_fail(rbsp, "ue(v) is too long");
    return zeros == 32 ? 0 : (1u << zeros) - 1 + motus_rbsp_u(rbsp, zeros);
}

uint32_t motus_rbsp_ue_max(MotusRbsp *rbsp, uint32_t max, const char *text) {
    const uint32_t value = motus_rbsp_ue(rbsp);
    if (value <= max) return value;
    motus_rbsp_fail(rbsp, text);
    return 0;
}

int32_t motus_rbsp_se(MotusRbsp *rbsp) {
    const uint32_t code = motus_rbsp_ue(rbsp);
    return code % 2 ? (int32_t)(code / 2 + 1) : -(int32_t)(code / 2);
}

size_t motus_rbsp_end(const MotusRbsp *rbsp) {
    size_t bits = rbsp->bits;
    while (bits && !(rbsp->data[(bits - 1) / 8] >> (7 - (bits - 1) % 8) & 1)) bits--;
    return bits ? bits - 1 : 0;
}

void motus_rbsp_fail(MotusRbsp *rbsp, const char *text) {
    if (!rbsp->error) rbsp->error = text;
}

void motus_rbsp_expect(MotusRbsp *rbsp, int ok, const char *text) {
    if (!ok) motus_rbsp_fail(rbsp, text);
}

size_t motus_unescape(uint8_t *rbsp, const uint8_t *nal, size_t size, MotusCoverage *coverage,
                      const char **error) {
    size_t n = 0, zeros = 0;
    for (size_t i = 0; i < size; i++) {
        if (zeros >= 2 && nal[i] < 3) *error = "a start code inside a NAL unit";
        if (zeros >= 2 && nal[i] == 3) {
            if (i + 1 < size && nal[i + 1] > 3) *error = "a needless emulation prevention byte";
            coverage->emulation_prevention++;
            zeros = 0;
            continue;
        }
        zeros = nal[i] ? 0 : zeros + 1;
        rbsp[n++] = nal[i];
    }
    return n;
}

size_t motus_next_nal(const uint8_t *data, size_t size, size_t from, size_t *start) {
    for (size_t i = from; i + 3 < size; i++) {
        if (data[i] || data[i + 1] || data[i + 2] != 1) continue;
        // zero_byte belongs to the start code.
        *start = i > from && data[i - 1] == 0 ? i - 1 : i;
        return i + 3;
    }
    *start = size;
    return size;
}
