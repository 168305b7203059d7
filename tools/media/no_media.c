// Stands in for png.c, view_stream.c and cmd_compare.c in builds without FFmpeg's libraries.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/media/png.h"
#include "tools/view/view.h"

MotusStatus motus_png_write(const char *path, const MotusPlane *picture, int channels,
                            MotusError *error) {
    (void)picture, (void)channels;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      "%s: this build has no PNG encoder (libavcodec was not found)",
                      motus_shown(path));
}

int motus_cmd_compare(int argc, char **argv) {
    (void)argc, (void)argv;
    motus_warn("compare: this build (without libavcodec) cannot decode x264's streams");
    return MOTUS_EXIT_FAILURE;
}

MotusStatus motus_view_stream(MotusView *view, const char *path, MotusError *error) {
    (void)view, (void)path, (void)error;
    return MOTUS_END; // nothing here tells what is in the file: the reader refuses what it does not
                      // know
}
