// Writes coded pictures into containers through libavformat: .mp4, .mov, .mkv, .ts, with the other
// streams of the input.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_MUX_H
#define TOOLS_MEDIA_MUX_H

#include "motus/encoder.h"
#include "tools/media/mux_settings.h"

typedef struct MotusMux MotusMux;

// Opens a container (format is not H264). `headers` are SPS and PPS as a byte stream.
// MOTUS_ERR_UNSUPPORTED: this build has no libavformat.
MotusStatus motus_mux_open(MotusMux **out, const char *path, const MotusMuxSettings *settings,
                           const MotusEncoderConfig *config, const uint8_t *headers, size_t size,
                           MotusError *error);

// Writes the next picture in stream order, shown at `time` (in the reader's time base, as pts and
// dts of `picture`), and the packets of other streams up to it. All times are shifted by the first
// picture's offset from the input's start.
MotusStatus motus_mux_picture(MotusMux *mux, const MotusPacket *picture, MotusTime time,
                              MotusError *error);

// Frees in every case. partly: the input goes on after the last picture; audio ends with it.
MotusStatus motus_mux_commit(MotusMux **mux, int partly, MotusError *error);
void motus_mux_abandon(MotusMux **mux); // accepts NULL and *mux == NULL

// True if the reader's input has streams beside its pictures and, with no_audio, beside its audio.
int motus_mux_has_streams(const MotusReader *reader, int no_audio);

// Logs as one loss what an output that holds pictures only leaves out of the reader's input. `why`:
// "a byte stream holds pictures only" or alike.
void motus_mux_note_left_out(const MotusMuxSettings *settings, const char *path, const char *why);

#endif
