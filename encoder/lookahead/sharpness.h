// Pictures that are sharper than those beside them. Where the source was coded before, these are
// its P pictures: B pictures have coarser quantizer steps. Mini-GOPs that end with the same
// pictures cost fewer bits, since the source's B pictures are near copies of their references.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_SHARPNESS_H
#define ENCODER_LOOKAHEAD_SHARPNESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MOTUS_SHARPNESS_SIDE = 2, // pictures on either side that a picture is compared with
    MOTUS_SHARPNESS_RANGE =
        3, // pictures so near to one of the source's P pictures are judged by it
    MOTUS_SHARPNESS_BEFORE = MOTUS_SHARPNESS_SIDE + MOTUS_SHARPNESS_RANGE,
    MOTUS_SHARPNESS_ONE = 256, // of a picture that is certainly a P picture of the source
    MOTUS_SHARPNESS_MOST = 16, // pictures at once
};

// Fills sign[n] from the pictures' detail: above 0 for pictures that stand out, below 0 for those
// near them, at most MOTUS_SHARPNESS_ONE. detail[-before..n - 1] is read, before:
// 0..MOTUS_SHARPNESS_BEFORE.
// n_mb: of a picture.
void motus_sharpness_signs(int *sign, const uint64_t *detail, int before, int n, int n_mb);

#ifdef __cplusplus
}
#endif
#endif
