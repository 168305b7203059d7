// Frames that rank 0 reads for all ranks: from a pipe, or from a container whose audio is copied.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/error.h"
#include "tools/cli/signals.h"
#include "tools/mpi/master.h"

int motus_feed_while_input_waits(void *master) {
    MotusMaster *m = master;
    int received, idle = 30;
    if (motus_signal_caught() || m->feed.error.status) return -1;
    if (motus_master_receive(m, &received, &m->feed.error)) return -1;
    if (!received) motus_link_sleep(m->link, &idle);
    return 1;
}

// Reads the next frame, cropped to the coded size. MOTUS_END: there is none.
static MotusStatus read_frame(MotusMaster *m, MotusFrame **out, MotusError *error) {
    const MotusEncoderConfig *c = &m->setup.config;
    MotusFrame *whole = NULL;
    MotusError cause = {0};
    MotusStatus status = motus_reader_next(m->reader, &whole, &cause);
    if (m->feed.error.status) {
        motus_frame_unref(&whole);
        *error = m->feed.error;
        return error->status;
    }
    if (status == MOTUS_ERR_TRUNCATED && m->next_first + m->feed.count > 0) {
        m->truncated = cause;
        return MOTUS_END;
    }
    if (status < 0) *error = cause;
    if (status) return status;
    m->feed.time = motus_reader_time(m->reader, whole->number);
    status = motus_frame_crop(out, whole, c->width, c->height);
    motus_frame_unref(&whole);
    return status ? motus_fail(error, status, "out of memory") : MOTUS_OK;
}

// Reads the frames of a segment that the journal has, so that the audio beside them is copied.
static MotusStatus skip_segment(MotusMaster *m, MotusSegment *s, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int64_t n = 0; n < s->count && !status; n++) {
        if (!m->feed.frame) status = read_frame(m, &m->feed.frame, error);
        motus_frame_unref(&m->feed.frame);
    }
    if (status == MOTUS_END)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "the input is shorter than it was");
    return status ? status : motus_master_end_segment(m, s, s->count, s->gops, s->at_end, error);
}

static MotusStatus end_segment(MotusMaster *m, int64_t gops, int at_end, MotusError *error) {
    MotusFeed *f = &m->feed;
    MotusSegment *s = f->segment;
    MotusMessage *message = motus_message(MOTUS_MSG_FRAMES_END, NULL, 0);
    if (!message) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    message->gops = gops;
    f->segment = NULL;
    MotusStatus status = motus_master_end_segment(m, s, f->count, gops, at_end, error);
    f->count = 0;
    motus_link_send(m->link, s->rank, message);
    return status;
}

static MotusStatus send_frame(MotusMaster *m, MotusError *error) {
    MotusFeed *f = &m->feed;
    const MotusEncoderConfig *c = &m->setup.config;
    MotusMessage *message =
        motus_message(MOTUS_MSG_FRAME, NULL, (size_t)c->width * (size_t)c->height * 3 / 2);
    if (!message) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    uint8_t *to = message->data;
    for (int i = 0; i < 3; i++) {
        const MotusPlane *p = &f->frame->plane[i];
        for (int y = 0; y < p->height; y++, to += p->width)
            memcpy(to, p->data + y * p->stride, (size_t)p->width);
    }
    message->number = f->time.at;
    message->count = f->time.duration;
    m->credit[f->segment->rank]--;
    motus_link_send(m->link, f->segment->rank, message);
    motus_frame_unref(&f->frame);
    f->count++;
    return MOTUS_OK;
}

static MotusStatus open_segment(MotusMaster *m, int *fed, MotusError *error) {
    MotusFeed *f = &m->feed;
    MotusSegment *s = motus_master_open_segment(m, error);
    f->count = 0;
    if (!s) return error->status;
    *fed = 1;
    if (s->rank < 0) return skip_segment(m, s, error);
    f->segment = s;
    return motus_gops_begin(&m->gops, error);
}

MotusStatus motus_feed(MotusMaster *m, int *fed, MotusError *error) {
    MotusFeed *f = &m->feed;
    MotusStatus status = MOTUS_OK;
    if (m->ended) return MOTUS_OK;
    if (!f->segment) return open_segment(m, fed, error);
    if (!m->credit[f->segment->rank]) return MOTUS_OK;
    *fed = 1;
    if (f->segment->first + f->count >= m->limit) return end_segment(m, m->gops.gops, 1, error);
    if (!f->frame) status = read_frame(m, &f->frame, error);
    if (status == MOTUS_END) return end_segment(m, m->gops.gops, 1, error);
    if (status) return status;
    int begins;
    if ((status = motus_gops_add(&m->gops, f->frame, &begins, error))) return status;
    if (begins && m->gops.gops > m->setup.gops) return end_segment(m, m->gops.gops - 1, 0, error);
    return send_frame(m, error);
}
