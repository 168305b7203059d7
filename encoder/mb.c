// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb.h"

const uint8_t motus_blk_order[16] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
