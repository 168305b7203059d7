// SPDX-License-Identifier: BSD-2-Clause
#include "tools/media/mux_settings.h"

#include "tools/cli/options.h"

int motus_format_of(const char *path) {
    static const char *const endings[MOTUS_FORMATS] = {".264\0.h264\0.avc\0", ".mp4\0.m4v\0",
                                                       ".mov\0", ".mkv\0", ".ts\0"};
    for (int format = 0; format < MOTUS_FORMATS; format++)
        if (motus_has_ending(path, endings[format])) return format;
    return -1;
}
