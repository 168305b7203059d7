// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/encoder_case.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/harness.h"

static MotusFrame *make_frame(int width, int height, int t, const uint8_t *texture) {
    MotusFrame *frame = NULL;
    if (motus_frame_alloc(&frame, width, height)) return NULL;
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++) {
                int scale = p ? 2 : 1, u = (scale * x + 3 * t) / 5, v = (scale * y + 2 * t) / 6;
                frame->plane[p].data[y * frame->plane[p].stride + x] =
                    (uint8_t)(texture[(u * 31 + v * 17 + p) % 1024] / 2 + x % 64 +
                              motus_test_range(0, 3));
            }
    return frame;
}

void encoder_case_append(Stream *stream, const MotusPacket *packet) {
    stream->data = realloc(stream->data, stream->size + packet->size);
    memcpy(stream->data + stream->size, packet->data, packet->size);
    stream->size += packet->size;
    stream->idr[packet->number] = packet->is_idr;
}

MotusStatus encoder_case_encode(const MotusEncoderConfig *config, MotusFrame **frames,
                                Stream *stream) {
    MotusEncoder *enc = NULL;
    MotusStatus status = motus_encoder_open(&enc, config, NULL);
    for (int i = 0; i < N_FRAMES && !status; i++) {
        MotusPacket *packet = NULL;
        status = motus_encoder_send(enc, frames[i], NULL);
        if (!status) status = motus_encoder_receive(enc, &packet, -1);
        if (!status && stream) encoder_case_append(stream, packet);
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    return status;
}

void encoder_case_frames(MotusFrame **frames, int width, int height) {
    uint8_t texture[1024];
    motus_test_fill(texture, sizeof texture);
    for (int t = 0; t < N_FRAMES; t++) {
        frames[t] = make_frame(width, height, t, texture);
        CU_ASSERT_PTR_NOT_NULL_FATAL(frames[t]);
    }
}

void encoder_case_drop(MotusFrame **frames) {
    for (int t = 0; t < N_FRAMES; t++) motus_frame_unref(&frames[t]);
}

MotusEncoderConfig encoder_case_config(int width, int height) {
    MotusEncoderConfig config = motus_encoder_config_default(width, height, (MotusRational){25, 1});
    config.backend = MOTUS_BACKEND_CPU;
    return config;
}
