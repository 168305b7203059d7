// Shows the motion of a film in the terminal: an arrow for each macroblock that moved.
//     cc arrows.c $(pkg-config --cflags --libs motus) -o arrows
//     ffmpeg -v error -i film.mp4 -f rawvideo -pix_fmt yuv420p - | ./arrows 352 288
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the arrow nearest in direction, "." for no motion. On the screen y grows downwards, as in
// pictures.
static const char *arrow(int x, int y) {
    int ax = abs(x), ay = abs(y);
    if (!x && !y) return ".";
    if (ax > 2 * ay) return x > 0 ? "→" : "←";
    if (ay > 2 * ax) return y > 0 ? "↓" : "↑";
    return y > 0 ? (x > 0 ? "↘" : "↙") : x > 0 ? "↗" : "↖";
}

static void show(const MotusField *field, int number) {
    printf("picture %d\n", number);
    for (int mb = 0; mb < field->n_mb; mb++) {
        const MotusMv mv = field->mv[MOTUS_BLOCK_16x16][mb];
        // The MV points to where the block comes from: it moved the other way.
        printf("%s%s", arrow(-mv.x, -mv.y), (mb + 1) % field->mb_width ? "" : "\n");
    }
}

int main(int argc, char **argv) {
    const int width = argc > 2 ? atoi(argv[1]) : 352, height = argc > 2 ? atoi(argv[2]) : 288;
    const size_t luma = (size_t)width * (size_t)height,
                 chroma = (size_t)((width + 1) / 2) * (size_t)((height + 1) / 2);
    MotusMeConfig config = motus_me_config_default(width, height);
    MotusMe *me = NULL;
    MotusField *field = NULL;
    config.modes = 1 << MOTUS_MODE_16x16; // the other 40 blocks are not needed
    MotusStatus status = motus_me_open(&me, &config);
    if (!status) status = motus_field_alloc(&field, width, height);
    unsigned char *cur = (unsigned char *)malloc(luma + 2 * chroma),
                  *ref = (unsigned char *)malloc(luma + 2 * chroma), *swap;

    for (int n = 0;
         !status && cur && ref && fread(cur, 1, luma + 2 * chroma, stdin) == luma + 2 * chroma;
         n++) {
        const MotusPlane now = {cur, width, width, height}, before = {ref, width, width, height};
        const MotusMeHints hints = {NULL, NULL, NULL, 1024}; // bits cost: flat areas stay calm
        if (n) status = motus_me_search(me, &now, &before, &hints, field);
        if (n && !status) show(field, n);
        swap = ref, ref = cur, cur = swap;
    }
    if (status) fprintf(stderr, "arrows: %s\n", motus_status_text(status));
    free(cur);
    free(ref);
    motus_field_free(&field);
    motus_me_close(&me);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
