// motus filter: equalization, denoising and keying of a sequence.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>

#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/input.h"
#include "tools/cli/progress.h"
#include "tools/cli/signals.h"
#include "tools/filter/filters.h"
#include "tools/filter/histogram_plot.h"
#include "yuv/io/writer.h"

static const char about[] =
    "Filters INPUT into OUT, .y4m or headerless .yuv (- is standard input and output).\n"
    "\n"
    "Examples:\n"
    "  motus filter dark.mp4 -o bright.y4m --equalize --plot histogram.png\n"
    "  motus filter dark.mp4 -o bright.y4m --equalize=clahe,clip=3 --denoise 6\n"
    "  motus filter actor.mp4 -o scene.y4m --key green --background street.mp4 --scale\n"
    "\n";

typedef struct FilterOptions {
    const char *input, *output, *plot;
    MotusFilterList list;
    MotusReaderOptions reader;
    int size[2], frames, threads, quiet;
    MotusBackend backend;
} FilterOptions;

static int parse(FilterOptions *o, int argc, char **argv) {
    MotusFilterList *list = &o->list;
    const MotusOption options[] = {
        {"output", 'o', &o->output, motus_option_text, 0, 0, "FILE", "where the frames go"},
        {"equalize", 0, list, motus_option_equalize, 0, 0, "[=SETTINGS]", "spread the histogram"},
        {"denoise", 0, list, motus_option_denoise, 0, 0, "STRENGTH",
         "remove noise by wavelet thresholds"},
        {"key", 0, list, motus_option_key, 0, 0, "COLOUR",
         "show the background where this colour is"},
        {"background", 0, &list->background, motus_option_text, 0, 0, "FILE",
         "sequence or still behind the key; its last frame stays"},
        {"loop", 0, &list->loop, NULL, 1, 0, NULL, "start the background again when it ends"},
        {"scale", 0, &list->scale, NULL, 1, 0, NULL,
         "scale the background to the foreground's size"},
        {"plot", 0, &o->plot, motus_option_text, 0, 0, "FILE.png",
         "luma histograms of the first frame, before and after"},
        {"frames", 'n', &o->frames, motus_option_int, 1, INT_MAX, "N", "N frames at most"},
        {"size", 's', o->size, motus_option_size, 0, 0, "WxH", "size of headerless input"},
        {"fps", 'r', &o->reader.fps, motus_option_rate, 0, 0, "N[/D]",
         "rate of headerless input, or instead of what the input says"},
        {"deinterlace", 0, &o->reader.deinterlace, motus_option_deinterlace, 0, 0, "WHEN",
         "auto, off or on (auto)"},
        {"threads", 't', &o->threads, motus_option_int, 0, 256, "N", "threads, 0 = all cores (0)"},
        {"backend", 0, &o->backend, motus_option_backend, 0, 0, "NAME",
         "auto, cpu or cuda (auto); the result is the same"},
        {"quiet", 0, &o->quiet, NULL, 1, 0, NULL, "no live line"},
        {0},
    };
    char text[4096];
    snprintf(text, sizeof text, "%s%s", about, motus_filters_help);
    const MotusCommand command = {
        "filter", "INPUT -o OUT [filters] [options]", text, options, &o->input, 1};
    int status = motus_options_parse(&command, argc, argv);
    if (status >= 0) return status;
    if (!o->input) return motus_usage_error("filter", "the input is missing");
    if (!o->output) return motus_usage_error("filter", "the output is missing: -o FILE");
    o->reader.width = o->size[0], o->reader.height = o->size[1], o->reader.threads = o->threads;
    o->reader.tell = motus_tell, o->reader.opaque = &o->quiet,
    o->reader.interrupted = motus_signal_caught;
    const char *inputs[] = {o->input, list->background}, *outputs[] = {o->output, o->plot};
    return motus_check_names("filter", inputs, 2, outputs, 2);
}

typedef struct Job {
    const FilterOptions *o;
    MotusInput input;
    MotusFilters *filters;
    MotusWriter *writer;
    int64_t written;      // frames
    uint32_t before[256]; // histogram of the first
    int interrupted;      // by which signal, 0: not
} Job;

static MotusStatus open_job(Job *j, MotusError *error) {
    const FilterOptions *o = j->o;
    MotusStatus status = motus_reader_open(&j->input.reader, o->input, &o->reader, error);
    if (status) return status;
    const MotusSequenceInfo *info = motus_reader_info(j->input.reader);
    status = motus_filters_open(&j->filters, &o->list, info, o->threads, o->backend, 0, error);
    return status ? status : motus_writer_open(&j->writer, o->output, info, error);
}

static MotusStatus read_frame(void *opaque, MotusFrame **frame, MotusError *error) {
    Job *j = opaque;
    MotusStatus status = motus_input_next(&j->input, frame, error);
    if (!status && j->input.read == 1 && j->o->plot)
        motus_histogram(j->before, &(*frame)->plane[0], NULL);
    return status;
}

static MotusStatus write_frame(Job *j, const MotusFrame *frame, MotusError *error) {
    uint32_t after[256];
    MotusStatus status = motus_writer_put(j->writer, frame, error);
    if (status || j->written++ || !j->o->plot) return status;
    motus_histogram(after, &frame->plane[0], NULL);
    return motus_histogram_plot(j->o->plot, j->before, after, error);
}

static MotusStatus run(Job *j, MotusError *error) {
    int64_t total = motus_reader_info(j->input.reader)->frames;
    if (j->o->frames && (total < 0 || total > j->o->frames)) total = j->o->frames;
    MotusProgress progress = motus_progress_begin(total, j->o->quiet);
    MotusStatus status = MOTUS_OK;
    while (!status) {
        MotusFrame *frame = NULL;
        status = motus_filters_next(j->filters, read_frame, j, &frame, error);
        if (!status) status = write_frame(j, frame, error);
        if (!status) motus_progress_show(&progress, j->written, "");
        motus_frame_unref(&frame);
    }
    motus_progress_end(&progress);
    if (status != MOTUS_END) return status;
    if (j->input.cut) motus_warn("%s", j->input.warning.text);
    if (!j->written && motus_signal_caught())
        return motus_fail(error, MOTUS_END, "interrupted before the first picture");
    if (!j->written)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: no frame", motus_shown(j->o->input));
    if (motus_reader_info(j->input.reader)->variable && !j->o->quiet)
        motus_warn(
            "%s: note: pictures come at a variable rate; the output gives them their average",
            motus_shown(j->o->input));
    j->interrupted = motus_signal_caught();
    motus_signals_finish();
    return motus_writer_commit(&j->writer, error);
}

int motus_cmd_filter(int argc, char **argv) {
    FilterOptions o = {0};
    int status = parse(&o, argc, argv);
    if (status >= 0) return status;
    Job job = {.o = &o, .input = {.limit = o.frames}};
    MotusError error = {0};
    motus_signals_catch();
    MotusStatus done = open_job(&job, &error);
    if (!done) done = run(&job, &error);
    if (job.writer) motus_writer_abandon(&job.writer);
    motus_filters_close(&job.filters);
    motus_reader_close(&job.input.reader);
    if (done) motus_failure(&error);
    int signal = done ? motus_signal_caught() : job.interrupted;
    return signal ? MOTUS_EXIT_SIGNAL + signal : done ? MOTUS_EXIT_FAILURE : MOTUS_EXIT_OK;
}
