// The settings that sequences are encoded with, x264's and ours.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_SETTINGS_H
#define TOOLS_COMPARE_SETTINGS_H

#include "motus/encoder.h"
#include "tools/peers/x264.h"

enum { MOTUS_MAX_CODERS = 16 };

typedef struct MotusCoder {
    char name[64]; // "x264 medium"
    int is_x264;
    char args[512];                     // as they were given
    char words_text[512];               // args cut into words
    const char *word[MOTUS_X264_WORDS]; // ends with NULL
    MotusEncoderConfig config; // of ours; size, rate, QP and threads are set for each encode
} MotusCoder;

typedef struct MotusCoders {
    int n;
    MotusCoder coder[MOTUS_MAX_CODERS];
} MotusCoders;

// Index of the first coder that is (or is not) x264; -1: none.
int motus_coders_first(const MotusCoders *coders, int is_x264);

// Adds a setting; `args` are words with blanks between them. MOTUS_ERR_ARGUMENT: too many, or ours
// are not understood.
MotusStatus motus_coders_add(MotusCoders *coders, int is_x264, const char *name, const char *args,
                             MotusError *error);

// Reads a file with a line "x264 NAME: ARGS" or "motus NAME: ARGS" for each setting; # begins a
// comment.
MotusStatus motus_coders_load(MotusCoders *coders, const char *path, MotusError *error);

#endif
