// What rank 0 and those who do the work say to each other. Ranks are programs of one build on
// machines of one byte order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_MESSAGE_H
#define TOOLS_MPI_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

typedef enum MotusMessageKind {
    // From workers.
    MOTUS_SAYS_ASK,      // takes another part
    MOTUS_SAYS_PICTURES, // number: first picture of its part; data: as in picture.h, one after
                         // another
    // number, data: likewise, the last ones; count, gops: the part's, at_end: the input ends there;
    // reserved: microseconds since the part before, if that was
    // under way, was done
    MOTUS_SAYS_DONE,
    MOTUS_SAYS_TAKEN,   // one of the frames that were sent has been coded or waits in the encoder
    MOTUS_SAYS_WARNING, // data: a line for people
    MOTUS_SAYS_FAILED,  // data: why the job cannot go on; or, in a batch, why the file at hand
                        // failed
    // From rank 0.
    MOTUS_SAYS_PART,   // number, gop, gops, count (-1: frames come until the end is told), at_end:
                       // frames come by messages
    MOTUS_SAYS_FRAME,  // number: pts, count: duration; data: the planes, without padding
    MOTUS_SAYS_FRAMES, // no more frames for this part
    MOTUS_SAYS_FILE,   // of a batch: number; data: input and output, each with its NUL
    MOTUS_SAYS_STOP,
} MotusMessageKind;

typedef struct MotusMessage {
    struct MotusMessage *next;
    int rank;                                   // who says it, or to whom
    uint32_t kind;                              // what is sent begins here
    int32_t at_end;                             //
    int64_t number, count, gop, gops, reserved; //
    int64_t size;                               // of data, bytes
    uint8_t data[];
} MotusMessage;

#define MOTUS_MESSAGE_SENT                                                                         \
    (sizeof(MotusMessage) - offsetof(MotusMessage, kind)) // bytes before data

#endif
