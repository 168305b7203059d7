// Data of the report's frame viewer: pictures as JPEG data URIs, macroblocks as compressed records
// (layout in docs/compare.md).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_VIEWER_H
#define TOOLS_COMPARE_VIEWER_H

#include "tools/cli/bytes.h"
#include "tools/compare/judge.h"

// Appends an MB's record: x264's MB, the MB of motus's stream, and the pairs.
void motus_viewer_mb(MotusBytes *b, const MotusParsedMb *x264, const MotusParsedMb *ours,
                     const MotusMbPairs *pairs);

// Compresses records (zlib) into a new base64 text; NULL without memory. The caller frees it with
// motus_free.
char *motus_viewer_pack(const MotusBytes *records);

// Encodes a picture into a new text "data:image/jpeg;base64,...", freed with motus_free. full_range
// 0: samples 16..235 are stretched.
MotusStatus motus_viewer_picture(const MotusFrame *frame, int full_range, char **uri,
                                 MotusError *error);

#endif
