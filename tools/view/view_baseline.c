// The vectors of a Baseline stream to the last 4x4 block, which libavcodec's side data leave out.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/baseline/baseline.h"
#include "tools/view/view.h"

static MotusStatus add_mode(MotusView *view, const MotusParsedMb *mb, int mode, int quarter,
                            int left, int top, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int b = 0; b < MOTUS_BLOCKS && !status; b++) {
        const MotusBlock *k = &motus_blocks[b];
        if (k->mode != mode || (quarter >= 0 && k->y / 8 * 2 + k->x / 8 != quarter)) continue;
        const MotusViewBlock block = {.x = left + k->x,
                                      .y = top + k->y,
                                      .width = k->width,
                                      .height = k->height,
                                      .skip = mb->type == MOTUS_MB_P_SKIP,
                                      .block = MOTUS_VIEW_CODED,
                                      .mv = mb->mv[k->y / 4 * 4 + k->x / 4]};
        status = motus_view_add(view, &block, error);
    }
    return status;
}

static MotusStatus add_mb(MotusView *view, const MotusParsedMb *mb, int left, int top,
                          MotusError *error) {
    static const int modes[] = {MOTUS_MODE_16x16, MOTUS_MODE_16x16, MOTUS_MODE_16x8,
                                MOTUS_MODE_8x16}; // of P_SKIP .. P_8x16
    MotusStatus status = MOTUS_OK;
    if (mb->type < MOTUS_MB_P_8x8) return add_mode(view, mb, modes[mb->type], -1, left, top, error);
    for (int q = 0; q < 4 && !status && mb->type == MOTUS_MB_P_8x8; q++)
        status = add_mode(view, mb, MOTUS_MODE_8x8 + mb->sub_type[q], q, left, top, error);
    return status;
}

MotusStatus motus_view_baseline(MotusView *view, const uint8_t *data, size_t size,
                                MotusError *error) {
    MotusBaseline *stream = NULL;
    MotusParsedPicture picture = {0};
    MotusStatus status = motus_baseline_open(&stream, data, size, NULL);
    for (int n = 0; n <= view->frame && !status; n++)
        status = motus_baseline_next(stream, &picture);
    int fits =
        !status && view->width <= 16 * picture.mb_width && view->height <= 16 * picture.mb_height;
    status = MOTUS_OK; // what is no Baseline stream keeps the blocks it has
    if (fits) view->n = 0, view->left_out = 0;
    for (int i = 0; fits && i < picture.mb_width * picture.mb_height && !status; i++)
        status = add_mb(view, &picture.mb[i], 16 * (i % picture.mb_width),
                        16 * (i / picture.mb_width), error);
    motus_baseline_close(&stream);
    return status;
}
