// Writing of a picture's MBs as NAL units: finalization, slices, entropy coding.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_coder.cuh"

#include "encoder/mb/mb_cuda.h"

extern "C" {
#include "encoder/slice/slice.h"
}

using namespace motus_cuda_coder;

namespace {

// Writes slice k, whole MB rows, as if it were a picture of its own.
MotusStatus write_slice(MotusCudaCoder *c, const Output *out, int k, MotusError *error) {
    const MotusStream *s = c->settings;
    const MotusSlices *slices = out->slices;
    const int begin = slices->begin ? slices->begin[k] : 0,
              end = slices->begin ? slices->begin[k + 1] : s->mb_height;
    MotusSliceCuda slice = {};
    slice.mb_width = s->mb_width, slice.mb_height = end - begin;
    slice.first_mb = begin * s->mb_width, slice.is_b = out->type == MOTUS_SLICE_B;
    slice.refs = out->n_refs;
    slice.mb = c->pic.mb + slice.first_mb, slice.coef = c->pic.coef + slice.first_mb;
    slice.marks = c->marks;
    for (int p = 0; p < 3; p++) {
        slice.src[p] = c->src[p].data + (p ? 8 : 16) * begin * c->src[p].stride;
        slice.src_stride[p] = c->src[p].stride;
    }
    slice.head = out->head + k, slice.work = c->slice_work;
    slice.nal = out->nal, slice.capacity = (uint32_t)motus_nal_bound(s->rbsp_capacity);
    slice.before = k ? &c->slice_results[k - 1] : NULL;
    slice.result = k + 1 == slices->n ? &out->report->result : &c->slice_results[k],
    slice.stats = &out->report->stats;
    slice.early = c->pic.early;
    if (!s->sequence.cabac)
        return check(c, motus_slice_cuda_write(&slice, c->writing), "entropy coding", error);
    MotusCabacSliceCuda cabac = {};
    cabac.slice = slice, cabac.context = c->context + slice.first_mb;
    cabac.piece = motus_cabac_cuda_piece(c->pic.n_mb), cabac.bins = c->bins;
    const int is_last = k + 1 == slices->n;
    if (is_last) cabac.n_mb = c->pic.n_mb, cabac.n_slices = slices->n;
    // A picture alone learns later, beside its writing.
    if (is_last && !is_alone(c)) cabac.costs = c->pic.costs, cabac.next = out->next_costs;
    MotusStatus status =
        check(c, motus_cabac_slice_cuda_begin(&cabac, c->writing), "entropy coding", error);
    // Once all MBs are symbols and costs are learnt, the next picture's decisions may begin.
    if (!status && is_last) status = record(c, out->written, c->writing, error);
    return status
               ? status
               : check(c, motus_cabac_slice_cuda_end(&cabac, c->writing), "entropy coding", error);
}

// Writes all slices.
MotusStatus write_slices(MotusCudaCoder *c, const Output *out, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < out->slices->n && !status; k++) status = write_slice(c, out, k, error);
    return status || c->settings->sequence.cabac ? status
                                                 : record(c, out->written, c->writing, error);
}

// Finalizes the MBs, and computes what B pictures read of a reference picture's.
MotusStatus finalize(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                     MotusError *error) {
    const MotusPictureStateCuda *w = &c->pic;
    MotusFinalizeCuda f = {};
    f.mb_width = w->mb_width, f.n_mb = w->n_mb, f.mb = w->mb, f.slice_first = w->slice_first;
    f.qp = params->qp, f.marks = c->marks;
    for (int k = 0; params->type == MOTUS_SLICE_P && k < params->refs; k++)
        f.span[k] = params->shown - params->ref_shown[k];
    if (params->type == MOTUS_SLICE_P)
        f.searched = c->whole_mv, f.kept = c->buffer[c->own_buffer].mv;
    f.is_b = is_b(params), f.refs = params->refs;
    if (f.is_b)
        f.direct = direct_source(c, params, find_reference(c, params->ref_shown[params->refs]));
    f.head = out->head, f.h_head = out->h_head, f.n_heads = out->slices->n;
    f.stats = &out->report->stats;
    MotusStatus status = check(c, motus_finalize_cuda(&f, c->writing), "entropy coding", error);
    if (!status && params->is_reference && current_rec(c)->col_zero)
        status = check(c, motus_col_zero_cuda(w->mb, w->n_mb, current_rec(c)->col_zero, c->writing),
                       "entropy coding", error);
    if (!status && params->is_reference && current_rec(c)->col)
        status = check(
            c, motus_col_mbs_cuda(w->mb, w->n_mb, params->refs, current_rec(c)->col, c->writing),
            "collocated MVs", error);
    return status ? status : record(c, out->finalized, c->writing, error);
}

} // namespace

MotusStatus motus_cuda_coder::entropy_code(MotusCudaCoder *c, const Output *out,
                                           const MotusPictureParams *params, MotusError *error) {
    // The previous picture may have been written on the other stream.
    MotusStatus status = wait_on(c, c->writing, c->packed, error);
    if (!status) status = follow(c, c->writing, c->stream, c->coded, error);
    if (!status) status = finalize(c, out, params, error);
    if (!status) status = write_slices(c, out, error);
    if (!status) status = record(c, c->packed, c->writing, error);
    const int waits = params->qp_offset || is_b(params) || out->with_mb;
    return status || !waits ? status : wait_on(c, c->stream, out->finalized, error);
}
