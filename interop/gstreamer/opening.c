// SPDX-License-Identifier: BSD-2-Clause
#include "interop/gstreamer/opening.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interop/gstreamer/convert.h"
#include "motus/version.h"

// Frames beyond the lookahead that may be pending with one GOP coder, unless tuned for latency.
enum { MAX_PENDING = 2 };

void motus_gst_close_encoder(MotusH264Enc *self) {
    motus_encoder_close(&self->encoder);
    self->pending = 0;
    self->last_pts = GST_CLOCK_TIME_NONE;
}

static gboolean fail_log(MotusH264Enc *self, GError *error) {
    MOTUS_GST_FAIL(self, RESOURCE, FAILED, "multipass-cache-file: %s", error->message);
    g_error_free(error);
    return FALSE;
}

gboolean motus_gst_write_log(MotusH264Enc *self) {
    GError *error = NULL;
    g_string_append_printf(self->log, "end %" G_GINT64_FORMAT "\n", (gint64)self->pictures);
    const gboolean good = g_file_set_contents(self->active.cache_file, self->log->str,
                                              (gssize)self->log->len, &error);
    g_string_free(self->log, TRUE);
    self->log = NULL;
    return good ? TRUE : fail_log(self, error);
}

// Returns FALSE and *error if the log of a first pass could not be written.
static gboolean log_may_be_written(const char *path, GError **error) {
    gchar *folder = g_path_get_dirname(path); // where g_file_set_contents() makes its file
    int cause = !*path ? ENOENT : 0;
    if (!cause && g_file_test(path, G_FILE_TEST_IS_DIR)) cause = EISDIR;
    if (!cause && g_access(folder, W_OK | X_OK)) cause = errno;
    if (cause)
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(cause), "\"%s\": %s", path,
                    g_strerror(cause));
    g_free(folder);
    return !cause;
}

// Sets size and times to those that the log was made with. Leaves them alone if the text is no log.
static void apply_log(const char *text, MotusEncoderConfig *c) {
    const char *settings = strchr(text, '\n'); // the second line (encoder/settings/stream.c)
    int width, height;
    MotusRational fps, time_base;
    // The library has checked these numbers. NOLINTNEXTLINE(cert-err34-c)
    if (!settings || sscanf(settings + 1, "%dx%d %d/%d time %d/%d", &width, &height, &fps.num,
                            &fps.den, &time_base.num, &time_base.den) != 6)
        return;
    c->width = width, c->height = height;
    c->fps = fps, c->time_base = time_base;
}

// Sets caps, tags and latency of an open encoder.
static gboolean announce(MotusH264Enc *self, const MotusEncoderConfig *config) {
    GstVideoEncoder *base = GST_VIDEO_ENCODER(self);
    GstCaps *allowed = gst_pad_get_allowed_caps(GST_VIDEO_ENCODER_SRC_PAD(base));
    GstCaps *caps =
        motus_gst_src_caps(self->encoder, allowed, self->active.bframes > 0, &self->avc);
    if (allowed) gst_caps_unref(allowed);
    if (!caps) return FALSE;
    gst_video_codec_state_unref(gst_video_encoder_set_output_state(base, caps, self->input));

    GstTagList *tags = gst_tag_list_new(
        GST_TAG_ENCODER, "motus", GST_TAG_ENCODER_VERSION,
        (guint)(MOTUS_VERSION_MAJOR * 10000 + MOTUS_VERSION_MINOR * 100 + MOTUS_VERSION_PATCH),
        NULL);
    if (config->bitrate)
        gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_NOMINAL_BITRATE,
                         (guint)config->bitrate, NULL);
    if (config->vbv_maxrate)
        gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_MAXIMUM_BITRATE,
                         (guint)config->vbv_maxrate, NULL);
    gst_video_encoder_merge_tags(base, tags, GST_TAG_MERGE_REPLACE);
    gst_tag_list_unref(tags);

    const GstClockTime latency =
        gst_util_uint64_scale((guint64)self->most_pending * GST_SECOND, (guint64)config->fps.den,
                              (guint64)config->fps.num);
    gst_video_encoder_set_latency(base, latency, latency);
    return gst_video_encoder_negotiate(base);
}

// Returns the pending frames that push_coded allows: lookahead and parallel coding.
static int most_pending(MotusH264Enc *self, const MotusEncoderConfig *c) {
    const gboolean zerolatency = (self->active.tune & MOTUS_GST_ZEROLATENCY) != 0;
    const int window = c->bframes && c->b_adapt ? 12 : 0,
              lookahead = c->rate == MOTUS_RATE_QP ? window : MAX(window, c->lookahead),
              gop_coders = motus_encoder_gop_coders(self->encoder);
    return lookahead + c->bframes +
           (zerolatency       ? 0
            : gop_coders == 1 ? MAX_PENDING
                              : gop_coders * c->keyint);
}

// Fills the configuration from `settings`, reads the log that a second pass needs and checks the
// place of one that a first pass writes. The caller frees *log.
static gboolean apply_settings(MotusH264Enc *self, const MotusGstSettings *settings,
                               MotusEncoderConfig *config, gchar **log) {
    GError *error = NULL;
    *log = NULL;
    motus_gst_settings_apply(settings, config);
    if (config->pass == 1)
        log_may_be_written(settings->cache_file, &error);
    else if (config->pass == 2)
        config->pass_log =
            g_file_get_contents(settings->cache_file, log, NULL, &error) ? *log : NULL;
    return error ? fail_log(self, error) : TRUE;
}

gboolean motus_gst_check_settings(MotusH264Enc *self) {
    MotusEncoderConfig config = motus_encoder_config_default(16, 16, (MotusRational){25, 1});
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    gchar *log;
    GST_OBJECT_LOCK(self);
    motus_gst_settings_copy(&self->active, &self->settings);
    self->rate_changed = FALSE;
    GST_OBJECT_UNLOCK(self);
    self->failed = FALSE;
    if (!apply_settings(self, &self->active, &config, &log)) return FALSE;
    if (config.bframes) config.profile = MOTUS_PROFILE_HIGH;
    if (log) apply_log(log, &config);
    if (config.backend == MOTUS_BACKEND_AUTO) config.backend = MOTUS_BACKEND_CPU;
    const MotusStatus status = motus_encoder_open(&enc, &config, &error);
    if (status) MOTUS_GST_FAIL(self, LIBRARY, SETTINGS, "%s", error.text);
    motus_encoder_close(&enc);
    g_free(log);
    return !status;
}

// Opens the encoder with the newest rates; if these are refused, with those that worked.
static MotusStatus open_with_rates(MotusH264Enc *self, MotusEncoderConfig *c, MotusError *error) {
    MotusGstSettings newest = self->active;
    GST_OBJECT_LOCK(self);
    motus_gst_settings_copy_rates(&newest, &self->settings);
    const gboolean changed = self->rate_changed;
    self->rate_changed = FALSE;
    GST_OBJECT_UNLOCK(self);
    motus_gst_settings_apply(&newest, c);
    MotusStatus status = motus_encoder_open(&self->encoder, c, error);
    if (!status) motus_gst_settings_copy_rates(&self->active, &newest);
    if (status != MOTUS_ERR_ARGUMENT) return status;
    if (changed)
        GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("The rate stays as it is: %s", error->text),
                            (NULL));
    motus_gst_settings_apply(&self->active, c);
    return motus_encoder_open(&self->encoder, c, error);
}

gboolean motus_gst_open_encoder(MotusH264Enc *self) {
    MotusEncoderConfig config = motus_gst_config(&self->input->info);
    MotusError error = {0};
    gchar *log;
    GstCaps *allowed = gst_pad_get_allowed_caps(GST_VIDEO_ENCODER_SRC_PAD(self));
    config.profile = motus_gst_profile(allowed, self->active.bframes > 0);
    if (allowed) gst_caps_unref(allowed);
    if (!apply_settings(self, &self->active, &config, &log)) return FALSE;
    // The stream continues after a flush: successive IDR pictures need different idr_pic_ids
    // (7.4.3).
    config.first_picture = self->pictures;
    config.first_gop = self->gops;
    const MotusStatus status = open_with_rates(self, &config, &error);
    g_free(log);
    if (status) {
        MOTUS_GST_FAIL(self, LIBRARY, SETTINGS, "%s", error.text);
        return FALSE;
    }
    if (config.pass == 1 && !self->log) self->log = g_string_new(NULL);
    self->most_pending = most_pending(self, &config);
    self->n_sent = config.first_picture;
    GST_INFO_OBJECT(self, "%s, %d GOP coders, at most %d pending frames",
                    motus_backend_name(motus_encoder_backend(self->encoder)),
                    motus_encoder_gop_coders(self->encoder), self->most_pending);
    if (announce(self, &config)) return TRUE;
    motus_gst_close_encoder(self);
    return FALSE;
}
