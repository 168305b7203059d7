// tests/lanes/lanes_calls.c for the 32 lanes of a warp.
// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
// gcc does not see that the first warp alone uses what it alone has set (motus_team_shared_trial).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "tests/lanes/lanes_calls.c"
