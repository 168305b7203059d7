// Lanes (common/lanes.h) on a CPU: what the threads of a GPU's warps do together, as fibers of one
// thread. A lane runs up to its next barrier, then any other that can run does, in random order:
// where a barrier is missing, results depend on that order. An exchange of values (motus_lanes_get
// and its like) holds all lanes up here as a barrier does. On a GPU it does not order memory: a
// motus_lanes_sync() next to one is needed there, though it is not missed here.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_EMULATED_LANES_H
#define TESTS_EMULATED_LANES_H

#define EMULATED_WARPS 8 // at most

// Runs body(argument) on `warps` warps of 32 lanes each. Returns NULL, or what the lanes did wrong:
// waited at different barriers, or left others waiting.
const char *emulated_lanes_run(int warps, void (*body)(void *argument), void *argument);

int emulated_warp(void); // of the running lane

#endif
