// The program x264 with motus's tool set: baseline profile, one reference, P pictures, one IDR picture, fixed QP (the options of tools/compare-x264.sh).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_PEERS_X264_H
#define TOOLS_PEERS_X264_H

#include "tools/peers.h"

// Its version, "0.164.3095 baee400", as it says it itself; MOTUS_ERR_UNSUPPORTED: there is none on the PATH.
MotusStatus motus_x264_version(const MotusPeerFolder *folder, char *text, size_t size, MotusError *error);

// Encodes the folder's clip of `frames` frames to the folder's `out`. *seconds is the encode time that x264 reports: from the first frame it reads to the last
// bits it writes, without starting the program.
MotusStatus motus_x264_encode(const MotusPeerFolder *folder, int frames, const char *preset, int qp, int threads, double *seconds,
                              MotusError *error);

// Of the stream in the folder's `out`: bytes without SEI (x264 writes its settings into one), and the luma SSD of its pictures, decoded by libavcodec, against
// the clip's, over all of them. MOTUS_ERR_UNSUPPORTED: this build has no decoder; *bytes is right all the same.
MotusStatus motus_x264_measure(const MotusPeerFolder *folder, const MotusClip *clip, uint64_t *bytes, uint64_t *luma_ssd,
                               MotusError *error);

#endif
