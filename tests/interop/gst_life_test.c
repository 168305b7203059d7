// motush264enc in the life of a pipeline: key pictures on request, rates that change, latency,
// ends, flushes, sizes that change, late frames.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "tests/interop/gst_case.h"

enum { WIDTH = 98, HEIGHT = 80 };

#define CAPS "video/x-raw,format=I420,width=98,height=80,framerate=25/1"

static GstBuffer *next(GstHarness *h) { return gst_harness_try_pull(h); }

static gboolean is_key(GstBuffer *b) {
    return !GST_BUFFER_FLAG_IS_SET(b, GST_BUFFER_FLAG_DELTA_UNIT);
}

// ---- Requests while it runs ---------------------------------------------------------------------

// Requests from downstream and from upstream: an IDR picture at these places only, with the event
// before it.
static void key_units_on_request(void) {
    GstHarness *h = motus_gst_open("pass=quant tune=zerolatency", CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, 5);
    CU_ASSERT_TRUE(gst_harness_push_upstream_event(
        h, gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 1)));
    motus_gst_push(h, WIDTH, HEIGHT, 5, 6);
    const GstClockTime at = 11 * 40 * GST_MSECOND;
    gst_harness_push_event(h, gst_video_event_new_downstream_force_key_unit(at, at, at, TRUE, 2));
    motus_gst_push(h, WIDTH, HEIGHT, 11, 5);
    for (int t = 0; t < 16; t++) {
        GstBuffer *b = next(h);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        MOTUS_CHECK(is_key(b) == (t == 0 || t == 5 || t == 11), "picture %d", t);
        gst_buffer_unref(b);
    }
    int events = 0;
    GstEvent *event;
    while ((event = gst_harness_try_pull_event(h))) {
        events += gst_video_event_is_force_key_unit(event);
        gst_event_unref(event);
    }
    CU_ASSERT_EQUAL(events, 2);
    gst_harness_teardown(h);
}

static void lose(GstHarness *h, GstClockTime pts) {
    GstStructure *what =
        gst_structure_new("motus-reference-lost", "timestamp", GST_TYPE_CLOCK_TIME, pts, NULL);
    CU_ASSERT_TRUE(
        gst_harness_push_upstream_event(h, gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, what)));
}

// The encoder's own stream of 9 pictures, with a loss that is told before picture 6.
static GByteArray *with_loss(int lost) {
    MotusEncoderConfig c = motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){25, 1});
    MotusEncoder *enc = NULL;
    GByteArray *all = g_byte_array_new();
    c.backend = MOTUS_BACKEND_CPU, c.qp = 21, c.keep_references = 4, c.aud = 1;
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    for (int t = 0; t < 9; t++) {
        MotusPacket *packet;
        MotusFrame *frame = motus_gst_picture(WIDTH, HEIGHT, t);
        if (t == 6) EXPECT_OK(motus_encoder_reference_lost(enc, lost));
        EXPECT_OK(motus_encoder_send(enc, frame, NULL));
        REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
        if (t >= 6) g_byte_array_append(all, packet->data, (guint)packet->size);
        motus_packet_unref(&packet);
        motus_frame_unref(&frame);
    }
    motus_encoder_close(&enc);
    return all;
}

// An event tells of a lost buffer by its time: the next picture avoids it, as the encoder's call
// does. After that of an unknown buffer, a key picture follows.
static void lost_references(void) {
    int n;
    GstHarness *h = motus_gst_open("pass=quant tune=zerolatency keep-references=4", CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, 6);
    g_byte_array_unref(motus_gst_take(h, &n));
    lose(h, 4 * 40 * GST_MSECOND);
    motus_gst_push(h, WIDTH, HEIGHT, 6, 3);
    GByteArray *got = motus_gst_take(h, &n), *expected = with_loss(4);
    CU_ASSERT_TRUE(motus_gst_same(got, expected));
    g_byte_array_unref(got);
    g_byte_array_unref(expected);
    lose(h, 999 * GST_SECOND);
    motus_gst_push(h, WIDTH, HEIGHT, 9, 2);
    for (int t = 9; t < 11; t++) {
        GstBuffer *b = next(h);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        MOTUS_CHECK(is_key(b) == (t == 9), "picture %d", t);
        gst_buffer_unref(b);
    }
    gst_harness_teardown(h);
}

static gsize bytes_of(GstHarness *h, int first, int n) {
    int got;
    motus_gst_push(h, WIDTH, HEIGHT, first, n);
    GByteArray *all = motus_gst_take(h, &got);
    const gsize size = all->len;
    MOTUS_CHECK(got == n, "%d pictures", got);
    g_byte_array_unref(all);
    return size;
}

// Up and down again; coding continues across the changes. The first second after a change is left
// out.
static void rate_changes(void) {
    GstHarness *h = motus_gst_open(
        "bitrate=60 tune=zerolatency key-int-max=2147483647 vbv-buf-capacity=400", CAPS);
    gsize bytes[3];
    const guint rates[3] = {60, 240, 60};
    for (int i = 0; i < 3; i++) {
        gst_harness_set(h, "motush264enc", "bitrate", rates[i], NULL);
        bytes_of(h, i * 75, 25);
        bytes[i] = bytes_of(h, i * 75 + 25, 50); // two seconds
        MOTUS_CHECK(bytes[i] * 4 > rates[i] * 800 && bytes[i] * 4 < rates[i] * 1200,
                    "%u kbit/s: %zu bytes in two seconds", rates[i], bytes[i]);
    }
    gst_harness_teardown(h);
}

typedef struct Turner {
    GstHarness *harness;
    gint stop;
} Turner;

static gpointer turn(gpointer opaque) {
    Turner *turner = opaque;
    guint seed = 1;
    while (!g_atomic_int_get(&turner->stop)) {
        guint rate;
        seed = seed * 1103515245 + 12345;
        gst_harness_set(turner->harness, "motush264enc", "bitrate", 100 + seed % 1000,
                        "vbv-buf-capacity", 300 + seed % 300, NULL);
        gst_harness_get(turner->harness, "motush264enc", "bitrate", &rate, NULL);
        gst_harness_push_upstream_event(
            turner->harness,
            gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, seed));
        g_usleep(500);
    }
    return NULL;
}

// A thread of the application changes rates and requests key pictures during encoding: all frames
// come out in order.
static void rates_from_another_thread(void) {
    Turner turner = {motus_gst_open("bitrate=500 rc-lookahead=3", CAPS), 0};
    GThread *thread = g_thread_new("turner", turn, &turner);
    motus_gst_push(turner.harness, WIDTH, HEIGHT, 0, 60);
    gst_harness_push_event(turner.harness, gst_event_new_eos());
    g_atomic_int_set(&turner.stop, 1);
    g_thread_join(thread);
    for (int t = 0; t < 60; t++) {
        GstBuffer *b = next(turner.harness);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        MOTUS_CHECK(GST_BUFFER_PTS(b) == (GstClockTime)t * 40 * GST_MSECOND, "picture %d", t);
        gst_buffer_unref(b);
    }
    gst_harness_teardown(turner.harness);
}

// ---- Latency ------------------------------------------------------------------------------------

// The stated latency is never exceeded; without lookahead no frame is held back.
static void check_latency(const char *text, int frames) {
    GstHarness *h = motus_gst_open(text, CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, 1); // opens the encoder
    const GstClockTime told = gst_harness_query_latency(h);
    MOTUS_CHECK(told == (GstClockTime)frames * 40 * GST_MSECOND, "%s: %" G_GUINT64_FORMAT " ns",
                text, told);
    for (int t = 1; t < 40; t++) {
        motus_gst_push(h, WIDTH, HEIGHT, t, 1);
        MOTUS_CHECK((int)gst_harness_buffers_received(h) >= t + 1 - frames,
                    "%s: %u pictures after %d frames", text, gst_harness_buffers_received(h),
                    t + 1);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    CU_ASSERT_EQUAL(gst_harness_buffers_received(h), 40);
    gst_harness_teardown(h);
}

static void latency_is_told(void) {
    check_latency("tune=zerolatency", 0);
    check_latency("pass=quant tune=zerolatency", 0);
    check_latency("pass=quant", 2);
    check_latency("rc-lookahead=5", 7);
    check_latency("pass=qual gop-coders=2 key-int-max=6 rc-lookahead=5", 17);
}

// ---- Ends and beginnings ------------------------------------------------------------------------

static gboolean ended(GstHarness *h) {
    gboolean eos = FALSE;
    GstEvent *event;
    while ((event = gst_harness_try_pull_event(h))) {
        eos |= GST_EVENT_TYPE(event) == GST_EVENT_EOS;
        gst_event_unref(event);
    }
    return eos;
}

static void end_without_frames(void) {
    GstHarness *h = motus_gst_open("", CAPS);
    gst_harness_push_event(h, gst_event_new_eos());
    CU_ASSERT(ended(h) && gst_harness_buffers_received(h) == 0);
    gst_harness_teardown(h);
    h = gst_harness_new_parse("motush264enc"); // without caps
    gst_harness_play(h);
    gst_harness_push_event(h, gst_event_new_stream_start("none"));
    gst_harness_push_event(h, gst_event_new_eos());
    CU_ASSERT(gst_harness_buffers_received(h) == 0);
    gst_harness_teardown(h);
}

// All pictures of the old size precede the first of the new one, which is an IDR picture behind new
// caps.
static void sizes_change(void) {
    static const int size[][2] = {{98, 80}, {160, 96}, {32, 48}, {98, 80}};
    GstHarness *h = motus_gst_open("rc-lookahead=6 bitrate=500", CAPS);
    int t = 0;
    for (int i = 0; i < 4; i++, t += 9) {
        char caps[120];
        g_snprintf(caps, sizeof caps, "video/x-raw,format=I420,width=%d,height=%d,framerate=25/1",
                   size[i][0], size[i][1]);
        gst_harness_set_src_caps_str(h, caps);
        MOTUS_CHECK((int)gst_harness_buffers_received(h) == t, "%d pictures before size %d",
                    (int)gst_harness_buffers_received(h), i);
        motus_gst_push(h, size[i][0], size[i][1], t, 9);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    for (int n = 0; n < t; n++) {
        GstBuffer *b = next(h);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        MOTUS_CHECK(is_key(b) == (n % 9 == 0) &&
                        GST_BUFFER_PTS(b) == (GstClockTime)n * 40 * GST_MSECOND,
                    "picture %d", n);
        gst_buffer_unref(b);
    }
    GstCaps *caps = gst_pad_get_current_caps(h->sinkpad);
    int width = 0;
    gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
    CU_ASSERT_EQUAL(width, 98);
    gst_caps_unref(caps);
    gst_harness_teardown(h);
}

static void flush_to(GstHarness *h, int t) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = segment.position = (GstClockTime)t * 40 * GST_MSECOND;
    gst_harness_push_event(h, gst_event_new_flush_start());
    gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
    gst_harness_push_event(h, gst_event_new_segment(&segment));
}

// Pending pictures are dropped; the next one starts a new stream.
static void flush_drops(void) {
    GstHarness *h = motus_gst_open("rc-lookahead=20", CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, 12);
    CU_ASSERT_EQUAL(gst_harness_buffers_received(h), 0);
    flush_to(h, 100);
    motus_gst_push(h, WIDTH, HEIGHT, 100, 6);
    gst_harness_push_event(h, gst_event_new_eos());
    for (int t = 100; t < 106; t++) {
        GstBuffer *b = next(h);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        MOTUS_CHECK(is_key(b) == (t == 100) &&
                        GST_BUFFER_PTS(b) == (GstClockTime)t * 40 * GST_MSECOND,
                    "picture %d", t);
        gst_buffer_unref(b);
    }
    CU_ASSERT_PTR_NULL(next(h));
    gst_harness_teardown(h);
}

// Returns idr_pic_id of an access unit without delimiter that begins with SPS and PPS. Parses
// slice_header() as far as needed (7.3.3; log2_max_frame_num is 16).
static int idr_pic_id(GstBuffer *b) {
    GstMapInfo map;
    if (!gst_buffer_map(b, &map, GST_MAP_READ)) return -1;
    const uint8_t *p = map.data, *end = p + map.size;
    while (p + 4 < end && !(p[0] == 0 && p[1] == 0 && p[2] == 1 && (p[3] & 31) == 5)) p++;
    int bit = 0, ue[4] = {0}; // first_mb_in_slice, slice_type, pic_parameter_set_id; 16 bits of
    for (int i = 0; i < 4; i++) {
        int zeros = 0, value = 1;
        if (i == 3) bit += 16;
#define BIT() (p[4 + bit / 8] >> (7 - bit % 8) & 1)
        for (; !BIT(); bit++) zeros++;
        for (bit++; zeros; zeros--, bit++) value = value << 1 | BIT();
        ue[i] = value - 1;
#undef BIT
    }
    gst_buffer_unmap(b, &map);
    return ue[3];
}

// Two IDR pictures in a row differ in idr_pic_id (7.4.3), across flushes as well.
static void idr_numbers_differ(void) {
    GstHarness *h = motus_gst_open("pass=quant tune=zerolatency aud=false", CAPS);
    int before = -1;
    for (int i = 0; i < 4; i++) {
        flush_to(h, i);
        motus_gst_push(h, WIDTH, HEIGHT, i, 1);
        GstBuffer *b = next(h);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        const int now = idr_pic_id(b);
        MOTUS_CHECK(is_key(b) && now != before, "%d after %d", now, before);
        before = now;
        gst_buffer_unref(b);
    }
    gst_harness_teardown(h);
}

// Starts and ends in every way, fifty times; the tracer or the address sanitizer counts leaks.
static void fifty_lives(void) {
    static const char *const settings[] = {"pass=quant", "bitrate=200 rc-lookahead=4",
                                           "tune=zerolatency",
                                           "pass=qual gop-coders=2 key-int-max=3 rc-lookahead=2"};
    static const int size[][2] = {{98, 80}, {32, 32}, {48, 64}};
    for (int life = 0; life < 50; life++) {
        GstHarness *h = motus_gst_open(settings[life % 4], CAPS);
        int t = 0;
        for (int step = motus_test_range(1, 4); step; step--) {
            const int *s = size[motus_test_range(0, 2)], n = motus_test_range(0, 6);
            char caps[120];
            g_snprintf(caps, sizeof caps,
                       "video/x-raw,format=I420,width=%d,height=%d,framerate=25/1", s[0], s[1]);
            gst_harness_set_src_caps_str(h, caps);
            motus_gst_push(h, s[0], s[1], t, n);
            t += n;
            switch (motus_test_range(0, 3)) {
            case 0:
                flush_to(h, t);
                break;
            case 1: // stopped and started
                gst_element_set_state(h->element, GST_STATE_READY);
                gst_element_set_state(h->element, GST_STATE_PLAYING);
                gst_harness_push_event(h, gst_event_new_stream_start("again"));
                gst_harness_set_src_caps_str(h, caps);
                flush_to(h, t);
                break;
            case 2: // a drain: the next frames follow it
                gst_harness_push_event(h, gst_event_new_segment_done(GST_FORMAT_TIME, t));
                break;
            default:
                break;
            }
        }
        if (life % 3)
            gst_harness_push_event(h, gst_event_new_eos()); // else cut off with pending pictures
        gst_harness_teardown(h);
    }
}

// ---- Quality of service -------------------------------------------------------------------------

// Frames too late to be shown are not coded if the property says so.
static void late_frames_are_dropped(void) {
    for (int qos = 0; qos < 2; qos++) {
        int n;
        GstHarness *h = motus_gst_open(
            qos ? "pass=quant tune=zerolatency qos=true" : "pass=quant tune=zerolatency", CAPS);
        motus_gst_push(h, WIDTH, HEIGHT, 0, 3);
        gst_harness_push_upstream_event(
            h,
            gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 200 * GST_MSECOND, 2 * 40 * GST_MSECOND));
        motus_gst_push(h, WIDTH, HEIGHT, 3, 20);
        g_byte_array_unref(motus_gst_take(h, &n));
        MOTUS_CHECK(qos ? n > 5 && n < 23 : n == 23, "qos %d: %d pictures of 23", qos, n);
        gst_harness_teardown(h);
    }
}

MOTUS_SUITE_BY(motus_gst_main, "gst_life", TEST(key_units_on_request), TEST(lost_references),
               TEST(rate_changes), TEST(rates_from_another_thread), TEST(latency_is_told),
               TEST(end_without_frames), TEST(sizes_change), TEST(flush_drops),
               TEST(idr_numbers_differ), TEST(fifty_lives), TEST(late_frames_are_dropped))
