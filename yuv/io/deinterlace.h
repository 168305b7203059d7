// Deinterlacing by libavfilter's bwdif: one picture out for one in, a picture later.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_DEINTERLACE_H
#define YUV_IO_DEINTERLACE_H

#include <libavutil/frame.h>

typedef struct MotusDeinterlacer MotusDeinterlacer;

// The fields of a frame, which FFmpeg's versions keep in different places.
int motus_is_interlaced(const AVFrame *frame);
void motus_set_interlaced(AVFrame *frame, int top_field_first);

// For frames like `like`, with times in units of time_base. all: also frames that do not say that
// they are interlaced. AVERROR(ENOSYS): this build has no libavfilter, or that no bwdif.
int motus_deinterlacer_open(MotusDeinterlacer **deinterlacer, const AVFrame *like,
                            AVRational time_base, int all);

int motus_deinterlacer_fits(const MotusDeinterlacer *deinterlacer,
                            const AVFrame *frame); // of the size and format it was opened for
int motus_deinterlacer_send(MotusDeinterlacer *deinterlacer,
                            AVFrame *frame); // takes its reference; NULL: no more will come
int motus_deinterlacer_receive(MotusDeinterlacer *deinterlacer,
                               AVFrame *frame); // 0, AVERROR(EAGAIN), AVERROR_EOF...
void motus_deinterlacer_close(MotusDeinterlacer **deinterlacer);

#endif
