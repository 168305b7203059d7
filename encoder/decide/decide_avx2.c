// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_PASSES motus_passes_avx2
#include "encoder/decide/decide.c" // NOLINT(bugprone-suspicious-include): compiled again, for AVX2
