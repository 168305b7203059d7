// Between GStreamer's terms and the encoder's: raw caps and frames in, H.264 caps and buffers out.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_GSTREAMER_CONVERT_H
#define INTEROP_GSTREAMER_CONVERT_H

#include <gst/video/video.h>

#include "motus/encoder.h"

#define MOTUS_GST_SINK_CAPS                                                                        \
    "video/x-raw, format=(string)I420, width=(int)[2, 16384, 2], height=(int)[2, 16384, 2], "      \
    "framerate=(fraction)[0/1, 2147483647/1], interlace-mode=(string)progressive"
// A Constrained Baseline stream is a Baseline stream, too (A.2.1): who asks for that is given it.
#define MOTUS_GST_SRC_CAPS                                                                         \
    "video/x-h264, width=(int)[2, 16384], height=(int)[2, 16384], framerate=(fraction)[0/1, "      \
    "2147483647/1], "                                                                              \
    "stream-format=(string){byte-stream, avc}, alignment=(string)au, "                             \
    "profile=(string){constrained-baseline, baseline}"

// The unit of MotusFrameParams.duration where pictures are shown for different times: a 90,000th of
// a second.
enum { MOTUS_GST_TIME_UNIT = 90000 };

// A configuration with its defaults and what the caps say: size, rate (a variable one: time_base is
// set, and fps is that of max-framerate, or 25), sample aspect ratio, colour, place of chroma
// samples.
MotusEncoderConfig motus_gst_config(const GstVideoInfo *info);

// Caps of the stream of an open encoder, out of those that downstream takes (NULL: any). *avc says
// which stream format they have. NULL: downstream takes none.
GstCaps *motus_gst_src_caps(const MotusEncoder *enc, const GstCaps *allowed, gboolean *avc);

// Makes a frame that shares the samples of a mapped I420 one, which must stay mapped as long as the
// frame lives.
MotusStatus motus_gst_frame(MotusFrame **frame, const GstVideoFrame *mapped);

// A buffer with the packet's access unit, which is the packet's own memory; takes the caller's
// reference to it. With avc its NAL units are copied behind their lengths, without parameter sets
// and delimiters.
GstBuffer *motus_gst_buffer(MotusPacket *packet, gboolean avc);

#endif
