// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/packet.h"

#include <stdatomic.h>
#include <string.h>

#include "common/alloc.h"

// A packet, its count and its bytes are one allocation.
typedef struct Counted {
    MotusPacket packet;
    atomic_int count;
    uint8_t bytes[];
} Counted;

MotusStatus motus_packet_make(MotusPacket **packet, const MotusStream *stream, const MotusPlace *place, const uint8_t *nal,
                              size_t nal_size, const MotusPictureStats *stats) {
    uint8_t before[2 * MOTUS_HEADER_BYTES];
    size_t before_size = motus_access_unit_begin(stream, place, before), size = before_size + nal_size;
    Counted *counted = motus_alloc(1, sizeof *counted + size);
    if (!counted) return MOTUS_ERR_MEMORY;
    memcpy(counted->bytes, before, before_size);
    memcpy(counted->bytes + before_size, nal, nal_size);
    atomic_init(&counted->count, 1);
    counted->packet = (MotusPacket){.data = counted->bytes,
                                    .size = size,
                                    .number = place->number,
                                    .is_idr = place->idr,
                                    .type = place->idr ? 'I' : 'P',
                                    .qp = place->qp,
                                    .stats = *stats};
    counted->packet.stats.bits_header =
        8 * (uint64_t)size - stats->bits_mode - stats->bits_mv - stats->bits_luma - stats->bits_chroma;
    *packet = &counted->packet;
    return MOTUS_OK;
}

MotusStatus motus_packet_add(MotusPacket *packet, const MotusFrame *recon, const MotusFrame *source, const MotusCodedMv *mvs,
                             size_t n_mvs) {
    MotusCodedMv *copy = n_mvs ? motus_alloc(n_mvs, sizeof *copy) : NULL;
    if (n_mvs && !copy) return MOTUS_ERR_MEMORY;
    if (n_mvs) memcpy(copy, mvs, n_mvs * sizeof *copy);
    packet->mvs = copy;
    packet->n_mvs = n_mvs;
    packet->recon = motus_frame_ref(recon);
    packet->source = motus_frame_ref(source);
    return MOTUS_OK;
}

MotusPacket *motus_packet_ref(MotusPacket *packet) {
    if (packet) atomic_fetch_add_explicit(&((Counted *)packet)->count, 1, memory_order_relaxed);
    return packet;
}

void motus_packet_unref(MotusPacket **out) {
    if (!out || !*out) return;
    MotusPacket *packet = *out;
    *out = NULL;
    if (atomic_fetch_sub_explicit(&((Counted *)packet)->count, 1, memory_order_acq_rel) != 1) return;
    MotusFrame *recon = (MotusFrame *)packet->recon, *source = (MotusFrame *)packet->source;
    motus_frame_unref(&recon);
    motus_frame_unref(&source);
    motus_free((void *)packet->mvs);
    motus_free(packet);
}
