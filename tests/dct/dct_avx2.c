// The functions of dct/dct_avx2.h and transform8_avx2.h, compiled for AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/dct/dct_avx2.h"

#include "dct/dct_avx2.h"
#include "dct/dct_mb_core.h"
#include "dct/transform8_avx2.h"

const DctAvx2 dct_avx2 = {forward4x4_avx2,      forward8x8_avx2,     forward16x16_avx2,
                          inverse4x4_add_avx2,  motus_forward_luma,  motus_forward_chroma,
                          motus_dequant_zigzag, forward_block8_avx2, add_block8_avx2};
