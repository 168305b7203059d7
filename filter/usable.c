// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"
#include "motus/filter_cuda.h"

MotusStatus motus_cuda_filters_usable(MotusError *error) { return motus_device_check(error); }
