// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/gops.h"

#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"

MotusStatus motus_gops_open(MotusGops *g, const MotusEncoderConfig *config, MotusError *error) {
    *g = (MotusGops){.device = MOTUS_LOOKAHEAD_HOST};
    MotusStatus status = motus_stream_open(&g->stream, config, error);
    if (status) return status;
    g->looks = g->stream.config.rate != MOTUS_RATE_QP && g->stream.config.scenecut > 0;
    g->stream.look.threads = motus_cpu_threads(config->threads);
    g->stream.look.aq_mode = MOTUS_AQ_OFF; // only costs are asked for
    g->stream.look.mb_tree_q8 = 0;
    g->stream.look.depth = 0;
    return MOTUS_OK;
}

void motus_gops_close(MotusGops *g) {
    motus_lookahead_close(&g->look);
    motus_stream_close(&g->stream);
}

void motus_gops_place(MotusGops *g, const MotusEncoderConfig *config) {
    MotusBackend backend = MOTUS_BACKEND_CPU;
    g->stream.look.threads = motus_cpu_threads(config->threads);
    g->host_will_do = config->backend == MOTUS_BACKEND_AUTO;
    g->device = MOTUS_LOOKAHEAD_HOST;
    if (motus_backend_choose(config->backend, &backend) || backend != MOTUS_BACKEND_CUDA) return;
    if (motus_device_choose(config->device, &g->device, NULL))
        g->device = MOTUS_LOOKAHEAD_HOST; // who codes there says why
}

int64_t motus_gops_length(const MotusGops *g, int64_t n) {
    if (g->looks) return -1;
    return g->stream.config.keyint ? n * g->stream.config.keyint : INT64_MAX;
}

MotusStatus motus_gops_begin(MotusGops *g, MotusError *error) {
    g->since = 0;
    g->gops = 0;
    if (!g->looks) return MOTUS_OK;
    if (!g->look) return motus_gops_look_open(&g->look, g, g->device, error);
    motus_lookahead_next_segment(g->look, 0); // its pictures' numbers do not matter
    return MOTUS_OK;
}

MotusStatus motus_gops_put(MotusGops *g, const MotusFrame *frame, int *begins, MotusError *error) {
    const int keyint = g->stream.config.keyint;
    MotusStatus status = MOTUS_OK;
    if (g->looks)
        status = motus_gops_look(g->look, frame, begins, error);
    else
        *begins = keyint ? g->since % keyint == 0 : !g->since;
    if (status) return status;
    g->since++;
    g->gops += *begins;
    return MOTUS_OK;
}

MotusStatus motus_gops_look_open(MotusLookahead **look, const MotusGops *g, int device,
                                 MotusError *error) {
    MotusError cause = {0};
    MotusStatus status = motus_lookahead_open(look, &g->stream.look, device, &cause);
    if (status && device != MOTUS_LOOKAHEAD_HOST && g->host_will_do)
        status = motus_lookahead_open(look, &g->stream.look, MOTUS_LOOKAHEAD_HOST, &cause);
    return status ? motus_fail(error, status, "look-ahead: %s", cause.text) : MOTUS_OK;
}

MotusStatus motus_gops_look(MotusLookahead *look, const MotusFrame *frame, int *begins,
                            MotusError *error) {
    MotusError cause = {0};
    *begins = 0;              // nobody forces it
    MotusFrame luma = *frame; // chroma without rows is not uploaded
    luma.plane[1].height = luma.plane[2].height = 0;
    const MotusFrameSource source = {.frame = &luma};
    MotusStatus status = motus_lookahead_put(look, &source, begins, &cause);
    return status ? motus_fail(error, status, "look-ahead: %s", cause.text) : MOTUS_OK;
}
