// Any file that libavformat and libavcodec read; pictures that are not 8-bit 4:2:0 are converted by libswscale.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/reader_ops.h"

#define IO_BUFFER 65536

typedef struct Media {
    AVIOContext *io; // over the reader's source; NULL where libavformat opens the files
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame; // the last decoded picture
    struct SwsContext *scaler;
    int scaler_format; // pixel format that it converts from
    int stream;
    int first_waits;    // `frame` is the first picture, decoded by open and not handed out yet
    MotusError failure; // of reading packets: reported when the pictures before have been handed out
} Media;

static MotusStatus av_fail(const MotusReader *reader, MotusError *error, int code, const char *what) {
    if (reader->source && reader->source->error)
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", reader->name, strerror(reader->source->error));
    char text[AV_ERROR_MAX_STRING_SIZE];
    av_strerror(code, text, sizeof text);
    MotusStatus status = code == AVERROR(ENOMEM)                              ? MOTUS_ERR_MEMORY
                         : code == AVERROR_EOF                                ? MOTUS_ERR_TRUNCATED
                         : code == AVERROR(ENOENT) || code == AVERROR(EACCES) ? MOTUS_ERR_IO
                         : code == AVERROR_DECODER_NOT_FOUND                  ? MOTUS_ERR_UNSUPPORTED
                                                                              : MOTUS_ERR_FORMAT;
    return motus_fail(error, status, "%s: %s: %s", reader->name, what, text);
}

static int source_read(void *opaque, uint8_t *data, int size) {
    MotusSource *source = opaque;
    size_t got = motus_source_read(source, data, (size_t)size);
    return got ? (int)got : source->error ? AVERROR(source->error) : AVERROR_EOF;
}

static int64_t source_seek(void *opaque, int64_t offset, int whence) {
    MotusSource *source = opaque;
    int64_t base = whence == SEEK_CUR ? motus_source_position(source) : whence == SEEK_END ? source->size : 0;
    if (whence & AVSEEK_SIZE) return source->size < 0 ? AVERROR(ENOSYS) : source->size;
    if (offset > INT64_MAX - base || !motus_source_seek(source, base + offset)) return AVERROR(EINVAL);
    return base + offset;
}

static void media_close(MotusReader *reader) {
    Media *m = reader->state;
    sws_freeContext(m->scaler);
    av_frame_free(&m->frame);
    av_packet_free(&m->packet);
    avcodec_free_context(&m->decoder);
    avformat_close_input(&m->format);
    if (m->io) av_freep(&m->io->buffer);
    avio_context_free(&m->io);
    motus_free(m);
    reader->state = NULL;
}

static int use_source(Media *m, MotusSource *source) {
    uint8_t *buffer = av_malloc(IO_BUFFER);
    m->io = buffer ? avio_alloc_context(buffer, IO_BUFFER, 0, source, source_read, NULL, source->seekable ? source_seek : NULL)
                   : NULL;
    if (!m->io) {
        av_free(buffer);
        return AVERROR(ENOMEM);
    }
    m->format->pb = m->io;
    return 0;
}

static int open_container(Media *m, MotusSource *source, const char *path) {
    if (!(m->format = avformat_alloc_context())) return AVERROR(ENOMEM);
    int code = source ? use_source(m, source) : 0;
    if (code < 0) return code;
    AVDictionary *options = NULL;
    av_dict_set(&options, "protocol_whitelist", "file", 0); // a playlist may name files, never the network
    code = avformat_open_input(&m->format, path, NULL, &options);
    av_dict_free(&options);
    return code < 0 ? code : avformat_find_stream_info(m->format, NULL);
}

static int open_decoder(Media *m, int threads) {
    const AVCodec *codec = NULL;
    m->stream = av_find_best_stream(m->format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (m->stream < 0) return m->stream;
    for (unsigned i = 0; i < m->format->nb_streams; i++)
        if ((int)i != m->stream) m->format->streams[i]->discard = AVDISCARD_ALL;
    m->decoder = avcodec_alloc_context3(codec);
    m->packet = av_packet_alloc();
    m->frame = av_frame_alloc();
    if (!m->decoder || !m->packet || !m->frame) return AVERROR(ENOMEM);
    int code = avcodec_parameters_to_context(m->decoder, m->format->streams[m->stream]->codecpar);
    if (code < 0) return code;
    m->decoder->thread_count = threads;
    m->decoder->max_pixels = (int64_t)MOTUS_MAX_SIZE * MOTUS_MAX_SIZE;
    return avcodec_open2(m->decoder, codec, NULL);
}

// Gives the decoder the next packet, or tells it that there are no more. A damaged input counts as ended, and leaves its reason in `failure`.
static int feed(const MotusReader *reader) {
    Media *m = reader->state;
    int code;
    do {
        av_packet_unref(m->packet);
        code = m->failure.status ? AVERROR_EOF : av_read_frame(m->format, m->packet);
    } while (!code && m->packet->stream_index != m->stream);
    if (code < 0 && code != AVERROR_EOF) av_fail(reader, &m->failure, code, "cannot be read to its end");
    // Damage in the middle is left to the decoder (captures of broadcasts begin with some); here the file ends inside the packet.
    if (!code && m->packet->flags & AV_PKT_FLAG_CORRUPT && m->format->pb && avio_feof(m->format->pb))
        code = motus_fail(&m->failure, MOTUS_ERR_TRUNCATED, "%s: ends inside a picture", reader->name);
    return avcodec_send_packet(m->decoder, code < 0 ? NULL : m->packet);
}

// Decodes the next picture into m->frame.
static MotusStatus decode(MotusReader *reader, MotusError *error) {
    Media *m = reader->state;
    if (m->first_waits) {
        m->first_waits = 0;
        return MOTUS_OK;
    }
    for (;;) {
        int code = avcodec_receive_frame(m->decoder, m->frame);
        if (code == AVERROR(EAGAIN) && !(code = feed(reader))) continue;
        if (!code) return MOTUS_OK;
        if (code != AVERROR_EOF) return av_fail(reader, error, code, "cannot be decoded");
        if (!m->failure.status) return MOTUS_END;
        return motus_fail(error, m->failure.status, "%s", m->failure.text);
    }
}

static int is_420(int format) { return format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P; }

static int is_rgb(int format) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL);
}

static int is_gray(int format) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && d->nb_components <= 2 && !is_rgb(format);
}

static int is_full_range(const AVFrame *frame) {
    return frame->color_range == AVCOL_RANGE_JPEG || frame->format == AV_PIX_FMT_YUVJ420P ||
           frame->format == AV_PIX_FMT_YUVJ422P || frame->format == AV_PIX_FMT_YUVJ440P || frame->format == AV_PIX_FMT_YUVJ444P;
}

// RGB becomes what players take untagged video of the size for: BT.709 for HD, else BT.601.
static enum AVColorSpace rgb_matrix(const AVFrame *frame) { return frame->height > 576 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M; }

// Samples keep their matrix and range; only RGB gets new ones.
static int make_scaler(Media *m) {
    const AVFrame *f = m->frame;
    if (m->scaler && m->scaler_format == f->format) return 0;
    sws_freeContext(m->scaler);
    m->scaler_format = f->format;
    m->scaler = sws_getContext(f->width, f->height, f->format, f->width, f->height, AV_PIX_FMT_YUV420P,
                               SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
    if (!m->scaler) return AVERROR(EINVAL);
    // libswscale knows no range of gray sources: equal ranges on both sides keep their samples too.
    int rgb = is_rgb(f->format), full = !rgb && !is_gray(f->format) && is_full_range(f);
    const int *matrix = sws_getCoefficients(rgb ? rgb_matrix(f) : f->colorspace);
    sws_setColorspaceDetails(m->scaler, matrix, full, matrix, full, 0, 1 << 16, 1 << 16);
    return 0;
}

// Brings m->frame's samples into `frame`.
static int convert(Media *m, const MotusFrame *frame) {
    const AVFrame *f = m->frame;
    if (is_420(f->format)) {
        for (int i = 0; i < 3; i++) {
            const MotusPlane *p = &frame->plane[i];
            av_image_copy_plane(p->data, (int)p->stride, f->data[i], f->linesize[i], p->width, p->height);
        }
        return 0;
    }
    int code = make_scaler(m);
    if (code < 0) return code;
    uint8_t *data[4] = {frame->plane[0].data, frame->plane[1].data, frame->plane[2].data, NULL};
    int stride[4] = {(int)frame->plane[0].stride, (int)frame->plane[1].stride, (int)frame->plane[2].stride, 0};
    code = sws_scale(m->scaler, (const uint8_t *const *)f->data, f->linesize, 0, f->height, data, stride);
    return code < 0 ? code : 0;
}

static MotusStatus media_next(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    Media *m = reader->state;
    const MotusSequenceInfo *info = &reader->info;
    MotusStatus status = decode(reader, error);
    if (status) return status;
    if (m->frame->width != info->width || m->frame->height != info->height)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: the size changes from %dx%d to %dx%d at frame %lld", reader->name,
                          info->width, info->height, m->frame->width, m->frame->height, (long long)reader->number);
    MotusFrame *f = NULL;
    status = motus_frame_alloc(&f, info->width, info->height);
    if (status) return motus_fail(error, status, "%s: out of memory", reader->name);
    int code = convert(m, f);
    if (code < 0) {
        motus_frame_unref(&f);
        return av_fail(reader, error, code, "cannot be converted to 8-bit 4:2:0");
    }
    f->number = reader->number++;
    *frame = f;
    return MOTUS_OK;
}

// Decodes without converting: exact for every container, where seeking is not.
static MotusStatus media_skip(MotusReader *reader, int64_t n, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (; n > 0 && !status; n--) {
        status = decode(reader, error);
        if (!status) reader->number++;
    }
    return status;
}

static int64_t expected_frames(const AVFormatContext *format, const AVStream *stream, MotusRational fps) {
    const AVRational period = {fps.den, fps.num};
    if (stream->nb_frames > 0) return stream->nb_frames;
    int64_t n = -1;
    if (stream->duration > 0)
        n = av_rescale_q(stream->duration, stream->time_base, period);
    else if (format->duration > 0)
        n = av_rescale_q(format->duration, AV_TIME_BASE_Q, period);
    return n > 0 ? n : -1;
}

static MotusColour colour_of(const AVFrame *f, AVRational sar) {
    MotusColour colour = MOTUS_COLOUR_UNKNOWN;
    if (sar.num > 0 && sar.den > 0) colour.sar = (MotusRational){sar.num, sar.den};
    if (is_full_range(f))
        colour.full_range = 1;
    else if (f->color_range == AVCOL_RANGE_MPEG)
        colour.full_range = 0;
    // libavutil numbers these as H.264 does; its chroma locations are one higher, 0 is unspecified.
    if (f->color_primaries) colour.primaries = (int)f->color_primaries;
    if (f->color_trc) colour.transfer = (int)f->color_trc;
    if (f->colorspace) colour.matrix = (int)f->colorspace;
    if (f->chroma_location) colour.chroma_location = (int)f->chroma_location - 1;
    if (is_rgb(f->format)) {
        colour.matrix = (int)rgb_matrix(f);
        colour.full_range = 0;
    }
    return colour;
}

static void describe(MotusReader *reader) {
    Media *m = reader->state;
    AVStream *stream = m->format->streams[m->stream];
    AVRational fps = av_guess_frame_rate(m->format, stream, NULL);
    AVRational sar = av_guess_sample_aspect_ratio(m->format, stream, m->frame);
    MotusSequenceInfo *info = &reader->info;
    info->width = m->frame->width;
    info->height = m->frame->height;
    info->fps = fps.num > 0 && fps.den > 0 ? (MotusRational){fps.num, fps.den} : (MotusRational){25, 1};
    info->frames = expected_frames(m->format, stream, info->fps);
    info->colour = colour_of(m->frame, sar);
    info->format = m->format->iformat->name;
}

// Decodes the first picture, which knows its size and colours better than any header.
static MotusStatus prime(MotusReader *reader, MotusError *error) {
    Media *m = reader->state;
    MotusStatus status = decode(reader, error);
    if (status == MOTUS_END) return motus_fail(error, MOTUS_ERR_FORMAT, "%s: has no pictures", reader->name);
    if (status) return status;
    if (m->frame->width > MOTUS_MAX_SIZE || m->frame->height > MOTUS_MAX_SIZE)
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: size %dx%d is out of the range 1x1 to %dx%d", reader->name,
                          m->frame->width, m->frame->height, MOTUS_MAX_SIZE, MOTUS_MAX_SIZE);
    m->first_waits = 1;
    describe(reader);
    return MOTUS_OK;
}

MotusStatus motus_media_open(MotusReader *reader, const char *path, int threads, MotusError *error) {
    static const MotusReaderOps ops = {media_next, media_skip, media_close};
    av_log_set_level(AV_LOG_QUIET); // what libav* has to say comes in MotusError
    Media *m = motus_alloc(1, sizeof *m);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", reader->name);
    reader->state = m;
    reader->ops = &ops;
    int code = open_container(m, reader->source, path);
    if (code < 0) return av_fail(reader, error, code, "libavformat cannot open it");
    code = open_decoder(m, threads);
    if (code < 0) return av_fail(reader, error, code, "libavcodec cannot decode it");
    return prime(reader, error);
}
