// Draws, over the second picture of a .y4m file (8-bit 4:2:0), a line for each 8x8 block to where
// it was in the first. docs/search.md explains it.
//     cc vectors.c $(pkg-config --cflags --libs motus) -o vectors && ./vectors two.y4m vectors.ppm
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZOOM = 3 };

static int fail(const char *what) {
    fprintf(stderr, "vectors: %s\n", what);
    return EXIT_FAILURE;
}

// Reads a luma plane and skips the chroma after it.
static int read_picture(FILE *in, const MotusPlane *luma) {
    char line[256];
    if (!fgets(line, sizeof line, in) || strncmp(line, "FRAME", 5) != 0) return 0;
    if (fread(luma->data, (size_t)luma->width, (size_t)luma->height, in) != (size_t)luma->height)
        return 0;
    for (int left = (luma->width + 1) / 2 * ((luma->height + 1) / 2) * 2; left > 0; left--)
        if (getc(in) == EOF) return 0;
    return 1;
}

static void dot(uint8_t *rgb, int width, int height, int x, int y, int red) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    uint8_t *p = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
    p[0] = (uint8_t)red, p[1] = 0, p[2] = 0;
}

// Draws a line from the block's centre to where the block was; MVs are in quarter samples.
static void line(uint8_t *rgb, int width, int height, int x, int y, MotusMv mv) {
    int dx = mv.x * ZOOM / 4, dy = mv.y * ZOOM / 4, steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 1; i <= steps; i++)
        dot(rgb, width, height, x + dx * i / steps, y + dy * i / steps, 255);
    dot(rgb, width, height, x, y, 128);
}

static int draw(const char *name, const MotusPlane *luma, const MotusField *field) {
    int width = ZOOM * luma->width, height = ZOOM * luma->height;
    uint8_t *rgb = (uint8_t *)malloc(3 * (size_t)width * (size_t)height);
    FILE *out = rgb ? fopen(name, "wb") : NULL;
    if (!out) return 0;
    for (int i = 0; i < width * height; i++)
        memset(rgb + 3 * (size_t)i,
               128 + luma->data[i / width / ZOOM * luma->stride + i % width / ZOOM] / 2, 3);
    for (int mb = 0; mb < field->n_mb; mb++)
        for (int b = MOTUS_BLOCK_8x8; b < MOTUS_BLOCK_8x4; b++) {
            int x = 16 * (mb % field->mb_width) + motus_blocks[b].x + 4,
                y = 16 * (mb / field->mb_width) + motus_blocks[b].y + 4;
            line(rgb, width, height, ZOOM * x, ZOOM * y, field->mv[b][mb]);
        }
    fprintf(out, "P6\n%d %d\n255\n", width, height);
    size_t written = fwrite(rgb, 3 * (size_t)width, (size_t)height, out);
    free(rgb);
    return fclose(out) == 0 && written == (size_t)height;
}

int main(int argc, char **argv) {
    char header[256];
    int width = 0, height = 0;
    if (argc != 3) return fail("usage: vectors IN.y4m OUT.ppm");
    FILE *in = fopen(argv[1], "rb");
    if (!in || !fgets(header, sizeof header, in) || strncmp(header, "YUV4MPEG2 ", 10) != 0)
        return fail("no .y4m file");
    for (char *word = strtok(header + 10, " \n"); word; word = strtok(NULL, " \n")) {
        if (*word == 'W') width = atoi(word + 1);
        if (*word == 'H') height = atoi(word + 1);
        if (*word == 'C' && (strncmp(word, "C420", 4) != 0 || strncmp(word, "C420p1", 6) == 0))
            return fail("not 8-bit 4:2:0");
    }
    MotusFrame *ref = NULL, *cur = NULL; // only their luma planes are used
    if (motus_frame_alloc(&ref, width, height) || motus_frame_alloc(&cur, width, height))
        return fail("no such size");
    MotusPlane before = {ref->plane[0].data, width, width, height},
               after = {cur->plane[0].data, width, width, height};
    if (!read_picture(in, &before) || !read_picture(in, &after))
        return fail("two pictures are needed");
    fclose(in);

    MotusMeConfig config = motus_me_config_default(width, height); // +-16 samples, quarter samples
    config.modes = 1u << MOTUS_MODE_8x8;
    // A bit costs as much as 4 of SATD: MVs stay calm where there is little texture.
    MotusMeHints hints = {NULL, NULL, NULL, 4 * 256};
    MotusMe *me = NULL;
    MotusField *field = NULL;
    MotusStatus status = motus_me_open(&me, &config);
    if (!status) status = motus_field_alloc(&field, width, height);
    if (!status) status = motus_me_search(me, &after, &before, &hints, field);
    if (status) return fail(motus_status_text(status));
    if (!draw(argv[2], &after, field)) return fail("cannot write the picture");
    MotusMv mv = field->mv[MOTUS_BLOCK_8x8][field->n_mb / 2 + field->mb_width / 2];
    printf("%dx%d, %d MBs; in the middle (%+.2f, %+.2f) samples\n", width, height, field->n_mb,
           mv.x / 4.0, mv.y / 4.0);
    motus_field_free(&field);
    motus_me_close(&me);
    motus_frame_unref(&ref);
    motus_frame_unref(&cur);
    return EXIT_SUCCESS;
}
