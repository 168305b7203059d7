// Until encoder/analyse includes cavlc_warp.cuh.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CAVLC_PLANES_CORE_H
#define ENCODER_BITSTREAM_CAVLC_PLANES_CORE_H

#include "encoder/bitstream/cavlc_warp.cuh"

#endif
