// Decodes a byte stream with libavcodec and compares its exported MVs with the parser's. Exported
// MVs (AV_CODEC_FLAG2_EXPORT_MVS) have block centres as positions and no reference index, and of an
// 8x8 quarter with smaller blocks only the first MV is exported.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_DECODE_H
#define TOOLS_COMPARE_DECODE_H

#include "tools/h264/h264.h"

typedef struct MotusExportedMv {
    int x, y, width, height; // luma samples, top-left corner
    MotusMv mv;              // quarter samples
} MotusExportedMv;

typedef struct MotusDecoded {
    // Whole MBs, of which the top left is visible. Valid until the next call.
    MotusPlane plane[3];
    int width, height; // of the visible part
    const MotusExportedMv *mv;
    size_t n_mv;
} MotusDecoded;

typedef struct MotusStreamDecoder MotusStreamDecoder;

// Opens a decoder. MOTUS_ERR_UNSUPPORTED: libavcodec has no H.264 decoder here.
MotusStatus motus_stream_decoder_open(MotusStreamDecoder **decoder, MotusError *error);

// Decodes one access unit. MOTUS_ERR_FORMAT: the decoder complains, or there is no picture.
MotusStatus motus_stream_decoder_next(MotusStreamDecoder *decoder, const uint8_t *data, size_t size,
                                      MotusDecoded *picture, MotusError *error);

void motus_stream_decoder_close(MotusStreamDecoder **decoder); // accepts NULL and *decoder == NULL

typedef struct MotusExtraction {
    uint64_t compared;  // blocks of 16x16 to 8x8, P_Skip included
    uint64_t equal;     // of these with the same position, size and MV
    uint64_t only_here; // smaller blocks, which only the parser has
    uint64_t unknown;   // exported MVs of blocks without one
} MotusExtraction;

// Adds a picture. MOTUS_ERR_MEMORY.
MotusStatus motus_extraction_add(MotusExtraction *extraction, const MotusParsedPicture *parsed,
                                 const MotusDecoded *decoded);

#endif
