// Stands in for deinterlace.c in builds without libavfilter.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <libavutil/error.h>

#include "yuv/io/deinterlace.h"

int motus_deinterlacer_open(MotusDeinterlacer **deinterlacer, const AVFrame *like,
                            AVRational time_base, int all) {
    (void)like;
    (void)time_base;
    (void)all;
    *deinterlacer = NULL;
    return AVERROR(ENOSYS);
}

// None was ever opened.
int motus_deinterlacer_fits(const MotusDeinterlacer *deinterlacer, const AVFrame *frame) {
    return !deinterlacer && frame;
}

int motus_deinterlacer_send(MotusDeinterlacer *deinterlacer, AVFrame *frame) {
    (void)deinterlacer;
    (void)frame;
    return AVERROR(ENOSYS);
}

int motus_deinterlacer_receive(MotusDeinterlacer *deinterlacer, AVFrame *frame) {
    (void)deinterlacer;
    (void)frame;
    return AVERROR(ENOSYS);
}

void motus_deinterlacer_close(MotusDeinterlacer **deinterlacer) { (void)deinterlacer; }
