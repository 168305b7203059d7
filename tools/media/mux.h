// Files around the coded pictures, through libavformat: .mp4, .mov, .mkv, .ts, with what the input
// has beside its pictures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_MUX_H
#define TOOLS_MEDIA_MUX_H

#include "motus/encoder.h"
#include "yuv/io/reader.h"

typedef struct MotusMux MotusMux;

// Kinds of streams, by the names that --format takes and by the endings of names.
typedef enum MotusFormat {
    MOTUS_FORMAT_H264,
    MOTUS_FORMAT_MP4,
    MOTUS_FORMAT_MOV,
    MOTUS_FORMAT_MKV,
    MOTUS_FORMAT_TS,
    MOTUS_FORMATS
} MotusFormat;
#define MOTUS_FORMAT_NAMES "h264, mp4, mov, mkv, ts"
#define MOTUS_FORMAT_ENDINGS ".264, .h264, .avc, .mp4, .m4v, .mov, .mkv, .ts"

// The format that a name's ending asks for; -1: none.
int motus_format_of(const char *path);

typedef struct MotusMuxSettings {
    MotusFormat format;  // not H264
    int fragment;        // .mp4 and .mov in fragments of a second, whole as far as they are written
    int no_audio;        // leave audio out
    int forced_rate;     // the pictures' times are not the input's
    MotusReader *reader; // where pictures and what comes along are from
    MotusTell *tell;     // told what is left out; NULL: nobody
    void *opaque;        // for `tell`
} MotusMuxSettings;

// `headers` are SPS and PPS as a byte stream. MOTUS_ERR_UNSUPPORTED: this build has no libavformat.
MotusStatus motus_mux_open(MotusMux **out, const char *path, const MotusMuxSettings *settings,
                           const MotusEncoderConfig *config, const uint8_t *headers, size_t size,
                           MotusError *error);

// Pictures in order, shown at `time` (of the reader's time base); the first one decides what
// everything is shifted by, so that a start in the middle of the input is shown when the input's
// own start would be. With them goes what the reader met on the way.
MotusStatus motus_mux_picture(MotusMux *mux, const MotusPacket *picture, MotusTime time,
                              MotusError *error);

// Frees in every case. partly: the input goes on behind the last picture; audio ends with it.
MotusStatus motus_mux_commit(MotusMux **mux, int partly, MotusError *error);
void motus_mux_abandon(MotusMux **mux); // accepts NULL and *mux == NULL

// Whether the reader's input has streams beside its pictures, which would go along.
int motus_mux_has_streams(const MotusReader *reader);

// What a plain byte stream leaves out of the reader's input, told as one note.
void motus_mux_tell_left_out(const MotusMuxSettings *settings, const char *path);

#endif
