// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/conform.h"

#include <stdlib.h>

static int offset_of(MotusConformMaps maps, uint32_t chance) {
    if (maps == MOTUS_MAPS_ZERO) return 0;
    if (maps == MOTUS_MAPS_WILD) return (int)(chance >> 16) % 103 - 51;
    if (maps == MOTUS_MAPS_EXTREME) return chance >> 31 ? 127 : -128;
    return chance >> 28 ? (int)(chance >> 16 & 15) - 8 : (int)(chance >> 16 & 255) - 128;
}

int8_t *motus_conform_map(MotusConformMaps maps, int number, size_t n) {
    int8_t *map = maps ? malloc(n) : NULL;
    uint32_t chance = (uint32_t)number * 2654435761u + 12345;
    if (maps && !map) abort();
    for (size_t i = 0; map && i < n; i++) {
        chance = chance * 1664525 + 1013904223;
        map[i] = (int8_t)offset_of(maps, chance);
    }
    return map;
}
