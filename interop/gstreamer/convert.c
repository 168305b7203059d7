// SPDX-License-Identifier: BSD-2-Clause
#include "interop/gstreamer/convert.h"

#include "interop/avcc.h"

// ---- Frames from buffers ------------------------------------------------------------------------

// Returns chroma_sample_loc_type (figure E-1), -1 if unknown.
static int chroma_location(GstVideoChromaSite site) {
    switch ((guint)site) {
    case GST_VIDEO_CHROMA_SITE_MPEG2:
        return 0;
    case GST_VIDEO_CHROMA_SITE_JPEG:
        return 1;
    case GST_VIDEO_CHROMA_SITE_COSITED:
        return 2;
    case GST_VIDEO_CHROMA_SITE_V_COSITED:
        return 3;
    default:
        return -1;
    }
}

static MotusColour colour_of(const GstVideoInfo *info) {
    const GstVideoColorimetry *c = &info->colorimetry;
    return (MotusColour){.sar = {GST_VIDEO_INFO_PAR_N(info), GST_VIDEO_INFO_PAR_D(info)},
                         .full_range = c->range == GST_VIDEO_COLOR_RANGE_0_255    ? 1
                                       : c->range == GST_VIDEO_COLOR_RANGE_16_235 ? 0
                                                                                  : -1,
                         .primaries = (int)gst_video_color_primaries_to_iso(c->primaries),
                         .transfer = (int)gst_video_transfer_function_to_iso(c->transfer),
                         .matrix = (int)gst_video_color_matrix_to_iso(c->matrix),
                         .chroma_location = chroma_location(info->chroma_site)};
}

MotusEncoderConfig motus_gst_config(const GstVideoInfo *info) {
    // max-framerate takes the place of a variable rate.
    const gboolean variable = GST_VIDEO_INFO_FPS_N(info) == 0 ||
                              GST_VIDEO_INFO_FLAG_IS_SET(info, GST_VIDEO_FLAG_VARIABLE_FPS);
    const MotusRational fps = {GST_VIDEO_INFO_FPS_N(info), GST_VIDEO_INFO_FPS_D(info)},
                        default_fps = {25, 1};
    MotusEncoderConfig config = motus_encoder_config_default(
        GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info), fps.num ? fps : default_fps);
    if (variable) config.time_base = (MotusRational){1, MOTUS_GST_TIME_UNIT};
    config.colour = colour_of(info);
    return config;
}

MotusStatus motus_gst_frame(MotusFrame **frame, const GstVideoFrame *mapped) {
    uint8_t *data[3];
    ptrdiff_t stride[3];
    for (int p = 0; p < 3; p++) {
        data[p] = GST_VIDEO_FRAME_COMP_DATA(mapped, p);
        stride[p] = GST_VIDEO_FRAME_COMP_STRIDE(mapped, p);
    }
    return motus_frame_wrap(frame, GST_VIDEO_FRAME_WIDTH(mapped), GST_VIDEO_FRAME_HEIGHT(mapped),
                            data, stride, NULL, NULL);
}

// ---- Packets to buffers -------------------------------------------------------------------------

static gboolean allows(const GstCaps *allowed, const char *field, const char *value) {
    if (!allowed) return TRUE;
    GstCaps *wanted = gst_caps_new_simple("video/x-h264", field, G_TYPE_STRING, value, NULL);
    const gboolean allows_it = gst_caps_can_intersect(allowed, wanted);
    gst_caps_unref(wanted);
    return allows_it;
}

// Profiles from the one that is preferred on.
static const struct {
    const char *name;
    MotusProfile profile;
} profiles[] = {{"constrained-baseline", MOTUS_PROFILE_BASELINE},
                {"baseline", MOTUS_PROFILE_BASELINE},
                {"high", MOTUS_PROFILE_HIGH},
                {"main", MOTUS_PROFILE_MAIN}};
enum { FIRST_WITH_B = 2 };

// Returns the first of them that is allowed; if none is, negotiation fails later.
static guint first_profile(const GstCaps *allowed, gboolean with_b) {
    for (guint i = with_b ? FIRST_WITH_B : 0; i < G_N_ELEMENTS(profiles); i++)
        if (allows(allowed, "profile", profiles[i].name)) return i;
    return with_b ? FIRST_WITH_B : 0;
}

MotusProfile motus_gst_profile(const GstCaps *allowed, gboolean with_b) {
    return profiles[first_profile(allowed, with_b)].profile;
}

// Sets level "3.1" for level_idc 31, "4" for 40.
static void set_level(GstCaps *caps, int level_idc) {
    char text[8];
    g_snprintf(text, sizeof text, level_idc % 10 ? "%d.%d" : "%d", level_idc / 10, level_idc % 10);
    gst_caps_set_simple(caps, "level", G_TYPE_STRING, text, NULL);
}

static gboolean set_codec_data(GstCaps *caps, const MotusEncoder *enc) {
    uint8_t record[512];
    size_t size;
    const uint8_t *headers = motus_encoder_headers(enc, &size);
    size = motus_avcc_record(record, sizeof record, headers, size);
    if (!size) return FALSE;
    GstBuffer *data = gst_buffer_new_memdup(record, size);
    gst_caps_set_simple(caps, "codec_data", GST_TYPE_BUFFER, data, NULL);
    gst_buffer_unref(data);
    return TRUE;
}

GstCaps *motus_gst_src_caps(const MotusEncoder *enc, const GstCaps *allowed, gboolean with_b,
                            gboolean *avc) {
    if (allowed && gst_caps_is_empty(allowed)) return NULL;
    *avc = !allows(allowed, "stream-format", "byte-stream");
    GstCaps *caps = gst_caps_new_simple("video/x-h264", "stream-format", G_TYPE_STRING,
                                        *avc ? "avc" : "byte-stream", "alignment", G_TYPE_STRING,
                                        "au", "profile", G_TYPE_STRING,
                                        profiles[first_profile(allowed, with_b)].name, NULL);
    set_level(caps, motus_encoder_level(enc));
    if (*avc && !set_codec_data(caps, enc)) gst_clear_caps(&caps);
    return caps;
}

static void release(gpointer opaque) {
    MotusPacket *packet = opaque;
    motus_packet_unref(&packet);
}

static GstBuffer *copy_avc(const MotusPacket *packet) {
    const gsize most = packet->size * 4 / 3 + 4;
    uint8_t *data = g_malloc(most);
    const gsize size = motus_avcc_lengths(data, packet->data, packet->size);
    return gst_buffer_new_wrapped_full((GstMemoryFlags)0, data, most, 0, size, data, g_free);
}

GstBuffer *motus_gst_buffer(MotusPacket *packet, gboolean avc) {
    if (!avc)
        return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, (gpointer)(gsize)packet->data,
                                           packet->size, 0, packet->size, packet, release);
    GstBuffer *buffer = copy_avc(packet);
    motus_packet_unref(&packet);
    return buffer;
}
