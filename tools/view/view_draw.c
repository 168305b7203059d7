// Draws views: one pane each, with a legend below.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/view_draw.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"

enum { GAP = 8, SMALL_PANE = 800, USUAL_WIDTH = 1100 };

// One pane of the picture.
typedef struct Pane {
    const MotusCanvas *canvas; // ends with the pane, which clips arrows
    const MotusView *view;
    const MotusViewLayout *layout;
    int left, zoom;
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

MotusColor motus_view_lighter(MotusColor c) {
    return (MotusColor){(uint8_t)(c.r + (255 - c.r) * 3 / 8), (uint8_t)(c.g + (255 - c.g) * 3 / 8),
                        (uint8_t)(c.b + (255 - c.b) * 3 / 8)};
}

void motus_view_arrow(const MotusCanvas *canvas, double x0, double y0, double x1, double y1,
                      int zoom, double grow, MotusColor color) {
    const double thickness = zoom > 1 ? 1.7 : 1.2, length = hypot(x1 - x0, y1 - y0);
    if (length == 0) {
        motus_canvas_disc(canvas, x1, y1, thickness / 2 + (zoom > 1 ? 0.7 : 0.4) + grow, color);
        return;
    }
    // The head takes at most half of the line; a shorter arrow is a head alone.
    const double least = zoom > 1 ? 4 : 3, most = least + 2 * motus_min(zoom, 3),
                 head = fmin(fmax(length / 2, least), most), half = head / 2.2;
    const double dx = (x1 - x0) / length, dy = (y1 - y0) / length;
    const double x = x1 - head * dx, y = y1 - head * dy;
    const double points[3][2] = {
        {x1, y1}, {x - half * dy, y + half * dx}, {x + half * dy, y - half * dx}};
    if (length > head) motus_canvas_line(canvas, x0, y0, x, y, thickness + 2 * grow, color);
    motus_canvas_triangle(canvas, points, grow, color);
}

// Returns an arrow's colour: the direction, or in B pictures the list.
static MotusColor arrow_color(const Pane *p, const MotusViewBlock *b) {
    if (p->view->has_list1) return b->list ? motus_view_list1 : motus_view_list0;
    return b->mv.x || b->mv.y ? motus_view_lighter(motus_flow_color(-b->mv.x, -b->mv.y, 0))
                              : motus_view_white;
}

// Draws a block's movement: from its match in the reference to its centre.
static void arrow(const Pane *p, const MotusViewBlock *b, double grow, const MotusColor *color) {
    double far = p->layout->stretch / 100.0 * p->zoom / 4; // vectors are in quarter samples
    double x = p->left + p->zoom * (b->x + b->width / 2.0) - 0.5,
           y = p->zoom * (b->y + b->height / 2.0) - 0.5;
    const MotusColor c = color ? *color : arrow_color(p, b);
    motus_view_arrow(p->canvas, x + far * b->mv.x, y + far * b->mv.y, x, y, p->zoom, grow, c);
}

static void draw_arrows(const Pane *p) {
    const MotusView *view = p->view;
    draw_picture(p, 32, 160);
    for (size_t i = 0; i < view->n; i++) outline(p, &view->blocks[i], motus_view_black, 90);
    for (size_t i = 0; i < view->n; i++) arrow(p, &view->blocks[i], 0.8, &motus_view_paper);
    for (size_t i = 0; i < view->n; i++) arrow(p, &view->blocks[i], 0, NULL);
}

static void draw_flow(const Pane *p) {
    const MotusView *view = p->view;
    fill(p, 0, 0, view->width, view->height, motus_view_grey, 255);
    for (int list = 1; list >= 0; list--) // list 0 over list 1, whose vectors are reversed
        for (size_t i = 0; i < view->n; i++) {
            const MotusViewBlock *b = &view->blocks[i];
            const int sign = list ? 1 : -1;
            if (b->list == list)
                fill(p, b->x, b->y, b->width, b->height,
                     motus_flow_color(sign * b->mv.x, sign * b->mv.y, 4 * p->layout->most), 255);
        }
}

// True if list 0 has a vector of the same block, which stands before this one in its MB.
static int is_second(const MotusView *view, size_t i) {
    const MotusViewBlock *b = &view->blocks[i];
    for (; b->list && i; i--) {
        const MotusViewBlock *a = &view->blocks[i - 1];
        if (a->x / 16 != b->x / 16 || a->y / 16 != b->y / 16) return 0;
        if (!a->list && a->x == b->x && a->y == b->y) return 1;
    }
    return 0;
}

int motus_view_tint(int width, int height) {
    int area = width * height;
    return area >= 256 ? 0 : area >= 128 ? 60 : area >= 64 ? 110 : area >= 32 ? 160 : 210;
}

static void draw_partitions(const Pane *p) {
    const MotusView *view = p->view;
    draw_picture(p, 70, 240);
    if (view->coded) {
        // Tints all, then restores the MBs that have a vector.
        fill(p, 0, 0, view->width, view->height, motus_view_intra, 130);
        for (size_t i = 0; i < view->n; i++) {
            const MotusViewBlock *b = &view->blocks[i];
            for (int y = b->y; y < motus_min(b->y + b->height, view->height); y++)
                for (int x = b->x; x < motus_min(b->x + b->width, view->width); x++)
                    fill(p, x, y, 1, 1, grey_at(p, x, y, 70, 240), 255);
        }
    }
    for (size_t i = 0; i < view->n; i++) {
        const MotusViewBlock *b = &view->blocks[i];
        if (!is_second(view, i))
            fill(p, b->x, b->y, b->width, b->height, motus_view_split,
                 motus_view_tint(b->width, b->height));
    }
    for (size_t i = 0; i < view->n; i++)
        outline(p, &view->blocks[i], motus_view_black, view->blocks[i].skip ? 60 : 200);
}

static void draw_values(const Pane *p) {
    const MotusView *view = p->view;
    draw_picture(p, 0, 255);
    fill(p, 0, 0, view->width, view->height, motus_view_grey, 120);
    for (size_t i = 0; i < view->n; i++) {
        const MotusViewBlock *b = &view->blocks[i];
        fill(p, b->x, b->y, b->width, b->height, motus_heat_color(b->value / p->layout->most), 215);
    }
    for (size_t i = 0; i < view->n; i++) outline(p, &view->blocks[i], motus_view_black, 70);
}

// ---- Scales -------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Returns how long an arrow is in blocks: its length by that of a line across the block in its
// direction. Arrows of 1 touch.
static double blocks_long(const MotusViewBlock *b) {
    return fmax(abs(b->mv.x) / 4.0 / b->width, abs(b->mv.y) / 4.0 / b->height);
}

static double value_of(const MotusViewBlock *b, MotusViewStyle style) {
    return style == MOTUS_VIEW_ARROWS ? blocks_long(b)
           : style == MOTUS_VIEW_FLOW ? hypot(b->mv.x, b->mv.y) / 4
                                      : b->value;
}

// Returns the value that `percent` of the blocks of all views do not exceed; blocks at rest do not
// count for arrows. -1: no memory.
static double scale_of(const MotusView *views, int n, MotusViewStyle style, int percent) {
    size_t total = 0, at = 0;
    for (int i = 0; i < n; i++) total += views[i].n;
    double *all = motus_alloc(total ? total : 1, sizeof *all);
    if (!all) return -1;
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < views[i].n; k++) {
            all[at] = value_of(&views[i].blocks[k], style);
            at += style != MOTUS_VIEW_ARROWS || all[at] > 0;
        }
    qsort(all, at, sizeof *all, ascending);
    double most = at ? all[(at - 1) * (size_t)percent / 100] : 0;
    motus_free(all);
    return most;
}

// Returns the length of arrows in percent at which nine of ten leave a gap to the next block's.
static int stretch_for(double blocks) {
    static const int steps[] = {800, 600, 400, 300, 200, 150, 100, 75, 50, 35};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * blocks <= 90) return steps[i];
    return 25;
}

MotusStatus motus_view_layout(MotusViewLayout *layout, const MotusView *views, int n, int pictures,
                              MotusViewStyle style, int zoom, int stretch, MotusError *error) {
    MotusViewLayout l = {.style = style, .n = n, .zoom = zoom, .stretch = stretch};
    // The 95th percentile, so that outliers do not make the rest pale.
    double most = scale_of(views, n * pictures, style, style == MOTUS_VIEW_ARROWS ? 90 : 95);
    if (most < 0) return motus_fail(error, MOTUS_ERR_MEMORY, "view: out of memory");
    l.most = fmax(most, style == MOTUS_VIEW_BITS ? 1 : 0.25);
    if (!stretch) l.stretch = style == MOTUS_VIEW_ARROWS ? stretch_for(most) : 100;
    int width[MOTUS_VIEW_PANES] = {0}, samples = 0, strip = 0;
    for (int k = 0; k < n * pictures;
         k++) { // tables without pictures have the size of their blocks
        width[k % n] = motus_max(width[k % n], views[k].width);
        l.sample_height[k % n] = motus_max(l.sample_height[k % n], views[k].height);
    }
    for (int i = 0; i < n; i++) samples += width[i];
    if (!zoom) l.zoom = motus_clip(1, 4, (USUAL_WIDTH + samples / 2) / motus_max(samples, 1));
    for (int i = 0; i < n; i++) {
        l.left[i] = l.width + (i ? GAP : 0);
        l.pane_width[i] = width[i] * l.zoom;
        l.width = l.left[i] + l.pane_width[i];
        l.pane_height = motus_max(l.pane_height, l.sample_height[i] * l.zoom);
    }
    l.text_scale = l.width / n >= SMALL_PANE ? 2 : 1;
    for (int k = 0; k < n * pictures; k++)
        strip = motus_max(strip, motus_view_legend(NULL, &l, &views[k], 0, 0, l.pane_width[k % n]));
    l.height = l.pane_height + strip;
    *layout = l;
    return MOTUS_OK;
}

// ---- Everything ---------------------------------------------------------------------------------

static void draw_pane(const Pane *p) {
    static void (*const draw[MOTUS_VIEW_STYLES])(const Pane *) = {
        draw_arrows, draw_flow, draw_partitions, draw_values, draw_values};
    draw[p->layout->style](p);
}

MotusStatus motus_view_draw(MotusCanvas *canvas, const MotusViewLayout *layout,
                            const MotusView *views, MotusError *error) {
    if (motus_canvas_alloc(canvas, layout->width, layout->height, motus_view_paper))
        return motus_fail(error, MOTUS_ERR_MEMORY, "view: out of memory");
    for (int i = 0; i < layout->n; i++) {
        const int left = layout->left[i];
        MotusCanvas own = *canvas;
        own.width = left + layout->pane_width[i];
        own.height = motus_min(views[i].height * layout->zoom, layout->pane_height);
        draw_pane(&(Pane){&own, &views[i], layout, left, layout->zoom});
        motus_canvas_rect(canvas, left - GAP, 0, i ? GAP : 0, layout->pane_height, motus_view_paper,
                          255);
        motus_view_legend(canvas, layout, &views[i], left, layout->pane_height,
                          layout->pane_width[i]);
    }
    return MOTUS_OK;
}
