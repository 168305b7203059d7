// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/link.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/alloc.h"
#include "common/threads.h"
#include "tools/cli/signals.h"

enum {
    TAG = 1,
    MOST_SAID = 16,     // what a worker has said and nobody has taken: then it waits
    MOST_LEAVING = 8,   // of it that MPI has: the rest waits here
    MOST_ARRIVING = 32, // messages that MPI is receiving at the same time
};

typedef struct Queue {
    MotusMessage *first, *last;
    int n;
} Queue;

typedef struct Transfer { // a message that MPI sends or receives
    struct Transfer *next;
    MotusMessage *message;
    MPI_Request request;
    int done;
} Transfer;

struct MotusLink {
    int rank;
    Transfer *leaving, *arriving; // arriving: in the order in which they were sent, of each rank
    int n_leaving, n_arriving;
    // Between this rank's worker and the thread that calls MPI.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Queue to_worker, from_worker;
    int over, finished; // the job; the worker
    int woken;          // there is something to do
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
    motus_cond_open(&link->changed);
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
    empty(&link->from_worker);
    for (Transfer *t = link->leaving, *next; t; t = next) {
        next = t->next;
        MPI_Wait(&t->request, MPI_STATUS_IGNORE);
        motus_message_free(&t->message);
        motus_free(t);
    }
    pthread_mutex_destroy(&link->lock);
    pthread_cond_destroy(&link->changed);
    motus_free(link);
    *out = NULL;
}

// ---- MPI ----------------------------------------------------------------------------------------

static int sent_bytes(const MotusMessage *m) { return (int)(MOTUS_MESSAGE_SENT + (size_t)m->size); }

// No memory for what is on its way: nothing can be right after that.
static Transfer *transfer_of(MotusMessage *m) {
    Transfer *t = m ? motus_alloc(1, sizeof *t) : NULL;
    if (!t) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    t->message = m;
    return t;
}

static void begin_sending(MotusLink *link, int rank, MotusMessage *m) {
    Transfer *t = transfer_of(m);
    MPI_Isend(&m->kind, sent_bytes(m), MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &t->request);
    t->next = link->leaving;
    link->leaving = t;
    link->n_leaving++;
}

// Forgets what has left.
static void let_go(MotusLink *link) {
    for (Transfer **at = &link->leaving; *at;) {
        Transfer *t = *at;
        MPI_Test(&t->request, &t->done, MPI_STATUS_IGNORE);
        if (!t->done) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        motus_message_free(&t->message);
        motus_free(t);
        link->n_leaving--;
    }
}

// A message that nobody has begun to receive. Receiving does not wait: large ones come in pieces,
// as their sender looks after them.
static int begin_receiving(MotusLink *link) {
    int there = 0, bytes = 0;
    MPI_Status status;
    MPI_Message handle;
    if (link->n_arriving == MOST_ARRIVING) return 0;
    MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &handle, &status);
    if (!there) return 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Transfer *t =
        transfer_of(motus_message(MOTUS_SAYS_STOP, NULL, (size_t)bytes - MOTUS_MESSAGE_SENT));
    t->message->rank = status.MPI_SOURCE;
    MPI_Imrecv(&t->message->kind, bytes, MPI_BYTE, &handle, &t->request);
    Transfer **end = &link->arriving;
    while (*end) end = &(*end)->next;
    *end = t;
    link->n_arriving++;
    return 1;
}

// What has come, in its sender's order.
static MotusMessage *received(MotusLink *link) {
    while (begin_receiving(link)) {}
    for (Transfer **at = &link->arriving; *at; at = &(*at)->next) {
        Transfer *t = *at;
        int first = 1;
        for (const Transfer *before = link->arriving; before != t; before = before->next)
            first &= before->message->rank != t->message->rank;
        if (!t->done) MPI_Test(&t->request, &t->done, MPI_STATUS_IGNORE);
        if (!t->done || !first) continue;
        MotusMessage *m = t->message;
        *at = t->next;
        motus_free(t);
        link->n_arriving--;
        return m;
    }
    return NULL;
}

// ---- The thread that calls MPI ------------------------------------------------------------------

static struct timespec later(int64_t ns) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    ns += t.tv_nsec;
    t.tv_sec += ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

void motus_link_nap(MotusLink *link, int *idle) {
    const int moving =
        link->leaving ||
        link->arriving; // MPI needs to be called for that, unless somebody does not take it
    const int64_t ns = *idle < (moving ? 200 : 4) ? 50000 : moving || *idle < 50 ? 500000 : 5000000;
    const struct timespec until = later(ns);
    ++*idle;
    pthread_mutex_lock(&link->lock);
    const int takes = link->from_worker.first && (!link->rank || link->n_leaving < MOST_LEAVING);
    if (!takes && !link->woken) pthread_cond_timedwait(&link->changed, &link->lock, &until);
    link->woken = 0;
    pthread_mutex_unlock(&link->lock);
}

void motus_link_wake(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    link->woken = 1;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
}

static void put_locked(MotusLink *link, Queue *q, MotusMessage *m) {
    pthread_mutex_lock(&link->lock);
    put(q, m);
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
}

static MotusMessage *take_said(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    MotusMessage *m = take(&link->from_worker);
    if (m) pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    return m;
}

void motus_link_tell(MotusLink *link, int rank, MotusMessage *m) {
    m->rank = rank;
    if (rank) {
        let_go(link);
        begin_sending(link, rank, m);
    } else {
        put_locked(link, &link->to_worker, m);
    }
}

MotusMessage *motus_link_hear(MotusLink *link) {
    let_go(link);
    MotusMessage *m = take_said(link);
    return m ? m : received(link);
}

int motus_link_pending(MotusLink *link) {
    let_go(link);
    return link->n_leaving;
}

// One round of what a rank but 0 does for its worker; whether anything moved.
static int carry(MotusLink *link) {
    int moved = 0;
    MotusMessage *m;
    let_go(link);
    for (; link->n_leaving < MOST_LEAVING && (m = take_said(link)); moved = 1)
        begin_sending(link, 0, m);
    for (; (m = received(link)); moved = 1) put_locked(link, &link->to_worker, m);
    return moved;
}

typedef struct Work {
    MotusLink *link;
    void (*work)(void *);
    void *opaque;
} Work;

static void *run_work(void *argument) {
    const Work *w = argument;
    w->work(w->opaque);
    pthread_mutex_lock(&w->link->lock);
    w->link->finished = 1;
    pthread_cond_broadcast(&w->link->changed);
    pthread_mutex_unlock(&w->link->lock);
    return NULL;
}

// Whether the worker is done and, unless the job is over, all that it said has left.
static int carried(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    if (motus_signal_caught() && !link->over) {
        link->over = 1;
        pthread_cond_broadcast(&link->changed);
    }
    const int done = link->finished && (link->over || (!link->from_worker.first && !link->leaving));
    pthread_mutex_unlock(&link->lock);
    return done;
}

int motus_link_work(MotusLink *link, void (*work)(void *), void *opaque) {
    Work w = {link, work, opaque};
    pthread_t thread;
    link->finished = 0;
    if (pthread_create(&thread, NULL, run_work, &w)) return 0;
    for (int idle = 0; !carried(link);)
        if (carry(link))
            idle = 0;
        else
            motus_link_nap(link, &idle);
    pthread_join(thread, NULL);
    return 1;
}

// ---- Workers ------------------------------------------------------------------------------------

int motus_link_is_over(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    const int over = link->over;
    pthread_mutex_unlock(&link->lock);
    return over;
}

int motus_link_say(MotusLink *link, MotusMessage *m) {
    if (!m) return 0;
    m->rank = link->rank;
    pthread_mutex_lock(&link->lock);
    while (!link->over && link->from_worker.n >= MOST_SAID)
        pthread_cond_wait(&link->changed, &link->lock);
    const int over = link->over;
    if (!over) put(&link->from_worker, m);
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    if (over) motus_message_free(&m);
    return !over;
}

MotusMessage *motus_link_wait(MotusLink *link, int timeout_ms) {
    const struct timespec until = later((int64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000000);
    int late = 0;
    pthread_mutex_lock(&link->lock);
    while (!link->over && !link->to_worker.first && !late)
        if (timeout_ms < 0)
            pthread_cond_wait(&link->changed, &link->lock);
        else
            late = !timeout_ms || pthread_cond_timedwait(&link->changed, &link->lock, &until);
    MotusMessage *m = link->over ? NULL : take(&link->to_worker);
    pthread_mutex_unlock(&link->lock);
    return m;
}
