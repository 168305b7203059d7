// Describes the sequence by its container and its first picture.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
#include <math.h>
#include <string.h>

#include "yuv/io/media_internal.h"

static int64_t expected_frames(const AVFormatContext *format, const AVStream *stream,
                               MotusRational fps) {
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
    if (motus_is_full_range(f))
        colour.full_range = 1;
    else if (f->color_range == AVCOL_RANGE_MPEG)
        colour.full_range = 0;
    // libavutil numbers these as H.264 does; its chroma locations are one higher, 0 is unspecified.
    if (f->color_primaries) colour.primaries = (int)f->color_primaries;
    if (f->color_trc) colour.transfer = (int)f->color_trc;
    if (f->colorspace) colour.matrix = (int)f->colorspace;
    if (f->chroma_location) colour.chroma_location = (int)f->chroma_location - 1;
    if (motus_is_rgb(f->format)) {
        colour.matrix = (int)motus_rgb_matrix(f);
        colour.full_range = 0;
    }
    return colour;
}

static const int32_t *stored_matrix(const MotusMedia *m) {
    const AVStream *stream = m->format->streams[m->stream];
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    const AVPacketSideData *side =
        av_packet_side_data_get(stream->codecpar->coded_side_data,
                                stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    if (side && side->size >= sizeof m->matrix) return (const int32_t *)side->data;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    if (data && size >= sizeof m->matrix) return (const int32_t *)data;
#endif
    const AVFrameSideData *coded =
        av_frame_get_side_data(m->frame, AV_FRAME_DATA_DISPLAYMATRIX); // from an SEI message
    return coded && coded->size >= sizeof m->matrix ? (const int32_t *)coded->data : NULL;
}

static void describe_rotation(MotusReader *reader) {
    MotusMedia *m = reader->state;
    const int32_t *matrix = stored_matrix(m);
    if (!matrix) return;
    memcpy(m->matrix, matrix, sizeof m->matrix);
    m->has_matrix = 1;
    double degrees = av_display_rotation_get(matrix); // counter-clockwise
    if (!isnan(degrees))
        reader->info.rotation = ((int)lround(-degrees / 90) * 90 % 360 + 360) % 360;
}

// True if 8-bit 4:2:0 holds less than the format: deeper samples, more chroma, RGB.
static int holds_more(const AVPixFmtDescriptor *d, enum AVPixelFormat format) {
    const int chroma = d->nb_components >= 3 && (!d->log2_chroma_w || !d->log2_chroma_h);
    return d->comp[0].depth > 8 || chroma || motus_is_rgb(format);
}

// Tells that a pixel format is converted.
static void note_format(const MotusReader *reader) {
    const MotusMedia *m = reader->state;
    enum AVPixelFormat format = m->frame->format;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    if (!d || format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P ||
        format == AV_PIX_FMT_NV12 || format == AV_PIX_FMT_NV21)
        return;
    const char *matrix = !motus_is_rgb(format) ? ""
                         : motus_rgb_matrix(m->frame) == AVCOL_SPC_BT709
                             ? ", BT.709, limited range"
                             : ", BT.601, limited range";
    (holds_more(d, format) ? motus_reader_loss : motus_reader_note)(
        reader, "its pictures (%s) are converted to 8-bit 4:2:0%s", d->name, matrix);
}

void motus_media_describe(MotusReader *reader) {
    MotusMedia *m = reader->state;
    AVStream *stream = m->format->streams[m->stream];
    AVRational sar = av_guess_sample_aspect_ratio(m->format, stream, m->frame);
    MotusSequenceInfo *info = &reader->info;
    info->width = m->frame->width;
    info->height = m->frame->height;
    info->frames = expected_frames(m->format, stream, info->fps);
    info->colour = colour_of(m->frame, sar);
    info->format = m->format->iformat->name;
    describe_rotation(reader);
    note_format(reader);
    const AVDictionaryEntry *alpha = av_dict_get(stream->metadata, "alpha_mode", NULL, 0);
    if (alpha && !strcmp(alpha->value, "1") &&
        !(av_pix_fmt_desc_get(m->frame->format)->flags & AV_PIX_FMT_FLAG_ALPHA))
        motus_reader_loss(reader,
                          "its transparency is left out, libavcodec does not decode it here");
    if (stream->disposition & AV_DISPOSITION_ATTACHED_PIC)
        motus_reader_note(reader, "its only video is a cover picture");
}
