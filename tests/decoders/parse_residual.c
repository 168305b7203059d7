// residual_block_cavlc (7.3.5.3.2, 9.2), read with the encoder's own code tables: that these are right is for the decoders to say.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cavlc_core.h"
#include "tests/decoders/parse_internal.h"

// Consumes the code word if it comes next.
static int take(Rbsp *rbsp, MotusVlc vlc) {
    if (vlc.length == 0 || rbsp_peek(rbsp, vlc.length) != vlc.bits) return 0;
    rbsp_u(rbsp, vlc.length);
    return 1;
}

static int parse_token(Rbsp *rbsp, int class, int most, int *trailing_ones, MotusCoverage *coverage) {
    for (int total = 0; total <= most; total++) {
        for (int ones = 0; ones <= 3 && ones <= total; ones++) {
            if (!take(rbsp, motus_cavlc_token(class, total, ones))) continue;
            coverage->token[class][total][ones]++;
            *trailing_ones = ones;
            return total;
        }
    }
    rbsp_fail(rbsp, "coeff_token");
    return 0;
}

// One level after the trailing ones (9.2.2.1); returns its magnitude.
static int parse_level(Rbsp *rbsp, int suffix_length, int offset, MotusCoverage *coverage) {
    int prefix = 0;
    while (prefix < 16 && !rbsp_u(rbsp, 1)) prefix++;
    if (prefix > 15) {
        rbsp_fail(rbsp, "level_prefix");
        return 1;
    }
    coverage->level_prefix[suffix_length][prefix]++;
    const int suffix_size = prefix == 14 && suffix_length == 0 ? 4 : prefix == 15 ? 12 : suffix_length;
    int level_code = (prefix << suffix_length) + (int)rbsp_u(rbsp, suffix_size);
    if (prefix == 15 && suffix_length == 0) level_code += 15;
    level_code += offset;
    return level_code % 2 ? (level_code + 1) / 2 : level_code / 2 + 1;
}

static void parse_levels(Rbsp *rbsp, int total, int ones, MotusCoverage *coverage) {
    rbsp_u(rbsp, ones);
    int suffix_length = total > 10 && ones < 3;
    for (int i = ones; i < total; i++) {
        const int magnitude = parse_level(rbsp, suffix_length, i == ones && ones < 3 ? 2 : 0, coverage);
        if (suffix_length == 0) suffix_length = 1;
        if (suffix_length < 6 && magnitude > 3 << (suffix_length - 1)) suffix_length++;
    }
}

static int parse_total_zeros(Rbsp *rbsp, int class, int total, int n, MotusCoverage *coverage) {
    for (int zeros = 0; zeros <= n - total; zeros++) {
        if (!take(rbsp, motus_cavlc_total_zeros(class, total, zeros))) continue;
        if (n == 4)
            coverage->total_zeros_dc[total][zeros]++;
        else
            coverage->total_zeros[total][zeros]++;
        return zeros;
    }
    rbsp_fail(rbsp, "total_zeros");
    return 0;
}

static int parse_run(Rbsp *rbsp, int zeros_left, MotusCoverage *coverage) {
    for (int run = 0; run <= zeros_left; run++) {
        if (!take(rbsp, motus_cavlc_run(zeros_left, run))) continue;
        coverage->run_before[zeros_left < 7 ? zeros_left : 7][run]++;
        return run;
    }
    rbsp_fail(rbsp, "run_before");
    return 0;
}

int parse_residual(Rbsp *rbsp, int n, int nc, MotusCoverage *coverage) {
    const int class = motus_cavlc_token_class(nc);
    int ones = 0;
    const int total = parse_token(rbsp, class, n, &ones, coverage);
    if (total == 0) return 0;
    parse_levels(rbsp, total, ones, coverage);
    int zeros_left = total < n ? parse_total_zeros(rbsp, class, total, n, coverage) : 0;
    for (int i = 1; i < total && zeros_left > 0; i++) zeros_left -= parse_run(rbsp, zeros_left, coverage);
    return total;
}
