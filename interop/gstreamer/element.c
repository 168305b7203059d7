// The GStreamer element motush264enc. It works in the streaming thread only, under
// GstVideoEncoder's lock: each frame is sent, and packets that are ready go downstream. So packets
// keep their order, and flushing and stopping wait for no other thread.
// SPDX-License-Identifier: BSD-2-Clause
#include <gst/video/gstvideoencoder.h>

#include "interop/gstreamer/convert.h"
#include "interop/gstreamer/opening.h"

GST_DEBUG_CATEGORY_STATIC(motus_debug);
#define GST_CAT_DEFAULT motus_debug

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
    MOTUS_GST_FAIL(self, STREAM, ENCODE, "The picture could not be coded: %s",
                   *error->text ? error->text : motus_status_text(status));
    return GST_FLOW_ERROR;
}

// Returns the decoding time. Before the first frame it is made from the duration, whose unit is not
// that of pts here.
static GstClockTime dts_of(MotusH264Enc *self, const MotusPacket *packet) {
    const int b = self->active.bframes, has_levels = self->active.b_pyramid;
    const int64_t delay = 1 + (b > 2 && has_levels) + (b > 6 && has_levels);
    if (packet->is_idr && packet->pts - packet->dts == delay * packet->duration)
        self->first_pts = packet->pts;
    const int64_t before = self->first_pts - packet->dts;
    if (before <= 0) return (GstClockTime)packet->dts;
    return (GstClockTime)self->first_pts -
           gst_util_uint64_scale((guint64)before, GST_SECOND, MOTUS_GST_TIME_UNIT);
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
    if (self->active.bframes) frame->dts = dts_of(self, packet);
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

// ---- Virtual functions of GstVideoEncoder -------------------------------------------------------

// Pushes all pending frames and closes the encoder.
static GstFlowReturn drain(MotusH264Enc *self) {
    if (!self->encoder) return GST_FLOW_OK;
    const MotusStatus status = motus_encoder_send(self->encoder, NULL, NULL);
    const GstFlowReturn flow = status ? fail(self, status) : push_coded(self, -1);
    motus_gst_close_encoder(self);
    return flow;
}

static gboolean set_format(GstVideoEncoder *base, GstVideoCodecState *state) {
    MotusH264Enc *self = of_base(base);
    // GStreamer sends caps that were refused again before each buffer.
    if (self->failed && self->input && gst_caps_is_equal(self->input->caps, state->caps))
        return FALSE;
    if (drain(self) != GST_FLOW_OK)
        GST_DEBUG_OBJECT(self, "pictures before the change were dropped");
    if (self->input) gst_video_codec_state_unref(self->input);
    self->input = gst_video_codec_state_ref(state);
    self->failed = FALSE;
    return motus_gst_open_encoder(self);
}

static void apply_rate(MotusH264Enc *self) {
    MotusEncoderConfig config = {0};
    MotusGstSettings newest = self->active;
    GST_OBJECT_LOCK(self);
    const gboolean changed = self->rate_changed;
    self->rate_changed = FALSE;
    motus_gst_settings_copy_rates(&newest, &self->settings);
    GST_OBJECT_UNLOCK(self);
    if (!changed) return;
    motus_gst_settings_apply(&newest, &config);
    if (motus_encoder_set_rate(self->encoder, config.bitrate, config.vbv_maxrate,
                               config.vbv_bufsize))
        GST_ELEMENT_WARNING(
            self, LIBRARY, SETTINGS,
            ("The rate stays as it is: %s", motus_encoder_error(self->encoder)->text), (NULL));
    else
        motus_gst_settings_copy_rates(&self->active, &newest);
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

// ---- Losses: upstream events motus-reference-lost -----------------------------------------------

static gboolean src_event(GstVideoEncoder *base, GstEvent *event) {
    MotusH264Enc *self = of_base(base);
    GstClockTime pts = GST_CLOCK_TIME_NONE;
    if (GST_EVENT_TYPE(event) != GST_EVENT_CUSTOM_UPSTREAM ||
        !gst_event_has_name(event, "motus-reference-lost"))
        return GST_VIDEO_ENCODER_CLASS(motus_h264_enc_parent_class)->src_event(base, event);
    gst_structure_get_clock_time(gst_event_get_structure(event), "timestamp", &pts);
    GST_OBJECT_LOCK(self);
    const gboolean fits = self->n_lost < MOTUS_GST_LOST;
    self->lost[fits ? self->n_lost++ : 0] = fits ? pts : GST_CLOCK_TIME_NONE;
    GST_OBJECT_UNLOCK(self);
    gst_event_unref(event);
    return TRUE;
}

// Returns the encoder's number of a frame; -1: unknown.
static int64_t number_of(const MotusH264Enc *self, GstClockTime pts) {
    for (int64_t i = self->n_sent - 1; i >= MAX(0, self->n_sent - MOTUS_GST_SENT); i--)
        if (self->sent[i % MOTUS_GST_SENT] == pts) return i;
    return -1;
}

// Tells the encoder of losses. After that of an unknown frame, this frame becomes a key picture.
static void apply_losses(MotusH264Enc *self, GstVideoCodecFrame *frame) {
    GstClockTime lost[MOTUS_GST_LOST];
    GST_OBJECT_LOCK(self);
    const int n = self->n_lost;
    memcpy(lost, self->lost, sizeof lost);
    self->n_lost = 0;
    GST_OBJECT_UNLOCK(self);
    for (int i = 0; i < n; i++) {
        const int64_t number = GST_CLOCK_TIME_IS_VALID(lost[i]) ? number_of(self, lost[i]) : -1;
        if (number < 0 || motus_encoder_reference_lost(self->encoder, number))
            GST_VIDEO_CODEC_FRAME_SET_FORCE_KEYFRAME(frame);
    }
}

// ---- Frames in ----------------------------------------------------------------------------------

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
        MOTUS_GST_FAIL(self, STREAM, FORMAT, "A frame cannot be read.");
        return GST_FLOW_ERROR;
    }
    MotusStatus status = motus_gst_frame(&picture, &mapped);
    if (!status) status = motus_encoder_send(self->encoder, picture, &params);
    motus_frame_unref(&picture);
    gst_video_frame_unmap(&mapped);
    if (status) return fail(self, status);
    self->pending++;
    self->sent[self->n_sent++ % MOTUS_GST_SENT] = frame->pts;
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
    if (self->failed) {
        gst_video_encoder_finish_frame(base, frame); // without output: dropped
        return GST_FLOW_ERROR;
    }
    GstFlowReturn flow =
        self->encoder || motus_gst_open_encoder(self) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
    if (flow == GST_FLOW_OK) {
        apply_rate(self);
        apply_losses(self, frame);
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
    if (self->log && !motus_gst_write_log(self) && flow == GST_FLOW_OK) flow = GST_FLOW_ERROR;
    return flow;
}

static gboolean flush(GstVideoEncoder *base) {
    motus_gst_close_encoder(of_base(base));
    of_base(base)->failed = FALSE;
    return TRUE;
}

static gboolean start(GstVideoEncoder *base) {
    MotusH264Enc *self = of_base(base);
    self->pictures = self->gops = 0;
    self->last_pts = GST_CLOCK_TIME_NONE;
    // GStreamer has no times below 0: a later start leaves room for the first decoding times.
    if (self->active.bframes) gst_video_encoder_set_min_pts(base, 3600 * GST_SECOND);
    return TRUE;
}

static gboolean stop(GstVideoEncoder *base) {
    MotusH264Enc *self = of_base(base);
    motus_gst_close_encoder(self);
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

// A start() that fails would get a second error from the base class.
static GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
    if (change == GST_STATE_CHANGE_READY_TO_PAUSED &&
        !motus_gst_check_settings((MotusH264Enc *)element))
        return GST_STATE_CHANGE_FAILURE;
    return GST_ELEMENT_CLASS(motus_h264_enc_parent_class)->change_state(element, change);
}

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
    motus_gst_settings_clear(&((MotusH264Enc *)object)->active);
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
    element->change_state = change_state;
    motus_gst_settings_install(object);
    gst_element_class_set_static_metadata(
        element, "motus H.264 encoder", "Codec/Encoder/Video",
        "Encodes H.264 of Constrained Baseline to High profile on a CPU or on CUDA cores",
        "the motus authors");
    add_template(element, "sink", GST_PAD_SINK, MOTUS_GST_SINK_CAPS);
    add_template(element, "src", GST_PAD_SRC, MOTUS_GST_SRC_CAPS);
    base->start = start;
    base->stop = stop;
    base->set_format = set_format;
    base->handle_frame = handle_frame;
    base->finish = finish;
    base->src_event = src_event;
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
