// interop/av_cuda: frames as FFmpeg has them in device memory, NV12 and three planes, give the
// stream of the same frames in host memory.
// SPDX-License-Identifier: BSD-2-Clause
#include "interop/av_cuda.h"
#include "tests/gpu/sequence.h"
#include "tests/interop/av_cuda_frame.h"

enum { PITCH = 512, BYTES = PITCH * 512 };

// Puts a frame into `packed` as decoders do, rows a pitch apart, chroma below luma, and uploads it.
static void fill(AvCudaFrame *f, const MotusFrame *frame, uint8_t *memory, uint8_t *packed,
                 cudaStream_t stream) {
    const int nv12 = f->frames.sw_format == AV_PIX_FMT_NV12, rows = f->frames.height;
    uint8_t *at[3] = {packed, packed + PITCH * rows,
                      packed + PITCH * rows + (nv12 ? 1 : PITCH / 2)};
    const int row[3] = {PITCH, PITCH, PITCH}, step[3] = {1, nv12 ? 2 : 1, nv12 ? 2 : 1};
    memset(packed, 0xEE, BYTES);
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++)
                at[p][y * row[p] + x * step[p]] =
                    frame->plane[p].data[y * frame->plane[p].stride + x];
    GPU_OK(cudaMemcpyAsync(memory, packed, BYTES, cudaMemcpyHostToDevice, stream));
    for (int p = 0; p < (nv12 ? 2 : 3); p++) {
        f->av.data[p] = memory + (at[p] - packed);
        f->av.linesize[p] = PITCH;
    }
    f->av.pts = frame->number;
}

static void frames_of_ffmpeg(void) {
    static const int sizes[][2] = {{64, 64}, {130, 66}, {352, 288}};
    uint8_t *memory = NULL, *packed = malloc(BYTES);
    CU_ASSERT_FATAL(GPU_OK(cudaMalloc((void **)&memory, BYTES)));
    for (int k = 0; k < 12; k++) {
        Sequence s;
        AvCudaFrame f;
        cudaStream_t stream = k & 2 ? open_stream() : NULL; // FFmpeg's own devices have none
        make_sequence(&s, sizes[k % 3][0], sizes[k % 3][1]);
        s.config.stream_only = 1;
        av_cuda_frame(&f, k & 1 ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_NV12, s.config.width,
                      s.config.height, stream);
        MotusEncoder *enc = open_encoder(&s.config);
        for (int i = 0; i < N_FRAMES; i++) {
            const MotusFrameParams params = {.size = sizeof params, .pts = 1000 + i, .duration = 2};
            MotusPacket *packet = NULL;
            fill(&f, s.frame[i], memory, packed, stream);
            MotusStatus status = motus_encoder_send_av_cuda(enc, &f.av, i & 1 ? &params : NULL);
            GPU_OK(cudaMemsetAsync(memory, 0x5A, BYTES, stream)); // it is the caller's again
            MOTUS_CHECK(!status, "case %d, frame %d: %s", k, i, motus_encoder_error(enc)->text);
            CU_ASSERT_FATAL(!motus_encoder_receive(enc, &packet, -1));
            MOTUS_CHECK(packet_is(packet, s.data[i], s.size[i]), "case %d, frame %d", k, i);
            CU_ASSERT_EQUAL(packet->pts, i & 1 ? 1000 + i : s.frame[i]->number);
            motus_packet_unref(&packet);
        }
        f.av.width += 2;
        CU_ASSERT_EQUAL(motus_encoder_send_av_cuda(enc, &f.av, NULL),
                        MOTUS_ERR_ARGUMENT); // not the configured size
        motus_encoder_close(&enc);
        if (stream) close_stream(stream);
        drop_sequence(&s);
    }
    GPU_OK(cudaFree(memory));
    free(packed);
}

static const GpuRow rows[] = {GPU_TEST(frames_of_ffmpeg), {0}};
const GpuSuite gpu_av = {"av", rows};
