// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode_job.h"

#include <stdio.h>

#include "common/error.h"
#include "tools/cmd.h"
#include "tools/input.h"
#include "tools/mux.h"
#include "tools/mvs.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/signals.h"
#include "tools/system.h"
#include "yuv/writer.h"

typedef struct Session {
    const MotusEncodeOptions *options;
    MotusInput input;
    MotusFilters *filters;
    MotusEncoder *encoder;
    MotusOutput *stream; // this or mux
    MotusMux *mux;
    MotusWriter *recon;
    MotusStatsFile *stats;
    MotusMvsFile *mvs;
    MotusJob job;
    MotusTotals totals;
    MotusProgress progress;
} Session;

// ---- Input --------------------------------------------------------------------------------------------------------------------------------

static MotusStatus no_frame(const MotusEncodeOptions *o, MotusError *error) {
    if (!o->seek) return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: no frame to encode", motus_shown(o->input));
    return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: has no frame %d, where --seek wants to begin", motus_shown(o->input),
                      o->seek);
}

static MotusStatus open_input(Session *s, MotusError *error) {
    const MotusEncodeOptions *o = s->options;
    const MotusReaderOptions wanted = {.width = o->size[0], .height = o->size[1], .fps = o->fps, .threads = o->config.threads};
    MotusStatus status = motus_reader_open(&s->input.reader, o->input, &wanted, error);
    if (status) return status;
    const MotusSequenceInfo *info = motus_reader_info(s->input.reader);
    MotusEncoderConfig *c = &s->job.config;
    *c = o->config;
    c->width = info->width & ~1;
    c->height = info->height & ~1;
    c->fps = info->fps;
    c->colour = info->colour;
    if (!c->width || !c->height)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: %dx%d is too small: H.264 4:2:0 begins at 2x2",
                          motus_shown(o->input), info->width, info->height);
    if ((c->width != info->width || c->height != info->height) && !o->quiet)
        motus_warn("%s: note: %dx%d is cropped to %dx%d, H.264 4:2:0 has even sizes only", motus_shown(o->input), info->width,
                   info->height, c->width, c->height);
    status = o->seek ? motus_reader_skip(s->input.reader, o->seek, error) : MOTUS_OK;
    if (status == MOTUS_END || status == MOTUS_ERR_TRUNCATED)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: ends before frame %d, where --seek wants to begin",
                          motus_shown(o->input), o->seek);
    return status;
}

static MotusStatus read_frame(void *opaque, MotusFrame **frame, MotusError *error) {
    return motus_input_next(&((Session *)opaque)->input, frame, error);
}

// The next frame to encode, filtered, its even-sized part; where the filters leave it on a device, it lies there.
static MotusStatus next_frame(Session *s, MotusFrame **frame, MotusError *error) {
    const MotusEncoderConfig *c = &s->job.config;
    MotusFrame *whole = NULL;
    MotusStatus status = motus_filters_next(s->filters, read_frame, s, &whole, error);
    if (status) return status;
    status = motus_frame_crop(frame, whole, c->width, c->height);
    motus_frame_unref(&whole);
    return status ? motus_fail(error, status, "cropping: %s", motus_status_text(status)) : MOTUS_OK;
}

// ---- Outputs ------------------------------------------------------------------------------------------------------------------------------

static MotusStatus open_outputs(Session *s, MotusError *error) {
    const MotusEncodeOptions *o = s->options;
    const MotusEncoderConfig *c = &s->job.config;
    const MotusSequenceInfo recon = {.width = c->width, .height = c->height, .fps = c->fps, .colour = c->colour};
    MotusStatus status;
    if (motus_has_ending(o->output, MOTUS_MUX_ENDINGS)) {
        size_t size;
        const uint8_t *headers = motus_encoder_headers(s->encoder, &size);
        status = motus_mux_open(&s->mux, o->output, c, headers, size, error);
    } else {
        status = motus_output_open(&s->stream, o->output, error);
    }
    if (!status && o->recon) status = motus_writer_open(&s->recon, o->recon, &recon, error);
    if (!status && o->stats) status = motus_stats_open(&s->stats, o->stats, &s->job, error);
    if (!status && o->mvs) status = motus_mvs_open(&s->mvs, o->mvs, error);
    return status;
}

// The stream first: where another file fails, it is whole.
static MotusStatus commit_outputs(Session *s, double seconds, MotusError *error) {
    int complete = !s->input.cut && !motus_signal_caught();
    MotusStatus status = s->mux ? motus_mux_commit(&s->mux, error) : motus_output_commit(&s->stream, error);
    if (!status && s->recon) status = motus_writer_commit(&s->recon, error);
    if (!status && s->stats) status = motus_stats_commit(&s->stats, &s->totals, &s->job, seconds, complete, error);
    if (!status && s->mvs) status = motus_mvs_commit(&s->mvs, error);
    return status;
}

static MotusStatus put_picture(Session *s, const MotusPicture *picture, double ssim, MotusError *error) {
    MotusStatus status =
        s->mux ? motus_mux_picture(s->mux, picture, error) : motus_output_write(s->stream, picture->data, picture->size, error);
    if (!status && s->recon) status = motus_writer_put(s->recon, picture->recon, error);
    if (!status && s->stats) status = motus_stats_picture(s->stats, &s->job, picture, ssim, error);
    if (!status && s->mvs) status = motus_mvs_picture(s->mvs, picture, error);
    return status;
}

// ---- The loop -----------------------------------------------------------------------------------------------------------------------------

static MotusStatus finish_picture(Session *s, const MotusPicture *picture, MotusError *error) {
    int wanted = !s->options->quiet || s->stats;
    const MotusEncoderConfig *c = &s->job.config;
    double ssim = wanted ? motus_plane_ssim(&picture->source->plane[0], &picture->recon->plane[0], c->width, c->height) : 0;
    motus_totals_add(&s->totals, picture, ssim);
    char more[64];
    snprintf(more, sizeof more, "  %.1f kb/s  PSNR-Y %.2f dB", motus_totals_kbps(&s->totals, &s->job),
             motus_totals_psnr(&s->totals, &s->job, 0));
    motus_progress_show(&s->progress, s->totals.frames, more);
    return put_picture(s, picture, ssim, error);
}

static MotusStatus encoder_failure(const Session *s, MotusStatus status, MotusError *error) {
    const MotusError *cause = motus_encoder_error(s->encoder);
    return motus_fail(error, status, "encoder: %s", cause->status == status ? cause->text : motus_status_text(status));
}

// Sends a frame (NULL ends) and deals with all pictures that come back.
static MotusStatus encode(Session *s, const MotusFrame *frame, MotusError *error) {
    void *stream;
    MotusStatus status = motus_filters_on_device(s->filters, &stream) ? motus_encoder_send_device(s->encoder, frame, stream)
                                                                      : motus_encoder_send(s->encoder, frame);
    if (status) return encoder_failure(s, status, error);
    MotusPicture picture;
    while (!(status = motus_encoder_receive(s->encoder, &picture)))
        if ((status = finish_picture(s, &picture, error))) return status;
    return status > 0 ? MOTUS_OK : encoder_failure(s, status, error);
}

static MotusStatus encode_all(Session *s, MotusError *error) {
    MotusFrame *frame = NULL;
    MotusStatus status = MOTUS_OK;
    while (!status && !(status = next_frame(s, &frame, error))) {
        status = encode(s, frame, error);
        motus_frame_unref(&frame);
    }
    if (status != MOTUS_END) return status;
    if (!s->input.read && motus_signal_caught()) return motus_fail(error, MOTUS_END, "interrupted before the first picture");
    if (!s->input.read) return no_frame(s->options, error);
    return encode(s, NULL, error);
}

// Under --backend auto a device that cannot be opened leaves the work to the CPU: say so.
static void note_backend(Session *s) {
    s->job.backend = motus_encoder_backend(s->encoder);
    const MotusError *cause = motus_encoder_error(s->encoder);
    if (cause->status) motus_warn("the CUDA device cannot be used (%s); encoding on the CPU", cause->text);
}

static MotusStatus run(Session *s, double *seconds, MotusError *error) {
    const MotusEncodeOptions *o = s->options;
    MotusStatus status = motus_backend_check(s->options->config.backend, error);
    if (!status) status = open_input(s, error);
    if (!status) status = motus_encoder_open(&s->encoder, &s->job.config, error);
    if (status) return status;
    note_backend(s);
    status = motus_filters_open(&s->filters, &o->filters, motus_reader_info(s->input.reader), o->config.threads,
                                o->config.backend, s->job.backend == MOTUS_BACKEND_CUDA, error);
    if (status) return status;
    s->job.level = motus_encoder_level(s->encoder);
    if ((status = open_outputs(s, error))) return status;
    int64_t total = motus_reader_info(s->input.reader)->frames;
    if (total >= 0) total -= o->seek;
    if (o->frames && (total < 0 || total > o->frames)) total = o->frames;
    s->progress = motus_progress_begin(total, o->quiet);
    double start = motus_seconds();
    status = encode_all(s, error);
    *seconds = motus_seconds() - start;
    motus_progress_end(&s->progress);
    return status ? status : commit_outputs(s, *seconds, error);
}

static void close_session(Session *s) {
    motus_mvs_abandon(&s->mvs);
    motus_stats_abandon(&s->stats);
    motus_writer_abandon(&s->recon);
    motus_mux_abandon(&s->mux);
    motus_output_abandon(&s->stream);
    motus_encoder_close(&s->encoder);
    motus_filters_close(&s->filters);
    motus_reader_close(&s->input.reader);
}

int motus_encode_job(const MotusEncodeOptions *options) {
    Session s = {
        .options = options, .input = {.limit = options->frames}, .job = {.input = options->input, .output = options->output}};
    MotusError error = {0};
    double seconds = 0;
    MotusStatus status = run(&s, &seconds, &error);
    if (status)
        motus_failure(&error);
    else if (s.input.cut)
        motus_warn("%s; whole frames encoded: %lld", s.input.warning.text, (long long)s.totals.frames);
    if (!status && !options->quiet) motus_report_print(stderr, &s.totals, &s.job, seconds);
    close_session(&s);
    if (motus_signal_caught() && status >= 0) return MOTUS_EXIT_SIGNAL + motus_signal_caught();
    return status || (s.input.cut && options->strict) ? MOTUS_EXIT_FAILURE : MOTUS_EXIT_OK;
}
