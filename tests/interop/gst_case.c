// SPDX-License-Identifier: BSD-2-Clause
#include "tests/interop/gst_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Counts live objects; the tracer logs them when GStreamer ends.
static int count_leaks(const char *path) {
    gchar *text = NULL;
    int leaks = 0;
    if (!g_file_get_contents(path, &text, NULL, NULL)) return -1;
    for (const char *p = text; (p = strstr(p, ":0:: object-alive,")); p++) leaks++;
    if (leaks) printf("%s\n", text);
    g_free(text);
    return leaks;
}

int motus_gst_main(const char *suite, const MotusTest *tests, int argc, char **argv) {
    GError *error = NULL;
    char log[64];
    g_snprintf(log, sizeof log, "%s.leaks.log", suite);
    remove(log);
    g_setenv("GST_TRACERS", "leaks", TRUE);
    g_setenv("GST_DEBUG", "GST_TRACER:7", TRUE);
    g_setenv("GST_DEBUG_NO_COLOR", "1", TRUE);
    g_setenv("GST_DEBUG_FILE", log, TRUE);
    gst_init(&argc, &argv);
    GstPlugin *plugin = gst_plugin_load_file(MOTUS_GST_PLUGIN, &error);
    if (!plugin) {
        printf("%s\n", error->message);
        return EXIT_FAILURE;
    }
    gst_object_unref(plugin);
    int status = motus_test_main(suite, tests, argc, argv);
    gst_deinit();
    const int leaks = count_leaks(log);
    printf("%s: %d objects of GStreamer's are left\n", suite, leaks);
    return status ? status : leaks ? EXIT_FAILURE : EXIT_SUCCESS;
}

GstHarness *motus_gst_open(const char *text, const char *caps) {
    gchar *line = g_strdup_printf("motush264enc backend=cpu %s", text);
    GstHarness *h = gst_harness_new_parse(line);
    g_free(line);
    if (caps) gst_harness_set_src_caps_str(h, caps);
    return h;
}

// ---- Pictures -----------------------------------------------------------------------------------

static uint8_t sample(int p, int x, int y, int t) {
    const int u = x + (p ? t : 2 * t), v = y - t / 2;
    return (uint8_t)(p ? 128 + (u * 3 + v) / 7 % 40
                       : 60 + (u / 3 * 37 + v / 5 * 59 + u * v / 64) % 150);
}

MotusFrame *motus_gst_picture(int width, int height, int t) {
    MotusFrame *frame = NULL;
    if (motus_frame_alloc(&frame, width, height)) abort();
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++)
                frame->plane[p].data[y * frame->plane[p].stride + x] = sample(p, x, y, t);
    return frame;
}

GstBuffer *motus_gst_buffer_of(int width, int height, int t, int padding) {
    gsize offset[GST_VIDEO_MAX_PLANES] = {0}, size = 0;
    gint stride[GST_VIDEO_MAX_PLANES] = {0};
    for (int p = 0; p < 3; p++) {
        stride[p] = (p ? width / 2 : width) + padding;
        offset[p] = size + (gsize)padding;
        size = offset[p] + (gsize)stride[p] * (gsize)(p ? height / 2 : height);
    }
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, size, NULL);
    GstMapInfo map;
    if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) abort();
    memset(map.data, 0xA5, size);
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < (p ? height / 2 : height); y++)
            for (int x = 0; x < (p ? width / 2 : width); x++)
                map.data[offset[p] + (gsize)(y * stride[p] + x)] = sample(p, x, y, t);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420,
                                   (guint)width, (guint)height, 3, offset, stride);
    GST_BUFFER_PTS(buffer) = (GstClockTime)t * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
    return buffer;
}

void motus_gst_push(GstHarness *h, int width, int height, int first, int n) {
    for (int t = first; t < first + n; t++) {
        const GstFlowReturn flow = gst_harness_push(h, motus_gst_buffer_of(width, height, t, 0));
        MOTUS_CHECK(flow == GST_FLOW_OK, "picture %d: %s", t, gst_flow_get_name(flow));
    }
}

// ---- Streams ------------------------------------------------------------------------------------

GByteArray *motus_gst_take(GstHarness *h, int *n) {
    GByteArray *all = g_byte_array_new();
    GstBuffer *buffer;
    *n = 0;
    while ((buffer = gst_harness_try_pull(h))) {
        GstMapInfo map;
        if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) abort();
        g_byte_array_append(all, map.data, (guint)map.size);
        gst_buffer_unmap(buffer, &map);
        gst_buffer_unref(buffer);
        ++*n;
    }
    return all;
}

static void receive(MotusEncoder *enc, GByteArray *all) {
    MotusPacket *packet;
    while (motus_encoder_receive(enc, &packet, -1) == MOTUS_OK) {
        g_byte_array_append(all, packet->data, (guint)packet->size);
        motus_packet_unref(&packet);
    }
}

GByteArray *motus_gst_expected(const MotusEncoderConfig *config, int n) {
    GByteArray *all = g_byte_array_new();
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    MOTUS_CHECK(motus_encoder_open(&enc, config, &error) == MOTUS_OK, "%s", error.text);
    if (!enc) return all;
    for (int t = 0; t < n; t++) {
        MotusFrame *frame = motus_gst_picture(config->width, config->height, t);
        const MotusFrameParams params = {
            .size = sizeof params, .pts = t, .duration = config->time_base.num ? 3600 : 1}; // 40 ms
        MOTUS_CHECK(motus_encoder_send(enc, frame, &params) == MOTUS_OK, "picture %d", t);
        motus_frame_unref(&frame);
        receive(enc, all);
    }
    MOTUS_CHECK(motus_encoder_send(enc, NULL, NULL) == MOTUS_OK, "%d pictures", n);
    receive(enc, all);
    motus_encoder_close(&enc);
    return all;
}

gboolean motus_gst_same(const GByteArray *a, const GByteArray *b) {
    return a->len == b->len && !memcmp(a->data, b->data, a->len);
}
