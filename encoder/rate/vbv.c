// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/vbv.h"

typedef __int128 Wide; // products of bits, rates and times; factors may be near 2^62

enum { CLOCK = 90000 }; // Hz, of the delays in the stream (D.2.2)

int64_t motus_vbv_delay(const MotusVbv *v, int64_t units) {
    return v->unit && units > 0 ? (int64_t)((Wide)units * CLOCK / ((Wide)v->rate * v->unit)) : 0;
}

// Rounds down to what arrives in whole ticks of the clock.
static int64_t in_ticks(const MotusVbv *v, int64_t units) {
    if (!v->unit || units <= 0) return units;
    const Wide arriving = (Wide)motus_vbv_delay(v, units) * v->rate * v->unit;
    return (int64_t)((arriving + CLOCK - 1) / CLOCK);
}

void motus_vbv_open(MotusVbv *v, int64_t rate, int64_t size, MotusRational fps) {
    *v = (MotusVbv){.unit = rate ? fps.num : 0,
                    .size = size * fps.num,
                    .arriving = rate * fps.den,
                    .rate = rate};
    v->fullness = v->size / 10 * 9;
}

// Returns whole bits, rounded down.
static int64_t bits_of(const MotusVbv *v, int64_t units) {
    return units / v->unit - (units % v->unit < 0);
}

int64_t motus_vbv_limit(const MotusVbv *v) { return v->unit ? bits_of(v, v->fullness) : INT64_MAX; }

int64_t motus_vbv_remove(MotusVbv *v, int64_t bits, int64_t duration) {
    if (!v->unit) return INT64_MAX;
    const Wide left = v->fullness - (Wide)bits * v->unit,
               then = left + (Wide)v->arriving * duration, least = -((Wide)1 << 62);
    v->fullness = then > v->size ? v->size : then < least ? (int64_t)least : (int64_t)then;
    return bits_of(v, left < least ? (int64_t)least : (int64_t)left);
}

int64_t motus_vbv_overflow(const MotusVbv *v, int64_t bits, int64_t duration) {
    if (!v->unit) return 0;
    const Wide over = v->fullness - (Wide)bits * v->unit + (Wide)v->arriving * duration - v->size;
    return over > 0 ? (int64_t)((over + v->unit - 1) / v->unit) : 0;
}

void motus_vbv_round(MotusVbv *v) {
    v->size = in_ticks(v, v->size);
    v->fullness = in_ticks(v, v->fullness);
}
