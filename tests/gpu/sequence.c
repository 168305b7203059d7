// SPDX-License-Identifier: BSD-2-Clause
#include "tests/gpu/sequence.h"

#include <time.h>

#include "motus/upload.h"

MotusFrame *gpu_picture(int content, int width, int height, int t) {
    const int flat = content == GPU_NEARLY_STILL, checkers = content == GPU_CHECKERS;
    MotusFrame *frame = motus_material_frame(content < MOTUS_MATERIALS ? (MotusMaterial)content
                                                                       : MOTUS_MATERIAL_STILL,
                                             width, height, t);
    const MotusPlane *luma = &frame->plane[0];
    for (int i = 0; i < width * height && (flat || checkers); i++) {
        const int x = i % width, y = i / width;
        luma->data[y * luma->stride + x] =
            (uint8_t)(flat ? 90 + t % 2 : (x / 2 + y / 2 + t) % 2 * 255);
    }
    return frame;
}

static void configure(Sequence *s, int width, int height) {
    memset(s, 0, sizeof *s);
    s->config = motus_encoder_config_default(width, height, (MotusRational){25, 1});
    s->config.backend = MOTUS_BACKEND_CPU;
    s->config.keyint = 3;
    s->config.range = 8;
}

static void make(Sequence *s) {
    const int width = s->config.width, height = s->config.height;
    MotusEncoder *enc = open_encoder(&s->config);
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet;
        s->frame[i] = gpu_picture(MOTUS_MATERIAL_SCENE, width, height, i);
        s->frame[i]->number = 70 + i;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_send(enc, s->frame[i], NULL), MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
        s->recon[i] = motus_frame_ref(packet->recon);
        s->size[i] = packet->size;
        s->data[i] = malloc(packet->size);
        memcpy(s->data[i], packet->data, packet->size);
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    s->config.backend = MOTUS_BACKEND_CUDA;
}

void make_sliced_sequence(Sequence *s, int width, int height, int slices, MotusProfile profile) {
    configure(s, width, height);
    s->config.slices = slices;
    s->config.profile = profile;
    make(s);
}

void make_sequence(Sequence *s, int width, int height) {
    make_sliced_sequence(s, width, height, 1, MOTUS_PROFILE_BASELINE);
}

void make_rated_sequence(Sequence *s, int width, int height) {
    configure(s, width, height);
    s->config.rate = MOTUS_RATE_CRF;
    s->config.profile = MOTUS_PROFILE_MAIN;
    s->config.lookahead = 0; // packets come at once
    s->config.aq_mode = MOTUS_AQ_AUTO;
    make(s);
}

void drop_sequence(Sequence *s) {
    for (int i = 0; i < N_FRAMES; i++) {
        motus_frame_unref(&s->frame[i]);
        motus_frame_unref(&s->recon[i]);
        free(s->data[i]);
    }
}

MotusEncoder *open_encoder(const MotusEncoderConfig *config) {
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    const MotusStatus status = motus_encoder_open(&enc, config, &error);
    MOTUS_CHECK(status == MOTUS_OK, "%s", error.text);
    CU_ASSERT_FATAL(enc != NULL);
    return enc;
}

int packet_is(const MotusPacket *packet, const uint8_t *data, size_t size) {
    if (packet->size != size || !packet->data == !packet->device_data) return 0;
    if (packet->data) return !memcmp(packet->data, data, size);
    uint8_t *copy = malloc(size);
    struct cudaPointerAttributes where = {0};
    int same = cudaPointerGetAttributes(&where, packet->device_data) == cudaSuccess &&
               where.type == cudaMemoryTypeDevice && where.device == packet->device;
    same = same &&
           cudaMemcpy(copy, packet->device_data, size, cudaMemcpyDeviceToHost) == cudaSuccess &&
           !memcmp(copy, data, size);
    free(copy);
    return same;
}

int as_wanted(MotusEncoder *enc, const Sequence *s, int i) {
    MotusPacket *packet;
    if (motus_encoder_receive(enc, &packet, -1)) return 0;
    int same = packet_is(packet, s->data[i], s->size[i]);
    if (packet->recon)
        same = same && motus_test_same_frames(packet->recon, s->recon[i]) &&
               motus_test_same_frames(packet->source, s->frame[i]) &&
               packet->source->number == s->frame[i]->number;
    motus_packet_unref(&packet);
    return same;
}

void encode_all(MotusEncoder *enc, const Sequence *s) {
    for (int i = 0; i < N_FRAMES; i++) {
        MotusStatus status = motus_encoder_send(enc, s->frame[i], NULL);
        MOTUS_CHECK(status == MOTUS_OK, "frame %d: %s", i, motus_encoder_error(enc)->text);
        MOTUS_CHECK(as_wanted(enc, s, i), "picture %d", i);
    }
}

DeviceFrame device_frame(int width, int height, int gap, int shift) {
    DeviceFrame d = {0};
    size_t at[3];
    ptrdiff_t stride[3];
    for (int p = 0; p < 3; p++) {
        int w = p ? (width + 1) / 2 : width, h = p ? (height + 1) / 2 : height;
        at[p] = (d.size + 255) / 256 * 256 + (size_t)shift;
        stride[p] = w + gap;
        d.size = at[p] + (size_t)(stride[p] * (h - 1) + w); // up to the last sample
    }
    CU_ASSERT_FATAL(GPU_OK(cudaMalloc((void **)&d.memory, d.size)));
    uint8_t *const data[3] = {d.memory + at[0], d.memory + at[1], d.memory + at[2]};
    CU_ASSERT_EQUAL_FATAL(motus_frame_wrap(&d.frame, width, height, data, stride, NULL, NULL),
                          MOTUS_OK);
    return d;
}

void drop_device_frame(DeviceFrame *d) {
    cudaFree(d->memory);
    motus_frame_unref(&d->frame);
}

void upload(const DeviceFrame *d, const MotusFrame *frame, cudaStream_t stream) {
    for (int p = 0; p < 3; p++) {
        const MotusPlane *to = &d->frame->plane[p], *from = &frame->plane[p];
        GPU_OK(cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride,
                                 (size_t)from->width, (size_t)from->height, cudaMemcpyHostToDevice,
                                 stream));
    }
    d->frame->number = frame->number;
}

void overwrite(const DeviceFrame *d, cudaStream_t stream) {
    GPU_OK(cudaMemsetAsync(d->memory, 0x5A, d->size, stream));
}

void release(MotusEncoder *enc, DeviceFrame *d, Sequence *s) {
    motus_encoder_close(&enc);
    if (d) drop_device_frame(d);
    if (s) drop_sequence(s);
}

cudaStream_t open_stream(void) {
    cudaStream_t stream = NULL;
    CU_ASSERT_FATAL(GPU_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)));
    return stream;
}

void close_stream(cudaStream_t stream) { GPU_OK(cudaStreamDestroy(stream)); }

static void CUDART_CB sleep_here(void *milliseconds) {
    const struct timespec t = {.tv_nsec = 1000000 * (long)(intptr_t)milliseconds};
    nanosleep(&t, NULL);
}

void sleep_on(cudaStream_t stream, int milliseconds) {
    GPU_OK(cudaLaunchHostFunc(stream, sleep_here, (void *)(intptr_t)milliseconds));
}

MotusStatus copy_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    return motus_cuda_copy(d_out, d_in, *(size_t *)opaque, stream, error);
}
