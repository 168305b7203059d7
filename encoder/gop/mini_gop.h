// Order of pictures. Frames come in display order; a mini-GOP, up to `bframes` B pictures and the P
// picture behind them, is coded P picture first. Pictures are held until their mini-GOP is
// complete: it ends after `bframes` B pictures, before an IDR picture, or with the stream; or where
// the lookahead says, with b_adapt. Its B pictures are coded in the order of motus_b_order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_MINI_GOP_H
#define ENCODER_GOP_MINI_GOP_H

#include "encoder/gop/pending.h"
#include "encoder/lookahead/b_order.h"
#include "encoder/picture/ref_lists.h"

typedef struct MotusMiniGop {
    int bframes;
    int adapts;                        // b_adapt: pictures are planned before they are taken
    MotusPendingPicture *first, *last; // held pictures, in display order
    MotusPendingPicture *untyped;      // oldest of them without a type
    int ended;                         // 1: no frames follow in the stream, or in its segment
    int levels;                        // of references among B pictures
    int references;                    // of P pictures, at most
    int b_refs;                        // of list 0 of B pictures, at most
    MotusDirectMode direct;            // of the configuration
    int spatial_references;            // MotusStream's
    int mb_height, refresh_period;     // MotusStream's; period 0: no intra refresh
    int delay; // from coding to showing a picture, in pictures: max_num_reorder_frames
    // State behind the last picture that was taken.
    MotusBPlace b[MOTUS_MAX_BFRAMES]; // the last mini-GOP's B pictures, in coding order
    int n_b, b_taken;
    int has_taken;      // 0: the next one begins the stream, or a segment
    int64_t idr_number; // MotusPictureParams.number of the GOP's IDR picture
    uint32_t since_idr; // pictures of the GOP so far
    uint32_t frame_num; // reference pictures among them
    MotusDpb dpb;
    int32_t shown_p; // `shown` of the newest P or IDR picture
    // Times of pictures in display order, whose turn to be a dts has not come.
    int64_t pts[MOTUS_MAX_BFRAMES + 4];
    int n_pts;
} MotusMiniGop;

// Opens it for a stream.
void motus_mini_gop_open(MotusMiniGop *m, const MotusStream *stream);

// Holds the frame that is shown next.
void motus_mini_gop_put(MotusMiniGop *m, MotusPendingPicture *picture);

// Sets the type of the oldest picture without one, which it returns, in state PLAN now.
MotusPendingPicture *motus_mini_gop_set_type(MotusMiniGop *m, int idr);

// Removes the picture that is coded next, and completes its parameters and its dts. NULL: its place
// depends on frames that have not come.
MotusPendingPicture *motus_mini_gop_take(MotusMiniGop *m);

// Tells that a receiver has lost a picture: P pictures that are taken from now on avoid it. Returns
// 1 if that is possible, 0 if only an IDR picture helps, below 0 if no such picture was taken.
int motus_mini_gop_reference_lost(MotusMiniGop *m, int64_t number);

#endif
