// motus view: a picture of motion vectors.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>

#include "common/error.h"
#include "encoder/mb/qp_core.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"
#include "tools/search/vector_table.h"
#include "tools/view/view.h"

static const char about[] =
    "Draws the motion vectors of one picture, as a PNG. SOURCE is\n"
    "  a table (.npy, .csv) of motus search, motus encode --mvs or motus synth --vectors;\n"
    "  a file with H.264, whose own vectors are drawn: all of a Baseline stream (motus's own),\n"
    "  else those that libavcodec exports: at most one per 8x8 block, none into later pictures;\n"
    "  or another video, whose pictures are searched as motus search does.\n"
    "Two sources are drawn side by side.\n"
    "\n"
    "Styles: arrows (a line from where the block was to its centre, in the colour of its\n"
    "movement), flow (the usual colour wheel: hue is direction, saturation speed), partitions\n"
    "(sizes of blocks), cost (of the search; else the SAD of the picture against the one\n"
    "before), bits (of vectors, as differences from H.264's prediction).\n"
    "\n"
    "Examples:\n"
    "  motus view film.264 --frame 12 -o x.png            what the encoder chose\n"
    "  motus view film.y4m --frame 12 -o x.png --style flow\n"
    "                                                     what an exhaustive search finds\n"
    "  motus view film.264 --both --frame 12 -o x.png     the two side by side\n"
    "  motus encode film.y4m -o film.264 --recon recon.y4m --mvs mvs.npy\n"
    "  motus view mvs.npy --picture recon.y4m --frame 12 -o x.png\n"
    "                                                     all blocks as motus coded them\n"
    "  motus view field.npy film.264 --picture film.y4m --frame 12 -o x.png --blocks 8x8\n";

typedef struct ViewOptions {
    const char *sources[2], *output;
    MotusViewSource view; // of each source
    MotusViewStyle style;
    int both, zoom, stretch, lambda, size[2];
} ViewOptions;

static int parse_style(const MotusOption *option, const char *text, char *cause, size_t size) {
    static const char *const names[MOTUS_VIEW_STYLES] = {"arrows", "flow", "partitions", "cost",
                                                         "bits"};
    return motus_option_name(option, text, names, MOTUS_VIEW_STYLES, cause, size);
}

static int parse_blocks(const MotusOption *option, const char *text, char *cause, size_t size) {
    const char *names[MOTUS_MODES + 1];
    for (int mode = 0; mode < MOTUS_MODES; mode++) names[mode] = motus_mode_name((MotusMode)mode);
    names[MOTUS_VIEW_LEAST] = "least";
    return motus_option_name(option, text, names, MOTUS_MODES + 1, cause, size);
}

static int parse(ViewOptions *o, int argc, char **argv) {
    MotusViewSource *v = &o->view;
    const MotusOption options[] = {
        MOTUS_TEXT("output", 'o', &o->output, "FILE.png", "output file"),
        MOTUS_INT("frame", 'n', &v->frame, 0, INT_MAX, "picture, from 0 (1)"),
        {"style", 0, &o->style, parse_style, 0, 0, "NAME",
         "arrows, flow, partitions, cost or bits (arrows)"},
        MOTUS_TEXT("picture", 0, &v->picture, "FILE",
                   "video whose picture is drawn under a table's vectors"),
        MOTUS_FLAG("both", &o->both, "a stream's own vectors beside those of a search"),
        {"blocks", 0, &v->mode, parse_blocks, 0, 0, "SIZE",
         "of a search: 16x16 ... 4x4, or least, the partition of least cost (the largest; with "
         "partitions: least)"},
        MOTUS_INT("zoom", 'z', &o->zoom, 1, 8, "pixels per sample (for a width of about 1100)"),
        {"stretch", 0, &o->stretch, motus_option_int, 10, 10000, "PERCENT",
         "length of arrows (200)"},
        MOTUS_INT("range", 0, &v->me.range, 1, MOTUS_MAX_RANGE, "search +-N samples (16)"),
        MOTUS_INT("lambda", 0, &o->lambda, 0, MOTUS_MAX_LAMBDA_Q8,
                  "weight of a vector's bits, in 1/256 (QP 28's)"),
        MOTUS_OPTION_SIZE(o->size),
        MOTUS_OPTION_THREADS(&v->me.threads, "threads, 0 = all cores (0)"),
        {0},
    };
    const MotusCommand command = {
        "view", "SOURCE [SOURCE] -o FILE.png [options]", about, options, o->sources, 2};
    int status = motus_options_parse(&command, argc, argv);
    if (status >= 0) return status;
    if (!o->sources[0]) return motus_usage_error("view", "the source is missing");
    if (!o->output) return motus_usage_error("view", "the output is missing: -o FILE.png");
    if (!motus_has_ending(o->output, ".png\0"))
        return motus_usage_error("view", "-o %s: must end in .png", o->output);
    if (o->both && o->sources[1]) return motus_usage_error("view", "--both takes one source");
    if (o->both && motus_has_ending(o->sources[0], MOTUS_TABLE_ENDINGS))
        return motus_usage_error("view", "--both %s: a table has no pictures to search",
                                 o->sources[0]);
    if (v->mode < 0 && o->style == MOTUS_VIEW_PARTITIONS) v->mode = MOTUS_VIEW_LEAST;
    v->reader.width = o->size[0], v->reader.height = o->size[1], v->reader.threads = v->me.threads,
    v->reader.log = motus_print_log;
    v->lambda_q8 = (uint32_t)o->lambda;
    const MotusInputName inputs[] = {{o->sources[0], "the input"},
                                     {o->sources[1], "the second input"},
                                     {v->picture, "the picture (--picture)"}};
    status = motus_check_names("view", inputs, 3, &o->output, 1);
    return status;
}

// Returns the pixels per sample that make a picture of about 1100 pixels width.
static int zoom_for(const MotusView *views, int n) {
    int width = 0;
    for (int i = 0; i < n; i++) width += views[i].width;
    return motus_clip(1, 4, (1100 + width / 2) / motus_max(width, 1));
}

static MotusStatus open_views(MotusView views[2], int *n, const ViewOptions *o, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (*n = 0; *n < 2 && !status && (o->sources[*n] || (o->both && *n)); ++*n) {
        MotusViewSource source = o->view;
        source.path = o->sources[o->both ? 0 : *n];
        source.search = o->both && *n == 1;
        status = motus_view_open(&views[*n], &source, error);
        if (!status && views[*n].left_out)
            motus_warn("%s: note: %d vectors into later pictures are left out",
                       motus_shown(source.path), views[*n].left_out);
        if (!status && views[*n].damaged)
            motus_warn("%s: picture %d is damaged; its vectors may be wrong",
                       motus_shown(source.path), views[*n].frame);
        if (!status && !views[*n].is_stream && o->both && *n == 0)
            status = motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: --both: has no H.264 in it",
                                motus_shown(source.path));
    }
    return status;
}

int motus_cmd_view(int argc, char **argv) {
    ViewOptions o = {.view = {.frame = 1, .mode = -1, .me = motus_me_config_default(1, 1)},
                     .stretch = 200,
                     .lambda = (int)motus_lambda_q8(28)};
    int done = parse(&o, argc, argv), n = 0;
    if (done >= 0) return done;
    motus_signals_catch();
    MotusError error = {0};
    MotusView views[2] = {{0}, {0}};
    MotusStatus status = open_views(views, &n, &o, &error);
    for (int i = 0; i < n && !status; i++) {
        if (o.style == MOTUS_VIEW_COST) status = motus_view_costs(&views[i], &error);
        if (o.style == MOTUS_VIEW_BITS) status = motus_view_bits(&views[i], &error);
    }
    if (!status)
        status = motus_view_draw(o.output, views, n, o.style, o.zoom ? o.zoom : zoom_for(views, n),
                                 o.stretch, &error);
    for (int i = 0; i < 2; i++) motus_view_close(&views[i]);
    return motus_exit_status(status, &error, motus_signal_caught());
}
