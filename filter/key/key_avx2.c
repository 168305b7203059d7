// Chroma key rows for AVX2: the compiler's vectorizer over the same bodies.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/key/key_tmpl.h"

const MotusKeyOps motus_key_ops_avx2 = {split, join,           weights, weights_yuv, unspill,
                                        halve, unspill_chroma, mix,     from_yuv};
