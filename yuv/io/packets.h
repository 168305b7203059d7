// A queue of packets.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_PACKETS_H
#define YUV_IO_PACKETS_H

#include <libavcodec/packet.h>

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

#endif
