// What comes along with the pictures: audio, subtitles, attachments, rotation, chapters, titles.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_MUX_STREAMS_H
#define TOOLS_MEDIA_MUX_STREAMS_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "tools/media/mux.h"
#include "yuv/io/packets.h"

#define MOTUS_MUX_STREAMS 64 // of the input that are looked at

typedef struct MotusMuxStreams {
    MotusReader *reader;
    AVFormatContext *output;
    int to[MOTUS_MUX_STREAMS];           // stream of the output for one of the input, -1: left out
    int64_t last_dts[MOTUS_MUX_STREAMS]; // of the input's streams, in the output's unit
    MotusPackets waiting;                // for the pictures to reach them
    int64_t waiting_from;                // least time among them, reader's time base
    int copied;                          // streams
    MotusFormat format;
    int64_t lost; // packets that the container refused
} MotusMuxStreams;

// Adds streams to `output` (its video stream is there) and tells in one line what is left out. 0 or
// AVERROR.
int motus_mux_streams_add(MotusMuxStreams *streams, AVFormatContext *output,
                          const MotusMuxSettings *settings, const char *path);

// Takes what the reader met and writes what begins before `until`; both times are of the reader's
// time base, and `shift` is subtracted. What ends before `from` is dropped.
int motus_mux_streams_write(MotusMuxStreams *streams, int64_t from, int64_t until, int64_t shift);

// Reads the input on until the copied streams have reached `until`.
void motus_mux_streams_read_on(MotusMuxStreams *streams, int64_t until);

void motus_mux_streams_free(MotusMuxStreams *streams);

#endif
