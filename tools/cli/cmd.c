// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/system.h"

static _Thread_local char *lines_to; // NULL: stderr
static _Thread_local size_t lines_size;

void motus_warn_into(char *text, size_t size) {
    if (text) text[0] = 0;
    lines_to = text;
    lines_size = size;
}

static void print_line(const char *format, va_list args) {
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 32) *c = '?'; // a name with a newline must not make two lines
    const size_t used = lines_to ? strlen(lines_to) : 0;
    if (lines_to)
        snprintf(lines_to + used, lines_size - used, "%s%s", used ? "; " : "", text);
    else
        fprintf(stderr, "motus: %s\n", text);
}

void motus_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}

// The words of errno are the end of an error's text, in yuv/io and in libavformat.
int motus_is_broken_pipe(const MotusError *error) {
    const char *words = strerror(EPIPE);
    const size_t size = strlen(error->text), end = strlen(words);
    return error->status == MOTUS_ERR_IO && size >= end && !strcmp(error->text + size - end, words);
}

int motus_failure(const MotusError *error) {
    if (motus_is_broken_pipe(error)) return MOTUS_EXIT_PIPE;
    motus_warn("%s", error->text);
    return MOTUS_EXIT_FAILURE;
}

int motus_usage_error(const char *command, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    motus_warn("%s (see motus %s --help)", text, command);
    return MOTUS_EXIT_USAGE;
}

int motus_exit_status(MotusStatus status, const MotusError *error, int signal) {
    const int failure = status ? motus_failure(error) : MOTUS_EXIT_OK;
    return signal ? MOTUS_EXIT_SIGNAL + signal : failure;
}

int motus_flush_stdout(void) {
    if (!fflush(stdout) && !ferror(stdout)) return MOTUS_EXIT_OK;
    if (errno == EPIPE) return MOTUS_EXIT_PIPE;
    motus_warn("standard output: %s", strerror(errno));
    return MOTUS_EXIT_FAILURE;
}

// ---- Progress -----------------------------------------------------------------------------------

// Seconds between two states.
#define LINE_INTERVAL 0.1
#define JSON_INTERVAL 0.5

MotusProgress motus_progress_begin_as(MotusProgressStyle style, int64_t total, int quiet) {
    if (style == MOTUS_PROGRESS_AUTO && (quiet || !isatty(STDERR_FILENO)))
        style = MOTUS_PROGRESS_NONE;
    return (MotusProgress){.style = style, .total = total, .start = motus_seconds()};
}

MotusProgress motus_progress_begin(int64_t total, int quiet) {
    return motus_progress_begin_as(MOTUS_PROGRESS_AUTO, total, quiet);
}

static void print_progress(const MotusProgress *p, double spent, const char *more) {
    double fps = (double)p->done / spent;
    fprintf(stderr, "\r%lld", (long long)p->done);
    if (p->total > 0) fprintf(stderr, "/%lld", (long long)p->total);
    fprintf(stderr, " frames  %.1f fps%s", fps, more);
    if (p->total > p->done && p->done > 0) {
        int left = (int)((double)(p->total - p->done) / fps + 0.5);
        fprintf(stderr, "  %d:%02d left", left / 60, left % 60);
    }
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

static void print_object(const MotusProgress *p, double spent, int end) {
    char total[24] = "null";
    if (p->total >= 0) snprintf(total, sizeof total, "%lld", (long long)p->total);
    fprintf(stderr, "{\"frame\": %lld, \"frames\": %s, \"seconds\": %.3f, \"fps\": %.2f%s%s}\n",
            (long long)p->done, total, spent, spent > 0 ? (double)p->done / spent : 0, p->fields,
            end ? ", \"end\": true" : "");
    fflush(stderr);
}

void motus_progress_show_as(MotusProgress *p, int64_t done, const char *more, const char *fields) {
    const int json = p->style == MOTUS_PROGRESS_JSON;
    if (p->style == MOTUS_PROGRESS_NONE) return;
    const double now = motus_seconds(), spent = now - p->start;
    p->done = done;
    if (json) snprintf(p->fields, sizeof p->fields, "%s", fields);
    if (now - p->shown < (json ? JSON_INTERVAL : LINE_INTERVAL) || spent <= 0) return;
    p->shown = now;
    if (json)
        print_object(p, spent, 0);
    else
        print_progress(p, spent, more);
}

void motus_progress_show(MotusProgress *p, int64_t done, const char *more) {
    motus_progress_show_as(p, done, more, "");
}

void motus_progress_wipe(const MotusProgress *p) {
    if (p->style == MOTUS_PROGRESS_AUTO && p->shown > 0) fprintf(stderr, "\r\033[K");
}

void motus_progress_end(MotusProgress *p) {
    motus_progress_wipe(p);
    if (p->style == MOTUS_PROGRESS_JSON) print_object(p, motus_seconds() - p->start, 1);
    p->style = MOTUS_PROGRESS_NONE;
}
