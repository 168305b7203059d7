// The parts of a libavformat input beside its pictures: the container, and the packets of its other
// streams.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_MEDIA_H
#define YUV_IO_MEDIA_H

#include <libavformat/avformat.h>
#include <stdatomic.h>

#include "yuv/io/reader.h"

// A queue of packets.
typedef struct MotusPackets {
    AVPacket **list; // list[first .. end)
    size_t first, end, capacity;
    size_t bytes; // of all packets
} MotusPackets;

// Keeps a reference. Returns 0 or AVERROR.
int motus_packets_push(MotusPackets *packets, const AVPacket *packet);

// Returns the oldest packet, which the caller frees; NULL: empty.
AVPacket *motus_packets_pop(MotusPackets *packets);
void motus_packets_free(MotusPackets *packets);

// ---- An input -----------------------------------------------------------------------------------

// Returns the open input, which the reader owns, and the index of its video stream. NULL: the
// reader does not use libavformat (y4m, headerless).
AVFormatContext *motus_media_container(const MotusReader *reader, int *video);

// Returns the start of an input whose clock does not start at 0 (a transport or program stream, cut
// out of a broadcast or a recording), in AV_TIME_BASE; 0 for all others.
int64_t motus_media_clock_start(const MotusReader *reader);

// Returns the display matrix, nine numbers as in libavutil/display.h; NULL: none.
const int32_t *motus_media_matrix(const MotusReader *reader);

// Returns the next packet of another stream that was read along with the pictures
// (options.with_side_streams); NULL: there is none. The caller frees it.
AVPacket *motus_media_side_packet(MotusReader *reader);

// Reads on to the next packet of the video stream, for the sake of the other streams. *at gets its
// time (AV_NOPTS_VALUE: unknown). Returns 0 at the input's end.
int motus_media_read_on(MotusReader *reader, int64_t *at);

// ---- media_damage.c: the log of libav* ----------------------------------------------------------

enum { MOTUS_TEXT_FREE, MOTUS_TEXT_BEING_WRITTEN, MOTUS_TEXT_READY };

// The errors that libav* logs about a decoder or container, from any thread.
typedef struct MotusMediaLog {
    uint32_t magic;
    int opening;                   // 1: errors are kept for the message, those of playlists count
    atomic_int decoder, container; // errors so far
    atomic_int text_state;         // MOTUS_TEXT_*
    char text[100];                // of one of the errors
} MotusMediaLog;

// Starts logging; libav* prints nothing. From now on the `opaque` of codec and format contexts may
// point to `log`.
void motus_media_log_begin(MotusMediaLog *log);

// Writes the logged text as " (TEXT)", or "", and takes it out.
void motus_media_log_take(MotusMediaLog *log, char text[120]);

#endif
