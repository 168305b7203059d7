// Bridge to FFmpeg's libraries: frames both ways without copying, and MVs as AVMotionVector side
// data for FFmpeg's filters (codecview) and tools. It is a library of its own, motus_av, so that
// the core needs no media library.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_AV_H
#define INTEROP_AV_H

#include <libavutil/frame.h>

#include "motus/encoder.h"
#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes a frame that shares the samples of `av` (AV_PIX_FMT_YUV420P or YUVJ420P) and holds a
// reference to it; number is av->pts. MOTUS_ERR_UNSUPPORTED: another pixel format, rows stored
// bottom-up, or not reference counted. MOTUS_ERR_ARGUMENT: size. MOTUS_ERR_MEMORY.
MotusStatus motus_frame_from_av(MotusFrame **frame, const AVFrame *av);

// Makes an AVFrame (YUV420P, read-only buffers) that shares the samples of `frame` and holds a
// reference to it; pts is frame->number. Free it with av_frame_free. MOTUS_ERR_UNSUPPORTED: rows
// stored bottom-up. MOTUS_ERR_MEMORY.
MotusStatus motus_frame_to_av(AVFrame **av, const MotusFrame *frame);

// Attaches the MVs of a coded picture to `av` as AV_FRAME_DATA_MOTION_VECTORS, in their order:
// source -1 (the previous picture), block centres as dst, quarter samples (motion_scale 4), as
// libavcodec exports them, but with all blocks of an MB. MOTUS_ERR_MEMORY.
MotusStatus motus_mvs_to_av(AVFrame *av, const MotusCodedMv *mvs, size_t n_mvs);

// Attaches the blocks of a motion field in the modes of a mask (1 << MotusMode): MBs in raster
// order, the blocks of an MB in the order of motus_blocks, also where they extend beyond the
// picture. MOTUS_ERR_MEMORY.
MotusStatus motus_field_to_av(AVFrame *av, const MotusField *field, uint32_t modes);

#ifdef __cplusplus
}
#endif
#endif
