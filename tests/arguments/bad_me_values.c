// Of motus/me.h and motus/me_request.h.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "tests/arguments/values.h"

const MotusMeHints *bad_hints(int n) {
    static MotusMeHints h;
    static MotusMv wild[12];
    h = (MotusMeHints){0};
    for (int i = 0; i < 12; i++) wild[i] = (MotusMv){INT16_MIN, INT16_MAX};
    if (n == 0) h.lambda_q8 = UINT32_MAX;
    if (n == 1) h.centre = wild;
    if (n == 2) h.predictor = wild;
    if (n == 3) h.centre = h.predictor = wild, h.lambda_q8 = UINT32_MAX;
    return &h;
}

const MotusMeJob *bad_job(int n) {
    static MotusMeJob j;
    j = job;
    switch (n) {
    case 0:
        j.cur = NULL;
        break;
    case 1:
        j.ref = NULL;
        break;
    case 2:
        j.cur = bad_plane(0);
        break;
    case 3:
        j.ref = bad_plane(5);
        break;
    case 4:
        j.memory = (MotusMemory)99;
        break;
    case 5:
        j.memory = MOTUS_MEMORY_DEVICE;
        break;
    case 6:
        j.field = NULL;
        break;
    default:
        j.hints = bad_hints(3);
    }
    return &j;
}

const MotusMeCentres *bad_predict(int n) {
    static MotusMeCentres p;
    static const MotusPlane none;
    p = predict;
    switch (n) {
    case 0:
    case 1:
        p.size = n ? SIZE_MAX : 0;
        break;
    case 2:
    case 3:
        p.cur = n == 2 ? NULL : &none;
        break;
    case 4:
        p.reference = NULL;
        break;
    case 5:
        p.reference = empty_reference;
        break;
    case 6:
        p.centre = NULL;
        break;
    case 7:
    case 8:
        p.reach = n == 7 ? INT_MAX : INT_MIN;
        break;
    case 9:
        p.lambda_q8 = UINT32_MAX;
        break;
    case 10:
        p.limit_x = p.limit_y = INT_MIN;
        break;
    default:
        p.memory = p.mvs_memory = (MotusMemory)99;
    }
    return &p;
}

const MotusMeRequest *bad_request(int n) {
    static MotusMeRequest r;
    static MotusMeTarget t;
    static const MotusPlane none;
    r = request;
    t = request.target[0];
    r.target = &t;
    switch (n) {
    case 0:
    case 1:
        r.size = n ? SIZE_MAX : 0;
        break;
    case 2:
    case 3:
        r.target_size = n == 2 ? SIZE_MAX : 0;
        break;
    case 4:
    case 5:
        r.cur = n == 4 ? NULL : &none;
        break;
    case 6:
        r.target = NULL;
        break;
    case 7:
    case 8:
        r.n_targets = n == 7 ? INT_MAX : INT_MIN;
        break;
    case 9:
        r.region = (MotusMeRegion){INT_MAX, INT_MAX, INT_MAX, INT_MAX};
        break;
    case 10:
        r.region = (MotusMeRegion){1, 1, INT_MAX, INT_MAX};
        break;
    case 11:
        r.region = (MotusMeRegion){INT_MIN, -1, INT_MIN, INT_MIN};
        break;
    case 12:
        r.memory = r.hints_memory = r.results_memory = (MotusMemory)99;
        break;
    case 13:
        r.event = r.stream = &r;
        break;
    case 14:
    case 15:
        t.reference = n == 14 ? NULL : empty_reference;
        break;
    case 16:
        t.hints = bad_hints(0);
        break;
    default:
        memset(&r, 0xFF, sizeof r);
    }
    return &r;
}
