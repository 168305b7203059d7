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

int motus_failure(const MotusError *error) {
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
    if (status) motus_failure(error);
    return signal ? MOTUS_EXIT_SIGNAL + signal : status ? MOTUS_EXIT_FAILURE : MOTUS_EXIT_OK;
}

int motus_flush_stdout(void) {
    if (!fflush(stdout) && !ferror(stdout)) return MOTUS_EXIT_OK;
    motus_warn("standard output: %s", strerror(errno));
    return MOTUS_EXIT_FAILURE;
}

// ---- The live line ------------------------------------------------------------------------------

#define INTERVAL 0.1 // seconds

MotusProgress motus_progress_begin(int64_t total, int quiet) {
    return (MotusProgress){
        .on = !quiet && isatty(STDERR_FILENO), .total = total, .start = motus_seconds()};
}

void motus_progress_show(MotusProgress *p, int64_t done, const char *more) {
    double now = motus_seconds(), spent = now - p->start;
    if (!p->on || now - p->shown < INTERVAL || spent <= 0) return;
    p->shown = now;
    double fps = (double)done / spent;
    fprintf(stderr, "\r%lld", (long long)done);
    if (p->total > 0) fprintf(stderr, "/%lld", (long long)p->total);
    fprintf(stderr, " frames  %.1f fps%s", fps, more);
    if (p->total > done && done > 0) {
        int left = (int)((double)(p->total - done) / fps + 0.5);
        fprintf(stderr, "  %d:%02d left", left / 60, left % 60);
    }
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

void motus_progress_wipe(const MotusProgress *p) {
    if (p->on && p->shown > 0) fprintf(stderr, "\r\033[K");
}

void motus_progress_end(MotusProgress *p) {
    motus_progress_wipe(p);
    p->on = 0;
}
