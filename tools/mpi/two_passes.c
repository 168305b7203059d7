// A bitrate by many ranks: a first pass at a CRF says what pictures cost, and a second one shares
// the bits out, in which no GOP asks what others took. So the stream is the same for any number of
// ranks, and the one of motus encode --crf N --pass 1 and --bitrate KBPS --pass 2.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/int_core.h"
#include "encoder/rate/log2_core.h"
#include "tools/cli/cmd.h"
#include "tools/mpi/master.h"

#define FIRST_CRF 23.0
#define NEAR                                                                                       \
    (5 * MOTUS_QP_UNIT) // what a log tells about QPs that are farther away than that misses the
                        // rate by percents

static const char *const kinds[] = {"pass1", "pass1-again"};

void motus_mpi_beside(char *name, const char *output, const char *kind) {
    snprintf(name, PATH_MAX, "%s.motus-%s", output, kind);
}

// The CRF of a first pass whose QPs are those that the rate will take; below 0: the one at hand is
// near enough.
static double better_crf(const MotusMpiPass *pass, int64_t bitrate) {
    MotusEncoderConfig c = pass->config;
    MotusStream s = {0};
    MotusRate rate;
    c.rate = MOTUS_RATE_BITRATE, c.bitrate = bitrate, c.pass = 2, c.pass_log = pass->log;
    if (motus_stream_open(&s, &c, NULL)) return -1; // the second pass says why
    motus_rate_open(&rate, &s.control);
    const int off = rate.log_qp_q8 - s.control.crf_q8;
    motus_stream_close(&s);
    const int at = (int)c.crf, better = motus_clip(0, 51, at + off / MOTUS_QP_UNIT);
    return abs(off) <= NEAR || better == at ? -1 : better;
}

// Leaves the log in *pass.
static int first_passes(MotusLink *link, const MotusEncodeOptions *options,
                        const MotusMpiOptions *own, MotusMpiPass *pass) {
    MotusEncodeOptions o = *options;
    int status = MOTUS_EXIT_OK;
    o.config.rate = MOTUS_RATE_CRF, o.config.pass = 1;
    o.config.crf = FIRST_CRF;
    for (int i = 0; i < 2 && status == MOTUS_EXIT_OK && o.config.crf >= 0; i++) {
        free(pass->log);
        *pass = (MotusMpiPass){.journal = kinds[i], .first = 1, .more = 1};
        if (!o.quiet) motus_warn("note: first pass, CRF %g", o.config.crf);
        status = motus_mpi_run_pass(link, &o, own, pass);
        if (status == MOTUS_EXIT_OK) o.config.crf = better_crf(pass, options->config.bitrate);
    }
    return status;
}

int motus_mpi_two_passes(MotusLink *link, const MotusEncodeOptions *options,
                         const MotusMpiOptions *own) {
    MotusMpiPass pass = {0};
    MotusEncodeOptions o = *options;
    int status = first_passes(link, options, own, &pass);
    if (status == MOTUS_EXIT_OK) {
        o.config.pass = 2, o.config.pass_log = pass.log;
        pass.journal = "journal", pass.first = pass.more = 0;
        status = motus_mpi_run_pass(link, &o, own, &pass);
    }
    for (int i = 0; i < 2 && status == MOTUS_EXIT_OK; i++) {
        char name[PATH_MAX];
        motus_mpi_beside(name, o.outputs.stream, kinds[i]);
        unlink(name);
    }
    free(pass.log);
    return status;
}
