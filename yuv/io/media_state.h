// What the files of the libavformat reader share: media.c, media_decode.c, media_convert.c,
// media_info.c, media_rate.c, media_damage.c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_MEDIA_STATE_H
#define YUV_IO_MEDIA_STATE_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
#include <stdatomic.h>

#include "yuv/io/deinterlace.h"
#include "yuv/io/packets.h"
#include "yuv/io/reader_ops.h"

// ---- media_convert.c: from libavcodec's pictures to 8-bit 4:2:0 ---------------------------------

typedef struct MotusConverter {
    struct SwsContext
        *scaler[4];    // whole pictures; their even part; to a form with alpha; from there
    int key[4][8];     // what each was made for
    AVFrame *composed; // over black
} MotusConverter;

enum {
    MOTUS_CONVERTED_SIZE = 1,
    MOTUS_CONVERTED_ALPHA = 2
}; // what was done beside the change of format

int motus_is_rgb(int format);
enum AVColorSpace motus_rgb_matrix(const AVFrame *frame); // that RGB is converted with
int motus_is_full_range(const AVFrame *frame);

// Brings the samples of `from` into `frame`. 0 or AVERROR; *done gets a mask of MOTUS_CONVERTED_*.
int motus_convert(MotusConverter *converter, const AVFrame *from, const MotusFrame *frame,
                  int *done);
void motus_converter_free(MotusConverter *converter);

// ---- media_damage.c: what is wrong with the input -----------------------------------------------

// What libav* logs as errors about one decoder or container, from whatever thread.
typedef struct MotusMediaLog {
    uint32_t magic;
    int opening;                   // only playlists' errors count
    atomic_int decoder, container; // errors so far
    atomic_int text_state;         // 0 free, 1 being written, 2 there
    char text[100];                // one of them
} MotusMediaLog;

// Whether the container is a list of files, which libavformat opens by itself.
int motus_media_is_playlist(const AVFormatContext *format);

void motus_media_log_begin(
    MotusMediaLog *log); // from now on the `opaque` of codec and format contexts may point to it

#define MOTUS_MAX_TIME                                                                             \
    (INT64_MAX / 1024)         // of packets: sums and small multiples stay within 64 bits
#define MOTUS_MEDIA_STREAMS 64 // whose times are joined where they jump

// ---- The reader ---------------------------------------------------------------------------------

typedef struct MotusMedia {
    AVIOContext *io; // over the reader's source; NULL where libavformat opens the files
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;   // the last picture
    AVFrame *waiting; // for the deinterlacer to be made anew
    MotusDeinterlacer *deinterlacer;
    MotusConverter converter;
    MotusPackets ahead; // of the video stream, read to measure their rate
    MotusPackets side;  // of the others
    int stream;
    int first_waits;   // `frame` is the first picture, decoded by open and not handed out yet
    int last_error;    // of the decoder
    int errors_in_row; // of the decoder, without a picture between them
    int ended;         // the end was judged
    MotusError
        failure; // of reading packets: reported when the pictures before have been handed out
    int32_t matrix[9];
    int has_matrix;

    int64_t next_dts[MOTUS_MEDIA_STREAMS]; // that each stream's next packet should have,
                                           // AV_TIME_BASE; AV_NOPTS_VALUE: unknown
    int64_t moved;                         // what times that jump are moved by, AV_TIME_BASE
    int after_ahead;                       // what reading on behind m->ahead came to, 0: not tried

    // Times, in the stream's time base.
    MotusTime last;
    int has_last;
    int64_t begin;  // of pictures that have no time before others that have one
    int64_t period; // of a picture
    int64_t even;   // pictures that followed their neighbours at `period`
    int says_even;  // so does the container

    // Damage.
    MotusMediaLog log;
    int seen_decoder, seen_container; // of the log's counts
    int64_t packets;                  // of the video stream
    int64_t read_at,
        at;        // time of the last one read, and given to the decoder; AV_NOPTS_VALUE: unknown
    int64_t end;   // of all streams' packets, in AV_TIME_BASE; AV_NOPTS_VALUE: unknown
    int64_t holes; // pictures missing between others
    int transient; // a packet came damaged, its picture has not come yet
    int told_lines;
    unsigned told; // notes that are told once
} MotusMedia;

// Seconds of a time of the video stream.
double motus_media_seconds(const MotusMedia *m, int64_t time);

enum {
    MOTUS_ONCE_INTERLACED = 1,
    MOTUS_ONCE_SIZE = 2,
    MOTUS_ONCE_ALPHA = 4,
    MOTUS_ONCE_TIMES = 8
}; // of `told`

// media.c: what libav*'s error code means, in words.
MotusStatus motus_media_fail(const MotusReader *reader, MotusError *error, int code,
                             const char *what);

// media_decode.c: the next packet of the video stream into m->packet, as it is read and (after
// those that waited) as it is decoded, 0 or AVERROR; and the next picture, without fields, into
// m->frame.
int motus_media_read_packet(MotusReader *reader);
int motus_media_next_packet(MotusReader *reader);
MotusStatus motus_media_next_picture(MotusReader *reader, MotusError *error);

// media_rate.c: finds the rate from the container's word and the times of the first packets, which
// wait in m->ahead from then on.
int motus_media_measure(MotusReader *reader);

// media_info.c: fills in reader->info from m->frame, the first picture.
void motus_media_describe(MotusReader *reader);

// media_damage.c: keep count, and tell the first few.
void motus_media_packet_lost(MotusReader *reader, int code);
void motus_media_picture_came(MotusReader *reader); // m->frame, as it left the decoder
void motus_media_time_came(MotusReader *reader, MotusTime time);
void motus_media_packet_came(MotusReader *reader, const AVPacket *packet);
void motus_media_place_lost(MotusReader *reader, int code);
void motus_media_ended(MotusReader *reader);

#endif
