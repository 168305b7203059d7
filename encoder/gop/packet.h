// Packets: what a coded picture is handed out as.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PACKET_H
#define ENCODER_GOP_PACKET_H

#include "encoder/gop/packet_cuda.h"
#include "encoder/settings/stream.h"

// Makes a packet of the picture at `place`: its access unit is what motus_access_unit_begin writes,
// then `nal`, then filler data NAL units of so many bytes (0, or 6 at least). nal may be NULL: it
// is left out, to be followed by motus_packet_leave. What does not follow from these is left to the
// caller. MOTUS_ERR_MEMORY.
MotusStatus motus_packet_make(MotusPacket **packet, const MotusStream *stream,
                              const MotusPictureParams *place, const uint8_t *nal, size_t nal_size,
                              size_t filler, const MotusPictureStats *stats);

// Leaves the bytes of a packet that was made without its NAL unit in a block of the pool, with
// `nal` from that device in its place. MOTUS_ERR_CUDA with CUDA's words.
MotusStatus motus_packet_leave(MotusPacket *packet, const MotusStream *stream,
                               const MotusPictureParams *place, MotusPacketPool *pool,
                               const uint8_t *nal, size_t nal_size, MotusError *error);

// Bytes of the access unit without filler.
size_t motus_packet_bytes(const MotusStream *stream, const MotusPictureParams *place,
                          size_t nal_size);

// Adds what a packet with stream_only has not: references to both frames, and a copy of the
// vectors. MOTUS_ERR_MEMORY.
MotusStatus motus_packet_add(MotusPacket *packet, const MotusFrame *recon, const MotusFrame *source,
                             const MotusCodedMv *mvs, size_t n_mvs);

// Adds a copy of those modes of a P picture's field, whose arrays follow one another as
// motus_field_alloc lays them out. MOTUS_ERR_MEMORY.
MotusStatus motus_packet_add_field(MotusPacket *packet, const MotusStream *stream,
                                   const MotusField *field, uint32_t modes);

#endif
