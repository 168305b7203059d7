// Rate control on a CUDA device gives the CPU's streams: every mode, frames from the host and from
// the device, one lane and several.
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "tests/encoder/rate/rate_modes.h"
#include "tests/gpu/gpu.h"

typedef struct Stream {
    uint8_t *data;
    size_t size;
    int pictures, again;
} Stream;

static MotusFrame *on_device[N];

static void make_device_frames(void) {
    for (int i = 0; i < N; i++) {
        uint8_t *memory, *data[3];
        ptrdiff_t stride[3];
        CU_ASSERT_EQUAL_FATAL((int)cudaMalloc((void **)&memory, W * H * 3 / 2), 0);
        for (int p = 0; p < 3; p++) {
            const MotusPlane *from = &frames[i]->plane[p];
            data[p] = memory + (p ? W * H + (p - 1) * W * H / 4 : 0);
            stride[p] = p ? W / 2 : W;
            cudaMemcpy2D(data[p], (size_t)stride[p], from->data, (size_t)from->stride,
                         (size_t)from->width, (size_t)from->height, cudaMemcpyHostToDevice);
        }
        CU_ASSERT_EQUAL_FATAL(motus_frame_wrap(&on_device[i], W, H, data, stride, NULL, NULL),
                              MOTUS_OK);
    }
}

static void drop_device_frames(void) {
    for (int i = 0; i < N; i++) {
        cudaFree(on_device[i]->plane[0].data);
        motus_frame_unref(&on_device[i]);
    }
}

static Stream encode(const MotusEncoderConfig *config, int device) {
    MotusEncoder *enc;
    MotusError error = {0};
    MotusPacket *packet;
    Stream s = {0};
    size_t logged = 0;
    MOTUS_CHECK(motus_encoder_open(&enc, config, &error) == MOTUS_OK, "%s", error.text);
    CU_ASSERT_FATAL(enc != NULL);
    for (int i = 0; i <= N; i++) {
        int8_t map[N_MB];
        const MotusFrameParams params = params_of(i, map);
        const MotusStatus status = i == N ? motus_encoder_send(enc, NULL, NULL)
                                   : device
                                       ? motus_encoder_send_device(enc, on_device[i], NULL, &params)
                                       : motus_encoder_send(enc, frames[i], &params);
        MOTUS_CHECK(status == MOTUS_OK, "frame %d: %s", i, motus_encoder_error(enc)->text);
        while (motus_encoder_receive(enc, &packet, i < N ? 0 : -1) == MOTUS_OK) {
            s.data = realloc(s.data, s.size + packet->size);
            memcpy(s.data + s.size, packet->data, packet->size);
            s.size += packet->size;
            s.pictures++;
            s.again += packet->coded_again;
            if (packet->pass_log)
                logged += (size_t)snprintf(log_text + logged, sizeof log_text - logged, "%s",
                                           packet->pass_log);
            motus_packet_unref(&packet);
        }
    }
    if (logged) snprintf(log_text + logged, sizeof log_text - logged, "end %d\n", s.pictures);
    motus_encoder_close(&enc);
    return s;
}

// The first pass on the device, too: its log is the CPU's.
static void make_log(MotusPreset preset) {
    char want[sizeof log_text];
    for (int cuda = 0; cuda < 2; cuda++) {
        MotusEncoderConfig first = config_of(MOTUS_RATE_BITRATE);
        first.pass = 1;
        first.preset = preset;
        first.backend = cuda ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU;
        Stream unused = encode(&first, 0);
        free(unused.data);
        if (!cuda) memcpy(want, log_text, sizeof want);
    }
    MOTUS_CHECK(!strcmp(want, log_text), "log of preset %d", (int)preset);
}

// One and three lanes, frames on the host and on the device; with the other presets three lanes
// alone.
static void compare(int mode, MotusPreset preset) {
    MotusEncoderConfig c = config_of_mode(mode);
    c.preset = preset;
    const Stream want = encode(&c, 0);
    if (mode == TIGHT) CU_ASSERT(want.again > 0);
    for (int k = 0; k < 4; k++) {
        if (preset != MOTUS_PRESET_FAST && k != 1) continue;
        c.backend = MOTUS_BACKEND_CUDA;
        c.gop_coders = k & 1 ? 3 : 1;
        c.stream_only = k == 3;
        const Stream got = encode(&c, k >= 2);
        MOTUS_CHECK(got.pictures == N && got.size == want.size &&
                        !memcmp(got.data, want.data, want.size),
                    "mode %d, preset %d, %d lanes, frames on the %s: %zu bytes, not %zu", mode,
                    (int)preset, c.gop_coders, k >= 2 ? "device" : "host", got.size, want.size);
        free(got.data);
    }
    free(want.data);
}

static void equal_to_the_cpu(void) {
    if (!motus_test_has_gpu()) return;
    make_frames();
    make_device_frames();
    for (int preset = 0; preset < MOTUS_PRESETS; preset++) {
        make_log((MotusPreset)preset);
        for (int mode = 0; mode < MODES; mode++) compare(mode, (MotusPreset)preset);
    }
    drop_device_frames();
    drop_frames();
}

static const MotusTest tests[] = {{"equal_to_the_cpu", equal_to_the_cpu}, {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_rate", tests, argc, argv); }
