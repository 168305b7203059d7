// .mp4 and .mkv files around the coded pictures, through libavformat. The file is built as PATH.part and gets its name by a successful commit.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MUX_H
#define TOOLS_MUX_H

#include "motus/encoder.h"

typedef struct MotusMux MotusMux;

// Names that ask for a container, for motus_has_ending.
#define MOTUS_MUX_ENDINGS ".mp4\0.m4v\0.mov\0.mkv\0"

// `headers` are SPS and PPS as a byte stream. MOTUS_ERR_UNSUPPORTED: this build has no libavformat.
MotusStatus motus_mux_open(MotusMux **mux, const char *path, const MotusEncoderConfig *config, const uint8_t *headers,
                           size_t size, MotusError *error);
// Pictures in order; picture n is shown from n / fps to (n + 1) / fps.
MotusStatus motus_mux_picture(MotusMux *mux, const MotusPicture *picture, MotusError *error);
MotusStatus motus_mux_commit(MotusMux **mux, MotusError *error); // frees in every case
void motus_mux_abandon(MotusMux **mux);                          // accepts NULL and *mux == NULL

#endif
