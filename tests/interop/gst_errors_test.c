// motush264enc's refusals: caps, settings and logs that cannot work fail the state change; an error
// is posted once; bad values while it runs change nothing.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "tests/interop/gst_case.h"

enum { WIDTH = 98, HEIGHT = 80 };

#define CAPS "video/x-raw,format=I420,width=98,height=80,framerate=25/1"

// ---- Before the first picture -------------------------------------------------------------------

static void check_accepts(GstHarness *h, const char *text, gboolean wanted) {
    GstCaps *caps = gst_caps_from_string(text);
    MOTUS_CHECK(gst_pad_peer_query_accept_caps(h->srcpad, caps) == wanted, "%s", text);
    gst_caps_unref(caps);
}

static void other_caps_are_refused(void) {
    GstHarness *h = gst_harness_new_parse("motush264enc backend=cpu pass=quant");
    check_accepts(h, CAPS, TRUE);
    check_accepts(h, CAPS ",interlace-mode=progressive", TRUE);
    check_accepts(h, CAPS ",interlace-mode=interleaved", FALSE);
    check_accepts(h, "video/x-raw,format=Y42B,width=98,height=80,framerate=25/1", FALSE);
    check_accepts(h, "video/x-raw,format=I420_10LE,width=98,height=80,framerate=25/1", FALSE);
    check_accepts(h, "video/x-raw,format=I420,width=97,height=80,framerate=25/1", FALSE);
    check_accepts(h, "video/x-raw,format=I420,width=98,height=81,framerate=25/1", FALSE);
    check_accepts(h, "video/x-raw,format=I420,width=98,height=80,framerate=0/1", TRUE);
    gst_harness_set_src_caps_str(h, "video/x-raw,format=Y42B,width=98,height=80,framerate=25/1");
    CU_ASSERT_EQUAL(gst_harness_push(h, motus_gst_buffer_of(WIDTH, HEIGHT, 0, 0)),
                    GST_FLOW_NOT_NEGOTIATED);
    gst_harness_set_src_caps_str(h, CAPS); // and works after that
    motus_gst_push(h, WIDTH, HEIGHT, 0, 4);
    CU_ASSERT(gst_harness_buffers_received(h) >= 1);
    gst_harness_teardown(h);
}

// Starts the element alone. The state change must fail, and the bus must hold one error, with
// `words`.
static void check_start_fails(const char *properties, const char *words) {
    gchar *text = g_strdup_printf("motush264enc %s", properties);
    GstElement *element = gst_parse_launch(text, NULL);
    GstBus *bus = gst_bus_new();
    GError *error = NULL;
    gst_element_set_bus(element, bus);
    const GstStateChangeReturn got = gst_element_set_state(element, GST_STATE_PAUSED);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    CU_ASSERT(!gst_bus_have_pending(bus));
    MOTUS_CHECK(got == GST_STATE_CHANGE_FAILURE && message, "%s: state change returned %s", text,
                gst_element_state_change_return_get_name(got));
    if (message) gst_message_parse_error(message, &error, NULL);
    MOTUS_CHECK(error && strstr(error->message, words), "%s: %s", text,
                error ? error->message : "no message");
    g_clear_error(&error);
    g_clear_pointer(&message, gst_message_unref);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
    g_free(text);
}

static void bad_settings_fail_the_state_change(void) {
    check_start_fails("backend=cpu bitrate=500 vbv-maxrate=100", "above the VBV's rate");
    check_start_fails("bitrate=500 vbv-maxrate=100", "above the VBV's rate");
    check_start_fails("backend=cpu qp-min=40 qp-max=30", "QPs 40..30");
    check_start_fails("backend=cpu slice-max-size=100", "at most 100 bytes");
}

// Encodes 5 pictures in a first pass; its log is in `path`.
static void first_pass(const char *path) {
    gchar *text = g_strdup_printf("pass=pass1 bitrate=90 multipass-cache-file=%s", path);
    GstHarness *h = motus_gst_open(text, CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, 5);
    gst_harness_push_event(h, gst_event_new_eos());
    gst_harness_teardown(h);
    g_free(text);
}

// Logs that cannot be read or written, are none, are cut, or were made with other settings.
static void logs_that_cannot_work(void) {
    gchar *log = NULL;
    gsize size = 0;
    check_start_fails("pass=pass2 multipass-cache-file=none.log", "none.log");
    check_start_fails("pass=pass1 multipass-cache-file=none/pass.log", "none");
    check_start_fails("pass=pass1 multipass-cache-file=.", "multipass-cache-file");
    first_pass("gst_errors.log");
    CU_ASSERT_FATAL(g_file_get_contents("gst_errors.log", &log, &size, NULL));
    const char *const second = "pass=pass2 bitrate=90 multipass-cache-file=gst_errors.log";
    check_start_fails("pass=pass2 multipass-cache-file=gst_errors.log key-int-max=7",
                      "made with other settings");
    g_file_set_contents("gst_errors.log", log, (gssize)strlen(log) - 6, NULL); // the last line
    check_start_fails(second, "cut short");
    g_file_set_contents("gst_errors.log", "no log\n", -1, NULL);
    check_start_fails(second, "this is no pass log");
    g_file_set_contents("gst_errors.log", log, (gssize)size, NULL);
    GstHarness *h = motus_gst_open(second, CAPS); // the same picture size works
    motus_gst_push(h, WIDTH, HEIGHT, 0, 5);
    gst_harness_teardown(h);
    remove("gst_errors.log");
    g_free(log);
}

static void good_settings_start(void) {
    GstElement *element = gst_parse_launch("motush264enc backend=cpu bitrate=500", NULL);
    CU_ASSERT_EQUAL(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
}

// ---- While it runs ------------------------------------------------------------------------------

static void set_size(GstHarness *h, int width, int height) {
    char caps[120];
    g_snprintf(caps, sizeof caps, "video/x-raw,format=I420,width=%d,height=%d,framerate=25/1",
               width, height);
    gst_harness_set_src_caps_str(h, caps);
}

// Sends caps and 8 pictures, which all must be refused, and returns the number of errors on the
// bus.
static int errors_of_eight_pictures(GstHarness *h, int width, int height) {
    GstBus *bus = gst_bus_new();
    GstMessage *message;
    int errors = 0;
    gst_element_set_bus(h->element, bus);
    set_size(h, width, height);
    for (int t = 0; t < 8; t++) {
        const GstFlowReturn flow = gst_harness_push(h, motus_gst_buffer_of(width, height, t, 0));
        MOTUS_CHECK(flow < GST_FLOW_OK, "picture %d: %s", t, gst_flow_get_name(flow));
    }
    while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR))) {
        errors++;
        gst_message_unref(message);
    }
    gst_element_set_bus(h->element, NULL);
    gst_object_unref(bus);
    return errors;
}

// An encoder that cannot be opened for these caps says so once, whatever upstream sends; other caps
// may work.
static void an_error_is_posted_once(void) {
    first_pass("gst_errors.log");
    GstHarness *h =
        motus_gst_open("pass=pass2 bitrate=90 multipass-cache-file=gst_errors.log", NULL);
    CU_ASSERT_EQUAL(errors_of_eight_pictures(h, 64, 48), 1);
    gst_harness_set_src_caps_str(h, CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, 5);
    gst_harness_teardown(h);
    remove("gst_errors.log");
}

// A rate that cannot work is a warning, also if another size opens the encoder again. Settings of
// the start do not change while it runs.
static void bad_values_change_nothing(void) {
    GstHarness *h = motus_gst_open("bitrate=200 vbv-maxrate=300 tune=zerolatency", CAPS);
    GstBus *bus = gst_bus_new();
    GstMessage *message;
    int warnings = 0;
    motus_gst_push(h, WIDTH, HEIGHT, 0, 3);
    gst_element_set_bus(h->element, bus);
    for (int i = 0; i < 2; i++) {
        gst_harness_set(h, "motush264enc", "vbv-maxrate", 100, "slice-max-size", 100, NULL);
        if (i) set_size(h, 64, 48);
        motus_gst_push(h, i ? 64 : WIDTH, i ? 48 : HEIGHT, 3 * (i + 1), 3);
    }
    set_size(h, 32, 32);
    motus_gst_push(h, 32, 32, 9, 3);
    CU_ASSERT_EQUAL(gst_harness_buffers_received(h), 12);
    while ((message = gst_bus_pop(bus))) {
        CU_ASSERT(GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR);
        warnings += GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
        gst_message_unref(message);
    }
    MOTUS_CHECK(warnings == 2, "%d warnings", warnings);
    gst_element_set_bus(h->element, NULL);
    gst_object_unref(bus);
    gst_harness_teardown(h);
}

MOTUS_SUITE_BY(motus_gst_main, "gst_errors", TEST(other_caps_are_refused),
               TEST(bad_settings_fail_the_state_change), TEST(logs_that_cannot_work),
               TEST(good_settings_start), TEST(an_error_is_posted_once),
               TEST(bad_values_change_nothing))
