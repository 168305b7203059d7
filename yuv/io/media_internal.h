// The inside of the libavformat reader, shared by media*.c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_MEDIA_INTERNAL_H
#define YUV_IO_MEDIA_INTERNAL_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
#include <stdatomic.h>

#include "yuv/io/media.h"
#include "yuv/io/reader_ops.h"

// ---- media_convert.c: libavcodec's pictures to 8-bit 4:2:0 --------------------------------------

typedef struct MotusConverter {
    struct SwsContext *scaler[4]; // whole pictures; even part; to a format with alpha; from it
    int key[4][8];                // the settings that each was made for
    AVFrame *composed;            // over black
} MotusConverter;

// Conversions beyond a change of the pixel format, as a mask.
enum { MOTUS_CONVERTED_SIZE = 1, MOTUS_CONVERTED_ALPHA = 2 };

int motus_is_rgb(int format);
enum AVColorSpace motus_rgb_matrix(const AVFrame *frame); // matrix that RGB is converted with
int motus_is_gray(int format);                            // luma alone, with or without alpha
int motus_is_full_range(const AVFrame *frame);
int motus_is_interlaced(const AVFrame *frame); // FFmpeg's versions keep it in different members

// Converts `from` into `frame`. Returns 0 or AVERROR; *done gets a mask of MOTUS_CONVERTED_*.
int motus_convert(MotusConverter *converter, const AVFrame *from, const MotusFrame *frame,
                  int *done);

// ---- media_damage.c: damage of the input --------------------------------------------------------

// True if the container is a list of files, which libavformat opens itself.
int motus_media_is_playlist(const AVFormatContext *format);

// ---- The reader ---------------------------------------------------------------------------------

#define MOTUS_MAX_TIME (INT64_MAX / 1024) // of packets, so that sums of times fit into 64 bits
#define MOTUS_MEDIA_STREAMS 64            // streams whose times are joined where they jump

// A deinterlacer for frames of one size and format (media_decode.c).
typedef struct MotusDeinterlacer {
    struct AVFilterGraph *graph;
    struct AVFilterContext *source, *sink;
    AVRational time_base;
    int width, height, format;
} MotusDeinterlacer;

void motus_deinterlacer_close(MotusDeinterlacer *deinterlacer); // also one that is not open

typedef struct MotusMedia {
    AVIOContext *io; // over the reader's source; NULL: libavformat opens the files
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;                 // the last picture
    AVFrame *waiting;               // for a new deinterlacer
    MotusDeinterlacer deinterlacer; // graph NULL: not open
    MotusConverter converter;
    MotusPackets ahead; // of the video stream, read to measure its rate
    MotusPackets side;  // of the other streams
    int stream;         // index of the video stream
    int first_waits;    // `frame` is the first picture, decoded by open and not handed out yet
    int timed_waits;    // `frame` has its time and was not handed out yet
    int last_error;     // of the decoder
    int errors_in_row;  // of the decoder, without a picture between them
    int ended;
    MotusError failure; // of reading packets, reported after the pictures before it
    int32_t matrix[9];
    int has_matrix;

    // Joining times that jump, in AV_TIME_BASE.
    int64_t next_dts[MOTUS_MEDIA_STREAMS]; // of each stream's next packet; AV_NOPTS_VALUE: unknown
    int64_t moved;                         // offset that is added after jumps
    int after_ahead; // result of reading on after `ahead`: AVERROR; 0: not tried

    // Times, in the stream's time base.
    MotusTime last;
    int has_last;
    int64_t begin;  // of the first picture if pictures without a time come before others
    int64_t period; // of a picture
    int64_t even;   // pictures that followed the last one after `period`
    int says_even;  // the container claims a constant rate

    // Damage.
    MotusMediaLog log;
    int seen_decoder, seen_container; // counts of `log` that have been dealt with
    int64_t packets;                  // of the video stream
    int64_t at;    // time of the last packet that the decoder got; AV_NOPTS_VALUE: unknown
    int64_t end;   // of all streams' packets, in AV_TIME_BASE; AV_NOPTS_VALUE: unknown
    int64_t holes; // pictures missing between others
    int transient; // a packet came damaged, its picture has not come yet
    int lines;     // warnings so far
    unsigned told; // mask of MOTUS_ONCE_*: notes already given
} MotusMedia;

enum { MOTUS_ONCE_INTERLACED = 1, MOTUS_ONCE_SIZE = 2, MOTUS_ONCE_ALPHA = 4, MOTUS_ONCE_TIMES = 8 };

// Converts a time of the video stream to seconds.
double motus_media_seconds(const MotusMedia *m, int64_t time);

// media.c: fills *error with the text of a libav* error code.
MotusStatus motus_media_fail(const MotusReader *reader, MotusError *error, int code,
                             const char *what);

// media_decode.c: read the next packet of the video stream into m->packet, from the container or
// (next_packet) from m->ahead first; return 0 or AVERROR. next_picture decodes and deinterlaces the
// next picture into m->frame.
int motus_media_read_packet(MotusReader *reader);
int motus_media_next_packet(MotusReader *reader);
MotusStatus motus_media_next_picture(MotusReader *reader, MotusError *error);

// media_info.c: measures the rate by the container and the times of the first packets, which it
// leaves in m->ahead.
int motus_media_measure(MotusReader *reader);

// media_info.c: fills in reader->info from m->frame, the first picture.
void motus_media_describe(MotusReader *reader);

// media_damage.c: count what happened, and warn about the first few errors.
void motus_media_packet_lost(MotusReader *reader, int code);
void motus_media_picture_came(MotusReader *reader); // m->frame, as it left the decoder
void motus_media_time_came(MotusReader *reader, MotusTime time);
void motus_media_packet_came(MotusReader *reader, const AVPacket *packet);
void motus_media_container_error(MotusReader *reader, int code);
void motus_media_ended(MotusReader *reader);

#endif
