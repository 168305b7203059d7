// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mux.h"

#include <libavformat/avformat.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/avcc.h"
#include "tools/options.h"

struct MotusMux {
    AVFormatContext *context;
    AVPacket *packet;
    MotusRational fps;
    uint8_t *data; // the packet's bytes
    size_t capacity;
    char *path, *part;
    int made; // the part exists
};

static MotusStatus failed(const MotusMux *mux, int code, MotusError *error) {
    char text[128];
    av_strerror(code, text, sizeof text);
    return motus_fail(error, code == AVERROR(ENOMEM) ? MOTUS_ERR_MEMORY : MOTUS_ERR_IO, "%s: %s", motus_shown(mux->path), text);
}

static MotusStatus take_names(MotusMux *mux, const char *path, MotusError *error) {
    size_t size = strlen(path) + 1;
    mux->path = motus_alloc(1, size);
    mux->part = motus_alloc(1, size + 5);
    if (!mux->path || !mux->part) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    memcpy(mux->path, path, size);
    snprintf(mux->part, size + 5, "%s.part", path);
    struct stat st;
    if (stat(path, &st)) return MOTUS_OK;
    if (!S_ISREG(st.st_mode)) return motus_fail(error, MOTUS_ERR_IO, "%s: is no regular file", motus_shown(path));
    return access(path, W_OK) ? failed(mux, AVERROR(errno), error) : MOTUS_OK;
}

// Tells the container what the parameter sets say as well: size, shape, colours.
static void describe(AVCodecParameters *p, const MotusEncoderConfig *c) {
    p->codec_type = AVMEDIA_TYPE_VIDEO;
    p->codec_id = AV_CODEC_ID_H264;
    p->format = AV_PIX_FMT_YUV420P;
    p->width = c->width;
    p->height = c->height;
    if (c->colour.sar.num > 0) p->sample_aspect_ratio = (AVRational){c->colour.sar.num, c->colour.sar.den};
    p->color_primaries = (enum AVColorPrimaries)c->colour.primaries;
    p->color_trc = (enum AVColorTransferCharacteristic)c->colour.transfer;
    p->color_space = (enum AVColorSpace)c->colour.matrix;
    p->color_range = c->colour.full_range < 0 ? AVCOL_RANGE_UNSPECIFIED
                     : c->colour.full_range   ? AVCOL_RANGE_JPEG
                                              : AVCOL_RANGE_MPEG;
    p->chroma_location =
        (enum AVChromaLocation)(c->colour.chroma_location + 1); // AVCHROMA_LOC_LEFT is 1, type 0 of table E-1 ff.
}

static MotusStatus add_stream(MotusMux *mux, const MotusEncoderConfig *config, const uint8_t *headers, size_t size,
                              MotusError *error) {
    AVStream *stream = avformat_new_stream(mux->context, NULL);
    uint8_t *extra = av_mallocz(size + 16 + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!stream || !extra) {
        av_free(extra);
        return failed(mux, AVERROR(ENOMEM), error);
    }
    describe(stream->codecpar, config);
    stream->codecpar->extradata = extra; // the stream's from here on
    stream->codecpar->extradata_size = (int)motus_avcc_record(extra, size + 16, headers, size);
    stream->time_base = (AVRational){config->fps.den, config->fps.num};
    stream->avg_frame_rate = stream->r_frame_rate = (AVRational){config->fps.num, config->fps.den};
    stream->sample_aspect_ratio = stream->codecpar->sample_aspect_ratio;
    return MOTUS_OK;
}

static const char *container(const char *path) {
    return motus_has_ending(path, ".mkv\0") ? "matroska" : motus_has_ending(path, ".mov\0") ? "mov" : "mp4";
}

static MotusStatus begin_file(MotusMux *mux, const MotusEncoderConfig *config, const uint8_t *headers, size_t size,
                              MotusError *error) {
    int code = avformat_alloc_output_context2(&mux->context, NULL, container(mux->path), NULL);
    if (code < 0) return failed(mux, code, error);
    mux->context->flags |= AVFMT_FLAG_BITEXACT; // no random identifiers: the same pictures give the same file
    MotusStatus status = add_stream(mux, config, headers, size, error);
    if (status) return status;
    if (!(mux->packet = av_packet_alloc())) return failed(mux, AVERROR(ENOMEM), error);
    if ((code = avio_open(&mux->context->pb, mux->part, AVIO_FLAG_WRITE)) < 0) return failed(mux, code, error);
    mux->made = 1;
    code = avformat_write_header(mux->context, NULL);
    return code < 0 ? failed(mux, code, error) : MOTUS_OK;
}

MotusStatus motus_mux_open(MotusMux **mux, const char *path, const MotusEncoderConfig *config, const uint8_t *headers,
                           size_t size, MotusError *error) {
    av_log_set_level(AV_LOG_QUIET); // what goes wrong comes back as a status
    if (!(*mux = motus_alloc(1, sizeof **mux)))
        return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    (*mux)->fps = config->fps;
    MotusStatus status = take_names(*mux, path, error);
    if (!status) status = begin_file(*mux, config, headers, size, error);
    if (status) motus_mux_abandon(mux);
    return status;
}

MotusStatus motus_mux_picture(MotusMux *mux, const MotusPicture *picture, MotusError *error) {
    size_t needed = picture->size / 3 * 4 + 8;
    if (needed > mux->capacity) {
        motus_free(mux->data);
        mux->capacity = 0;
        if (!(mux->data = motus_alloc(2, needed))) return failed(mux, AVERROR(ENOMEM), error);
        mux->capacity = 2 * needed;
    }
    AVPacket *p = mux->packet;
    p->data = mux->data;
    p->size = (int)motus_avcc_lengths(mux->data, picture->data, picture->size);
    p->pts = p->dts = picture->number;
    p->duration = 1;
    p->flags = picture->is_idr ? AV_PKT_FLAG_KEY : 0;
    av_packet_rescale_ts(p, (AVRational){mux->fps.den, mux->fps.num}, mux->context->streams[0]->time_base);
    int code = av_write_frame(mux->context, p);
    return code < 0 ? failed(mux, code, error) : MOTUS_OK;
}

MotusStatus motus_mux_commit(MotusMux **mux, MotusError *error) {
    MotusMux *m = *mux;
    int code = av_write_trailer(m->context);
    if (code >= 0 && m->context->pb->error < 0) code = m->context->pb->error;
    int closed = avio_closep(&m->context->pb);
    if (code >= 0) code = closed;
    if (code >= 0 && rename(m->part, m->path)) code = AVERROR(errno);
    m->made = code < 0;
    MotusStatus status = code < 0 ? failed(m, code, error) : MOTUS_OK;
    motus_mux_abandon(mux);
    return status;
}

void motus_mux_abandon(MotusMux **mux) {
    if (!mux || !*mux) return;
    MotusMux *m = *mux;
    if (m->context && m->context->pb) avio_closep(&m->context->pb);
    if (m->made) unlink(m->part);
    avformat_free_context(m->context);
    av_packet_free(&m->packet);
    motus_free(m->data);
    motus_free(m->path);
    motus_free(m->part);
    motus_free(m);
    *mux = NULL;
}
