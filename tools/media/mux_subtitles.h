// Text subtitles in the form that a container holds: mov_text in MP4 and QuickTime, SubRip in
// Matroska.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_MUX_SUBTITLES_H
#define TOOLS_MEDIA_MUX_SUBTITLES_H

#include <libavformat/avformat.h>

#include "tools/media/mux_settings.h"

typedef struct MotusSubtitles MotusSubtitles;

// Opens a converter for a stream that the format cannot hold as it is. NULL: none is known, the
// stream is not text, or there is no memory.
MotusSubtitles *motus_subtitles_open(const AVStream *from, MotusFormat format);

// Describes the converted stream. Returns 0 or AVERROR.
int motus_subtitles_describe(const MotusSubtitles *subtitles, AVCodecParameters *to);

// True if the form has no place for styles that the stream may have.
int motus_subtitles_lose_styles(const MotusSubtitles *subtitles);

// Converts a packet in place. Returns 1, 0 for an empty subtitle, or AVERROR.
int motus_subtitles_convert(MotusSubtitles *subtitles, AVPacket *packet);

void motus_subtitles_close(MotusSubtitles **subtitles); // accepts *subtitles == NULL

#endif
