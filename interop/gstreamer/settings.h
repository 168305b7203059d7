// The properties of motush264enc, under the names and units that x264enc gives them, and the
// encoder's configuration that they mean.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_GSTREAMER_SETTINGS_H
#define INTEROP_GSTREAMER_SETTINGS_H

#include <gst/gst.h>

#include "motus/encoder.h"

// Values as x264enc numbers them, so that scripts which set numbers go on working.
typedef enum MotusGstPass {
    MOTUS_GST_CBR = 0,    // `bitrate`
    MOTUS_GST_QUANT = 4,  // `quantizer` for every P picture
    MOTUS_GST_QUAL = 5,   // `quantizer` as a CRF
    MOTUS_GST_PASS1 = 17, // first and second of two passes with `bitrate`
    MOTUS_GST_PASS2 = 18,
} MotusGstPass;

enum { MOTUS_GST_ZEROLATENCY = 4 }; // of `tune`

// The first members have 32 bits each: settings.c finds them by their offsets.
typedef struct MotusGstSettings {
    guint pass;                 // MotusGstPass
    guint bitrate, vbv_maxrate; // kbit/s
    guint vbv_capacity;         // ms at the VBV's rate
    guint quantizer, qp_min, qp_max, qp_step;
    guint preset, tune; // as x264enc numbers them
    guint keyint, lookahead, slices, slice_max_size, threads, gop_coders, backend;
    gint aud, mbtree;
    double ip_factor;
    char *cache_file; // log of the first pass, for the second
} MotusGstSettings;

// Adds the properties to a class, numbered from 1.
void motus_gst_settings_install(GObjectClass *class);

void motus_gst_settings_init(MotusGstSettings *settings);
void motus_gst_settings_clear(MotusGstSettings *settings);

// FALSE: no property of ours. *rate: whether it is one that may change while frames go in.
gboolean motus_gst_settings_set(MotusGstSettings *settings, guint id, const GValue *value,
                                gboolean *rate);
gboolean motus_gst_settings_get(const MotusGstSettings *settings, guint id, GValue *value);

// Puts everything but size, rate and colour of the pictures into the configuration; pass_log is
// left alone.
void motus_gst_settings_apply(const MotusGstSettings *settings, MotusEncoderConfig *config);

#endif
