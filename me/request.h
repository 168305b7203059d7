// Requests: checking them, doing them on the CPU, and bringing a device's results home.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REQUEST_H
#define ME_REQUEST_H

#include "motus/me_request.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether all that can be checked here is in its range.
int motus_request_valid(const MotusMe *me, const MotusMeRequest *request);

// Does a valid request, or puts it on its way on the device.
MotusStatus motus_request_start(MotusMe *me, const MotusMeRequest *request);

// Copies results of n_mb MBs that are complete in `from`, as far as `to` has places for them.
// modes: those of the configuration; mask: per MB, those that are wanted (0: left out), or NULL:
// all.
void motus_target_store(const MotusMeTarget *to, const MotusMeTarget *from, uint32_t modes,
                        const uint8_t *mask, int n_mb);
void motus_stats_store(MotusMbStats *to, const MotusMbStats *from, const uint8_t *mask, int n_mb);

#ifdef __cplusplus
}
#endif
#endif
