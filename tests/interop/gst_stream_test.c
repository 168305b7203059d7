// motush264enc: its streams equal the encoder's for the same settings, in both formats and for any
// strides; its caps and times are right.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "tests/interop/gst_case.h"

enum { WIDTH = 98, HEIGHT = 80, PICTURES = 20 };

#define CAPS                                                                                       \
    "video/x-raw,format=I420,width=98,height=80,framerate=25/1,pixel-aspect-ratio=12/"             \
    "11,colorimetry=bt709,chroma-site=mpeg2"

static MotusEncoderConfig base_config(void) {
    MotusEncoderConfig c = motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){25, 1});
    c.backend = MOTUS_BACKEND_CPU;
    c.aud = 1;
    c.colour = (MotusColour){
        {12, 11}, 0, 1,
        1,        1, 0}; // bt709, limited range, chroma samples beside the left luma samples
    return c;
}

static void set_quant(MotusEncoderConfig *c) {
    c->qp = 30;
    c->keyint = 7;
}

static void set_qual(MotusEncoderConfig *c) {
    c->rate = MOTUS_RATE_CRF;
    c->crf = 27;
    c->lookahead = 6;
    c->keyint = 5;
}

static void set_rate(MotusEncoderConfig *c, int kbit, int vbv_ms) {
    c->rate = MOTUS_RATE_BITRATE;
    c->bitrate = kbit * 1000;
    c->vbv_maxrate = vbv_ms ? kbit * 1000 : 0;
    c->vbv_bufsize = kbit * vbv_ms;
}

static void set_cbr(MotusEncoderConfig *c) { set_rate(c, 300, 600); }

static void set_zerolatency(MotusEncoderConfig *c) {
    set_rate(c, 200, 300);
    c->lookahead = 0;
    c->aud = 0;
    c->preset = MOTUS_PRESET_FASTER;
}

static void set_bounds(MotusEncoderConfig *c) {
    set_rate(c, 150, 0);
    c->lookahead = 3;
    c->qp_min = 24;
    c->qp_max = 33;
    c->qp_step = 2;
    c->ip_ratio = 1.5;
    c->mb_tree = 0;
    c->keyint = 0;
    c->preset = MOTUS_PRESET_FAST;
}

static void set_capped(MotusEncoderConfig *c) {
    set_qual(c);
    c->crf = 12;
    c->vbv_maxrate = 250000;
    c->vbv_bufsize = 250 * 400;
}

static void set_refresh(MotusEncoderConfig *c) {
    set_quant(c);
    c->intra_refresh = 1;
}

static void set_slices(MotusEncoderConfig *c) {
    set_zerolatency(c);
    c->slices = 3;
    c->slice_max_size = 300;
}

static void set_high(MotusEncoderConfig *c) {
    set_quant(c);
    c->profile = MOTUS_PROFILE_HIGH;
}

static void set_high_with_less(MotusEncoderConfig *c) {
    set_high(c);
    c->transform_8x8 = 0;
}

static void set_main_with_cavlc(MotusEncoderConfig *c) {
    set_quant(c);
    c->profile = MOTUS_PROFILE_MAIN;
    c->cabac = 0;
}

typedef struct Case {
    const char *text;
    void (*set)(MotusEncoderConfig *config);
} Case;

static const Case cases[] = {
    {"pass=quant quantizer=30 key-int-max=7", set_quant},
    {"pass=quant quantizer=30 key-int-max=7 intra-refresh=true", set_refresh},
    {"pass=qual quantizer=27 rc-lookahead=6 key-int-max=5", set_qual},
    {"pass=qual quantizer=27 rc-lookahead=6 key-int-max=5 gop-coders=3 threads=2", set_qual},
    {"pass=qual quantizer=12 rc-lookahead=6 key-int-max=5 vbv-maxrate=250 vbv-buf-capacity=400",
     set_capped},
    {"bitrate=300", set_cbr},
    {"bitrate=200 tune=zerolatency aud=false speed-preset=ultrafast vbv-buf-capacity=300",
     set_zerolatency},
    {"bitrate=200 tune=zerolatency aud=false speed-preset=superfast vbv-buf-capacity=300 slices=3 "
     "slice-max-size=300",
     set_slices},
    {"bitrate=150 vbv-buf-capacity=0 rc-lookahead=3 qp-min=24 qp-max=33 qp-step=2 ip-factor=1.5 "
     "mb-tree=false "
     "key-int-max=2147483647 speed-preset=fast",
     set_bounds},
    {"pass=quant quantizer=30 key-int-max=7", set_high},
    {"pass=quant quantizer=30 key-int-max=7 dct8x8=false", set_high_with_less},
    {"pass=quant quantizer=30 key-int-max=7 cabac=false", set_main_with_cavlc},
};

// Pushes all pictures and the end, and compares the output with the library's stream. Downstream
// asks for its profile unless it is Baseline.
static void check_stream(const char *text, const char *caps, const MotusEncoderConfig *config,
                         int padding, gboolean durations) {
    int n;
    GstHarness *h = motus_gst_open(text, NULL);
    char *profile = g_strdup_printf("video/x-h264,profile=%s", motus_profile_name(config->profile));
    if (config->profile) gst_harness_set_sink_caps_str(h, profile);
    g_free(profile);
    gst_harness_set_src_caps_str(h, caps);
    for (int t = 0; t < PICTURES; t++) {
        GstBuffer *buffer = motus_gst_buffer_of(WIDTH, HEIGHT, t, padding);
        if (!durations) GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
        MOTUS_CHECK(gst_harness_push(h, buffer) == GST_FLOW_OK, "%s: picture %d", text, t);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    GByteArray *got = motus_gst_take(h, &n), *want = motus_gst_expected(config, PICTURES);
    MOTUS_CHECK(n == PICTURES && motus_gst_same(got, want),
                "%s: %d buffers, %u bytes instead of %u", text, n, got->len, want->len);
    g_byte_array_unref(got);
    g_byte_array_unref(want);
    gst_harness_teardown(h);
}

static void streams_are_the_encoders(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MotusEncoderConfig config = base_config();
        cases[i].set(&config);
        check_stream(cases[i].text, CAPS, &config, 0, TRUE);
        if (i == 0) check_stream(cases[i].text, CAPS, &config, 29, TRUE);
    }
}

static void variable_rate(void) {
    MotusEncoderConfig config = base_config();
    config.fps = (MotusRational){50, 1};
    config.time_base = (MotusRational){1, 90000};
    set_cbr(&config);
    const char *caps = "video/x-raw,format=I420,width=98,height=80,framerate=0/1,max-framerate=50/"
                       "1,pixel-aspect-ratio=12/11,"
                       "colorimetry=bt709,chroma-site=mpeg2";
    check_stream("bitrate=300", caps, &config, 0, TRUE);
    check_stream("bitrate=300", caps, &config, 0, FALSE);
}

static void full_range_and_unknown(void) {
    MotusEncoderConfig config = base_config();
    set_quant(&config);
    config.colour = (MotusColour){{1, 1}, 1, 9, 15, 9, 2};
    check_stream("pass=quant quantizer=30 key-int-max=7",
                 "video/x-raw,format=I420,width=98,height=80,framerate=25/"
                 "1,colorimetry=1:6:11:7,chroma-site=cosited",
                 &config, 0, TRUE);
}

// ---- avc ----------------------------------------------------------------------------------------

// Returns the NAL units of a byte stream behind their sizes, without those that avc does not use.
static GByteArray *lengths(const GByteArray *stream) {
    GByteArray *out = g_byte_array_new();
    for (guint i = 0; i + 3 < stream->len;) {
        if (stream->data[i] || stream->data[i + 1] || stream->data[i + 2] != 1) {
            i++;
            continue;
        }
        guint from = i + 3, end = from;
        while (end < stream->len && !(end + 3 <= stream->len && !stream->data[end] &&
                                      !stream->data[end + 1] && stream->data[end + 2] <= 1))
            end++;
        const int type = stream->data[from] & 31;
        const uint8_t size[4] = {(uint8_t)((end - from) >> 24), (uint8_t)((end - from) >> 16),
                                 (uint8_t)((end - from) >> 8), (uint8_t)(end - from)};
        if (type == 1 || type == 5) {
            g_byte_array_append(out, size, 4);
            g_byte_array_append(out, stream->data + from, end - from);
        }
        i = end;
    }
    return out;
}

static void check_avc(MotusProfile profile) {
    const int is_high = profile == MOTUS_PROFILE_HIGH;
    int n;
    MotusEncoderConfig config = base_config();
    set_quant(&config);
    config.slices = 2;
    config.profile = profile;
    GstHarness *h = gst_harness_new_parse(
        "motush264enc backend=cpu pass=quant quantizer=30 key-int-max=7 slices=2");
    gst_harness_set_sink_caps_str(h, is_high ? "video/x-h264,stream-format=avc,profile=high"
                                             : "video/x-h264,stream-format=avc");
    gst_harness_set_src_caps_str(h, CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, PICTURES);
    gst_harness_push_event(h, gst_event_new_eos());
    GstCaps *caps = gst_pad_get_current_caps(h->sinkpad);
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    const GValue *data = gst_structure_get_value(s, "codec_data");
    CU_ASSERT_STRING_EQUAL(gst_structure_get_string(s, "stream-format"), "avc");
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    uint8_t record[64] = {0};
    size_t headers_size;
    MotusEncoder *enc = NULL;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    const uint8_t *headers =
        motus_encoder_headers(enc, &headers_size); // 00 00 00 01, SPS, 00 00 00 01, PPS
    const gsize size = gst_buffer_extract(gst_value_get_buffer(data), 0, record, sizeof record);
    // Version, profile, constraints, level, 4-byte sizes, one SPS, its size, itself, one PPS, its
    // size, itself; in High 4:2:0, both bit depths, no extensions (14496-15, 5.3.3.1).
    const size_t sps = (size_t)record[6] << 8 | record[7], pps = headers_size - 8 - sps;
    CU_ASSERT(size == (is_high ? 15 : 11) + sps + pps && record[0] == 1 &&
              !memcmp(record + 1, headers + 5, 3) && record[4] == 0xFF && record[5] == 0xE1);
    CU_ASSERT(!memcmp(record + 8, headers + 4, sps) && record[8 + sps] == 1 &&
              record[10 + sps] == pps);
    CU_ASSERT(!memcmp(record + 11 + sps, headers + 8 + sps, pps));
    CU_ASSERT(!is_high || !memcmp(record + 11 + sps + pps, "\xFD\xF8\xF8", 4));
    motus_encoder_close(&enc);
    gst_caps_unref(caps);
    GByteArray *got = motus_gst_take(h, &n), *stream = motus_gst_expected(&config, PICTURES),
               *want = lengths(stream);
    MOTUS_CHECK(n == PICTURES && motus_gst_same(got, want), "%d buffers, %u bytes instead of %u", n,
                got->len, want->len);
    g_byte_array_unref(got);
    g_byte_array_unref(stream);
    g_byte_array_unref(want);
    gst_harness_teardown(h);
}

static void avc_has_the_same_units(void) {
    check_avc(MOTUS_PROFILE_BASELINE);
    check_avc(MOTUS_PROFILE_HIGH);
}

// ---- Caps and times -----------------------------------------------------------------------------

static void check_caps(const char *in, const char *wanted, const char *text) {
    GstHarness *h = gst_harness_new_parse("motush264enc backend=cpu pass=quant");
    if (wanted) gst_harness_set_sink_caps_str(h, wanted);
    gst_harness_set_src_caps_str(h, in);
    motus_gst_push(h, WIDTH, HEIGHT, 0, 1);
    gst_harness_push_event(h, gst_event_new_eos());
    GstCaps *got = gst_pad_get_current_caps(h->sinkpad), *want = gst_caps_from_string(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(got);
    gchar *got_text = gst_caps_to_string(got);
    MOTUS_CHECK(gst_caps_is_subset(got, want), "%s is not %s", got_text, text);
    g_free(got_text);
    gst_caps_unref(got);
    gst_caps_unref(want);
    gst_harness_teardown(h);
}

static void caps_say_what_it_is(void) {
    char text[400];
    MotusEncoderConfig config = base_config();
    MotusEncoder *enc = NULL;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    const int level = motus_encoder_level(enc);
    motus_encoder_close(&enc);
    snprintf(text, sizeof text,
             "video/"
             "x-h264,stream-format=byte-stream,alignment=au,profile=constrained-baseline,level=("
             "string)%d%s%.0d,width=98,"
             "height=80,framerate=25/1,pixel-aspect-ratio=12/11,colorimetry=bt709",
             level / 10, level % 10 ? "." : "", level % 10);
    check_caps(CAPS, NULL, text);
    check_caps(CAPS, "video/x-h264,profile=baseline",
               "video/x-h264,profile=baseline,stream-format=byte-stream");
    check_caps(CAPS, "video/x-h264,profile={high,main,constrained-baseline}",
               "video/x-h264,profile=constrained-baseline");
    check_caps(CAPS, "video/x-h264,profile={main,high}", "video/x-h264,profile=high");
    check_caps(CAPS, "video/x-h264,profile=main", "video/x-h264,profile=main");
    check_caps(CAPS, "video/x-h264,stream-format={avc,byte-stream}",
               "video/x-h264,stream-format=byte-stream");
    check_caps("video/x-raw,format=I420,width=98,height=80,framerate=0/1,max-framerate=50/1", NULL,
               "video/x-h264,framerate=0/1,max-framerate=50/1");
    check_caps("video/x-raw,format=I420,width=98,height=80,framerate=0/1", NULL,
               "video/x-h264,framerate=0/1");
}

static void times_and_flags(void) {
    GstHarness *h = motus_gst_open("pass=quant key-int-max=4", CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, PICTURES);
    gst_harness_push_event(h, gst_event_new_eos());
    for (int t = 0; t < PICTURES; t++) {
        GstBuffer *b = gst_harness_try_pull(h);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        const GstClockTime at = (GstClockTime)t * 40 * GST_MSECOND;
        MOTUS_CHECK(GST_BUFFER_PTS(b) == at && GST_BUFFER_DTS(b) == at &&
                        GST_BUFFER_DURATION(b) == 40 * GST_MSECOND,
                    "picture %d", t);
        MOTUS_CHECK(GST_BUFFER_FLAG_IS_SET(b, GST_BUFFER_FLAG_DELTA_UNIT) == (t % 4 != 0),
                    "picture %d", t);
        // The buffer is the packet's own memory: one piece, read-only.
        MOTUS_CHECK(gst_buffer_n_memory(b) == 1 &&
                        GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(b, 0)),
                    "picture %d", t);
        gst_buffer_unref(b);
    }
    gst_harness_teardown(h);
}

// ---- Two passes ---------------------------------------------------------------------------------

static gchar *first_pass_log(MotusEncoderConfig config) {
    GString *log = g_string_new(NULL);
    MotusEncoder *enc = NULL;
    MotusPacket *packet;
    config.pass = 1;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    for (int t = 0; t <= PICTURES; t++) {
        MotusFrame *frame = t < PICTURES ? motus_gst_picture(WIDTH, HEIGHT, t) : NULL;
        EXPECT_OK(motus_encoder_send(enc, frame, NULL));
        motus_frame_unref(&frame);
        while (motus_encoder_receive(enc, &packet, -1) == MOTUS_OK) {
            g_string_append(log, packet->pass_log);
            motus_packet_unref(&packet);
        }
    }
    motus_encoder_close(&enc);
    g_string_append_printf(log, "end %d\n", PICTURES);
    return g_string_free(log, FALSE);
}

static void two_passes(void) {
    const char *path = "gst_stream.pass.log";
    int n;
    gchar *log = NULL, *want;
    MotusEncoderConfig config = base_config();
    remove(path);
    set_rate(&config, 120, 0);
    GstHarness *h = motus_gst_open(
        "pass=pass1 bitrate=120 vbv-buf-capacity=0 multipass-cache-file=gst_stream.pass.log", CAPS);
    motus_gst_push(h, WIDTH, HEIGHT, 0, PICTURES);
    gst_harness_push_event(h, gst_event_new_eos());
    g_byte_array_unref(motus_gst_take(h, &n));
    gst_harness_teardown(h);
    want = first_pass_log(config);
    CU_ASSERT_TRUE(g_file_get_contents(path, &log, NULL, NULL));
    MOTUS_CHECK(log && !strcmp(log, want), "log:\n%s", log);
    config.pass = 2;
    config.pass_log = want;
    check_stream(
        "pass=pass2 bitrate=120 vbv-buf-capacity=0 multipass-cache-file=gst_stream.pass.log", CAPS,
        &config, 0, TRUE);
    g_free(log);
    g_free(want);
    remove(path);
}

MOTUS_SUITE_BY(motus_gst_main, "gst_stream", TEST(streams_are_the_encoders), TEST(variable_rate),
               TEST(full_range_and_unknown), TEST(avc_has_the_same_units),
               TEST(caps_say_what_it_is), TEST(times_and_flags), TEST(two_passes))
