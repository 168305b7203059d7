// Predicted centres on a device: copies to and from the kernels of centres.cu, on one stream.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/slots.h"
#include "me/centres/centres_cuda.h"
#include "me/chain.cuh"
#include "me/request_cuda.h"

extern "C" {
#include "common/alloc.h"
}

struct MotusPredictCuda {
    size_t n_mb;
    MotusChain chain;
    uint8_t *memory; // holds all below
    MotusPlane cur;  // whole MBs
    uint8_t *upload;
    MotusMv *previous, *centre;
    void *scratch;
};

MotusStatus motus_predict_cuda_open(MotusPredictCuda **predict, const MotusMeConfig *config,
                                    MotusError *error) {
    MotusPredictCuda *p = *predict = (MotusPredictCuda *)motus_alloc(1, sizeof *p);
    if (!p) return MOTUS_ERR_MEMORY;
    const int width = 16 * motus_mbs(config->width), height = 16 * motus_mbs(config->height);
    p->n_mb = (size_t)width * height / 256;
    size_t bytes = (size_t)width * height + 64, vectors = p->n_mb * sizeof(MotusMv), end = 0;
    size_t cur = motus_slot_reserve(&end, bytes), upload = motus_slot_reserve(&end, bytes);
    size_t previous = motus_slot_reserve(&end, vectors), centre = motus_slot_reserve(&end, vectors);
    size_t scratch = motus_slot_reserve(&end, motus_centres_cuda_bytes(width, height));
    MotusStatus status = motus_chain_open(&p->chain, error);
    if (!status)
        status = motus_cuda_check(cudaMalloc((void **)&p->memory, end), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaMemsetAsync(p->memory, 0, end, p->chain.stream),
                                  "device memory", error);
    if (!status) {
        p->cur = MotusPlane{p->memory + cur, width, width, height};
        p->upload = p->memory + upload;
        p->previous = (MotusMv *)(p->memory + previous),
        p->centre = (MotusMv *)(p->memory + centre);
        p->scratch = p->memory + scratch;
    }
    if (status) motus_predict_cuda_close(predict);
    return status;
}

void motus_predict_cuda_close(MotusPredictCuda **predict) {
    if (!predict || !*predict) return;
    MotusPredictCuda *p = *predict;
    cudaFree(p->memory); // blocks until the device is idle
    motus_chain_close(&p->chain);
    cudaGetLastError(); // a reported error must not reappear in the caller's own calls
    motus_free(p);
    *predict = NULL;
}

MotusStatus motus_predict_cuda(MotusPredictCuda *p, const MotusMeCentres *wanted,
                               const MotusReferenceCuda *reference, MotusError *error) {
    const MotusChain *chain = &p->chain;
    const size_t bytes = p->n_mb * sizeof(MotusMv);
    const bool on_host = wanted->mvs_memory == MOTUS_MEMORY_HOST;
    const bool asynchronous = wanted->stream && !on_host && wanted->memory == MOTUS_MEMORY_DEVICE;
    MotusStatus status = motus_chain_begin(chain, wanted->stream, error);
    if (!status)
        status = motus_cuda_check(cudaStreamWaitEvent(chain->stream, reference->ready, 0), "wait",
                                  error);
    if (!status)
        status =
            motus_chain_copy_padded(chain, &p->cur, p->upload, wanted->cur, wanted->memory, error);
    if (!status && on_host && wanted->previous)
        status = motus_chain_copy(chain, p->previous, wanted->previous, bytes, "upload of vectors",
                                  error);
    if (status) return status;
    MotusCentresPicture picture = {};
    picture.cur = p->cur.data, picture.cur_stride = p->cur.stride;
    picture.ref = &reference->luma;
    picture.previous = on_host && wanted->previous ? p->previous : wanted->previous;
    picture.lambda_q8 = wanted->lambda_q8;
    picture.reach = wanted->reach;
    picture.limit_x = wanted->limit_x, picture.limit_y = wanted->limit_y;
    picture.centre = on_host ? p->centre : wanted->centre;
    status = motus_cuda_check(motus_centres_cuda(&picture, 1, p->scratch, chain->stream), "centres",
                              error);
    if (!status && on_host)
        status =
            motus_chain_copy(chain, wanted->centre, p->centre, bytes, "download of centres", error);
    if (!status) status = motus_chain_end(chain, wanted->stream, error);
    if (!status && !asynchronous)
        status = motus_cuda_check(cudaEventSynchronize(chain->done), "centres", error);
    return status;
}
