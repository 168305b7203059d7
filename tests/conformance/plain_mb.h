// Reconstruction of one MB, plainly: prediction by the definition, one sample at a time (8.3,
// 8.4.2.2), and its residual. For tests of the syntax; decoders judge both.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_PLAIN_MB_H
#define TESTS_PLAIN_MB_H

#include "encoder/mb/coded_mbs.h"

// Reconstructs MB i of a P or B picture into rec. refs: the mbs->refs
// ones of list 0, then that of list 1, deblocked. Intra16x16 and Intra4x4
// may have modes vertical, horizontal and DC, chroma all but plane; Intra4x4 no 8x8 transform.
void plain_mb_reconstruct(MotusFrame *rec, const MotusCodedMbs *mbs, int i,
                          const MotusFrame *const refs[]);

#endif
