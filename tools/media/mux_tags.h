// The tags of a file and its streams: titles, languages, places.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_MUX_TAGS_H
#define TOOLS_MEDIA_MUX_TAGS_H

#include <libavformat/avformat.h>

#include "tools/media/mux_settings.h"

// Copies all tags but those of the input's muxer.
void motus_tags_copy(AVDictionary **to, const AVDictionary *from);

// Writes "tags title, artist, 3 more" of the file's tags that the format cannot hold. Returns their
// number.
int motus_tags_left_out(MotusFormat format, const AVFormatContext *input, char *text, size_t size);

// True if MP4 or QuickTime has to hold the tags by their names, which the input did, too: some are
// not among iTunes' atoms. Players that know only those find no title then.
int motus_tags_need_names(MotusFormat format, const AVFormatContext *input);

#endif
