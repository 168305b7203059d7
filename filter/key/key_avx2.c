// Row functions of the chroma key, vectorized by the compiler.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/key/key_tmpl.h"

const MotusKeyOps motus_key_ops_avx2 = {split, join,           weights, weights_yuv, unspill,
                                        halve, unspill_chroma, mix,     from_yuv};
