// Motion estimation straight from its definition, sharing nothing with the library but the list of
// blocks' places, which it derives itself.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ME_ORACLE_H
#define TESTS_ME_ORACLE_H

#include "motus/me_request.h"

// A block's place by the rule of the list: modes from large to small, raster order of corners
// inside a mode.
void oracle_block(int b, int *x, int *y, int *w, int *h);

// Sample at quarter-sample position (qx, qy) of a plane (8.4.2.2.1), edges repeated; whole
// positions are multiples of 4.
int oracle_sample(const MotusPlane *p, int qx, int qy);

uint32_t oracle_sad(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                    MotusMv mv);
uint32_t oracle_satd(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                     MotusMv mv);
uint32_t oracle_vector_cost(uint32_t lambda_q8, MotusMv mv, MotusMv predictor);

typedef struct OracleResult {
    MotusMv mv;
    uint32_t sad, cost;
} OracleResult;

// The result for one block at (x, y) of size w x h.
OracleResult oracle_search(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                           int range, MotusSubpel subpel, MotusMv centre, MotusMv predictor,
                           uint32_t lambda_q8);

// Of the MB at (x, y) in samples: means, energies and the best 16x16 prediction from the plane's
// own samples (8.3.3).
MotusMbStats oracle_stats(const MotusPlane *cur, int x, int y);

#endif
