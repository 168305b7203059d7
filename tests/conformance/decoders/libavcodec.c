// Decodes with libavcodec at its strictest error recognition. Concealment is on, since without it
// every picture of several slices counts as damaged, from any encoder; libavcodec reports and marks
// concealed parts.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/decoders.h"

#include <libavcodec/avcodec.h>
#include <stdio.h>
#include <string.h>

// The context of libavutil's log callback; decoding runs in the calling thread (thread_count 1).
static _Thread_local MotusDecodeReport *listener;

static void listen(void *context, int level, const char *format, va_list args) {
    (void)context;
    if (!listener || level > AV_LOG_WARNING) return;
    char text[sizeof listener->first];
    vsnprintf(text, sizeof text, format, args);
    if (strstr(text, "Possibly too many slices"))
        return; // counts slices modulo 32, which matters for several references only
    motus_decode_complain(listener, "%s", text);
}

static AVCodecContext *open_decoder(MotusDecodeReport *report) {
    const AVCodec *codec = avcodec_find_decoder_by_name("h264");
    AVCodecContext *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!decoder) {
        motus_decode_complain(report, "no h264 decoder");
        return NULL;
    }
    decoder->thread_count = 1;
    decoder->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE |
                               AV_EF_CAREFUL | AV_EF_COMPLIANT | AV_EF_AGGRESSIVE;
    decoder->strict_std_compliance = FF_COMPLIANCE_VERY_STRICT;
    decoder->error_concealment = FF_EC_GUESS_MVS;
    decoder->flags |= AV_CODEC_FLAG_UNALIGNED; // exact cropping
    if (avcodec_open2(decoder, codec, NULL) < 0) {
        motus_decode_complain(report, "avcodec_open2 failed");
        avcodec_free_context(&decoder);
    }
    return decoder;
}

static void hand_out(const AVFrame *frame, MotusDecodedPicture picture, void *context,
                     MotusDecodeReport *report) {
    if (frame->format != AV_PIX_FMT_YUV420P && frame->format != AV_PIX_FMT_YUVJ420P)
        motus_decode_complain(report, "pixel format %d", frame->format);
    if (frame->decode_error_flags || (frame->flags & AV_FRAME_FLAG_CORRUPT))
        motus_decode_complain(report, "picture %d is marked as corrupt", report->pictures);
    MotusPlane plane[3];
    for (int c = 0; c < 3; c++) {
        plane[c] = (MotusPlane){frame->data[c], frame->linesize[c], frame->width, frame->height};
        if (c) plane[c].width = (frame->width + 1) / 2, plane[c].height = (frame->height + 1) / 2;
    }
    picture(context, report->pictures++, plane);
}

// Feeds one packet (NULL flushes) and passes on the finished pictures.
static void feed(AVCodecContext *decoder, AVFrame *frame, const AVPacket *packet,
                 MotusDecodedPicture picture, void *context, MotusDecodeReport *report) {
    int rc = avcodec_send_packet(decoder, packet);
    if (rc < 0) motus_decode_complain(report, "avcodec_send_packet: %s", av_err2str(rc));
    while ((rc = avcodec_receive_frame(decoder, frame)) >= 0) {
        hand_out(frame, picture, context, report);
        av_frame_unref(frame);
    }
    if (rc != AVERROR(EAGAIN) && rc != AVERROR_EOF)
        motus_decode_complain(report, "avcodec_receive_frame: %s", av_err2str(rc));
}

void motus_decode_libavcodec(const uint8_t *data, size_t size, MotusDecodedPicture picture,
                             void *context, MotusDecodeReport *report) {
    memset(report, 0, sizeof *report);
    listener = report;
    av_log_set_callback(listen);
    AVCodecContext *decoder = open_decoder(report);
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    while (decoder && frame && packet && size) {
        const size_t unit = motus_access_unit(data, size);
        if (av_new_packet(packet, (int)unit) < 0) break; // with the padding that the decoder needs
        memcpy(packet->data, data, unit);
        feed(decoder, frame, packet, picture, context, report);
        av_packet_unref(packet);
        data += unit;
        size -= unit;
    }
    if (decoder && frame) feed(decoder, frame, NULL, picture, context, report);
    if (size) motus_decode_complain(report, "%zu bytes were not decoded", size);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&decoder);
    av_log_set_callback(av_log_default_callback);
    listener = NULL;
}

static void silence(void *context, int level, const char *format, va_list args) {
    (void)context, (void)level, (void)format, (void)args;
}

static void hand_out_joined(AVCodecContext *decoder, AVFrame *frame, const AVPacket *packet,
                            MotusDecodedPicture picture, void *context) {
    avcodec_send_packet(decoder, packet);
    while (avcodec_receive_frame(decoder, frame) >= 0) {
        MotusPlane plane[3];
        for (int c = 0; c < 3; c++)
            plane[c] = (MotusPlane){frame->data[c], frame->linesize[c], (frame->width + !!c) >> !!c,
                                    (frame->height + !!c) >> !!c};
        picture(context, (int)frame->pts, plane);
        av_frame_unref(frame);
    }
}

void motus_decode_joined(const uint8_t *data, size_t size, MotusDecodedPicture picture,
                         void *context) {
    AVCodecContext *decoder = avcodec_alloc_context3(avcodec_find_decoder_by_name("h264"));
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    av_log_set_callback(silence);
    decoder->thread_count = 1;
    decoder->flags |= AV_CODEC_FLAG_UNALIGNED;
    if (avcodec_open2(decoder, NULL, NULL) < 0) size = 0;
    for (int number = 0; size; number++) {
        const size_t unit = motus_access_unit(data, size);
        if (av_new_packet(packet, (int)unit) < 0) break;
        memcpy(packet->data, data, unit);
        packet->pts = number;
        hand_out_joined(decoder, frame, packet, picture, context);
        av_packet_unref(packet);
        data += unit, size -= unit;
    }
    hand_out_joined(decoder, frame, NULL, picture, context);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&decoder);
    av_log_set_callback(av_log_default_callback);
}
