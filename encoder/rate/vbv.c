// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/vbv.h"

// 128 bits for products of sizes and rates: both may be near 2^62 in units.
typedef __int128 Wide;

void motus_vbv_open(MotusVbv *v, int64_t rate, int64_t size, MotusRational fps) {
    *v = (MotusVbv){.unit = rate ? fps.num : 0,
                    .size = size * fps.num,
                    .arriving = rate * fps.den,
                    .rate = rate};
    v->fullness = v->size / 10 * 9;
}

void motus_vbv_change(MotusVbv *v, int64_t rate, int64_t size, MotusRational fps) {
    const int64_t held = motus_vbv_room(v);
    const int was = v->unit != 0;
    motus_vbv_open(v, rate, size, fps);
    if (was) v->fullness = held < size ? held * v->unit : v->size;
}

int64_t motus_vbv_room(const MotusVbv *v) { return v->unit ? v->fullness / v->unit : INT64_MAX; }

int64_t motus_vbv_take(MotusVbv *v, int64_t bits, int64_t duration) {
    if (!v->unit) return INT64_MAX;
    const int64_t held = v->fullness / v->unit - bits;
    v->fullness = held < 0 ? 0 : v->fullness - bits * v->unit;
    const Wide then = v->fullness + (Wide)v->arriving * duration;
    v->fullness = then > v->size ? v->size : (int64_t)then;
    return held;
}

int64_t motus_vbv_over(const MotusVbv *v, int64_t bits, int64_t duration) {
    if (!v->unit) return 0;
    const Wide over = v->fullness - (Wide)bits * v->unit + (Wide)v->arriving * duration - v->size;
    return over > 0 ? (int64_t)((over + v->unit - 1) / v->unit) : 0;
}

uint32_t motus_vbv_removal_delay(const MotusVbv *v) {
    return v->unit ? (uint32_t)((Wide)v->fullness * 90000 / ((Wide)v->rate * v->unit)) : 0;
}

uint32_t motus_vbv_size_delay(const MotusVbv *v) {
    return v->unit ? (uint32_t)((Wide)v->size * 90000 / ((Wide)v->rate * v->unit)) : 0;
}
