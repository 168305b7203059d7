// A lane: the whole way of a picture on the CPU, in buffers of its own. Pictures of a lane refer to
// one another; lanes do not.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CPU_CODER_H
#define ENCODER_PICTURE_CPU_CODER_H

#include "encoder/gop/packet.h"
#include "encoder/gop/picture_plan.h"

typedef struct MotusCpuCoder MotusCpuCoder;

// Opens a lane for pictures that are coded on at most `threads` threads. MOTUS_ERR_MEMORY. The
// stream is only referred to. Opening and coding are for one thread, whose OpenMP threads are made
// here.
MotusStatus motus_cpu_coder_open(MotusCpuCoder **lane, const MotusStream *stream, int threads);
void motus_cpu_coder_close(MotusCpuCoder **lane); // accepts NULL inside

// Host memory of a lane, bytes, without its threads' stacks.
size_t motus_cpu_coder_bytes(const MotusStream *stream);

// Codes a picture on `threads` OpenMP threads, the calling one among them, at QPs that are chosen
// now: *place gets them, *planned what came of it. rate is the lane's. whole: the source in whole
// MBs; source: its visible part, which the packet refers to. MOTUS_ERR_MEMORY, MOTUS_ERR_INTERNAL.
MotusStatus motus_cpu_coder_code(MotusCpuCoder *lane, MotusPictureParams *place,
                                 MotusPicturePlan *planned, MotusRate *rate,
                                 const MotusFrame *whole, const MotusFrame *source, int threads,
                                 MotusPacket **packet);

#endif
