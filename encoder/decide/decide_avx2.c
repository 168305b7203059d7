// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_FOR_AVX2
#include "encoder/decide/decide.c" // NOLINT(bugprone-suspicious-include): compiled again, for AVX2
