// The way of a picture on the device:
//   frame -> whole MBs -> [reference planes -> centres -> search -> marked blocks -> refinement -> decisions] -> intra -> entropy coding -> deblocking -> error
// Every step is a launch on the lane's stream; the host waits once, for the NAL unit's size and its bytes.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lane_cuda.h"

#include <string.h>

#include "common/cuda_call.h"
#include "encoder/deblock_cuda.h"
#include "encoder/decide_cuda.h"
#include "encoder/intake.h"
#include "encoder/slice_cuda.h"
#include "me/centres_cuda.h"
#include "me/ref_luma_cuda.h"
#include "me/refine_cuda.h"
#include "me/search_cuda.h"
#include "yuv/pad.h"

extern "C" {
#include "common/alloc.h"
}

// What the device hands back of a picture beside its NAL unit; pinned on the host.
typedef struct Report {
    MotusSliceResult result;
    MotusPictureStats stats;
} Report;

struct MotusLaneCuda {
    MotusLaneSettings settings;
    cudaStream_t stream;
    cudaEvent_t taken; // the caller's frame has been read
    uint8_t *device, *host;
    size_t device_bytes;
    MotusWorkCuda work;
    MotusPlane frame[3], src[3], rec[2][3]; // as it came; whole MBs; reconstructions in turn
    MotusRefLuma ref_luma;
    MotusMv *centre, *last_mv, *mv, *whole_mv; // whole_mv: of 16x16 before refinement
    uint16_t *sad;
    uint32_t *cost;
    void *centres_work, *slice_work;
    int *deblock_flags;
    uint8_t *nal;
    MotusSliceHead *head;
    Report *report;
    Report *h_report; // the host's copies
    MotusSliceHead *h_head;
    MotusMb *h_mb;
    uint8_t *h_nal;
    size_t expected; // bytes of the NAL unit that are brought down without knowing its size
    int current;     // of rec: the picture under way
    int has_last_mv;
    MotusError failure; // of the call that failed: the lane stays so
};

namespace {

size_t place(size_t *end, size_t bytes) {
    size_t at = *end;
    *end += (bytes + 255) & ~(size_t)255;
    return at;
}

MotusPlane place_plane(uint8_t *base, size_t *end, int width, int height) {
    MotusPlane plane;
    plane.stride = (width + 63) / 64 * 64;
    plane.width = width, plane.height = height;
    plane.data = base + place(end, (size_t)plane.stride * height + 64); // the search reads whole words beyond the last sample
    return plane;
}

// Lays the lane's buffers out from `device` on; returns the bytes.
size_t lay_out(MotusLaneCuda *l, uint8_t *device, void **ref_memory, void **work_memory) {
    const MotusLaneSettings *s = &l->settings;
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    size_t n = (size_t)s->mb_width * s->mb_height, end = 0;
    *work_memory = device + place(&end, motus_work_cuda_bytes(s->mb_width, s->mb_height));
    for (int p = 0; p < 3; p++) {
        int half = p ? 2 : 1;
        l->frame[p] = place_plane(device, &end, s->width / half, s->height / half);
        l->src[p] = place_plane(device, &end, width / half, height / half);
        for (int k = 0; k < 2; k++) l->rec[k][p] = place_plane(device, &end, width / half, height / half);
    }
    *ref_memory = device + place(&end, motus_ref_luma_bytes(width, height));
    l->centre = (MotusMv *)(device + place(&end, n * sizeof(MotusMv)));
    l->last_mv = (MotusMv *)(device + place(&end, n * sizeof(MotusMv)));
    l->whole_mv = (MotusMv *)(device + place(&end, n * sizeof(MotusMv)));
    l->mv = (MotusMv *)(device + place(&end, MOTUS_BLOCKS * n * sizeof(MotusMv)));
    l->sad = (uint16_t *)(device + place(&end, MOTUS_BLOCKS * n * sizeof(uint16_t)));
    l->cost = (uint32_t *)(device + place(&end, MOTUS_BLOCKS * n * sizeof(uint32_t)));
    l->centres_work = device + place(&end, motus_centres_cuda_bytes(width, height));
    l->slice_work = device + place(&end, motus_slice_cuda_bytes((int)n, (uint32_t)s->nal_capacity));
    l->deblock_flags = (int *)(device + place(&end, motus_deblock_cuda_flags(s->mb_width, s->mb_height) * sizeof(int)));
    l->nal = device + place(&end, s->nal_capacity);
    l->head = (MotusSliceHead *)(device + place(&end, sizeof(MotusSliceHead)));
    l->report = (Report *)(device + place(&end, sizeof(Report)));
    return end;
}

size_t lay_out_host(MotusLaneCuda *l, uint8_t *host) {
    size_t end = 0, n = (size_t)l->settings.mb_width * l->settings.mb_height;
    l->h_report = (Report *)(host + place(&end, sizeof(Report)));
    l->h_head = (MotusSliceHead *)(host + place(&end, sizeof(MotusSliceHead)));
    l->h_mb = (MotusMb *)(host + place(&end, n * sizeof(MotusMb)));
    l->h_nal = host + place(&end, l->settings.nal_capacity);
    return end;
}

// Every CUDA call passes here.
MotusStatus check(MotusLaneCuda *l, cudaError_t status, const char *what, MotusError *error) {
    if (!l->failure.status) motus_cuda_check(status, what, &l->failure);
    if (l->failure.status && error) *error = l->failure;
    return l->failure.status;
}

MotusReference reference(const MotusLaneCuda *l, const MotusPlane rec[3]) {
    const MotusRefLuma *luma = &l->ref_luma;
    MotusReference ref = {};
    ref.width = luma->width, ref.height = luma->height;
    ref.luma = luma->plane[0], ref.luma_stride = luma->stride;
    ref.chroma[0] = rec[1].data, ref.chroma[1] = rec[2].data, ref.chroma_stride = rec[1].stride;
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

// Keeps the whole-sample vectors of 16x16 for the next picture's centres: refinement is about to change them.
MotusStatus search(MotusLaneCuda *l, const MotusPlane ref[3], uint32_t lambda_q8, MotusError *error) {
    const MotusLaneSettings *s = &l->settings;
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    MotusCentresPicture centres = {l->src[0].data, l->src[0].stride, &l->ref_luma,     l->has_last_mv ? l->last_mv : NULL,
                                   lambda_q8,      s->effort.reach,  MOTUS_MAX_CENTRE, s->centre_limit_y,
                                   l->centre};
    MotusSearchPicture search = {
        l->src[0].data, ref[0].data, (int)l->src[0].stride, (int)ref[0].stride, l->centre, l->centre, NULL, lambda_q8, l->mv,
        l->sad,         l->cost};
    MotusStatus status = check(l, motus_ref_luma_cuda_build(&l->ref_luma, &ref[0], l->stream), "reference", error);
    if (!status) status = check(l, motus_centres_cuda(&centres, l->centres_work, l->stream), "centres", error);
    if (!status)
        status = check(l, motus_search_cuda(&search, 1, width, height, s->effort.range, s->effort.partitions, l->stream),
                       "search", error);
    if (!status)
        status = check(
            l, cudaMemcpyAsync(l->whole_mv, l->mv, (size_t)l->work.n_mb * sizeof(MotusMv), cudaMemcpyDeviceToDevice, l->stream),
            "vectors", error);
    return status;
}

MotusStatus code_p(MotusLaneCuda *l, int qp, MotusError *error) {
    const MotusLaneSettings *s = &l->settings;
    const MotusPlane *ref = l->rec[!l->current];
    uint32_t lambda_q8 = motus_lambda_q8(qp);
    MotusStatus status = search(l, ref, lambda_q8, error);
    if (!status) status = check(l, motus_mark_blocks_cuda(&l->work, l->cost, qp, &s->effort, l->stream), "blocks", error);
    if (!status && s->subpel != MOTUS_SUBPEL_FULL) {
        MotusSearchPicture p = {
            l->src[0].data, ref[0].data, (int)l->src[0].stride, (int)ref[0].stride, l->centre, l->centre, NULL, lambda_q8, l->mv,
            l->sad,         l->cost};
        status = check(l,
                       motus_refine_cuda(&p, l->ref_luma.memory, 16 * s->mb_width, 16 * s->mb_height, s->subpel,
                                         s->effort.partitions, l->stream),
                       "refinement", error);
    }
    if (status) return status;
    const MotusPCodingCuda p = {reference(l, ref), l->mv, l->cost, s->limits};
    status = check(l, motus_code_p_cuda(&l->work, &p, qp, &s->effort, l->stream), "decisions", error);
    if (!status) status = check(l, motus_keep_vectors_cuda(&l->work, l->whole_mv, l->last_mv, l->stream), "vectors", error);
    return status;
}

// The frame, filled up to whole MBs.
MotusStatus take_in(MotusLaneCuda *l, const MotusFrame *frame, int on_device, cudaStream_t made_on, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    if (on_device) {
        status = motus_intake_cuda_check(frame, error);
        if (!status) // on the caller's stream: its frame is free when that is through
            status = motus_planes_copy_padded_cuda(l->src, frame->plane, made_on, error);
        if (!status) status = check(l, cudaEventRecord(l->taken, made_on), "record", error);
        return status ? status : check(l, cudaStreamWaitEvent(l->stream, l->taken, 0), "wait", error);
    }
    for (int p = 0; p < 3 && !status; p++) {
        const MotusPlane *from = &frame->plane[p], *to = &l->frame[p];
        status = check(l,
                       cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride, (size_t)from->width,
                                         (size_t)from->height, cudaMemcpyHostToDevice, l->stream),
                       "upload of the frame", error);
    }
    if (!status) status = check(l, cudaEventRecord(l->taken, l->stream), "record", error);
    if (!status) status = motus_planes_copy_padded_cuda(l->src, l->frame, l->stream, error);
    return status;
}

MotusStatus entropy_code(MotusLaneCuda *l, MotusError *error) {
    const MotusLaneSettings *s = &l->settings;
    MotusSliceCuda slice = {};
    slice.mb_width = s->mb_width, slice.mb_height = s->mb_height;
    slice.mb = l->work.mb, slice.coef = l->work.coef;
    for (int p = 0; p < 3; p++) slice.src[p] = l->src[p].data, slice.src_stride[p] = l->src[p].stride;
    slice.head = l->head, slice.work = l->slice_work;
    slice.nal = l->nal, slice.capacity = (uint32_t)s->nal_capacity;
    slice.result = &l->report->result, slice.stats = &l->report->stats;
    return check(l, motus_slice_cuda(&slice, l->stream), "entropy coding", error);
}

MotusStatus deblock(MotusLaneCuda *l, MotusError *error) {
    const MotusPlane *rec = l->rec[l->current];
    uint8_t *const plane[3] = {rec[0].data, rec[1].data, rec[2].data};
    const ptrdiff_t stride[3] = {rec[0].stride, rec[1].stride, rec[2].stride};
    return check(
        l,
        motus_deblock_cuda(plane, stride, l->work.mb, l->settings.mb_width, l->settings.mb_height, l->deblock_flags, l->stream),
        "deblocking", error);
}

} // namespace

extern "C" MotusStatus motus_lane_cuda_open(MotusLaneCuda **out, const MotusLaneSettings *settings, MotusError *error) {
    *out = NULL;
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    MotusLaneCuda *l = (MotusLaneCuda *)motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    void *ref_memory, *work_memory;
    l->settings = *settings;
    l->device_bytes = lay_out(l, NULL, &ref_memory, &work_memory);
    status = check(l, motus_search_cuda_prepare(), "kernels", error);
    if (!status) status = check(l, cudaMalloc((void **)&l->device, l->device_bytes), "device memory", error);
    if (!status) status = check(l, cudaMemset(l->device, 0, l->device_bytes), "device memory", error);
    if (!status) status = check(l, cudaMallocHost((void **)&l->host, lay_out_host(l, NULL)), "pinned memory", error);
    if (!status) status = check(l, cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking), "stream", error);
    if (!status) status = check(l, cudaEventCreateWithFlags(&l->taken, cudaEventDisableTiming), "event", error);
    if (!status) {
        lay_out(l, l->device, &ref_memory, &work_memory);
        lay_out_host(l, l->host);
        motus_ref_luma_layout(&l->ref_luma, ref_memory, 16 * settings->mb_width, 16 * settings->mb_height);
        status = check(l, motus_work_cuda_place(&l->work, work_memory, settings->mb_width, settings->mb_height), "device memory",
                       error);
    }
    if (!status) status = check(l, cudaDeviceSynchronize(), "device memory", error);
    l->expected = settings->nal_capacity < 4096 ? settings->nal_capacity : 4096;
    if (status) motus_lane_cuda_close(&l);
    *out = l;
    return status;
}

extern "C" void motus_lane_cuda_close(MotusLaneCuda **lane) {
    if (!lane || !*lane) return;
    MotusLaneCuda *l = *lane;
    if (l->stream) cudaStreamSynchronize(l->stream);
    if (l->taken) cudaEventDestroy(l->taken);
    if (l->stream) cudaStreamDestroy(l->stream);
    cudaFree(l->device);
    cudaFreeHost(l->host);
    (void)cudaGetLastError();
    motus_free(l);
    *lane = NULL;
}

extern "C" size_t motus_lane_cuda_bytes(const MotusLaneCuda *lane) { return lane->device_bytes; }

extern "C" MotusStatus motus_lane_cuda_begin(MotusLaneCuda *l, const MotusFrame *frame, int on_device, void *stream,
                                             const MotusSliceHead *head, MotusError *error) {
    MotusStatus status = check(l, cudaSuccess, "lane", error);
    if (!status) status = take_in(l, frame, on_device, (cudaStream_t)stream, error);
    if (status) return status;
    l->current = !l->current;
    for (int p = 0; p < 3; p++) {
        l->work.src[p] = l->src[p].data, l->work.src_stride[p] = l->src[p].stride;
        l->work.rec[p] = l->rec[l->current][p].data, l->work.rec_stride[p] = l->rec[l->current][p].stride;
    }
    *l->h_head = *head;
    status =
        check(l, cudaMemcpyAsync(l->head, l->h_head, sizeof *head, cudaMemcpyHostToDevice, l->stream), "slice header", error);
    if (!status) status = check(l, cudaMemsetAsync(l->report, 0, sizeof *l->report, l->stream), "statistics", error);
    if (!status)
        status = head->p_slice
                     ? code_p(l, head->qp, error)
                     : check(l, motus_code_i_cuda(&l->work, head->qp, &l->settings.effort, l->stream), "intra coding", error);
    l->has_last_mv = head->p_slice;
    if (!status) status = entropy_code(l, error);
    if (!status && l->settings.deblock) status = deblock(l, error);
    if (!status)
        status = check(l,
                       motus_plane_errors_cuda(l->src, l->rec[l->current], l->settings.width, l->settings.height,
                                               l->report->stats.ssd, l->stream),
                       "statistics", error);
    if (!status)
        status = check(l, cudaMemcpyAsync(l->h_report, l->report, sizeof *l->report, cudaMemcpyDeviceToHost, l->stream),
                       "download", error);
    if (!status)
        status = check(l, cudaMemcpyAsync(l->h_nal, l->nal, l->expected, cudaMemcpyDeviceToHost, l->stream), "download", error);
    return status;
}

extern "C" MotusStatus motus_lane_cuda_finish(MotusLaneCuda *l, MotusFrame *rec, int want_mb, MotusLanePicture *picture,
                                              MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; rec && p < 3 && !status; p++) {
        const MotusPlane *from = &l->rec[l->current][p], *to = &rec->plane[p];
        status = check(l,
                       cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride, (size_t)from->width,
                                         (size_t)from->height, cudaMemcpyDeviceToHost, l->stream),
                       "download", error);
    }
    if (!status && want_mb)
        status = check(
            l, cudaMemcpyAsync(l->h_mb, l->work.mb, (size_t)l->work.n_mb * sizeof(MotusMb), cudaMemcpyDeviceToHost, l->stream),
            "download", error);
    if (!status) status = check(l, cudaStreamSynchronize(l->stream), "picture", error);
    if (status) return status;
    size_t size = l->h_report->result.size;
    if (l->h_report->result.overflow) return motus_fail(error, MOTUS_ERR_INTERNAL, "the picture is larger than its buffer");
    if (size > l->expected) {
        status = check(
            l,
            cudaMemcpyAsync(l->h_nal + l->expected, l->nal + l->expected, size - l->expected, cudaMemcpyDeviceToHost, l->stream),
            "download", error);
        if (!status) status = check(l, cudaStreamSynchronize(l->stream), "download", error);
    }
    l->expected = size + size / 4 + 4096 < l->settings.nal_capacity ? size + size / 4 + 4096 : l->settings.nal_capacity;
    picture->nal = l->h_nal;
    picture->size = size;
    picture->stats = l->h_report->stats;
    picture->mb = want_mb ? l->h_mb : NULL;
    return status;
}
