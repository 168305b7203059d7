// Streams of a container's input beside the video, copied: audio, subtitles, attachments; rotation,
// chapters, titles.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_MUX_STREAMS_H
#define TOOLS_MEDIA_MUX_STREAMS_H

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>

#include "tools/media/mux_settings.h"
#include "yuv/io/media.h"

// Text subtitles in the form that a container holds: mov_text in MP4 and QuickTime, SubRip in
// Matroska.

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

// The tags of a file and its streams: titles, languages, places.

// Copies all tags but those of the input's muxer.
void motus_tags_copy(AVDictionary **to, const AVDictionary *from);

// Writes "tags title, artist, 3 more" of the file's tags that the format cannot hold. Returns their
// number.
int motus_tags_left_out(MotusFormat format, const AVFormatContext *input, char *text, size_t size);

// True if MP4 or QuickTime has to hold the tags by their names, which the input did, too: some are
// not among iTunes' atoms. Players that know only those find no title then.
int motus_tags_need_names(MotusFormat format, const AVFormatContext *input);

#define MOTUS_MUX_STREAMS 64 // most streams of the input

typedef struct MotusMuxStreams {
    MotusReader *reader;
    AVFormatContext *output;
    MotusSubtitles *subtitles[MOTUS_MUX_STREAMS]; // converters; NULL: copied as it is
    AVBSFContext *filter[MOTUS_MUX_STREAMS];      // for packets; NULL: none
    int to[MOTUS_MUX_STREAMS];                    // output stream of an input stream, -1: left out
    int64_t last_dts[MOTUS_MUX_STREAMS];          // of the input's streams, in the output's unit
    MotusPackets waiting;                         // until the pictures reach them
    int64_t waiting_from;                         // smallest time among them, reader's time base
    int copied;                                   // streams
    int names_tags;                               // MP4 has to hold tags that iTunes does not know
    MotusFormat format;
    int64_t lost; // packets that the container refused
} MotusMuxStreams;

// Adds streams to `output`, which has its video stream, and logs as one loss what is left out.
// Returns 0 or AVERROR.
int motus_mux_streams_add(MotusMuxStreams *streams, AVFormatContext *output,
                          const MotusMuxSettings *settings, const char *path);

// Takes the reader's packets and writes those that begin before `until`; those that end before
// `from` are dropped. `shift` is subtracted from their times. All in the reader's time base.
int motus_mux_streams_write(MotusMuxStreams *streams, int64_t from, int64_t until, int64_t shift);

// Reads the input on until the copied streams have reached `until`.
void motus_mux_streams_read_on(MotusMuxStreams *streams, int64_t until);

void motus_mux_streams_free(MotusMuxStreams *streams);

// Does what motus_mux_note_left_out says.
void motus_mux_streams_note_left_out(const MotusMuxSettings *settings, const char *path,
                                     const char *why);

#endif
