// Encodes generated frames to an H.264 byte stream.
//     cc encode.c $(pkg-config --cflags --libs motus) -o encode && ./encode out.264
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 192, FRAMES = 30 };

// Draws a bright disc that crosses a diagonal gradient.
static void draw(MotusFrame *frame, int t) {
    int cx = 20 + 9 * t, cy = HEIGHT / 2 + (t - FRAMES / 2) * 3;
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &frame->plane[p];
        int shift = p > 0;
        for (int y = 0; y < plane->height; y++)
            for (int x = 0; x < plane->width; x++) {
                int dx = (x << shift) - cx, dy = (y << shift) - cy,
                    disc = dx * dx + dy * dy < 40 * 40;
                plane->data[y * plane->stride + x] =
                    (uint8_t)(p == 0 ? (disc ? 220 : 40 + (x + y) / 4)
                              : disc ? 90 + 70 * (p - 1)
                                     : 128);
            }
    }
}

// Writes the packets that are ready, or all pending ones (wait). Returns 0 unless that fails.
static int drain(MotusEncoder *enc, FILE *out, int wait) {
    MotusPacket *packet;
    MotusStatus status;
    while ((status = motus_encoder_receive(enc, &packet, wait ? -1 : 0)) == MOTUS_OK) {
        uint64_t samples = (uint64_t)WIDTH * HEIGHT;
        printf("picture %2lld: %c, %6zu bytes, luma PSNR %.2f dB\n", (long long)packet->number,
               packet->type, packet->size, motus_psnr(packet->stats.ssd[0], samples));
        int bad = fwrite(packet->data, 1, packet->size, out) != packet->size;
        motus_packet_unref(&packet);
        if (bad) return -1;
    }
    return status == MOTUS_AGAIN || status == MOTUS_END ? 0 : -1;
}

static int encode(FILE *out) {
    const MotusRational fps = {25, 1};
    MotusEncoderConfig config = motus_encoder_config_default(WIDTH, HEIGHT, fps);
    config.qp = 28;
    MotusEncoder *enc = NULL;
    MotusError error = {MOTUS_OK, ""};
    if (motus_encoder_open(&enc, &config, &error)) {
        fprintf(stderr, "encode: %s\n", error.text);
        return -1;
    }
    int bad = 0;
    for (int t = 0; t < FRAMES && !bad; t++) {
        MotusFrame *frame = NULL;
        bad = motus_frame_alloc(&frame, WIDTH, HEIGHT) != MOTUS_OK;
        if (bad) break;
        draw(frame, t);
        bad = motus_encoder_send(enc, frame, NULL) || drain(enc, out, 0);
        motus_frame_unref(&frame);
    }
    bad = bad || motus_encoder_send(enc, NULL, NULL) || drain(enc, out, 1);
    motus_encoder_close(&enc);
    return bad ? -1 : 0;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "out.264";
    FILE *out = fopen(path, "wb");
    if (!out) {
        perror(path);
        return EXIT_FAILURE;
    }
    int bad = encode(out);
    if (fclose(out) || bad) {
        fprintf(stderr, "encode: %s was not written\n", path);
        return EXIT_FAILURE;
    }
    printf("wrote %s: play it with ffplay, mpv or vlc\n", path);
    return EXIT_SUCCESS;
}
