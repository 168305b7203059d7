// The caption and the legend below a view: lines of words and small pictures of what is drawn.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/int_core.h"
#include "tools/view/view_draw.h"

enum { PAD = 8, LINE_GAP = 4, WHEEL_LINES = 3, WORD_LENGTH = 48 };

// A place in the strip, from which words run on and wrap.
typedef struct Pen {
    const MotusCanvas *canvas; // NULL: nothing is drawn
    const MotusViewLayout *layout;
    int left, top, right, x, line;
    int wheel; // width of the colour wheel, right of the first lines
    MotusColor color;
} Pen;

static int line_height(const Pen *p) {
    return MOTUS_GLYPH_HEIGHT * p->layout->text_scale + LINE_GAP;
}
static int letter(const Pen *p) { return MOTUS_GLYPH_WIDTH * p->layout->text_scale; }
static int end_of(const Pen *p) { return p->right - (p->line < WHEEL_LINES ? p->wheel : 0); }
static int y_of(const Pen *p) { return p->top + p->line * line_height(p); }

static void next_line(Pen *p) {
    p->line++;
    p->x = p->left;
}

// Begins a new line if `width` pixels do not fit into this one.
static void make_room(Pen *p, int width) {
    if (p->x > p->left && p->x + width > end_of(p)) next_line(p);
}

static void say(Pen *p, const char *text) {
    char word[WORD_LENGTH];
    while (*(text += strspn(text, " "))) {
        const int n = (int)strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", n, text);
        text += n;
        const int width = motus_canvas_letters(word) * letter(p);
        make_room(p, width);
        if (p->canvas)
            motus_canvas_text(p->canvas, p->x, y_of(p), p->layout->text_scale, word, p->color);
        p->x += width + letter(p);
    }
}

// Writes a name on a line of its own; leaves out its beginning if it is too long.
static void say_name(Pen *p, const char *name) {
    const int space = motus_max((end_of(p) - p->x) / letter(p), 0),
              letters = motus_canvas_letters(name),
              cut = letters > space ? motus_min(letters - space + 3, letters) : 0;
    char text[512];
    for (int i = 0; i < cut; i++) do
            name++;
        while ((*name & 0xC0) == 0x80);
    snprintf(text, sizeof text, "%s%s", cut ? "..." : "", name);
    if (p->canvas)
        motus_canvas_text(p->canvas, p->x, y_of(p), p->layout->text_scale, text, p->color);
    next_line(p);
}

// ---- Small pictures -----------------------------------------------------------------------------

// Takes `width` pixels of the line for a small picture, which the words of its item follow. Returns
// its left edge.
static int begin_item(Pen *p, int width) {
    make_room(p, width + 5 * letter(p));
    const int x = p->x;
    p->x += width + letter(p);
    return x;
}

static void end_item(Pen *p) { p->x += letter(p); }

static void say_item(Pen *p, const char *text) {
    say(p, text);
    end_item(p);
}

static void item_swatch(Pen *p, MotusColor under, MotusColor over, int alpha, const char *text) {
    const int size = 3 * letter(p), x = begin_item(p, size);
    const int height = 7 * p->layout->text_scale;
    if (p->canvas) {
        motus_canvas_rect(p->canvas, x, y_of(p), size, height, under, 255);
        motus_canvas_rect(p->canvas, x, y_of(p), size, height, over, alpha);
    }
    say_item(p, text);
}

static void item_outline(Pen *p, MotusColor color, const char *text) {
    const int size = 7 * p->layout->text_scale, x = begin_item(p, size), y = y_of(p);
    if (p->canvas) {
        motus_canvas_rect(p->canvas, x, y, size, size, motus_view_grey, 255);
        for (int i = 0; i < 2; i++) {
            motus_canvas_rect(p->canvas, x, y + i * (size - 1), size, 1, color, 255);
            motus_canvas_rect(p->canvas, x + i * (size - 1), y, 1, size, color, 255);
        }
    }
    say_item(p, text);
}

static void item_arrow(Pen *p, int length, MotusColor color, const char *text) {
    const int scale = p->layout->text_scale, x = begin_item(p, length + scale);
    const double y = y_of(p) + 3.5 * scale - 0.5;
    if (p->canvas) motus_view_arrow(p->canvas, x + 1, y, x + 1 + length, y, scale + 1, 0, color);
    say_item(p, text);
}

static void item_ramp(Pen *p, const char *text) {
    char most[32];
    const int size = 12 * letter(p);
    snprintf(most, sizeof most, p->layout->most < 10 ? "%.1f+" : "%.0f+", p->layout->most);
    make_room(p, size + 6 * letter(p));
    say(p, "0");
    const int x = begin_item(p, size);
    for (int i = 0; i < size && p->canvas; i++)
        motus_canvas_rect(p->canvas, x + i, y_of(p), 1, 7 * p->layout->text_scale,
                          motus_heat_color((double)i / (size - 1)), 255);
    say(p, most);
    say_item(p, text);
}

// Draws the colours of all directions as a disc, right of the first lines.
static void wheel(const Pen *p) {
    const double radius = (p->wheel - PAD) / 2.0;
    const int flow = p->layout->style == MOTUS_VIEW_FLOW;
    const int middle_x = p->right - (int)radius, middle_y = p->top + (int)radius;
    for (int y = (int)-radius; y <= radius; y++)
        for (int x = (int)-radius; x <= radius; x++)
            if (hypot(x, y) <= radius)
                motus_canvas_dot(p->canvas, middle_x + x, middle_y + y,
                                 flow ? motus_flow_color(x, y, radius)
                                      : motus_view_lighter(motus_flow_color(x, y, 0)),
                                 255);
}

// ---- Legends ------------------------------------------------------------------------------------

static void legend_arrows(Pen *p, const MotusView *view) {
    char text[96];
    const double times = p->layout->stretch / 100.0;
    snprintf(text, sizeof text, "from where a block was to where it is");
    if (p->layout->stretch != 100)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", length x%g", times);
    item_arrow(p, 4 * letter(p), p->color, text);
    if (!view->has_list1) item_arrow(p, 0, motus_view_white, "at rest");
    item_outline(p, motus_view_black, "block");
    if (view->has_list1) {
        item_arrow(p, 4 * letter(p), motus_view_list0, "list 0: earlier picture");
        item_arrow(p, 4 * letter(p), motus_view_list1, "list 1: later picture");
    } else {
        say_item(p, "colour: direction");
    }
    if (view->coded) say_item(p, view->is_stream ? "no arrow: intra" : "no arrow: no vector");
}

static void legend_flow(Pen *p, const MotusView *view) {
    char text[96];
    snprintf(text, sizeof text, "colour: direction, full at %.3g samples, then darker",
             p->layout->most);
    say_item(p, text);
    item_swatch(p, motus_view_white, motus_view_white, 0, "at rest");
    if (view->coded)
        item_swatch(p, motus_view_grey, motus_view_grey, 0,
                    view->is_stream ? "intra" : "no vector");
}

static void legend_partitions(Pen *p, const MotusView *view) {
    static const struct {
        const char *name;
        int width, height;
    } sizes[] = {
        {"16x16", 16, 16}, {"16x8 8x16", 16, 8}, {"8x8", 8, 8}, {"8x4 4x8", 8, 4}, {"4x4", 4, 4}};
    const MotusColor grey = {180, 180, 180};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        item_swatch(p, grey, motus_view_split, motus_view_tint(sizes[i].width, sizes[i].height),
                    sizes[i].name);
    if (!view->coded) return;
    item_swatch(p, grey, motus_view_intra, 130, view->is_stream ? "intra" : "no vector");
    item_outline(p, (MotusColor){98, 98, 98},
                 view->has_list1 ? "faint outline: B_Skip" : "faint outline: P_Skip");
}

static void legend_values(Pen *p, const MotusView *view) {
    item_ramp(p, p->layout->style == MOTUS_VIEW_BITS ? "bits of a vector"
                 : view->has_cost                    ? "cost of the search a sample"
                                                     : "SAD from the picture before, a sample");
    item_outline(p, motus_view_black, "block");
    if (view->coded)
        item_swatch(p, motus_view_grey, motus_view_grey, 0,
                    view->is_stream ? "intra" : "no vector");
}

int motus_view_legend(const MotusCanvas *canvas, const MotusViewLayout *layout,
                      const MotusView *view, int left, int top, int width) {
    static void (*const legends[MOTUS_VIEW_STYLES])(Pen *, const MotusView *) = {
        legend_arrows, legend_flow, legend_partitions, legend_values, legend_values};
    Pen p = {.canvas = canvas,
             .layout = layout,
             .left = left + PAD,
             .x = left + PAD,
             .top = top + PAD,
             .right = left + width - PAD,
             .color = motus_view_ink};
    char text[96];
    if (layout->style == MOTUS_VIEW_FLOW ||
        (layout->style == MOTUS_VIEW_ARROWS && !view->has_list1))
        p.wheel = WHEEL_LINES * line_height(&p) - LINE_GAP + PAD;
    if (canvas && p.wheel) wheel(&p);
    say_name(&p, view->name);
    p.color = motus_view_faint;
    snprintf(text, sizeof text, "picture %d, %zu vectors%s", canvas ? view->frame : 99999,
             canvas ? view->n : 99999, view->has_cost ? " of a search" : "");
    say(&p, text);
    next_line(&p);
    legends[layout->style](&p, view);
    const int lines = motus_max(p.line + 1, p.wheel ? WHEEL_LINES : 0);
    return lines * line_height(&p) - LINE_GAP + 2 * PAD;
}
