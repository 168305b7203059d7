// Other programs doing the same job in the same run, for comparison.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_PEERS_PEERS_H
#define TOOLS_PEERS_PEERS_H

#include "tools/bench/bench_input.h"
#include "tools/cli/work_folder.h"

// Frames per second of ffmpeg's exhaustive search (filter mestimate, method esa: 16x16 blocks,
// whole samples, no vector cost, both directions) over the clip's first `frames` frames, on one
// thread. MOTUS_ERR_UNSUPPORTED: no such program or filter here.
MotusStatus motus_peer_mestimate(const MotusBenchClip *clip, int frames, int range, double *fps,
                                 MotusError *error);

// Makes a folder whose clip is the first `frames` frames. On failure nothing is left behind.
MotusStatus motus_peer_folder_make(MotusWorkFolder *folder, const MotusBenchClip *clip, int frames,
                                   MotusError *error);

#endif
