// Stands in for mux.c and mux_streams.c in builds without FFmpeg's libraries.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/media/mux.h"

MotusStatus motus_mux_open(MotusMux **out, const char *path, const MotusMuxSettings *settings,
                           const MotusEncoderConfig *config, const uint8_t *headers, size_t size,
                           MotusError *error) {
    (void)settings, (void)config, (void)headers, (void)size;
    *out = NULL;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      "%s: this build (without libavformat) writes .264 only", motus_shown(path));
}

// Never called: no mux was opened.
MotusStatus motus_mux_picture(MotusMux *mux, const MotusPacket *picture, MotusTime time,
                              MotusError *error) {
    (void)mux, (void)picture, (void)time;
    return motus_fail(error, MOTUS_ERR_STATE, "no container is open");
}

MotusStatus motus_mux_commit(MotusMux **mux, int partly, MotusError *error) {
    (void)mux, (void)partly;
    return motus_fail(error, MOTUS_ERR_STATE, "no container is open");
}

void motus_mux_abandon(MotusMux **mux) { (void)mux; }

// Inputs have pictures only.
int motus_mux_has_streams(const MotusReader *reader, int no_audio) {
    (void)reader, (void)no_audio;
    return 0;
}

void motus_mux_note_left_out(const MotusMuxSettings *settings, const char *path, const char *why) {
    (void)settings, (void)path, (void)why;
}
