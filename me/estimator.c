// SPDX-License-Identifier: BSD-2-Clause
#include "me/estimator.h"

#include <inttypes.h>

#include "common/error.h"
#include "common/int_core.h"
#include "yuv/usable.h"

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

int motus_me_n_mb(const MotusMe *me) {
    return motus_mbs(me->config.width) * motus_mbs(me->config.height);
}

MotusStatus motus_me_check_plane(const MotusMe *me, const MotusPlane *p, const char *name,
                                 MotusError *error) {
    if (!p) REFUSE("%s is NULL", name);
    if (!p->data) REFUSE("%s.data is NULL", name);
    if (p->width != me->config.width || p->height != me->config.height)
        REFUSE("%s is %dx%d, must be %dx%d", name, p->width, p->height, me->config.width,
               me->config.height);
    if (!motus_plane_usable(p))
        REFUSE("%s.stride is %td, must be at least the width, %d", name, p->stride, p->width);
    return MOTUS_OK;
}

MotusStatus motus_me_check_memory(MotusMemory memory, const char *name, MotusError *error) {
    if (memory == MOTUS_MEMORY_HOST || memory == MOTUS_MEMORY_DEVICE) return MOTUS_OK;
    REFUSE("%s is %d, must be MOTUS_MEMORY_HOST (%d) or MOTUS_MEMORY_DEVICE (%d)", name,
           (int)memory, (int)MOTUS_MEMORY_HOST, (int)MOTUS_MEMORY_DEVICE);
}

MotusStatus motus_me_check_host(const MotusMe *me, MotusMemory memory, const char *name,
                                MotusError *error) {
    if (memory == MOTUS_MEMORY_HOST || me->backend == MOTUS_BACKEND_CUDA) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s is device memory, which the CPU cannot use",
                      name);
}

MotusStatus motus_me_check_lambda(uint32_t lambda_q8, const char *name, MotusError *error) {
    if (lambda_q8 > MOTUS_MAX_LAMBDA_Q8)
        REFUSE("%s is %" PRIu32 ", must be 0..%d", name, lambda_q8, (int)MOTUS_MAX_LAMBDA_Q8);
    return MOTUS_OK;
}

MotusStatus motus_me_check_mvs(const MotusMv *mv, int n, int most, int whole, const char *name,
                               MotusError *error) {
    for (int i = 0; mv && i < n; i++)
        if (motus_abs(mv[i].x) > most || motus_abs(mv[i].y) > most ||
            (whole && (mv[i].x | mv[i].y) & 3))
            REFUSE("%s[%d] is (%d, %d), must be %swithin +-%d", name, i, mv[i].x, mv[i].y,
                   whole ? "multiples of 4 " : "", most);
    return MOTUS_OK;
}

MotusStatus motus_me_check_hints(const MotusMe *me, const MotusMeHints *hints, MotusMemory memory,
                                 MotusError *error) {
    if (!hints) return MOTUS_OK;
    MotusStatus status = motus_me_check_lambda(hints->lambda_q8, "hints.lambda_q8", error);
    if (status || memory == MOTUS_MEMORY_DEVICE) return status;
    const int n = motus_me_n_mb(me);
    status = motus_me_check_mvs(hints->centre, n, MOTUS_MAX_CENTRE, 1, "hints.centre", error);
    if (status) return status;
    return motus_me_check_mvs(hints->predictor, n, MOTUS_ME_MAX_MV, 0, "hints.predictor", error);
}

MotusStatus motus_me_begin_call(MotusMe *me) {
    if (!me) return MOTUS_ERR_ARGUMENT;
    me->refused.status = MOTUS_OK;
    return me->backend == MOTUS_BACKEND_CUDA ? me->error.status : MOTUS_OK;
}

MotusStatus motus_me_ready(const MotusMe *me) {
    return me->submitted - me->received < MOTUS_ME_IN_FLIGHT ? MOTUS_OK : MOTUS_AGAIN;
}
