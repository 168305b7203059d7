// The way between rank 0 and the workers: MPI between ranks, and in each rank queues in memory
// between its worker, which has a thread of its own, and the thread that calls MPI: so messages go
// on while a worker codes. Nobody spins while there is nothing to do.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_LINK_H
#define TOOLS_MPI_LINK_H

#include "tools/mpi/message.h"

typedef struct MotusLink MotusLink;

// NULL where there is no memory. data may be NULL: then the caller fills it in.
MotusMessage *motus_message(MotusMessageKind kind, const void *data, size_t size);
void motus_message_free(MotusMessage **message); // accepts NULL inside

// One for each rank, between MPI_Init and MPI_Finalize. NULL where there is no memory.
MotusLink *motus_link_open(void);
void motus_link_close(
    MotusLink **out); // accepts NULL inside; what was sent has arrived, or never will

// Rank 0. The message is taken over; the call does not wait. Receiving never waits either: NULL
// where nobody has said anything.
void motus_link_tell(MotusLink *link, int rank, MotusMessage *message);
MotusMessage *motus_link_hear(MotusLink *link);
int motus_link_pending(MotusLink *link); // messages that have not left yet

// A worker. Saying something (the message is taken over) waits only where some messages wait
// already; 0: the job is over. Asking waits, up to timeout_ms where that is not negative: NULL
// after that, or where the job is over (motus_link_is_over).
int motus_link_say(MotusLink *link, MotusMessage *message);
MotusMessage *motus_link_wait(MotusLink *link, int timeout_ms);
int motus_link_is_over(MotusLink *link);

// Ranks but 0: does `work` on a thread of its own and carries what is said until it is done; a
// signal ends the job for this rank. 0: there is no thread.
int motus_link_work(MotusLink *link, void (*work)(void *), void *opaque);

// Where the thread that calls MPI has nothing to do: sleeps for a moment, longer, the longer that
// lasts, or until rank 0's own worker says something. *idle counts; 0 begins anew.
void motus_link_nap(MotusLink *link, int *idle);
void motus_link_wake(MotusLink *link); // ends that on rank 0, or the next one at once; any thread

#endif
