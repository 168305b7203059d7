// Rate control gives the CPU's streams: every mode, frames from the host and from the device, one
// GOP coder and several.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "tests/encoder/rate/rate_modes.h"
#include "tests/gpu/sequence.h"

typedef struct Stream {
    uint8_t *data;
    size_t size;
    int pictures, again;
} Stream;

static DeviceFrame on_device[N];

static Stream encode(const MotusEncoderConfig *config, int device) {
    MotusEncoder *enc = open_encoder(config);
    MotusPacket *packet;
    Stream s = {0};
    size_t logged = 0;
    for (int i = 0; i <= N; i++) {
        int8_t map[N_MB];
        const MotusFrameParams params = params_of(i, map);
        const MotusStatus status =
            i == N   ? motus_encoder_send(enc, NULL, NULL)
            : device ? motus_encoder_send_device(enc, on_device[i].frame, NULL, &params)
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

// Leaves the log of a first pass in log_text. The device's must be the CPU's.
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

// One and three GOP coders, frames on the host and on the device; with other presets than FAST only
// three GOP coders and frames on the host.
static void compare(int mode, MotusPreset preset) {
    MotusEncoderConfig c = config_of_mode(mode);
    c.preset = preset;
    c.profile = mode % 2 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_BASELINE; // TIGHT: undone CABAC
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
                    "mode %d, preset %d, %d GOP coders, frames on the %s: %zu bytes, not %zu", mode,
                    (int)preset, c.gop_coders, k >= 2 ? "device" : "host", got.size, want.size);
        free(got.data);
    }
    free(want.data);
}

static void equal_to_the_cpu(void) {
    make_frames();
    for (int i = 0; i < N; i++) {
        on_device[i] = device_frame(W, H, 0, 0);
        upload(&on_device[i], frames[i], NULL);
    }
    GPU_OK(cudaDeviceSynchronize());
    for (int preset = 0; preset < MOTUS_PRESETS; preset++) {
        make_log((MotusPreset)preset);
        for (int mode = 0; mode < MODES; mode++) compare(mode, (MotusPreset)preset);
    }
    for (int i = 0; i < N; i++) drop_device_frame(&on_device[i]);
    drop_frames();
}

static const GpuRow rows[] = {GPU_TEST(equal_to_the_cpu), {0}};
const GpuSuite gpu_rate = {"rate", rows};
