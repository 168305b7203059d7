// Decodes a byte stream picture by picture with libavcodec, which also hands out the vectors it
// decoded with. Of these (AV_CODEC_FLAG2_EXPORT_MVS) one has to know: places are block centres,
// there is no reference index, and of an 8x8 quarter that is divided further only the first vector
// comes out.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_DECODE_H
#define TOOLS_COMPARE_DECODE_H

#include "motus/me.h"

typedef struct MotusExportedMv {
    int x, y, width, height; // luma samples, top-left corner
    MotusMv mv;              // quarter samples
} MotusExportedMv;

typedef struct MotusDecoded {
    // Whole MBs, as prediction refers to them; the visible part is their top left. Valid until the
    // next call.
    MotusPlane plane[3];
    int width, height; // of the visible part
    const MotusExportedMv *mv;
    size_t n_mv;
} MotusDecoded;

typedef struct MotusStreamDecoder MotusStreamDecoder;

// MOTUS_ERR_UNSUPPORTED: libavcodec has no H.264 decoder here.
MotusStatus motus_stream_decoder_open(MotusStreamDecoder **decoder, MotusError *error);

// Decodes one access unit. Anything that the decoder complains about is MOTUS_ERR_FORMAT, and so is
// a unit without a picture.
MotusStatus motus_stream_decoder_next(MotusStreamDecoder *decoder, const uint8_t *data, size_t size,
                                      MotusDecoded *picture, MotusError *error);

void motus_stream_decoder_close(MotusStreamDecoder **decoder); // accepts NULL and *decoder == NULL

#endif
