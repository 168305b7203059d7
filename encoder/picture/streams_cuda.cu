// The order of pictures on a coder's streams. A worker has a stream for passes, and one on which
// MBs are finalized and written beside deblocking and the next picture up to its decisions. The
// host blocks once, for the NAL units, and meanwhile begins the next pictures: those that need only
// what is done run side by side. Events order them, which follow from what passes read and write.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "encoder/picture/cuda_coder.cuh"

extern "C" {
#include "encoder/settings/stream.h"
#include "encoder/slice/slice.h"
}

using namespace motus_cuda_coder;

// ---- Events -------------------------------------------------------------------------------------

MotusStatus motus_cuda_coder::record(Picture *p, Event event, cudaStream_t stream,
                                     MotusError *error) {
    return is_serial(p->c)
               ? MOTUS_OK
               : check(p->c, cudaEventRecord(p->out->event[event], stream), "record", error);
}

namespace {

// Makes the passes of a picture wait for an event of picture `number` (below 0: none), once, unless
// that is finished. Events of finished pictures may belong to later ones by now.
MotusStatus wait(Picture *p, int64_t number, Event event, MotusError *error) {
    MotusCudaCoder *c = p->c;
    if (number < c->jobs.finished || is_serial(c)) return MOTUS_OK;
    const uint32_t bit = 1u << (EVENTS * (int)(number % c->depth) + event);
    if (p->waited & bit) return MOTUS_OK;
    p->waited |= bit;
    return check(c, cudaStreamWaitEvent(p->w->stream, output_of(c, number)->event[event], 0),
                 "wait", error);
}

// Waits until the picture in a buffer has samples, half-sample planes and final MBs, and notes that
// this picture reads it.
MotusStatus wait_for_reference(Picture *p, int buffer, int64_t number, MotusError *error) {
    p->c->use[buffer].reader[p->w - p->c->worker] = p->job->number;
    MotusStatus status = wait(p, number, MADE, error);
    return status ? status : wait(p, number, FINALIZED, error);
}

// Waits for the references of a group, or for all (group below 0).
MotusStatus wait_for_references(Picture *p, int group, MotusError *error) {
    const MotusPictureJob *job = p->job;
    MotusStatus status = MOTUS_OK;
    const int n = group < 0 ? job->n_refs : job->group[group].n;
    for (int i = 0; i < n && !status; i++) {
        const int k = group < 0 ? i : job->group[group].at[i];
        status = wait_for_reference(p, job->buffer[k], job->picture[k], error);
    }
    return status;
}

// Waits until nothing reads the place of the reconstruction any more. Pictures that predict from
// the old content read nothing of it once they are finalized; its own squared errors and its
// download end with it.
MotusStatus wait_for_buffer(Picture *p, MotusError *error) {
    if (p->buffer < 0) return MOTUS_OK;
    BufferUse *use = &p->c->use[p->buffer];
    MotusStatus status = wait(p, use->owner, DONE, error);
    for (int k = 0; k < p->c->n_workers && !status; k++)
        status = wait(p, use->reader[k], FINALIZED, error);
    use->owner = p->job->number;
    for (int64_t &reader : use->reader) reader = -1;
    return status;
}

// Waits for all of the source that the first kernel did not wait for. The slot is free once the
// picture is coded, so its statistics have to be complete, too.
MotusStatus wait_for_source(Picture *p, MotusError *error) {
    const MotusFrameSlot *slot = p->job->slot;
    cudaError_t status = cudaSuccess;
    if (p->has_source) return MOTUS_OK;
    p->has_source = 1;
    if (slot->filled != slot->has_luma)
        status = cudaStreamWaitEvent(p->w->stream, (cudaEvent_t)slot->filled, 0);
    if (status == cudaSuccess && slot->measured != slot->filled)
        status = cudaStreamWaitEvent(p->w->stream, (cudaEvent_t)slot->measured, 0);
    return check(p->c, status, "wait", error);
}

// Waits for one kind of data before a pass on the passes' stream. The worker's last picture is on
// the same streams: only its finalization and writing may be behind.
MotusStatus wait_for_data(Picture *p, unsigned data, MotusPassId id, int group, MotusError *error) {
    const MotusPictureJob *job = p->job;
    const int is_of_group =
        id == MOTUS_PASS_WEIGHTS || id == MOTUS_PASS_CENTRES || id == MOTUS_PASS_SEARCH;
    switch (data) {
    case MOTUS_DATA_LUMA:
        return id != MOTUS_PASS_UPLOAD // which is the first
                   ? MOTUS_OK
                   : check(p->c,
                           cudaStreamWaitEvent(p->w->stream, (cudaEvent_t)job->slot->has_luma, 0),
                           "wait", error);
    case MOTUS_DATA_SOURCE:
        return wait_for_source(p, error);
    case MOTUS_DATA_BUFFER:
        return wait_for_buffer(p, error);
    case MOTUS_DATA_FIELDS:
        return wait(p, p->w->last, FINALIZED, error);
    case MOTUS_DATA_LAST_MVS:
        return group == MOTUS_FAR || job->last_p < 0
                   ? MOTUS_OK
                   : wait_for_reference(p, job->last_p, job->last_p_number, error);
    case MOTUS_DATA_REFERENCES:
        return id == MOTUS_PASS_REFERENCE ? MOTUS_OK // its own buffer
                                          : wait_for_references(p, is_of_group ? group : -1, error);
    case MOTUS_DATA_MBS:
        return id == MOTUS_PASS_DEBLOCK ? MOTUS_OK : wait(p, p->w->last, WRITTEN, error);
    case MOTUS_DATA_LEARNT:
        return wait(p, id == MOTUS_PASS_LEARN ? job->number : job->learner, WRITTEN, error);
    case MOTUS_DATA_FINAL: {
        // Deblocking reads what finalization changes only if there is a QP map, as it changes QPs,
        // and in B pictures, where bS depends on what is direct; P_Skip is deblocked as P_16x16.
        const int reads = id == MOTUS_PASS_DEBLOCK
                              ? job->params->qp_offset || job->type == MOTUS_SLICE_B
                              : id != MOTUS_PASS_DOWNLOAD || job->recon;
        return reads ? wait(p, job->number, FINALIZED, error) : MOTUS_OK;
    }
    default:
        return MOTUS_OK; // the stream's own
    }
}

} // namespace

MotusStatus motus_cuda_coder::before_pass(void *at, const MotusPictureJob *job, MotusPassId id,
                                          int group, MotusError *error) {
    Picture *p = (Picture *)at;
    Worker *w = p->w;
    MotusStatus status = MOTUS_OK;
    (void)job;
    if (id == MOTUS_PASS_FINALIZE || id == MOTUS_PASS_ENTROPY || id == MOTUS_PASS_REPORT ||
        (id == MOTUS_PASS_ERRORS && !p->alone)) { // on `writing`, behind all passes so far
        if (!p->passed || is_serial(p->c)) return MOTUS_OK;
        p->passed = 0;
        status = check(p->c, cudaEventRecord(w->passed, w->stream), "record", error);
        return status ? status
                      : check(p->c, cudaStreamWaitEvent(w->writing, w->passed, 0), "wait", error);
    }
    p->passed = 1;
    unsigned data = motus_pass_data[id].reads | motus_pass_data[id].writes;
    for (; data && !status; data &= data - 1)
        status = wait_for_data(p, data & (0u - data), id, group, error);
    return status;
}

// Entropy coding records WRITTEN itself, before the last slice's end.
MotusStatus motus_cuda_coder::after_pass(void *at, const MotusPictureJob *job, MotusPassId id,
                                         MotusError *error) {
    Picture *p = (Picture *)at;
    (void)job;
    if (id == MOTUS_PASS_FINALIZE) return record(p, FINALIZED, p->w->writing, error);
    if (id == MOTUS_PASS_REFERENCE) return record(p, MADE, p->w->stream, error);
    if (id == MOTUS_PASS_LEARN) return record(p, WRITTEN, p->w->stream, error);
    return MOTUS_OK;
}

// ---- A picture ----------------------------------------------------------------------------------

namespace {

// Returns the buffer without a reference that has been unused for longest: the last picture that
// wrote or reads it is the oldest. There are more buffers than references.
int free_buffer(const MotusCudaCoder *c) {
    int best = -1;
    int64_t oldest = 0;
    for (int i = 0; i < c->n_buffers; i++) {
        int64_t last = c->use[i].owner;
        int is_used = 0;
        for (int k = 0; k < c->n_workers; k++)
            if (c->use[i].reader[k] > last) last = c->use[i].reader[k];
        for (const MotusReferencePicture &ref : c->jobs.history.ref)
            is_used |= ref.is_there && ref.buffer == i;
        if (!is_used && (best < 0 || last < oldest)) best = i, oldest = last;
    }
    return best;
}

// Sets what passes read of the picture in their worker's state. With one picture at a time on the
// device, blocks of the intra wavefront have an MB each (two hardly slow each other down), and
// kernels may launch before the one before them has ended; both would cost more than they gain if
// many pictures fill the device. An IDR picture runs beside few others.
void set_state(Picture *p, const MotusPictureJob *job) {
    MotusCudaCoder *c = p->c;
    MotusPictureStateCuda *pic = &p->w->pic;
    const MotusEncoderConfig *config = &job->stream->config;
    const MotusPictureParams *params = job->params;
    const int pictures = c->coders * (config->bframes && !params->idr ? c->n_workers : 1);
    const size_t slices = params->refresh.end ? 1 + (size_t)params->refresh_at : 0;
    pic->block_mbs = pictures < 3 ? 1 : c->max_block_mbs;
    pic->early = pictures == 1 && c->can_launch_early;
    pic->lambda = job->lambda;
    for (int i = 0; i < 3; i++) {
        const MotusPlane *coded = config->deblock ? &p->w->unfiltered[i] : &p->rec[i];
        pic->src[i] = job->src[i].data, pic->src_stride[i] = job->src[i].stride;
        pic->rec[i] = coded->data, pic->rec_stride[i] = coded->stride;
    }
    pic->qp_offset = params->qp_offset ? p->out->qp_offset : NULL;
    pic->refresh = params->refresh;
    pic->slice_first = job->slices->first ? c->slice_first + slices * (size_t)pic->n_mb : NULL;
    pic->costs = job->costs;
    pic->transform_8x8 = job->quant8 != NULL;
    pic->ended = p->out->began ? p->out->ended : NULL;
}

// Fills in what is uploaded with the picture, and what comes back.
MotusStatus set_output(Picture *p, const MotusPictureJob *job, MotusError *error) {
    const MotusStream *s = job->stream;
    Output *out = p->out;
    for (int k = 0; k < job->slices->n; k++) {
        const int row = job->slices->begin ? job->slices->begin[k] : 0;
        const MotusSliceSettings slice = motus_slice_settings(s, job->params, row * s->mb_width);
        out->h_head[k] = motus_slice_head(&s->sequence, &slice, motus_nal_ref_idc(job->params));
    }
    if (job->params->qp_offset)
        memcpy(out->h_qp_offset, job->params->qp_offset, (size_t)p->w->pic.n_mb);
    for (int k = 0; k < job->n_refs && job->refs > 1; k++) out->h_refs[k] = job->ref[k];
    const size_t expected =
        downloads_by_kernel(p) ? SIZE_MAX : p->c->expected[job->type == MOTUS_SLICE_B];
    out->downloaded = packets_stay(p->c) ? 0 : expected < out->nal_room ? expected : out->nal_room;
    if (!s->config.export_field || job->type != MOTUS_SLICE_P || out->field) return MOTUS_OK;
    return motus_field_alloc(&out->field, s->config.width, s->config.height)
               ? motus_fail(error, MOTUS_ERR_MEMORY, "out of memory")
               : MOTUS_OK;
}

// Returns the list that the picture's launches join; NULL: none. Other calls than waits and uploads
// would come before their launches. Several slices or rounds of decisions have more launches than a
// list takes, and are hardly bound by them; IDR pictures are rare.
MotusLaunchList *list_of(const Picture *p, const MotusPictureJob *job) {
    const int is_b = job->type == MOTUS_SLICE_B, calls = p->w->pic.ended || job->recon ||
                                                         (p->out->field && !is_b) ||
                                                         job->params->external.mv;
    if (!is_serial(p->c) || calls || job->params->idr || job->slices->n > 1 ||
        job->effort.rounds > 1)
        return NULL;
    return p->c->list[is_b + (is_b && job->params->is_reference)];
}

MotusStatus launch(Picture *p, MotusPictureJob *job, MotusError *error) {
    MotusLaunchList *list = list_of(p, job);
    motus_launch_list_use(list);
    MotusStatus status = motus_code_picture(&passes, p, job, error);
    if (!status) status = motus_complete_picture(&passes, p, job, error);
    motus_launch_list_use(NULL);
    if (!status && list)
        status = check(p->c, motus_launch_list_run(list, p->w->stream), "picture", error);
    return status
               ? status
               : check(p->c, cudaEventRecord(p->out->event[DONE], p->w->writing), "record", error);
}

} // namespace

extern "C" MotusStatus motus_cuda_coder_begin(void *coder, const MotusPictureJob *given,
                                              MotusError *error) {
    MotusCudaCoder *c = (MotusCudaCoder *)coder;
    MotusOnDevice on(c->device);
    MotusPictureJob *job;
    Picture p = {};
    p.c = c;
    // References follow one another, as most of them need the one before. IDR pictures, which need
    // none, and pictures that are no references go to the other worker that has been idle longest.
    const int is_apart = given->params->idr || !given->params->is_reference;
    int at = 0;
    for (int k = 1; k < c->n_workers && is_apart; k++)
        if (!at || c->worker[k].last < c->worker[at].last) at = k;
    p.w = &c->worker[at];
    p.out = output_of(c, c->jobs.begun);
    p.alone = c->jobs.begun == c->jobs.finished && !is_serial(c);
    // Where it is reconstructed. Squared errors of the worker's last picture that is no reference
    // may still be read when this one is deblocked. Those of the one before it are not: decisions
    // come behind its writing.
    p.buffer = given->params->is_reference ? free_buffer(c) : -1;
    p.rec = p.buffer < 0 ? p.w->spare[p.w->turn] : c->buffer[p.buffer].plane;
    if (p.buffer < 0) p.w->turn = !p.w->turn;
    MotusStatus status = motus_jobs_begin(&c->jobs, given, given->slot->plane, c->buffer,
                                          &p.w->memory, c->costs, &job, error);
    if (status) return status;
    p.job = job;
    job->ref_list = p.out->refs;
    if (!p.alone) p.next_costs = job->next_costs, job->next_costs = NULL;
    if (job->n_refs && job->effort.transforms && c->coders > FEW_CODERS) job->effort.transforms = 2;
    if (job->type == MOTUS_SLICE_B) job->effort.partitions &= (1u << (MOTUS_MODE_8x8 + 1)) - 1;
    status = set_output(&p, job, error);
    if (status) return status;
    set_state(&p, job);
    status = launch(&p, job, error);
    if (status) { // no download outlives the call
        cudaStreamSynchronize(p.w->stream);
        cudaStreamSynchronize(p.w->writing);
        return status;
    }
    motus_jobs_advance(&c->jobs, job, p.buffer);
    p.w->last = job->number;
    p.out->begun_us = now_us();
    return MOTUS_OK;
}
