// Rows of images for AVX2: the compiler's vectorizer over the same bodies.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/image_rows.h"

const MotusImageOps motus_image_ops_avx2 = {bytes, floats, luma, chroma, gather};
