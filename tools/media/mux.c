// SPDX-License-Identifier: BSD-2-Clause
#include "tools/media/mux.h"

#include <libavformat/avformat.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "interop/avcc.h"
#include "tools/media/mux_streams.h"
#include "yuv/io/media.h"
#include "yuv/io/writer.h"

#define IO_BUFFER 65536
#define FRAGMENT 1000000             // microseconds
#define MAX_CLOCK (INT64_MAX / 1024) // sums of times fit into 64 bits

struct MotusMux {
    MotusMediaLog log; // first: the context's `opaque` points to it
    AVFormatContext *context;
    AVIOContext *io; // over `file`
    MotusOutput *file;
    AVPacket *packet;
    MotusMuxSettings settings;
    MotusMuxStreams streams;
    AVRational unit;    // of the following times, the reader's time base
    int64_t first, end; // of the pictures
    int64_t skipped;    // by --seek
    int64_t clock;      // start of the input's clock, which becomes 0
    int n;              // pictures so far
    uint8_t *data;      // the packet's bytes
    size_t capacity;
    const char *path; // the caller's
};

static int is_mp4(const MotusMux *mux) {
    return mux->settings.format == MOTUS_FORMAT_MP4 || mux->settings.format == MOTUS_FORMAT_MOV;
}

// Fills *error from the file if that has failed, else from libavformat's code.
static MotusStatus failed(MotusMux *mux, int code, MotusError *error) {
    char text[128], logged[120];
    MotusStatus status = mux->file ? motus_output_flush(mux->file, error) : MOTUS_OK;
    if (status) return status;
    av_strerror(code, text, sizeof text);
    motus_media_log_take(&mux->log, logged);
    return motus_fail(error, code == AVERROR(ENOMEM) ? MOTUS_ERR_MEMORY : MOTUS_ERR_IO,
                      "%s: libavformat cannot write it: %s%s", motus_shown(mux->path), text,
                      logged);
}

// ---- The file -----------------------------------------------------------------------------------

#if LIBAVFORMAT_VERSION_MAJOR >= 61
static int write_bytes(void *opaque, const uint8_t *data, int size) {
#else
static int write_bytes(void *opaque, uint8_t *data, int size) {
#endif
    MotusMux *mux = opaque;
    MotusStatus status = motus_output_write(mux->file, data, (size_t)size, NULL);
    if (!status) status = motus_output_flush(mux->file, NULL); // safe if the process is killed
    return status ? AVERROR(EIO) : size;
}

static int64_t seek_file(void *opaque, int64_t offset, int whence) {
    MotusMux *mux = opaque;
    if (!(whence & AVSEEK_SIZE)) return motus_output_seek(mux->file, offset, whence);
    int64_t at = motus_output_seek(mux->file, 0, SEEK_CUR),
            size = motus_output_seek(mux->file, 0, SEEK_END);
    motus_output_seek(mux->file, at, SEEK_SET);
    return size;
}

// Opens the file for libavformat, which reads it to move the index to the front.
static int open_again(AVFormatContext *context, AVIOContext **io, const char *url, int flags,
                      AVDictionary **options) {
    MotusMux *mux = context->opaque;
    char name[4096 + 8];
    (void)url;
    if (flags != AVIO_FLAG_READ) return AVERROR(EACCES);
    motus_output_flush(mux->file, NULL);
    snprintf(name, sizeof name, "file:%s", motus_output_temp_name(mux->file));
    return avio_open2(io, name, flags, NULL, options);
}

static int attach_file(MotusMux *mux) {
    uint8_t *buffer = av_malloc(IO_BUFFER);
    int seekable = motus_output_temp_name(mux->file) != NULL;
    mux->io = buffer ? avio_alloc_context(buffer, IO_BUFFER, 1, mux, NULL, write_bytes,
                                          seekable ? seek_file : NULL)
                     : NULL;
    if (!mux->io) {
        av_free(buffer);
        return AVERROR(ENOMEM);
    }
    mux->io->seekable = seekable ? AVIO_SEEKABLE_NORMAL : 0;
    mux->context->pb = mux->io;
    mux->context->opaque = mux;
    mux->context->io_open = open_again;
    mux->context->flags |= AVFMT_FLAG_CUSTOM_IO;
    return 0;
}

// ---- Opening ------------------------------------------------------------------------------------

// Describes the pictures to the container: size, sample aspect ratio, colours.
static void describe(AVCodecParameters *p, const MotusEncoderConfig *c) {
    p->codec_type = AVMEDIA_TYPE_VIDEO;
    p->codec_id = AV_CODEC_ID_H264;
    p->format = AV_PIX_FMT_YUV420P;
    p->width = c->width;
    p->height = c->height;
    if (c->colour.sar.num > 0)
        p->sample_aspect_ratio = (AVRational){c->colour.sar.num, c->colour.sar.den};
    p->color_primaries = (enum AVColorPrimaries)c->colour.primaries;
    p->color_trc = (enum AVColorTransferCharacteristic)c->colour.transfer;
    p->color_space = (enum AVColorSpace)c->colour.matrix;
    p->color_range = c->colour.full_range < 0 ? AVCOL_RANGE_UNSPECIFIED
                     : c->colour.full_range   ? AVCOL_RANGE_JPEG
                                              : AVCOL_RANGE_MPEG;
    // AVCHROMA_LOC_LEFT is 1, chroma_sample_loc_type 0.
    p->chroma_location = (enum AVChromaLocation)(c->colour.chroma_location + 1);
}

// Adds the video stream, with the parameter sets as avcC or (MPEG-TS) as a byte stream.
static int add_pictures(MotusMux *mux, const MotusEncoderConfig *config, const uint8_t *headers,
                        size_t size) {
    AVStream *stream = avformat_new_stream(mux->context, NULL);
    uint8_t *extra = av_mallocz(size + 16 + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!stream || !extra) {
        av_free(extra);
        return AVERROR(ENOMEM);
    }
    describe(stream->codecpar, config);
    stream->codecpar->extradata = extra; // owned by the stream
    if (mux->settings.format == MOTUS_FORMAT_TS) {
        memcpy(extra, headers, size);
        stream->codecpar->extradata_size = (int)size;
    } else {
        stream->codecpar->extradata_size = (int)motus_avcc_record(extra, size + 16, headers, size);
    }
    stream->time_base = mux->unit;
    stream->avg_frame_rate = stream->r_frame_rate = (AVRational){config->fps.num, config->fps.den};
    stream->sample_aspect_ratio = stream->codecpar->sample_aspect_ratio;
    return 0;
}

static int write_header(MotusMux *mux) {
    AVDictionary *options = NULL;
    // Start times have this unit; a multiple of the pictures' unit makes them exact.
    if (mux->unit.den > 0)
        av_dict_set_int(&options, "movie_timescale",
                        (int64_t)mux->unit.den * ((999 + mux->unit.den) / mux->unit.den), 0);
    if (is_mp4(mux) && mux->streams.names_tags)
        av_dict_set(&options, "movflags", "use_metadata_tags", 0);
    if (is_mp4(mux) && mux->settings.fragment) {
        // The index waits for the first fragment, whose start time it holds.
        av_dict_set(&options, "movflags", "+frag_keyframe+delay_moov+default_base_moof",
                    AV_DICT_APPEND);
        av_dict_set_int(&options, "frag_duration", FRAGMENT, 0);
        mux->context->flush_packets = 1;
    } else if (is_mp4(mux)) {
        av_dict_set(&options, "movflags", "+faststart", AV_DICT_APPEND);
    }
    int code = avformat_write_header(mux->context, &options);
    av_dict_free(&options);
    return code < 0 ? code : 0;
}

static int begin_file(MotusMux *mux, const MotusEncoderConfig *config, const uint8_t *headers,
                      size_t size, int with_streams) {
    static const char *const names[MOTUS_FORMATS] = {"h264", "mp4", "mov", "matroska", "mpegts"};
    avformat_free_context(mux->context);
    if (mux->io) av_freep(&mux->io->buffer);
    avio_context_free(&mux->io);
    int code =
        avformat_alloc_output_context2(&mux->context, NULL, names[mux->settings.format], NULL);
    if (code < 0) return code;
    mux->context->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL; // FLAC in MP4
    mux->context->flags |= AVFMT_FLAG_BITEXACT;                       // no random identifiers
    if ((code = add_pictures(mux, config, headers, size)) < 0) return code;
    if (with_streams && mux->settings.reader)
        code = motus_mux_streams_add(&mux->streams, mux->context, &mux->settings, mux->path);
    if (code < 0 || (code = attach_file(mux)) < 0) return code;
    return write_header(mux);
}

static const char *shown(const MotusMux *mux) {
    return strcmp(mux->path, "-") ? motus_shown(mux->path) : "standard output";
}

static void log_line(const MotusMux *mux, MotusLogLevel level, const char *text) {
    char line[300];
    snprintf(line, sizeof line, "%s: %s%s", shown(mux),
             level == MOTUS_LOG_WARNING ? "" : "note: ", text);
    if (mux->settings.log) mux->settings.log(mux->settings.opaque, level, line);
}

static void note_clock(const MotusMux *mux) {
    char line[160];
    snprintf(line, sizeof line, "times begin at 0, where the input's clock says %.3f s",
             (double)mux->clock * av_q2d(mux->unit));
    log_line(mux, MOTUS_LOG_NOTE, line);
}

// Makes the input's clock start at 0: a player would wait for a broadcast's clock. MPEG-TS keeps
// it.
static void set_clock(MotusMux *mux) {
    int64_t start = mux->settings.reader ? motus_media_clock_start(mux->settings.reader) : 0;
    if (mux->settings.format == MOTUS_FORMAT_TS || !start) return;
    mux->clock = av_rescale_q(start, AV_TIME_BASE_Q, mux->unit);
    if (mux->clock > MAX_CLOCK || mux->clock < -MAX_CLOCK) mux->clock = 0;
    if (mux->clock) note_clock(mux);
}

// Begins the file; without the other streams if libavformat refuses them only now.
static MotusStatus begin(MotusMux *mux, const MotusEncoderConfig *config, const uint8_t *headers,
                         size_t size, MotusError *error) {
    int code = begin_file(mux, config, headers, size, 1);
    if (code < 0 && code != AVERROR(ENOMEM) && mux->streams.copied &&
        !motus_output_flush(mux->file, NULL)) {
        char line[240], logged[120];
        motus_media_log_take(&mux->log, logged);
        snprintf(line, sizeof line,
                 "audio and subtitles are left out, the container refuses them as they are%s",
                 logged);
        log_line(mux, MOTUS_LOG_WARNING, line);
        mux->streams.copied = 0;
        motus_output_seek(mux->file, 0, SEEK_SET);
        code = begin_file(mux, config, headers, size, 0);
    }
    return code < 0 ? failed(mux, code, error) : MOTUS_OK;
}

MotusStatus motus_mux_open(MotusMux **out, const char *path, const MotusMuxSettings *settings,
                           const MotusEncoderConfig *config, const uint8_t *headers, size_t size,
                           MotusError *error) {
    MotusMux *mux = *out = motus_alloc(1, sizeof *mux);
    if (!mux) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    motus_media_log_begin(&mux->log); // for the message of an error
    mux->log.opening = 1;
    const MotusRational unit = settings->reader ? motus_reader_info(settings->reader)->time_base
                                                : (MotusRational){config->fps.den, config->fps.num};
    mux->path = path;
    mux->settings = *settings;
    mux->unit = (AVRational){unit.num, unit.den};
    set_clock(mux);
    int live = is_mp4(mux) && settings->fragment;
    MotusStatus status = live ? motus_output_open_live(&mux->file, path, error)
                              : motus_output_open(&mux->file, path, error);
    if (!status && !(mux->packet = av_packet_alloc())) status = failed(mux, AVERROR(ENOMEM), error);
    if (!status && is_mp4(mux) && !settings->fragment && !motus_output_temp_name(mux->file)) {
        mux->settings.fragment = 1;
        log_line(mux, MOTUS_LOG_NOTE, "is no file, so MP4 is written in fragments (--fragment)");
    }
    if (!status) status = begin(mux, config, headers, size, error);
    if (!status && settings->forced_rate && mux->streams.copied)
        log_line(mux, MOTUS_LOG_NOTE,
                 "--fps gives the pictures times of their own, audio and subtitles keep theirs");
    if (status) motus_mux_abandon(out);
    return status;
}

// ---- Pictures -----------------------------------------------------------------------------------

static int fill_packet(MotusMux *mux, const MotusPacket *picture) {
    size_t needed = picture->size / 3 * 4 + 8;
    if (needed > mux->capacity) {
        motus_free(mux->data);
        mux->capacity = 0;
        if (!(mux->data = motus_alloc(2, needed))) return AVERROR(ENOMEM);
        mux->capacity = 2 * needed;
    }
    AVPacket *p = mux->packet;
    p->data = mux->data;
    if (mux->settings.format == MOTUS_FORMAT_TS) {
        memcpy(mux->data, picture->data, picture->size);
        p->size = (int)picture->size;
    } else {
        p->size = (int)motus_avcc_lengths(mux->data, picture->data, picture->size);
    }
    p->flags = picture->is_idr ? AV_PKT_FLAG_KEY : 0;
    p->stream_index = 0;
    return 0;
}

// Converts a picture's time to the other streams' clock: pictures of a forced rate count from 0.
static int64_t stream_time(const MotusMux *mux, int64_t time) {
    return mux->settings.forced_rate ? time + mux->clock : time;
}

static int write_streams(MotusMux *mux, int64_t until) {
    if (!mux->settings.reader) return 0;
    return motus_mux_streams_write(
        &mux->streams, mux->skipped ? stream_time(mux, mux->first) : INT64_MIN,
        until == INT64_MAX ? until : stream_time(mux, until), mux->skipped + mux->clock);
}

// Notes the first picture's time. Players hide pictures before zero: the clock moves.
static void begin_times(MotusMux *mux, MotusTime time) {
    int64_t start = mux->settings.reader ? motus_reader_info(mux->settings.reader)->start : time.at;
    mux->first = time.at;
    mux->skipped = time.at - start;
    if (mux->settings.forced_rate || start >= mux->clock) return;
    mux->clock = start;
    note_clock(mux);
}

MotusStatus motus_mux_picture(MotusMux *mux, const MotusPacket *picture, MotusTime time,
                              MotusError *error) {
    int code = fill_packet(mux, picture);
    if (code < 0) return failed(mux, code, error);
    if (!mux->n++) begin_times(mux, time);
    if (mux->n == 1 || mux->end < time.at + time.duration) mux->end = time.at + time.duration;
    AVPacket *p = mux->packet;
    p->pts = time.at - mux->skipped - (mux->settings.forced_rate ? 0 : mux->clock);
    p->dts = p->pts - (picture->pts - picture->dts);
    p->duration = time.duration;
    av_packet_rescale_ts(p, mux->unit, mux->context->streams[0]->time_base);
    if (mux->streams.copied) { // packets up to the picture come first
        code = write_streams(mux, mux->end);
        if (code >= 0) code = av_interleaved_write_frame(mux->context, p);
    } else {
        code = av_write_frame(mux->context, p);
    }
    return code < 0 ? failed(mux, code, error) : MOTUS_OK;
}

int motus_mux_has_streams(const MotusReader *reader, int no_audio) {
    int video;
    const AVFormatContext *container = motus_media_container(reader, &video);
    for (int i = 0; container && i < (int)container->nb_streams; i++) {
        const int audio = container->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
        if (i != video && !(audio && no_audio)) return 1;
    }
    return 0;
}

void motus_mux_note_left_out(const MotusMuxSettings *settings, const char *path, const char *why) {
    motus_mux_streams_note_left_out(settings, path, why);
}

// ---- The end ------------------------------------------------------------------------------------

static int finish_streams(MotusMux *mux, int partly) {
    if (partly) motus_mux_streams_read_on(&mux->streams, stream_time(mux, mux->end));
    int code = write_streams(mux, partly ? mux->end : INT64_MAX);
    if (mux->streams.lost)
        log_line(mux, MOTUS_LOG_WARNING,
                 "some packets of audio or subtitles could not be written and are left out");
    return code;
}

MotusStatus motus_mux_commit(MotusMux **mux, int partly, MotusError *error) {
    MotusMux *m = *mux;
    int code = finish_streams(m, partly);
    if (code >= 0) code = av_write_trailer(m->context);
    if (code >= 0) avio_flush(m->io);
    if (code >= 0 && m->io->error < 0) code = m->io->error;
    MotusStatus status = code < 0 ? failed(m, code, error) : motus_output_commit(&m->file, error);
    motus_mux_abandon(mux);
    return status;
}

void motus_mux_abandon(MotusMux **mux) {
    if (!mux || !*mux) return;
    MotusMux *m = *mux;
    if (m->file && motus_output_stays(m->file))
        log_line(m, MOTUS_LOG_WARNING,
                 "what was written stays; it plays up to its last whole fragment");
    avformat_free_context(m->context);
    if (m->io) av_freep(&m->io->buffer);
    avio_context_free(&m->io);
    motus_output_abandon(&m->file);
    motus_mux_streams_free(&m->streams);
    av_packet_free(&m->packet);
    motus_free(m->data);
    motus_free(m);
    *mux = NULL;
}
