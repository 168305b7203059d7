// The job: each sequence at each QP with each setting, then the report. A signal leaves a report of
// what is done.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
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
    MotusOutput *csv;
    MotusTruth *truth;
    MotusProgress progress;
    int64_t done;      // frames encoded and compared
    const char *doing; // for the progress line
    int qp;
    cJSON *sequences;
    MotusCompareTotals totals;
    int left_out;
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
                       uint64_t ssd, double ssim, double seconds, const MotusBitSums *bits) {
    const uint64_t samples =
        (uint64_t)clip->frames * (uint64_t)clip->width * (uint64_t)clip->height;
    p->done = 1;
    p->bytes = bytes;
    p->kbps = kbps(clip, bytes, clip->frames);
    p->psnr = motus_psnr(ssd, samples);
    p->ssim = ssim / clip->frames;
    p->seconds = seconds;
    p->fps = seconds > 0 ? clip->frames / seconds : 0;
    p->has_bits = bits != NULL;
    if (bits) p->bits = *bits;
}

static void fill_ours(MotusComparePoint *p, const MotusCompareClip *clip,
                      const MotusOurStream *out) {
    fill_point(p, clip, out->stream.n, out->luma_ssd, out->ssim, out->seconds, &out->bits);
}

static MotusStatus encode_x264(Job *j, const MotusCompareClip *clip, int encoder, int qp,
                               double *seconds) {
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
    MotusStatus status = motus_x264_encode(&job, seconds, j->error);
    if (!status) j->done += clip->frames;
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
    if (!status) j->done += clip->frames;
    return status;
}

// Encodes with a setting of which only the curve is wanted.
static MotusStatus trace_point(Job *j, MotusCompareSequence *s, int encoder, int q) {
    MotusComparePoint *p = &s->point[encoder][q];
    if (j->o->encoders.encoder[encoder].is_x264) {
        MotusQuality quality = {0};
        double seconds = 0;
        MotusClipFrames frames = {0};
        MotusStatus status = encode_x264(j, &s->clip, encoder, j->o->qp[q], &seconds);
        if (!status) status = motus_clip_frames_open(&frames, &s->clip, j->error);
        if (!status)
            status = motus_stream_measure(j->folder.stream, s->clip.frames, motus_clip_frames_next,
                                          &frames, &quality, j->error);
        motus_clip_frames_close(&frames);
        if (!status)
            fill_point(p, &s->clip, quality.bytes, quality.luma_ssd, quality.ssim, seconds, NULL);
        return status;
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
    t->extraction.compared += run->extraction.compared;
    t->extraction.equal += run->extraction.equal;
    t->extraction.only_here += run->extraction.only_here;
    t->p_frames += run->p_frames;
    t->range = run->range;
    t->subpel = run->subpel;
    t->modes = run->modes;
}

static void add_times(MotusCompareTotals *t, const MotusCompareClip *clip, double x264,
                      double ours) {
    t->seconds[MOTUS_X264] += x264;
    t->seconds[MOTUS_OURS] += ours;
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
    double seconds = 0;
    MotusStatus status = encode_x264(j, &s->clip, x264, o->qp[q], &seconds);
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
        add_times(&j->totals, &s->clip, seconds, out.seconds);
        j->left_out += run.left_out;
        j->done += s->clip.frames;
        cJSON_AddItemToArray(runs, motus_run_json(&run, o->qp[q], o->truth != NULL));
        fill_ours(&s->point[ours][q], &s->clip, &out);
    }
    if (!status)
        fill_point(&s->point[x264][q], &s->clip, run.quality.bytes, run.quality.luma_ssd,
                   run.quality.ssim, seconds, &run.bits[MOTUS_X264]);
    motus_our_stream_free(&out);
    motus_bytes_free(&stream);
    return status;
}

// ---- A sequence ---------------------------------------------------------------------------------

static void name_of(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    snprintf(name, size, "%.*s", (int)(dot && dot > base ? dot - base : (long)strlen(base)), base);
    for (char *p = name; *p; p++)
        if (*p == ',' || *p == '"') *p = '_'; // for the CSV
}

// Adds "pictures": as many from the first on as fit into `max_bytes`. Returns their bytes.
static size_t add_pictures(Job *j, cJSON *sequence, const MotusCompareClip *clip,
                           size_t max_bytes) {
    cJSON *pictures = cJSON_AddArrayToObject(sequence, "pictures");
    MotusClipFrames frames = {0};
    size_t used = 0;
    int full = motus_clip_frames_open(&frames, clip, NULL) != MOTUS_OK;
    for (int n = 0; n < clip->frames; n++) {
        const MotusFrame *frame = NULL;
        char *uri = NULL;
        full = full || motus_clip_frames_next(&frames, n, &frame, NULL) ||
               motus_viewer_picture(frame, clip->full_range, &uri, NULL);
        full = full || used + strlen(uri) > max_bytes;
        cJSON_AddItemToArray(pictures, full ? cJSON_CreateNull() : cJSON_CreateString(uri));
        used += full ? 0 : strlen(uri);
        j->left_out += full;
        motus_free(uri);
    }
    motus_clip_frames_close(&frames);
    return used;
}

static cJSON *describe_sequence(const Job *j, const char *name, const char *input,
                                const MotusCompareClip *clip) {
    cJSON *s = cJSON_CreateObject(), *fps;
    cJSON_AddStringToObject(s, "name", name);
    cJSON_AddStringToObject(s, "file", input);
    cJSON_AddNumberToObject(s, "width", clip->width);
    cJSON_AddNumberToObject(s, "height", clip->height);
    cJSON_AddNumberToObject(s, "mb_width", motus_mbs(clip->width));
    cJSON_AddNumberToObject(s, "mb_height", motus_mbs(clip->height));
    fps = cJSON_AddArrayToObject(s, "fps");
    cJSON_AddItemToArray(fps, cJSON_CreateNumber(clip->fps.num));
    cJSON_AddItemToArray(fps, cJSON_CreateNumber(clip->fps.den));
    cJSON_AddNumberToObject(s, "frames", clip->frames);
    cJSON_AddBoolToObject(s, "has_truth", j->truth != NULL);
    return s;
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
    name_of(input, name, sizeof name);
    cJSON *sequence = describe_sequence(j, name, input, &s->clip), *runs = cJSON_CreateArray();
    const size_t all =
        o->n_inputs > 2 ? (size_t)VIEWER_BYTES_OF_MANY : (size_t)VIEWER_BYTES / (size_t)o->n_inputs;
    const size_t left = all - add_pictures(j, sequence, &s->clip, all * 6 / 10);
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

static MotusStatus open_all(Job *j) {
    const MotusCompareOptions *o = j->o;
    int64_t total = 0;
    MotusStatus status = motus_work_folder_make(&j->folder, j->error);
    if (!status)
        status = motus_x264_version(o->x264, j->folder.log, j->x264_version, sizeof j->x264_version,
                                    j->error);
    if (!status) status = count_work(j, &total);
    if (!status && o->truth) status = motus_truth_load(&j->truth, o->truth, j->error);
    if (!status) status = make_folder(j);
    if (!status && o->csv) status = motus_output_open(&j->csv, o->csv, j->error);
    if (!status && o->csv)
        status = motus_output_write(j->csv, MOTUS_COMPARE_CSV_HEADER,
                                    sizeof MOTUS_COMPARE_CSV_HEADER - 1, j->error);
    j->progress = motus_progress_begin(total, o->quiet);
    return status;
}

static MotusStatus write_all(Job *j, int complete) {
    cJSON *report = cJSON_CreateObject(), *viewer;
    motus_compare_describe(report, j->o, &j->totals, j->x264_version, complete);
    viewer = cJSON_AddObjectToObject(report, "viewer");
    cJSON_AddNumberToObject(viewer, "left_out", j->left_out);
    cJSON_AddItemToObject(report, "sequences", j->sequences);
    j->sequences = NULL;
    MotusStatus status = motus_compare_write_page(j->o->folder, report, j->error);
    if (!status && j->csv) status = motus_output_commit(&j->csv, j->error);
    if (!status && j->o->json) status = motus_compare_write_json(j->o->json, report, j->error);
    if (!status && !j->o->quiet) motus_compare_print(report);
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
    const MotusStatus status = run(&j);
    const int interrupted = motus_signal_caught();
    motus_output_abandon(&j.csv);
    motus_truth_free(&j.truth);
    cJSON_Delete(j.sequences);
    motus_work_folder_remove(&j.folder);
    if (status && j.made_folder) rmdir(options->folder); // only if it is empty
    if (status) motus_failure(&error);
    if (interrupted) return MOTUS_EXIT_SIGNAL + interrupted;
    return status ? MOTUS_EXIT_FAILURE : motus_flush_stdout();
}
