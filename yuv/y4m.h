// YUV4MPEG2: one text line for the stream, then for each picture the line "FRAME" and three planes.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_Y4M_H
#define YUV_Y4M_H

#include "yuv/reader_ops.h"

#define MOTUS_Y4M_MAGIC "YUV4MPEG2"
#define MOTUS_Y4M_MAX_LINE 1024 // bytes of a header line with its newline; real ones have 30..150

typedef struct MotusY4mHeader {
    MotusSequenceInfo info; // frames is left at -1
    size_t length;          // bytes of the line with its newline
    int is_420;             // 8-bit 4:2:0: what motus_y4m_open can read
} MotusY4mHeader;

// Parses the stream header that lies ahead of `source` and consumes nothing. `name` is for error texts. MOTUS_ERR_FORMAT, _TRUNCATED,
// _UNSUPPORTED (interlaced), _IO.
MotusStatus motus_y4m_header(MotusSource *source, MotusY4mHeader *header, const char *name, MotusError *error);

// Consumes the header and makes `reader` (source and name are set) a y4m reader.
void motus_y4m_open(MotusReader *reader, const MotusY4mHeader *header);

#endif
