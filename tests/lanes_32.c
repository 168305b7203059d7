// tests/lanes_calls.c for the 32 lanes of a warp.
// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
#include "tests/lanes_calls.c"
