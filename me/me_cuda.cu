// The CUDA backend: its table, references and search centres. Requests: request_cuda.cu.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/slots.h"
#include "me/backend.h"
#include "me/centres/centres_cuda.h"
#include "me/chain.cuh"
#include "me/pixel/ref_luma_cuda.h"
#include "me/request_cuda.h"
#include "me/search/search_cuda.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

struct MeCuda {
    int device, width, height; // whole MBs
    MotusRequestCuda *requests;
    // Search centres, opened with the first call for them.
    MotusChain chain;
    uint8_t *memory; // holds all below
    MotusPlane cur;  // whole MBs
    MotusMv *previous, *centre;
    void *scratch;
};

void close_state(void *state) {
    MeCuda *m = (MeCuda *)state;
    if (!m) return;
    MotusOnDevice on(m->device);
    motus_request_cuda_close(&m->requests);
    cudaFree(m->memory); // blocks until the device is idle
    motus_chain_close(&m->chain);
    cudaGetLastError(); // a reported error must not reappear in the caller's own calls
    motus_free(m);
}

MotusStatus open_state(void **state, const MotusMeConfig *config, int device, MotusError *error) {
    MotusOnDevice on(device);
    MeCuda *m = (MeCuda *)motus_alloc(1, sizeof *m);
    if (!m) return MOTUS_ERR_MEMORY;
    m->device = device;
    m->width = 16 * motus_mbs(config->width), m->height = 16 * motus_mbs(config->height);
    MotusStatus status = motus_cuda_check(motus_search_cuda_prepare(), "kernels", error);
    if (!status) status = motus_request_cuda_open(&m->requests, config, error);
    if (status)
        close_state(m);
    else
        *state = m;
    return status;
}

MotusStatus request(void *state, const MotusMeRequest *r, void *const planes[], void *keep, int,
                    MotusError *error) {
    MeCuda *m = (MeCuda *)state;
    MotusOnDevice on(m->device);
    return motus_request_cuda_submit(m->requests, r, (const MotusReferenceCuda *const *)planes,
                                     (MotusReferenceCuda *)keep, error);
}

MotusStatus finish(void *state, const MotusMeRequest *r, int timeout_ms, MotusError *error) {
    MeCuda *m = (MeCuda *)state;
    MotusOnDevice on(m->device);
    return motus_request_cuda_finish(m->requests, r, timeout_ms, error);
}

// ---- Search centres -----------------------------------------------------------------------------

MotusStatus open_centres(MeCuda *m, MotusError *error) {
    const size_t bytes = (size_t)m->width * m->height + 64, mvs = bytes / 256 * sizeof(MotusMv);
    size_t end = 0;
    size_t cur = motus_slot_reserve(&end, bytes);
    size_t previous = motus_slot_reserve(&end, mvs), centre = motus_slot_reserve(&end, mvs);
    size_t scratch = motus_slot_reserve(&end, motus_centres_cuda_bytes(m->width, m->height));
    MotusStatus status = motus_chain_open(&m->chain, error);
    if (!status)
        status = motus_cuda_check(cudaMalloc((void **)&m->memory, end), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaMemsetAsync(m->memory, 0, end, m->chain.stream),
                                  "device memory", error);
    if (status) return status;
    m->cur = MotusPlane{m->memory + cur, m->width, m->width, m->height};
    m->previous = (MotusMv *)(m->memory + previous);
    m->centre = (MotusMv *)(m->memory + centre);
    m->scratch = m->memory + scratch;
    return MOTUS_OK;
}

MotusStatus centres(void *state, const MotusMeCentres *wanted, const void *planes,
                    MotusError *error) {
    MeCuda *m = (MeCuda *)state;
    MotusOnDevice on(m->device);
    const MotusReferenceCuda *reference = (const MotusReferenceCuda *)planes;
    MotusStatus status = m->memory ? MOTUS_OK : open_centres(m, error);
    const MotusChain *chain = &m->chain;
    const size_t bytes = (size_t)m->width * m->height / 256 * sizeof(MotusMv);
    const bool on_host = wanted->mvs_memory == MOTUS_MEMORY_HOST;
    const bool asynchronous = wanted->stream && !on_host && wanted->memory == MOTUS_MEMORY_DEVICE;
    if (!status) status = motus_chain_begin(chain, wanted->stream, error);
    if (!status)
        status = motus_cuda_check(cudaStreamWaitEvent(chain->stream, reference->ready, 0), "wait",
                                  error);
    if (!status)
        status = motus_chain_copy_padded(chain, &m->cur, wanted->cur, wanted->memory, error);
    if (!status && on_host && wanted->previous)
        status =
            motus_chain_copy(chain, m->previous, wanted->previous, bytes, "upload of MVs", error);
    if (status) return status;
    MotusCentresPicture picture = {};
    picture.cur = m->cur.data, picture.cur_stride = m->cur.stride;
    picture.ref = &reference->luma;
    picture.previous = on_host && wanted->previous ? m->previous : wanted->previous;
    picture.lambda_q8 = wanted->lambda_q8;
    picture.reach = wanted->reach;
    picture.limit_x = wanted->limit_x, picture.limit_y = wanted->limit_y;
    picture.centre = on_host ? m->centre : wanted->centre;
    status = motus_cuda_check(motus_centres_cuda(&picture, 1, m->scratch, chain->stream), "centres",
                              error);
    if (!status && on_host)
        status =
            motus_chain_copy(chain, wanted->centre, m->centre, bytes, "download of centres", error);
    if (!status) status = motus_chain_end(chain, wanted->stream, error);
    if (!status && !asynchronous)
        status = motus_cuda_check(cudaEventSynchronize(chain->done), "centres", error);
    return status;
}

// ---- References ---------------------------------------------------------------------------------

void planes_free(void *planes) {
    MotusReferenceCuda *r = (MotusReferenceCuda *)planes;
    if (!r) return;
    MotusOnDevice on(r->device);
    cudaFree(r->memory); // blocks until the device is idle
    if (r->ready) cudaEventDestroy(r->ready);
    if (r->stream) cudaStreamDestroy(r->stream);
    cudaGetLastError(); // a reported error must not reappear in the caller's own calls
    motus_free(r);
}

MotusStatus planes_alloc(void **planes, const MotusMeConfig *c, int device, MotusError *error) {
    MotusOnDevice on(device);
    MotusReferenceCuda *r = (MotusReferenceCuda *)motus_alloc(1, sizeof *r);
    *planes = r;
    if (!r) return MOTUS_ERR_MEMORY;
    const size_t stride = ((size_t)c->width + 15) & ~(size_t)15;
    r->device = device, r->has_half = c->subpel != MOTUS_SUBPEL_FULL;
    size_t end = 0, luma = motus_slot_reserve(&end, motus_ref_luma_bytes(c->width, c->height)),
           upload = motus_slot_reserve(&end, r->has_half ? stride * c->height + 32 : 0);
    MotusStatus status = motus_cuda_check(
        cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking), "stream", error);
    if (!status)
        status = motus_cuda_check(cudaEventCreateWithFlags(&r->ready, cudaEventDisableTiming),
                                  "event", error);
    if (!status)
        status = motus_cuda_check(cudaMalloc((void **)&r->memory, end), "device memory", error);
    // Kernels read beyond the end of a row: those bytes need a value.
    if (!status)
        status =
            motus_cuda_check(cudaMemsetAsync(r->memory, 0, end, r->stream), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaStreamSynchronize(r->stream), "device memory", error);
    if (status) {
        planes_free(r);
        *planes = NULL;
        return status;
    }
    motus_ref_luma_layout(&r->luma, r->memory + luma, c->width, c->height);
    r->upload = MotusPlane{r->memory + upload, (ptrdiff_t)stride, c->width, c->height};
    return MOTUS_OK;
}

// Returns immediately if `luma` is device memory made on `stream`, or `wait` is 0.
MotusStatus planes_fill(void *planes, void *, const MotusPlane *luma, MotusMemory memory, int,
                        void *stream, int wait, MotusError *error) {
    MotusReferenceCuda *r = (MotusReferenceCuda *)planes;
    MotusOnDevice on(r->device);
    const bool asynchronous = memory == MOTUS_MEMORY_DEVICE && stream;
    cudaStream_t s = asynchronous ? (cudaStream_t)stream : r->stream;
    MotusStatus status = motus_reference_cuda_fill(r, luma, memory, s, error);
    if (!status && !asynchronous && wait)
        status = motus_cuda_check(cudaStreamSynchronize(s), "reference", error);
    return status;
}

} // namespace

const MotusMeOps motus_me_ops_cuda = {open_state,   close_state, request,     finish, centres,
                                      planes_alloc, planes_fill, planes_free, NULL};

MotusStatus motus_reference_cuda_fill(MotusReferenceCuda *r, const MotusPlane *luma,
                                      MotusMemory memory, cudaStream_t s, MotusError *error) {
    const bool in_place = r->has_half && memory == MOTUS_MEMORY_DEVICE &&
                          !(((uintptr_t)luma->data | (uintptr_t)luma->stride) & 15);
    const MotusPlane full = {r->luma.plane[0], r->luma.stride, luma->width, luma->height},
                     *from = in_place ? luma : &r->upload, *to = r->has_half ? from : &full;
    // The previous fill may be on another stream.
    MotusStatus status = motus_cuda_check(cudaStreamWaitEvent(s, r->ready, 0), "wait", error);
    if (!status && !in_place)
        status = motus_cuda_check(cudaMemcpy2DAsync(to->data, (size_t)to->stride, luma->data,
                                                    (size_t)luma->stride, (size_t)luma->width,
                                                    (size_t)luma->height, cudaMemcpyDefault, s),
                                  "upload of a reference", error);
    if (!status)
        status = motus_cuda_check(
            r->has_half ? motus_ref_luma_cuda_build(&r->luma, from, s)
                        : motus_ref_luma_cuda_border(&r->luma, luma->width, luma->height, s),
            "reference", error);
    return status ? status : motus_cuda_check(cudaEventRecord(r->ready, s), "record", error);
}
