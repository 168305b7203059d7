// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_FOR_AVX2
#include "encoder/analyse/b.c" // NOLINT(bugprone-suspicious-include): compiled again, for AVX2
