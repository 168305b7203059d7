// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/input.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/encode/report.h"

typedef struct EncodeSession {
    const MotusEncodeOptions *options;
    MotusInput input;
    MotusReadAhead *ahead;      // NULL: frames are read when they are needed
    MotusSsimMeter *meter;      // only with `ahead`; NULL: SSIM is measured on this thread
    MotusFieldIn *external_mvs; // NULL: the encoder searches
    int64_t searched;           // pictures with inter MBs that the table of external MVs lacks
    MotusFilters *filters;
    MotusEncoder *encoder;
    MotusEncodeOutputs outputs;
    MotusEncodeReport job;
    MotusTotals totals;
    MotusProgress progress;
    int64_t sent, taken;   // frames; packets
    int64_t newest;        // largest number of a packet
    MotusError idle_error; // of packets received while the input was silent
    int lost;              // something of the input was lost
    int interrupted;       // signal that came before the input's end; 0: none
} EncodeSession;

// ---- Packets ------------------------------------------------------------------------------------

// True if the summary or --stats tells the quality of pictures.
static int wants_quality(const MotusEncodeOptions *o) {
    return (!o->quiet || o->outputs.stats) && !o->config.no_ssd;
}

static MotusStatus finish_picture(EncodeSession *s, const MotusPacket *picture, double ssim,
                                  MotusError *error) {
    int searched = 0;
    if (s->external_mvs && motus_field_in_check(s->external_mvs, picture, &searched, error))
        return error->status;
    s->searched += searched;
    motus_totals_add(&s->totals, picture, ssim);
    char psnr[32] = "", more[96], fields[64];
    motus_progress_fields(&s->totals, &s->job, fields);
    if (!s->job.config.no_ssd)
        snprintf(psnr, sizeof psnr, "  PSNR-Y %.2f dB", motus_totals_psnr(&s->totals, &s->job, 0));
    snprintf(more, sizeof more, "  %.1f kb/s%s", motus_totals_kbps(&s->totals, &s->job), psnr);
    motus_progress_show_as(&s->progress, s->totals.frames, more, fields);
    const MotusTime time = {picture->pts, picture->duration};
    return motus_encode_outputs_picture(&s->outputs, &s->job, picture, time, ssim, error);
}

// Finishes, in order, the pictures whose SSIM has been measured; with `wait` all of them.
static MotusStatus finish_measured(EncodeSession *s, int wait, MotusError *error) {
    MotusPacket *picture;
    MotusStatus status = MOTUS_OK;
    double ssim;
    while (!status && (picture = motus_ssim_meter_take(
                           s->meter, wait || motus_ssim_meter_full(s->meter), &ssim))) {
        status = finish_picture(s, picture, ssim, error);
        motus_packet_unref(&picture);
    }
    return status;
}

// Takes the packet over: measures its SSIM and finishes the pictures that are due.
static MotusStatus take_packet(EncodeSession *s, MotusPacket *picture, MotusError *error) {
    const int width = s->job.config.width, height = s->job.config.height;
    s->taken++;
    if (picture->number > s->newest) s->newest = picture->number;
    if (s->meter) {
        motus_ssim_meter_put(s->meter, picture, width, height);
        return finish_measured(s, 0, error);
    }
    const double ssim =
        wants_quality(s->options)
            ? motus_plane_ssim(&picture->source->plane[0], &picture->recon->plane[0], width, height)
            : 0;
    MotusStatus status = finish_picture(s, picture, ssim, error);
    motus_packet_unref(&picture);
    return status;
}

static MotusStatus encoder_failure(const EncodeSession *s, MotusStatus status, MotusError *error) {
    const MotusError *cause = motus_encoder_error(s->encoder);
    return motus_fail(error, status, "encoder: %s",
                      cause->status == status ? cause->text : motus_status_text(status));
}

// Takes packets until none comes within the timeout (as in motus_encoder_receive), which may differ
// for the first one.
static MotusStatus receive(EncodeSession *s, int first_timeout, int timeout, MotusError *error) {
    MotusPacket *picture;
    MotusStatus status = motus_encoder_receive(s->encoder, &picture, first_timeout);
    for (; !status; status = motus_encoder_receive(s->encoder, &picture, timeout)) {
        status = take_packet(s, picture, error);
        if (status) return status;
    }
    return status > 0 ? MOTUS_OK : encoder_failure(s, status, error);
}

// ---- Input --------------------------------------------------------------------------------------

// Prints a line of the reader or the mux.
static void print_log(void *opaque, MotusLogLevel level, const char *line) {
    EncodeSession *s = opaque;
    s->lost |= level != MOTUS_LOG_NOTE;
    if (!motus_encode_says(s->options, level)) return;
    motus_progress_wipe(&s->progress);
    motus_warn("%s", line);
}

// Takes packets while a pipe is silent (MotusReaderOptions.idle).
static int idle(void *opaque) {
    EncodeSession *s = opaque;
    if (motus_signal_caught()) return -1;
    if (!s->encoder || s->idle_error.status || s->sent == s->totals.frames) return 0;
    return receive(s, 0, 0, &s->idle_error) ? -1 : 1;
}

// Returns the number of the first CUDA device that the job names, -1: none.
static int first_device(const MotusEncoderConfig *c) {
    return c->backend == MOTUS_BACKEND_CPU ? -1 : c->n_devices > 0 ? c->devices[0] : c->device;
}

static MotusStatus open_input(EncodeSession *s, MotusError *error) {
    const MotusEncodeOptions *o = s->options;
    const MotusReaderOptions wanted = {.width = o->size[0],
                                       .height = o->size[1],
                                       .fps = o->fps,
                                       .threads = o->config.threads,
                                       .pinned = o->config.backend != MOTUS_BACKEND_CPU,
                                       .deinterlace = o->deinterlace,
                                       .with_side_streams = o->format != MOTUS_FORMAT_H264,
                                       .interrupted = motus_signal_caught,
                                       .log = print_log,
                                       .idle = idle,
                                       .opaque = s};
    MotusStatus status = motus_reader_open(&s->input.reader, o->input, &wanted, error);
    if (status) return status;
    status = motus_encode_config(o, motus_reader_info(s->input.reader), &s->job.config, print_log,
                                 s, error);
    if (status) return status;
    s->job.time_base = motus_reader_info(s->input.reader)->time_base;
    const int device = first_device(&s->job.config);
    if (device >= 0) motus_device_use(device, NULL); // this thread's pinned memory is for it
    status = o->from.us ? motus_reader_skip_until(s->input.reader, o->from.us, error)
             : o->seek  ? motus_reader_skip(s->input.reader, o->seek, error)
                        : MOTUS_OK;
    if (status == MOTUS_END || status == MOTUS_ERR_TRUNCATED)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: ends before %s%s (--seek)",
                          motus_shown(o->input), o->from.us ? "" : "frame ", o->from.text);
    return status;
}

static MotusStatus read_frame(void *opaque, MotusFrame **frame, MotusError *error) {
    EncodeSession *s = opaque;
    return s->ahead ? motus_read_ahead_next(s->ahead, frame, error)
                    : motus_input_next(&s->input, frame, error);
}

// Hands out the next frame, filtered and cropped to even sizes. It may lie in device memory
// (motus_filters_on_device).
static MotusStatus next_frame(EncodeSession *s, MotusFrame **frame, MotusError *error) {
    const MotusEncoderConfig *c = &s->job.config;
    MotusFrame *whole = NULL;
    MotusStatus status = motus_filters_next(s->filters, read_frame, s, &whole, error);
    if (status) return status;
    status = motus_frame_crop(frame, whole, c->width, c->height);
    motus_frame_unref(&whole);
    return status ? motus_fail(error, status, "cropping: %s", motus_status_text(status)) : MOTUS_OK;
}

static MotusStatus no_frame(const MotusEncodeOptions *o, MotusError *error) {
    return o->from.text ? motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: has no frame %s%s (--seek)",
                                     motus_shown(o->input), o->from.us ? "at " : "", o->from.text)
                        : motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: no frame to encode",
                                     motus_shown(o->input));
}

// ---- The loop -----------------------------------------------------------------------------------

// Sends a frame; NULL ends the sequence.
static MotusStatus send(EncodeSession *s, const MotusFrame *frame, MotusError *error) {
    void *stream;
    const MotusTime time =
        frame ? motus_reader_time(s->input.reader, frame->number) : (MotusTime){0};
    MotusFrameParams params = {.size = sizeof params,
                               .pts = time.at,
                               .duration = time.duration > 0 ? time.duration : 1,
                               .external_final = s->options->mvs_final};
    if (frame && s->external_mvs && motus_field_in_params(s->external_mvs, s->sent, &params, error))
        return error->status;
    MotusStatus status = motus_filters_on_device(s->filters, &stream)
                             ? motus_encoder_send_device(s->encoder, frame, stream, &params)
                             : motus_encoder_send(s->encoder, frame, &params);
    const MotusError *cause = motus_encoder_error(s->encoder);
    if (status && params.opaque && cause->status == MOTUS_ERR_ARGUMENT)
        return motus_fail(error, status, "%s: picture %lld: %s", motus_shown(s->options->mvs_in),
                          (long long)s->sent, cause->text);
    s->sent += frame && !status;
    return status ? encoder_failure(s, status, error) : MOTUS_OK;
}

// Ends the sequence and takes its packets; after a signal only the next one, those that are ready,
// and B pictures that are shown before one of them.
static MotusStatus finish(EncodeSession *s, MotusError *error) {
    MotusStatus status = send(s, NULL, error);
    if (!status) status = receive(s, -1, motus_signal_caught() ? 0 : -1, error);
    for (int64_t before = -1; !status && s->taken <= s->newest && s->taken > before;) {
        before = s->taken;
        status = receive(s, -1, 0, error);
    }
    return status;
}

static MotusStatus encode_frames(EncodeSession *s, MotusError *error) {
    MotusFrame *frame = NULL;
    MotusStatus status = MOTUS_OK;
    const int threads = motus_cpu_threads(s->options->config.threads),
              on_gpu = s->job.backend == MOTUS_BACKEND_CUDA;
    s->ahead = motus_read_ahead_open(&s->input, on_gpu ? threads : 1,
                                     on_gpu ? first_device(&s->job.config) : -1);
    if (s->ahead && wants_quality(s->options)) s->meter = motus_ssim_meter_open(threads);
    while (!status && !(status = next_frame(s, &frame, error))) {
        status = send(s, frame, error);
        if (!status) status = receive(s, 0, 0, error);
        motus_frame_unref(&frame);
    }
    motus_read_ahead_close(&s->ahead);
    if (s->idle_error.status) return (*error = s->idle_error).status;
    if (status != MOTUS_END) return status;
    if (!s->input.read && motus_signal_caught())
        return motus_fail(error, MOTUS_END, "interrupted before the first picture");
    if (!s->input.read) return no_frame(s->options, error);
    return finish(s, error);
}

// Encodes all frames. Also after a failure, the pictures that are coded are written.
static MotusStatus encode_all(EncodeSession *s, MotusError *error) {
    MotusError cause = {0};
    const MotusStatus status = encode_frames(s, error),
                      kept = s->meter ? finish_measured(s, 1, &cause) : MOTUS_OK;
    if (!status && kept) *error = cause;
    return status ? status : kept;
}

// ---- Opening and closing ------------------------------------------------------------------------

// Notes the backend that runs, and warns if --backend auto fell back to the CPU.
static void note_backend(EncodeSession *s) {
    s->job.backend = motus_encoder_backend(s->encoder);
    const MotusError *cause = motus_encoder_error(s->encoder);
    if (cause->status && motus_encode_says(s->options, MOTUS_LOG_WARNING))
        motus_warn("the CUDA device cannot be used (%s); encoding on the CPU", cause->text);
}

static MotusStatus open_outputs(EncodeSession *s, MotusError *error) {
    const MotusEncodeOptions *o = s->options;
    const MotusMuxSettings settings = {.format = (MotusFormat)o->format,
                                       .fragment = o->fragment,
                                       .no_audio = o->no_audio,
                                       .forced_rate = o->fps.num != 0,
                                       .reader = s->input.reader,
                                       .log = print_log,
                                       .opaque = s};
    size_t size;
    const uint8_t *headers = motus_encoder_headers(s->encoder, &size);
    return motus_encode_outputs_open(&s->outputs, &o->outputs, &settings, &s->job, headers, size,
                                     error);
}

// True if more of a picture is used than its stream: else a GPU need not download it.
static int wants_pictures(const MotusEncodeOptions *o) {
    const MotusEncodeNames *names = &o->outputs;
    return wants_quality(o) || names->recon || names->stats || names->mvs || names->field;
}

static MotusStatus open_all(EncodeSession *s, MotusError *error) {
    const MotusEncodeOptions *o = s->options;
    MotusStatus status = motus_encode_check_backend(o, error);
    if (!status) status = open_input(s, error);
    if (status) return status;
    MotusError cause = {0};
    s->job.config.stream_only = !wants_pictures(o);
    s->job.config.no_ssd = !wants_quality(o);
    status = motus_encoder_open(&s->encoder, &s->job.config, &cause);
    const char *log = o->rate.log_text ? motus_shown(o->rate.pass_log) : "";
    if (status)
        return motus_fail(error, status, "%s%s%s: %s", motus_shown(o->input), *log ? ", " : "", log,
                          cause.text);
    if (o->mvs_in && (status = motus_field_in_open(&s->external_mvs, o->mvs_in, s->job.config.width,
                                                   s->job.config.height, error)))
        return status;
    note_backend(s);
    s->job.level = motus_encoder_level(s->encoder);
    status = motus_filters_open(&s->filters, &o->filters, motus_reader_info(s->input.reader),
                                o->config.threads, o->config.backend,
                                s->job.backend == MOTUS_BACKEND_CUDA, error);
    return status ? status : open_outputs(s, error);
}

static void close_session(EncodeSession *s) {
    motus_encode_outputs_abandon(&s->outputs);
    motus_ssim_meter_close(&s->meter);
    motus_encoder_close(&s->encoder);
    motus_field_in_close(&s->external_mvs);
    motus_filters_close(&s->filters);
    motus_reader_close(&s->input.reader);
}

// ---- The job ------------------------------------------------------------------------------------

// True if the encode stopped before the input's end.
static int is_part(const EncodeSession *s) {
    return motus_signal_caught() || s->input.shortened ||
           (s->input.limit && s->input.read >= s->input.limit);
}

static void note_input(EncodeSession *s) {
    const MotusSequenceInfo *info = motus_reader_info(s->input.reader);
    s->job.damage = motus_reader_info(s->input.reader)->damage;
    s->job.variable = info->variable;
    s->job.complete = !s->input.cut && !s->job.damage.cut && !motus_signal_caught();
    if (!info->variable || s->job.known_variable || s->options->format != MOTUS_FORMAT_H264) return;
    char line[300];
    snprintf(line, sizeof line,
             "%s: note: left out, a byte stream holds pictures only: the pictures' own times",
             motus_shown(s->options->outputs.stream));
    print_log(s, MOTUS_LOG_LOSS, line);
}

// Returns -1 if the number is unknown.
static int64_t expected_frames(const MotusEncodeOptions *o, const MotusSequenceInfo *info) {
    const double fps = (double)info->fps.num / info->fps.den;
    const int64_t skipped = o->from.us ? (int64_t)(1e-6 * (double)o->from.us * fps) : o->seek,
                  most = o->duration.us ? (int64_t)(1e-6 * (double)o->duration.us * fps + 1) : 0;
    int64_t total = info->frames > skipped ? info->frames - skipped : info->frames < 0 ? -1 : 0;
    if (o->frames && (total < 0 || total > o->frames)) total = o->frames;
    return most && (total < 0 || total > most) ? most : total;
}

static MotusStatus run(EncodeSession *s, MotusError *error) {
    const MotusEncodeOptions *o = s->options;
    MotusStatus status = open_all(s, error);
    if (status) return status;
    const int64_t total = expected_frames(o, motus_reader_info(s->input.reader));
    s->job.known_variable = motus_reader_info(s->input.reader)->variable;
    s->progress = motus_progress_begin_as(o->progress, total, o->quiet);
    double start = motus_seconds();
    status = encode_all(s, error);
    s->job.seconds = motus_seconds() - start;
    motus_progress_end(&s->progress);
    if (status) return status;
    note_input(s);
    s->interrupted = motus_signal_caught();
    motus_signals_finish();
    return motus_encode_outputs_commit(&s->outputs, &s->totals, &s->job, is_part(s), error);
}

// Returns 1 if the input was cut or damaged.
static int warn_of_damage(const EncodeSession *s) {
    char text[160];
    motus_damage_text(&s->job.damage, text);
    if (!motus_encode_says(s->options, MOTUS_LOG_WARNING)) return s->input.cut || text[0];
    if (s->input.cut)
        motus_warn("%s; whole frames encoded: %lld", s->input.warning.text,
                   (long long)s->totals.frames);
    else if (text[0])
        motus_warn("%s: damaged: %s; the rest was encoded", motus_shown(s->options->input), text);
    return s->input.cut || text[0];
}

int motus_encode_job(const MotusEncodeOptions *options) {
    EncodeSession s = {.options = options,
                       .input = {.limit = options->frames, .duration = options->duration.us},
                       .job = {.input = options->input, .output = options->outputs.stream}};
    MotusError error = {0};
    MotusStatus status = run(&s, &error);
    int damaged = !status && warn_of_damage(&s),
        result = motus_exit_status(status, &error, status ? motus_signal_caught() : s.interrupted);
    if (!status) motus_encode_note_searched(options, s.searched);
    if (!status && !options->quiet) motus_report_print(stderr, &s.totals, &s.job);
    close_session(&s);
    const int failed = s.outputs.lost || (options->strict && (damaged || s.lost));
    if (result || failed) return result ? result : MOTUS_EXIT_FAILURE;
    return s.outputs.unread ? MOTUS_EXIT_PIPE : MOTUS_EXIT_OK;
}

int motus_cmd_encode(int argc, char **argv) {
    MotusEncodeOptions o = motus_encode_options_default();
    int status = motus_encode_options_read(&o, argc, argv);
    if (status < 0) {
        motus_signals_catch();
        status = motus_encode_job(&o);
    }
    free(o.rate.log_text);
    return status;
}
