// The state of motush264enc, and the opening of its encoder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_GSTREAMER_OPENING_H
#define INTEROP_GSTREAMER_OPENING_H

#include <gst/video/gstvideoencoder.h>

#include "interop/gstreamer/settings.h"

enum { MOTUS_GST_SENT = 64, MOTUS_GST_LOST = 16 };

typedef struct MotusH264Enc {
    GstVideoEncoder parent;
    MotusGstSettings settings; // guarded by the object's lock, as rate_changed
    gboolean rate_changed;
    MotusGstSettings active; // since the start: settings that were checked, and rates that worked

    gboolean failed; // an error was posted for the caps of `input`
    GstVideoCodecState *input;
    MotusEncoder *encoder; // NULL between a drain or flush and the next frame
    gboolean avc;
    GString *log;           // log of a first pass
    int64_t pictures, gops; // pushed since the element was started
    int pending, most_pending;
    GstClockTime sent[MOTUS_GST_SENT]; // [number % MOTUS_GST_SENT]: pts of the newest frames
    int64_t n_sent;                    // number of the next frame (MotusPacket.number)
    GstClockTime lost[MOTUS_GST_LOST]; // pts of lost buffers, for the next frame; NONE: unknown
    int n_lost;                        // guarded by the object's lock, as `lost`
    int64_t first_pts;                 // of the stream, with B pictures
    GstClockTime last_pts;             // of the last frame sent; GST_CLOCK_TIME_NONE: none
} MotusH264Enc;

// Posts the first error; later ones follow from it.
#define MOTUS_GST_FAIL(self, domain, code, ...)                                                    \
    do {                                                                                           \
        if (!(self)->failed) GST_ELEMENT_ERROR(self, domain, code, (__VA_ARGS__), (NULL));         \
        (self)->failed = TRUE;                                                                     \
    } while (0)

// Takes the settings of a start and opens and closes a small encoder with them (in a second pass
// one of the first one's size), so that bad settings fail the state change. In the streaming thread
// an error would come later, and gst-launch-1.0 may hang on it.
gboolean motus_gst_check_settings(MotusH264Enc *self);

// Opens an encoder for `input` and sets caps, tags and latency.
gboolean motus_gst_open_encoder(MotusH264Enc *self);
void motus_gst_close_encoder(MotusH264Enc *self);

// Writes the log of a first pass and frees it.
gboolean motus_gst_write_log(MotusH264Enc *self);

#endif
