// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/gops.h"

#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"

MotusStatus motus_gops_open(MotusGops *g, const MotusEncoderConfig *config, MotusError *error) {
    *g = (MotusGops){.device = MOTUS_LOOKAHEAD_HOST};
    MotusStatus status = motus_stream_open(&g->stream, config, error);
    if (status) return status;
    g->at_cuts = g->stream.config.rate != MOTUS_RATE_QP && g->stream.config.scenecut > 0;
    g->stream.lookahead.threads = motus_cpu_threads(config->threads);
    g->stream.lookahead.aq_mode = MOTUS_AQ_OFF; // only costs are needed
    g->stream.lookahead.mb_tree_q8 = 0;
    g->stream.lookahead.depth = 0;
    return MOTUS_OK;
}

void motus_gops_close(MotusGops *g) {
    motus_lookahead_close(&g->lookahead);
    motus_stream_close(&g->stream);
}

void motus_gops_use_device(MotusGops *g, const MotusEncoderConfig *config) {
    MotusBackend backend = MOTUS_BACKEND_CPU;
    g->stream.lookahead.threads = motus_cpu_threads(config->threads);
    g->cpu_is_allowed = config->backend == MOTUS_BACKEND_AUTO;
    g->device = MOTUS_LOOKAHEAD_HOST;
    if (motus_backend_choose(config->backend, &backend) || backend != MOTUS_BACKEND_CUDA) return;
    if (motus_device_choose(config->device, &g->device, NULL))
        g->device = MOTUS_LOOKAHEAD_HOST; // the worker reports the error
}

int64_t motus_gops_length(const MotusGops *g, int64_t n) {
    if (g->at_cuts) return -1;
    return g->stream.config.keyint ? n * g->stream.config.keyint : INT64_MAX;
}

MotusStatus motus_gops_begin(MotusGops *g, MotusError *error) {
    g->pictures = 0;
    g->gops = 0;
    if (!g->at_cuts) return MOTUS_OK;
    if (!g->lookahead) return motus_gops_lookahead_open(&g->lookahead, g, g->device, error);
    motus_lookahead_next_segment(g->lookahead, 0); // picture numbers do not matter here
    return MOTUS_OK;
}

MotusStatus motus_gops_add(MotusGops *g, const MotusFrame *frame, int *begins, MotusError *error) {
    const int keyint = g->stream.config.keyint;
    MotusStatus status = MOTUS_OK;
    if (g->at_cuts)
        status = motus_gops_scan(g->lookahead, frame, begins, error);
    else
        *begins = keyint ? g->pictures % keyint == 0 : !g->pictures;
    if (status) return status;
    g->pictures++;
    g->gops += *begins;
    return MOTUS_OK;
}

MotusStatus motus_gops_lookahead_open(MotusLookahead **lookahead, const MotusGops *g, int device,
                                      MotusError *error) {
    MotusError cause = {0};
    MotusStatus status = motus_lookahead_open(lookahead, &g->stream.lookahead, device, &cause);
    if (status && device != MOTUS_LOOKAHEAD_HOST && g->cpu_is_allowed)
        status =
            motus_lookahead_open(lookahead, &g->stream.lookahead, MOTUS_LOOKAHEAD_HOST, &cause);
    return status ? motus_fail(error, status, "look-ahead: %s", cause.text) : MOTUS_OK;
}

MotusStatus motus_gops_scan(MotusLookahead *lookahead, const MotusFrame *frame, int *begins,
                            MotusError *error) {
    MotusError cause = {0};
    *begins = 0;              // no GOP is forced to begin here
    MotusFrame luma = *frame; // chroma without rows is not uploaded
    luma.plane[1].height = luma.plane[2].height = 0;
    const MotusFrameSource source = {.frame = &luma};
    MotusStatus status = motus_lookahead_put(lookahead, &source, begins, &cause);
    return status ? motus_fail(error, status, "look-ahead: %s", cause.text) : MOTUS_OK;
}
