// Renders frames on the GPU and encodes them there: only the stream reaches host memory.
//     nvcc -std=c++17 encode_gpu.cu $(pkg-config --cflags --libs motus) -o encode_gpu &&
//     ./encode_gpu out.264
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime.h>
#include <motus/motus.h>

#include <cstdio>
#include <cstdlib>

constexpr int WIDTH = 640, HEIGHT = 360, FRAMES = 60;

// Draws one plane: a ring of light around a point that moves over a gradient. Chroma planes (p = 1,
// 2) have half the width and height.
__global__ void draw(MotusPlane plane, int p, int t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= plane.width || y >= plane.height) return;
    int scale = p > 0 ? 2 : 1;
    float dx = scale * x - WIDTH * (0.5f + 0.4f * cosf(0.07f * t)),
          dy = scale * y - HEIGHT * (0.5f + 0.3f * sinf(0.11f * t));
    float light = expf(-fabsf(sqrtf(dx * dx + dy * dy) - 60) / 12);
    float ground = p == 0 ? 40 + 120.0f * (x + y) / (WIDTH + HEIGHT) : 128;
    float glow = p == 1 ? -50 : 60;
    plane.data[y * plane.stride + x] = (uint8_t)(ground + glow * light + 0.5f);
}

// Prints an error; returns true if there is none.
static bool fine(cudaError_t status, const char *what) {
    if (status != cudaSuccess)
        std::fprintf(stderr, "encode_gpu: %s: %s\n", what, cudaGetErrorString(status));
    return status == cudaSuccess;
}

static bool fine(const MotusEncoder *enc, MotusStatus status) {
    const MotusError *cause = motus_encoder_error(enc);
    if (status < 0)
        std::fprintf(stderr, "encode_gpu: encoder: %s\n",
                     cause->status == status ? cause->text : motus_status_text(status));
    return status >= 0;
}

static bool render(const MotusFrame *frame, int t, cudaStream_t stream) {
    for (int p = 0; p < 3; p++) {
        dim3 block(32, 8),
            grid((frame->plane[p].width + 31) / 32, (frame->plane[p].height + 7) / 8);
        draw<<<grid, block, 0, stream>>>(frame->plane[p], p, t);
        if (!fine(cudaGetLastError(), "drawing")) return false;
    }
    return true;
}

// Returns a frame in device memory, which *memory owns.
static MotusFrame *frame_on_device(uint8_t **memory) {
    MotusFrame *frame = nullptr;
    size_t luma = (size_t)WIDTH * HEIGHT, chroma = luma / 4;
    if (!fine(cudaMalloc(memory, luma + 2 * chroma), "device memory")) return nullptr;
    uint8_t *const data[3] = {*memory, *memory + luma, *memory + luma + chroma};
    const ptrdiff_t stride[3] = {WIDTH, WIDTH / 2, WIDTH / 2};
    MotusStatus status = motus_frame_wrap(&frame, WIDTH, HEIGHT, data, stride, nullptr, nullptr);
    if (status != MOTUS_OK)
        std::fprintf(stderr, "encode_gpu: frame: %s\n", motus_status_text(status));
    return frame;
}

// Writes the packets that are ready, or all pending ones (wait). Returns false if that fails.
static bool drain(MotusEncoder *enc, FILE *out, bool wait) {
    MotusPacket *packet;
    MotusStatus status;
    while ((status = motus_encoder_receive(enc, &packet, wait ? -1 : 0)) == MOTUS_OK) {
        std::printf("picture %2lld: %c, %6zu bytes, luma PSNR %.2f dB\n", (long long)packet->number,
                    packet->type, packet->size,
                    motus_psnr(packet->stats.ssd[0], (uint64_t)WIDTH * HEIGHT));
        bool written = std::fwrite(packet->data, 1, packet->size, out) == packet->size;
        motus_packet_unref(&packet);
        if (!written) {
            std::perror("encode_gpu: writing");
            return false;
        }
    }
    return fine(enc, status);
}

static bool encode(MotusEncoder *enc, FILE *out) {
    uint8_t *memory = nullptr;
    cudaStream_t stream = nullptr;
    MotusFrame *frame = frame_on_device(&memory);
    bool good = frame && fine(cudaStreamCreate(&stream), "stream");
    // One frame is enough: rendering and reading alternate on the stream.
    for (int t = 0; t < FRAMES && good; t++)
        good = render(frame, t, stream) &&
               fine(enc, motus_encoder_send_device(enc, frame, stream, nullptr)) &&
               drain(enc, out, false);
    good = good && fine(enc, motus_encoder_send(enc, nullptr, nullptr)) && drain(enc, out, true);
    motus_frame_unref(&frame);
    cudaFree(memory);
    if (stream) cudaStreamDestroy(stream);
    return good;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "out.264";
    MotusEncoderConfig config = motus_encoder_config_default(WIDTH, HEIGHT, MotusRational{30, 1});
    config.backend = MOTUS_BACKEND_CUDA;
    config.stream_only = 1; // packets bring neither reconstruction nor source to the host
    MotusEncoder *enc = nullptr;
    MotusError error = {};
    if (motus_encoder_open(&enc, &config, &error) != MOTUS_OK) {
        std::fprintf(stderr, "encode_gpu: %s\n", error.text);
        return EXIT_FAILURE;
    }
    FILE *out = std::fopen(path, "wb");
    bool good = out && encode(enc, out);
    if (!out || std::fclose(out) != 0) {
        std::perror(path);
        good = false;
    }
    motus_encoder_close(&enc);
    std::printf(good ? "wrote %s: play it with ffplay, mpv or vlc\n" : "%s was not written\n",
                path);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
