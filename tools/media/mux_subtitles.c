// SPDX-License-Identifier: BSD-2-Clause
#include "tools/media/mux_streams.h"

#include <libavcodec/avcodec.h>
#include <string.h>

#include "common/alloc.h"

enum { MOST = 65536 }; // bytes of a subtitle

struct MotusSubtitles {
    AVCodecContext *decoder, *encoder;
    uint8_t *text; // MOST bytes
};

static int open_decoder(MotusSubtitles *s, const AVStream *from) {
    const AVCodec *codec = avcodec_find_decoder(from->codecpar->codec_id);
    if (!codec || !(s->decoder = avcodec_alloc_context3(codec))) return 0;
    s->decoder->pkt_timebase = from->time_base;
    return avcodec_parameters_to_context(s->decoder, from->codecpar) >= 0 &&
           avcodec_open2(s->decoder, codec, NULL) >= 0;
}

// Opens the encoder, which takes the header that the decoder made of the stream's styles.
static int open_encoder(MotusSubtitles *s, enum AVCodecID id) {
    const AVCodec *codec = avcodec_find_encoder(id);
    const size_t size = (size_t)s->decoder->subtitle_header_size;
    if (!codec || !size || !(s->encoder = avcodec_alloc_context3(codec))) return 0;
    if (!(s->encoder->subtitle_header = av_mallocz(size + 1))) return 0;
    memcpy(s->encoder->subtitle_header, s->decoder->subtitle_header, size);
    s->encoder->subtitle_header_size = (int)size;
    s->encoder->time_base = (AVRational){1, 1000};
    return avcodec_open2(s->encoder, codec, NULL) >= 0;
}

MotusSubtitles *motus_subtitles_open(const AVStream *from, MotusFormat format) {
    const AVCodecDescriptor *known = avcodec_descriptor_get(from->codecpar->codec_id);
    const enum AVCodecID id = format == MOTUS_FORMAT_MP4 || format == MOTUS_FORMAT_MOV
                                  ? AV_CODEC_ID_MOV_TEXT
                              : format == MOTUS_FORMAT_MKV ? AV_CODEC_ID_SUBRIP
                                                           : AV_CODEC_ID_NONE;
    if (from->codecpar->codec_type != AVMEDIA_TYPE_SUBTITLE || id == AV_CODEC_ID_NONE || !known ||
        !(known->props & AV_CODEC_PROP_TEXT_SUB))
        return NULL;
    MotusSubtitles *s = motus_alloc(1, sizeof *s);
    if (s && ((s->text = motus_alloc(1, MOST)) == NULL || !open_decoder(s, from) ||
              !open_encoder(s, id)))
        motus_subtitles_close(&s);
    return s;
}

int motus_subtitles_describe(const MotusSubtitles *s, AVCodecParameters *to) {
    const int code = avcodec_parameters_from_context(to, s->encoder);
    to->codec_tag = 0;
    return code;
}

int motus_subtitles_lose_styles(const MotusSubtitles *s) {
    return s->decoder->codec_id == AV_CODEC_ID_ASS || s->decoder->codec_id == AV_CODEC_ID_SSA;
}

// Replaces the packet's data; its times stay.
static int replace(AVPacket *packet, const uint8_t *data, int size) {
    AVPacket *made = av_packet_alloc();
    const int code = made ? av_new_packet(made, size) : AVERROR(ENOMEM);
    if (!code) {
        memcpy(made->data, data, (size_t)size);
        made->pts = packet->pts, made->dts = packet->dts, made->duration = packet->duration;
        made->stream_index = packet->stream_index;
        made->flags = AV_PKT_FLAG_KEY;
        av_packet_unref(packet);
        av_packet_move_ref(packet, made);
    }
    av_packet_free(&made);
    return code;
}

int motus_subtitles_convert(MotusSubtitles *s, AVPacket *packet) {
    AVSubtitle subtitle;
    int got = 0, code = avcodec_decode_subtitle2(s->decoder, &subtitle, &got, packet);
    if (code < 0 || !got) return code < 0 ? code : 0;
    if (subtitle.num_rects) code = avcodec_encode_subtitle(s->encoder, s->text, MOST, &subtitle);
    const int empty = !subtitle.num_rects || !code;
    avsubtitle_free(&subtitle);
    if (empty || code < 0) return empty ? 0 : code;
    code = replace(packet, s->text, code);
    return code ? code : 1;
}

void motus_subtitles_close(MotusSubtitles **subtitles) {
    MotusSubtitles *s = *subtitles;
    if (!s) return;
    avcodec_free_context(&s->decoder);
    avcodec_free_context(&s->encoder);
    motus_free(s->text);
    motus_free(s);
    *subtitles = NULL;
}
