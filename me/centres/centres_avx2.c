// Search centres by AVX2, 16 points of the downscaled search at a time.
// SPDX-License-Identifier: BSD-2-Clause
#define PARTS 2
#include "me/pixel/vector_tmpl.h"

#include "me/centres/centres_tmpl.h"

const MotusCentreOps motus_centre_ops_avx2 = {search, scale, sad, sads};
