// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/packet.h"

#include <stdatomic.h>
#include <string.h>

#include "common/alloc.h"
#include "me/field.h"

// A packet, its count and its bytes are one allocation.
typedef struct Counted {
    MotusPacket packet;
    atomic_int count;
    MotusPacketBlock *block; // holds the bytes where they were left on a device
    uint8_t bytes[];
} Counted;

// Filler data NAL units (7.3.2.7) of at least 6 bytes, with start code, which together have so
// many; none passes `most` bytes without it (0: any size).
static void put_filler(uint8_t *to, size_t bytes, size_t most) {
    static const uint8_t start[5] = {0, 0, 0, 1, MOTUS_NAL_FILLER};
    while (bytes) {
        size_t n = most && bytes > most + 4 ? most + 4 : bytes;
        if (n < bytes && bytes - n < 6) n -= 6; // which leaves room for the last one
        memcpy(to, start, sizeof start);
        memset(to + 5, 0xFF, n - 6);
        to[n - 1] = 0x80;
        to += n;
        bytes -= n;
    }
}

size_t motus_packet_bytes(const MotusStream *stream, const MotusPictureParams *place,
                          size_t nal_size) {
    uint8_t before[2 * MOTUS_HEADER_BYTES];
    return motus_access_unit_begin(stream, place, before) + nal_size;
}

MotusStatus motus_packet_make(MotusPacket **packet, const MotusStream *stream,
                              const MotusPictureParams *place, const uint8_t *nal, size_t nal_size,
                              size_t filler, const MotusPictureStats *stats) {
    uint8_t before[2 * MOTUS_HEADER_BYTES];
    size_t before_size = motus_access_unit_begin(stream, place, before),
           size = before_size + nal_size + filler;
    const size_t here = nal ? nal_size : 0;
    Counted *counted = motus_alloc(1, sizeof *counted + before_size + here + filler);
    if (!counted) return MOTUS_ERR_MEMORY;
    memcpy(counted->bytes, before, before_size);
    if (here) memcpy(counted->bytes + before_size, nal, here);
    if (filler)
        put_filler(counted->bytes + before_size + here, filler,
                   (size_t)stream->config.slice_max_size);
    atomic_init(&counted->count, 1);
    counted->packet = (MotusPacket){.data = counted->bytes,
                                    .size = size,
                                    .number = place->number,
                                    .is_idr = place->idr,
                                    .type = place->idr ? 'I' : 'P',
                                    .qp = place->qp,
                                    .mean_qp = place->qp,
                                    .vbv_fullness = INT64_MAX,
                                    .stats = *stats,
                                    .slices = stream->slices.n};
    counted->packet.stats.bits_header = 8 * (uint64_t)size - stats->bits_mode - stats->bits_mv -
                                        stats->bits_luma - stats->bits_chroma;
    *packet = &counted->packet;
    return MOTUS_OK;
}

MotusStatus motus_packet_leave(MotusPacket *packet, const MotusStream *stream,
                               const MotusPictureParams *place, MotusPacketPool *pool,
                               const uint8_t *nal, size_t nal_size, MotusError *error) {
    uint8_t before[2 * MOTUS_HEADER_BYTES];
    const size_t before_size = motus_access_unit_begin(stream, place, before);
    const MotusPacketPiece pieces[3] = {
        {packet->data, before_size},
        {nal, nal_size},
        {packet->data + before_size, packet->size - before_size - nal_size}};
    MotusPacketBlock *block;
    MotusStatus status = motus_packet_pool_put(pool, pieces, 3, &block, error);
    if (status) return status;
    packet->data = NULL;
    packet->device_data = block->data;
    packet->device = block->device;
    ((Counted *)packet)->block = block;
    return MOTUS_OK;
}

MotusStatus motus_packet_add(MotusPacket *packet, const MotusFrame *recon, const MotusFrame *source,
                             const MotusCodedMv *mvs, size_t n_mvs) {
    MotusCodedMv *copy = n_mvs ? motus_alloc(n_mvs, sizeof *copy) : NULL;
    if (n_mvs && !copy) return MOTUS_ERR_MEMORY;
    if (n_mvs) memcpy(copy, mvs, n_mvs * sizeof *copy);
    packet->mvs = copy;
    packet->n_mvs = n_mvs;
    packet->recon = motus_frame_ref(recon);
    packet->source = motus_frame_ref(source);
    return MOTUS_OK;
}

MotusStatus motus_packet_add_field(MotusPacket *packet, const MotusStream *stream,
                                   const MotusField *field, uint32_t modes) {
    MotusField *copy;
    MotusStatus status = motus_field_alloc(&copy, stream->config.width, stream->config.height);
    if (status) return status;
    motus_field_store(copy, modes, field->mv[0], field->sad[0], field->cost[0], 1);
    packet->field = copy;
    packet->field_modes = modes;
    return MOTUS_OK;
}

MotusPacket *motus_packet_ref(MotusPacket *packet) {
    if (packet) atomic_fetch_add_explicit(&((Counted *)packet)->count, 1, memory_order_relaxed);
    return packet;
}

static void unref(MotusPacket *packet, int in_order, void *stream) {
    MotusPacketBlock *block = ((Counted *)packet)->block;
    if (block && in_order &&
        atomic_load_explicit(&((Counted *)packet)->count, memory_order_acquire) != 1)
        motus_packet_block_wait(block,
                                stream); // whoever drops the last reference knows nothing of it
    if (atomic_fetch_sub_explicit(&((Counted *)packet)->count, 1, memory_order_acq_rel) != 1)
        return;
    if (block) motus_packet_block_free(block, in_order ? stream : NULL);
    MotusFrame *recon = (MotusFrame *)packet->recon, *source = (MotusFrame *)packet->source;
    motus_frame_unref(&recon);
    motus_frame_unref(&source);
    motus_free((void *)packet->mvs);
    motus_free((void *)packet->pass_log);
    MotusField *field = (MotusField *)packet->field;
    motus_field_free(&field);
    motus_free(packet);
}

void motus_packet_unref(MotusPacket **packet) {
    if (!packet || !*packet) return;
    unref(*packet, 0, NULL);
    *packet = NULL;
}

void motus_packet_unref_async(MotusPacket **packet, void *stream) {
    if (!packet || !*packet) return;
    unref(*packet, 1, stream);
    *packet = NULL;
}
