// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"

#include <stdlib.h>
#include <string.h>

#ifndef MOTUS_GPU_NAMES
#define MOTUS_GPU_NAMES ""
#endif

const char *motus_device_code(void) { return MOTUS_GPU_NAMES; }

// True if the code that one word names runs. Code runs on its own and later minor versions of its
// major version, PTX on all later devices; "a" ties either to one device, "f" to one major version.
static int runs(const char *word, int capability) {
    const int is_ptx = !strncmp(word, "compute_", 8);
    char *suffix;
    const int made_for = (int)strtol(strchr(word, '_') + 1, &suffix, 10);
    if (*suffix == 'a') return made_for == capability;
    return made_for <= capability &&
           ((is_ptx && *suffix != 'f') || made_for / 10 == capability / 10);
}

int motus_device_code_runs(const char *code, int capability) {
    const char *word = code;
    do {
        word += *word == ' ';
        if (!strchr(word, '_')) break;
        if (runs(word, capability)) return 1;
        word = strchr(word, ' ');
    } while (word);
    return !*code; // unknown: CUDA will tell
}
