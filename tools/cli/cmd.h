// Shared by all subcommands: exit statuses, messages and progress on stderr.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_CMD_H
#define TOOLS_CLI_CMD_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

enum {
    MOTUS_EXIT_OK = 0,
    MOTUS_EXIT_FAILURE = 1,
    MOTUS_EXIT_USAGE = 2,
    MOTUS_EXIT_SIGNAL = 128, // + number of the signal: 130 for Ctrl-C
    MOTUS_EXIT_PIPE = 141,   // as if SIGPIPE had killed the program
};

// The subcommands return the exit status. argv[0] is the subcommand's name.
int motus_cmd_encode(int argc, char **argv);
int motus_cmd_search(int argc, char **argv);
int motus_cmd_compare(int argc, char **argv);
int motus_cmd_info(int argc, char **argv);
int motus_cmd_view(int argc, char **argv);
int motus_cmd_synth(int argc, char **argv);
int motus_cmd_bench(int argc, char **argv);
int motus_cmd_filter(int argc, char **argv);
int motus_cmd_dct(int argc, char **argv);
int motus_cmd_wavelet(int argc, char **argv);
int motus_cmd_nvenc(int argc, char **argv);

// ---- Messages -----------------------------------------------------------------------------------

// Prints one line, "motus: ...", on stderr.
void motus_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

// True if the reader of an output pipe has gone: programs end then without a word, with the status
// MOTUS_EXIT_PIPE.
int motus_is_broken_pipe(const MotusError *error);

// Print such a line, but none for a broken pipe, and return the exit status that belongs to it.
int motus_failure(const MotusError *error);
int motus_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Prints the error if `status` is one. Returns the exit status of a subcommand that `signal`
// (0: none) ended.
int motus_exit_status(MotusStatus status, const MotusError *error, int signal);

// Redirects this thread's lines into `text`, with "; " between them. NULL: back to stderr.
void motus_warn_into(char *text, size_t size);

// Flushes stdout. Returns the exit status; prints a failure other than a broken pipe.
int motus_flush_stdout(void);

// ---- Progress -----------------------------------------------------------------------------------

// AUTO: a live line if stderr is a terminal. JSON: an object a line, for programs.
typedef enum MotusProgressStyle {
    MOTUS_PROGRESS_AUTO,
    MOTUS_PROGRESS_JSON,
    MOTUS_PROGRESS_NONE
} MotusProgressStyle;

typedef struct MotusProgress {
    MotusProgressStyle style; // AUTO: the line is shown
    int64_t total;            // frames expected, -1 = unknown
    double start, shown;      // motus_seconds()
    int64_t done;
    char fields[64]; // the last ones
} MotusProgress;

// Starts the clock. The line stays off if `quiet` or if stderr is no terminal.
MotusProgress motus_progress_begin(int64_t total, int quiet);
MotusProgress motus_progress_begin_as(MotusProgressStyle style, int64_t total, int quiet);

// Shows the frames done and `more` (kb/s, PSNR ...), at most ten times a second.
void motus_progress_show(MotusProgress *progress, int64_t done, const char *more);

// Does the same, or writes an object at most twice a second. `fields` are further members of it,
// each with a comma before it.
void motus_progress_show_as(MotusProgress *progress, int64_t done, const char *more,
                            const char *fields);

// Wipes the line ahead of a message; the next motus_progress_show draws it again.
void motus_progress_wipe(const MotusProgress *progress);

// Wipes the line for good, or writes a last object with "end": true.
void motus_progress_end(MotusProgress *progress);

#endif
