// SPDX-License-Identifier: BSD-2-Clause
#include "tools/media/png.h"

#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/io/writer.h"
#ifdef MOTUS_HAVE_MEDIA
#include <libavcodec/avcodec.h>
#endif

MotusPlane motus_plane_alloc(int width, int height) {
    return (MotusPlane){motus_alloc((size_t)width, (size_t)height), width, width, height};
}

void motus_plane_free(MotusPlane *plane) {
    motus_free(plane->data);
    plane->data = NULL;
}

void motus_plane_paste(const MotusPlane *dst, const MotusPlane *src, int x, int y) {
    for (int r = 0; r < src->height; r++)
        memcpy(dst->data + (y + r) * dst->stride + x, src->data + r * src->stride,
               (size_t)src->width);
}

#ifndef MOTUS_HAVE_MEDIA
MotusStatus motus_png_write(const char *path, const MotusPlane *picture, int channels,
                            MotusError *error) {
    (void)picture, (void)channels;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      "%s: this build has no PNG encoder (libavcodec was not found)",
                      motus_shown(path));
}
#else
static MotusStatus encode(AVCodecContext *encoder, AVFrame *frame, AVPacket *packet,
                          const MotusPlane *picture, int channels) {
    encoder->width = frame->width = picture->width / channels;
    encoder->height = frame->height = picture->height;
    encoder->pix_fmt = channels == 3 ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_GRAY8;
    frame->format = encoder->pix_fmt;
    encoder->time_base = (AVRational){1, 1};
    if (av_frame_get_buffer(frame, 0)) return MOTUS_ERR_MEMORY;
    for (int y = 0; y < picture->height; y++)
        memcpy(frame->data[0] + y * frame->linesize[0], picture->data + y * picture->stride,
               (size_t)picture->width);
    encoder->compression_level = 9;
    if (avcodec_open2(encoder, encoder->codec, NULL) < 0 ||
        avcodec_send_frame(encoder, frame) < 0 || avcodec_send_frame(encoder, NULL) < 0 ||
        avcodec_receive_packet(encoder, packet) < 0)
        return MOTUS_ERR_UNSUPPORTED;
    return MOTUS_OK;
}

MotusStatus motus_png_write(const char *path, const MotusPlane *picture, int channels,
                            MotusError *error) {
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
    if (!codec)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: libavcodec has no PNG encoder here",
                          motus_shown(path));
    AVCodecContext *encoder = avcodec_alloc_context3(codec);
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    MotusStatus status = encoder && frame && packet
                             ? encode(encoder, frame, packet, picture, channels)
                             : MOTUS_ERR_MEMORY;
    if (status)
        motus_fail(error, status, "%s: PNG encoder: %s", motus_shown(path),
                   motus_status_text(status));
    MotusOutput *out = NULL;
    if (!status) status = motus_output_open(&out, path, error);
    if (!status) status = motus_output_write(out, packet->data, (size_t)packet->size, error);
    if (!status) status = motus_output_commit(&out, error);
    motus_output_abandon(&out);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&encoder);
    return status;
}
#endif
