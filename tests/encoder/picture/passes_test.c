// The order of a picture's passes, on an executor that only notes them: each pass reads what an
// earlier one has written, or what other pictures leave; the rest is left out after a failure.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/passes.h"
#include "tests/support/harness.h"

typedef struct Noted {
    unsigned there; // data so far
    int runs[MOTUS_PASSES], n, fails_at;
    MotusPassId last;
} Noted;

static MotusStatus before(void *coder, const MotusPictureJob *job, MotusPassId id, int group,
                          MotusError *error) {
    Noted *noted = coder;
    (void)job, (void)group, (void)error;
    CU_ASSERT_EQUAL(motus_pass_data[id].reads & ~noted->there, 0);
    noted->there |= motus_pass_data[id].writes;
    noted->last = id;
    noted->runs[id]++;
    return MOTUS_OK;
}

static MotusStatus run(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    Noted *noted = coder;
    (void)job, (void)group, (void)error;
    return ++noted->n == noted->fails_at ? MOTUS_ERR_CUDA : MOTUS_OK;
}

static MotusStatus stage_ended(void *coder, MotusStage stage, MotusError *error) {
    (void)coder, (void)stage, (void)error;
    return MOTUS_OK;
}

// Runs all passes of a picture. Returns the status.
static MotusStatus code(Noted *noted, MotusPictureJob *job, int fails_at) {
    MotusPassTable table = {.before = before, .stage_ended = stage_ended};
    for (int i = 0; i < MOTUS_PASSES; i++) table.pass[i] = run;
    *noted = (Noted){.there = MOTUS_DATA_LUMA | MOTUS_DATA_SOURCE | MOTUS_DATA_LAST_MVS |
                              MOTUS_DATA_REFERENCES | MOTUS_DATA_LEARNT,
                     .fails_at = fails_at};
    if (!job->n_refs) noted->there |= MOTUS_DATA_FIELDS; // of which nothing is finalized
    MotusStatus status = motus_code_picture(&table, noted, job, NULL);
    return status ? status : motus_complete_picture(&table, noted, job, NULL);
}

static void each_reads_what_is_there(void) {
    static MotusStream stream;
    stream.config.deblock = 1;
    for (int k = 0; k < 48; k++) {
        static const MotusColMb col;
        static const MotusCabacCosts costs;
        static MotusCabacCosts next;
        const MotusSliceType type = (MotusSliceType)(k % 3);
        MotusPictureParams params = {.type = type, .is_reference = k & 4 || type != MOTUS_SLICE_B};
        MotusPictureJob job = {.stream = &stream, .params = &params, .type = type};
        Noted noted;
        job.refs = type ? 1 + (k >> 4 & 1) : 0;
        job.n_refs = job.refs + (type == MOTUS_SLICE_B);
        job.col = type == MOTUS_SLICE_B && k & 8 ? &col : NULL;
        job.skips_first = job.col && job.refs == 1;
        job.costs = &costs, job.sets_costs = k & 1;
        job.next_costs = k & 2 ? &next : NULL;
        for (int i = 0; i < job.n_refs; i++) {
            MotusSearchGroup *group = &job.group[i && i < job.refs ? MOTUS_FAR : MOTUS_NEAR];
            group->at[group->n++] = i;
        }
        params.weights.ref[0].has_luma = k & 32 && type == MOTUS_SLICE_P;
        CU_ASSERT_EQUAL(code(&noted, &job, 0), MOTUS_OK);
        CU_ASSERT_EQUAL(noted.last, MOTUS_PASS_REPORT);
        CU_ASSERT_EQUAL(noted.runs[MOTUS_PASS_SEARCH], (type > 0) + (job.refs > 1));
        CU_ASSERT_EQUAL(noted.runs[MOTUS_PASS_DECIDE], type > 0);
        CU_ASSERT_EQUAL(noted.runs[MOTUS_PASS_REFERENCE], params.is_reference);
        for (int at = 1, n = noted.n; at <= n; at++) {
            CU_ASSERT_EQUAL(code(&noted, &job, at), MOTUS_ERR_CUDA);
            CU_ASSERT_EQUAL(noted.n, at);
        }
    }
}

MOTUS_SUITE("passes", TEST(each_reads_what_is_there))
