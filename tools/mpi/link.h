// Messages between rank 0 and the workers. MPI carries them between ranks; in each rank, queues
// carry them between the thread that calls MPI and the worker thread, so that messages move while
// the worker codes. Ranks run the same build on machines of one byte order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_LINK_H
#define TOOLS_MPI_LINK_H

#include <stddef.h>
#include <stdint.h>

typedef enum MotusMessageKind {
    // Sent by workers.
    MOTUS_MSG_REQUEST,  // asks for another segment or file
    MOTUS_MSG_PICTURES, // number: first picture of the segment; data: pictures (segments.h)
    // The last pictures of a segment. count, gops: of the segment; at_end: the input ends there;
    // microseconds: since the worker finished its segment before. In a batch: number of the file,
    // count: its exit status, microseconds, data: the line to print.
    MOTUS_MSG_DONE,
    MOTUS_MSG_CREDIT,  // one frame from rank 0 has been taken by the encoder
    MOTUS_MSG_WARNING, // data: a line to print
    MOTUS_MSG_FAILED,  // data: why the job cannot continue
    // Sent by rank 0.
    MOTUS_MSG_SEGMENT,    // number: first picture, gop: first GOP; gops; count: pictures or -1
    MOTUS_MSG_FRAME,      // number: pts, count: duration; data: I420 without padding
    MOTUS_MSG_FRAMES_END, // the segment's last frame has been sent; gops: of the segment
    MOTUS_MSG_FILE,       // number: of the file; data: input and output, NUL-terminated
    MOTUS_MSG_STOP,
} MotusMessageKind;

typedef struct MotusMessage {
    struct MotusMessage *next;
    int rank;      // sender or receiver
    uint32_t kind; // MotusMessageKind; the members from here on are sent
    int32_t at_end;
    int64_t number, count, gop, gops, microseconds;
    int64_t size; // bytes of data
    uint8_t data[];
} MotusMessage;

// Bytes that are sent before data.
#define MOTUS_MESSAGE_HEADER_BYTES (sizeof(MotusMessage) - offsetof(MotusMessage, kind))

// Returns NULL without memory. With data == NULL the caller fills in the `size` bytes.
MotusMessage *motus_message(MotusMessageKind kind, const void *data, size_t size);
void motus_message_free(MotusMessage **message); // accepts *message == NULL

typedef struct MotusLink MotusLink;

// Opens a rank's end of the link, between MPI_Init and MPI_Finalize. Returns NULL without memory.
MotusLink *motus_link_open(void);
void motus_link_close(MotusLink **out); // blocks until sent messages have left; accepts NULL inside

// Rank 0. Both return immediately; send() takes the message over, receive() returns NULL if no
// message has arrived.
void motus_link_send(MotusLink *link, int rank, MotusMessage *message);
MotusMessage *motus_link_receive(MotusLink *link);
int motus_link_pending(MotusLink *link); // messages that MPI is still sending

// Worker. Takes the message over; blocks while 16 replies are queued. Returns 0 if the job is over.
int motus_link_reply(MotusLink *link, MotusMessage *message);

// Worker. Returns rank 0's next message, or NULL after timeout_ms (negative: no limit) or if the
// job is over.
MotusMessage *motus_link_wait(MotusLink *link, int timeout_ms);
int motus_link_job_is_over(MotusLink *link);

// Ranks above 0: runs `work` on its own thread and carries messages until it returns. A signal ends
// the job for this rank. Returns 0 if no thread could be started.
int motus_link_run_worker(MotusLink *link, void *(*work)(void *), void *opaque);

// Sleeps on the thread that calls MPI, longer with each call, until rank 0's own worker replies or
// motus_link_wake is called. *idle counts the calls; the caller sets it to 0 after a message.
void motus_link_sleep(MotusLink *link, int *idle);
void motus_link_wake(MotusLink *link); // from any thread; also ends the next sleep

#endif
