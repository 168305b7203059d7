// Searches a picture in the one before and the one after it, as an encoder with B pictures does:
// references prepared once, a region only, statistics of its macroblocks (MBs), and the cost of
// P_Skip.
//     cc search_refs.c $(pkg-config --cflags --libs motus) -o search_refs && ./search_refs
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 192, N_MB = WIDTH / 16 * (HEIGHT / 16) };

// Bumps of hashed height, 8 samples apart, that move by (3, -2) samples a picture.
static uint8_t texture(int x, int y) {
    unsigned h = (unsigned)(x >> 3) * 374761393u + (unsigned)(y >> 3) * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (uint8_t)(((h >> 24) *
                      (unsigned)((8 - abs(2 * (x & 7) - 7)) * (8 - abs(2 * (y & 7) - 7)))) >>
                     6);
}

static MotusPlane draw(uint8_t *samples, int number) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            samples[y * WIDTH + x] = texture(x - 3 * number + 1000, y + 2 * number + 1000);
    MotusPlane plane = {samples, WIDTH, WIDTH, HEIGHT};
    return plane;
}

static void check(MotusStatus status, const char *what) {
    if (status == MOTUS_OK) return;
    fprintf(stderr, "%s: %s\n", what, motus_status_text(status));
    exit(EXIT_FAILURE);
}

int main(void) {
    static uint8_t samples[3][WIDTH * HEIGHT];
    static MotusMv mv[2][N_MB], skip[N_MB]; // one block per MB, 16x16
    static uint32_t cost[2][N_MB], skip_satd[N_MB];
    static MotusMbStats stats[N_MB];
    static MotusMeTarget target[2];
    MotusPlane picture[3] = {draw(samples[0], 0), draw(samples[1], 1), draw(samples[2], 2)};

    MotusMeConfig config = motus_me_config_default(WIDTH, HEIGHT);
    config.modes = 1u << MOTUS_MODE_16x16;
    config.range = 8;
    MotusMe *me = NULL;
    MotusMeReference *reference[2] = {NULL, NULL};
    check(motus_me_open(&me, &config), "open");
    for (int i = 0; i < 2; i++) {
        check(motus_me_reference_alloc(&reference[i], me), "reference");
        check(motus_me_reference_fill(reference[i], me, &picture[2 * i], MOTUS_MEMORY_HOST, NULL),
              "reference");
    }

    MotusMeHints hints = {NULL, NULL, NULL, 4 * 256}; // lambda 4
    for (int i = 0; i < 2; i++)
        target[i].reference = reference[i], target[i].hints = &hints, target[i].mv = mv[i],
        target[i].cost = cost[i];
    for (int i = 0; i < N_MB; i++)
        skip[i].x = -12, skip[i].y = 8; // an encoder's prediction from neighbouring MBs
    target[0].skip_mv = skip, target[0].skip_satd = skip_satd;
    MotusMeRequest request = motus_me_request_default(&picture[1], target, 2);
    request.region.x = 5, request.region.y = 4, request.region.width = 10,
    request.region.height = 3; // in MBs
    request.stats = stats;
    check(motus_me_request(me, &request), "request");
    check(motus_me_wait(me, NULL, -1), "request");

    int right = 0;
    for (int y = 4; y < 7; y++)
        for (int x = 5; x < 15; x++) {
            int mb = y * (WIDTH / 16) + x;
            right +=
                mv[0][mb].x == -12 && mv[0][mb].y == 8 && mv[1][mb].x == 12 && mv[1][mb].y == -8;
            if (x == 5)
                printf("MB (%d, %d): before (%+.2f, %+.2f) J %u, after (%+.2f, %+.2f) J %u, skip "
                       "%u, intra %u, variance %.1f\n",
                       x, y, mv[0][mb].x / 4.0, mv[0][mb].y / 4.0, cost[0][mb], mv[1][mb].x / 4.0,
                       mv[1][mb].y / 4.0, cost[1][mb], skip_satd[mb], stats[mb].intra_satd,
                       stats[mb].energy[0] / 256.0);
        }
    printf("%d of 30 MBs move by (-3, +2) to the picture before and (+3, -2) to the one after\n",
           right);
    for (int i = 0; i < 2; i++) motus_me_reference_unref(&reference[i]);
    motus_me_close(&me);
    return right == 30 && !skip_satd[4 * (WIDTH / 16) + 5] ? EXIT_SUCCESS : EXIT_FAILURE;
}
