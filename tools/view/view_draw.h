// A pane of the drawn picture, and what its drawing and its legend share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_VIEW_DRAW_H
#define TOOLS_VIEW_VIEW_DRAW_H

#include "tools/view/canvas.h"
#include "tools/view/view.h"

static const MotusColor motus_view_paper = {24, 24, 27}, motus_view_ink = {228, 228, 231},
                        motus_view_faint = {161, 161, 170}, motus_view_grey = {128, 128, 128},
                        motus_view_intra = {86, 180, 233}, motus_view_split = {230, 159, 0},
                        motus_view_list0 = {253, 190, 60}, motus_view_list1 = {100, 190, 255},
                        motus_view_black = {0, 0, 0}, motus_view_white = {255, 255, 255};

// Mixes a colour with white: blue and violet are dark over a picture.
MotusColor motus_view_lighter(MotusColor color);

// Returns the alpha of a block's tint in style partitions: the smaller the block, the stronger.
int motus_view_tint(int width, int height);

// Draws an arrow from (x0, y0) to (x1, y1), a dot if they are the same. `grow` widens it all
// around.
void motus_view_arrow(const MotusCanvas *canvas, double x0, double y0, double x1, double y1,
                      int zoom, double grow, MotusColor color);

// Draws a pane's caption and legend, whose left upper corner is (left, top), and returns its
// height. canvas NULL: only returns the height, with space for the largest numbers.
int motus_view_legend(const MotusCanvas *canvas, const MotusViewLayout *layout,
                      const MotusView *view, int left, int top, int width);

#endif
