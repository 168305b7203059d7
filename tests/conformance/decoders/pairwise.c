// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/conform.h"

#include <stdint.h>
#include <string.h>

typedef struct Cover {
    int axes;
    const int *sizes;
    uint32_t random;
    uint8_t seen[MOTUS_MAX_AXES][MOTUS_MAX_VALUES][MOTUS_MAX_AXES][MOTUS_MAX_VALUES];
} Cover;

static int pick(Cover *cover, int n) {
    cover->random = cover->random * 1664525u + 1013904223u;
    return (int)((cover->random >> 8) % (uint32_t)n);
}

// Returns the number of new pairs that `value` on `axis` makes with the row's axes that are set
// (not -1).
static int new_pairs(const Cover *cover, const int *row, int axis, int value) {
    int n = 0;
    for (int other = 0; other < cover->axes; other++)
        if (other != axis && row[other] >= 0) n += !cover->seen[axis][value][other][row[other]];
    return n;
}

// Sets the row's axes one by one from a random one on, each to its best value; returns the number
// of new pairs.
static int fill(Cover *cover, int *row) {
    int total = 0;
    const int first = pick(cover, cover->axes);
    for (int i = 0; i < cover->axes; i++) row[i] = -1;
    for (int i = 0; i < cover->axes; i++) {
        const int axis = (first + i) % cover->axes, from = pick(cover, cover->sizes[axis]);
        int best = -1;
        for (int k = 0; k < cover->sizes[axis]; k++) {
            const int value = (from + k) % cover->sizes[axis],
                      won = new_pairs(cover, row, axis, value);
            if (won <= best) continue;
            best = won;
            row[axis] = value;
        }
        total += best;
    }
    return total;
}

static void mark(Cover *cover, const int *row) {
    for (int a = 0; a < cover->axes; a++)
        for (int b = 0; b < cover->axes; b++) cover->seen[a][row[a]][b][row[b]] = 1;
}

int motus_pairwise(int axes, const int *sizes, int (*rows)[MOTUS_MAX_AXES], int most) {
    Cover cover = {axes, sizes, 1, {{{{0}}}}};
    int left = 0, n = 0;
    for (int a = 0; a < axes; a++)
        for (int b = 0; b < a; b++) left += sizes[a] * sizes[b];
    while (left > 0) {
        int best[MOTUS_MAX_AXES], won = 0;
        for (int attempt = 0; attempt < 60 || won == 0; attempt++) {
            int row[MOTUS_MAX_AXES];
            const int gained = fill(&cover, row);
            if (gained <= won) continue;
            won = gained;
            memcpy(best, row, sizeof best);
        }
        mark(&cover, best);
        if (n < most) memcpy(rows[n], best, sizeof best);
        n++;
        left -= won;
    }
    return n;
}
