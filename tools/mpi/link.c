// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/link.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "common/alloc.h"
#include "tools/signals.h"
#include "tools/system.h"

enum { TAG = 1, MOST_WAITING = 64 }; // what rank 0's worker has said and nobody has heard: then it waits

typedef struct Queue {
    MotusMessage *first, *last;
    int n;
} Queue;

typedef struct Sending { // a message that MPI has not let go of
    struct Sending *next;
    MotusMessage *message;
    MPI_Request request;
} Sending;

struct MotusLink {
    int rank, over;
    Sending *sending;
    int pending;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Queue to_worker, to_master; // of rank 0
};

MotusMessage *motus_message(MotusMessageKind kind, const void *data, size_t size) {
    MotusMessage *m = motus_alloc(1, sizeof *m + size);
    if (!m) return NULL;
    m->kind = kind;
    m->size = (int64_t)size;
    if (data && size) memcpy(m->data, data, size);
    return m;
}

void motus_message_free(MotusMessage **message) {
    if (!message || !*message) return;
    motus_free(*message);
    *message = NULL;
}

MotusLink *motus_link_open(void) {
    MotusLink *link = motus_alloc(1, sizeof *link);
    if (!link) return NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &link->rank);
    pthread_mutex_init(&link->lock, NULL);
    pthread_cond_init(&link->changed, NULL);
    return link;
}

static MotusMessage *take(Queue *q) {
    MotusMessage *m = q->first;
    if (!m) return NULL;
    q->first = m->next;
    if (!q->first) q->last = NULL;
    q->n--;
    m->next = NULL;
    return m;
}

static void put(Queue *q, MotusMessage *m) {
    m->next = NULL;
    if (q->last)
        q->last->next = m;
    else
        q->first = m;
    q->last = m;
    q->n++;
}

static void empty(Queue *q) {
    for (MotusMessage *m; (m = take(q));) motus_message_free(&m);
}

void motus_link_close(MotusLink **out) {
    if (!out || !*out) return;
    MotusLink *link = *out;
    empty(&link->to_worker);
    empty(&link->to_master);
    for (Sending *s = link->sending, *next; s; s = next) {
        next = s->next;
        MPI_Wait(&s->request, MPI_STATUS_IGNORE);
        motus_message_free(&s->message);
        motus_free(s);
    }
    pthread_mutex_destroy(&link->lock);
    pthread_cond_destroy(&link->changed);
    motus_free(link);
    *out = NULL;
}

void motus_link_nap(int *idle) {
    const long ns = *idle < 4 ? 50000 : *idle < 50 ? 500000 : 5000000;
    const struct timespec t = {0, ns};
    ++*idle;
    nanosleep(&t, NULL);
}

// ---- MPI --------------------------------------------------------------------------------------------------------------------------------------

static int sent_bytes(const MotusMessage *m) { return (int)(MOTUS_MESSAGE_SENT + (size_t)m->size); }

// What somebody has said, if anything.
static MotusMessage *hear_mpi(void) {
    int there = 0, bytes = 0;
    MPI_Status status;
    MPI_Message handle;
    MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &handle, &status);
    if (!there) return NULL;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MotusMessage *m = motus_message(MOTUS_SAYS_STOP, NULL, (size_t)bytes - MOTUS_MESSAGE_SENT);
    if (!m) MPI_Abort(MPI_COMM_WORLD, 1); // no memory for what is on its way: nothing can be right after that
    MPI_Mrecv(&m->kind, bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    m->rank = status.MPI_SOURCE;
    return m;
}

static void let_go(MotusLink *link) {
    for (Sending **at = &link->sending; *at;) {
        Sending *s = *at;
        int done;
        MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        motus_message_free(&s->message);
        motus_free(s);
        link->pending--;
    }
}

// ---- Rank 0 -----------------------------------------------------------------------------------------------------------------------------------

void motus_link_tell(MotusLink *link, int rank, MotusMessage *m) {
    m->rank = rank;
    if (!rank) {
        pthread_mutex_lock(&link->lock);
        put(&link->to_worker, m);
        pthread_cond_broadcast(&link->changed);
        pthread_mutex_unlock(&link->lock);
        return;
    }
    let_go(link);
    Sending *s = motus_alloc(1, sizeof *s);
    if (!s) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    s->message = m;
    MPI_Isend(&m->kind, sent_bytes(m), MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &s->request);
    s->next = link->sending;
    link->sending = s;
    link->pending++;
}

MotusMessage *motus_link_hear(MotusLink *link) {
    let_go(link);
    pthread_mutex_lock(&link->lock);
    MotusMessage *m = take(&link->to_master);
    if (m) pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    return m ? m : hear_mpi();
}

int motus_link_pending(MotusLink *link) {
    let_go(link);
    return link->pending;
}

// ---- Workers ----------------------------------------------------------------------------------------------------------------------------------

int motus_link_is_over(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    const int over = link->over;
    pthread_mutex_unlock(&link->lock);
    return over || (link->rank && motus_signal_caught());
}

void motus_link_end(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    link->over = 1;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
}

static int say_here(MotusLink *link, MotusMessage *m) {
    m->rank = 0;
    pthread_mutex_lock(&link->lock);
    while (!link->over && link->to_master.n >= MOST_WAITING) pthread_cond_wait(&link->changed, &link->lock);
    const int over = link->over;
    if (!over) put(&link->to_master, m);
    pthread_mutex_unlock(&link->lock);
    if (over) motus_message_free(&m);
    return !over;
}

int motus_link_say(MotusLink *link, MotusMessage *m) {
    if (!m) return 0;
    if (!link->rank) return say_here(link, m);
    MPI_Request request;
    int done = 0, idle = 0;
    MPI_Isend(&m->kind, sent_bytes(m), MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    while (!done && !motus_link_is_over(link)) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) motus_link_nap(&idle);
    }
    if (!done) MPI_Cancel(&request), MPI_Request_free(&request);
    motus_message_free(&m);
    return done;
}

static MotusMessage *wait_here(MotusLink *link, int timeout_ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    int late = 0;
    pthread_mutex_lock(&link->lock);
    while (!link->over && !link->to_worker.first && !late)
        if (timeout_ms < 0)
            pthread_cond_wait(&link->changed, &link->lock);
        else
            late = pthread_cond_timedwait(&link->changed, &link->lock, &until);
    MotusMessage *m = link->over ? NULL : take(&link->to_worker);
    pthread_mutex_unlock(&link->lock);
    return m;
}

MotusMessage *motus_link_wait(MotusLink *link, int timeout_ms) {
    if (!link->rank) return wait_here(link, timeout_ms);
    const double until = motus_seconds() + timeout_ms / 1000.0;
    for (int idle = 0; !motus_link_is_over(link); motus_link_nap(&idle)) {
        MotusMessage *m = hear_mpi();
        if (m || (timeout_ms >= 0 && motus_seconds() >= until)) return m;
    }
    return NULL;
}
