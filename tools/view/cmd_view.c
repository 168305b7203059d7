// motus view: pictures of motion vectors.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>

#include "common/error.h"
#include "encoder/mb/qp_core.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"
#include "tools/media/mux_settings.h"
#include "tools/search/vector_table.h"
#include "tools/view/view.h"

static const char about[] =
    "Draws the motion vectors of one picture as a PNG, or of all pictures as a video. SOURCE is\n"
    "  a table (.npy, .csv) of motus search, motus encode --mvs or motus synth --vectors;\n"
    "  a file with H.264, whose own vectors are drawn: all of I and P pictures (motus's own),\n"
    "  else those that libavcodec exports: at most one per 8x8 block and list;\n"
    "  or another video, whose pictures are searched as motus search does.\n"
    "Two sources are drawn side by side.\n"
    "\n"
    "Styles: arrows (from where the block was to its centre, in the colour of its\n"
    "movement; in B pictures one colour per list), flow (the usual colour wheel: hue is\n"
    "direction, saturation speed; list 0 over list 1), partitions (sizes of blocks), cost\n"
    "(of the search; else the SAD of the picture against the one before), bits (of vectors, as\n"
    "differences from H.264's prediction).\n"
    "\n"
    "Examples:\n"
    "  motus view film.264 --frame 12 -o x.png            what the encoder chose\n"
    "  motus view film.y4m --frame 12 -o x.png --style flow\n"
    "                                                     what an exhaustive search finds\n"
    "  motus view film.264 --both --frame 12 -o x.png     the two side by side\n"
    "  motus view film.264 -o x.mp4                       every picture, as a video\n"
    "  motus encode film.y4m -o film.264 --recon recon.y4m --mvs mvs.npy\n"
    "  motus view mvs.npy --picture recon.y4m --frame 12 -o x.png\n"
    "                                                     all blocks as motus coded them\n"
    "  motus view field.npy film.264 --picture film.y4m --frame 12 -o x.png --blocks 8x8\n";

typedef struct ViewOptions {
    const char *sources[2];
    MotusViewSource view; // of each source
    MotusViewJob job;
    MotusOverwrite overwrite;
    int both, frame, lambda, size[2], is_video; // frame: -1 if not given
} ViewOptions;

static int parse(ViewOptions *o, int argc, char **argv) {
    MotusViewSource *v = &o->view;
    MotusViewJob *j = &o->job;
    const MotusOption options[] = {
        MOTUS_TEXT("output", 'o', &j->output, "FILE",
                   "output file, .png, or of a video .mp4, .m4v, .mov, .mkv, .ts"),
        MOTUS_OPTIONS_OVERWRITE(&o->overwrite),
        MOTUS_INT("frame", 'n', &o->frame, 0, INT_MAX, "picture, from 0 (1; of a video: first, 0)"),
        MOTUS_INT("frames", 0, &j->frames, 1, INT_MAX, "of a video: at most N pictures (all)"),
        MOTUS_WORD("style", &j->style, "NAME", // MotusViewStyle
                   "arrows, flow, partitions, cost or bits (arrows)",
                   "arrows\0flow\0partitions\0cost\0bits\0"),
        MOTUS_TEXT("picture", 0, &v->picture, "FILE",
                   "video whose picture is drawn under a table's vectors"),
        MOTUS_FLAG("both", &o->both, "a stream's own vectors beside those of a search"),
        MOTUS_WORD(
            "blocks", &v->mode, "SIZE", // MotusMode, MOTUS_VIEW_LEAST
            "of a search: 16x16 ... 4x4, or least, the partition of least cost (the largest; with "
            "partitions: least)",
            "16x16\0"
            "16x8\0"
            "8x16\0"
            "8x8\0"
            "8x4\0"
            "4x8\0"
            "4x4\0"
            "least\0"),
        MOTUS_INT("zoom", 'z', &j->zoom, 1, 8, "pixels per sample (for a width of about 1100)"),
        {"stretch", 0, &j->stretch, motus_option_int, 10, 10000, "PERCENT",
         "length of arrows (so that neighbours do not touch)"},
        MOTUS_INT("range", 0, &v->me.range, 1, MOTUS_MAX_RANGE, "search +-N samples (16)"),
        MOTUS_INT("lambda", 0, &o->lambda, 0, MOTUS_MAX_LAMBDA_Q8,
                  "weight of a vector's bits, in 1/256 (QP 28's)"),
        MOTUS_OPTION_SIZE(o->size),
        MOTUS_OPTION_THREADS(&v->me.threads, "threads, 0 = all cores (0)"),
        MOTUS_FLAG("quiet", &j->quiet, "no live line and no notes"),
        {0},
    };
    const MotusCommand command = {
        "view", "SOURCE [SOURCE] -o FILE.png|FILE.mp4 [options]", about, options, o->sources, 2};
    int status = motus_options_parse(&command, argc, argv);
    if (status >= 0) return status;
    if (!o->sources[0]) return motus_usage_error("view", "the source is missing");
    if (!j->output)
        return motus_usage_error("view", "the output is missing: -o FILE.png or FILE.mp4");
    o->is_video = motus_format_of(j->output) > MOTUS_FORMAT_H264; // a container
    if (!o->is_video && !motus_has_ending(j->output, ".png\0"))
        return motus_usage_error(
            "view", "-o %s: must end in .png, or for a video in .mp4, .m4v, .mov, .mkv or .ts",
            j->output);
    if (j->frames && !o->is_video)
        return motus_usage_error("view", "--frames goes with a video: -o FILE.mp4");
    if (o->both && o->sources[1]) return motus_usage_error("view", "--both takes one source");
    if (o->both && motus_has_ending(o->sources[0], MOTUS_TABLE_ENDINGS))
        return motus_usage_error("view", "--both %s: a table has no pictures to search",
                                 o->sources[0]);
    if (v->mode < 0 && j->style == MOTUS_VIEW_PARTITIONS) v->mode = MOTUS_VIEW_LEAST;
    v->reader.width = o->size[0], v->reader.height = o->size[1], v->reader.threads = v->me.threads,
    v->reader.log = motus_print_log, v->reader.opaque = &j->quiet;
    j->threads = v->me.threads;
    v->lambda_q8 = (uint32_t)o->lambda;
    const MotusInputName inputs[] = {{o->sources[0], "the input"},
                                     {o->sources[1], "the second input"},
                                     {v->picture, "the picture (--picture)"}};
    status = motus_check_names("view", inputs, 3, &j->output, 1);
    return status < 0 ? motus_may_overwrite(o->overwrite, &j->output, 1) : status;
}

// Fills the sources of the job.
static void describe_job(const ViewOptions *o, MotusViewJob *job) {
    job->n = o->both || o->sources[1] ? 2 : 1;
    job->needs_stream = o->both;
    job->frame = o->frame >= 0 ? o->frame : !o->is_video;
    for (int i = 0; i < job->n; i++) {
        job->source[i] = o->view;
        job->source[i].path = o->sources[o->both ? 0 : i];
        job->source[i].search = o->both && i == 1;
        job->source[i].all = o->is_video;
    }
}

int motus_cmd_view(int argc, char **argv) {
    ViewOptions o = {.view = {.mode = -1, .me = motus_me_config_default(1, 1)},
                     .frame = -1,
                     .lambda = (int)motus_lambda_q8(28, MOTUS_SLICE_P)};
    int done = parse(&o, argc, argv);
    if (done >= 0) return done;
    motus_signals_catch();
    MotusError error = {0};
    MotusViewJob *job = &o.job;
    describe_job(&o, job);
    MotusStatus status = o.is_video ? motus_view_video(job, motus_format_of(job->output), &error)
                                    : motus_view_png(job, &error);
    return motus_exit_status(status, &error, motus_signal_caught());
}
