// Draws views: one pane each, with a caption and a legend below.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "tools/media/png.h"
#include "tools/view/canvas.h"
#include "tools/view/view.h"

enum { GAP = 8, PAD = 8, LINE_GAP = 5, SMALL_PANE = 800 };

static const MotusColor paper = {24, 24, 27}, ink = {228, 228, 231}, faint = {161, 161, 170},
                        black = {0, 0, 0}, white = {255, 255, 255}, no_vector = {128, 128, 128},
                        intra = {86, 180, 233}, split = {230, 159, 0};

// One pane of the picture.
typedef struct Pane {
    MotusCanvas *canvas;
    const MotusView *view;
    MotusViewStyle style;
    int left, zoom, stretch; // stretch in percent
    double most;             // samples (flow) or value (cost, bits) of the last colour
} Pane;

// ---- The picture --------------------------------------------------------------------------------

// Returns the grey of a sample in few steps, for small files; a medium one without a picture.
static MotusColor grey_at(const Pane *p, int x, int y, int darkest, int lightest) {
    const MotusPlane *luma = &p->view->picture;
    int v = luma->data ? luma->data[y * luma->stride + x] : 96;
    uint8_t grey = (uint8_t)(darkest + v * (lightest - darkest) / 255 / 12 * 12);
    return (MotusColor){grey, grey, grey};
}

static void draw_picture(const Pane *p, int darkest, int lightest) {
    for (int y = 0; y < p->view->height; y++)
        for (int x = 0; x < p->view->width; x++)
            motus_canvas_rect(p->canvas, p->left + x * p->zoom, y * p->zoom, p->zoom, p->zoom,
                              grey_at(p, x, y, darkest, lightest), 255);
}

// Fills a rectangle given in samples, clipped to the picture.
static void fill(const Pane *p, int x, int y, int width, int height, MotusColor color, int alpha) {
    width = motus_min(width, p->view->width - x), height = motus_min(height, p->view->height - y);
    motus_canvas_rect(p->canvas, p->left + x * p->zoom, y * p->zoom, width * p->zoom,
                      height * p->zoom, color, alpha);
}

// Draws the left and upper border; the others belong to the neighbours.
static void outline(const Pane *p, const MotusViewBlock *b, MotusColor color, int alpha) {
    if (b->x >= p->view->width || b->y >= p->view->height) return;
    int width = motus_min(b->width, p->view->width - b->x) * p->zoom,
        height = motus_min(b->height, p->view->height - b->y) * p->zoom;
    motus_canvas_rect(p->canvas, p->left + b->x * p->zoom, b->y * p->zoom, width, 1, color, alpha);
    motus_canvas_rect(p->canvas, p->left + b->x * p->zoom, b->y * p->zoom, 1, height, color, alpha);
}

// Mixes a colour with white: blue and violet are dark over a picture.
static MotusColor lighter(MotusColor c) {
    return (MotusColor){(uint8_t)(c.r + (255 - c.r) * 3 / 8), (uint8_t)(c.g + (255 - c.g) * 3 / 8),
                        (uint8_t)(c.b + (255 - c.b) * 3 / 8)};
}

static void arrow(const Pane *p, const MotusViewBlock *b, double thickness,
                  const MotusColor *color) {
    double far = p->stretch / 100.0 * p->zoom / 4; // vectors are in quarter samples
    double x = p->left + p->zoom * (b->x + b->width / 2.0) - 0.5,
           y = p->zoom * (b->y + b->height / 2.0) - 0.5;
    MotusColor c = color                ? *color
                   : b->mv.x || b->mv.y ? lighter(motus_flow_color(-b->mv.x, -b->mv.y, 0))
                                        : white;
    motus_canvas_line(p->canvas, x, y, x + far * b->mv.x, y + far * b->mv.y, thickness, c);
    motus_canvas_disc(p->canvas, x, y, thickness / 2 + (p->zoom > 1 ? 0.7 : 0.4), c);
}

static void draw_arrows(const Pane *p) {
    const MotusView *view = p->view;
    double thickness = p->zoom > 1 ? 1.7 : 1.2;
    draw_picture(p, 32, 160);
    for (size_t i = 0; i < view->n; i++) outline(p, &view->blocks[i], black, 90);
    for (size_t i = 0; i < view->n; i++) arrow(p, &view->blocks[i], thickness + 1.6, &paper);
    for (size_t i = 0; i < view->n; i++) arrow(p, &view->blocks[i], thickness, NULL);
}

static void draw_flow(const Pane *p) {
    const MotusView *view = p->view;
    fill(p, 0, 0, view->width, view->height, no_vector, 255);
    for (size_t i = 0; i < view->n; i++) {
        const MotusViewBlock *b = &view->blocks[i];
        fill(p, b->x, b->y, b->width, b->height, motus_flow_color(-b->mv.x, -b->mv.y, 4 * p->most),
             255);
    }
}

// Returns the alpha of a block's tint: the smaller the block, the stronger.
static int tint(int width, int height) {
    int area = width * height;
    return area >= 256 ? 0 : area >= 128 ? 60 : area >= 64 ? 110 : area >= 32 ? 160 : 210;
}

static void draw_partitions(const Pane *p) {
    const MotusView *view = p->view;
    draw_picture(p, 70, 240);
    if (view->is_stream || view->blocks[0].block == MOTUS_VIEW_CODED) {
        // Tints all, then restores the MBs that have a vector.
        fill(p, 0, 0, view->width, view->height, intra, 130);
        for (size_t i = 0; i < view->n; i++) {
            const MotusViewBlock *b = &view->blocks[i];
            for (int y = b->y; y < motus_min(b->y + b->height, view->height); y++)
                for (int x = b->x; x < motus_min(b->x + b->width, view->width); x++)
                    fill(p, x, y, 1, 1, grey_at(p, x, y, 70, 240), 255);
        }
    }
    for (size_t i = 0; i < view->n; i++) {
        const MotusViewBlock *b = &view->blocks[i];
        fill(p, b->x, b->y, b->width, b->height, split, tint(b->width, b->height));
    }
    for (size_t i = 0; i < view->n; i++)
        outline(p, &view->blocks[i], black, view->blocks[i].skip ? 60 : 200);
}

static void draw_values(const Pane *p) {
    const MotusView *view = p->view;
    draw_picture(p, 0, 255);
    fill(p, 0, 0, view->width, view->height, no_vector, 120);
    for (size_t i = 0; i < view->n; i++) {
        const MotusViewBlock *b = &view->blocks[i];
        fill(p, b->x, b->y, b->width, b->height, motus_heat_color(b->value / p->most), 215);
    }
    for (size_t i = 0; i < view->n; i++) outline(p, &view->blocks[i], black, 70);
}

// ---- Caption and legend -------------------------------------------------------------------------

typedef struct Caption {
    int top, scale, right; // of the strip; `right` of what is still free
    int line;
} Caption;

static int line_height(int scale) { return MOTUS_GLYPH_HEIGHT * scale + LINE_GAP; }
static int strip_height(int scale) { return 3 * line_height(scale) - LINE_GAP + 2 * PAD; }

static void say(const Pane *p, Caption *c, const char *text, MotusColor color) {
    int x = p->left + PAD;
    motus_canvas_text(p->canvas, x, c->top + PAD + c->line++ * line_height(c->scale), c->scale,
                      text, motus_max(c->right - x - PAD, 0) / (MOTUS_GLYPH_WIDTH * c->scale),
                      color);
}

// Draws the colours of all directions as a disc.
static void wheel(const Pane *p, Caption *c) {
    double radius = (strip_height(c->scale) - 2 * PAD) / 2.0;
    int middle_x = c->right - PAD - (int)radius, middle_y = c->top + strip_height(c->scale) / 2;
    for (int y = (int)-radius; y <= radius; y++)
        for (int x = (int)-radius; x <= radius; x++)
            if (hypot(x, y) <= radius)
                motus_canvas_dot(p->canvas, middle_x + x, middle_y + y,
                                 p->style == MOTUS_VIEW_FLOW ? motus_flow_color(x, y, radius)
                                                             : lighter(motus_flow_color(x, y, 0)),
                                 255);
    c->right = middle_x - (int)radius;
}

static void ramp(const Pane *p, Caption *c) {
    int width = 96 * c->scale, x = c->right - PAD - width, y = c->top + PAD,
        height = line_height(c->scale) + 6;
    char most[32];
    for (int i = 0; i < width; i++)
        motus_canvas_rect(p->canvas, x + i, y, 1, height, motus_heat_color((double)i / (width - 1)),
                          255);
    int digits = snprintf(most, sizeof most, p->most < 10 ? "%.1f+" : "%.0f+", p->most);
    motus_canvas_text(p->canvas, x, y + height + LINE_GAP, c->scale, "0", 1, ink);
    motus_canvas_text(p->canvas, x + width - digits * MOTUS_GLYPH_WIDTH * c->scale,
                      y + height + LINE_GAP, c->scale, most, digits, ink);
    c->right = x;
}

static void swatches(const Pane *p, Caption *c) {
    static const struct {
        const char *name;
        int width, height;
    } sizes[] = {{"16X16", 16, 16}, {"16X8", 16, 8}, {"8X8", 8, 8},
                 {"8X4", 8, 4},     {"4X4", 4, 4},   {"INTRA", 0, 0}};
    int step = 6 * MOTUS_GLYPH_WIDTH * c->scale, y = c->top + PAD, n = sizeof sizes / sizeof *sizes,
        x = c->right - PAD - n * step;
    int height = line_height(c->scale) + 6;
    for (int i = 0; i < n; i++) {
        MotusColor grey = {180, 180, 180};
        motus_canvas_rect(p->canvas, x + i * step, y, step - 4, height,
                          sizes[i].width ? grey : intra, 255);
        if (sizes[i].width)
            motus_canvas_rect(p->canvas, x + i * step, y, step - 4, height, split,
                              tint(sizes[i].width, sizes[i].height));
        motus_canvas_text(p->canvas, x + i * step, y + height + LINE_GAP, c->scale, sizes[i].name,
                          5, ink);
    }
    c->right = x;
}

static void caption(const Pane *p, int top, int scale, int width) {
    Caption c = {top, scale, p->left + width, 0};
    const MotusView *view = p->view;
    char text[160];
    if (p->style <= MOTUS_VIEW_FLOW)
        wheel(p, &c);
    else if (p->style == MOTUS_VIEW_PARTITIONS)
        swatches(p, &c);
    else
        ramp(p, &c);
    say(p, &c, view->name, ink);
    snprintf(text, sizeof text, "picture %d, %zu vectors%s", view->frame, view->n,
             view->has_cost ? " of a search" : "");
    say(p, &c, text, faint);
    if (p->style == MOTUS_VIEW_ARROWS)
        snprintf(text, sizeof text, "colour: direction of movement, lines x%g", p->stretch / 100.0);
    else if (p->style == MOTUS_VIEW_FLOW)
        snprintf(text, sizeof text, "movement, rim: %.3g samples", p->most);
    else if (p->style == MOTUS_VIEW_COST)
        snprintf(text, sizeof text,
                 view->has_cost ? "cost of the search a sample"
                                : "SAD from the picture before a sample");
    else if (p->style == MOTUS_VIEW_BITS)
        snprintf(text, sizeof text, "bits of each vector");
    else
        snprintf(text, sizeof text, "sizes of blocks");
    say(p, &c, text, faint);
}

// ---- Everything ---------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Returns the 95th percentile of all views' blocks, so that outliers do not make the rest pale. 0:
// no memory.
static double scale_of(const MotusView *views, int n, MotusViewStyle style) {
    size_t total = 0, at = 0;
    for (int i = 0; i < n; i++) total += views[i].n;
    double *all = motus_alloc(total ? total : 1, sizeof *all);
    if (!all) return 0;
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < views[i].n; k++) {
            const MotusViewBlock *b = &views[i].blocks[k];
            all[at++] = style == MOTUS_VIEW_FLOW ? hypot(b->mv.x, b->mv.y) / 4 : b->value;
        }
    qsort(all, total, sizeof *all, ascending);
    double most = total ? all[(total - 1) * 95 / 100] : 0;
    motus_free(all);
    return fmax(most, style == MOTUS_VIEW_BITS ? 1 : 0.25);
}

static void draw_pane(const Pane *p) {
    static void (*const draw[MOTUS_VIEW_STYLES])(const Pane *) = {
        draw_arrows, draw_flow, draw_partitions, draw_values, draw_values};
    draw[p->style](p);
}

MotusStatus motus_view_draw(const char *path, const MotusView *views, int n, MotusViewStyle style,
                            int zoom, int stretch, MotusError *error) {
    int width = GAP * (n - 1), height = 0;
    for (int i = 0; i < n; i++)
        width += views[i].width * zoom, height = motus_max(height, views[i].height * zoom);
    int scale = width / n >= SMALL_PANE ? 2 : 1;
    MotusCanvas canvas;
    double most = scale_of(views, n, style);
    MotusStatus status = motus_canvas_alloc(&canvas, width, height + strip_height(scale), paper);
    if (status || most <= 0)
        return motus_canvas_free(&canvas),
               motus_fail(error, MOTUS_ERR_MEMORY, "view: out of memory");
    for (int i = 0, left = 0; i < n; left += views[i].width * zoom + GAP, i++) {
        // Each pane is drawn on a canvas that ends with it, which clips its arrows.
        Pane pane = {&canvas, &views[i], style, left, zoom, stretch, most};
        MotusCanvas own = canvas;
        own.width = left + views[i].width * zoom;
        own.height = views[i].height * zoom;
        pane.canvas = &own;
        draw_pane(&pane);
        motus_canvas_rect(&canvas, left - GAP, 0, i ? GAP : 0, height, paper, 255);
        pane.canvas = &canvas;
        caption(&pane, height, scale, views[i].width * zoom);
    }
    status = motus_png_write(path, &canvas.rgb, 3, error);
    motus_canvas_free(&canvas);
    return status;
}
