// Runs a function over all MBs of a picture in an order that respects the neighbours A, B, C and D, on several threads.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_WAVEFRONT_H
#define ENCODER_WAVEFRONT_H

// Calls visit(context, x, y) once for each MB, after the calls for the MBs to the left, above left, above and above right have returned.
// `threads` rows are worked on at a time; the order of independent calls is open.
void motus_wavefront(int mb_width, int mb_height, int threads, void (*visit)(void *context, int x, int y), void *context);

#endif
