// One who encodes: asks rank 0 for a part of the stream, codes it by an encoder of its own, sends its pictures back as they come, and asks again.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/device.h"
#include "common/error.h"
#include "tools/mpi/gops.h"
#include "tools/mpi/picture.h"
#include "tools/mpi/setup.h"
#include "tools/report.h"
#include "tools/system.h"

// A reader and the frame that it has handed out last, so that frames are found by number without going back for one.
typedef struct Place {
    MotusReader *reader;
    int64_t next; // frame of the input
    MotusFrame *last;
} Place;

typedef struct Work {
    const MotusMpiWorker *of;
    MotusGops gops;
    Place ahead, here; // where the end of a part is looked for, and where it is coded
    MotusEncoder *encoder;
    char told[160]; // of the input's damage
} Work;

static int say(const Work *w, MotusMessageKind kind, int64_t number, int64_t count, int64_t gops, int at_end) {
    MotusMessage *m = motus_message(kind, NULL, 0);
    if (!m) return 0;
    m->number = number, m->count = count, m->gops = gops, m->at_end = at_end;
    return motus_link_say(w->of->link, m);
}

static int say_line(const Work *w, MotusMessageKind kind, const char *line) {
    return motus_link_say(w->of->link, motus_message(kind, line, strlen(line) + 1));
}

static MotusStatus over(MotusError *error) { return motus_fail(error, MOTUS_ERR_STATE, "the job is over"); }

// ---- Frames of the input ----------------------------------------------------------------------------------------------------------------------

static void close_place(Place *p) {
    motus_frame_unref(&p->last);
    motus_reader_close(&p->reader);
    *p = (Place){0};
}

static MotusStatus open_place(const Work *w, Place *p, MotusError *error) {
    const MotusEncodeOptions *o = w->of->options;
    const MotusEncoderConfig *c = &w->of->setup->config;
    const MotusReaderOptions wanted = {.width = o->size[0],
                                       .height = o->size[1],
                                       .fps = o->fps,
                                       .threads = c->threads,
                                       .deinterlace = o->deinterlace,
                                       .pinned = c->backend != MOTUS_BACKEND_CPU};
    close_place(p);
    MotusStatus status = motus_reader_open(&p->reader, o->input, &wanted, error);
    if (status) return status;
    const MotusSequenceInfo *info = motus_reader_info(p->reader);
    if ((info->width & ~1) == c->width && (info->height & ~1) == c->height) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: is another file here: %dx%d", motus_shown(o->input), info->width,
                      info->height);
}

// Goes to a frame. MOTUS_END, MOTUS_ERR_TRUNCATED: there is none.
static MotusStatus go_to(const Work *w, Place *p, int64_t frame, MotusError *error) {
    const int stays = p->reader && (p->next <= frame || (p->last && p->next - 1 == frame));
    MotusStatus status = stays ? MOTUS_OK : open_place(w, p, error);
    if (!status && p->next < frame) {
        motus_frame_unref(&p->last);
        status = motus_reader_skip(p->reader, frame - p->next, error);
        if (!status) p->next = frame;
    }
    return status;
}

// Hands out that frame's even-sized part, which the place refers to; `cut` as in MotusInput.
static MotusStatus frame_at(const Work *w, Place *p, int64_t frame, MotusFrame **out, MotusError *error) {
    const MotusEncoderConfig *c = &w->of->setup->config;
    MotusError cause = {0};
    MotusStatus status = go_to(w, p, frame, &cause);
    if (!status && p->next == frame) {
        motus_frame_unref(&p->last);
        status = motus_reader_next(p->reader, &p->last, &cause);
        if (!status) p->next++;
    }
    if (status == MOTUS_END || status == MOTUS_ERR_TRUNCATED) { // unless it ended later before
        const MotusStatus changed = motus_input_unchanged(w->of->options->input, &w->of->setup->input, 1, error);
        if (changed) return changed;
    }
    if (status == MOTUS_ERR_TRUNCATED) {
        close_place(p);
        return say_line(w, MOTUS_SAYS_WARNING, cause.text) ? MOTUS_END : over(error);
    }
    if (status == MOTUS_END) close_place(p); // what it would do next is not told by its header
    if (status < 0) *error = cause;
    if (!status && motus_frame_crop(out, p->last, c->width, c->height))
        status = motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    return status;
}

// What is wrong with the input is told once.
static void tell_damage(Work *w, const Place *p) {
    char text[160], line[400];
    if (!p->reader) return;
    const MotusDamage damage = motus_reader_damage(p->reader);
    motus_damage_text(&damage, text);
    if (!text[0] || !strcmp(text, w->told)) return;
    snprintf(w->told, sizeof w->told, "%s", text);
    snprintf(line, sizeof line, "%s: damaged: %s; the rest was encoded", motus_shown(w->of->options->input), text);
    say_line(w, MOTUS_SAYS_WARNING, line);
}

// ---- Pictures -----------------------------------------------------------------------------------------------------------------------------------

static MotusStatus encoder_failure(const Work *w, MotusStatus status, MotusError *error) {
    const MotusError *cause = motus_encoder_error(w->encoder);
    return motus_fail(error, status, "encoder: %s", cause->status == status ? cause->text : motus_status_text(status));
}

static MotusStatus send_picture(const Work *w, const MotusPacket *p, MotusError *error) {
    const MotusEncoderConfig *c = &w->of->setup->config;
    const int shows = w->of->setup->wants_ssim && p->recon;
    MotusPictureHead head =
        motus_picture_head(p, shows ? motus_plane_ssim(&p->source->plane[0], &p->recon->plane[0], c->width, c->height) : 0);
    const void *data = c->pass == 1 ? (const void *)p->pass_log : p->data;
    if (c->pass == 1) head.size = (int64_t)strlen(p->pass_log);
    MotusMessage *m = motus_message(MOTUS_SAYS_PICTURE, NULL, sizeof head + (size_t)head.size);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    memcpy(m->data, &head, sizeof head);
    memcpy(m->data + sizeof head, data, (size_t)head.size);
    return motus_link_say(w->of->link, m) ? MOTUS_OK : over(error);
}

// Sends what has been coded: what is there (timeout 0), or all that comes.
static MotusStatus send_pictures(const Work *w, int timeout, MotusError *error) {
    MotusPacket *packet;
    MotusStatus status;
    while (!(status = motus_encoder_receive(w->encoder, &packet, timeout))) {
        status = send_picture(w, packet, error);
        motus_packet_unref(&packet);
        if (status) return status;
    }
    return status > 0 ? MOTUS_OK : encoder_failure(w, status, error);
}

static MotusStatus code_frame(const Work *w, const MotusFrame *frame, MotusTime time, MotusError *error) {
    const MotusFrameParams params = {.size = sizeof params, .pts = time.at, .duration = time.duration > 0 ? time.duration : 1};
    MotusStatus status = motus_encoder_send(w->encoder, frame, &params);
    return status ? encoder_failure(w, status, error) : send_pictures(w, 0, error);
}

// ---- A part -------------------------------------------------------------------------------------------------------------------------------------

// Finds where a part of so many GOPs ends, and tells: then the next part may begin elsewhere.
static MotusStatus find_end(Work *w, MotusMessage *part, MotusError *error) {
    MotusStatus status = motus_gops_begin(&w->gops);
    const int64_t first = w->of->options->seek + part->number;
    int64_t n = 0;
    int begins = 0;
    for (; !status && n < part->reserved; n++) {
        MotusFrame *frame = NULL;
        if (motus_link_is_over(w->of->link)) return over(error);
        if ((status = frame_at(w, &w->ahead, first + n, &frame, error))) break;
        begins = motus_gops_put(&w->gops, &frame->plane[0]) && w->gops.gops > part->gops;
        motus_frame_unref(&frame);
        if (begins) break;
    }
    if (status < 0) return status;
    part->count = n;
    part->gops = w->gops.gops - begins;
    part->at_end = !begins;
    return say(w, MOTUS_SAYS_ENDS, part->number, n, part->gops, part->at_end) ? MOTUS_OK : over(error);
}

// Codes a part of the input; its count is what there was.
static MotusStatus code_input(Work *w, MotusMessage *part, MotusError *error) {
    const int64_t first = w->of->options->seek + part->number;
    MotusStatus status = MOTUS_OK;
    int64_t n = 0;
    for (; !status && n < part->count; n += !status) {
        MotusFrame *frame = NULL;
        if (motus_link_is_over(w->of->link)) return over(error);
        if ((status = frame_at(w, &w->here, first + n, &frame, error))) break;
        status = code_frame(w, frame, motus_reader_time(w->here.reader, first + n), error);
        motus_frame_unref(&frame);
    }
    if (status < 0) return status;
    part->at_end |= n < part->count;
    part->count = n;
    tell_damage(w, &w->here);
    return MOTUS_OK;
}

static void release_message(void *opaque) {
    MotusMessage *m = opaque;
    motus_message_free(&m);
}

static MotusStatus code_message(const Work *w, MotusMessage *m, MotusError *error) {
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
        MotusMessage *m = motus_link_wait(w->of->link, 20);
        MotusStatus status = MOTUS_OK;
        if (!m && motus_link_is_over(w->of->link)) return over(error);
        if (m && m->kind == MOTUS_SAYS_FRAMES) {
            part->gops = m->gops;
            motus_message_free(&m);
            return MOTUS_OK;
        }
        if (m) part->count++;
        status = m ? code_message(w, m, error) : send_pictures(w, 0, error);
        if (status) return status;
    }
}

static MotusStatus say_done(const Work *w, const MotusMessage *part, double seconds, MotusError *error) {
    MotusMessage *m = motus_message(MOTUS_SAYS_DONE, NULL, 0);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    m->number = part->number, m->count = part->count, m->gops = part->gops, m->at_end = part->at_end;
    m->reserved = (int64_t)(seconds * 1e6);
    return motus_link_say(w->of->link, m) ? MOTUS_OK : over(error);
}

static MotusStatus code_part(Work *w, MotusMessage *part, MotusError *error) {
    const double start = motus_seconds();
    const MotusMpiSetup *s = w->of->setup;
    MotusEncoderConfig c = s->config;
    c.first_picture = part->number;
    c.first_gop = part->gop;
    MotusStatus status = part->count < 0 && !s->feeds ? find_end(w, part, error) : MOTUS_OK;
    if (!status) status = motus_encoder_open(&w->encoder, &c, error);
    if (status) return status;
    status = s->feeds ? code_fed(w, part, error) : code_input(w, part, error);
    if (!status && (status = motus_encoder_send(w->encoder, NULL, NULL))) encoder_failure(w, status, error);
    if (!status) status = send_pictures(w, -1, error);
    motus_encoder_close(&w->encoder);
    return status ? status : say_done(w, part, motus_seconds() - start, error);
}

void motus_mpi_work(const MotusMpiWorker *of) {
    Work w = {.of = of};
    MotusError error = {0};
    const MotusEncoderConfig *c = &of->setup->config;
    if (c->backend != MOTUS_BACKEND_CPU && c->device >= 0) motus_device_use(c->device);
    MotusStatus status = motus_gops_open(&w.gops, &of->setup->config, &error);
    for (MotusMessage *m; !status && say(&w, MOTUS_SAYS_ASK, 0, 0, 0, 0) && (m = motus_link_wait(of->link, -1));) {
        const int stops = m->kind == MOTUS_SAYS_STOP;
        if (!stops) status = code_part(&w, m, &error);
        motus_message_free(&m);
        if (stops) break;
    }
    if (status && !motus_link_is_over(of->link)) say_line(&w, MOTUS_SAYS_FAILED, error.text);
    motus_encoder_close(&w.encoder);
    close_place(&w.ahead);
    close_place(&w.here);
    motus_gops_close(&w.gops);
}
