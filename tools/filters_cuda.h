// The same filters on a CUDA device: one upload, all steps, one download.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTERS_CUDA_H
#define TOOLS_FILTERS_CUDA_H

#include "tools/filters.h"

typedef struct MotusFiltersCuda MotusFiltersCuda;

MotusStatus motus_filters_cuda_open(MotusFiltersCuda **filters, const MotusFilterList *list, int width, int height,
                                    MotusError *error);
// background: NULL where no step is a key.
MotusStatus motus_filters_cuda_run(MotusFiltersCuda *filters, MotusFrame *out, const MotusFrame *frame,
                                   const MotusFrame *background, MotusError *error);
void motus_filters_cuda_close(MotusFiltersCuda **filters); // accepts NULL inside

#endif
