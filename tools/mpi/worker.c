// One who encodes: asks rank 0 for a part of the stream before it has finished the last one, so
// that its lanes never run empty, codes all its parts by one encoder, and sends pictures back,
// those of a part together.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "tools/cli/system.h"
#include "tools/encode/report.h"
#include "tools/mpi/picture.h"
#include "tools/mpi/rank_input.h"
#include "tools/mpi/setup.h"

#define AHEAD                                                                                      \
    0.05 // seconds before the last frame of a part is sent when the next part is asked for
#define HELD                                                                                       \
    ((size_t)1 << 20)    // bytes of coded pictures that wait for the rest of their part, about
#define HELD_LONGEST 0.2 // seconds that they wait
enum {
    LOOK_MS = 2,
    FRAME_MS = 20
}; // from a look at what rank 0 says to the next, while pictures are awaited

// A part whose pictures have not all come out of the encoder.
typedef struct Flight {
    struct Flight *next;
    MotusMessage *part; // as it was told; count, gops and at_end are true once it has `ended`
    int ended;          // all of its frames have been sent
    int64_t came;       // pictures
} Flight;

typedef struct Work {
    const MotusMpiWorker *of;
    MotusRankInput input;
    MotusEncoder *encoder;
    char told[160]; // of the input's damage
    int asked;      // for another part
    double each; // seconds from a frame to the next when those of the last part were sent; below 0:
                 // not known yet
    Flight *first, *last; // in the order of their pictures
    uint8_t *held;        // pictures of the first one that have not been sent back
    size_t n_held, room;  // bytes
    double held_since;    // motus_seconds
    double part_done;     // the same, of the last part
} Work;

static int say(const Work *w, MotusMessageKind kind, int64_t number, int64_t count, int64_t gops,
               int at_end) {
    MotusMessage *m = motus_message(kind, NULL, 0);
    if (!m) return 0;
    m->number = number, m->count = count, m->gops = gops, m->at_end = at_end;
    return motus_link_say(w->of->link, m);
}

static int say_line(const Work *w, MotusMessageKind kind, const char *line) {
    return motus_link_say(w->of->link, motus_message(kind, line, strlen(line) + 1));
}

static MotusStatus over(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_STATE, "the job is over");
}

// What is wrong with the input is told once.
static void tell_damage(Work *w, const MotusRankInput *p) {
    char text[160], line[400];
    if (!p->reader) return;
    const MotusDamage damage = motus_reader_damage(p->reader);
    motus_damage_text(&damage, text);
    if (!text[0] || !strcmp(text, w->told)) return;
    snprintf(w->told, sizeof w->told, "%s", text);
    snprintf(line, sizeof line, "%s: damaged: %s; the rest was encoded",
             motus_shown(w->of->options->input), text);
    say_line(w, MOTUS_SAYS_WARNING, line);
}

// ---- Pictures -----------------------------------------------------------------------------------

static MotusStatus encoder_failure(const Work *w, MotusStatus status, MotusError *error) {
    const MotusError *cause = motus_encoder_error(w->encoder);
    return motus_fail(error, status, "encoder: %s",
                      cause->status == status ? cause->text : motus_status_text(status));
}

// The pictures that are held go to rank 0; `done`: they are the last ones of their part.
static MotusStatus send_held(Work *w, int done, MotusError *error) {
    const MotusMessage *part = w->first->part;
    MotusMessage *m =
        motus_message(done ? MOTUS_SAYS_DONE : MOTUS_SAYS_PICTURES, w->held, w->n_held);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    const double now = motus_seconds();
    m->number = part->number;
    if (done) {
        m->count = part->count, m->gops = part->gops, m->at_end = part->at_end;
        m->reserved = (int64_t)((now - w->part_done) * 1e6);
        w->part_done = now;
    }
    w->n_held = 0;
    return motus_link_say(w->of->link, m) ? MOTUS_OK : over(error);
}

static MotusStatus hold(Work *w, const MotusPictureHead *head, const void *data,
                        MotusError *error) {
    const size_t size = sizeof *head + (size_t)head->size;
    if (w->room - w->n_held < size) {
        const size_t room = w->n_held + size + HELD;
        uint8_t *more = realloc(w->held, room);
        if (!more) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
        w->held = more, w->room = room;
    }
    if (!w->n_held) w->held_since = motus_seconds();
    memcpy(w->held + w->n_held, head, sizeof *head);
    memcpy(w->held + w->n_held + sizeof *head, data, (size_t)head->size);
    w->n_held += size;
    return MOTUS_OK;
}

// Parts of which everything is known and all pictures have come.
static MotusStatus finish_parts(Work *w, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (Flight *f; !status && (f = w->first) && f->ended && f->came == f->part->count;) {
        status = send_held(w, 1, error);
        w->first = f->next;
        if (!w->first) w->last = NULL;
        motus_message_free(&f->part);
        motus_free(f);
    }
    return status;
}

static MotusStatus take_picture(Work *w, const MotusPacket *p, MotusError *error) {
    const MotusEncoderConfig *c = &w->of->setup->config;
    const int shows = w->of->setup->wants_ssim && p->recon;
    MotusPictureHead head = motus_picture_head(
        p, shows ? motus_plane_ssim(&p->source->plane[0], &p->recon->plane[0], c->width, c->height)
                 : 0);
    const void *data = c->pass == 1 ? (const void *)p->pass_log : p->data;
    if (c->pass == 1) head.size = (int64_t)strlen(p->pass_log);
    MotusStatus status = hold(w, &head, data, error);
    w->first->came++;
    if (!status) status = finish_parts(w, error);
    return status || w->n_held < HELD ? status : send_held(w, 0, error);
}

// Takes what has been coded: what is there (timeout 0), or the next picture, too, where that comes
// so soon, milliseconds.
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
    return w->n_held && motus_seconds() - w->held_since >= HELD_LONGEST ? send_held(w, 0, error)
                                                                        : MOTUS_OK;
}

static MotusStatus code_frame(Work *w, const MotusFrame *frame, MotusTime time, MotusError *error) {
    const MotusFrameParams params = {
        .size = sizeof params, .pts = time.at, .duration = time.duration > 0 ? time.duration : 1};
    MotusStatus status = motus_encoder_send(w->encoder, frame, &params);
    return status ? encoder_failure(w, status, error) : take_pictures(w, 0, error);
}

// ---- A part -------------------------------------------------------------------------------------

static MotusStatus ask(Work *w, MotusError *error) {
    if (w->asked) return MOTUS_OK;
    w->asked = 1;
    return say(w, MOTUS_SAYS_ASK, 0, 0, 0, 0) ? MOTUS_OK : over(error);
}

// Codes a part of the input; its count is what there was. The next part is asked for a little
// before the end: not in a rank's first part, so that all get one where there are few.
static MotusStatus code_input(Work *w, MotusMessage *part, MotusError *error) {
    const int64_t first = w->of->options->seek + part->number;
    const double began = motus_seconds();
    MotusStatus status = motus_rank_input_begin(&w->input, first, part->count,
                                                motus_encoder_backend(w->encoder), error);
    int64_t n = 0;
    for (; !status && n < part->count; n += !status) {
        MotusFrame *frame = NULL;
        if (motus_link_is_over(w->of->link)) return over(error);
        const int soon = w->each >= 0 && (double)(part->count - n) * w->each < AHEAD;
        if (soon && (status = ask(w, error))) break;
        if ((status = motus_rank_input_frame(&w->input, first + n, &frame, error))) break;
        status = code_frame(w, frame, motus_reader_time(w->input.reader, first + n), error);
        motus_frame_unref(&frame);
    }
    motus_rank_input_end(&w->input);
    if (status < 0) return status;
    if (n) w->each = (motus_seconds() - began) / (double)n;
    part->at_end |= n < part->count;
    part->count = n;
    tell_damage(w, &w->input);
    return MOTUS_OK;
}

static void release_message(void *opaque) {
    MotusMessage *m = opaque;
    motus_message_free(&m);
}

static MotusStatus code_message(Work *w, MotusMessage *m, MotusError *error) {
    const MotusEncoderConfig *c = &w->of->setup->config;
    const size_t luma = (size_t)c->width * (size_t)c->height;
    uint8_t *const data[3] = {m->data, m->data + luma, m->data + luma + luma / 4};
    const ptrdiff_t stride[3] = {c->width, c->width / 2, c->width / 2};
    const MotusTime time = {m->number, m->count};
    MotusFrame *frame;
    if (motus_frame_wrap(&frame, c->width, c->height, data, stride, release_message, m)) {
        motus_message_free(&m);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    MotusStatus status = code_frame(w, frame, time, error);
    motus_frame_unref(&frame);
    return status || say(w, MOTUS_SAYS_TAKEN, 0, 1, 0, 0) ? status : over(error);
}

// Codes the frames that rank 0 sends, until it says that this was the last.
static MotusStatus code_fed(Work *w, MotusMessage *part, MotusError *error) {
    part->count = 0;
    for (;;) {
        MotusMessage *m = motus_link_wait(w->of->link, FRAME_MS);
        MotusStatus status = MOTUS_OK;
        if (!m && motus_link_is_over(w->of->link)) return over(error);
        if (m && m->kind == MOTUS_SAYS_FRAMES) {
            part->gops = m->gops;
            motus_message_free(&m);
            return MOTUS_OK;
        }
        if (m) part->count++;
        status = m ? code_message(w, m, error) : take_pictures(w, 0, error);
        if (status) return status;
    }
}

// The encoder goes on where this part begins.
static MotusStatus begin_part(Work *w, MotusMessage *part, double began, MotusError *error) {
    Flight *f = motus_alloc(1, sizeof *f);
    if (!f) {
        motus_message_free(&part);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    f->part = part;
    if (w->last)
        w->last->next = f;
    else
        w->first = f, w->part_done = began;
    w->last = f;
    MotusStatus status = motus_encoder_next_segment(w->encoder, part->number, part->gop);
    return status ? encoder_failure(w, status, error) : MOTUS_OK;
}

static MotusStatus code_part(Work *w, MotusMessage *part, MotusError *error) {
    const MotusMpiSetup *s = w->of->setup;
    MotusStatus status = begin_part(w, part, motus_seconds(), error);
    if (!status) status = s->feeds ? code_fed(w, part, error) : code_input(w, part, error);
    if (!status && (status = motus_encoder_send(w->encoder, NULL, NULL)))
        encoder_failure(w, status, error);
    if (status) return status;
    w->last->ended = 1;
    status = finish_parts(w, error);
    return status ? status : ask(w, error);
}

// What rank 0 says next; pictures are taken meanwhile. NULL: the job is over, or *error.
static MotusMessage *next_word(Work *w, MotusError *error) {
    MotusMessage *m = NULL;
    while (w->first && !m && !motus_link_is_over(w->of->link)) {
        if (take_pictures(w, LOOK_MS, error)) return NULL;
        m = motus_link_wait(w->of->link, 0);
    }
    return m ? m : motus_link_wait(w->of->link, -1);
}

static MotusStatus open_encoder(Work *w, MotusError *error) {
    MotusStatus status = motus_encoder_open(&w->encoder, &w->of->setup->config, error);
    if (!status && (status = motus_encoder_send(w->encoder, NULL, NULL)))
        encoder_failure(w, status, error); // parts will come
    return status;
}

static void close_work(Work *w) {
    for (Flight *f = w->first, *next; f; f = next) {
        next = f->next;
        motus_message_free(&f->part);
        motus_free(f);
    }
    free(w->held);
    motus_encoder_close(&w->encoder);
    motus_rank_input_close(&w->input);
}

void motus_mpi_work(const MotusMpiWorker *of) {
    Work w = {.of = of,
              .input = {.of = of, .pinned = of->setup->config.backend != MOTUS_BACKEND_CPU},
              .each = -1};
    MotusError error = {0};
    const MotusEncoderConfig *c = &of->setup->config;
    if (c->backend != MOTUS_BACKEND_CPU && c->device >= 0) motus_device_use(c->device);
    MotusStatus status = open_encoder(&w, &error);
    if (!status) status = ask(&w, &error);
    for (MotusMessage *m; !status && (m = next_word(&w, &error));) {
        const int stops = m->kind == MOTUS_SAYS_STOP;
        w.asked = 0;
        if (stops) motus_message_free(&m);
        if (stops) break;
        status = code_part(&w, m, &error);
    }
    if (error.status && !motus_link_is_over(of->link)) say_line(&w, MOTUS_SAYS_FAILED, error.text);
    close_work(&w);
}
