// Motion estimation from its definition. It shares no code with the library and derives the list of
// blocks itself.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ME_ORACLE_H
#define TESTS_ME_ORACLE_H

#include "motus/me_request.h"
#include "tests/support/plain_luma.h"

// Returns a block's position: modes from large to small, corners in raster order inside a mode.
void oracle_block(int b, int *x, int *y, int *w, int *h);

uint32_t oracle_sad(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                    MotusMv mv);
uint32_t oracle_satd(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                     MotusMv mv);
uint32_t oracle_vector_cost(uint32_t lambda_q8, MotusMv mv, MotusMv predictor);

typedef struct OracleResult {
    MotusMv mv;
    uint32_t sad, cost;
} OracleResult;

// Fills the results of the blocks of `modes` of the MB at (x, y).
void oracle_search_mb(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int range,
                      MotusSubpel subpel, uint32_t modes, MotusMv centre, MotusMv predictor,
                      uint32_t lambda_q8, OracleResult result[MOTUS_BLOCKS]);

// Returns the result for one block at (x, y) of size w x h. Not for MOTUS_SUBPEL_BEST.
OracleResult oracle_search(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                           int range, MotusSubpel subpel, MotusMv centre, MotusMv predictor,
                           uint32_t lambda_q8);

// Returns the MB's means, energies and best 16x16 prediction from the plane's own samples (8.3.3);
// (x, y) in samples.
MotusMbStats oracle_stats(const MotusPlane *cur, int x, int y);

#endif
