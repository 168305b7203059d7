// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/b_order.h"

#include <assert.h>

#include "common/int_core.h"

// Lists the n B pictures from `from` on, between two references. Returns the place behind them.
static MotusBPlace *list(MotusBPlace *place, int from, int n, int level, int levels) {
    if (n < 2 || level > levels) {
        for (int i = 0; i < n; i++) *place++ = (MotusBPlace){from + i, i + 1, n - i, level, 0};
        return place;
    }
    const int middle = (n - 1) / 2;
    *place++ = (MotusBPlace){from + middle, middle + 1, n - middle, level, 1};
    place = list(place, from, middle, level + 1, levels);
    return list(place, from + middle + 1, n - 1 - middle, level + 1, levels);
}

void motus_b_order(MotusBPlace place[MOTUS_MAX_BFRAMES], int n, int levels) {
    assert(n - 1 <= MOTUS_MAX_BFRAMES);
    list(place, 0, n - 1, 1, levels);
}

int motus_b_reorder(int bframes, int levels) {
    MotusBPlace place[MOTUS_MAX_BFRAMES];
    int most = 0;
    for (int n = 2; n <= bframes + 1; n++) {
        motus_b_order(place, n, levels);
        for (int i = 0; i < n - 1; i++) {
            int later = 1; // the P picture
            for (int k = 0; k < i; k++) later += place[k].at > place[i].at;
            most = motus_max(most, later);
        }
    }
    return most;
}
