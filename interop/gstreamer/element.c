// The GStreamer element motush264enc. It works in the streaming thread only, under
// GstVideoEncoder's lock: each frame is sent, and packets that are ready go downstream. So packets
// keep their order, and flushing and stopping wait for no other thread.
// SPDX-License-Identifier: BSD-2-Clause
#include <gst/video/gstvideoencoder.h>

#include "interop/gstreamer/convert.h"
#include "interop/gstreamer/settings.h"
#include "motus/version.h"

GST_DEBUG_CATEGORY_STATIC(motus_debug);
#define GST_CAT_DEFAULT motus_debug

// Frames beyond the lookahead that may be pending with one GOP coder, unless tuned for latency.
enum { MAX_PENDING = 2 };

typedef struct MotusH264Enc {
    GstVideoEncoder parent;
    MotusGstSettings settings; // guarded by the object's lock, as rate_changed
    gboolean rate_changed;

    GstVideoCodecState *input;
    MotusEncoder *encoder; // NULL between a drain or flush and the next frame
    gboolean avc;
    GString *log;           // log of a first pass
    int64_t pictures, gops; // pushed since the element was started
    int pending, most_pending;
    GstClockTime last_pts; // of the last frame sent; GST_CLOCK_TIME_NONE: none
} MotusH264Enc;

typedef struct MotusH264EncClass {
    GstVideoEncoderClass parent;
} MotusH264EncClass;

static GType motus_h264_enc_get_type(void);
G_DEFINE_TYPE_WITH_CODE(MotusH264Enc, motus_h264_enc, GST_TYPE_VIDEO_ENCODER,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, NULL))

static MotusH264Enc *of_base(GstVideoEncoder *base) { return (MotusH264Enc *)base; }

// ---- Packets out --------------------------------------------------------------------------------

static GstFlowReturn fail(MotusH264Enc *self, MotusStatus status) {
    const MotusError *error = motus_encoder_error(self->encoder);
    GST_ELEMENT_ERROR(self, STREAM, ENCODE,
                      ("The picture could not be coded: %s",
                       *error->text ? error->text : motus_status_text(status)),
                      ("%s", motus_status_name(status)));
    return GST_FLOW_ERROR;
}

static GstFlowReturn push(MotusH264Enc *self, MotusPacket *packet) {
    GstVideoEncoder *base = GST_VIDEO_ENCODER(self);
    GstVideoCodecFrame *frame =
        gst_video_encoder_get_frame(base, (int)GPOINTER_TO_UINT(packet->opaque));
    self->pending--;
    self->pictures++;
    self->gops += packet->is_idr;
    if (self->log && packet->pass_log) g_string_append(self->log, packet->pass_log);
    if (!frame) { // the base class has dropped it
        motus_packet_unref(&packet);
        return GST_FLOW_OK;
    }
    if (packet->is_idr) GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
    frame->output_buffer = motus_gst_buffer(packet, self->avc);
    return gst_video_encoder_finish_frame(base, frame);
}

// Pushes the packets that are ready; blocks while more than `most` frames are pending.
static GstFlowReturn push_coded(MotusH264Enc *self, int most) {
    GstFlowReturn flow = GST_FLOW_OK;
    while (flow == GST_FLOW_OK) {
        MotusPacket *packet;
        const MotusStatus status =
            motus_encoder_receive(self->encoder, &packet, self->pending > most ? -1 : 0);
        if (status < 0) return fail(self, status);
        if (status) break;
        flow = push(self, packet);
    }
    return flow;
}

// ---- Opening and closing ------------------------------------------------------------------------

static void close_encoder(MotusH264Enc *self) {
    motus_encoder_close(&self->encoder);
    self->pending = 0;
    self->last_pts = GST_CLOCK_TIME_NONE;
}

// Reads the log of the first pass.
static gboolean read_log(MotusH264Enc *self, const char *path, gchar **text) {
    GError *error = NULL;
    if (g_file_get_contents(path ? path : "", text, NULL, &error)) return TRUE;
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("multipass-cache-file: %s", error->message),
                      (NULL));
    g_error_free(error);
    return FALSE;
}

static gboolean write_log(MotusH264Enc *self) {
    GError *error = NULL;
    GST_OBJECT_LOCK(self);
    gchar *path = g_strdup(self->settings.cache_file ? self->settings.cache_file : "");
    GST_OBJECT_UNLOCK(self);
    g_string_append_printf(self->log, "end %" G_GINT64_FORMAT "\n", (gint64)self->pictures);
    const gboolean good = g_file_set_contents(path, self->log->str, (gssize)self->log->len, &error);
    if (!good) {
        GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE, ("multipass-cache-file: %s", error->message),
                          (NULL));
        g_error_free(error);
    }
    g_string_free(self->log, TRUE);
    self->log = NULL;
    g_free(path);
    return good;
}

// Sets caps, tags and latency of an open encoder.
static gboolean announce(MotusH264Enc *self, const MotusEncoderConfig *config) {
    GstVideoEncoder *base = GST_VIDEO_ENCODER(self);
    GstCaps *allowed = gst_pad_get_allowed_caps(GST_VIDEO_ENCODER_SRC_PAD(base));
    GstCaps *caps = motus_gst_src_caps(self->encoder, allowed, &self->avc);
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
    GST_OBJECT_LOCK(self);
    const gboolean zerolatency = (self->settings.tune & MOTUS_GST_ZEROLATENCY) != 0;
    GST_OBJECT_UNLOCK(self);
    const int lookahead = c->rate == MOTUS_RATE_QP ? 0 : c->lookahead,
              gop_coders = motus_encoder_gop_coders(self->encoder);
    return lookahead + (zerolatency ? 0 : gop_coders == 1 ? MAX_PENDING : gop_coders * c->keyint);
}

// Fills the configuration from the properties and reads the log that a second pass needs. The
// caller frees *log.
static gboolean apply_settings(MotusH264Enc *self, MotusEncoderConfig *config, gchar **log) {
    GST_OBJECT_LOCK(self);
    motus_gst_settings_apply(&self->settings, config);
    gchar *path = g_strdup(self->settings.cache_file);
    self->rate_changed = FALSE;
    GST_OBJECT_UNLOCK(self);
    *log = NULL;
    const gboolean good = config->pass != 2 || read_log(self, path, log);
    g_free(path);
    return good;
}

static gboolean open_with(MotusH264Enc *self, MotusEncoder **enc, const MotusEncoderConfig *c) {
    MotusError error = {0};
    if (motus_encoder_open(enc, c, &error) == MOTUS_OK) return TRUE;
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error.text),
                      ("%s", motus_status_name(error.status)));
    return FALSE;
}

// Opens and closes an encoder of one macroblock, so that bad settings fail the state change. An
// error in the streaming thread would be later, and gst-launch-1.0 may hang on it.
static gboolean check_settings(MotusH264Enc *self) {
    MotusEncoderConfig config = motus_encoder_config_default(16, 16, (MotusRational){25, 1});
    MotusEncoder *enc = NULL;
    gchar *log;
    if (!apply_settings(self, &config, &log)) return FALSE;
    g_free(log);
    if (config.pass == 2) config.pass = 1; // a log fits one picture size only
    if (config.backend == MOTUS_BACKEND_AUTO) config.backend = MOTUS_BACKEND_CPU;
    const gboolean good = open_with(self, &enc, &config);
    motus_encoder_close(&enc);
    return good;
}

static gboolean open_encoder(MotusH264Enc *self) {
    MotusEncoderConfig config = motus_gst_config(&self->input->info);
    gchar *log;
    if (!apply_settings(self, &config, &log)) return FALSE;
    // The stream continues after a flush: successive IDR pictures need different idr_pic_ids
    // (7.4.3).
    config.first_picture = self->pictures;
    config.first_gop = self->gops;
    config.pass_log = log;
    const gboolean good = open_with(self, &self->encoder, &config);
    g_free(log);
    if (!good) return FALSE;
    if (config.pass == 1 && !self->log) self->log = g_string_new(NULL);
    self->most_pending = most_pending(self, &config);
    GST_INFO_OBJECT(self, "%s, %d GOP coders, at most %d pending frames",
                    motus_backend_name(motus_encoder_backend(self->encoder)),
                    motus_encoder_gop_coders(self->encoder), self->most_pending);
    if (announce(self, &config)) return TRUE;
    close_encoder(self);
    return FALSE;
}

// Pushes all pending frames and closes the encoder.
static GstFlowReturn drain(MotusH264Enc *self) {
    if (!self->encoder) return GST_FLOW_OK;
    const MotusStatus status = motus_encoder_send(self->encoder, NULL, NULL);
    const GstFlowReturn flow = status ? fail(self, status) : push_coded(self, -1);
    close_encoder(self);
    return flow;
}

// ---- Virtual functions of GstVideoEncoder -------------------------------------------------------

static gboolean set_format(GstVideoEncoder *base, GstVideoCodecState *state) {
    MotusH264Enc *self = of_base(base);
    if (drain(self) != GST_FLOW_OK)
        GST_DEBUG_OBJECT(self, "pictures before the change were dropped");
    if (self->input) gst_video_codec_state_unref(self->input);
    self->input = gst_video_codec_state_ref(state);
    return open_encoder(self);
}

static void apply_rate(MotusH264Enc *self) {
    MotusEncoderConfig config = {0};
    GST_OBJECT_LOCK(self);
    const gboolean changed = self->rate_changed;
    self->rate_changed = FALSE;
    motus_gst_settings_apply(&self->settings, &config);
    GST_OBJECT_UNLOCK(self);
    if (!changed) return;
    if (motus_encoder_set_rate(self->encoder, config.bitrate, config.vbv_maxrate,
                               config.vbv_bufsize))
        GST_ELEMENT_WARNING(
            self, LIBRARY, SETTINGS,
            ("The rate stays as it is: %s", motus_encoder_error(self->encoder)->text), (NULL));
}

// Returns how long a frame is shown, in MOTUS_GST_TIME_UNIT: its duration, or else that of the
// previous frame.
static int64_t duration_of(MotusH264Enc *self, const GstVideoCodecFrame *frame) {
    GstClockTime ns = frame->duration;
    if (!GST_CLOCK_TIME_IS_VALID(ns) && GST_CLOCK_TIME_IS_VALID(self->last_pts) &&
        frame->pts > self->last_pts)
        ns = frame->pts - self->last_pts;
    if (!GST_CLOCK_TIME_IS_VALID(ns)) ns = GST_SECOND / 25;
    self->last_pts = frame->pts;
    return (int64_t)MAX(1, gst_util_uint64_scale_round(ns, MOTUS_GST_TIME_UNIT, GST_SECOND));
}

// Sends a frame. The encoder copies or uploads the samples before it returns; that is the only
// copy.
static GstFlowReturn send(MotusH264Enc *self, GstVideoCodecFrame *frame) {
    GstVideoFrame mapped;
    MotusFrame *picture = NULL;
    MotusFrameParams params = {.size = sizeof params,
                               .pts = (int64_t)frame->pts,
                               .duration = duration_of(self, frame),
                               .opaque = GUINT_TO_POINTER(frame->system_frame_number),
                               .force_idr = GST_VIDEO_CODEC_FRAME_IS_FORCE_KEYFRAME(frame)};
    if (!gst_video_frame_map(&mapped, &self->input->info, frame->input_buffer, GST_MAP_READ)) {
        GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("A frame cannot be read."), (NULL));
        return GST_FLOW_ERROR;
    }
    MotusStatus status = motus_gst_frame(&picture, &mapped);
    if (!status) status = motus_encoder_send(self->encoder, picture, &params);
    motus_frame_unref(&picture);
    gst_video_frame_unmap(&mapped);
    if (status) return fail(self, status);
    self->pending++;
    return GST_FLOW_OK;
}

// Releases the samples while the picture is pending, so that an upstream pool gets them back. Keeps
// the buffer's metadata.
static void keep_metas_only(GstVideoCodecFrame *frame) {
    GstBuffer *metas = gst_buffer_new();
    gst_buffer_copy_into(metas, frame->input_buffer, GST_BUFFER_COPY_METADATA, 0, 0);
    gst_buffer_replace(&frame->input_buffer, metas);
    gst_buffer_unref(metas);
}

static GstFlowReturn handle_frame(GstVideoEncoder *base, GstVideoCodecFrame *frame) {
    MotusH264Enc *self = of_base(base);
    // Too late to be shown (qos=true): a frame without output counts as dropped.
    if (!GST_VIDEO_CODEC_FRAME_IS_FORCE_KEYFRAME(frame) &&
        gst_video_encoder_get_max_encode_time(base, frame) < 0)
        return gst_video_encoder_finish_frame(base, frame);
    GstFlowReturn flow =
        self->encoder || open_encoder(self) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
    if (flow == GST_FLOW_OK) {
        apply_rate(self);
        flow = send(self, frame);
    }
    if (flow == GST_FLOW_OK) keep_metas_only(frame);
    gst_video_codec_frame_unref(frame);
    return flow == GST_FLOW_OK ? push_coded(self, self->most_pending) : flow;
}

// Ends the stream or a segment; frames may follow.
static GstFlowReturn finish(GstVideoEncoder *base) {
    MotusH264Enc *self = of_base(base);
    GstFlowReturn flow = drain(self);
    if (self->log && !write_log(self) && flow == GST_FLOW_OK) flow = GST_FLOW_ERROR;
    return flow;
}

static gboolean flush(GstVideoEncoder *base) {
    close_encoder(of_base(base));
    return TRUE;
}

static gboolean start(GstVideoEncoder *base) {
    MotusH264Enc *self = of_base(base);
    self->pictures = self->gops = 0;
    self->last_pts = GST_CLOCK_TIME_NONE;
    return check_settings(self);
}

static gboolean stop(GstVideoEncoder *base) {
    MotusH264Enc *self = of_base(base);
    close_encoder(self);
    g_clear_pointer(&self->input, gst_video_codec_state_unref);
    if (self->log) g_string_free(self->log, TRUE);
    self->log = NULL;
    return TRUE;
}

static gboolean propose_allocation(GstVideoEncoder *base, GstQuery *query) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL); // any strides are allowed
    return GST_VIDEO_ENCODER_CLASS(motus_h264_enc_parent_class)->propose_allocation(base, query);
}

// ---- The object ---------------------------------------------------------------------------------

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    MotusH264Enc *self = (MotusH264Enc *)object;
    gboolean rate;
    GST_OBJECT_LOCK(self);
    if (!motus_gst_settings_set(&self->settings, id, value, &rate))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    self->rate_changed |= rate;
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    MotusH264Enc *self = (MotusH264Enc *)object;
    GST_OBJECT_LOCK(self);
    if (!motus_gst_settings_get(&self->settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    GST_OBJECT_UNLOCK(self);
}

static void finalize(GObject *object) {
    motus_gst_settings_clear(&((MotusH264Enc *)object)->settings);
    G_OBJECT_CLASS(motus_h264_enc_parent_class)->finalize(object);
}

static void add_template(GstElementClass *class, const char *name, GstPadDirection direction,
                         const char *text) {
    GstCaps *caps = gst_caps_from_string(text);
    gst_element_class_add_pad_template(class,
                                       gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
}

static void motus_h264_enc_class_init(MotusH264EncClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstVideoEncoderClass *base = GST_VIDEO_ENCODER_CLASS(class);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    motus_gst_settings_install(object);
    gst_element_class_set_static_metadata(
        element, "motus H.264 encoder", "Codec/Encoder/Video",
        "Encodes H.264 of Constrained Baseline profile on a CPU or on CUDA cores",
        "the motus authors");
    add_template(element, "sink", GST_PAD_SINK, MOTUS_GST_SINK_CAPS);
    add_template(element, "src", GST_PAD_SRC, MOTUS_GST_SRC_CAPS);
    base->start = start;
    base->stop = stop;
    base->set_format = set_format;
    base->handle_frame = handle_frame;
    base->finish = finish;
    base->flush = flush;
    base->propose_allocation = propose_allocation;
}

static void motus_h264_enc_init(MotusH264Enc *self) {
    motus_gst_settings_init(&self->settings);
    self->last_pts = GST_CLOCK_TIME_NONE;
    // Accept caps without interlace-mode, which are progressive but no subset of the template.
    GST_PAD_SET_ACCEPT_INTERSECT(GST_VIDEO_ENCODER_SINK_PAD(self));
}

static gboolean plugin_init(GstPlugin *plugin) {
    GST_DEBUG_CATEGORY_INIT(motus_debug, "motush264enc", 0, "motus H.264 encoder");
    return gst_element_register(plugin, "motush264enc", GST_RANK_MARGINAL,
                                motus_h264_enc_get_type());
}

#define PACKAGE "motus"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, motus, "H.264 encoding with motus",
                  plugin_init, MOTUS_GST_VERSION, "BSD", "motus", "motus")
