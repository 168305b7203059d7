// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/packet.h"

#include <stdatomic.h>
#include <string.h>

#include "common/alloc.h"
#include "encoder/settings/stream.h"
#include "me/field.h"

// A packet, its reference count and its bytes in one allocation.
typedef struct Counted {
    MotusPacket packet;
    atomic_int count;
    MotusPacketBlock *block; // holds the bytes if they are in device memory
    uint8_t bytes[];
} Counted;

// Writes filler data NAL units (7.3.2.7) of `bytes` in all, at least 6 each, start codes included.
// None exceeds `max` bytes without its start code (0: no limit).
static void put_filler(uint8_t *to, size_t bytes, size_t max) {
    static const uint8_t start[5] = {0, 0, 0, 1, MOTUS_NAL_FILLER};
    while (bytes) {
        size_t n = max && bytes > max + 4 ? max + 4 : bytes;
        if (n < bytes && bytes - n < 6) n -= 6; // leaves room for the last one
        memcpy(to, start, sizeof start);
        memset(to + 5, 0xFF, n - 6);
        to[n - 1] = 0x80;
        to += n;
        bytes -= n;
    }
}

MotusStatus motus_packet_make(MotusPacket **packet, const MotusStream *stream,
                              const MotusPictureParams *params, const MotusCodedPicture *coded,
                              size_t filler) {
    uint8_t before[2 * MOTUS_HEADER_BYTES];
    const size_t before_size = motus_access_unit_begin(stream, params, before),
                 size = before_size + coded->size + filler, here = coded->nal ? coded->size : 0;
    const MotusPictureStats *stats = &coded->stats;
    Counted *counted = motus_alloc(1, sizeof *counted + before_size + here + filler);
    if (!counted) return MOTUS_ERR_MEMORY;
    memcpy(counted->bytes, before, before_size);
    if (here) memcpy(counted->bytes + before_size, coded->nal, here);
    if (filler)
        put_filler(counted->bytes + before_size + here, filler,
                   (size_t)stream->config.slice_max_size);
    atomic_init(&counted->count, 1);
    MotusPacket *p = *packet = &counted->packet;
    *p = (MotusPacket){.data = counted->bytes,
                       .size = size,
                       .number = params->number,
                       .is_idr = params->idr,
                       .type = "IPB"[params->type],
                       .qp = params->qp,
                       .mean_qp = params->qp,
                       .vbv_fullness = INT64_MAX,
                       .stats = *stats,
                       .slices = coded->slices};
    p->stats.bits_header = 8 * (uint64_t)size - stats->bits_mode - stats->bits_mv -
                           stats->bits_luma - stats->bits_chroma;
    memcpy(p->stage_us, coded->stage_us, sizeof p->stage_us);
    return MOTUS_OK;
}

MotusStatus motus_packet_store(MotusPacket *packet, const MotusStream *stream,
                               const MotusPictureParams *params, const MotusCodedPicture *coded,
                               const MotusExecutorOps *ops, void *coder, MotusError *error) {
    uint8_t before[2 * MOTUS_HEADER_BYTES];
    const size_t before_size = motus_access_unit_begin(stream, params, before);
    const MotusPacketPiece pieces[3] = {
        {packet->data, before_size},
        {coded->device_nal, coded->size},
        {packet->data + before_size, packet->size - before_size - coded->size}};
    MotusPacketBlock *block;
    MotusStatus status = ops->store(coder, pieces, 3, &block, error);
    if (status) return status;
    packet->data = NULL;
    packet->device_data = block->data;
    packet->device = block->device;
    ((Counted *)packet)->block = block;
    return MOTUS_OK;
}

MotusStatus motus_packet_add_results(MotusPacket *packet, const MotusStream *stream,
                                     const MotusPictureParams *params,
                                     const MotusCodedPicture *coded, const MotusFrame *source) {
    if (coded->recon) {
        MotusCodedMv *copy = coded->n_mvs ? motus_alloc(coded->n_mvs, sizeof *copy) : NULL;
        if (coded->n_mvs && !copy) return MOTUS_ERR_MEMORY;
        if (copy) memcpy(copy, coded->mvs, coded->n_mvs * sizeof *copy);
        packet->mvs = copy;
        packet->n_mvs = coded->n_mvs;
        packet->recon = motus_frame_ref(coded->recon);
        packet->source = motus_frame_ref(source);
    }
    const MotusField *field = coded->field;
    if (!field) return MOTUS_OK;
    const uint32_t modes = motus_picture_effort(stream, params).partitions;
    MotusField *copy;
    MotusStatus status = motus_field_alloc(&copy, stream->config.width, stream->config.height);
    if (status) return status;
    const MotusResultCopy results[] = {{copy->mv[0], field->mv[0], sizeof *field->mv[0], 1},
                                       {copy->sad[0], field->sad[0], sizeof *field->sad[0], 1},
                                       {copy->cost[0], field->cost[0], sizeof *field->cost[0], 1}};
    motus_results_store(results, 3, modes, NULL, field->n_mb, 1);
    packet->field = copy;
    packet->field_modes = modes;
    return MOTUS_OK;
}

MotusPacket *motus_packet_ref(MotusPacket *packet) {
    if (packet) atomic_fetch_add_explicit(&((Counted *)packet)->count, 1, memory_order_relaxed);
    return packet;
}

// Bytes in device memory are freed in the order of `stream` if in_order. A reference that is not
// the last one waits for the stream instead: the owner of the last one knows nothing of it.
static void unref(MotusPacket *packet, int in_order, void *stream) {
    Counted *counted = (Counted *)packet;
    MotusPacketBlock *block = counted->block;
    if (block && in_order && atomic_load_explicit(&counted->count, memory_order_acquire) != 1)
        block->wait(block, stream);
    if (atomic_fetch_sub_explicit(&counted->count, 1, memory_order_acq_rel) != 1) return;
    if (block) block->free(block, in_order ? stream : NULL);
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
