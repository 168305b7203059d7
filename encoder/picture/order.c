// The order of a picture's passes, on every executor.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/passes.h"

#define LUMA MOTUS_DATA_LUMA
#define SOURCE MOTUS_DATA_SOURCE
#define BUFFER MOTUS_DATA_BUFFER
#define FIELDS MOTUS_DATA_FIELDS
#define LAST_MVS MOTUS_DATA_LAST_MVS
#define REFERENCES MOTUS_DATA_REFERENCES
#define MBS MOTUS_DATA_MBS
#define LEARNT MOTUS_DATA_LEARNT
#define FINAL MOTUS_DATA_FINAL
#define RECON MOTUS_DATA_RECON
#define STATS MOTUS_DATA_STATS
#define NAL MOTUS_DATA_NAL

const MotusPassData motus_pass_data[MOTUS_PASSES] = {
    // Data that the pass reads, data that it writes.
    [MOTUS_PASS_UPLOAD] = {LUMA, BUFFER},
    [MOTUS_PASS_COSTS] = {LEARNT, MBS},
    [MOTUS_PASS_DIRECT] = {REFERENCES, FIELDS},
    [MOTUS_PASS_SKIPS] = {SOURCE | REFERENCES | LEARNT, MBS | RECON},
    [MOTUS_PASS_WEIGHTS] = {REFERENCES, 0},
    [MOTUS_PASS_CENTRES] = {LUMA | LAST_MVS | REFERENCES, FIELDS},
    [MOTUS_PASS_SEARCH] = {LUMA | REFERENCES, FIELDS},
    [MOTUS_PASS_CANDIDATES] = {LUMA | REFERENCES, FIELDS},
    [MOTUS_PASS_DECIDE] = {SOURCE | REFERENCES | FIELDS | LEARNT, MBS | RECON},
    [MOTUS_PASS_INTRA] = {SOURCE | LEARNT, MBS | RECON},
    [MOTUS_PASS_FINALIZE] = {MBS | FIELDS, FINAL},
    [MOTUS_PASS_ENTROPY] = {SOURCE | FINAL, NAL | STATS | LEARNT},
    [MOTUS_PASS_DEBLOCK] = {MBS | FINAL, RECON},
    [MOTUS_PASS_REFERENCE] = {RECON, REFERENCES},
    [MOTUS_PASS_DOWNLOAD] = {RECON | FINAL | NAL, 0},
    [MOTUS_PASS_ERRORS] = {SOURCE | RECON | FINAL, STATS},
    [MOTUS_PASS_LEARN] = {LEARNT, LEARNT},
    [MOTUS_PASS_REPORT] = {RECON | STATS | NAL, 0},
};

typedef struct Order {
    const MotusPassTable *table;
    void *coder;
    MotusPictureJob *job;
    MotusStatus status; // of the first call that failed: the rest is left out
    MotusError *error;
} Order;

static void run_in(Order *o, MotusPassId id, int group) {
    const MotusPassTable *t = o->table;
    if (o->status || !t->pass[id]) return;
    if (t->before) o->status = t->before(o->coder, o->job, id, group, o->error);
    if (!o->status) o->status = t->pass[id](o->coder, o->job, group, o->error);
    if (!o->status && t->after) o->status = t->after(o->coder, o->job, id, o->error);
}

static void run(Order *o, MotusPassId id) { run_in(o, id, MOTUS_NEAR); }

static void ended(Order *o, MotusStage stage) {
    if (!o->status) o->status = o->table->stage_ended(o->coder, stage, o->error);
}

static void search(Order *o, int group) {
    const MotusPictureJob *job = o->job;
    int has_weights = 0;
    for (int k = 0; k < job->refs && job->type == MOTUS_SLICE_P; k++)
        has_weights |= job->params->weights.ref[k].has_luma;
    if (!job->group[group].n) return;
    if (has_weights) run_in(o, MOTUS_PASS_WEIGHTS, group);
    run_in(o, MOTUS_PASS_CENTRES, group);
    if (group == MOTUS_NEAR) ended(o, MOTUS_STAGE_REFERENCE);
    run_in(o, MOTUS_PASS_SEARCH, group);
}

MotusStatus motus_code_picture(const MotusPassTable *table, void *coder, MotusPictureJob *job,
                               MotusError *error) {
    Order order = {table, coder, job, MOTUS_OK, error}, *o = &order;
    const int is_inter = job->type != MOTUS_SLICE_I, sets_costs = job->costs && job->sets_costs;
    run(o, MOTUS_PASS_UPLOAD);
    if (job->skips_first) { // the search leaves these MBs out
        if (sets_costs) run(o, MOTUS_PASS_COSTS);
        if (job->col) run(o, MOTUS_PASS_DIRECT);
        run(o, MOTUS_PASS_SKIPS);
    }
    if (is_inter) {
        search(o, MOTUS_NEAR);
        search(o, MOTUS_FAR);
        ended(o, MOTUS_STAGE_SEARCH);
        if (job->col && !job->skips_first) run(o, MOTUS_PASS_DIRECT);
        run(o, MOTUS_PASS_CANDIDATES);
    }
    if (sets_costs && !job->skips_first) run(o, MOTUS_PASS_COSTS);
    if (is_inter || job->cuts_slices) run(o, MOTUS_PASS_DECIDE); // ends CANDIDATES and DECIDE
    // Slices are cut while they are written: intra MBs are coded, and MBs finalized, then.
    if (!job->cuts_slices) run(o, MOTUS_PASS_INTRA);
    ended(o, MOTUS_STAGE_INTRA);
    if (!job->cuts_slices) run(o, MOTUS_PASS_FINALIZE);
    run(o, MOTUS_PASS_ENTROPY);
    ended(o, MOTUS_STAGE_ENTROPY);
    return o->status;
}

MotusStatus motus_complete_picture(const MotusPassTable *table, void *coder, MotusPictureJob *job,
                                   MotusError *error) {
    const MotusEncoderConfig *config = &job->stream->config;
    Order order = {table, coder, job, MOTUS_OK, error}, *o = &order;
    const int is_reference = job->params->is_reference;
    // For later pictures, the caller, or squared errors.
    if (config->deblock && (is_reference || !config->stream_only || !config->no_ssd))
        run(o, MOTUS_PASS_DEBLOCK);
    if (is_reference && config->keyint != 1) run(o, MOTUS_PASS_REFERENCE);
    ended(o, MOTUS_STAGE_DEBLOCK);
    run(o, MOTUS_PASS_DOWNLOAD);
    if (!config->no_ssd) run(o, MOTUS_PASS_ERRORS);
    if (job->next_costs) run(o, MOTUS_PASS_LEARN);
    run(o, MOTUS_PASS_REPORT);
    return o->status;
}
