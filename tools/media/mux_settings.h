// The settings of a container, and the formats of a coded stream.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_MUX_SETTINGS_H
#define TOOLS_MEDIA_MUX_SETTINGS_H

#include "yuv/io/reader.h"

// Output formats, by the names that --format takes and by endings.
typedef enum MotusFormat {
    MOTUS_FORMAT_H264, // a byte stream, no container
    MOTUS_FORMAT_MP4,
    MOTUS_FORMAT_MOV,
    MOTUS_FORMAT_MKV,
    MOTUS_FORMAT_TS,
    MOTUS_FORMATS
} MotusFormat;
#define MOTUS_FORMAT_ENDINGS ".264, .h264, .avc, .mp4, .m4v, .mov, .mkv, .ts"

// Returns the MotusFormat that a name's ending asks for, -1: none.
int motus_format_of(const char *path);

typedef struct MotusMuxSettings {
    MotusFormat format;
    int fragment;          // .mp4 and .mov in fragments of a second, playable as far as written
    int no_audio;          // leave audio out
    int forced_rate;       // the pictures' times are not the input's
    MotusReader *reader;   // input of the pictures; NULL: they are numbered by the frame rate
    MotusLogCallback *log; // gets notes on what is left out; may be NULL
    void *opaque;          // for log
} MotusMuxSettings;

#endif
