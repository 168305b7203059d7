// The worker thread of a rank: codes its segments with one encoder and replies with pictures, a
// message a segment. It requests the next segment before it has sent all frames of the last one, so
// that no GOP coder runs empty.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "tools/cli/bytes.h"
#include "tools/cli/system.h"
#include "tools/encode/report.h"
#include "tools/mpi/rank_input.h"
#include "tools/mpi/segments.h"
#include "tools/mpi/setup.h"
#include "tools/search/field_file.h"

// Seconds before the last frame of a segment is sent when the next segment is requested.
#define REQUEST_AHEAD 0.05
#define HELD_BYTES ((size_t)1 << 20) // of coded pictures that wait for the rest of their segment
#define MAX_HELD_SECONDS 0.2         // that they wait

// Milliseconds between checks for messages while pictures, or frames from rank 0, are awaited.
enum { POLL_MS = 2, FRAME_MS = 20 };

// A segment some of whose pictures are still in the encoder.
typedef struct PendingSegment {
    struct PendingSegment *next;
    MotusMessage *segment; // from rank 0; count, gops and at_end are valid once `ended`
    int ended;             // all its frames have been sent
    int64_t pictures;      // that have come out
} PendingSegment;

typedef struct Work {
    const MotusMpiWorker *worker;
    MotusRankInput input;
    MotusEncoder *encoder;
    MotusFieldIn *mvs; // external MVs; NULL: the encoder searches
    char warned[160];  // damage of the input reported so far
    int requested;     // a segment has been requested
    // Seconds from one frame to the next while the last segment's were sent; below 0: unknown.
    double seconds_per_frame;
    PendingSegment *first, *last; // in stream order
    MotusBytes held;              // pictures of the first segment not sent to rank 0 yet
    double held_since;            // motus_seconds
    double segment_done;          // when the last segment was finished, motus_seconds
} Work;

static int reply(const Work *w, MotusMessageKind kind, int64_t number, int64_t count, int64_t gops,
                 int at_end) {
    MotusMessage *m = motus_message(kind, NULL, 0);
    if (!m) return 0;
    m->number = number, m->count = count, m->gops = gops, m->at_end = at_end;
    return motus_link_reply(w->worker->link, m);
}

static int reply_text(const Work *w, MotusMessageKind kind, const char *line) {
    return motus_link_reply(w->worker->link, motus_message(kind, line, strlen(line) + 1));
}

static MotusStatus job_is_over(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_STATE, "the job is over");
}

// Warns of damage in the input, once.
static void warn_of_damage(Work *w, const MotusRankInput *p) {
    char text[160], line[400];
    if (!p->reader) return;
    const MotusDamage damage = motus_reader_info(p->reader)->damage;
    motus_damage_text(&damage, text);
    if (!text[0] || !strcmp(text, w->warned)) return;
    snprintf(w->warned, sizeof w->warned, "%s", text);
    snprintf(line, sizeof line, "%s: damaged: %s; the rest was encoded",
             motus_shown(w->worker->options->input), text);
    reply_text(w, MOTUS_MSG_WARNING, line);
}

// ---- Pictures -----------------------------------------------------------------------------------

static MotusStatus encoder_failure(const Work *w, MotusStatus status, MotusError *error) {
    const MotusError *cause = motus_encoder_error(w->encoder);
    return motus_fail(error, status, "encoder: %s",
                      cause->status == status ? cause->text : motus_status_text(status));
}

// Sends the held pictures to rank 0. done: they complete their segment.
static MotusStatus send_held(Work *w, int done, MotusError *error) {
    const MotusMessage *segment = w->first->segment;
    MotusMessage *m =
        motus_message(done ? MOTUS_MSG_DONE : MOTUS_MSG_PICTURES, w->held.data, w->held.n);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    const double now = motus_seconds();
    m->number = segment->number;
    if (done) {
        m->count = segment->count, m->gops = segment->gops, m->at_end = segment->at_end;
        m->microseconds = (int64_t)((now - w->segment_done) * 1e6);
        w->segment_done = now;
    }
    w->held.n = 0;
    return motus_link_reply(w->worker->link, m) ? MOTUS_OK : job_is_over(error);
}

static MotusStatus hold(Work *w, const MotusPictureHeader *header, const void *data,
                        MotusError *error) {
    if (!w->held.n) w->held_since = motus_seconds();
    motus_bytes_add(&w->held, header, sizeof *header);
    motus_bytes_add(&w->held, data, (size_t)header->size);
    return w->held.failed ? motus_fail(error, MOTUS_ERR_MEMORY, "out of memory") : MOTUS_OK;
}

// Replies with segments whose pictures have all come out.
static MotusStatus finish_segments(Work *w, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (PendingSegment *f;
         !status && (f = w->first) && f->ended && f->pictures == f->segment->count;) {
        status = send_held(w, 1, error);
        w->first = f->next;
        if (!w->first) w->last = NULL;
        motus_message_free(&f->segment);
        motus_free(f);
    }
    return status;
}

static MotusStatus take_picture(Work *w, const MotusPacket *p, MotusError *error) {
    const MotusEncoderConfig *c = &w->worker->setup->config;
    const int wants_ssim = w->worker->setup->wants_ssim && p->recon;
    MotusPictureHeader header = motus_picture_header(
        p, wants_ssim
               ? motus_plane_ssim(&p->source->plane[0], &p->recon->plane[0], c->width, c->height)
               : 0);
    const void *data = c->pass == 1 ? (const void *)p->pass_log : p->data;
    if (c->pass == 1) header.size = (int64_t)strlen(p->pass_log);
    if (w->mvs && motus_field_in_check(w->mvs, p, &header.searched, error)) return error->status;
    MotusStatus status = hold(w, &header, data, error);
    w->first->pictures++;
    if (!status) status = finish_segments(w, error);
    return status || w->held.n < HELD_BYTES ? status : send_held(w, 0, error);
}

// Takes the pictures that are coded, and waits up to `timeout` milliseconds for the first.
static MotusStatus take_pictures(Work *w, int timeout, MotusError *error) {
    MotusPacket *packet;
    MotusStatus status;
    while (!(status = motus_encoder_receive(w->encoder, &packet, timeout))) {
        status = take_picture(w, packet, error);
        motus_packet_unref(&packet);
        if (status) return status;
        timeout = 0;
    }
    if (status < 0) return encoder_failure(w, status, error);
    return w->held.n && motus_seconds() - w->held_since >= MAX_HELD_SECONDS ? send_held(w, 0, error)
                                                                            : MOTUS_OK;
}

// Codes picture `number` of the stream.
static MotusStatus code_frame(Work *w, int64_t number, const MotusFrame *frame, MotusTime time,
                              MotusError *error) {
    const MotusEncodeOptions *o = w->worker->options;
    MotusFrameParams params = {.size = sizeof params,
                               .pts = time.at,
                               .duration = time.duration > 0 ? time.duration : 1,
                               .external_final = o->mvs_final};
    if (w->mvs && motus_field_in_params(w->mvs, number, &params, error)) return error->status;
    MotusStatus status = motus_encoder_send(w->encoder, frame, &params);
    if (status == MOTUS_ERR_ARGUMENT && params.opaque)
        return motus_fail(error, status, "%s: picture %" PRId64 ": %s", motus_shown(o->mvs_in),
                          number, motus_encoder_error(w->encoder)->text);
    return status ? encoder_failure(w, status, error) : take_pictures(w, 0, error);
}

// ---- Segments -----------------------------------------------------------------------------------

static MotusStatus request(Work *w, MotusError *error) {
    if (w->requested) return MOTUS_OK;
    w->requested = 1;
    return reply(w, MOTUS_MSG_REQUEST, 0, 0, 0, 0) ? MOTUS_OK : job_is_over(error);
}

// Codes a segment that this rank reads, and sets its true length. Requests the next segment shortly
// before the end; not in the rank's first segment, so that each rank gets one if there are few.
static MotusStatus code_input(Work *w, MotusMessage *segment, MotusError *error) {
    const int64_t first = w->worker->options->seek + segment->number;
    const double began = motus_seconds();
    MotusStatus status = motus_rank_input_begin(&w->input, first, segment->count,
                                                motus_encoder_backend(w->encoder), error);
    int64_t n = 0;
    for (; !status && n < segment->count; n += !status) {
        MotusFrame *frame = NULL;
        if (motus_link_job_is_over(w->worker->link)) return job_is_over(error);
        const int soon = w->seconds_per_frame >= 0 &&
                         (double)(segment->count - n) * w->seconds_per_frame < REQUEST_AHEAD;
        if (soon && (status = request(w, error))) break;
        if ((status = motus_rank_input_frame(&w->input, first + n, &frame, error))) break;
        status = code_frame(w, segment->number + n, frame,
                            motus_reader_time(w->input.reader, first + n), error);
        motus_frame_unref(&frame);
    }
    motus_rank_input_end(&w->input);
    if (status < 0) return status;
    if (n) w->seconds_per_frame = (motus_seconds() - began) / (double)n;
    segment->at_end |= n < segment->count;
    segment->count = n;
    warn_of_damage(w, &w->input);
    return MOTUS_OK;
}

static void release_message(void *opaque) {
    MotusMessage *m = opaque;
    motus_message_free(&m);
}

static MotusStatus code_received_frame(Work *w, int64_t number, MotusMessage *m,
                                       MotusError *error) {
    const MotusEncoderConfig *c = &w->worker->setup->config;
    const size_t luma = (size_t)c->width * (size_t)c->height;
    uint8_t *const data[3] = {m->data, m->data + luma, m->data + luma + luma / 4};
    const ptrdiff_t stride[3] = {c->width, c->width / 2, c->width / 2};
    const MotusTime time = {m->number, m->count};
    MotusFrame *frame;
    if (motus_frame_wrap(&frame, c->width, c->height, data, stride, release_message, m)) {
        motus_message_free(&m);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    MotusStatus status = code_frame(w, number, frame, time, error);
    motus_frame_unref(&frame);
    return status || reply(w, MOTUS_MSG_CREDIT, 0, 1, 0, 0) ? status : job_is_over(error);
}

// Codes the frames that rank 0 sends until it says that the segment ends.
static MotusStatus code_received(Work *w, MotusMessage *segment, MotusError *error) {
    segment->count = 0;
    for (;;) {
        MotusMessage *m = motus_link_wait(w->worker->link, FRAME_MS);
        MotusStatus status = MOTUS_OK;
        if (!m && motus_link_job_is_over(w->worker->link)) return job_is_over(error);
        if (m && m->kind == MOTUS_MSG_FRAMES_END) {
            segment->gops = m->gops;
            motus_message_free(&m);
            return MOTUS_OK;
        }
        status = m ? code_received_frame(w, segment->number + segment->count++, m, error)
                   : take_pictures(w, 0, error);
        if (status) return status;
    }
}

// Adds the segment to the pending ones and moves the encoder to it.
static MotusStatus begin_segment(Work *w, MotusMessage *segment, double began, MotusError *error) {
    PendingSegment *f = motus_alloc(1, sizeof *f);
    if (!f) {
        motus_message_free(&segment);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    f->segment = segment;
    if (w->last)
        w->last->next = f;
    else
        w->first = f, w->segment_done = began;
    w->last = f;
    if (w->mvs) motus_field_in_skip(w->mvs, segment->number);
    MotusStatus status = motus_encoder_next_segment(w->encoder, segment->number, segment->gop);
    return status ? encoder_failure(w, status, error) : MOTUS_OK;
}

static MotusStatus code_segment(Work *w, MotusMessage *segment, MotusError *error) {
    const MotusMpiSetup *s = w->worker->setup;
    MotusStatus status = begin_segment(w, segment, motus_seconds(), error);
    if (!status)
        status = s->rank0_reads ? code_received(w, segment, error) : code_input(w, segment, error);
    if (!status && (status = motus_encoder_send(w->encoder, NULL, NULL)))
        encoder_failure(w, status, error);
    if (status) return status;
    w->last->ended = 1;
    status = finish_segments(w, error);
    return status ? status : request(w, error);
}

// Returns rank 0's next message and takes pictures until it arrives. NULL: the job is over, or
// *error.
static MotusMessage *next_message(Work *w, MotusError *error) {
    MotusMessage *m = NULL;
    while (w->first && !m && !motus_link_job_is_over(w->worker->link)) {
        if (take_pictures(w, POLL_MS, error)) return NULL;
        m = motus_link_wait(w->worker->link, 0);
    }
    return m ? m : motus_link_wait(w->worker->link, -1);
}

static MotusStatus open_encoder(Work *w, MotusError *error) {
    const MotusEncoderConfig *c = &w->worker->setup->config;
    const char *mvs = w->worker->options->mvs_in;
    MotusStatus status = motus_encoder_open(&w->encoder, c, error);
    if (!status && mvs) status = motus_field_in_open(&w->mvs, mvs, c->width, c->height, error);
    if (!status && (status = motus_encoder_send(w->encoder, NULL, NULL)))
        encoder_failure(w, status, error); // segments begin after an end
    return status;
}

static void close_work(Work *w) {
    for (PendingSegment *f = w->first, *next; f; f = next) {
        next = f->next;
        motus_message_free(&f->segment);
        motus_free(f);
    }
    motus_bytes_free(&w->held);
    motus_encoder_close(&w->encoder);
    motus_field_in_close(&w->mvs);
    motus_rank_input_close(&w->input);
}

void *motus_mpi_worker(void *worker) {
    const MotusMpiWorker *of = worker;
    const MotusEncoderConfig *c = &of->setup->config;
    Work w = {.worker = of,
              .input = {.worker = of, .pinned = c->backend != MOTUS_BACKEND_CPU},
              .seconds_per_frame = -1};
    MotusError error = {0};
    if (c->backend != MOTUS_BACKEND_CPU && c->device >= 0) motus_device_use(c->device, NULL);
    MotusStatus status = open_encoder(&w, &error);
    if (!status) status = request(&w, &error);
    for (MotusMessage *m; !status && (m = next_message(&w, &error));) {
        const int stops = m->kind == MOTUS_MSG_STOP;
        w.requested = 0;
        if (stops) motus_message_free(&m);
        if (stops) break;
        status = code_segment(&w, m, &error);
    }
    if (error.status && !motus_link_job_is_over(of->link))
        reply_text(&w, MOTUS_MSG_FAILED, error.text);
    close_work(&w);
    return NULL;
}
