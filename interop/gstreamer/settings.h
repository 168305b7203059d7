// Properties of motush264enc, with the names, units and numbers of x264enc, and the configuration
// that they stand for.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_GSTREAMER_SETTINGS_H
#define INTEROP_GSTREAMER_SETTINGS_H

#include <gst/gst.h>

#include "motus/encoder.h"

// Numbered as in x264enc, for scripts that set numbers.
typedef enum MotusGstPass {
    MOTUS_GST_CBR = 0,    // `bitrate`
    MOTUS_GST_QUANT = 4,  // `quantizer` for every P picture
    MOTUS_GST_QUAL = 5,   // `quantizer` as a CRF
    MOTUS_GST_PASS1 = 17, // first and second pass with `bitrate`
    MOTUS_GST_PASS2 = 18,
} MotusGstPass;

enum { MOTUS_GST_ZEROLATENCY = 4 }; // of `tune`

// settings.c finds the 32-bit members by their offsets.
typedef struct MotusGstSettings {
    guint pass;                 // MotusGstPass
    guint bitrate, vbv_maxrate; // kbit/s
    guint vbv_capacity;         // milliseconds at the VBV's rate
    guint quantizer, qp_min, qp_max, qp_step;
    guint preset, tune; // numbered as in x264enc
    guint keyint, lookahead, bframes, references, keep_references, slices, slice_max_size, threads,
        gop_coders, backend, direct;
    gint aud, mbtree, cabac, dct8x8, b_adapt, b_pyramid, weightb, weightp, intra_refresh;
    double ip_factor;
    char *cache_file; // log between two passes
} MotusGstSettings;

// Adds the properties to a class; ids count from 1.
void motus_gst_settings_install(GObjectClass *class);

void motus_gst_settings_init(MotusGstSettings *settings);
void motus_gst_settings_clear(MotusGstSettings *settings);

// Returns FALSE if the id is not one of these. *rate: the property may change while playing.
gboolean motus_gst_settings_set(MotusGstSettings *settings, guint id, const GValue *value,
                                gboolean *rate);
gboolean motus_gst_settings_get(const MotusGstSettings *settings, guint id, GValue *value);

// Copies all settings; `to` is zeroed or holds earlier ones. cache_file is never NULL then.
void motus_gst_settings_copy(MotusGstSettings *to, const MotusGstSettings *from);

// Copies the properties that may change while playing.
void motus_gst_settings_copy_rates(MotusGstSettings *to, const MotusGstSettings *from);

// Sets everything but size, frame rate, colour and profile in the configuration; leaves pass_log
// alone.
void motus_gst_settings_apply(const MotusGstSettings *settings, MotusEncoderConfig *config);

#endif
