// motus-mpi encode on rank 0. A bitrate takes two passes: a first one at a CRF measures the
// pictures, a second one distributes the bits from its log alone. So the stream does not depend on
// the number of ranks and equals that of motus encode --crf N --pass 1 and --bitrate KBPS --pass 2.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/int_core.h"
#include "common/log2_core.h"
#include "tools/cli/cmd.h"
#include "tools/mpi/master.h"

#define FIRST_CRF 23.0
// A log made at QPs farther away than this misses the rate by percents.
#define MAX_QP_DISTANCE (5 * MOTUS_QP_UNIT)

static const char *const first_pass_journals[] = {"pass1", "pass1-again"};

// Returns the CRF whose QPs are about those of the bitrate, or -1 if the pass was near enough.
static double better_crf(const MotusMpiPass *pass, int64_t bitrate) {
    MotusEncoderConfig c = pass->config;
    MotusStream s = {0};
    MotusRate rate;
    c.rate = MOTUS_RATE_BITRATE, c.bitrate = bitrate, c.pass = 2,
    c.pass_log = (const char *)pass->log.data;
    if (motus_stream_open(&s, &c, NULL)) return -1; // the second pass reports the error
    motus_rate_open(&rate, &s.rate);
    const int off = rate.log_qp_q8 - s.rate.crf_q8;
    motus_stream_close(&s);
    const int at = (int)c.crf, better = motus_clip(0, 51, at + off / MOTUS_QP_UNIT);
    return abs(off) <= MAX_QP_DISTANCE || better == at ? -1 : better;
}

// Runs the first pass, twice if its QPs are far off; the log is in *pass.
static int first_passes(MotusLink *link, const MotusEncodeOptions *options,
                        const MotusMpiOptions *own, MotusMpiPass *pass) {
    MotusEncodeOptions o = *options;
    int status = MOTUS_EXIT_OK;
    o.config.rate = MOTUS_RATE_CRF, o.config.pass = 1;
    o.config.crf = FIRST_CRF;
    for (int i = 0; i < 2 && status == MOTUS_EXIT_OK && o.config.crf >= 0; i++) {
        motus_bytes_free(&pass->log);
        *pass = (MotusMpiPass){.journal = first_pass_journals[i], .first = 1, .another = 1};
        if (!o.quiet) motus_warn("note: first pass, CRF %g", o.config.crf);
        status = motus_mpi_run_pass(link, &o, own, pass);
        if (status == MOTUS_EXIT_OK) o.config.crf = better_crf(pass, options->config.bitrate);
    }
    return status;
}

static int two_passes(MotusLink *link, const MotusEncodeOptions *options,
                      const MotusMpiOptions *own) {
    MotusMpiPass pass = {0};
    MotusEncodeOptions o = *options;
    int status = first_passes(link, options, own, &pass);
    if (status == MOTUS_EXIT_OK) {
        o.config.pass = 2, o.config.pass_log = (const char *)pass.log.data;
        pass.journal = "journal", pass.first = pass.another = 0;
        status = motus_mpi_run_pass(link, &o, own, &pass);
    }
    for (int i = 0; i < 2 && status == MOTUS_EXIT_OK; i++) {
        char name[PATH_MAX];
        motus_journal_name(name, o.outputs.stream, first_pass_journals[i]);
        unlink(name);
    }
    motus_bytes_free(&pass.log);
    return status;
}

int motus_mpi_encode(MotusLink *link, const MotusEncodeOptions *options,
                     const MotusMpiOptions *own) {
    const MotusEncoderConfig *c = &options->config;
    MotusMpiPass pass = {.journal = "journal"};
    if (c->rate == MOTUS_RATE_BITRATE && !c->pass && !c->vbv_maxrate &&
        motus_input_stamp(options->input).size >= 0)
        return two_passes(link, options, own);
    return motus_mpi_run_pass(link, options, own, &pass);
}
