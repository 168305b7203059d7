// Deinterlacing by libavfilter's bwdif: one picture out for one in, a picture later.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_DEINTERLACE_H
#define YUV_IO_DEINTERLACE_H

#include <libavutil/frame.h>

typedef struct MotusDeinterlacer MotusDeinterlacer;

// Access a frame's interlacing, which FFmpeg's versions keep in different members.
int motus_is_interlaced(const AVFrame *frame);
void motus_set_interlaced(AVFrame *frame, int top_field_first);

// Opens a deinterlacer for frames like `like`, with times in units of time_base. all: also frames
// that are not marked as interlaced. AVERROR(ENOSYS): there is no libavfilter, or no bwdif in it.
int motus_deinterlacer_open(MotusDeinterlacer **deinterlacer, const AVFrame *like,
                            AVRational time_base, int all);

// True if the frame has the size and format that the deinterlacer was opened for.
int motus_deinterlacer_fits(const MotusDeinterlacer *deinterlacer, const AVFrame *frame);

// Takes the frame's reference over; NULL: no more will come. Returns 0 or AVERROR.
int motus_deinterlacer_send(MotusDeinterlacer *deinterlacer, AVFrame *frame);

// Returns 0, AVERROR(EAGAIN), AVERROR_EOF or another error.
int motus_deinterlacer_receive(MotusDeinterlacer *deinterlacer, AVFrame *frame);
void motus_deinterlacer_close(MotusDeinterlacer **deinterlacer);

#endif
