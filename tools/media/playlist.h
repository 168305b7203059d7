// Files that an input stands for: what a playlist (HLS, DASH, FFmpeg's concat list) names, and the
// pictures of a numbered series. libavformat opens them by itself, and nobody may write over them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_PLAYLIST_H
#define TOOLS_MEDIA_PLAYLIST_H

#include <sys/stat.h>

static inline int motus_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// Whether `file` is one of those of the input `path`. Whatever the input's text mentions counts,
// used or not; of names with numbers to be filled in
// ($Number$) whatever fits.
int motus_playlist_names(const char *path, const struct stat *file);

#endif
