// Whether two ways of reading a stream's vectors agree: ours, down to 4x4, and what the decoder
// exports, down to 8x8.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_EXTRACTION_H
#define TOOLS_COMPARE_EXTRACTION_H

#include "tools/baseline/baseline.h"
#include "tools/compare/decode.h"

typedef struct MotusExtraction {
    uint64_t compared;  // blocks of 16x16 .. 8x8, P_Skip included
    uint64_t equal;     // of them: same place, same size, same vector
    uint64_t only_here; // smaller blocks
    uint64_t unknown;   // that the decoder exported where we read none
} MotusExtraction;

// Adds a picture. MOTUS_ERR_MEMORY.
MotusStatus motus_extraction_add(MotusExtraction *extraction, const MotusReadPicture *read,
                                 const MotusDecoded *decoded);

#endif
