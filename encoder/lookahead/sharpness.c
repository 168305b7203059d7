// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/sharpness.h"

#include <assert.h>

#include "common/int_core.h"

// Excess of a picture's detail over the mean of the pictures around it, 1/1024. In video that was
// never coded, motion and noise make up to NOISE of it. More than CHANGE is another scene.
enum { NOISE = 24, CERTAIN = 40, CHANGE = 123 };

// A picture beside a peak, at most RANGE pictures away, counts in full as none of the source's P
// pictures if its excess is 0 or less, and not at all from DULL on.
enum { RANGE = 3, DULL = 10 };

// Returns the excess of *detail over the mean of the pictures up to `side` before and after it.
static int excess_of(const uint64_t *detail, int side) {
    uint64_t sum = 0;
    for (int k = -side; k <= side; k++) sum += detail[k];
    if (!sum) return 0;
    const int64_t excess = (int64_t)(1024 * (uint64_t)(2 * side + 1) * *detail / sum) - 1024;
    return excess < -CHANGE || excess > CHANGE ? 0 : (int)excess;
}

// Returns how much *detail stands out, 0..MOTUS_SHARPNESS_ONE. Beside the next pictures alone it
// must do so as well: in a pyramid, B pictures that are references stand out from others.
static int peak_of(const uint64_t *detail, int side) {
    if (side < 1 || detail[0] < detail[-1] || detail[0] < detail[1]) return 0;
    const int excess = motus_min(excess_of(detail, side), excess_of(detail, 1) * 3 / 2);
    return MOTUS_SHARPNESS_ONE * motus_clip(0, CERTAIN - NOISE, excess - NOISE) / (CERTAIN - NOISE);
}

void motus_sharpness_signs(int *sign, const uint64_t *detail, int before, int n) {
    int excess[MOTUS_SHARPNESS_MOST], peak[MOTUS_SHARPNESS_MOST];
    assert(n <= MOTUS_SHARPNESS_MOST);
    for (int i = 0; i < n; i++) {
        const int side = motus_min(MOTUS_SHARPNESS_SIDE, motus_min(i + before, n - 1 - i));
        excess[i] = excess_of(&detail[i], side);
        peak[i] = peak_of(&detail[i], side);
    }
    for (int i = 0; i < n; i++) {
        int nearest = 0;
        for (int k = motus_max(i - RANGE, 0); k <= motus_min(i + RANGE, n - 1); k++)
            nearest = motus_max(nearest, peak[k]);
        sign[i] = peak[i] - nearest * motus_clip(0, DULL, DULL - excess[i]) / DULL;
    }
}
