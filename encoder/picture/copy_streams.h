// Streams of a CUDA device that its lanes have in common. A process has few queues on a device
// (eight, or what CUDA_DEVICE_MAX_CONNECTIONS says), each of which takes some 15 ms to open and 7
// to close; streams that share one wait for each other. So a lane has no stream for what others can
// do as well.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_COPY_STREAMS_H
#define ENCODER_PICTURE_COPY_STREAMS_H

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusCopyStreams {
    int device;
    void *up;   // cudaStream_t of the highest priority: frames, which somebody waits for who could
                // send the next one meanwhile
    void *down; // cudaStream_t: the end of NAL units that came out longer than expected
} MotusCopyStreams;

// MOTUS_ERR_CUDA, _MEMORY: nothing is left open then.
MotusStatus motus_copy_streams_open(MotusCopyStreams **transfer, int device, MotusError *error);
void motus_copy_streams_close(
    MotusCopyStreams **transfer); // after all that use it; accepts NULL inside

#ifdef __cplusplus
}
#endif
#endif
