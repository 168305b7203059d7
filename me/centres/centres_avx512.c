// Search centres by AVX-512, 32 points of the downscaled search at a time.
// SPDX-License-Identifier: BSD-2-Clause
#define PARTS 4
#include "me/pixel/vector_tmpl.h"

#include "me/centres/centres_tmpl.h"

const MotusCentreOps motus_centre_ops_avx512 = {search, scale, sad, sads};
