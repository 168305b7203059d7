// Encoder settings to compare, x264's and motus's.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_SETTINGS_H
#define TOOLS_COMPARE_SETTINGS_H

#include "motus/encoder.h"
#include "tools/x264/x264.h"

enum { MOTUS_COMPARE_ENCODERS = 16 };

typedef struct MotusCompareEncoder {
    char name[64]; // "x264 medium"
    int is_x264;
    char args[512];                     // as given
    char words_text[512];               // args split into words
    const char *word[MOTUS_X264_WORDS]; // NULL-terminated
    MotusEncoderConfig config; // of motus; size, rate, QP and threads are set for each encode
} MotusCompareEncoder;

typedef struct MotusCompareEncoders {
    int n;
    MotusCompareEncoder encoder[MOTUS_COMPARE_ENCODERS];
} MotusCompareEncoders;

// Returns the index of the first setting of x264, or of motus; -1: none.
int motus_compare_encoders_first(const MotusCompareEncoders *encoders, int is_x264);

// Adds a setting; `args` are words separated by blanks. MOTUS_ERR_ARGUMENT: too many settings, or
// unknown options of motus.
MotusStatus motus_compare_encoders_add(MotusCompareEncoders *encoders, int is_x264,
                                       const char *name, const char *args, MotusError *error);

// Reads a file with a line "x264 NAME: ARGS" or "motus NAME: ARGS" for each setting; # begins a
// comment.
MotusStatus motus_compare_encoders_load(MotusCompareEncoders *encoders, const char *path,
                                        MotusError *error);

#endif
