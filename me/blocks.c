// SPDX-License-Identifier: BSD-2-Clause
#include "motus/me.h"

// {x, y, width, height, mode}
const MotusBlock motus_blocks[MOTUS_BLOCKS] = {
    {0, 0, 16, 16, MOTUS_MODE_16x16}, {0, 0, 16, 8, MOTUS_MODE_16x8}, {0, 8, 16, 8, MOTUS_MODE_16x8},
    {0, 0, 8, 16, MOTUS_MODE_8x16},   {8, 0, 8, 16, MOTUS_MODE_8x16}, {0, 0, 8, 8, MOTUS_MODE_8x8},
    {8, 0, 8, 8, MOTUS_MODE_8x8},     {0, 8, 8, 8, MOTUS_MODE_8x8},   {8, 8, 8, 8, MOTUS_MODE_8x8},
    {0, 0, 8, 4, MOTUS_MODE_8x4},     {8, 0, 8, 4, MOTUS_MODE_8x4},   {0, 4, 8, 4, MOTUS_MODE_8x4},
    {8, 4, 8, 4, MOTUS_MODE_8x4},     {0, 8, 8, 4, MOTUS_MODE_8x4},   {8, 8, 8, 4, MOTUS_MODE_8x4},
    {0, 12, 8, 4, MOTUS_MODE_8x4},    {8, 12, 8, 4, MOTUS_MODE_8x4},  {0, 0, 4, 8, MOTUS_MODE_4x8},
    {4, 0, 4, 8, MOTUS_MODE_4x8},     {8, 0, 4, 8, MOTUS_MODE_4x8},   {12, 0, 4, 8, MOTUS_MODE_4x8},
    {0, 8, 4, 8, MOTUS_MODE_4x8},     {4, 8, 4, 8, MOTUS_MODE_4x8},   {8, 8, 4, 8, MOTUS_MODE_4x8},
    {12, 8, 4, 8, MOTUS_MODE_4x8},    {0, 0, 4, 4, MOTUS_MODE_4x4},   {4, 0, 4, 4, MOTUS_MODE_4x4},
    {8, 0, 4, 4, MOTUS_MODE_4x4},     {12, 0, 4, 4, MOTUS_MODE_4x4},  {0, 4, 4, 4, MOTUS_MODE_4x4},
    {4, 4, 4, 4, MOTUS_MODE_4x4},     {8, 4, 4, 4, MOTUS_MODE_4x4},   {12, 4, 4, 4, MOTUS_MODE_4x4},
    {0, 8, 4, 4, MOTUS_MODE_4x4},     {4, 8, 4, 4, MOTUS_MODE_4x4},   {8, 8, 4, 4, MOTUS_MODE_4x4},
    {12, 8, 4, 4, MOTUS_MODE_4x4},    {0, 12, 4, 4, MOTUS_MODE_4x4},  {4, 12, 4, 4, MOTUS_MODE_4x4},
    {8, 12, 4, 4, MOTUS_MODE_4x4},    {12, 12, 4, 4, MOTUS_MODE_4x4},
};
