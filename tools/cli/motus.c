// The program motus: picks the subcommand.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "motus/version.h"
#include "tools/cli/cmd.h"

static const struct {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"encode", "encode a sequence into an H.264 stream", motus_cmd_encode},
    {"search", "only the motion field between consecutive frames", motus_cmd_search},
    {"compare", "our vectors, bits and speed beside x264's, as a report", motus_cmd_compare},
    {"view", "draw motion vectors: of a field, a stream, or a search", motus_cmd_view},
    {"synth", "make a test sequence with known motion", motus_cmd_synth},
    {"filter", "equalize, denoise or key a sequence", motus_cmd_filter},
    {"dct", "show the 8x8 DCT of a picture", motus_cmd_dct},
    {"wavelet", "show the wavelet transform of a picture", motus_cmd_wavelet},
    {"bench", "measure the speed of search, encoder and filters", motus_cmd_bench},
    {"info", "version, CPU, libraries and backends", motus_cmd_info},
};

#define N_COMMANDS (sizeof commands / sizeof *commands)

static int help(void) {
    printf("usage: motus COMMAND ...\n\nH.264 motion estimation and block encoding.\n\n");
    for (unsigned i = 0; i < N_COMMANDS; i++)
        printf("  motus %-8s %s\n", commands[i].name, commands[i].about);
    printf("\nFirst steps:\n"
           "  motus synth test.y4m                      a sequence to try things on\n"
           "  motus encode test.y4m -o test.264         encode it; any player opens the result\n"
           "  motus encode film.mp4 -o film.264         other files are read where libavformat is "
           "built in\n"
           "  motus COMMAND --help                      options and examples of each command\n");
    return motus_flush_stdout();
}

// GNU OpenMP lets idle threads spin for milliseconds before they sleep. On a machine that does
// something else as well that has cost a factor of ten to fifty, so here they sleep at once unless
// the caller's environment says otherwise. The runtime reads its environment before main: start
// over.
static void sleep_when_idle(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (!setenv("OMP_WAIT_POLICY", "passive", 1))
        execv("/proc/self/exe", argv); // where that is not possible: go on as it is
}

// CUDA gives a process eight queues unless it is told otherwise before it begins: streams that
// share one wait for each other. Up to eight lanes of large pictures have one each and a few
// beside; sixteen of small ones use more, but a queue takes 15 ms to open, and 7 when the process
// ends.
static void use_many_queues(void) { setenv("CUDA_DEVICE_MAX_CONNECTIONS", "16", 0); }

// CUDA opens every device that it sees, 0.2 s each, whichever is used: so it sees the first one
// only, unless devices are asked for or listed.
static void see_one_device(char **argv) {
    if (!strcmp(argv[1], "info")) return;
    for (char **a = argv + 2; *a; a++)
        if (!strncmp(*a, "--dev", 5)) return;
    setenv("CUDA_VISIBLE_DEVICES", "0", 0);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        motus_warn("a command is missing: encode, search, compare, synth, bench or info (see motus "
                   "--help)");
        return MOTUS_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help();
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("motus %s\n", motus_version());
        return motus_flush_stdout();
    }
    for (unsigned i = 0; i < N_COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) {
            sleep_when_idle(argv);
            use_many_queues();
            see_one_device(argv);
            return commands[i].run(argc - 1, argv + 1);
        }
    motus_warn("%s: no such command (see motus --help)", argv[1]);
    return MOTUS_EXIT_USAGE;
}
