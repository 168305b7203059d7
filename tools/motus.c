// The program motus: the table of its subcommands.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "motus/version.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"

#ifdef MOTUS_HAVE_MEDIA
#define COMPARE motus_cmd_compare
#else
#define COMPARE NULL // decodes x264's streams
#endif

static const struct {
    const char *name, *about;
    int (*run)(int argc, char **argv); // NULL: needs libavcodec, which is not in this build
} commands[] = {
    {"encode", "encode a sequence into an H.264 stream", motus_cmd_encode},
    {"search", "only the motion field between consecutive frames", motus_cmd_search},
    {"compare", "motus's vectors, bits and speed beside x264's, as a report", COMPARE},
    {"view", "draw motion vectors: of a field, a stream, or a search", motus_cmd_view},
    {"synth", "make a test sequence with known motion", motus_cmd_synth},
    {"filter", "equalize, denoise or key a sequence", motus_cmd_filter},
    {"dct", "show the 8x8 DCT of a picture", motus_cmd_dct},
    {"wavelet", "show the wavelet transform of a picture", motus_cmd_wavelet},
    {"bench", "measure the speed of search, encoder and filters", motus_cmd_bench},
    {"nvenc", "run a program that uses NVENC on a GPU without an encoder", motus_cmd_nvenc},
    {"info", "version, CPU, libraries and backends", motus_cmd_info},
};

#define N_COMMANDS (sizeof commands / sizeof *commands)

static int help(void) {
    printf("usage: motus COMMAND ...\n\nH.264 motion estimation and block encoding.\n\n");
    for (unsigned i = 0; i < N_COMMANDS; i++)
        printf("  motus %-8s %s\n", commands[i].name, commands[i].about);
    printf("\nFirst steps:\n"
           "  motus synth test.y4m               make a sequence to try things on\n"
           "  motus encode test.y4m -o test.264  encode it; any player opens the result\n"
           "  motus encode film.mp4 -o film.264  other files, in a build with libavformat\n"
           "  motus COMMAND --help               options and examples of each command\n"
           "  motus --version                    the version (motus info: CPU, GPUs, libraries)\n");
    return motus_flush_stdout();
}

// True if the words ask for one thread.
static int has_one_thread(char **argv) {
    for (; *argv; argv++)
        if (!strcmp(*argv, "--threads=1") ||
            (!strcmp(*argv, "--threads") && argv[1] && !strcmp(argv[1], "1")))
            return 1;
    return 0;
}

// Restarts the program with OMP_WAIT_POLICY=passive: idle threads of GNU OpenMP spin before they
// sleep, which costs a factor of ten to fifty on a busy machine. The runtime reads its environment
// before main. One thread is never idle, and a start takes 30 ms with FFmpeg's libraries.
static void sleep_when_idle(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || has_one_thread(argv)) return;
    if (!setenv("OMP_WAIT_POLICY", "passive", 1))
        execv("/proc/self/exe", argv); // if that fails, goes on as it is
}

static int no_command(const char *given) {
    const char *names[N_COMMANDS];
    for (unsigned i = 0; i < N_COMMANDS; i++) names[i] = commands[i].name;
    const char *nearest = motus_nearest_word(given, names, N_COMMANDS);
    motus_warn("%s: no such command%s%s%s (see motus --help)", given,
               nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return MOTUS_EXIT_USAGE;
}

int main(int argc, char **argv) {
    motus_standard_files_open();
    if (argc > 1 && !strcmp(argv[1], "--")) { // ends options, as in other programs
        argv[1] = argv[0];
        argc--, argv++;
    }
    if (argc < 2) {
        motus_warn("a command is missing (see motus --help)");
        return MOTUS_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help();
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("motus %s\n", motus_version());
        return motus_flush_stdout();
    }
    for (unsigned i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name)) continue;
        if (!commands[i].run) {
            motus_warn("%s: needs libavcodec, which is not in this build", argv[1]);
            return MOTUS_EXIT_FAILURE;
        }
        if (commands[i].run == motus_cmd_nvenc) // the environment is the other program's
            return commands[i].run(argc - 1, argv + 1);
        if (motus_cpu_unknown_word()) {
            motus_warn("MOTUS_CPU=%s: must be c, avx2 or avx512", motus_cpu_unknown_word());
            return MOTUS_EXIT_USAGE;
        }
        sleep_when_idle(argv);
        motus_devices_hide(); // --device and --devices show them
        // 16 CUDA queues instead of 8: streams that share one wait for each other. A queue takes
        // 15 ms to open.
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", "16", 0);
        return commands[i].run(argc - 1, argv + 1);
    }
    return no_command(argv[1]);
}
