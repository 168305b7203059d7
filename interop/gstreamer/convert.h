// Converts raw caps and frames to the encoder's, and its streams to H.264 caps and buffers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_GSTREAMER_CONVERT_H
#define INTEROP_GSTREAMER_CONVERT_H

#include <gst/video/video.h>

#include "motus/encoder.h"

#define MOTUS_GST_SINK_CAPS                                                                        \
    "video/x-raw, format=(string)I420, width=(int)[2, 16384, 2], height=(int)[2, 16384, 2], "      \
    "framerate=(fraction)[0/1, 2147483647/1], interlace-mode=(string)progressive"
// A Constrained Baseline stream is also a Baseline stream (A.2.1).
#define MOTUS_GST_SRC_CAPS                                                                         \
    "video/x-h264, width=(int)[2, 16384], height=(int)[2, 16384], framerate=(fraction)[0/1, "      \
    "2147483647/1], "                                                                              \
    "stream-format=(string){byte-stream, avc}, alignment=(string)au, "                             \
    "profile=(string){constrained-baseline, baseline, high, main}"

// Units of MotusFrameParams.duration in a second, if the frame rate is variable.
enum { MOTUS_GST_TIME_UNIT = 90000 };

// Returns a default configuration with the caps' size, frame rate (variable: time_base is set and
// fps is max-framerate or 25), sample aspect ratio, colour and chroma location.
MotusEncoderConfig motus_gst_config(const GstVideoInfo *info);

// Returns the profile that downstream allows: Constrained Baseline if it may be, else High, else
// Main. allowed NULL: any. with_b: a profile that has B pictures.
MotusProfile motus_gst_profile(const GstCaps *allowed, gboolean with_b);

// Returns the caps of the stream of an open encoder of that profile, restricted to `allowed` (NULL:
// any); *avc is their stream format. Returns NULL if none is allowed.
GstCaps *motus_gst_src_caps(const MotusEncoder *enc, const GstCaps *allowed, gboolean with_b,
                            gboolean *avc);

// Makes a frame that shares the samples of a mapped I420 frame, which stays mapped while the frame
// lives.
MotusStatus motus_gst_frame(MotusFrame **frame, const GstVideoFrame *mapped);

// Makes a buffer of the packet's access unit and takes the caller's reference over. The buffer is
// the packet's own memory; with avc it is a copy with lengths before NAL units, without parameter
// sets and delimiters.
GstBuffer *motus_gst_buffer(MotusPacket *packet, gboolean avc);

#endif
