// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/rank_input.h"

#include <string.h>

#include "common/cpu.h"
#include "common/error.h"

void motus_rank_input_end(MotusRankInput *p) {
    motus_ahead_close(&p->ahead);
    p->next += p->part.begun;
    p->part.begun = 0;
}

void motus_rank_input_close(MotusRankInput *p) {
    motus_rank_input_end(p);
    motus_frame_unref(&p->last);
    motus_reader_close(&p->reader);
    p->next = 0;
}

static MotusStatus open_reader(MotusRankInput *p, MotusError *error) {
    const MotusEncodeOptions *o = p->of->options;
    const MotusEncoderConfig *c = &p->of->setup->config;
    const MotusReaderOptions wanted = {.width = o->size[0],
                                       .height = o->size[1],
                                       .fps = o->fps,
                                       .threads = c->threads,
                                       .deinterlace = o->deinterlace,
                                       .pinned = c->backend != MOTUS_BACKEND_CPU};
    motus_rank_input_close(p);
    MotusStatus status = motus_reader_open(&p->reader, o->input, &wanted, error);
    if (status) return status;
    const MotusSequenceInfo *info = motus_reader_info(p->reader);
    if ((info->width & ~1) == c->width && (info->height & ~1) == c->height) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: is another file here: %dx%d", motus_shown(o->input), info->width,
                      info->height);
}

// Goes to a frame. MOTUS_END, MOTUS_ERR_TRUNCATED: there is none.
static MotusStatus go_to(MotusRankInput *p, int64_t frame, MotusError *error) {
    const int stays = p->reader && (p->next <= frame || (p->last && p->next - 1 == frame));
    MotusStatus status = stays ? MOTUS_OK : open_reader(p, error);
    if (!status && p->next < frame) {
        motus_frame_unref(&p->last);
        status = motus_reader_skip(p->reader, frame - p->next, error);
        if (!status) p->next = frame;
    }
    return status;
}

// What reading a frame has ended in, for who wants it: unless it is MOTUS_OK the input is closed, or the job fails.
static MotusStatus judge(MotusRankInput *p, MotusStatus status, const MotusError *cause, MotusError *error) {
    if (status == MOTUS_END || status == MOTUS_ERR_TRUNCATED) { // unless it ended later before
        const MotusStatus changed = motus_input_unchanged(p->of->options->input, &p->of->setup->input, 1, error);
        if (changed) return changed;
        motus_rank_input_close(p); // what it would do next is not told by its header
    }
    if (status == MOTUS_ERR_TRUNCATED) {
        const int told = motus_link_say(p->of->link, motus_message(MOTUS_SAYS_WARNING, cause->text, strlen(cause->text) + 1));
        return told ? MOTUS_END : motus_fail(error, MOTUS_ERR_STATE, "the job is over");
    }
    if (status < 0) *error = *cause;
    return status;
}

static MotusStatus crop(const MotusRankInput *p, MotusFrame *whole, MotusFrame **out, MotusError *error) {
    const MotusEncoderConfig *c = &p->of->setup->config;
    MotusStatus status = motus_frame_crop(out, whole, c->width, c->height);
    return status ? motus_fail(error, status, "out of memory") : MOTUS_OK;
}

static MotusStatus frame_ahead(MotusRankInput *p, MotusFrame **out, MotusError *error) {
    MotusFrame *whole = NULL;
    MotusError cause = {0};
    MotusStatus status = motus_ahead_next(p->ahead, &whole, &cause);
    if (status == MOTUS_END && p->part.cut) status = MOTUS_ERR_TRUNCATED, cause = p->part.warning;
    status = judge(p, status, &cause, error);
    if (!status) status = crop(p, whole, out, error);
    motus_frame_unref(&whole);
    return status;
}

MotusStatus motus_rank_input_frame(MotusRankInput *p, int64_t frame, MotusFrame **out, MotusError *error) {
    if (p->ahead) return frame_ahead(p, out, error);
    MotusError cause = {0};
    MotusStatus status = go_to(p, frame, &cause);
    if (!status && p->next == frame) {
        motus_frame_unref(&p->last);
        status = motus_reader_next(p->reader, &p->last, &cause);
        if (!status) p->next++;
    }
    status = judge(p, status, &cause, error);
    return status ? status : crop(p, p->last, out, error);
}

MotusStatus motus_rank_input_begin(MotusRankInput *p, int64_t first, int64_t count, MotusBackend backend, MotusError *error) {
    MotusError cause = {0};
    MotusStatus status = judge(p, go_to(p, first, &cause), &cause, error);
    if (status || p->next != first) return status;
    motus_frame_unref(&p->last);
    p->part = (MotusInput){.reader = p->reader, .limit = count, .ignores_signals = 1};
    const MotusEncoderConfig *c = &p->of->setup->config;
    if (backend == MOTUS_BACKEND_CUDA)
        p->ahead = motus_ahead_open(&p->part, motus_cpu_threads(c->threads), c->device);
    else
        p->ahead = motus_ahead_open(&p->part, 1, -1); // one is enough
    return MOTUS_OK;
}
