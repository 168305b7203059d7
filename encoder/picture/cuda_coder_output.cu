// The results of a picture: their way down, and the host's wait for them.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include <algorithm>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "encoder/picture/cuda_coder.cuh"
#include "yuv/metrics_cuda.h"

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

MotusStatus download_recon(MotusCudaCoder *c, const Output *out, const MotusFrame *rec,
                           MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; rec && p < 3 && !status; p++) {
        const MotusPlane *from = &current_rec(c)->plane[p], *to = &rec->plane[p];
        status = check(c,
                       cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data,
                                         (size_t)from->stride, (size_t)from->width,
                                         (size_t)from->height, cudaMemcpyDeviceToHost, c->stream),
                       "download", error);
    }
    if (!status && out->with_mb)
        status = check(c,
                       cudaMemcpyAsync(out->h_mb, c->pic.mb, (size_t)c->pic.n_mb * sizeof(MotusMb),
                                       cudaMemcpyDeviceToHost, c->stream),
                       "download", error);
    return status;
}

// Adds the squared errors of the current picture to its statistics, unless nobody wants them.
MotusStatus measure_errors(MotusCudaCoder *c, const Output *out, cudaStream_t stream,
                           MotusError *error) {
    const MotusEncoderConfig *config = &c->settings->config;
    if (config->no_ssd) return MOTUS_OK;
    return check(c,
                 motus_planes_ssd_cuda(c->src, current_rec(c)->plane, config->width, config->height,
                                       out->report->stats.ssd, stream),
                 "statistics", error);
}

cudaError_t copy_by_kernel(const Output *out, cudaStream_t stream) {
    return motus_launch(0, COPY_BLOCKS, COPY_THREADS, 0, stream, copy_kernel, out->h_report,
                        out->report, out->h_nal, out->nal, (uint32_t)out->downloaded);
}

// Completes a picture alone on the stream of its passes, while it is written on the other one.
MotusStatus work_beside_writing(MotusCudaCoder *c, const Output *out, MotusError *error) {
    // The statistics are cleared.
    MotusStatus status = wait_on(c, c->stream, out->finalized, error);
    if (!status) status = measure_errors(c, out, c->stream, error);
    if (status || !out->next_costs) return status;
    status = wait_on(c, c->stream, out->written, error);
    if (!status) status = learn_costs(c, out, c->stream, error);
    return status ? status : record(c, out->written, c->stream, error);
}

} // namespace

MotusStatus motus_cuda_coder::learn_costs(MotusCudaCoder *c, const Output *out, cudaStream_t stream,
                                          MotusError *error) {
    if (!out->next_costs) return MOTUS_OK;
    return check(c, motus_cabac_costs_cuda_learn(c->bins, c->pic.costs, out->next_costs, stream),
                 "costs", error);
}

MotusStatus motus_cuda_coder::download(MotusCudaCoder *c, const Output *out, const MotusFrame *rec,
                                       MotusError *error) {
    MotusStatus status = download_recon(c, out, rec, error);
    const bool alone = is_alone(c), by_kernel = downloads_by_kernel(c);
    if (!status && out->downloaded && !by_kernel)
        status = check(c,
                       cudaMemcpyAsync(out->h_nal, out->nal, out->downloaded,
                                       cudaMemcpyDeviceToHost, c->writing),
                       "download", error);
    if (!status && alone) status = work_beside_writing(c, out, error);
    if (!status) status = follow(c, c->writing, c->stream, c->rebuilt, error);
    if (!status && !alone) status = measure_errors(c, out, c->writing, error);
    if (!status)
        status = check(c,
                       by_kernel ? copy_by_kernel(out, c->writing)
                                 : cudaMemcpyAsync(out->h_report, out->report, sizeof *out->report,
                                                   cudaMemcpyDeviceToHost, c->writing),
                       "download", error);
    return status;
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

// Returns the most that a picture is expected to take behind one that was expected to take this
// long, 0: unknown.
int64_t most_expected(int64_t expected) {
    if (!expected) return MAX_EXPECTED_US;
    return std::min(std::max(expected + expected / 8, MIN_EXPECTED_US), MAX_EXPECTED_US);
}

// Blocks until the coder's only picture is done. CUDA's blocking wait returns some 100 us late, and
// here nothing else runs meanwhile. It sleeps until 1/8 of the expected time is left, or 150 us: a
// sleep may take that much longer, and what follows one is slow. It polls as long before and behind
// the expected end without a pause, then with pauses, and leaves a picture that takes twice as long
// to CUDA. The next picture is expected to take as long as this one, but at most 1/8 longer
// than this one was expected to: a host that was held up once delays one picture. If this one was
// done at the first poll, the next one is expected to take less.
cudaError_t wait_alone(MotusCudaCoder *c, const Output *out) {
    const int64_t expected = c->expected_us[out->type],
                  margin = std::max(expected / 8, SLEEP_LATE_US),
                  most = std::max(2 * expected, FIRST_POLLS_US);
    ShortSleeps sleeps;
    pause_us(out->begun_us + expected - margin - now_us());
    cudaError_t status = cudaEventQuery(out->done);
    const int too_late = status == cudaSuccess;
    while (status == cudaErrorNotReady && now_us() < out->begun_us + most) {
        if (now_us() > out->begun_us + expected + margin) pause_us(15);
        status = cudaEventQuery(out->done);
    }
    if (status == cudaErrorNotReady) {
        (void)cudaGetLastError(); // so that no later call reports it
        status = cudaEventSynchronize(out->done);
    }
    const int64_t took = now_us() - out->begun_us;
    c->expected_us[out->type] =
        too_late ? expected * 3 / 4 : std::min(took, most_expected(expected));
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

// Reads how long each stage of a picture took.
MotusStatus read_timing(MotusCudaCoder *c, const Output *out, float us[MOTUS_STAGES],
                        MotusError *error) {
    MotusStatus status = MOTUS_OK;
    cudaEvent_t before = out->began;
    memset(us, 0, MOTUS_STAGES * sizeof *us);
    for (int k = out->type == MOTUS_SLICE_I ? MOTUS_STAGE_INTRA : 0;
         out->began && k < MOTUS_STAGES && !status; k++) {
        status = check(c, cudaEventElapsedTime(&us[k], before, out->ended[k]), "timing", error);
        us[k] *= 1000;
        before = out->ended[k];
    }
    return status;
}

} // namespace

extern "C" MotusStatus motus_cuda_coder_wait(MotusCudaCoder *c, MotusCudaPicture *picture,
                                             MotusError *error) {
    MotusOnDevice on(c->device);
    Output *out = output_of(c, c->finished);
    const int alone = c->begun - c->finished == 1;
    MotusStatus status =
        check(c, alone ? wait_alone(c, out) : cudaEventSynchronize(out->done), "picture", error);
    c->finished++;
    if (status) return status;
    size_t size = out->h_report->result.size, most = motus_nal_bound(c->settings->rbsp_capacity);
    if (out->h_report->result.overflow)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "the picture is larger than its buffer");
    if (!packets_stay(c)) status = download_rest(c, out, size, error);
    c->expected[out->type == MOTUS_SLICE_B] =
        size + size / 4 + 4096 < most ? size + size / 4 + 4096 : most;
    picture->nal = packets_stay(c) ? NULL : out->h_nal;
    picture->device_nal = out->nal;
    picture->size = size;
    picture->stats = out->h_report->stats;
    picture->mb = out->with_mb ? out->h_mb : NULL;
    return status ? status : read_timing(c, out, picture->stage_us, error);
}
