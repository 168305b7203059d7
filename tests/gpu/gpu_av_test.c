// interop/av_cuda on a GPU: frames as FFmpeg has them in device memory, NV12 and three planes, give
// the stream of the same frames in host memory.
// SPDX-License-Identifier: BSD-2-Clause
#include "interop/av_cuda.h"
#include "tests/gpu/gpu_sequence.h"
#include "tests/interop/av_cuda_frame.h"

enum { PITCH = 512, ROOM = PITCH * 512 };

// Puts a frame where a decoder would: rows a pitch apart, chroma below luma; `packed` gets it
// first.
static void fill(AvCudaFrame *f, const MotusFrame *frame, uint8_t *memory, uint8_t *packed,
                 cudaStream_t stream) {
    const int nv12 = f->frames.sw_format == AV_PIX_FMT_NV12, rows = f->frames.height;
    uint8_t *at[3] = {packed, packed + PITCH * rows,
                      packed + PITCH * rows + (nv12 ? 1 : PITCH / 2)};
    const int row[3] = {PITCH, PITCH, PITCH}, step[3] = {1, nv12 ? 2 : 1, nv12 ? 2 : 1};
    memset(packed, 0xEE, ROOM);
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++)
                at[p][y * row[p] + x * step[p]] =
                    frame->plane[p].data[y * frame->plane[p].stride + x];
    CU_ASSERT_EQUAL(cudaMemcpyAsync(memory, packed, ROOM, cudaMemcpyHostToDevice, stream),
                    cudaSuccess);
    for (int p = 0; p < (nv12 ? 2 : 3); p++) {
        f->av.data[p] = memory + (at[p] - packed);
        f->av.linesize[p] = PITCH;
    }
    f->av.pts = frame->number;
}

static void frames_of_ffmpeg(void) {
    static const int sizes[][2] = {{64, 64}, {130, 66}, {352, 288}};
    if (!motus_test_has_gpu()) return;
    uint8_t *memory = NULL, *packed = malloc(ROOM);
    CU_ASSERT_EQUAL_FATAL(cudaMalloc((void **)&memory, ROOM), cudaSuccess);
    for (int k = 0; k < 12; k++) {
        Sequence s;
        AvCudaFrame f;
        MotusEncoder *enc = NULL;
        cudaStream_t stream = NULL; // the devices that FFmpeg makes itself have the default one
        if (k & 2)
            CU_ASSERT_EQUAL_FATAL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                                  cudaSuccess);
        make_sequence(&s, sizes[k % 3][0], sizes[k % 3][1]);
        s.config.stream_only = 1;
        av_cuda_frame(&f, k & 1 ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_NV12, s.config.width,
                      s.config.height, stream);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
        for (int i = 0; i < N_FRAMES; i++) {
            const MotusFrameParams params = {.size = sizeof params, .pts = 1000 + i, .duration = 2};
            MotusPacket *packet = NULL;
            fill(&f, s.frame[i], memory, packed, stream);
            MotusStatus status = motus_encoder_send_av_cuda(enc, &f.av, i & 1 ? &params : NULL);
            CU_ASSERT_EQUAL(cudaMemsetAsync(memory, 0x5A, ROOM, stream),
                            cudaSuccess); // it is the caller's again
            MOTUS_CHECK(!status, "case %d, frame %d: %s", k, i, motus_encoder_error(enc)->text);
            CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
            MOTUS_CHECK(packet_is(packet, s.data[i], s.size[i]), "case %d, frame %d", k, i);
            CU_ASSERT_EQUAL(packet->pts, i & 1 ? 1000 + i : s.frame[i]->number);
            motus_packet_unref(&packet);
        }
        f.av.width += 2;
        CU_ASSERT_EQUAL(motus_encoder_send_av_cuda(enc, &f.av, NULL),
                        MOTUS_ERR_ARGUMENT); // not the configured size
        motus_encoder_close(&enc);
        if (stream) cudaStreamDestroy(stream);
        drop_sequence(&s);
    }
    cudaFree(memory);
    free(packed);
}

static const MotusTest tests[] = {{"frames_of_ffmpeg", frames_of_ffmpeg}, {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_av", tests, argc, argv); }
