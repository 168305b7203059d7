// Packets that wait for the decoder or the muxer, in the order they came.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_PACKETS_H
#define YUV_IO_PACKETS_H

#include <libavcodec/packet.h>

typedef struct MotusPackets {
    AVPacket **list; // list[first .. end)
    size_t first, end, capacity;
    size_t bytes; // of all
} MotusPackets;

int motus_packets_push(MotusPackets *packets,
                       const AVPacket *packet);     // keeps a reference; 0 or AVERROR
AVPacket *motus_packets_pop(MotusPackets *packets); // the caller frees; NULL: empty
void motus_packets_free(MotusPackets *packets);

#endif
