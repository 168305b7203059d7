// SPDX-License-Identifier: GPL-2.0-or-later
#include "y4m.h"

#include <stdlib.h>
#include <string.h>

static int refuse(const char *path, const char *why) {
    fprintf(stderr, "x265_motus: %s: %s\n", path, why);
    return -1;
}

int y4m_open(Y4m *y, const char *path) {
    char line[256];
    *y = (Y4m){.fps = {25, 1}};
    y->file = fopen(path, "rb");
    if (!y->file) return refuse(path, "cannot be opened");
    if (!fgets(line, sizeof line, y->file) || strncmp(line, "YUV4MPEG2 ", 10))
        return refuse(path, "is no .y4m file");
    for (char *at = strtok(line + 10, " \n"); at; at = strtok(NULL, " \n")) {
        if (*at == 'W') y->width = (int)strtol(at + 1, NULL, 10);
        if (*at == 'H') y->height = (int)strtol(at + 1, NULL, 10);
        if (*at == 'F') {
            char *colon;
            y->fps.num = (int)strtol(at + 1, &colon, 10);
            y->fps.den = *colon == ':' ? (int)strtol(colon + 1, NULL, 10) : 0;
        }
        if (*at == 'C' && (strncmp(at, "C420", 4) || at[4] == 'p'))
            return refuse(path, "is not 8-bit 4:2:0");
    }
    if (y->width < 16 || y->height < 16 || y->width > MOTUS_MAX_SIZE ||
        y->height > MOTUS_MAX_SIZE || (y->width | y->height) & 1)
        return refuse(path, "its size is not even, or outside 16x16 .. 16384x16384");
    if (y->fps.num <= 0 || y->fps.den <= 0) return refuse(path, "its frame rate is not positive");
    y->first = ftell(y->file);
    return 0;
}

int y4m_read(Y4m *y, const MotusFrame *frame) {
    char line[128];
    if (!fgets(line, sizeof line, y->file) || strncmp(line, "FRAME", 5)) return 0;
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &frame->plane[p];
        for (int row = 0; row < plane->height; row++)
            if (fread(plane->data + row * plane->stride, 1, (size_t)plane->width, y->file) !=
                (size_t)plane->width)
                return 0;
    }
    return 1;
}

int y4m_begin_again(Y4m *y) { return fseek(y->file, y->first, SEEK_SET); }

void y4m_close(Y4m *y) {
    if (y->file) fclose(y->file);
    y->file = NULL;
}
