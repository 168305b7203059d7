// The subcommands of the program and what they share: exit statuses and the one line that says what
// went wrong.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_CMD_H
#define TOOLS_CLI_CMD_H

#include <stddef.h>

#include "motus/status.h"

enum {
    MOTUS_EXIT_OK = 0,
    MOTUS_EXIT_FAILURE = 1,
    MOTUS_EXIT_USAGE = 2,
    MOTUS_EXIT_SIGNAL = 128, // + number of the signal: 130 for Ctrl-C
};

// argv[0] is the subcommand's name. They return the exit status.
int motus_cmd_encode(int argc, char **argv);
int motus_cmd_search(int argc, char **argv);
int motus_cmd_compare(int argc, char **argv);
int motus_cmd_info(int argc, char **argv);
int motus_cmd_view(int argc, char **argv);
int motus_cmd_synth(int argc, char **argv);
int motus_cmd_bench(int argc, char **argv);
int motus_cmd_bench_filters(int argc, char **argv); // motus bench filters
int motus_cmd_filter(int argc, char **argv);
int motus_cmd_dct(int argc, char **argv);
int motus_cmd_wavelet(int argc, char **argv);

// What was printed on stdout has to arrive: the exit status.
int motus_flush_stdout(void);

// Print one line, "motus: ...", on stderr and return the exit status that goes with it.
int motus_failure(const MotusError *error);
int motus_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void motus_warn_into(
    char *text,
    size_t size); // this thread's lines go there, the last one stays; NULL: to stderr again
void motus_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
