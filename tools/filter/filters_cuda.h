// The filters on a CUDA device: one upload, all steps, one download or none; several frames in
// flight.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTER_FILTERS_CUDA_H
#define TOOLS_FILTER_FILTERS_CUDA_H

#include "tools/filter/filters.h"

typedef struct MotusFiltersCuda MotusFiltersCuda;

// on_device: filtered frames stay in device memory.
MotusStatus motus_filters_cuda_open(MotusFiltersCuda **filters, const MotusFilterList *list,
                                    int width, int height, int on_device, MotusError *error);

// True if another frame may be sent.
int motus_filters_cuda_has_room(const MotusFiltersCuda *filters);

// Copies both frames; background: NULL if no step is a key.
MotusStatus motus_filters_cuda_send(MotusFiltersCuda *filters, const MotusFrame *frame,
                                    const MotusFrame *background, MotusError *error);

// Hands out the oldest frame as motus_filters_next does. MOTUS_END: none is in flight.
MotusStatus motus_filters_cuda_receive(MotusFiltersCuda *filters, MotusFrame **frame,
                                       MotusError *error);
int motus_filters_cuda_on_device(const MotusFiltersCuda *filters, void **stream);
void motus_filters_cuda_close(MotusFiltersCuda **filters); // accepts NULL inside

#endif
