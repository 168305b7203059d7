// What the report's frame viewer shows, packed: pictures as JPEG data URIs, macroblocks as
// compressed records. docs/compare.md has the layout.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_VIEWER_H
#define TOOLS_COMPARE_VIEWER_H

#include "tools/compare/judge.h"

// Bytes that grow.
typedef struct MotusBytes {
    uint8_t *data;
    size_t n, room;
    int failed; // no memory
} MotusBytes;

void motus_bytes_add(MotusBytes *bytes, const void *data, size_t n);
void motus_bytes_free(MotusBytes *bytes);

// Appends the record of an MB to b: as x264 coded it, as our encoder coded it (ours), and the
// pairs.
void motus_viewer_mb(MotusBytes *b, const MotusReadMb *x264, const MotusReadMb *ours,
                     const MotusMbPairs *pairs);

// Compresses records (zlib) into a new base64 text, or NULL: no memory. Free with motus_free.
char *motus_viewer_pack(const MotusBytes *records);

// A picture as a new text "data:image/jpeg;base64,...". full_range 0: samples are 16..235 and are
// stretched. Free with motus_free.
MotusStatus motus_viewer_picture(const MotusFrame *frame, int full_range, char **uri,
                                 MotusError *error);

#endif
