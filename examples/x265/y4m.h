// Reads 8-bit 4:2:0 .y4m files.
// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef EXAMPLES_X265_Y4M_H
#define EXAMPLES_X265_Y4M_H

#include <motus/motus.h>
#include <stdio.h>

typedef struct Y4m {
    FILE *file;
    long first; // offset of the first frame
    int width, height;
    MotusRational fps;
} Y4m;

int y4m_open(Y4m *y, const char *path);        // 0; -1 after printing an error
int y4m_read(Y4m *y, const MotusFrame *frame); // 1; 0 at the end
int y4m_begin_again(Y4m *y);                   // 0; -1: the file cannot seek
void y4m_close(Y4m *y);

#endif
