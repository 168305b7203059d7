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
    MAX_QUEUED = 16,    // replies in a worker's queue; then it blocks
    MAX_SENDING = 8,    // of them that MPI is sending at once
    MAX_RECEIVING = 32, // that MPI is receiving at once
};

typedef struct Queue {
    MotusMessage *first, *last;
    int n;
} Queue;

// A message that MPI sends or receives.
typedef struct Transfer {
    struct Transfer *next;
    MotusMessage *message;
    MPI_Request request;
    int done;
} Transfer;

struct MotusLink {
    int rank;
    Transfer *sending, *receiving; // receiving: in the order in which each rank sent them
    int n_sending, n_receiving;
    // Between this rank's worker thread and the thread that calls MPI.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Queue to_worker, from_worker;
    int job_is_over, worker_finished;
    int woken; // ends the next sleep
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
    for (Transfer *t = link->sending, *next; t; t = next) {
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

static int sent_bytes(const MotusMessage *m) {
    return (int)(MOTUS_MESSAGE_HEADER_BYTES + (size_t)m->size);
}

// Aborts without memory: a message that is lost cannot be repaired.
static Transfer *transfer_of(MotusMessage *m) {
    Transfer *t = m ? motus_alloc(1, sizeof *t) : NULL;
    if (!t) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    t->message = m;
    return t;
}

static void begin_send(MotusLink *link, int rank, MotusMessage *m) {
    Transfer *t = transfer_of(m);
    MPI_Isend(&m->kind, sent_bytes(m), MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &t->request);
    t->next = link->sending;
    link->sending = t;
    link->n_sending++;
}

// Frees messages that have left.
static void free_sent(MotusLink *link) {
    for (Transfer **at = &link->sending; *at;) {
        Transfer *t = *at;
        MPI_Test(&t->request, &t->done, MPI_STATUS_IGNORE);
        if (!t->done) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        motus_message_free(&t->message);
        motus_free(t);
        link->n_sending--;
    }
}

// Begins to receive a message, if there is one. Large ones arrive in pieces while others follow.
static int begin_receive(MotusLink *link) {
    int there = 0, bytes = 0;
    MPI_Status status;
    MPI_Message handle;
    if (link->n_receiving == MAX_RECEIVING) return 0;
    MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &handle, &status);
    if (!there) return 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Transfer *t = transfer_of(
        motus_message(MOTUS_MSG_STOP, NULL, (size_t)bytes - MOTUS_MESSAGE_HEADER_BYTES));
    t->message->rank = status.MPI_SOURCE;
    MPI_Imrecv(&t->message->kind, bytes, MPI_BYTE, &handle, &t->request);
    Transfer **end = &link->receiving;
    while (*end) end = &(*end)->next;
    *end = t;
    link->n_receiving++;
    return 1;
}

// Returns a complete message that is the oldest of its sender, or NULL.
static MotusMessage *received(MotusLink *link) {
    while (begin_receive(link)) {}
    for (Transfer **at = &link->receiving; *at; at = &(*at)->next) {
        Transfer *t = *at;
        int first = 1;
        for (const Transfer *before = link->receiving; before != t; before = before->next)
            first &= before->message->rank != t->message->rank;
        if (!t->done) MPI_Test(&t->request, &t->done, MPI_STATUS_IGNORE);
        if (!t->done || !first) continue;
        MotusMessage *m = t->message;
        *at = t->next;
        motus_free(t);
        link->n_receiving--;
        return m;
    }
    return NULL;
}

// ---- The thread that calls MPI ------------------------------------------------------------------

static struct timespec time_after(int64_t ns) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    ns += t.tv_nsec;
    t.tv_sec += ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

void motus_link_sleep(MotusLink *link, int *idle) {
    // MPI moves data only while it is called: sleeps are short while messages are on their way.
    const int moving = link->sending || link->receiving;
    const int64_t ns = *idle < (moving ? 200 : 4) ? 50000 : moving || *idle < 50 ? 500000 : 5000000;
    const struct timespec until = time_after(ns);
    ++*idle;
    pthread_mutex_lock(&link->lock);
    const int takes = link->from_worker.first && (!link->rank || link->n_sending < MAX_SENDING);
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

static MotusMessage *take_reply(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    MotusMessage *m = take(&link->from_worker);
    if (m) pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    return m;
}

void motus_link_send(MotusLink *link, int rank, MotusMessage *m) {
    m->rank = rank;
    if (rank) {
        free_sent(link);
        begin_send(link, rank, m);
    } else {
        put_locked(link, &link->to_worker, m);
    }
}

MotusMessage *motus_link_receive(MotusLink *link) {
    free_sent(link);
    MotusMessage *m = take_reply(link);
    return m ? m : received(link);
}

int motus_link_pending(MotusLink *link) {
    free_sent(link);
    return link->n_sending;
}

// Moves messages between MPI and this rank's worker; returns 1 if there were any.
static int forward(MotusLink *link) {
    int moved = 0;
    MotusMessage *m;
    free_sent(link);
    for (; link->n_sending < MAX_SENDING && (m = take_reply(link)); moved = 1)
        begin_send(link, 0, m);
    for (; (m = received(link)); moved = 1) put_locked(link, &link->to_worker, m);
    return moved;
}

typedef struct WorkerCall {
    MotusLink *link;
    void *(*work)(void *);
    void *opaque;
} WorkerCall;

static void *run_worker(void *argument) {
    const WorkerCall *w = argument;
    w->work(w->opaque);
    pthread_mutex_lock(&w->link->lock);
    w->link->worker_finished = 1;
    pthread_cond_broadcast(&w->link->changed);
    pthread_mutex_unlock(&w->link->lock);
    return NULL;
}

// True if the worker has returned and, unless the job is over, all its replies have left.
static int worker_is_done(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    if (motus_signal_caught() && !link->job_is_over) {
        link->job_is_over = 1;
        pthread_cond_broadcast(&link->changed);
    }
    const int done = link->worker_finished &&
                     (link->job_is_over || (!link->from_worker.first && !link->sending));
    pthread_mutex_unlock(&link->lock);
    return done;
}

int motus_link_run_worker(MotusLink *link, void *(*work)(void *), void *opaque) {
    WorkerCall w = {link, work, opaque};
    pthread_t thread;
    link->worker_finished = 0;
    if (pthread_create(&thread, NULL, run_worker, &w)) return 0;
    for (int idle = 0; !worker_is_done(link);)
        if (forward(link))
            idle = 0;
        else
            motus_link_sleep(link, &idle);
    pthread_join(thread, NULL);
    return 1;
}

// ---- The worker thread --------------------------------------------------------------------------

int motus_link_job_is_over(MotusLink *link) {
    pthread_mutex_lock(&link->lock);
    const int over = link->job_is_over;
    pthread_mutex_unlock(&link->lock);
    return over;
}

int motus_link_reply(MotusLink *link, MotusMessage *m) {
    if (!m) return 0;
    m->rank = link->rank;
    pthread_mutex_lock(&link->lock);
    while (!link->job_is_over && link->from_worker.n >= MAX_QUEUED)
        pthread_cond_wait(&link->changed, &link->lock);
    const int over = link->job_is_over;
    if (!over) put(&link->from_worker, m);
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    if (over) motus_message_free(&m);
    return !over;
}

MotusMessage *motus_link_wait(MotusLink *link, int timeout_ms) {
    const struct timespec until = time_after((int64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000000);
    int late = 0;
    pthread_mutex_lock(&link->lock);
    while (!link->job_is_over && !link->to_worker.first && !late)
        if (timeout_ms < 0)
            pthread_cond_wait(&link->changed, &link->lock);
        else
            late = !timeout_ms || pthread_cond_timedwait(&link->changed, &link->lock, &until);
    MotusMessage *m = link->job_is_over ? NULL : take(&link->to_worker);
    pthread_mutex_unlock(&link->lock);
    return m;
}
