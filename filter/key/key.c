// Chroma key: configurations (defaults for a colour, and their preparation), and the CPU's filter.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <string.h>

#include "filter/key/key_tmpl.h"
#include "yuv/exec.h"
#include "yuv/usable.h"

const MotusKeyOps motus_key_ops_c = {split, join,           weights, weights_yuv, unspill,
                                     halve, unspill_chroma, mix,     from_yuv};

MotusKeyConfig motus_key_config(uint8_t r, uint8_t g, uint8_t b) {
    int high = motus_max(r, motus_max(g, b)), low = motus_min(r, motus_min(g, b)), d = high - low;
    int rising = r == high   ? g - b
                 : g == high ? b - r
                             : r - g,
        sector = r == high   ? 0
                 : g == high ? 2
                             : 4;
    int hue = d ? (960 * (rising + sector * d + (rising + sector * d < 0 ? 6 * d : 0)) + d / 2) /
                      d % KEY_CIRCLE
                : 0;
    MotusKeyConfig config = {0};
    config.hue = hue;
    config.saturation = high ? (KEY_UNIT * d + high / 2) / high : 0;
    config.value = (KEY_UNIT * high + 127) / 255;
    config.hue_range = 30 * 16, config.sat_range = KEY_UNIT / 2,
    config.value_range = KEY_UNIT * 6 / 10;
    return config;
}

// Computes R, G, B of a pure colour, 0..960; returns the channel of the largest.
static int pure_colour(int rgb[3], int hue) {
    static const uint8_t full[6] = {0, 1, 1, 2, 2, 0}, partial[6] = {1, 0, 2, 1, 0, 2};
    int sector = hue / 960, rise = hue % 960;
    rgb[0] = rgb[1] = rgb[2] = 0;
    rgb[full[sector]] = 960, rgb[partial[sector]] = sector & 1 ? 960 - rise : rise;
    return full[sector];
}

// Sets the direction of a pure colour of the key's hue in the chroma plane.
static void chroma_direction(MotusKey *key, int hue) {
    int rgb[3];
    key->channel = pure_colour(rgb, hue);
    double cb = key->matrix.ur * rgb[0] + key->matrix.ug * rgb[1] + key->matrix.ub * rgb[2];
    double cr = key->matrix.vr * rgb[0] + key->matrix.vg * rgb[1] + key->matrix.vb * rgb[2],
           length = sqrt(cb * cb + cr * cr);
    key->cb_direction = (float)nearbyint(1024.0 * cb / length),
    key->cr_direction = (float)nearbyint(1024.0 * cr / length);
    key->cb_move = -key->cb_direction * (float)key->spill / (1 << 28);
    key->cr_move = -key->cr_direction * (float)key->spill / (1 << 28);
}

// A linear function of the plane of (G - R, G - B), or of (Cb, Cr) - 128.
typedef struct Line {
    double x, y;
} Line;

// Returns the direction of a hue: its pure colour, 960 long in the largest channel.
static Line ray_of(int hue) {
    int rgb[3];
    pure_colour(rgb, hue);
    return (Line){rgb[1] - rgb[0], rgb[1] - rgb[2]};
}

// Returns the same function of (Cb, Cr) - 128, coefficients rounded to whole numbers up to 2^14.
static Line of_chroma(Line l, const MotusYuvMatrix *m) {
    double u = -l.x * m->gu - l.y * (m->gu + m->bu), v = -l.x * (m->gv + m->rv) - l.y * m->gv,
           longest = fmax(fabs(u), fabs(v));
    return (Line){nearbyint(u * 16384.0 / longest), nearbyint(v * 16384.0 / longest)};
}

// Returns the wedge between two lines. first, second: 1 if the line itself is inside. wide: more
// than 180 degrees, so the rest lies between the lines.
static MotusKeyWedge wedge_of(Line a, Line b, int first, int second, int wide) {
    double c = first ? 0.5 : -0.5, d = second ? 0.5 : -0.5, side = wide ? -1 : 1;
    return (MotusKeyWedge){(float)(side * (a.x + b.x)),
                           (float)(side * (a.y + b.y)),
                           (float)(side * (c + d)),
                           (float)(a.x - b.x),
                           (float)(a.y - b.y),
                           (float)(c - d),
                           (float)side};
}

// Returns the wedge of all hues but the ray's: |across| >= 1 outweighs along < 2^23.
static MotusKeyWedge all_but(Line along, Line across, int grey) {
    float big = 8388608.0f;
    return (MotusKeyWedge){(float)along.x,
                           (float)along.y,
                           grey ? -1.0f : 1.0f,
                           big * (float)across.x,
                           big * (float)across.y,
                           0.0f,
                           -1.0f};
}

// Sets the wedges of the hues between hue - range and hue + range, both outside. With plain_hue,
// hue 0 is inside if the range reaches below it.
static void hue_wedges(MotusKey *key, const MotusKeyConfig *c) {
    int low = c->hue - c->hue_range, high = c->hue + c->hue_range,
        from_zero = c->plain_hue && low < 0;
    if (c->plain_hue) low = motus_max(low, 0), high = motus_min(high, KEY_CIRCLE);
    int across = motus_min(c->hue, KEY_CIRCLE - c->hue),
        grey = (c->plain_hue ? c->hue : across) < c->hue_range;
    key->grey = grey ? 0.5f : -1.0f;
    if (high - low > KEY_CIRCLE || (from_zero && high == KEY_CIRCLE)) {
        key->rgb = key->chroma = (MotusKeyWedge){0, 0, 1, 0, 0, 0, 1};
        return;
    }
    const Line begin = ray_of((low + KEY_CIRCLE) % KEY_CIRCLE), end = ray_of(high % KEY_CIRCLE);
    // Positive for hues up to 180 degrees after the beginning, or before the end.
    Line a = {begin.y, -begin.x}, b = {-end.y, end.x};
    // Hue 0 is inside, 180 degrees is not: a line with no other hue between.
    if (from_zero && high == KEY_CIRCLE / 2) b = (Line){-1, 512};
    if (high - low == KEY_CIRCLE) {
        key->rgb = all_but(begin, a, grey);
        key->chroma = all_but(of_chroma(begin, &key->matrix), of_chroma(a, &key->matrix), grey);
        return;
    }
    int wide = high - low > KEY_CIRCLE / 2;
    key->rgb = wedge_of(a, b, from_zero, 0, wide);
    key->chroma =
        wedge_of(of_chroma(a, &key->matrix), of_chroma(b, &key->matrix), grey, grey, wide);
}

// Sets the thresholds of saturation and value, and the soft edge.
static void thresholds(MotusKey *key, const MotusKeyConfig *c) {
    key->saturation = (float)c->saturation / KEY_UNIT,
    key->sat_range = (float)c->sat_range / KEY_UNIT;
    key->value = (float)c->value * 255 / KEY_UNIT,
    key->value_limit = ((float)c->value_range * 255 - 0.5f) / KEY_UNIT;
    double edge = 256.0 / motus_max(c->soft_q8, 1), unit = edge / c->hue_range,
           circle = c->plain_hue ? 3 * KEY_CIRCLE : KEY_CIRCLE;
    key->around = c->plain_hue || c->hue_range * (256 + c->soft_q8) > 1920 * 256;
    key->first = motus_key_steps((float)edge);
    key->hue_scale = (float)(960 * unit), key->hue_round = (float)(circle * unit);
    key->sat_scale = (float)(KEY_UNIT * edge / c->sat_range),
    key->sat_at = (float)(c->saturation * edge / c->sat_range);
    key->value_scale = (float)(KEY_UNIT * edge / (255.0 * c->value_range)),
    key->value_at = (float)(c->value * edge / c->value_range);
    for (int i = 0; i < 4; i++) {
        int at = 1920 * i - c->hue;
        if (!c->plain_hue) at = (at + KEY_CIRCLE + KEY_CIRCLE / 2) % KEY_CIRCLE - KEY_CIRCLE / 2;
        key->hue_at[i] = (float)(at * unit);
    }
}

MotusStatus motus_key_prepare(MotusKey *key, const MotusKeyConfig *c) {
    if (!c) return MOTUS_ERR_ARGUMENT;
    const struct {
        int value, least, most;
    } ranges[] = {{c->hue, 0, KEY_CIRCLE - 1},     {c->saturation, 0, KEY_UNIT},
                  {c->value, 0, KEY_UNIT},         {c->hue_range, 1, KEY_CIRCLE},
                  {c->sat_range, 1, 2 * KEY_UNIT}, {c->value_range, 1, 2 * KEY_UNIT},
                  {c->soft_q8, 0, 1024},           {c->spill_q8, 0, 256}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].value < ranges[i].least || ranges[i].value > ranges[i].most)
            return MOTUS_ERR_ARGUMENT;
    MotusKey k = {.soft = c->soft_q8,
                  .spill = c->spill_q8,
                  .matrix = motus_yuv_matrix(c->matrix_709, c->full_range)};
    k.rv = (float)k.matrix.rv, k.gu = (float)k.matrix.gu, k.gv = (float)k.matrix.gv,
    k.bu = (float)k.matrix.bu;
    chroma_direction(&k, c->hue);
    hue_wedges(&k, c);
    thresholds(&k, c);
    *key = k;
    return MOTUS_OK;
}

// ---- The filter ---------------------------------------------------------------------------------

MotusStatus motus_key_rgb24(MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                            const MotusKeyConfig *config, const MotusExec *exec) {
    MotusKey key;
    if (!motus_planes_usable(dst, fg) || !motus_planes_usable(fg, bg) || fg->width % 3 ||
        motus_key_prepare(&key, config))
        return MOTUS_ERR_ARGUMENT;
    const MotusKeyOps *ops = MOTUS_VERSION(motus_key_ops, exec);
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < fg->height; y++)
        for (int x = 0; x < fg->width / 3; x += KEY_CHUNK) {
            int n = motus_min(KEY_CHUNK, fg->width / 3 - x);
            MotusRgbRow front, back;
            uint16_t weight[KEY_CHUNK];
            ops->split(&front, fg->data + y * fg->stride + 3 * x, n);
            ops->split(&back, bg->data + y * bg->stride + 3 * x, n);
            ops->weights(weight, &front, n, &key);
            if (key.spill) ops->unspill(&front, n, &key);
            for (int c = 0; c < 3; c++) ops->mix(front.c[c], front.c[c], back.c[c], weight, n);
            ops->join(dst->data + y * dst->stride + 3 * x, &front, n);
        }
    return MOTUS_OK;
}

// Keys luma rows 2 y and 2 y + 1 and chroma row y.
static void key_frame_rows(MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg, int y,
                           const MotusKey *key, const MotusKeyOps *ops) {
    const MotusPlane *p = fg->plane;
    for (int x = 0; x < fg->width; x += KEY_CHUNK) {
        int n = motus_min(KEY_CHUNK, fg->width - x), rows = motus_min(2, fg->height - 2 * y);
        uint16_t weight[2][KEY_CHUNK], mean[KEY_CHUNK / 2];
        for (int r = 0; r < rows; r++)
            ops->weights_yuv(weight[r], p[0].data + (2 * y + r) * p[0].stride + x,
                             p[1].data + y * p[1].stride + x / 2,
                             p[2].data + y * p[2].stride + x / 2, n, key);
        for (int r = 0; r < rows; r++)
            ops->mix(dst->plane[0].data + (2 * y + r) * dst->plane[0].stride + x,
                     p[0].data + (2 * y + r) * p[0].stride + x,
                     bg->plane[0].data + (2 * y + r) * bg->plane[0].stride + x, weight[r], n);
        ops->halve(mean, weight[0], weight[rows - 1], n); // a last single row counts twice
        uint8_t front[2][KEY_CHUNK / 2];
        const int half = (n + 1) / 2;
        for (int k = 0; k < 2; k++)
            memcpy(front[k], p[1 + k].data + y * p[1 + k].stride + x / 2, (size_t)half);
        if (key->spill) ops->unspill_chroma(front[0], front[1], half, key);
        for (int k = 0; k < 2; k++)
            ops->mix(dst->plane[1 + k].data + y * dst->plane[1 + k].stride + x / 2, front[k],
                     bg->plane[1 + k].data + y * bg->plane[1 + k].stride + x / 2, mean, half);
    }
}

MotusStatus motus_key_frame(MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                            const MotusKeyConfig *config, const MotusExec *exec) {
    MotusKey key;
    if (!motus_frames_usable(dst, fg) || !motus_frames_usable(fg, bg) ||
        motus_key_prepare(&key, config))
        return MOTUS_ERR_ARGUMENT;
    const MotusKeyOps *ops = MOTUS_VERSION(motus_key_ops, exec);
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < (fg->height + 1) / 2; y++) key_frame_rows(dst, fg, bg, y, &key, ops);
    return MOTUS_OK;
}
