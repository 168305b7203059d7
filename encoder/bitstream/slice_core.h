// What ties the MBs of a slice together (7.3.4): skips, QP, and where an MB's bits begin.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SLICE_CORE_H
#define ENCODER_BITSTREAM_SLICE_CORE_H

#include "encoder/bitstream/cavlc_mb_core.h"

// What is known of a slice before its MBs: made on the host, read where the slice is written.
typedef struct MotusSliceHead {
    uint8_t header[64]; // slice_header(), zeros behind it
    uint32_t header_bits;
    uint8_t nal_header; // nal_ref_idc and nal_unit_type
    uint8_t p_slice, qp;
    uint8_t reserved;
} MotusSliceHead;

// Settles P_Skip: with all vectors final, an inter 16x16 MB without residual is skipped if, and
// only if, it has the skip vector. Only `type` changes, between two kinds that neighbours don't
// tell apart, so that all MBs may be settled at once.
MOTUS_HD void motus_mb_finalize_skip(MotusMb *mb, const MotusNeighbours *neighbours) {
    if (mb->type > MOTUS_MB_P_16x16 || mb->cbp) return;
    mb->type =
        (uint8_t)(motus_mv_equal(mb->mv[0], motus_mb_skip_mv(neighbours)) ? MOTUS_MB_P_SKIP
                                                                          : MOTUS_MB_P_16x16);
}

// QP goes from MB to MB in decoding order (7.4.5), the slice's first. An MB without mb_qp_delta
// takes over `qp_before`, for deblocking; I_PCM lets it pass but is itself deblocked with 0.
MOTUS_HD void motus_mb_finalize_qp(MotusMb *mb, int qp_before) {
    if (!motus_mb_has_qp_delta(mb)) mb->qp = (uint8_t)(mb->type == MOTUS_MB_I_PCM ? 0 : qp_before);
}

// mb_qp_delta, -26..25: QPs are counted modulo 52.
MOTUS_HD int motus_qp_delta(int qp, int qp_before) {
    int delta = qp - qp_before;
    return delta > 25 ? delta - 52 : delta < -26 ? delta + 52 : delta;
}

// How many bits a stretch of the slice has. I_PCM samples begin at a byte: then there are `before`
// bits, zeros up to the next byte and `after` more; without I_PCM `after` is -1. Bit positions in a
// slice stay below 2^31.
typedef struct MotusSpan {
    uint32_t before;
    int32_t after;
} MotusSpan;

MOTUS_HD uint32_t motus_align8(uint32_t at) { return (at + 7) & ~7u; }

// Where a stretch ends that begins at bit `at`.
MOTUS_HD uint32_t motus_span_end(MotusSpan span, uint32_t at) {
    at += span.before;
    return span.after < 0 ? at : motus_align8(at) + (uint32_t)span.after;
}

// `a`, then `b`: associative.
MOTUS_HD MotusSpan motus_span_join(MotusSpan a, MotusSpan b) {
    MotusSpan both = a;
    if (a.after < 0) {
        both.before += b.before;
        both.after = b.after;
    } else {
        both.after += (int32_t)b.before;
        if (b.after >= 0) both.after = (int32_t)motus_align8((uint32_t)both.after) + b.after;
    }
    return both;
}

#endif
