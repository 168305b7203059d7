// Which pictures were P pictures of a source that was coded before.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/b_costs.h"

#include <assert.h>

#include "common/int_core.h"

// Excess of a picture's detail over the mean of the pictures around it, 1/1024. In video that was
// never coded, noise makes up to NOISE of it, up to NOISE_MB / sqrt(MBs) in small pictures, and
// motion now and then up to MOTION. More than CHANGE is another scene.
enum { NOISE = 10, NOISE_MB = 200, MOTION = 24, CHANGE = 256 };

// A peak counts in full from RISE above the noise on. From CERTAIN on it counts in full against
// pictures near it whose excess is 0 or less, and not at all against those from DULL on.
enum { RISE = 20, CERTAIN = 40, DULL = 10 };

// Costs of I pictures that rise or fall steadily by FADE / 1024 over 2 FADE_SIDE pictures, or jump
// by FLICKER / 1024: B pictures, which have no weights, are dear then wherever the source has them.
enum { FADE_SIDE = 3, FADE = 64, FLICKER = 40 };

// True if two costs differ by more than part / 1024 of the lesser one.
static int differ(uint64_t a, uint64_t b, int part) {
    const uint64_t least = a < b ? a : b;
    return 1024 * (a - least + b - least) > (uint64_t)part * least;
}

// True if the picture fades or flickers. before, after: pictures around *intra that are known.
static int fades(const uint64_t *intra, int before, int after) {
    const int from = -motus_min(before, FADE_SIDE), to = motus_min(after, FADE_SIDE);
    int rises = to > from, falls = rises;
    if (before && differ(intra[0], intra[-1], FLICKER)) return 1;
    if (after && differ(intra[0], intra[1], FLICKER)) return 1;
    for (int k = from; k < to; k++) {
        rises &= intra[k + 1] >= intra[k];
        falls &= intra[k + 1] <= intra[k];
    }
    return (rises || falls) && differ(intra[from], intra[to], FADE * (to - from) / (2 * FADE_SIDE));
}

// Returns the excess of *detail over the mean of the pictures up to `side` before and after it, or
// DULL if they are too different.
static int excess_of(const uint64_t *detail, int side) {
    uint64_t sum = 0, least = *detail, most = *detail;
    assert(side >= 0);
    for (int k = -side; k <= side; k++) {
        sum += detail[k];
        if (detail[k] < least) least = detail[k];
        if (detail[k] > most) most = detail[k];
    }
    if (!sum || 1024 * (most - least) > CHANGE * least) return DULL;
    return (int)(1024 * (uint64_t)(2 * side + 1) * *detail / sum) - 1024;
}

// Returns the excess beside the next pictures, or beside more of them if it is less: B pictures
// that are references stand out from the next ones only.
static int least_excess(const uint64_t *detail, int side) {
    return motus_min(excess_of(detail, side), excess_of(detail, motus_min(side, 1)) * 3 / 2);
}

static int is_peak(const uint64_t *detail, int side) {
    return side == MOTUS_SHARPNESS_SIDE && detail[0] >= detail[-1] && detail[0] >= detail[1];
}

static int share_of(int peak, int from, int to) {
    return MOTUS_SHARPNESS_ONE * motus_clip(0, to - from, peak - from) / (to - from);
}

static int noise_of(int n_mb) {
    int noise = NOISE;
    while (noise < MOTION && noise * noise * n_mb < NOISE_MB * NOISE_MB) noise++;
    return noise;
}

void motus_sharpness_signs(int *sign, const uint64_t *detail, const uint64_t *intra, int before,
                           int n, int n_mb) {
    enum { EARLIER = MOTUS_SHARPNESS_RANGE, MOST = EARLIER + MOTUS_B_WINDOW };
    const int noise = noise_of(n_mb), first = -motus_min(before, EARLIER);
    int excess_at[MOST] = {0}, peak_at[MOST] = {0};
    int *excess = excess_at + EARLIER, *peak = peak_at + EARLIER;
    assert(n <= MOTUS_B_WINDOW && before >= 0 && before <= MOTUS_SHARPNESS_BEFORE);
    for (int i = first; i < n; i++) {
        const int side = motus_min(MOTUS_SHARPNESS_SIDE, motus_min(i + before, n - 1 - i));
        excess[i] = least_excess(&detail[i], side);
        peak[i] = is_peak(&detail[i], side) ? excess[i] : 0;
    }
    for (int i = 0; i < n; i++) {
        int nearest = 0;
        sign[i] = 0;
        if (fades(&intra[i], i + before, n - 1 - i)) continue;
        for (int k = motus_max(i - EARLIER, first); k <= motus_min(i + EARLIER, n - 1); k++)
            nearest = motus_max(nearest, share_of(peak[k], MOTION, CERTAIN));
        sign[i] = share_of(peak[i], noise, noise + RISE) -
                  nearest * motus_clip(0, DULL, DULL - excess[i]) / DULL;
    }
}
