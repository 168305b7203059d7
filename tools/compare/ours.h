// Encodes a clip with motus, in memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_OURS_H
#define TOOLS_COMPARE_OURS_H

#include "motus/encoder.h"
#include "tools/cli/system.h"
#include "tools/compare/clip.h"
#include "tools/compare/viewer.h"

// Bits by syntax elements.
typedef struct MotusBitSums {
    uint64_t header, mode, mv, residual;
} MotusBitSums;

typedef struct MotusOurStream {
    MotusBytes stream;
    int frames;
    uint64_t luma_ssd;
    uint64_t *frame_ssd; // per frame
    double ssim;         // sum over the frames
    MotusTimes times;    // of the encoder only, without reading and measuring
    int on_gpu;          // the encoder ran on one
    MotusBitSums bits;
} MotusOurStream;

// Receives the number of pictures done.
typedef void MotusOurProgress(void *opaque, int frames);

// Encodes the clip with `config`, whose size, rate, QP and threads are set. MOTUS_END: a signal.
// Call motus_our_stream_free in every case.
MotusStatus motus_our_encode(const MotusEncoderConfig *config, const MotusCompareClip *clip,
                             MotusOurProgress *progress, void *opaque, MotusOurStream *out,
                             MotusError *error);
void motus_our_stream_free(MotusOurStream *out);

#endif
