// The vectors of an H.264 picture as libavcodec exports them, or as our own reader finds them, and
// the pictures.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/motion_vector.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/signals.h"
#include "tools/view/view.h"

typedef struct Stream {
    const char *path;
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVBSFContext *filter; // makes a byte stream of the packets of .mp4 and its like
    AVPacket *packet;
    AVFrame *frame, *before; // the last picture, and the one shown before it
    int index;               // of the video stream
    uint8_t *bytes;          // the byte stream so far, n_bytes of it; NULL: given up
    size_t n_bytes, room;
} Stream;

#define MAX_BYTES ((size_t)256 << 20) // of a byte stream that is kept for our own reader

static MotusStatus av_failure(const Stream *s, int code, MotusError *error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(code, text, sizeof text);
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: libavcodec: %s", motus_shown(s->path), text);
}

// MOTUS_END: no H.264 in it.
static MotusStatus open_stream(Stream *s, MotusError *error) {
    int opened = avformat_open_input(&s->format, s->path, NULL, NULL);
    if (opened >= 0) opened = avformat_find_stream_info(s->format, NULL);
    if (opened >= 0)
        opened = s->index = av_find_best_stream(s->format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (opened < 0) return MOTUS_END;
    const AVCodecParameters *parameters = s->format->streams[s->index]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    if (parameters->codec_id != AV_CODEC_ID_H264) return MOTUS_END;
    if (!codec)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: libavcodec has no H.264 decoder here",
                          motus_shown(s->path));
    s->decoder = avcodec_alloc_context3(codec);
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    s->before = av_frame_alloc();
    if (!s->decoder || !s->packet || !s->frame || !s->before)
        return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(s->path));
    const AVBitStreamFilter *kind = av_bsf_get_by_name("h264_mp4toannexb");
    int code = kind ? av_bsf_alloc(kind, &s->filter) : AVERROR_BSF_NOT_FOUND;
    if (code >= 0) code = avcodec_parameters_copy(s->filter->par_in, parameters);
    if (code >= 0) code = av_bsf_init(s->filter);
    if (code >= 0) code = avcodec_parameters_to_context(s->decoder, s->filter->par_out);
    s->decoder->flags2 |= AV_CODEC_FLAG2_EXPORT_MVS;
    s->decoder->thread_count = 1;
    if (code >= 0) code = avcodec_open2(s->decoder, codec, NULL);
    return code < 0 ? av_failure(s, code, error) : MOTUS_OK;
}

static void close_stream(Stream *s) {
    av_frame_free(&s->frame);
    av_frame_free(&s->before);
    av_packet_free(&s->packet);
    av_bsf_free(&s->filter);
    motus_free(s->bytes);
    avcodec_free_context(&s->decoder);
    avformat_close_input(&s->format);
}

static void keep_bytes(Stream *s, const AVPacket *packet) {
    size_t size = (size_t)packet->size, wanted = s->n_bytes + size;
    if (wanted > s->room && (s->bytes || !s->room)) {
        uint8_t *more = wanted <= MAX_BYTES ? motus_alloc(2 * wanted, 1) : NULL;
        if (more && s->bytes) memcpy(more, s->bytes, s->n_bytes);
        motus_free(s->bytes);
        s->bytes = more;
        s->room = 2 * wanted;
    }
    if (!s->bytes) return;
    memcpy(s->bytes + s->n_bytes, packet->data, size);
    s->n_bytes = wanted;
}

// Gives the decoder its next packet, or the end. 0 or AVERROR.
static int feed(Stream *s) {
    for (;;) {
        int code = av_read_frame(s->format, s->packet);
        if (code < 0) return avcodec_send_packet(s->decoder, NULL);
        int ours = s->packet->stream_index == s->index;
        if (ours) code = av_bsf_send_packet(s->filter, s->packet);
        if (ours && code >= 0) code = av_bsf_receive_packet(s->filter, s->packet);
        if (ours && code >= 0) {
            keep_bytes(s, s->packet);
            code = avcodec_send_packet(s->decoder, s->packet);
        }
        av_packet_unref(s->packet);
        if (code == AVERROR(EAGAIN)) continue;                // the filter wants more
        if (ours && code != AVERROR_INVALIDDATA) return code; // a damaged packet is passed over
    }
}

static MotusStatus next_picture(Stream *s, MotusError *error) {
    for (;;) {
        int code = avcodec_receive_frame(s->decoder, s->frame);
        if (code >= 0) return MOTUS_OK;
        if (code == AVERROR_EOF || motus_signal_caught()) return MOTUS_END;
        if (code == AVERROR(EAGAIN)) code = feed(s);
        if (code < 0 && code != AVERROR_EOF) return av_failure(s, code, error);
    }
}

static MotusStatus decode_up_to(Stream *s, int number, MotusError *error) {
    for (int n = 0;; n++) {
        MotusStatus status = next_picture(s, error);
        if (status == MOTUS_END)
            return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: has no picture %d: it has %d",
                              motus_shown(s->path), number, n);
        if (status || n == number) return status;
        av_frame_unref(s->before);
        av_frame_move_ref(s->before, s->frame);
    }
}

static MotusPlane luma_of(const AVFrame *frame) {
    return (MotusPlane){frame->data[0], frame->linesize[0], frame->width, frame->height};
}

static MotusStatus take_pictures(MotusView *view, const Stream *s, MotusError *error) {
    const AVPixFmtDescriptor *kind = av_pix_fmt_desc_get((enum AVPixelFormat)s->frame->format);
    if (!kind || kind->comp[0].depth != 8 || kind->comp[0].step != 1 ||
        (kind->flags & AV_PIX_FMT_FLAG_RGB))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: only 8-bit pictures can be shown",
                          motus_shown(s->path));
    MotusPlane picture = luma_of(s->frame), before = luma_of(s->before);
    int same = s->before->format == s->frame->format && before.width == picture.width &&
               before.height == picture.height;
    return motus_view_pictures(view, &picture, same ? &before : NULL, error);
}

MotusStatus motus_view_stream(MotusView *view, const char *path, MotusError *error) {
    Stream s = {.path = path};
    int level = av_log_get_level();
    av_log_set_level(AV_LOG_QUIET); // a damaged picture is told in one line
    MotusStatus status = open_stream(&s, error);
    if (!status) status = decode_up_to(&s, view->frame, error);
    if (!status) status = take_pictures(view, &s, error);
    const AVFrameSideData *side =
        status ? NULL : av_frame_get_side_data(s.frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVMotionVector *v = side ? (const AVMotionVector *)side->data : NULL;
    for (size_t i = 0; side && !status && i < side->size / sizeof *v; i++) {
        if (v[i].source >= 0 || !v[i].motion_scale) {
            view->left_out++;
            continue;
        }
        const MotusViewBlock block = {.x = v[i].dst_x - v[i].w / 2, // it exports centres
                                      .y = v[i].dst_y - v[i].h / 2,
                                      .width = v[i].w,
                                      .height = v[i].h,
                                      .block = MOTUS_VIEW_CODED,
                                      .mv = {(int16_t)(v[i].motion_x * 4 / v[i].motion_scale),
                                             (int16_t)(v[i].motion_y * 4 / v[i].motion_scale)}};
        if (block.x >= 0 && block.y >= 0) status = motus_view_add(view, &block, error);
    }
    if (!status && s.bytes && !s.frame->decode_error_flags)
        status = motus_view_baseline(view, s.bytes, s.n_bytes, error);
    view->is_stream = status == MOTUS_OK;
    view->damaged = status == MOTUS_OK && s.frame->decode_error_flags;
    close_stream(&s);
    av_log_set_level(level);
    return status;
}
