// The same filters on a CUDA device: one upload, all steps, one download or none; several frames
// under way.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTER_FILTERS_CUDA_H
#define TOOLS_FILTER_FILTERS_CUDA_H

#include "tools/filter/filters.h"

typedef struct MotusFiltersCuda MotusFiltersCuda;

// on_device: frames stay in device memory.
MotusStatus motus_filters_cuda_open(MotusFiltersCuda **filters, const MotusFilterList *list,
                                    int width, int height, int on_device, MotusError *error);
int motus_filters_cuda_has_room(const MotusFiltersCuda *filters); // for another frame to send
// background: NULL where no step is a key. Both are copied.
MotusStatus motus_filters_cuda_send(MotusFiltersCuda *filters, const MotusFrame *frame,
                                    const MotusFrame *background, MotusError *error);
// Hands out the oldest frame; see motus_filters_next. MOTUS_END: none is under way.
MotusStatus motus_filters_cuda_receive(MotusFiltersCuda *filters, MotusFrame **frame,
                                       MotusError *error);
int motus_filters_cuda_on_device(const MotusFiltersCuda *filters, void **stream);
void motus_filters_cuda_close(MotusFiltersCuda **filters); // accepts NULL inside

#endif
