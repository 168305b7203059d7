// motus nvenc: runs a program that uses NVENC where the GPU has no encoder.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/cmd.h"

static const char help[] =
    "usage: motus nvenc [options] -- PROGRAM [ARGUMENT...]\n"
    "       motus nvenc --path\n"
    "\n"
    "Runs PROGRAM with motus's libnvidia-encode.so.1 in front of the loader's path: NVIDIA's\n"
    "NVENC interface for GPUs without an encoder (A100, H100, H200, B200 ...). H.264 of 4:2:0\n"
    "and RGB frames, in host or CUDA memory. A GPU that has an encoder keeps it.\n"
    "\n"
    "Examples:\n"
    "  motus nvenc -- ffmpeg -i in.mkv -c:v h264_nvenc -preset p4 -cq 25 out.mp4\n"
    "  motus nvenc -- gst-launch-1.0 videotestsrc ! nvh264enc ! h264parse ! mp4mux ! filesink\n"
    "                                    location=x.mp4\n"
    "  motus nvenc -- obs\n"
    "  LD_LIBRARY_PATH=$(motus nvenc --path) python3 program.py\n"
    "\n"
    "  --always      do not ask the driver's own library\n"
    "  --cpu         encode on the CPU\n"
    "  --path        print the folder of the library\n"
    "  -h, --help    print this\n";

// Writes the folder of the library to `path`: beside the installed program, or in a build tree.
static int find_folder(char path[PATH_MAX]) {
    static const char *const place[] = {
        "../" MOTUS_LIBDIR "/motus/nvenc", // bin/motus
        "../interop/nvenc/lib",            // tools/motus of a build tree
    };
    char program[PATH_MAX], name[2 * PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return 0;
    program[n] = 0;
    *(strrchr(program, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        snprintf(name, sizeof name, "%s%s/libnvidia-encode.so.1", program, place[i]);
        if (!realpath(name, path) && access(name, R_OK)) continue;
        snprintf(name, sizeof name, "%s%s", program, place[i]);
        return realpath(name, path) != NULL;
    }
    return 0;
}

static int put_in_front(const char *folder) {
    const char *before = getenv("LD_LIBRARY_PATH");
    const size_t size = strlen(folder) + (before ? strlen(before) : 0) + 2;
    char *value = malloc(size);
    if (!value) return 0;
    snprintf(value, size, "%s%s%s", folder, before && *before ? ":" : "", before ? before : "");
    const int status = setenv("LD_LIBRARY_PATH", value, 1);
    free(value);
    return !status;
}

int motus_cmd_nvenc(int argc, char **argv) {
    static const struct option options[] = {{"always", no_argument, NULL, 'a'},
                                            {"cpu", no_argument, NULL, 'c'},
                                            {"path", no_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    char folder[PATH_MAX];
    int option, prints_path = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) switch (option) {
        case 'a':
            setenv("MOTUS_NVENC", "always", 1);
            break;
        case 'c':
            setenv("MOTUS_NVENC_BACKEND", "cpu", 1);
            break;
        case 'p':
            prints_path = 1;
            break;
        case 'h':
            fputs(help, stdout);
            return motus_flush_stdout();
        default:
            return motus_usage_error("nvenc", "%s: no such option", argv[optind - 1]);
        }
    if (!find_folder(folder)) {
        motus_warn(
            "nvenc: libnvidia-encode.so.1 is not installed (it needs nvEncodeAPI.h, Debian's "
            "libffmpeg-nvenc-dev, when motus is built)");
        return MOTUS_EXIT_FAILURE;
    }
    if (prints_path) {
        puts(folder);
        return motus_flush_stdout();
    }
    if (optind == argc) return motus_usage_error("nvenc", "the program is missing");
    if (!put_in_front(folder)) {
        motus_warn("nvenc: out of memory");
        return MOTUS_EXIT_FAILURE;
    }
    execvp(argv[optind], argv + optind);
    const int cause = errno;
    motus_warn("nvenc: %s: %s", argv[optind], strerror(cause));
    return cause == ENOENT ? 127 : 126; // as a shell
}
