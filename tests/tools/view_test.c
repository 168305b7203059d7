// motus view's block values: bits against the encoder's own count, costs of known motion, the
// corners of the colour wheel; its letters, arrows and legends.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/view.h"

#include <string.h>

#include "motus/encoder.h"
#include "tests/support/harness.h"
#include "tools/synth/synth.h"
#include "tools/view/canvas.h"
#include "tools/view/view_draw.h"

enum { MAX_BLOCKS = 4096 };

static MotusView view_of(const MotusPacket *p, MotusViewBlock blocks[MAX_BLOCKS]) {
    CU_ASSERT_FATAL(p->n_mvs <= MAX_BLOCKS);
    for (size_t i = 0; i < p->n_mvs; i++) {
        const MotusCodedMv *m = &p->mvs[i];
        blocks[i] = (MotusViewBlock){.x = m->x,
                                     .y = m->y,
                                     .width = m->width,
                                     .height = m->height,
                                     .skip = m->skip,
                                     .block = MOTUS_VIEW_CODED,
                                     .mv = m->mv};
    }
    return (MotusView){.name = "test",
                       .width = p->recon->width,
                       .height = p->recon->height,
                       .blocks = blocks,
                       .n = p->n_mvs};
}

// Encodes a few frames; the sum of their MV bits must equal the encoder's.
static uint64_t encode_and_count(int width, int height, int qp, int objects, int noise) {
    static MotusViewBlock blocks[MAX_BLOCKS];
    MotusSynthConfig scene = motus_synth_config_default(width, height);
    scene.pan_x = 5, scene.pan_y = -3, scene.objects = objects, scene.noise = noise,
    scene.seed = motus_test_random();
    MotusEncoderConfig config = motus_encoder_config_default(width, height, (MotusRational){25, 1});
    config.qp = qp, config.backend = MOTUS_BACKEND_CPU, config.threads = 1;
    MotusSynth *synth = NULL;
    MotusEncoder *encoder = NULL;
    MotusFrame *frame = NULL;
    MotusPacket *packet = NULL;
    uint64_t all = 0;
    CU_ASSERT_FATAL(!motus_synth_open(&synth, &scene) &&
                    !motus_encoder_open(&encoder, &config, NULL));
    CU_ASSERT_FATAL(!motus_frame_alloc(&frame, width, height));
    for (int n = 0; n < 4; n++) {
        motus_synth_frame(synth, n, frame);
        CU_ASSERT_FATAL(!motus_encoder_send(encoder, frame, NULL));
    }
    CU_ASSERT_FATAL(!motus_encoder_send(encoder, NULL, NULL));
    while (!motus_encoder_receive(encoder, &packet, -1)) {
        MotusView view = view_of(packet, blocks);
        uint64_t sum = 0;
        EXPECT_OK(motus_view_bits(&view, NULL));
        for (size_t i = 0; i < view.n; i++) sum += (uint64_t)blocks[i].value;
        MOTUS_CHECK(sum == packet->stats.bits_mv,
                    "%dx%d qp %d picture %d: %llu bits, the encoder wrote %llu", width, height, qp,
                    (int)packet->number, (unsigned long long)sum,
                    (unsigned long long)packet->stats.bits_mv);
        all += sum;
        motus_packet_unref(&packet);
    }
    motus_frame_unref(&frame);
    motus_encoder_close(&encoder);
    motus_synth_close(&synth);
    return all;
}

static void bits_are_the_encoders(void) {
    uint64_t all = 0;
    for (int i = 0; i < 6; i++)
        all += encode_and_count(2 * motus_test_range(20, 90), 2 * motus_test_range(20, 70),
                                motus_test_range(16, 34), i, 2 * i);
    CU_ASSERT(all > 2000);
}

static void blocks_out_of_order_are_refused(void) {
    MotusViewBlock blocks[2] = {{.x = 16, .width = 16, .height = 16},
                                {.x = 0, .width = 16, .height = 16}};
    MotusView view = {.name = "test", .width = 32, .height = 16, .blocks = blocks, .n = 2};
    MotusError error = {0};
    CU_ASSERT_EQUAL(motus_view_bits(&view, &error), MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "raster order"));
    blocks[0] = (MotusViewBlock){.x = 0, .width = 12, .height = 16};
    CU_ASSERT_EQUAL(motus_view_bits(&view, &error), MOTUS_ERR_UNSUPPORTED);
}

// A block with its true MV costs nothing, with a wrong MV it does. The part outside the picture
// does not count.
static void costs_of_known_motion(void) {
    enum { W = 60, H = 44 };
    MotusSynthConfig scene = motus_synth_config_default(W, H);
    scene.pan_x = 8; // two samples to the right
    MotusSynth *synth = NULL;
    MotusFrame *frames[2] = {NULL, NULL};
    CU_ASSERT_FATAL(!motus_synth_open(&synth, &scene));
    for (int n = 0; n < 2; n++) {
        CU_ASSERT_FATAL(!motus_frame_alloc(&frames[n], W, H));
        motus_synth_frame(synth, n, frames[n]);
    }
    MotusViewBlock blocks[] = {{.x = 16, .y = 16, .width = 16, .height = 16, .mv = {-8, 0}},
                               {.x = 48, .y = 32, .width = 16, .height = 16, .mv = {-8, 0}},
                               {.x = 16, .y = 16, .width = 8, .height = 4, .mv = {9, 3}}};
    MotusView view = {.name = "test", .width = W, .height = H, .blocks = blocks, .n = 3};
    MotusError error = {0};
    view.picture = frames[1]->plane[0];
    CU_ASSERT_EQUAL(motus_view_costs(&view, &error),
                    MOTUS_ERR_UNSUPPORTED); // no reference
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "--picture"));
    view.before = frames[0]->plane[0];
    EXPECT_OK(motus_view_costs(&view, &error));
    CU_ASSERT(blocks[0].value == 0 && blocks[1].value == 0);
    CU_ASSERT(blocks[2].value > 0.5);
    view.has_cost = 1;
    blocks[0].value = 512;
    EXPECT_OK(motus_view_costs(&view, &error));
    CU_ASSERT_EQUAL(blocks[0].value, 2); // a sample
    for (int n = 0; n < 2; n++) motus_frame_unref(&frames[n]);
    motus_synth_close(&synth);
}

static int is(MotusColor c, int r, int g, int b) { return c.r == r && c.g == g && c.b == b; }

static void colors(void) {
    CU_ASSERT(is(motus_flow_color(3, 0, 3), 255, 0, 0));       // to the right: red
    CU_ASSERT(is(motus_flow_color(0, 0, 3), 255, 255, 255));   // at rest: white
    CU_ASSERT(is(motus_flow_color(1.5, 0, 3), 255, 128, 128)); // half as fast: half as pale
    CU_ASSERT(is(motus_flow_color(4, 0, 3), 191, 0, 0));       // beyond the scale: darker
    MotusColor down = motus_flow_color(0, 2, 2), left = motus_flow_color(-2, 0, 2),
               up = motus_flow_color(0, -2, 2);
    CU_ASSERT(down.r == 255 && down.g > 200 && down.b == 0); // yellow
    CU_ASSERT(left.r == 0 && left.g > 180 && left.b == 255); // cyan
    CU_ASSERT(up.r > 80 && up.g == 0 && up.b == 255);        // violet
    int last = -1;
    for (int i = 0; i <= 64; i++) {
        MotusColor c = motus_heat_color(i / 64.0);
        int lightness = 299 * c.r + 587 * c.g + 114 * c.b;
        MOTUS_CHECK(lightness > last, "heat %d of 64", i);
        last = lightness;
    }
    CU_ASSERT(is(motus_heat_color(7), 253, 231, 37) && is(motus_heat_color(-1), 68, 1, 84));
}

// ---- Drawing ------------------------------------------------------------------------------------

// Draws one letter on a canvas of its size.
static MotusCanvas letter(const char *text) {
    MotusCanvas c;
    CU_ASSERT_FATAL(
        !motus_canvas_alloc(&c, MOTUS_GLYPH_WIDTH, MOTUS_GLYPH_HEIGHT, (MotusColor){0, 0, 0}));
    motus_canvas_text(&c, 0, 0, 1, text, (MotusColor){255, 255, 255});
    return c;
}

// All printable characters look different from each other; one box stands for each other character.
static void letters(void) {
    enum { FIRST = ' ', LAST = '~', BYTES = 3 * MOTUS_GLYPH_WIDTH * MOTUS_GLYPH_HEIGHT };
    static uint8_t drawn[LAST + 2][BYTES];
    for (int ch = FIRST; ch <= LAST + 1; ch++) {
        const char text[2] = {(char)ch, 0};
        MotusCanvas c = letter(ch > LAST ? "\xc3\xa9" : text);
        memcpy(drawn[ch], c.rgb.data, BYTES);
        motus_canvas_free(&c);
        for (int other = FIRST; other < ch; other++)
            MOTUS_CHECK(memcmp(drawn[ch], drawn[other], BYTES), "%d looks like %d", ch, other);
    }
    CU_ASSERT_EQUAL(motus_canvas_letters("a\xc3\xa9z.mp4"), 7);
}

// Returns the painted pixels of column x.
static int column(const MotusCanvas *c, int x) {
    int n = 0;
    for (int y = 0; y < c->height; y++) n += c->rgb.data[y * c->rgb.stride + 3 * x] > 0;
    return n;
}

static void arrows_have_heads(void) {
    for (int zoom = 1; zoom <= 4; zoom++)
        for (int back = 0; back < 2; back++) {
            MotusCanvas c;
            const int from = back ? 55 : 8, to = 63 - from, step = back ? -1 : 1;
            CU_ASSERT_FATAL(!motus_canvas_alloc(&c, 64, 41, (MotusColor){0, 0, 0}));
            motus_view_arrow(&c, from, 20, to, 20, zoom, 0, (MotusColor){255, 255, 255});
            CU_ASSERT(column(&c, from) > 0 && column(&c, to) > 0);
            CU_ASSERT(column(&c, from - 3 * step) == 0 && column(&c, to + 3 * step) == 0);
            CU_ASSERT(column(&c, to - (zoom > 1 ? 6 : 4) * step) > column(&c, from + 9 * step));
            CU_ASSERT_EQUAL(column(&c, from + 9 * step), column(&c, from + 15 * step));
            motus_canvas_free(&c);
        }
}

static int stretch_of(MotusViewBlock *blocks, size_t n, int asked) {
    const MotusView view = {.name = "test", .width = 352, .height = 288, .blocks = blocks, .n = n};
    MotusViewLayout layout = {0};
    EXPECT_OK(motus_view_layout(&layout, &view, 1, 1, MOTUS_VIEW_ARROWS, 1, asked, NULL));
    return layout.stretch;
}

// Arrows are drawn so long that nine of ten end before the next block's.
static void lengths_leave_gaps(void) {
    static const struct {
        int size, x, y, stretch;
    } cases[] = {{16, -1, 0, 800}, {16, -32, 0, 150}, {16, 0, 64, 75}, {16, 64, 64, 75},
                 {8, 64, 0, 35},   {4, 400, 0, 25},   {16, 0, 0, 800}};
    MotusViewBlock blocks[20];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 20; k++)
            blocks[k] = (MotusViewBlock){
                .width = (uint8_t)cases[i].size,
                .height = (uint8_t)cases[i].size,
                .mv = {(int16_t)(k ? cases[i].x : 999), (int16_t)(k ? cases[i].y : 999)}};
        if (!cases[i].x && !cases[i].y) blocks[0].mv = (MotusMv){0, 0};
        MOTUS_CHECK(stretch_of(blocks, 20, 0) == cases[i].stretch, "case %zu: %d", i,
                    stretch_of(blocks, 20, 0));
        CU_ASSERT_EQUAL(stretch_of(blocks, 20, 300), 300);
    }
}

// The legend is measured as it is drawn; what does not fit into a line goes on below.
static void legends_wrap(void) {
    const MotusView view = {.name = "test", .width = 176, .height = 144, .coded = 1};
    for (int style = 0; style < MOTUS_VIEW_STYLES; style++) {
        const MotusViewLayout layout = {
            .style = (MotusViewStyle)style, .zoom = 1, .text_scale = 1, .most = 4};
        int last = 0;
        for (int width = 1200; width >= 100; width -= 100) {
            const int height = motus_view_legend(NULL, &layout, &view, 0, 0, width);
            CU_ASSERT(height >= last && height > 40);
            last = height;
        }
        CU_ASSERT(last > motus_view_legend(NULL, &layout, &view, 0, 0, 1200) + 20);
    }
}

MOTUS_SUITE("view", TEST(letters), TEST(arrows_have_heads), TEST(lengths_leave_gaps),
            TEST(legends_wrap), TEST(bits_are_the_encoders), TEST(blocks_out_of_order_are_refused),
            TEST(costs_of_known_motion), TEST(colors))
