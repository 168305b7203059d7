// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/gops.h"

#include "common/cpu.h"
#include "common/error.h"

MotusStatus motus_gops_open(MotusGops *g, const MotusEncoderConfig *config, MotusError *error) {
    *g = (MotusGops){0};
    MotusStatus status = motus_stream_open(&g->stream, config, error);
    if (status) return status;
    g->looks = g->stream.config.rate != MOTUS_RATE_QP && g->stream.config.scenecut > 0;
    g->stream.look.threads = motus_cpu_threads(config->threads);
    g->stream.look.aq_mode = MOTUS_AQ_OFF; // only costs are asked for
    g->stream.look.propagation_q8 = 0;
    g->stream.look.depth = 0;
    return MOTUS_OK;
}

void motus_gops_close(MotusGops *g) {
    motus_lookahead_close(&g->look);
    motus_stream_close(&g->stream);
}

int64_t motus_gops_length(const MotusGops *g, int64_t n) {
    if (g->looks) return -1;
    return g->stream.config.keyint ? n * g->stream.config.keyint : INT64_MAX;
}

MotusStatus motus_gops_begin(MotusGops *g) {
    g->since = 0;
    g->gops = 0;
    motus_lookahead_close(&g->look);
    return g->looks ? motus_lookahead_open(&g->look, &g->stream.look, MOTUS_LOOK_HOST, NULL) : MOTUS_OK;
}

int motus_gops_put(MotusGops *g, const MotusPlane *luma) {
    const int keyint = g->stream.config.keyint;
    const int begins = g->looks ? motus_lookahead_put(g->look, luma, 0) : keyint ? g->since % keyint == 0 : !g->since;
    g->since++;
    g->gops += begins;
    return begins;
}
