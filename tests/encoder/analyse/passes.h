// A synchronous encoder made of the picture passes alone. Tests use it to code single pictures with
// given QPs and QP maps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_PASSES_H
#define TESTS_PASSES_H

#include "encoder/bitstream/headers.h"
#include "encoder/decide/decide.h"
#include "me/me_cpu.h"

typedef struct Passes {
    MotusEncoderConfig config;
    MotusSequenceSettings sequence;
    MotusEffort effort;
    MotusInterLimits limits;
    int mb_width, mb_height;
    MotusPictureState pic;
    MotusMeCpu *me;
    MotusField *field;
    MotusRefLuma ref_luma;
    MotusMv *centre, *last_mv;
    int has_last_mv, since_idr, idrs;
    MotusQp qp_table[52];
    MotusFrame *src, *rec, *ref; // of whole MBs
    uint8_t *rbsp, *stream;      // stream: the last access unit
    size_t rbsp_capacity, size;
    MotusPictureStats stats; // of the last picture, ssd over whole MBs
} Passes;

// Opens the passes; aborts without memory. Of `config` it uses size, fps, preset, range,
// partitions, subpel, deblock and threads.
void passes_open(Passes *p, const MotusEncoderConfig *config);
void passes_close(Passes *p);

// Codes a frame of the visible size into p->stream; `offset` is per MB or NULL. The reconstruction
// is p->ref.
void passes_code(Passes *p, const MotusFrame *frame, int idr, int qp, const int8_t *offset);

#endif
