// Reads the vectors and pictures of an H.264 stream: of Baseline by motus's own reader, else as
// libavcodec exports them.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/motion_vector.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/baseline/baseline.h"
#include "tools/cli/signals.h"
#include "tools/view/view.h"

typedef struct ViewStream {
    const char *path;
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVBSFContext *filter; // from packets of .mp4 and its like to a byte stream
    AVPacket *packet;
    AVFrame *frame, *before; // the last picture, and the one shown before it
    int index;               // of the video stream
    uint8_t *bytes;          // the byte stream so far; NULL: given up
    size_t n_bytes, capacity;
} ViewStream;

#define MAX_BYTES ((size_t)256 << 20) // of a byte stream that is kept for the Baseline reader

static MotusStatus av_failure(const ViewStream *s, int code, MotusError *error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(code, text, sizeof text);
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: libavcodec: %s", motus_shown(s->path), text);
}

// Opens the file. MOTUS_END: there is no H.264 in it.
static MotusStatus open_stream(ViewStream *s, MotusError *error) {
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

static void close_stream(ViewStream *s) {
    av_frame_free(&s->frame);
    av_frame_free(&s->before);
    av_packet_free(&s->packet);
    av_bsf_free(&s->filter);
    motus_free(s->bytes);
    avcodec_free_context(&s->decoder);
    avformat_close_input(&s->format);
}

static void keep_bytes(ViewStream *s, const AVPacket *packet) {
    size_t size = (size_t)packet->size, wanted = s->n_bytes + size;
    if (wanted > s->capacity && (s->bytes || !s->capacity)) {
        uint8_t *more = wanted <= MAX_BYTES ? motus_alloc(2 * wanted, 1) : NULL;
        if (more && s->bytes) memcpy(more, s->bytes, s->n_bytes);
        motus_free(s->bytes);
        s->bytes = more;
        s->capacity = 2 * wanted;
    }
    if (!s->bytes) return;
    memcpy(s->bytes + s->n_bytes, packet->data, size);
    s->n_bytes = wanted;
}

// Sends the decoder its next packet, or the end. Returns 0 or AVERROR.
static int feed(ViewStream *s) {
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
        if (code == AVERROR(EAGAIN)) continue;                // the filter needs more
        if (ours && code != AVERROR_INVALIDDATA) return code; // damaged packets are skipped
    }
}

static MotusStatus next_picture(ViewStream *s, MotusError *error) {
    for (;;) {
        int code = avcodec_receive_frame(s->decoder, s->frame);
        if (code >= 0) return MOTUS_OK;
        if (code == AVERROR_EOF || motus_signal_caught()) return MOTUS_END;
        if (code == AVERROR(EAGAIN)) code = feed(s);
        if (code < 0 && code != AVERROR_EOF) return av_failure(s, code, error);
    }
}

static MotusStatus decode_up_to(ViewStream *s, int number, MotusError *error) {
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

static MotusStatus take_pictures(MotusView *view, const ViewStream *s, MotusError *error) {
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

// ---- Baseline -----------------------------------------------------------------------------------

static MotusStatus add_mode(MotusView *view, const MotusParsedMb *mb, int mode, int quarter,
                            int left, int top, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int b = 0; b < MOTUS_BLOCKS && !status; b++) {
        const MotusBlock *k = &motus_blocks[b];
        if (k->mode != mode || (quarter >= 0 && k->y / 8 * 2 + k->x / 8 != quarter)) continue;
        const MotusViewBlock block = {.x = left + k->x,
                                      .y = top + k->y,
                                      .width = k->width,
                                      .height = k->height,
                                      .skip = mb->type == MOTUS_MB_P_SKIP,
                                      .block = MOTUS_VIEW_CODED,
                                      .mv = mb->mv[k->y / 4 * 4 + k->x / 4]};
        status = motus_view_add(view, &block, error);
    }
    return status;
}

static MotusStatus add_mb(MotusView *view, const MotusParsedMb *mb, int left, int top,
                          MotusError *error) {
    static const int modes[] = {MOTUS_MODE_16x16, MOTUS_MODE_16x16, MOTUS_MODE_16x8,
                                MOTUS_MODE_8x16}; // of P_SKIP .. P_8x16
    MotusStatus status = MOTUS_OK;
    if (mb->type < MOTUS_MB_P_8x8) return add_mode(view, mb, modes[mb->type], -1, left, top, error);
    for (int q = 0; q < 4 && !status && mb->type == MOTUS_MB_P_8x8; q++)
        status = add_mode(view, mb, MOTUS_MODE_8x8 + mb->sub_type[q], q, left, top, error);
    return status;
}

// Replaces the blocks by those of picture number view->frame of a byte stream, down to 4x4; leaves
// them if it is no Baseline stream.
static MotusStatus read_baseline(MotusView *view, const uint8_t *data, size_t size,
                                 MotusError *error) {
    MotusBaseline *stream = NULL;
    MotusParsedPicture picture = {0};
    MotusStatus status = motus_baseline_open(&stream, data, size, NULL);
    for (int n = 0; n <= view->frame && !status; n++)
        status = motus_baseline_next(stream, &picture);
    int fits =
        !status && view->width <= 16 * picture.mb_width && view->height <= 16 * picture.mb_height;
    status = MOTUS_OK;
    if (fits) view->n = 0, view->left_out = 0;
    for (int i = 0; fits && i < picture.mb_width * picture.mb_height && !status; i++)
        status = add_mb(view, &picture.mb[i], 16 * (i % picture.mb_width),
                        16 * (i / picture.mb_width), error);
    motus_baseline_close(&stream);
    return status;
}

// ---- All streams --------------------------------------------------------------------------------

MotusStatus motus_view_stream(MotusView *view, const char *path, MotusError *error) {
    ViewStream s = {.path = path};
    int level = av_log_get_level();
    av_log_set_level(AV_LOG_QUIET);
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
        const MotusViewBlock block = {.x = v[i].dst_x - v[i].w / 2, // of the centre
                                      .y = v[i].dst_y - v[i].h / 2,
                                      .width = v[i].w,
                                      .height = v[i].h,
                                      .block = MOTUS_VIEW_CODED,
                                      .mv = {(int16_t)(v[i].motion_x * 4 / v[i].motion_scale),
                                             (int16_t)(v[i].motion_y * 4 / v[i].motion_scale)}};
        if (block.x >= 0 && block.y >= 0) status = motus_view_add(view, &block, error);
    }
    if (!status && s.bytes && !s.frame->decode_error_flags)
        status = read_baseline(view, s.bytes, s.n_bytes, error);
    view->is_stream = status == MOTUS_OK;
    view->damaged = status == MOTUS_OK && s.frame->decode_error_flags;
    close_stream(&s);
    av_log_set_level(level);
    return status;
}
