// SPDX-License-Identifier: BSD-2-Clause
#include "me/estimator.h"

#include "common/int_core.h"
#include "yuv/usable.h"

int motus_me_n_mb(const MotusMe *me) {
    return motus_mbs(me->config.width) * motus_mbs(me->config.height);
}

int motus_me_valid_plane(const MotusMe *me, const MotusPlane *plane) {
    return motus_plane_usable(plane) && plane->width == me->config.width &&
           plane->height == me->config.height;
}

int motus_me_valid_hints(const MotusMe *me, const MotusMeHints *hints) {
    if (!hints) return 1;
    if (hints->lambda_q8 > MOTUS_MAX_LAMBDA_Q8) return 0;
    for (int i = 0; hints->centre && i < motus_me_n_mb(me); i++) {
        MotusMv c = hints->centre[i];
        if ((c.x | c.y) & 3 || motus_abs(c.x) > MOTUS_MAX_CENTRE ||
            motus_abs(c.y) > MOTUS_MAX_CENTRE)
            return 0;
    }
    for (int i = 0; hints->predictor && i < motus_me_n_mb(me); i++)
        if (motus_abs(hints->predictor[i].x) > 8191 || motus_abs(hints->predictor[i].y) > 8191)
            return 0;
    return 1;
}

int motus_me_valid_memory(MotusMemory memory) {
    return memory == MOTUS_MEMORY_HOST || memory == MOTUS_MEMORY_DEVICE;
}

MotusStatus motus_me_failed(const MotusMe *me) {
    return me->backend == MOTUS_BACKEND_CUDA ? me->error.status : MOTUS_OK;
}

MotusStatus motus_me_ready(const MotusMe *me) {
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    return me->submitted - me->received < MOTUS_ME_IN_FLIGHT ? MOTUS_OK : MOTUS_AGAIN;
}
