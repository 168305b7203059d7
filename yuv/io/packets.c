// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/packets.h"

#include <errno.h>
#include <libavutil/error.h>
#include <string.h>

#include "common/alloc.h"

static int make_room(MotusPackets *p) {
    if (p->first && p->end == p->capacity) {
        memmove(p->list, p->list + p->first, (p->end - p->first) * sizeof *p->list);
        p->end -= p->first;
        p->first = 0;
    }
    if (p->end < p->capacity) return 0;
    size_t capacity = p->capacity ? 2 * p->capacity : 64;
    AVPacket **list = motus_alloc(capacity, sizeof *list);
    if (!list) return AVERROR(ENOMEM);
    if (p->end) memcpy(list, p->list, p->end * sizeof *list);
    motus_free(p->list);
    p->list = list;
    p->capacity = capacity;
    return 0;
}

int motus_packets_push(MotusPackets *packets, const AVPacket *packet) {
    int code = make_room(packets);
    AVPacket *kept = code ? NULL : av_packet_clone(packet);
    if (!kept) return AVERROR(ENOMEM);
    packets->list[packets->end++] = kept;
    packets->bytes += (size_t)kept->size;
    return 0;
}

AVPacket *motus_packets_pop(MotusPackets *packets) {
    if (packets->first == packets->end) return NULL;
    AVPacket *packet = packets->list[packets->first++];
    packets->bytes -= (size_t)packet->size;
    if (packets->first == packets->end) packets->first = packets->end = 0;
    return packet;
}

void motus_packets_free(MotusPackets *packets) {
    for (AVPacket *packet; (packet = motus_packets_pop(packets));) av_packet_free(&packet);
    motus_free(packets->list);
    *packets = (MotusPackets){0};
}
