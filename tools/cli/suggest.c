// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/suggest.h"

#include <stddef.h>
#include <string.h>

#include "common/int_core.h"

enum { LONGEST = 32 }; // letters of a word that is compared

int motus_word_distance(const char *a, const char *b) {
    const int n = (int)strlen(a), m = (int)strlen(b);
    int d[LONGEST + 1][LONGEST + 1];
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            d[i][j] = motus_max(i, j);
            if (!i || !j) continue;
            d[i][j] = motus_min(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                                motus_min(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = motus_min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *motus_nearest_word(const char *word, const char *const *names, int n) {
    int least = ((int)strlen(word) + 2) / 3 + 1;
    const char *nearest = NULL;
    for (int i = 0; i < n; i++) {
        const int distance = motus_word_distance(word, names[i]);
        if (distance >= least || distance >= (int)strlen(names[i])) continue;
        nearest = names[i];
        least = distance;
    }
    return nearest;
}

const char *motus_foreign_option(const char *name) {
    static const char *const pairs[][2] = {
        {"aq", "aq-mode"},
        {"an", "no-audio"},
        {"b:v", "bitrate"},
        {"bufsize", "vbv-bufsize"},
        {"dump-yuv", "recon"},
        {"f", "format"},
        {"framerate", "fps"},
        {"frames:v", "frames"},
        {"g", "keyint"},
        {"input-res", "size"},
        {"keyint_min", "min-keyint"},
        {"lookahead", "rc-lookahead"},
        {"loglevel", "log-level"},
        {"maxrate", "vbv-maxrate"},
        {"merange", "range"},
        {"me_range", "range"},
        {"output-format", "format"},
        {"passlogfile", "pass-log"},
        {"profile:v", "profile"},
        {"qmax", "qpmax"},
        {"qmin", "qpmin"},
        {"sc_threshold", "scenecut"},
        {"ss", "seek"},
        {"t", "duration"},
        {"to", "duration"},
        {"vframes", "frames"},
        {"video_size", "size"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(pairs[i][0], name)) return pairs[i][1];
    return NULL;
}
