// Stands in for mux.c, png.c, checksum.c, view_stream.c and cmd_compare.c in builds without FFmpeg's libraries.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/checksum.h"
#include "tools/cmd.h"
#include "tools/mux.h"
#include "tools/png.h"
#include "tools/view.h"

MotusStatus motus_mux_open(MotusMux **out, const char *path, const MotusMuxSettings *settings, const MotusEncoderConfig *config,
                           const uint8_t *headers, size_t size, MotusError *error) {
    (void)settings;
    (void)config;
    (void)headers;
    (void)size;
    *out = NULL;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: this build (without libavformat) writes .264 only", motus_shown(path));
}

// No mux was ever opened.
MotusStatus motus_mux_picture(MotusMux *mux, const MotusPacket *picture, MotusTime time, MotusError *error) {
    (void)mux;
    (void)picture;
    (void)time;
    return motus_fail(error, MOTUS_ERR_STATE, "no container is open");
}

MotusStatus motus_mux_commit(MotusMux **mux, int partly, MotusError *error) {
    (void)mux;
    (void)partly;
    return motus_fail(error, MOTUS_ERR_STATE, "no container is open");
}

void motus_mux_abandon(MotusMux **mux) { (void)mux; }

// Inputs of this build have nothing but pictures.
void motus_mux_tell_left_out(const MotusMuxSettings *settings, const char *path) {
    (void)settings;
    (void)path;
}

MotusStatus motus_png_write(const char *path, const MotusPlane *picture, int channels, MotusError *error) {
    (void)picture, (void)channels;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: this build has no PNG encoder (libavcodec was not found)",
                      motus_shown(path));
}

int motus_frame_md5(const MotusFrame *frame, char text[MOTUS_MD5_TEXT]) {
    (void)frame;
    text[0] = 0;
    return 0;
}

int motus_cmd_compare(int argc, char **argv) {
    (void)argc, (void)argv;
    motus_warn("compare: this build (without libavcodec) cannot decode x264's streams");
    return MOTUS_EXIT_FAILURE;
}

MotusStatus motus_view_stream(MotusView *view, const char *path, MotusError *error) {
    (void)view, (void)path, (void)error;
    return MOTUS_END; // nothing here tells what is in the file: the reader refuses what it does not know
}
