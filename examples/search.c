// Motion field of two generated pictures: the second is the first moved by (+3, -2) samples.
//     cc search.c $(pkg-config --cflags --libs motus) -o search && ./search
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 192 };

// A texture without repetition: hashed values on a 4x4 grid, bilinear in between.
static int grid(int x, int y) {
    unsigned h = (unsigned)x * 374761393u + (unsigned)y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (h >> 24) & 255;
}

static uint8_t texture(int x, int y) {
    int gx = x >> 2, gy = y >> 2, fx = x & 3, fy = y & 3;
    int top = grid(gx, gy) * (4 - fx) + grid(gx + 1, gy) * fx;
    int bottom = grid(gx, gy + 1) * (4 - fx) + grid(gx + 1, gy + 1) * fx;
    return (uint8_t)((top * (4 - fy) + bottom * fy) >> 4);
}

static void draw(uint8_t *samples, int move_x, int move_y) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            samples[y * WIDTH + x] = texture(x - move_x + 1000, y - move_y + 1000);
}

int main(void) {
    static uint8_t before[WIDTH * HEIGHT], after[WIDTH * HEIGHT];
    draw(before, 0, 0);
    draw(after, 3, -2);
    MotusPlane ref = {before, WIDTH, WIDTH, HEIGHT}, cur = {after, WIDTH, WIDTH, HEIGHT};

    MotusMeConfig config = motus_me_config_default(WIDTH, HEIGHT);
    MotusMe *me = NULL;
    MotusField *field = NULL;
    MotusStatus status = motus_me_open(&me, &config);
    if (!status) status = motus_field_alloc(&field, WIDTH, HEIGHT);
    if (!status) status = motus_me_search(me, &cur, &ref, NULL, field);
    if (status) {
        fprintf(stderr, "search: %s\n", motus_status_text(status));
        return EXIT_FAILURE;
    }

    // The content moved by (+3, -2), so the match in `ref` is at (-3, +2): (-12, 8) in quarter
    // samples.
    int found = 0;
    for (int mb = 0; mb < field->n_mb; mb++) {
        MotusMv mv = field->mv[MOTUS_BLOCK_16x16][mb];
        found += mv.x == -12 && mv.y == 8;
        if (mb % (field->mb_width + 1) == 0)
            printf("MB (%2d, %2d): 16x16 vector (%+.2f, %+.2f), SAD %u\n", mb % field->mb_width,
                   mb / field->mb_width, mv.x / 4.0, mv.y / 4.0, field->sad[MOTUS_BLOCK_16x16][mb]);
    }
    printf("%d of %d MBs have the vector (-3, +2); those at the edge may not\n", found,
           field->n_mb);
    int inner = (field->mb_width - 2) * (field->mb_height - 2);
    motus_field_free(&field);
    motus_me_close(&me);
    return found >= inner ? EXIT_SUCCESS : EXIT_FAILURE;
}
