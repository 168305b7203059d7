// The results of a picture: their way down, and the host's wait for them.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include <algorithm>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "encoder/picture/cuda_coder.cuh"

extern "C" {
#include "encoder/bitstream/headers.h"
}

using namespace motus_cuda_coder;

namespace {

constexpr int64_t MIN_EXPECTED_US = 200, MAX_EXPECTED_US = 50000;
constexpr int64_t SLEEP_LATE_US = 150;   // after which 99 % of sleeps have ended
constexpr int64_t FIRST_POLLS_US = 2000; // as long, at least, a picture is not left to CUDA
constexpr int COPY_BLOCKS = 16, COPY_THREADS = 256;

// Copies NAL units, as far as `room` reaches, and the report to pinned memory: copy engines begin
// some 8 us later. Both places of the NAL units are aligned to 16 and a multiple of 16 bytes long.
__global__ void __launch_bounds__(COPY_THREADS)
    copy_kernel(Report *h_report, const Report *report, uint8_t *h_nal, const uint8_t *nal,
                uint32_t room) {
    static_assert(sizeof(Report) % 8 == 0 && sizeof(Report) / 8 <= COPY_THREADS, "a word a thread");
    const uint32_t t = blockIdx.x * COPY_THREADS + threadIdx.x,
                   n = (min(report->result.size, room) + 15) / 16;
    for (uint32_t i = t; i < n; i += COPY_BLOCKS * COPY_THREADS)
        ((uint4 *)h_nal)[i] = ((const uint4 *)nal)[i];
    if (t < sizeof *report / 8) ((uint64_t *)h_report)[t] = ((const uint64_t *)report)[t];
}

} // namespace

MotusStatus motus_cuda_coder::download(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    const MotusFrame *rec = job->recon;
    const Output *out = p->out;
    const Worker *w = p->w;
    MotusStatus status = MOTUS_OK;
    for (int i = 0; rec && i < 3 && !status; i++) {
        const MotusPlane *from = &p->rec[i], *to = &rec->plane[i];
        status = check(p->c,
                       cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data,
                                         (size_t)from->stride, (size_t)from->width,
                                         (size_t)from->height, cudaMemcpyDeviceToHost, w->stream),
                       "download", error);
    }
    if (!status && rec)
        status = check(p->c,
                       cudaMemcpyAsync(out->h_mb, w->pic.mb, (size_t)w->pic.n_mb * sizeof(MotusMb),
                                       cudaMemcpyDeviceToHost, w->stream),
                       "download", error);
    if (!status && out->downloaded && !downloads_by_kernel(p))
        status = check(p->c,
                       cudaMemcpyAsync(out->h_nal, out->nal, out->downloaded,
                                       cudaMemcpyDeviceToHost, w->writing),
                       "download", error);
    return status;
}

MotusStatus motus_cuda_coder::report(void *at, MotusPictureJob *, int, MotusError *error) {
    Picture *p = (Picture *)at;
    const Output *out = p->out;
    return check(p->c,
                 downloads_by_kernel(p)
                     ? motus_launch(0, COPY_BLOCKS, COPY_THREADS, 0, p->w->writing, copy_kernel,
                                    out->h_report, out->report, out->h_nal, out->nal,
                                    (uint32_t)out->downloaded)
                     : cudaMemcpyAsync(out->h_report, out->report, sizeof *out->report,
                                       cudaMemcpyDeviceToHost, p->w->writing),
                 "download", error);
}

namespace {

// Makes sleeps of some 10 us as short as asked for while it lives; the kernel adds 50 by default.
struct ShortSleeps {
#ifdef __linux__
    const int before = prctl(PR_GET_TIMERSLACK); // ns
    ShortSleeps() { prctl(PR_SET_TIMERSLACK, 5000ul); }
    ~ShortSleeps() { prctl(PR_SET_TIMERSLACK, (unsigned long)before); }
#endif
};

void pause_us(int64_t us) {
    const struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    if (us > 0) nanosleep(&t, NULL);
}

// Blocks until the coder's only picture is done. CUDA's blocking wait returns some 100 us late, and
// here nothing else runs meanwhile. It sleeps until 1/8 of the expected time is left, or 150 us: a
// sleep may take that much longer, and what follows one is slow. It polls as long before and behind
// the expected end without a pause, then with pauses, and leaves a picture that takes twice as long
// to CUDA. The next picture is expected to take as long as this one, but at most 1/8 longer
// than this one was expected to: a host that was held up once delays one picture. If this one was
// done at the first poll, the next one is expected to take less.
cudaError_t wait_alone(const Output *out, int64_t *expected_us) {
    const int64_t expected = *expected_us, margin = std::max(expected / 8, SLEEP_LATE_US),
                  most = std::max(2 * expected, FIRST_POLLS_US);
    cudaEvent_t done = out->event[DONE];
    ShortSleeps sleeps;
    pause_us(out->begun_us + expected - margin - now_us());
    cudaError_t status = cudaEventQuery(done);
    const int too_late = status == cudaSuccess;
    while (status == cudaErrorNotReady && now_us() < out->begun_us + most) {
        if (now_us() > out->begun_us + expected + margin) pause_us(15);
        status = cudaEventQuery(done);
    }
    if (status == cudaErrorNotReady) {
        (void)cudaGetLastError(); // so that no later call reports it
        status = cudaEventSynchronize(done);
    }
    const int64_t took = now_us() - out->begun_us;
    const int64_t most_next = expected ? std::max(expected + expected / 8, MIN_EXPECTED_US) : took;
    *expected_us =
        too_late ? expected * 3 / 4 : std::min(std::min(took, most_next), MAX_EXPECTED_US);
    return status;
}

// Downloads the rest of NAL units that are longer than expected.
MotusStatus download_rest(MotusCudaCoder *c, Output *out, size_t size, MotusError *error) {
    size_t done = out->downloaded;
    if (size <= done) return MOTUS_OK;
    if (size > out->nal_room) done = 0;
    MotusStatus status = reserve_nal(c, out, size, error);
    if (!status)
        status = check(c,
                       cudaMemcpyAsync(out->h_nal + done, out->nal + done, size - done,
                                       cudaMemcpyDeviceToHost, c->down),
                       "download", error);
    return status ? status : check(c, cudaStreamSynchronize(c->down), "download", error);
}

} // namespace

extern "C" MotusStatus motus_cuda_coder_wait(void *coder, size_t *size, MotusError *error) {
    MotusCudaCoder *c = (MotusCudaCoder *)coder;
    MotusOnDevice on(c->device);
    const MotusSliceType type = motus_jobs_oldest(&c->jobs)->type;
    Output *out = output_of(c, c->jobs.finished);
    const int alone = c->jobs.begun - c->jobs.finished == 1;
    MotusStatus status = check(
        c, alone ? wait_alone(out, &c->expected_us[type]) : cudaEventSynchronize(out->event[DONE]),
        "picture", error);
    if (status) return status;
    if (out->h_report->result.overflow)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "the picture is larger than its buffer");
    *size = out->h_report->result.size;
    c->expected[type == MOTUS_SLICE_B] =
        std::min(*size + *size / 4 + 4096, motus_nal_bound(c->jobs.stream->rbsp_capacity));
    return packets_stay(c) ? MOTUS_OK : download_rest(c, out, *size, error);
}

extern "C" MotusStatus motus_cuda_coder_finish(void *coder, MotusCodedPicture *coded,
                                               MotusError *error) {
    MotusCudaCoder *c = (MotusCudaCoder *)coder;
    MotusOnDevice on(c->device);
    MotusPictureJob *job = motus_jobs_oldest(&c->jobs);
    Output *out = output_of(c, c->jobs.finished);
    memset(coded, 0, sizeof *coded);
    coded->nal = packets_stay(c) ? NULL : out->h_nal;
    coded->device_nal = out->nal;
    coded->size = out->h_report->result.size;
    coded->slices = job->slices->n;
    coded->stats = out->h_report->stats;
    MotusStatus status = MOTUS_OK;
    cudaEvent_t before = out->began; // with config.time_stages
    for (int k = job->type == MOTUS_SLICE_I ? MOTUS_STAGE_INTRA : 0;
         before && k < MOTUS_STAGES && !status; k++) {
        float *us = &coded->stage_us[k];
        status = check(c, cudaEventElapsedTime(us, before, out->ended[k]), "timing", error);
        *us *= 1000;
        before = out->ended[k];
    }
    if (!status && job->recon) status = motus_jobs_show(&c->jobs, job, out->h_mb, 1, coded);
    motus_field_free(&c->field);
    if (job->type == MOTUS_SLICE_P) {
        coded->field = c->field = out->field;
        out->field = NULL;
    }
    motus_frame_unref(&job->recon);
    c->jobs.finished++;
    return status;
}

extern "C" MotusStatus motus_cuda_coder_store(void *coder, const MotusPacketPiece *piece, int n,
                                              MotusPacketBlock **block, MotusError *error) {
    return motus_packet_pool_put(((MotusCudaCoder *)coder)->packets, piece, n, block, error);
}
