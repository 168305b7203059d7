// motus filter: equalizes, denoises and keys a sequence.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/device.h"
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/input.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"
#include "tools/filter/filters.h"
#include "tools/media/mux.h"
#include "tools/media/png.h"
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
    MotusOverwrite overwrite;
} FilterOptions;

static int parse(FilterOptions *o, int argc, char **argv) {
    MotusFilterList *list = &o->list;
    const char *input = NULL, *operands[2];
    const MotusOption options[] = {
        MOTUS_TEXT("output", 'o', &o->output, "FILE", "output file"),
        MOTUS_OPTION_INPUT(&input),
        MOTUS_OPTIONS_OVERWRITE(&o->overwrite),
        {"equalize", 0, list, motus_option_equalize, 0, 0, "[=SETTINGS]", "spread the histogram"},
        {"denoise", 0, list, motus_option_denoise, 0, 0, "STRENGTH",
         "remove noise by wavelet thresholds"},
        {"key", 0, list, motus_option_key, 0, 0, "COLOUR", "replace this colour by the background"},
        MOTUS_TEXT("background", 0, &list->background, "FILE",
                   "sequence or still behind the key; its last frame stays"),
        MOTUS_FLAG("loop", &list->loop, "restart the background when it ends"),
        MOTUS_FLAG("scale", &list->scale, "scale the background to the foreground's size"),
        MOTUS_TEXT("plot", 0, &o->plot, "FILE.png",
                   "luma histograms of the first frame, before and after"),
        MOTUS_INT("frames", 'n', &o->frames, 1, INT_MAX, "at most N frames"),
        MOTUS_OPTION_SIZE(o->size),
        {"fps", 'r', &o->reader.fps, motus_option_rate, 0, 0, "N[/D]",
         "rate of headerless input, or instead of the input's"},
        MOTUS_OPTION_DEINTERLACE(&o->reader.deinterlace, "auto, off or on (auto)"),
        MOTUS_OPTION_THREADS(&o->threads, "threads, 0 = all cores (0)"),
        MOTUS_OPTION_BACKEND(&o->backend),
        MOTUS_FLAG("quiet", &o->quiet, "no live line and no notes; losses are told"),
        {0},
    };
    char text[4096];
    snprintf(text, sizeof text, "%s%s", about, motus_filters_help);
    const MotusCommand command = {
        "filter", "INPUT -o OUT [filters] [options]", text, options, operands, 2};
    int status = motus_options_parse(&command, argc, argv);
    if (status < 0) status = motus_options_input("filter", input, operands, &o->input, &o->output);
    if (status >= 0) return status;
    if (!o->input) return motus_usage_error("filter", "the input is missing");
    if (!o->output) return motus_usage_error("filter", "the output is missing: -o FILE");
    if (o->plot && !motus_has_ending(o->plot, ".png\0"))
        return motus_usage_error("filter", "--plot %s: must end in .png", o->plot);
    if ((status = motus_filters_check("filter", list)) >= 0) return status;
    o->reader.width = o->size[0], o->reader.height = o->size[1], o->reader.threads = o->threads;
    o->reader.log = motus_print_log, o->reader.opaque = &o->quiet,
    o->reader.interrupted = motus_signal_caught;
    const MotusInputName inputs[] = {{o->input, "the input"},
                                     {list->background, "the background, an input"}};
    const char *outputs[] = {o->output, o->plot};
    status = motus_check_names("filter", inputs, 2, outputs, 2);
    if (status < 0) status = motus_check_sequence_name("filter", "-o", o->output);
    return status < 0 ? motus_may_overwrite(o->overwrite, outputs, 2) : status;
}

// ---- The plot -----------------------------------------------------------------------------------

enum { BAR = 3, HEIGHT = 200, MARGIN = 8, PAPER = 255, INK = 90, LINE = 0 };

// Draws a histogram as bars, and its running sum as a line.
static void draw_histogram(const MotusPlane *p, int top, const uint32_t counts[256]) {
    uint64_t most = 1, total = 0, sum = 0;
    for (int k = 0; k < 256; k++) total += counts[k], most = counts[k] > most ? counts[k] : most;
    for (int k = 0; k < 256; k++) {
        int height = (int)(counts[k] * (uint64_t)HEIGHT / most), x = MARGIN + BAR * k;
        for (int y = 0; y < height; y++)
            memset(p->data + (top + HEIGHT - 1 - y) * p->stride + x, INK, BAR - 1);
        sum += counts[k];
        const int level = (int)(total ? sum * (HEIGHT - 1) / total : 0);
        memset(p->data + (top + HEIGHT - 1 - level) * p->stride + x, LINE, BAR);
    }
    memset(p->data + (top + HEIGHT) * p->stride + MARGIN, LINE, BAR * 256);
}

// Writes two histograms one above the other as a PNG.
static MotusStatus plot_histograms(const char *path, const uint32_t before[256],
                                   const uint32_t after[256], MotusError *error) {
    MotusPlane p = motus_plane_alloc(256 * BAR + 2 * MARGIN, 2 * HEIGHT + 3 * MARGIN);
    if (!p.data) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    memset(p.data, PAPER, (size_t)p.width * (size_t)p.height);
    draw_histogram(&p, MARGIN, before);
    draw_histogram(&p, HEIGHT + 2 * MARGIN, after);
    MotusStatus status = motus_png_write(path, &p, 1, error);
    motus_plane_free(&p);
    return status;
}

// ---- The job ------------------------------------------------------------------------------------

typedef struct FilterRun {
    const FilterOptions *o;
    MotusInput input;
    MotusFilters *filters;
    MotusWriter *writer;
    int64_t written;      // frames
    uint32_t before[256]; // histogram of the first frame
    int known_variable;   // the line on what is left out says it
    int interrupted;      // signal that came before the input's end, 0: none
} FilterRun;

static MotusStatus open_job(FilterRun *j, MotusError *error) {
    const FilterOptions *o = j->o;
    MotusStatus status = motus_reader_open(&j->input.reader, o->input, &o->reader, error);
    if (status) return status;
    const MotusSequenceInfo *info = motus_reader_info(j->input.reader);
    MotusError device;
    if (o->backend == MOTUS_BACKEND_AUTO && motus_device_lacks_code(&device))
        motus_warn("the CUDA device cannot be used (%s); filtering on the CPU", device.text);
    status = motus_filters_open(&j->filters, &o->list, info, o->threads, o->backend, 0, error);
    if (!status) status = motus_writer_open(&j->writer, o->output, info, error);
    if (status) return status;
    const MotusMuxSettings settings = {
        .reader = j->input.reader, .log = motus_print_log, .opaque = (void *)&o->quiet};
    j->known_variable = info->variable;
    motus_mux_note_left_out(&settings, o->output, ".y4m and .yuv hold pictures only");
    return MOTUS_OK;
}

static MotusStatus read_frame(void *opaque, MotusFrame **frame, MotusError *error) {
    FilterRun *j = opaque;
    MotusStatus status = motus_input_next(&j->input, frame, error);
    if (!status && j->input.read == 1 && j->o->plot)
        motus_histogram(j->before, &(*frame)->plane[0], NULL);
    return status;
}

static MotusStatus write_frame(FilterRun *j, const MotusFrame *frame, MotusError *error) {
    uint32_t after[256];
    MotusStatus status = motus_writer_put(j->writer, frame, error);
    if (status || j->written++ || !j->o->plot) return status;
    motus_histogram(after, &frame->plane[0], NULL);
    return plot_histograms(j->o->plot, j->before, after, error);
}

static MotusStatus run(FilterRun *j, MotusError *error) {
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
    if (motus_reader_info(j->input.reader)->variable && !j->known_variable)
        motus_warn("%s: note: pictures have no constant rate; the output gives them the average",
                   motus_shown(j->o->input));
    j->interrupted = motus_signal_caught();
    motus_signals_finish();
    return motus_writer_commit(&j->writer, error);
}

int motus_cmd_filter(int argc, char **argv) {
    FilterOptions o = {0};
    int status = parse(&o, argc, argv);
    if (status >= 0) return status;
    FilterRun job = {.o = &o, .input = {.limit = o.frames}};
    MotusError error = {0};
    motus_signals_catch();
    MotusStatus done = open_job(&job, &error);
    if (!done) done = run(&job, &error);
    if (job.writer) motus_writer_abandon(&job.writer);
    motus_filters_close(&job.filters);
    motus_reader_close(&job.input.reader);
    return motus_exit_status(done, &error, done ? motus_signal_caught() : job.interrupted);
}
