// Row functions of the wavelet transform, vectorized by the compiler.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/wavelet/wavelet_tmpl.h"

const MotusWaveletOps motus_wavelet_ops_avx2 = {
    split, split_rows, merge, merge_rows, to_float, to_sample, shrink, quantize, dequantize};
