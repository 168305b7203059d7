// What the program needs of a libavformat input beside its pictures: the container, and the packets
// of its other streams.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_MEDIA_H
#define YUV_IO_MEDIA_H

#include <libavformat/avformat.h>

#include "yuv/io/reader.h"

// The open input and the index of its video stream; NULL where libavformat does not read it (y4m,
// headerless). The reader's.
AVFormatContext *motus_media_container(const MotusReader *reader, int *video);

// Where the times of an input begin that count from no zero of their own (a transport or program
// stream, cut out of a broadcast or a recording), in AV_TIME_BASE; 0 for all others.
int64_t motus_media_clock_start(const MotusReader *reader);

// The matrix that players apply to the pictures, nine numbers as libavutil/display.h has them;
// NULL: none.
const int32_t *motus_media_matrix(const MotusReader *reader);

// The next packet of another stream that came along with the pictures read so far
// (options.with_side_streams); NULL: none waits. The caller frees it.
AVPacket *motus_media_side_packet(MotusReader *reader);

// Reads on for the other streams' sake, past a picture that nobody wants, whose time goes to *at
// (AV_NOPTS_VALUE: unknown). 0: the input has ended.
int motus_media_read_on(MotusReader *reader, int64_t *at);

#endif
