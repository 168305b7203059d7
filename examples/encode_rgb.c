// Encodes RGB pictures. The encoder converts them to 4:2:0 and says so in the stream.
//     cc encode_rgb.c $(pkg-config --cflags --libs motus) -o encode_rgb && ./encode_rgb out.264
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 192, FRAMES = 30 };

// Draws drifting colours in floats of 0..1: R, G, B of each pixel.
static void draw(float *rgb, int t) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++, rgb += 3) {
            for (int k = 0; k < 3; k++) {
                const int phase = (x + y + 5 * t + 170 * k) % 512; // up for one half, then down
                rgb[k] = (float)(phase < 256 ? phase : 511 - phase) / 255;
            }
        }
}

// Writes the packets that are ready, or all pending ones (wait). Returns 0 unless that fails.
static int drain(MotusEncoder *enc, FILE *out, int wait) {
    MotusPacket *packet;
    MotusStatus status;
    while ((status = motus_encoder_receive(enc, &packet, wait ? -1 : 0)) == MOTUS_OK) {
        const int bad = fwrite(packet->data, 1, packet->size, out) != packet->size;
        motus_packet_unref(&packet);
        if (bad) return -1;
    }
    return status == MOTUS_AGAIN || status == MOTUS_END ? 0 : -1;
}

static int encode(FILE *out) {
    const MotusRational fps = {25, 1};
    static float pixels[3 * WIDTH * HEIGHT];
    MotusImage image;
    MotusEncoder *enc = NULL;
    MotusError error = {MOTUS_OK, ""};
    const MotusColour colour = MOTUS_COLOUR_BT709;
    MotusEncoderConfig config = motus_encoder_config_default(WIDTH, HEIGHT, fps);
    config.rate = MOTUS_RATE_CRF; // crf is 23 by default
    config.colour = colour;
    if (motus_encoder_open(&enc, &config, &error)) {
        fprintf(stderr, "encode_rgb: %s\n", error.text);
        return -1;
    }
    const void *const data[3] = {pixels};
    const ptrdiff_t stride[3] = {3 * sizeof *pixels * WIDTH};
    int bad = motus_image_describe(&image, MOTUS_IMAGE_RGB_FLOAT, WIDTH, HEIGHT, data, stride) !=
              MOTUS_OK;
    for (int t = 0; t < FRAMES && !bad; t++) {
        draw(pixels, t); // the encoder has read the previous picture
        bad = motus_encoder_send_image(enc, &image, NULL) || drain(enc, out, 0);
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
        fprintf(stderr, "encode_rgb: %s was not written\n", path);
        return EXIT_FAILURE;
    }
    printf("wrote %s: play it with ffplay, mpv or vlc\n", path);
    return EXIT_SUCCESS;
}
