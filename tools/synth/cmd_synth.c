// motus synth: test sequences with known motion.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"
#include "tools/synth/synth.h"
#include "yuv/io/writer.h"

static const char about[] =
    "Writes a sequence of textured pictures whose motion is known. The same settings give the\n"
    "same bytes on every machine. OUTPUT is .y4m (- is standard output) or headerless .yuv.\n"
    "\n"
    "Examples:\n"
    "  motus synth test.y4m                       a bit of everything, 352x288, 60 frames\n"
    "  motus synth pan.y4m --pan 1.25,-0.5 --vectors pan.csv\n"
    "                                             a pan by quarter samples, its true vectors\n"
    "  motus synth hd.y4m --size 1920x1080 --objects 12 --noise 2\n"
    "                                             moving objects on a still, noisy background\n"
    "  motus synth turn.y4m --zoom 1.01 --rotate 0.5 --cut 30\n"
    "                                             zoom, rotation, a new scene every 30 frames\n"
    "  motus synth - --frames 300 | motus encode - -o test.264\n"
    "\n"
    "--vectors writes one row per block and frame, from the second frame of each scene on:\n"
    "  frame,x,y,w,h,mv_x,mv_y,layer,whole,flat\n"
    "mv in quarter samples from the block to its position in the frame before; whole = 1: all of\n"
    "it moved as one and was visible before; flat = 1: it touches a flat area, where other\n"
    "vectors are as good.\n";

typedef struct SynthOptions {
    const char *output, *vectors;
    int size[2], frames, grid;
    MotusRational fps;
    MotusSynthConfig scene;
    MotusOverwrite overwrite;
} SynthOptions;

// Parses a decimal and multiplies it by `scale`; `end` as in strtod.
static int scaled_decimal(const char *text, char **end, int scale, double *value) {
    double v = strtod(text, end);
    if (*end == text || !(fabs(v) < 1e6)) return 0;
    *value = v * scale;
    return 1;
}

// Parses "X,Y" in samples into int[2] in quarter samples.
static int option_pan(const MotusOption *option, const char *text, char *cause, size_t size) {
    double q[2] = {0, 0};
    char *end;
    int ok = scaled_decimal(text, &end, 4, &q[0]) && *end == ',' &&
             scaled_decimal(end + 1, &end, 4, &q[1]) && !*end;
    for (int i = 0; i < 2; i++) ok = ok && q[i] == rint(q[i]) && fabs(q[i]) <= MOTUS_SYNTH_MAX_PAN;
    if (!ok) {
        snprintf(cause, size, "must be X,Y in samples, multiples of 0.25 up to %d",
                 MOTUS_SYNTH_MAX_PAN / 4);
        return 0;
    }
    for (int i = 0; i < 2; i++) ((int *)option->value)[i] = (int)q[i];
    return 1;
}

// Parses a factor into 1/65536.
static int option_zoom(const MotusOption *option, const char *text, char *cause, size_t size) {
    double v;
    char *end;
    if (!scaled_decimal(text, &end, 65536, &v) || *end || v < 0.9 * 65536 || v > 1.1 * 65536) {
        snprintf(cause, size, "must be a factor from 0.9 to 1.1");
        return 0;
    }
    *(int *)option->value = (int)rint(v);
    return 1;
}

// Parses degrees into thousandths.
static int option_rotate(const MotusOption *option, const char *text, char *cause, size_t size) {
    double v;
    char *end;
    if (!scaled_decimal(text, &end, 1000, &v) || *end || fabs(v) > 45000) {
        snprintf(cause, size, "must be degrees from -45 to 45");
        return 0;
    }
    *(int *)option->value = (int)rint(v);
    return 1;
}

static int parse(SynthOptions *o, int argc, char **argv) {
    int pan[2] = {INT_MAX, 0}, seed = 1;
    MotusSynthConfig *c = &o->scene;
    const MotusOption options[] = {
        MOTUS_OPTIONS_OVERWRITE(&o->overwrite),
        {"size", 's', o->size, motus_option_size, 0, 0, "WxH", "size of the pictures (352x288)"},
        MOTUS_INT("frames", 'n', &o->frames, 1, INT_MAX, "number of frames (60)"),
        {"fps", 'r', &o->fps, motus_option_rate, 0, 0, "N[/D]", "frames per second (25)"},
        MOTUS_INT("seed", 0, &seed, 0, INT_MAX, "seed of texture and objects (1)"),
        {"pan", 0, pan, option_pan, 0, 0, "X,Y",
         "movement of the background, samples per frame, in steps of 1/4"},
        {"zoom", 0, &c->zoom_q16, option_zoom, 0, 0, "F",
         "growth of the background per frame, 0.9..1.1"},
        {"rotate", 0, &c->rotate_mdeg, option_rotate, 0, 0, "DEG",
         "rotation of the background per frame"},
        MOTUS_INT("objects", 0, &c->objects, 0, MOTUS_SYNTH_MAX_OBJECTS,
                  "rectangles and ellipses that move on their own"),
        MOTUS_INT("noise", 0, &c->noise, 0, 64, "noise of up to +-N per sample"),
        MOTUS_INT("cut", 0, &c->cut_every, 0, INT_MAX, "a new scene every N frames"),
        {"flat", 0, &c->flat, motus_option_int, 0, 100, "PERCENT",
         "share of the texture that is flat"},
        MOTUS_TEXT("vectors", 0, &o->vectors, "FILE.csv", "write the true vectors"),
        MOTUS_INT("grid", 0, &o->grid, 4, 64, "size of the blocks in --vectors (16)"),
        {0},
    };
    const MotusCommand command = {"synth", "OUTPUT [options]", about, options, &o->output, 1};
    int status = motus_options_parse(&command, argc, argv);
    if (status >= 0) return status;
    if (!o->output) return motus_usage_error("synth", "the output is missing");
    const char *outputs[] = {o->output, o->vectors};
    if (o->vectors && !motus_has_ending(o->vectors, ".csv\0"))
        return motus_usage_error("synth", "--vectors %s: must end in .csv", o->vectors);
    status = motus_check_names("synth", NULL, 0, outputs, 2);
    if (status < 0) status = motus_check_sequence_name("synth", "OUTPUT", o->output);
    if (status < 0) status = motus_may_overwrite(o->overwrite, outputs, 2);
    if (status >= 0) return status;
    int plain = pan[0] == INT_MAX && c->zoom_q16 == 65536 && !c->rotate_mdeg && !c->objects &&
                !c->noise && !c->cut_every && !c->flat;
    if (plain) { // something to look at
        pan[0] = 6;
        pan[1] = -1;
        c->objects = 4;
        c->flat = 5;
    }
    c->pan_x = pan[0] == INT_MAX ? 0 : pan[0];
    c->pan_y = pan[1];
    c->width = o->size[0];
    c->height = o->size[1];
    c->seed = (uint32_t)seed;
    return -1;
}

static MotusStatus write_vectors(MotusSynth *synth, int64_t n, const SynthOptions *o,
                                 MotusOutput *out, MotusError *error) {
    MotusSynthTruth truth;
    for (int y = 0; y + o->grid <= o->size[1]; y += o->grid)
        for (int x = 0; x + o->grid <= o->size[0]; x += o->grid) {
            if (!motus_synth_truth(synth, n, x, y, o->grid, o->grid, &truth)) return MOTUS_OK;
            char line[128];
            int length = snprintf(line, sizeof line, "%lld,%d,%d,%d,%d,%d,%d,%d,%d,%d\n",
                                  (long long)n, x, y, o->grid, o->grid, truth.mv.x, truth.mv.y,
                                  truth.layer, truth.whole, truth.flat);
            MotusStatus status = motus_output_write(out, line, (size_t)length, error);
            if (status) return status;
        }
    return MOTUS_OK;
}

static MotusStatus write_frames(MotusSynth *synth, const SynthOptions *o, MotusWriter *writer,
                                MotusOutput *vectors, MotusError *error) {
    MotusFrame *frame = NULL;
    MotusStatus status = motus_frame_alloc(&frame, o->size[0], o->size[1]);
    if (status)
        snprintf(error->text, sizeof error->text, "%s: %s", o->output, motus_status_text(status));
    for (int n = 0; !status && n < o->frames && !motus_signal_caught(); n++) {
        motus_synth_frame(synth, n, frame);
        status = motus_writer_put(writer, frame, error);
        if (!status && vectors) status = write_vectors(synth, n, o, vectors, error);
    }
    motus_frame_unref(&frame);
    return status;
}

static MotusStatus run(const SynthOptions *o, MotusError *error) {
    static const char header[] = "frame,x,y,w,h,mv_x,mv_y,layer,whole,flat\n";
    const MotusSequenceInfo info = {
        .width = o->size[0],
        .height = o->size[1],
        .fps = o->fps,
        .colour = {.sar = {1, 1}, .full_range = 0, .primaries = 2, .transfer = 2, .matrix = 2}};
    MotusSynth *synth = NULL;
    MotusWriter *writer = NULL;
    MotusOutput *vectors = NULL;
    MotusStatus status = motus_synth_open(&synth, &o->scene);
    if (status)
        snprintf(error->text, sizeof error->text, "%s: %s", o->output, motus_status_text(status));
    if (!status) status = motus_writer_open(&writer, o->output, &info, error);
    if (!status && o->vectors) status = motus_output_open(&vectors, o->vectors, error);
    if (!status && vectors) status = motus_output_write(vectors, header, sizeof header - 1, error);
    if (!status) status = write_frames(synth, o, writer, vectors, error);
    if (!status) motus_signals_finish();
    if (!status) status = motus_writer_commit(&writer, error);
    if (!status && vectors) status = motus_output_commit(&vectors, error);
    motus_output_abandon(&vectors);
    motus_writer_abandon(&writer);
    motus_synth_close(&synth);
    return status;
}

int motus_cmd_synth(int argc, char **argv) {
    SynthOptions o = {.size = {352, 288},
                      .frames = 60,
                      .grid = 16,
                      .fps = {25, 1},
                      .scene = motus_synth_config_default(1, 1)};
    int status = parse(&o, argc, argv);
    if (status >= 0) return status;
    motus_signals_catch();
    MotusError error = {0};
    MotusStatus done = run(&o, &error);
    return motus_exit_status(done, &error, motus_signal_caught());
}
