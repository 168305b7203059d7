// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/options.h"

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

// Words of x264 and ffmpeg, without dashes: the option that is meant, or why there is none.
static const struct {
    const char *word, *option, *remark;
} foreign[] = {
    {"aq", "aq-mode", NULL},
    {"an", "no-audio", NULL},
    {"b:v", "bitrate", NULL},
    {"b_strategy", "b-adapt", NULL},
    {"bf", "bframes", NULL},
    {"bufsize", "vbv-bufsize", NULL},
    {"dump-yuv", "recon", NULL},
    {"f", "format", NULL},
    {"framerate", "fps", NULL},
    {"frames:v", "frames", NULL},
    {"g", "keyint", NULL},
    {"hide_banner", "quiet", NULL},
    {"input-res", "size", NULL},
    {"keyint_min", "min-keyint", NULL},
    {"lookahead", "rc-lookahead", NULL},
    {"loglevel", "log-level", NULL},
    {"maxrate", "vbv-maxrate", NULL},
    {"merange", "range", NULL},
    {"me_range", "range", NULL},
    {"muxer", "format", NULL},
    {"no-scenecut", "scenecut", NULL},
    {"nostats", "progress", NULL},
    {"output-format", "format", NULL},
    {"passlogfile", "pass-log", NULL},
    {"profile:v", "profile", NULL},
    {"q:v", "qp", NULL},
    {"qmax", "qpmax", NULL},
    {"qmin", "qpmin", NULL},
    {"qscale:v", "qp", NULL},
    {"refs", "ref", NULL},
    {"sc_threshold", "scenecut", NULL},
    {"ss", "seek", NULL},
    {"t", "duration", NULL},
    {"to", "duration", NULL},
    {"v", "log-level", NULL},
    {"verbose", "log-level", NULL},
    {"vframes", "frames", NULL},
    {"video_size", "size", NULL},
    {"8x8dct", NULL, "on unless --no-8x8dct or --profile says otherwise"},
    {"acodec", NULL, "audio is copied"},
    {"aspect", NULL, "taken from the input"},
    {"b:a", NULL, "audio is copied"},
    {"c", NULL, "pictures become H.264, audio is copied"},
    {"c:a", NULL, "audio is copied"},
    {"c:v", NULL, "pictures always become H.264"},
    {"cabac", NULL, "on unless --no-cabac or --profile says otherwise"},
    {"codec:a", NULL, "audio is copied"},
    {"codec:v", NULL, "pictures always become H.264"},
    {"colormatrix", NULL, "taken from the input"},
    {"filter:v", NULL, "see --denoise, --equalize and --key, or filter by ffmpeg and a pipe"},
    {"input-csp", NULL, "all formats become 8-bit 4:2:0"},
    {"level", NULL, "chosen by size, rate and vectors"},
    {"me", NULL, "the search is exhaustive, see --range"},
    {"movflags", NULL, "the index lies in front; see --fragment"},
    {"output-csp", NULL, "all formats become 8-bit 4:2:0"},
    {"pix_fmt", NULL, "all formats become 8-bit 4:2:0"},
    {"psnr", NULL, "the summary and --stats have it, unless --no-psnr is given"},
    {"sar", NULL, "taken from the input"},
    {"ssim", NULL, "the summary and --stats have it"},
    {"subme", NULL, "chosen by --preset"},
    {"trellis", NULL, "chosen by --preset"},
    {"vcodec", NULL, "pictures always become H.264"},
    {"vf", NULL, "see --denoise, --equalize and --key, or filter by ffmpeg and a pipe"},
    {"x264-params", NULL, "its options are ours, as in --keyint 50"},
    {"x264opts", NULL, "its options are ours, as in --keyint 50"},
};

static size_t find_foreign(const char *name) {
    size_t i = 0;
    while (i < sizeof foreign / sizeof *foreign && strcmp(foreign[i].word, name)) i++;
    return i;
}

const char *motus_foreign_option(const char *name) {
    const size_t i = find_foreign(name);
    return i < sizeof foreign / sizeof *foreign ? foreign[i].option : NULL;
}

const char *motus_foreign_remark(const char *name) {
    const size_t i = find_foreign(name);
    return i < sizeof foreign / sizeof *foreign ? foreign[i].remark : NULL;
}
