// Other programs doing the same job in the same run, for comparison.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_PEERS_H
#define TOOLS_PEERS_H

#include "tools/bench_input.h"

// Frames per second of ffmpeg's exhaustive search (filter mestimate, method esa: 16x16 blocks, whole samples, no vector cost, both
// directions) over the clip's first `frames` frames, on one thread. MOTUS_ERR_UNSUPPORTED: no such program or filter here.
MotusStatus motus_peer_mestimate(const MotusClip *clip, int frames, int range, double *fps, MotusError *error);

// A temporary folder ($TMPDIR, else /tmp) with a clip for other programs to read, and room for what they leave.
typedef struct MotusPeerFolder {
    char path[512];
    char clip[544]; // its .y4m
    char out[544];  // name for an output
    char log[544];  // name for what a program prints
} MotusPeerFolder;

// Writes the clip's first `frames` frames. On failure nothing is left behind.
MotusStatus motus_peer_folder_make(MotusPeerFolder *folder, const MotusClip *clip, int frames, MotusError *error);
void motus_peer_folder_remove(MotusPeerFolder *folder); // accepts one that was never made, all zero

#endif
