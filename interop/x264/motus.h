// Search by libmotus (--me motus): exhaustive, once per picture and reference, before the picture's
// first macroblock. x264 compares the vectors with its own candidates and refines the best.
// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef X264_ENCODER_MOTUS_H
#define X264_ENCODER_MOTUS_H

#include "me.h"

#define x264_motus_open x264_template(motus_open)
#define x264_motus_close x264_template(motus_close)
#define x264_motus_frame_delete x264_template(motus_frame_delete)
#define x264_motus_source x264_template(motus_source)
#define x264_motus_search x264_template(motus_search)
#define x264_motus_mv x264_template(motus_mv)

// Opens h->motus for h->param. Returns -1 with a message in the log.
int x264_motus_open(x264_t *h);

// Closes h->motus and sets it to NULL.
void x264_motus_close(x264_t *h);

// Frees what this file keeps for a frame.
void x264_motus_frame_delete(x264_frame_t *frame);

// With --motus-ref source, takes the source picture of h->fdec as the later reference. Called in
// coding order, before the threads that search it are started.
void x264_motus_source(x264_t *h);

// Searches the references of the current P or B picture; with frame threads and --motus-ref recon,
// waits until they are complete. A failure is logged: the picture's MBs then use hex.
void x264_motus_search(x264_t *h);

// Gets the MV of the block that `m` describes, in quarter samples. Returns 0 if it was not
// searched.
int x264_motus_mv(x264_t *h, const x264_me_t *m, int16_t mv[2]);

#endif
