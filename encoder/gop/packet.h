// Packets: made of coded pictures, handed out by motus_encoder_receive.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PACKET_H
#define ENCODER_GOP_PACKET_H

#include "encoder/picture/executor.h"

// Makes a packet of a coded picture: what motus_access_unit_begin writes, its NAL units, and filler
// data NAL units of `filler` bytes in all (0, or at least 6). If coded->nal is NULL, the NAL units
// are left out until motus_packet_store(). MOTUS_ERR_MEMORY.
MotusStatus motus_packet_make(MotusPacket **packet, const MotusStream *stream,
                              const MotusPictureParams *params, const MotusCodedPicture *coded,
                              size_t filler);

// Moves the packet's bytes to device memory, with the NAL units in their place. MOTUS_ERR_CUDA.
MotusStatus motus_packet_store(MotusPacket *packet, const MotusStream *stream,
                               const MotusPictureParams *params, const MotusCodedPicture *coded,
                               const MotusExecutorOps *ops, void *coder, MotusError *error);

// Adds what else coding the picture gave. With coded->recon: references to it and to the source,
// and a copy of the MVs. With coded->field: a copy of it in the modes that the picture used; its
// arrays lie as motus_field_alloc makes them. MOTUS_ERR_MEMORY.
MotusStatus motus_packet_add_results(MotusPacket *packet, const MotusStream *stream,
                                     const MotusPictureParams *params,
                                     const MotusCodedPicture *coded, const MotusFrame *source);

#endif
