// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_FOR_AVX2
#include "encoder/analyse/inter.c" // NOLINT(bugprone-suspicious-include): compiled again, for AVX2
