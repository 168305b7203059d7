// The job: each sequence at each QP with each setting, then the report. A signal leaves a report of
// what is done.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/compare/compare.h"

// Bytes of pictures and MB records in the page, so that it opens in a second or two. With several
// sequences the page may be larger, but each has less.
enum { VIEWER_BYTES = 24000000, VIEWER_BYTES_OF_MANY = 8000000 };

typedef struct Job {
    const MotusCompareOptions *o;
    MotusWorkFolder folder;
    char x264_version[128];
    MotusTimes x264_start;          // times of its start, which do not count
    MotusOutput *page, *csv, *json; // opened before the work begins
    MotusTruth *truth;
    MotusProgress progress;
    int64_t done;      // frames encoded and compared
    const char *doing; // for the progress line
    int qp;
    cJSON *sequences;
    MotusCompareTotals totals;
    int made_folder;
    MotusError *error;
} Job;

// ---- Progress -----------------------------------------------------------------------------------

static void show(Job *j, int frames) {
    char more[128];
    snprintf(more, sizeof more, "  %s, QP %d", j->doing, j->qp);
    motus_progress_show(&j->progress, j->done + frames, more);
}

static void show_frames(void *opaque, int frames) { show(opaque, frames); }

static void begin(Job *j, const char *doing) {
    j->doing = doing;
    show(j, 0);
}

// Opens each input once and counts the frames to process, -1 if a count is unknown.
static MotusStatus count_work(Job *j, int64_t *total) {
    const MotusCompareOptions *o = j->o;
    *total = 0;
    for (int i = 0; i < o->n_inputs; i++) {
        MotusReader *reader = NULL;
        MotusStatus status =
            motus_reader_open(&reader, o->input[i], &(MotusReaderOptions){0}, j->error);
        if (status) return status;
        const int64_t frames = motus_reader_info(reader)->frames;
        motus_reader_close(&reader);
        if (o->frames && (frames < 0 || frames > o->frames))
            *total += *total < 0 ? 0 : o->frames;
        else
            *total = frames < 0 || *total < 0 ? -1 : *total + frames;
    }
    if (*total > 0) *total *= (int64_t)o->n_qps * (o->encoders.n + 1);
    return MOTUS_OK;
}

// ---- Encodes ------------------------------------------------------------------------------------

static double kbps(const MotusCompareClip *clip, uint64_t bytes, int frames) {
    return 8e-3 * (double)bytes / frames * clip->fps.num / clip->fps.den;
}

static void fill_point(MotusComparePoint *p, const MotusCompareClip *clip, uint64_t bytes,
                       uint64_t ssd, double ssim, const MotusBitSums *bits) {
    const uint64_t samples =
        (uint64_t)clip->frames * (uint64_t)clip->width * (uint64_t)clip->height;
    p->done = 1;
    p->bytes = bytes;
    p->kbps = kbps(clip, bytes, clip->frames);
    p->psnr = motus_psnr(ssd, samples);
    p->ssim = ssim / clip->frames;
    p->has_bits = bits != NULL;
    if (bits) p->bits = *bits;
}

static void fill_times(MotusComparePoint *p, const MotusCompareClip *clip, const MotusTimes *times,
                       int on_gpu) {
    p->elapsed = times->elapsed;
    p->seconds = on_gpu ? times->elapsed : times->processor;
    p->fps = p->seconds > 0 ? clip->frames / p->seconds : 0;
}

static void fill_ours(MotusComparePoint *p, const MotusCompareClip *clip,
                      const MotusOurStream *out) {
    fill_point(p, clip, out->stream.n, out->luma_ssd, out->ssim, &out->bits);
    fill_times(p, clip, &out->times, out->on_gpu);
}

static void end_encode(Job *j, const MotusTimes *times, const MotusCompareClip *clip) {
    j->done += clip->frames;
    j->totals.load.times.elapsed += times->elapsed;
    j->totals.load.times.processor += times->processor;
}

static MotusStatus encode_x264(Job *j, const MotusCompareClip *clip, int encoder, int qp,
                               MotusTimes *times) {
    const MotusX264Job job = {.program = j->o->x264,
                              .words = j->o->encoders.encoder[encoder].word,
                              .qp = qp,
                              .threads = j->o->threads,
                              .range = j->o->range,
                              .input = j->folder.clip,
                              .output = j->folder.stream,
                              .log = j->folder.log,
                              .frames = clip->frames};
    begin(j, j->o->encoders.encoder[encoder].name);
    MotusX264Times spent = {0};
    MotusStatus status = motus_x264_encode(&job, &spent, j->error);
    *times = spent.program;
    times->processor = fmax(times->processor - j->x264_start.processor, times->processor / 10);
    if (!status) end_encode(j, &spent.program, clip);
    return status;
}

static MotusStatus encode_ours(Job *j, const MotusCompareClip *clip, int encoder, int qp,
                               MotusOurStream *out) {
    MotusEncoderConfig config = j->o->encoders.encoder[encoder].config;
    config.width = clip->width;
    config.height = clip->height;
    config.fps = clip->fps;
    config.qp = qp;
    config.threads = j->o->threads;
    begin(j, j->o->encoders.encoder[encoder].name);
    MotusStatus status = motus_our_encode(&config, clip, show_frames, j, out, j->error);
    const MotusTimes none = {0};
    if (!status) end_encode(j, out->on_gpu ? &none : &out->times, clip);
    j->totals.load.gpu |= out->on_gpu;
    return status;
}

// Encodes with a setting of which only the curve is wanted.
static MotusStatus trace_point(Job *j, MotusCompareSequence *s, int encoder, int q) {
    MotusComparePoint *p = &s->point[encoder][q];
    if (j->o->encoders.encoder[encoder].is_x264) {
        MotusQuality quality = {0};
        MotusTimes times = {0};
        MotusClipFrames frames = {0};
        MotusStatus status = encode_x264(j, &s->clip, encoder, j->o->qp[q], &times);
        if (!status) status = motus_clip_frames_open(&frames, &s->clip, j->error);
        if (!status)
            status = motus_stream_measure(j->folder.stream, s->clip.frames, motus_clip_frames_next,
                                          &frames, &quality, j->error);
        motus_clip_frames_close(&frames);
        if (status) return status;
        fill_point(p, &s->clip, quality.bytes, quality.luma_ssd, quality.ssim, NULL);
        fill_times(p, &s->clip, &times, 0);
        return MOTUS_OK;
    }
    MotusOurStream out;
    MotusStatus status = encode_ours(j, &s->clip, encoder, j->o->qp[q], &out);
    if (!status) fill_ours(p, &s->clip, &out);
    motus_our_stream_free(&out);
    return status;
}

// ---- A run --------------------------------------------------------------------------------------

static MotusStatus read_stream(const char *path, MotusBytes *bytes, MotusError *error) {
    FILE *file = fopen(path, "rb");
    if (!file) return motus_fail(error, MOTUS_ERR_IO, "x264's stream: %s", strerror(errno));
    uint8_t piece[65536];
    for (size_t n; (n = fread(piece, 1, sizeof piece, file));) motus_bytes_add(bytes, piece, n);
    const int failed = ferror(file);
    fclose(file);
    if (failed) return motus_fail(error, MOTUS_ERR_IO, "x264's stream: cannot be read");
    return bytes->failed ? motus_fail(error, MOTUS_ERR_MEMORY, "out of memory") : MOTUS_OK;
}

static void add_to_totals(MotusCompareTotals *t, const MotusRun *run) {
    motus_figures_merge(&t->figures, &run->figures);
    motus_bound_merge(&t->bound, &run->bound);
    t->extraction.compared += run->extraction.compared;
    t->extraction.equal += run->extraction.equal;
    t->extraction.only_here += run->extraction.only_here;
    t->p_frames += run->p_frames;
    t->range = run->range;
    memcpy(t->profile_idc, run->profile_idc, sizeof t->profile_idc);
    t->subpel = run->subpel;
    t->modes = run->modes;
}

static void add_speeds(MotusCompareTotals *t, const MotusCompareClip *clip,
                       MotusComparePoint *const point[MOTUS_SIDES]) {
    for (int side = 0; side < MOTUS_SIDES; side++) t->seconds[side] += point[side]->seconds;
    t->frames += clip->frames;
}

// Compares the first setting of each encoder at one QP. Keeps what was done before a signal.
static MotusStatus compare_at(Job *j, MotusCompareSequence *s, const char *name, int q,
                              size_t viewer_bytes, cJSON *runs) {
    const MotusCompareOptions *o = j->o;
    const int x264 = motus_compare_encoders_first(&o->encoders, 1),
              ours = motus_compare_encoders_first(&o->encoders, 0);
    MotusBytes stream = {0};
    MotusOurStream out = {0};
    MotusRun run = {0};
    MotusTimes times = {0};
    MotusComparePoint *point[MOTUS_SIDES] = {&s->point[x264][q], &s->point[ours][q]};
    MotusStatus status = encode_x264(j, &s->clip, x264, o->qp[q], &times);
    if (!status) status = read_stream(j->folder.stream, &stream, j->error);
    if (!status) status = encode_ours(j, &s->clip, ours, o->qp[q], &out);
    if (!status) {
        const MotusRunSetup setup = {.clip = &s->clip,
                                     .name = name,
                                     .x264 = stream.data,
                                     .x264_size = stream.n,
                                     .ours = &out,
                                     .qp = o->qp[q],
                                     .range = o->range,
                                     .threads = o->threads,
                                     .subpel = o->subpel,
                                     .bound = o->bound,
                                     .truth = j->truth,
                                     .csv = j->csv,
                                     .viewer_bytes = viewer_bytes,
                                     .progress = show_frames,
                                     .opaque = j};
        begin(j, "comparing");
        status = motus_run(&setup, &run, j->error);
        if (run.extraction.equal != run.extraction.compared || run.extraction.unknown)
            motus_warn("%s, QP %d: libavcodec and our reader disagree about vectors of x264's "
                       "stream: please report this",
                       name, o->qp[q]);
        add_to_totals(&j->totals, &run);
        j->done += s->clip.frames;
        cJSON_AddItemToArray(runs, motus_run_json(&run, o->qp[q], o->truth != NULL));
        fill_ours(point[MOTUS_OURS], &s->clip, &out);
    }
    if (!status) {
        fill_point(point[MOTUS_X264], &s->clip, run.quality.bytes, run.quality.luma_ssd,
                   run.quality.ssim, &run.bits[MOTUS_X264]);
        fill_times(point[MOTUS_X264], &s->clip, &times, 0);
        add_speeds(&j->totals, &s->clip, point);
    }
    motus_our_stream_free(&out);
    motus_bytes_free(&stream);
    return status;
}

// ---- A sequence ---------------------------------------------------------------------------------

// Returns the bytes of pictures and MB records that the page may have of a sequence.
static size_t viewer_bytes(const MotusCompareOptions *o) {
    if (!o->page_mb) return SIZE_MAX / 2;
    if (o->page_mb > 0) return (size_t)o->page_mb * 1000000 / (size_t)o->n_inputs;
    return o->n_inputs > 2 ? (size_t)VIEWER_BYTES_OF_MANY
                           : (size_t)VIEWER_BYTES / (size_t)o->n_inputs;
}

static MotusStatus compare_sequence(Job *j, const char *input) {
    const MotusCompareOptions *o = j->o;
    MotusCompareSequence *s = motus_alloc(1, sizeof *s);
    char name[128];
    if (!s) return motus_fail(j->error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = motus_compare_clip_make(&s->clip, &j->folder, input, o->frames, j->error);
    if (status) {
        motus_free(s);
        return status;
    }
    motus_compare_name(input, name, sizeof name);
    cJSON *sequence = motus_compare_sequence_json(name, input, &s->clip, j->truth != NULL),
          *runs = cJSON_CreateArray();
    const size_t all = viewer_bytes(o),
                 left = all - motus_compare_add_pictures(sequence, &s->clip, all / 10 * 6);
    const int first[2] = {motus_compare_encoders_first(&o->encoders, 0),
                          motus_compare_encoders_first(&o->encoders, 1)};
    for (int q = 0; q < o->n_qps && !status; q++) {
        j->qp = o->qp[q];
        status = compare_at(j, s, name, q, left / (size_t)o->n_qps, runs);
        for (int c = 0; c < o->encoders.n && !status; c++)
            if (c != first[0] && c != first[1]) status = trace_point(j, s, c, q);
    }
    cJSON_AddItemToObject(sequence, "rd", motus_points_json(o, s));
    cJSON_AddItemToObject(sequence, "bd_rate", motus_bd_rates_json(o, s, &j->totals));
    cJSON_AddItemToObject(sequence, "runs", runs);
    cJSON_AddItemToArray(j->sequences, sequence);
    motus_free(s);
    return status;
}

// ---- The job ------------------------------------------------------------------------------------

static MotusStatus make_folder(Job *j) {
    const char *folder = j->o->folder;
    if (!mkdir(folder, 0777)) {
        j->made_folder = 1;
        return MOTUS_OK;
    }
    struct stat st;
    if (errno != EEXIST)
        return motus_fail(j->error, MOTUS_ERR_IO, "%s: %s", motus_shown(folder), strerror(errno));
    if (stat(folder, &st) || !S_ISDIR(st.st_mode))
        return motus_fail(j->error, MOTUS_ERR_IO, "%s: is no folder", motus_shown(folder));
    if (!j->o->force)
        return motus_fail(j->error, MOTUS_ERR_IO,
                          "%s: exists already (--force writes index.html into it)",
                          motus_shown(folder));
    return MOTUS_OK;
}

static MotusStatus open_outputs(Job *j) {
    const MotusCompareOptions *o = j->o;
    char page[4096];
    snprintf(page, sizeof page, "%s/index.html", o->folder);
    MotusStatus status = make_folder(j);
    if (!status) status = motus_output_open(&j->page, page, j->error);
    if (!status && o->json) status = motus_output_open(&j->json, o->json, j->error);
    if (!status && o->csv) status = motus_output_open(&j->csv, o->csv, j->error);
    if (!status && o->csv)
        status = motus_output_write(j->csv, MOTUS_COMPARE_CSV_HEADER,
                                    sizeof MOTUS_COMPARE_CSV_HEADER - 1, j->error);
    return status;
}

static MotusStatus open_all(Job *j) {
    const MotusCompareOptions *o = j->o;
    int64_t total = 0;
    MotusStatus status = motus_work_folder_make(&j->folder, j->error);
    if (!status)
        status = motus_x264_version(o->x264, j->folder.log, j->x264_version, sizeof j->x264_version,
                                    &j->x264_start, j->error);
    if (!status) status = count_work(j, &total);
    if (!status && o->truth) status = motus_truth_load(&j->truth, o->truth, j->error);
    if (!status) status = open_outputs(j);
    j->progress = motus_progress_begin(total, o->quiet);
    return status;
}

static MotusStatus write_all(Job *j, int complete) {
    cJSON *report = cJSON_CreateObject();
    motus_compare_describe(report, j->o, &j->totals, j->x264_version, complete);
    cJSON_AddItemToObject(report, "sequences", j->sequences);
    j->sequences = NULL;
    motus_compare_describe_gaps(report);
    motus_compare_warn_gaps(report);
    MotusStatus status = motus_compare_write_page(&j->page, report, j->error);
    if (!status && j->csv) status = motus_output_commit(&j->csv, j->error);
    if (!status && j->json) status = motus_compare_write_json(&j->json, report, j->error);
    if (!status && !j->o->quiet) motus_compare_print(report, &j->totals.bound);
    cJSON_Delete(report);
    return status;
}

// Runs the job. A signal or a failure leaves a report of what was done before.
static MotusStatus run(Job *j) {
    MotusStatus status = open_all(j);
    j->sequences = cJSON_CreateArray();
    for (int i = 0; i < j->o->n_inputs && !status; i++)
        status = compare_sequence(j, j->o->input[i]);
    motus_progress_end(&j->progress);
    if (!j->totals.p_frames)
        return status ? status
                      : motus_fail(j->error, MOTUS_ERR_FORMAT,
                                   "x264 made no P picture: there is nothing to compare");
    const MotusError first = *j->error;
    MotusStatus written = write_all(j, !status);
    if (status < 0) *j->error = first;
    return status < 0 ? status : written;
}

int motus_compare_job(const MotusCompareOptions *options) {
    MotusError error = {0};
    Job j = {.o = options, .error = &error};
    j.totals.load.before = motus_cpu_load();
    const MotusStatus status = run(&j);
    const int interrupted = motus_signal_caught();
    motus_output_abandon(&j.page);
    motus_output_abandon(&j.csv);
    motus_output_abandon(&j.json);
    motus_truth_free(&j.truth);
    cJSON_Delete(j.sequences);
    motus_work_folder_remove(&j.folder);
    if (status && j.made_folder) rmdir(options->folder); // only if it is empty
    if (status) motus_failure(&error);
    if (interrupted) return MOTUS_EXIT_SIGNAL + interrupted;
    return status ? MOTUS_EXIT_FAILURE : motus_flush_stdout();
}
