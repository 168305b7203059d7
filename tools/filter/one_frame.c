// SPDX-License-Identifier: BSD-2-Clause
#include "tools/filter/one_frame.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/int_core.h"
#include "tools/cli/cmd.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"

enum { GAP = 4, GAP_SHADE = 128 };

// Returns -1 to go on, else the exit status.
static int parse(const char *name, const char *about, const MotusOption *own, MotusOneFrame *o,
                 int argc, char **argv) {
    MotusOption options[MOTUS_ONE_FRAME_OPTIONS + 5] = {{"output", 'o', &o->output,
                                                         motus_option_text, 0, 0, "DIR",
                                                         "folder of the picture, made if needed"}};
    const MotusOption shared[] = {
        MOTUS_INT("frame", 'n', &o->frame, 0, INT_MAX, "number of the frame (0)"),
        MOTUS_OPTION_SIZE(o->size),
        MOTUS_OPTION_THREADS(&o->threads, "threads, 0 = all cores (0)"),
    };
    MotusOption *next = options + 1;
    for (; own->name; own++) {
        assert(next - options <= MOTUS_ONE_FRAME_OPTIONS);
        *next++ = *own;
    }
    memcpy(next, shared, sizeof shared);
    const MotusCommand command = {name, "INPUT -o DIR [options]", about, options, &o->input, 1};
    int status = motus_options_parse(&command, argc, argv);
    if (status >= 0) return status;
    if (!o->input) return motus_usage_error(name, "the input is missing");
    if (!o->output) return motus_usage_error(name, "the output is missing: -o DIR");
    return -1;
}

static MotusStatus read_frame(MotusFrame **frame, const MotusOneFrame *o, MotusError *error) {
    MotusReader *reader = NULL;
    const MotusReaderOptions options = {.width = o->size[0],
                                        .height = o->size[1],
                                        .log = motus_print_log,
                                        .interrupted = motus_signal_caught};
    MotusStatus status = motus_reader_open(&reader, o->input, &options, error);
    if (!status && o->frame) status = motus_reader_skip(reader, o->frame, error);
    if (!status) status = motus_reader_next(reader, frame, error);
    motus_reader_close(&reader);
    return status == MOTUS_END ? motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: has no frame %d",
                                            motus_shown(o->input), o->frame)
                               : status;
}

int motus_one_frame_command(const char *name, const char *about, const MotusOption *own,
                            MotusOneFrame *o, MotusShowFrame *show, void *opaque, int argc,
                            char **argv) {
    MotusFrame *frame = NULL;
    MotusError error = {0};
    int done = parse(name, about, own, o, argc, argv);
    if (done >= 0) return done;
    motus_signals_catch();
    MotusStatus status = read_frame(&frame, o, &error);
    if (!status) status = show(opaque, frame, &error);
    motus_frame_unref(&frame);
    done = motus_exit_status(status, &error, motus_signal_caught());
    return done ? done : motus_flush_stdout();
}

uint8_t motus_log_shade(double v, double most) {
    return (uint8_t)lround(255 * log1p(fmin(fabs(v), most)) / log1p(fmax(most, 1)));
}

MotusStatus motus_strip_write(const char *directory, const char *name, const MotusPlane *planes,
                              int n, MotusError *error) {
    int width = GAP * (n - 1), height = 0, x = 0;
    for (int i = 0; i < n; i++)
        width += planes[i].width, height = motus_max(height, planes[i].height);
    MotusPlane strip = motus_plane_alloc(width, height);
    if (!strip.data) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    memset(strip.data, GAP_SHADE, (size_t)width * (size_t)height);
    for (int i = 0; i < n; x += planes[i].width + GAP, i++)
        motus_plane_paste(&strip, &planes[i], x, 0);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const int made = access(directory, F_OK) != 0;
    MotusStatus status = motus_folder_make(directory, error);
    if (!status) {
        status = motus_png_write(path, &strip, 1, error);
        if (status && made) rmdir(directory); // fails if something is in it
    }
    motus_plane_free(&strip);
    return status;
}
