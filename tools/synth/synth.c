// SPDX-License-Identifier: BSD-2-Clause
#include "tools/synth/synth.h"

#include "common/alloc.h"
#include "common/int_core.h"
#include "tools/synth/synth_texture.h"

#define ONE 65536         // fixed point of positions and factors
#define ZOOM_PERIOD 64    // frames after which the zoom turns round
#define QUARTER (ONE / 4) // a quarter sample

// A rectangle or ellipse with its own piece of texture. Positions in quarter samples.
typedef struct SynthObject {
    int ellipse;
    int width, height; // samples
    int x, y, vx, vy;  // at the scene's first frame, and per frame
    int64_t u, v;      // texture position of its top-left corner
    int bias[3];       // added to the samples, so that it can be seen
} SynthObject;

// Maps picture position p to texture position (u, v) + [cos -sin; sin cos] * (p - c), c: the
// picture's centre. All in 1/65536.
typedef struct Camera {
    int64_t u, v;
    int64_t cos, sin;
} Camera;

struct MotusSynth {
    MotusSynthConfig config;
    int64_t scene; // of texture and objects
    SynthObject object[MOTUS_SYNTH_MAX_OBJECTS];
    MotusTexture texture;
};

MotusSynthConfig motus_synth_config_default(int width, int height) {
    return (MotusSynthConfig){.width = width, .height = height, .seed = 1, .zoom_q16 = ONE};
}

static int within(int lo, int hi, int v) { return lo <= v && v <= hi; }

static int config_ok(const MotusSynthConfig *c) {
    return within(1, MOTUS_MAX_SIZE, c->width) && within(1, MOTUS_MAX_SIZE, c->height) &&
           within(-MOTUS_SYNTH_MAX_PAN, MOTUS_SYNTH_MAX_PAN, c->pan_x) &&
           within(-MOTUS_SYNTH_MAX_PAN, MOTUS_SYNTH_MAX_PAN, c->pan_y) &&
           within(58982, 72090, c->zoom_q16) && within(-45000, 45000, c->rotate_mdeg) &&
           within(0, MOTUS_SYNTH_MAX_OBJECTS, c->objects) && within(0, 64, c->noise) &&
           c->cut_every >= 0 && within(0, 100, c->flat);
}

MotusStatus motus_synth_open(MotusSynth **synth, const MotusSynthConfig *config) {
    *synth = NULL;
    if (!config_ok(config)) return MOTUS_ERR_ARGUMENT;
    MotusSynth *s = motus_alloc(1, sizeof *s);
    if (!s) return MOTUS_ERR_MEMORY;
    s->config = *config;
    s->scene = -1;
    *synth = s;
    return MOTUS_OK;
}

void motus_synth_close(MotusSynth **synth) {
    if (!synth) return;
    motus_free(*synth);
    *synth = NULL;
}

static int pick(uint64_t *state, int lo, int hi) {
    return lo + (int)(motus_synth_random(state) >> 33) % (hi - lo + 1);
}

static void make_object(SynthObject *o, int index, const MotusSynthConfig *c, uint64_t *state) {
    o->ellipse = index & 1;
    o->width = motus_max(1, pick(state, c->width / 8, c->width / 4));
    o->height = motus_max(1, pick(state, c->height / 8, c->height / 4));
    o->x = pick(state, 0, 4 * (c->width - o->width));
    o->y = pick(state, 0, 4 * (c->height - o->height));
    do {
        o->vx = pick(state, -12, 12);
        o->vy = pick(state, -12, 12);
    } while (!o->vx && !o->vy);
    o->u = (int64_t)pick(state, 0, 1023) * ONE;
    o->v = (int64_t)pick(state, 0, 1023) * ONE;
    for (int p = 0; p < 3; p++) o->bias[p] = pick(state, -40, 40);
}

// Makes the scene of frame n. Returns n's number in it.
static int64_t enter_scene(MotusSynth *s, int64_t n) {
    const MotusSynthConfig *c = &s->config;
    int64_t scene = c->cut_every ? n / c->cut_every : 0;
    if (scene != s->scene) {
        uint64_t state = ((uint64_t)c->seed << 32) ^ (uint64_t)scene;
        motus_texture_make(&s->texture, motus_synth_random(&state), c->flat);
        for (int i = 0; i < c->objects; i++) make_object(&s->object[i], i, c, &state);
        s->scene = scene;
    }
    return c->cut_every ? n % c->cut_every : n;
}

// Reflects v at the ends of 0..limit.
static int64_t bounce(int64_t v, int64_t limit) {
    if (limit <= 0) return 0;
    int64_t m = v % (2 * limit);
    if (m < 0) m += 2 * limit;
    return m <= limit ? m : 2 * limit - m;
}

// Returns sin(a / 90000 * 90 degrees) for 0 <= a <= 90000, in 1/65536, by the odd polynomial of
// degree 5 with the right value and slope at both ends (error below 2e-4).
static int64_t sine_quarter(int64_t a) {
    int64_t z = a * ONE / 90000, z2 = z * z / ONE;
    int64_t inner = 42047 - z2 * 4639 / ONE;      // pi - 5/2, (pi - 3) / 2
    return z * (102944 - z2 * inner / ONE) / ONE; // pi / 2
}

static int64_t sine(int64_t mdeg) {
    int64_t a = mdeg % 360000;
    if (a < 0) a += 360000;
    int64_t half = a % 180000, value = sine_quarter(half <= 90000 ? half : 180000 - half);
    return a < 180000 ? value : -value;
}

static Camera camera_at(const MotusSynthConfig *c, int64_t t) {
    int64_t scale = ONE, angle = -c->rotate_mdeg * t % 360000;
    for (int64_t i = bounce(t, ZOOM_PERIOD); i > 0; i--)
        scale = (scale * ONE + c->zoom_q16 / 2) / c->zoom_q16;
    return (Camera){.u = 300 * (int64_t)ONE - c->pan_x * t * QUARTER,
                    .v = 200 * (int64_t)ONE - c->pan_y * t * QUARTER,
                    .cos = c->rotate_mdeg ? sine(angle + 90000) * scale / ONE : scale,
                    .sin = c->rotate_mdeg ? sine(angle) * scale / ONE : 0};
}

// Maps picture position (x, y) to the texture, 1/65536.
static void camera_look(const MotusSynthConfig *c, const Camera *camera, int64_t x, int64_t y,
                        int64_t *u, int64_t *v) {
    int64_t dx = x - c->width / 2 * (int64_t)ONE, dy = y - c->height / 2 * (int64_t)ONE;
    *u = camera->u + ((camera->cos * dx - camera->sin * dy) >> 16);
    *v = camera->v + ((camera->sin * dx + camera->cos * dy) >> 16);
}

// Maps texture position (u, v) to the picture.
static void camera_find(const MotusSynthConfig *c, const Camera *camera, int64_t u, int64_t v,
                        int64_t *x, int64_t *y) {
    int64_t du = u - camera->u, dv = v - camera->v;
    int64_t det =
        (camera->cos * camera->cos + camera->sin * camera->sin) / ONE; // 1/65536, at least 1/200
    *x = c->width / 2 * (int64_t)ONE + (camera->cos * du + camera->sin * dv) / det;
    *y = c->height / 2 * (int64_t)ONE + (camera->cos * dv - camera->sin * du) / det;
}

static int object_x(const MotusSynthConfig *c, const SynthObject *o, int64_t t) {
    return (int)bounce(o->x + o->vx * t, 4 * (c->width - o->width));
}

static int object_y(const MotusSynthConfig *c, const SynthObject *o, int64_t t) {
    return (int)bounce(o->y + o->vy * t, 4 * (c->height - o->height));
}

// True if the object with its corner at (ox, oy) covers luma sample (x, y).
static int covers(const SynthObject *o, int ox, int oy, int x, int y) {
    int64_t px = 4 * x - ox, py = 4 * y - oy, w = 4 * o->width, h = 4 * o->height;
    if (px < 0 || py < 0 || px >= w || py >= h) return 0;
    if (!o->ellipse) return 1;
    int64_t ex = (2 * px - w) * h, ey = (2 * py - h) * w; // at most 2^28 each
    return ex * ex + ey * ey <= w * h * (w * h);
}

// Returns the topmost layer at luma sample (x, y) in frame t of the scene: 0 background, i + 1
// object i.
static int layer_at(const MotusSynth *s, int64_t t, int x, int y) {
    for (int i = s->config.objects - 1; i >= 0; i--) {
        const SynthObject *o = &s->object[i];
        if (covers(o, object_x(&s->config, o, t), object_y(&s->config, o, t), x, y)) return i + 1;
    }
    return 0;
}

// Converts a value to a sample, compressing large ones: clipping would leave flat spots.
static uint8_t to_sample(int value) {
    return (uint8_t)motus_clip(16, 235, 128 + value * 160 / (160 + motus_abs(value)));
}

// Return the position of a sample: chroma lies at even luma columns and half-way between two luma
// rows (chroma_sample_loc_type 0).
static int64_t plane_x(int plane, int x) { return (int64_t)(plane ? 2 * x : x) * ONE; }
static int64_t plane_y(int plane, int y) {
    return (int64_t)(plane ? 2 * y : y) * ONE + (plane ? ONE / 2 : 0);
}

static void paint_background(const MotusSynth *s, int64_t t, int plane, const MotusPlane *dst) {
    Camera camera = camera_at(&s->config, t);
    for (int y = 0; y < dst->height; y++) {
        uint8_t *row = dst->data + y * dst->stride;
        for (int x = 0; x < dst->width; x++) {
            int64_t u, v;
            camera_look(&s->config, &camera, plane_x(plane, x), plane_y(plane, y), &u, &v);
            row[x] = to_sample(motus_texture_at(&s->texture, plane, u, v));
        }
    }
}

static void paint_object(const MotusSynth *s, const SynthObject *o, int64_t t, int plane,
                         const MotusPlane *dst) {
    int ox = object_x(&s->config, o, t), oy = object_y(&s->config, o, t), step = plane ? 2 : 1;
    int x_end = motus_min(dst->width, (ox / 4 + o->width) / step + 1),
        y_end = motus_min(dst->height, (oy / 4 + o->height) / step + 1);
    for (int y = oy / 4 / step; y < y_end; y++)
        for (int x = ox / 4 / step; x < x_end; x++) {
            if (!covers(o, ox, oy, x * step, y * step)) continue;
            int64_t u = o->u + plane_x(plane, x) - (int64_t)ox * QUARTER,
                    v = o->v + plane_y(plane, y) - (int64_t)oy * QUARTER;
            dst->data[y * dst->stride + x] =
                to_sample(o->bias[plane] + motus_texture_at(&s->texture, plane, u, v));
        }
}

static void add_noise(const MotusSynthConfig *c, int64_t n, int plane, const MotusPlane *dst) {
    for (int y = 0; y < dst->height; y++) {
        uint64_t state =
            ((uint64_t)c->seed << 40) ^ ((uint64_t)n << 18) ^ ((uint64_t)plane << 16) ^ (uint64_t)y;
        uint8_t *row = dst->data + y * dst->stride;
        for (int x = 0; x < dst->width; x++)
            row[x] = motus_clip_u8(row[x] + pick(&state, -c->noise, c->noise));
    }
}

void motus_synth_frame(MotusSynth *s, int64_t n, MotusFrame *frame) {
    int64_t t = enter_scene(s, n);
    for (int plane = 0; plane < 3; plane++) {
        paint_background(s, t, plane, &frame->plane[plane]);
        for (int i = 0; i < s->config.objects; i++)
            paint_object(s, &s->object[i], t, plane, &frame->plane[plane]);
        if (s->config.noise) add_noise(&s->config, n, plane, &frame->plane[plane]);
    }
    frame->number = n;
}

// Finds the position in frame t - 1, and in the texture, of what this layer shows at (x, y) in
// frame t. All in 1/65536.
static void trace(const MotusSynth *s, int64_t t, int layer, int64_t x, int64_t y, int64_t *px,
                  int64_t *py, int64_t *u, int64_t *v) {
    const MotusSynthConfig *c = &s->config;
    if (layer) {
        const SynthObject *o = &s->object[layer - 1];
        *px = x + (int64_t)(object_x(c, o, t - 1) - object_x(c, o, t)) * QUARTER;
        *py = y + (int64_t)(object_y(c, o, t - 1) - object_y(c, o, t)) * QUARTER;
        *u = o->u + x - (int64_t)object_x(c, o, t) * QUARTER;
        *v = o->v + y - (int64_t)object_y(c, o, t) * QUARTER;
        return;
    }
    Camera now = camera_at(c, t), before = camera_at(c, t - 1);
    camera_look(c, &now, x, y, u, v);
    camera_find(c, &before, *u, *v, px, py);
}

int motus_synth_truth(MotusSynth *s, int64_t n, int x, int y, int width, int height,
                      MotusSynthTruth *truth) {
    int64_t t = enter_scene(s, n), px, py, u, v;
    if (t == 0) return 0;
    int64_t cx = x * (int64_t)ONE + (width - 1) * (int64_t)ONE / 2,
            cy = y * (int64_t)ONE + (height - 1) * (int64_t)ONE / 2;
    *truth = (MotusSynthTruth){.layer = layer_at(s, t, x + width / 2, y + height / 2), .whole = 1};
    trace(s, t, truth->layer, cx, cy, &px, &py, &u, &v);
    truth->mv.x = (int16_t)((px - cx + QUARTER / 2) >> 14);
    truth->mv.y = (int16_t)((py - cy + QUARTER / 2) >> 14);
    truth->flat = motus_texture_is_flat(&s->texture, u, v, motus_max(width, height) / 2 + 4);
    for (int j = 0; j < height && truth->whole; j++)
        for (int i = 0; i < width && truth->whole; i++) {
            int bx = x + i + ((truth->mv.x + 2) >> 2), by = y + j + ((truth->mv.y + 2) >> 2);
            truth->whole = layer_at(s, t, x + i, y + j) == truth->layer &&
                           within(0, s->config.width - 1, bx) &&
                           within(0, s->config.height - 1, by) &&
                           layer_at(s, t - 1, bx, by) == truth->layer;
        }
    return 1;
}
