// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_DECIDE_OPS motus_decide_ops_avx2
#include "encoder/decide/decide.c" // NOLINT(bugprone-suspicious-include): compiled again, for AVX2
