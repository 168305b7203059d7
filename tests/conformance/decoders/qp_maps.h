// QP offsets per MB for tests.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_QP_MAPS_H
#define TESTS_DECODERS_QP_MAPS_H

#include <stddef.h>
#include <stdint.h>

typedef enum MotusConformMaps {
    MOTUS_MAPS_NONE,
    MOTUS_MAPS_MIXED,   // mostly small offsets, some that reach any QP
    MOTUS_MAPS_WILD,    // -51..51
    MOTUS_MAPS_EXTREME, // QP 0 beside 51: mb_qp_delta wraps around
    MOTUS_MAPS_ZERO,
} MotusConformMaps;

// Returns QP offsets for n MBs, the same for the same arguments, or NULL for none. Free with
// free().
int8_t *motus_conform_map(MotusConformMaps maps, int number, size_t n);

#endif
