// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/rank_input.h"

#include <string.h>

#include "common/cpu.h"
#include "common/error.h"

void motus_rank_input_end(MotusRankInput *in) {
    motus_read_ahead_close(&in->ahead);
    in->next += in->segment.begun;
    in->segment.begun = 0;
}

void motus_rank_input_close(MotusRankInput *in) {
    motus_rank_input_end(in);
    motus_frame_unref(&in->last);
    motus_reader_close(&in->reader);
    in->next = 0;
}

static MotusStatus open_reader(MotusRankInput *in, MotusError *error) {
    const MotusEncodeOptions *o = in->worker->options;
    const MotusEncoderConfig *c = &in->worker->setup->config;
    const MotusReaderOptions wanted = {.width = o->size[0],
                                       .height = o->size[1],
                                       .fps = o->fps,
                                       .threads = c->threads,
                                       .deinterlace = o->deinterlace,
                                       .pinned = in->pinned,
                                       .luma_only = in->luma_only};
    motus_rank_input_close(in);
    MotusStatus status = motus_reader_open(&in->reader, o->input, &wanted, error);
    if (status) return status;
    const MotusSequenceInfo *info = motus_reader_info(in->reader);
    if ((info->width & ~1) == c->width && (info->height & ~1) == c->height) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: is another file here: %dx%d",
                      motus_shown(o->input), info->width, info->height);
}

// Goes to a frame. MOTUS_END, MOTUS_ERR_TRUNCATED: there is none.
static MotusStatus seek_frame(MotusRankInput *in, int64_t frame, MotusError *error) {
    const int stays = in->reader && (in->next <= frame || (in->last && in->next - 1 == frame));
    MotusStatus status = stays ? MOTUS_OK : open_reader(in, error);
    if (!status && in->next < frame) {
        motus_frame_unref(&in->last);
        status = motus_reader_skip(in->reader, frame - in->next, error);
        if (!status) in->next = frame;
    }
    return status;
}

// Handles the end of the input and errors. Any status but MOTUS_OK closes the input or ends the
// job.
static MotusStatus close_at_end(MotusRankInput *in, MotusStatus status, const MotusError *cause,
                                MotusError *error) {
    if (status == MOTUS_END || status == MOTUS_ERR_TRUNCATED) {
        const MotusStatus changed =
            motus_input_unchanged(in->worker->options->input, &in->worker->setup->input, 1, error);
        if (changed) return changed;
        motus_rank_input_close(in); // its header no longer says how many frames there are
    }
    if (status == MOTUS_ERR_TRUNCATED) {
        const int sent =
            motus_link_reply(in->worker->link, motus_message(MOTUS_MSG_WARNING, cause->text,
                                                             strlen(cause->text) + 1));
        return sent ? MOTUS_END : motus_fail(error, MOTUS_ERR_STATE, "the job is over");
    }
    if (status < 0) *error = *cause;
    return status;
}

static MotusStatus crop(const MotusRankInput *in, MotusFrame *whole, MotusFrame **out,
                        MotusError *error) {
    const MotusEncoderConfig *c = &in->worker->setup->config;
    MotusStatus status = motus_frame_crop(out, whole, c->width, c->height);
    return status ? motus_fail(error, status, "out of memory") : MOTUS_OK;
}

static MotusStatus next_ahead(MotusRankInput *in, MotusFrame **out, MotusError *error) {
    MotusFrame *whole = NULL;
    MotusError cause = {0};
    MotusStatus status = motus_read_ahead_next(in->ahead, &whole, &cause);
    if (status == MOTUS_END && in->segment.cut)
        status = MOTUS_ERR_TRUNCATED, cause = in->segment.warning;
    status = close_at_end(in, status, &cause, error);
    if (!status) status = crop(in, whole, out, error);
    motus_frame_unref(&whole);
    return status;
}

MotusStatus motus_rank_input_frame(MotusRankInput *in, int64_t frame, MotusFrame **out,
                                   MotusError *error) {
    if (in->ahead) return next_ahead(in, out, error);
    MotusError cause = {0};
    MotusStatus status = seek_frame(in, frame, &cause);
    if (!status && in->next == frame) {
        motus_frame_unref(&in->last);
        status = motus_reader_next(in->reader, &in->last, &cause);
        if (!status) in->next++;
    }
    status = close_at_end(in, status, &cause, error);
    return status ? status : crop(in, in->last, out, error);
}

MotusStatus motus_rank_input_begin(MotusRankInput *in, int64_t first, int64_t count,
                                   MotusBackend backend, MotusError *error) {
    MotusError cause = {0};
    MotusStatus status = close_at_end(in, seek_frame(in, first, &cause), &cause, error);
    if (status || in->next != first) return status;
    motus_frame_unref(&in->last);
    in->segment = (MotusInput){.reader = in->reader, .limit = count, .ignores_signals = 1};
    const MotusEncoderConfig *c = &in->worker->setup->config;
    if (backend == MOTUS_BACKEND_CUDA)
        in->ahead = motus_read_ahead_open(&in->segment, motus_cpu_threads(c->threads), c->device);
    else
        in->ahead = motus_read_ahead_open(&in->segment, 1, -1);
    return MOTUS_OK;
}
