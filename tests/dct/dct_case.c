// SPDX-License-Identifier: BSD-2-Clause
#include "tests/dct/dct_case.h"

#include "tests/support/harness.h"

const int64_t dct_core_matrix[16] = {1, 1, 1, 1, 2, 1, -1, -2, 1, -1, -1, 1, 1, -2, 2, -1};

// out = a * b for n x n matrices of int64.
static void multiply(int n, int64_t *out, const int64_t *a, const int64_t *b) {
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            out[y * n + x] = 0;
            for (int k = 0; k < n; k++) out[y * n + x] += a[y * n + k] * b[k * n + x];
        }
}

void dct_naive_transform(int n, int64_t *out, const int64_t *m, const int64_t *x) {
    int64_t t[16], transposed[16] = {0};
    for (int i = 0; i < n * n; i++) transposed[i] = m[i % n * n + i / n];
    multiply(n, t, m, x);
    multiply(n, out, t, transposed);
}

void dct_fill_block(uint8_t *src, uint8_t *pred, int n, int kind) {
    int u = motus_test_range(0, 3), v = motus_test_range(0, 3);
    for (int i = 0; i < n; i++) {
        int random = (int)(motus_test_random() >> 9), y = i / 16 & 3, x = i & 3;
        int positive = dct_core_matrix[4 * u + y] * dct_core_matrix[4 * v + x] > 0;
        switch (kind) {
        case 0:
            src[i] = (uint8_t)random, pred[i] = (uint8_t)(random >> 8);
            break;
        case 1:
            pred[i] = (uint8_t)(random % 240 + 8),
            src[i] = (uint8_t)(pred[i] + (random >> 10) % 9 - 4);
            break;
        case 2:
            src[i] = 255, pred[i] = 0;
            break;
        case 3:
            src[i] = 0, pred[i] = 255;
            break;
        case 4:
            src[i] = random & 1 ? 255 : 0, pred[i] = (uint8_t)(255 - src[i]);
            break;
        default:
            src[i] = positive ? 255 : 0, pred[i] = (uint8_t)(255 - src[i]);
            break;
        }
    }
}

int16_t dct_any_int16(int kind) {
    static const int16_t corner[8] = {INT16_MIN, INT16_MAX, INT16_MIN + 1, 0, 1, -1, 16384, -16384};
    int value = (int)(motus_test_random() >> 16);
    return kind == 0   ? (int16_t)value
           : kind == 1 ? corner[value & 7]
           : kind == 2 ? (int16_t)(value % 601 - 300)
                       : (int16_t)((value & 15) - 8);
}
