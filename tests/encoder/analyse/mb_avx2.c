// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/analyse/mb_avx2.h"

#include "encoder/analyse/predict_cpu.h"
#include "encoder/intra/intra_modes_cpu.h"

const MbAvx2 mb_avx2 = {motus_chroma_block, motus_intra_fill_plane, motus_ssd_square,
                        motus_satd_block, motus_intra4x4_modes};
