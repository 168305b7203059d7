// Reads the vectors and pictures of an H.264 stream: of I and P pictures by our own reader, else as
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
#include "tools/cli/signals.h"
#include "tools/h264/h264.h"
#include "tools/view/view.h"

struct MotusViewStream {
    const char *path;
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVBSFContext *filter; // from packets of .mp4 and its like to a byte stream
    AVPacket *packet;
    AVFrame *frame, *before; // the last picture, and the one shown before it
    int index;               // of the video stream
    int decoded;             // pictures
    uint8_t *bytes;          // the byte stream so far, or all of it; NULL: given up
    size_t n_bytes, capacity;
    int all;                 // all pictures will be read
    MotusH264Reader *parser; // reader of all bytes, NULL if it does not read them
    int parsed;              // pictures
};

#define MAX_BYTES ((size_t)256 << 20) // of a byte stream that is kept for our own reader

static MotusStatus av_failure(const MotusViewStream *s, int code, MotusError *error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(code, text, sizeof text);
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: libavcodec: %s", motus_shown(s->path), text);
}

static void close_file(MotusViewStream *s) {
    av_bsf_free(&s->filter);
    avcodec_free_context(&s->decoder);
    avformat_close_input(&s->format);
}

static MotusStatus open_decoder(MotusViewStream *s, const AVCodecParameters *parameters,
                                MotusError *error) {
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    const AVBitStreamFilter *kind = av_bsf_get_by_name("h264_mp4toannexb");
    if (!codec)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: libavcodec has no H.264 decoder here",
                          motus_shown(s->path));
    s->decoder = avcodec_alloc_context3(codec);
    if (!s->decoder)
        return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(s->path));
    int code = kind ? av_bsf_alloc(kind, &s->filter) : AVERROR_BSF_NOT_FOUND;
    if (code >= 0) code = avcodec_parameters_copy(s->filter->par_in, parameters);
    if (code >= 0) code = av_bsf_init(s->filter);
    if (code >= 0) code = avcodec_parameters_to_context(s->decoder, s->filter->par_out);
    s->decoder->flags2 |= AV_CODEC_FLAG2_EXPORT_MVS;
    s->decoder->thread_count = 1;
    if (code >= 0) code = avcodec_open2(s->decoder, codec, NULL);
    return code < 0 ? av_failure(s, code, error) : MOTUS_OK;
}

// Opens the file from its beginning. MOTUS_END: there is no H.264 in it.
static MotusStatus open_file(MotusViewStream *s, MotusError *error) {
    close_file(s);
    int opened = avformat_open_input(&s->format, s->path, NULL, NULL);
    if (opened >= 0) opened = avformat_find_stream_info(s->format, NULL);
    if (opened >= 0)
        opened = s->index = av_find_best_stream(s->format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (opened < 0) return MOTUS_END;
    const AVCodecParameters *parameters = s->format->streams[s->index]->codecpar;
    if (parameters->codec_id != AV_CODEC_ID_H264) return MOTUS_END;
    return open_decoder(s, parameters, error);
}

static void keep_bytes(MotusViewStream *s, const AVPacket *packet) {
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
static int feed(MotusViewStream *s) {
    for (;;) {
        int code = av_read_frame(s->format, s->packet);
        if (code < 0) return avcodec_send_packet(s->decoder, NULL);
        int ours = s->packet->stream_index == s->index;
        if (ours) code = av_bsf_send_packet(s->filter, s->packet);
        if (ours && code >= 0) code = av_bsf_receive_packet(s->filter, s->packet);
        if (ours && code >= 0) {
            if (!s->all) keep_bytes(s, s->packet);
            code = avcodec_send_packet(s->decoder, s->packet);
        }
        av_packet_unref(s->packet);
        if (code == AVERROR(EAGAIN)) continue;                // the filter needs more
        if (ours && code != AVERROR_INVALIDDATA) return code; // damaged packets are skipped
    }
}

static MotusStatus next_picture(MotusViewStream *s, MotusError *error) {
    for (;;) {
        int code = avcodec_receive_frame(s->decoder, s->frame);
        if (code >= 0) return MOTUS_OK;
        if (code == AVERROR_EOF || motus_signal_caught()) return MOTUS_END;
        if (code == AVERROR(EAGAIN)) code = feed(s);
        if (code < 0 && code != AVERROR_EOF) return av_failure(s, code, error);
    }
}

static MotusStatus decode_up_to(MotusViewStream *s, int number, MotusError *error) {
    while (s->decoded <= number) {
        av_frame_unref(s->before);
        av_frame_move_ref(s->before, s->frame);
        MotusStatus status = next_picture(s, error);
        if (status == MOTUS_END)
            return motus_fail(error, MOTUS_END, "%s: has no picture %d: it has %d",
                              motus_shown(s->path), number, s->decoded);
        if (status) return status;
        s->decoded++;
    }
    return MOTUS_OK;
}

static MotusPlane luma_of(const AVFrame *frame) {
    return (MotusPlane){frame->data[0], frame->linesize[0], frame->width, frame->height};
}

static MotusStatus take_pictures(MotusView *view, const MotusViewStream *s, MotusError *error) {
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

// ---- Our own reader -----------------------------------------------------------------------------

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

// Reads all packets of the file, and opens our own reader of them.
static void open_parser(MotusViewStream *s) {
    int code = 0;
    while (code >= 0 && av_read_frame(s->format, s->packet) >= 0) {
        if (s->packet->stream_index == s->index) {
            code = av_bsf_send_packet(s->filter, s->packet);
            while (code >= 0 && av_bsf_receive_packet(s->filter, s->packet) >= 0) {
                keep_bytes(s, s->packet);
                av_packet_unref(s->packet);
            }
        }
        av_packet_unref(s->packet);
    }
    if (s->bytes) motus_h264_open(&s->parser, s->bytes, s->n_bytes, NULL);
}

// Parses up to picture `number`; 0: that failed.
static int parse_up_to(MotusViewStream *s, int number, MotusParsedPicture *picture) {
    MotusStatus status = s->parser ? MOTUS_OK : MOTUS_END;
    for (; s->parsed <= number && !status; s->parsed++)
        status = motus_h264_next(s->parser, picture);
    return !status;
}

// Replaces the blocks by those of our own reader, down to 4x4; leaves them if it fails, or if
// pictures may be reordered: the reader counts in the order of the stream.
static MotusStatus read_parser(MotusViewStream *s, MotusView *view, MotusError *error) {
    MotusParsedPicture picture = {0};
    MotusStatus status = MOTUS_OK;
    if (s->decoder->has_b_frames) return MOTUS_OK;
    if (!s->parser && !s->all && s->bytes) motus_h264_open(&s->parser, s->bytes, s->n_bytes, NULL);
    if (!parse_up_to(s, view->frame, &picture)) {
        motus_h264_close(&s->parser);
        return MOTUS_OK;
    }
    if (view->width > 16 * picture.mb_width || view->height > 16 * picture.mb_height)
        return MOTUS_OK;
    view->n = 0, view->has_list1 = 0;
    for (int i = 0; i < picture.mb_width * picture.mb_height && !status; i++)
        status = add_mb(view, &picture.mb[i], 16 * (i % picture.mb_width),
                        16 * (i / picture.mb_width), error);
    return status;
}

// ---- All streams --------------------------------------------------------------------------------

MotusStatus motus_view_stream_open(MotusViewStream **stream, const char *path, int all,
                                   MotusError *error) {
    MotusViewStream *s = *stream = motus_alloc(1, sizeof *s);
    if (!s) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    s->path = path;
    s->all = all;
    av_log_set_level(AV_LOG_QUIET);
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    s->before = av_frame_alloc();
    if (!s->packet || !s->frame || !s->before) {
        motus_view_stream_close(stream);
        return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    }
    MotusStatus status = open_file(s, error);
    if (!status && all) {
        open_parser(s);
        status = open_file(s, error);
    }
    if (status) motus_view_stream_close(stream);
    return status;
}

// Adds the vectors that libavcodec exports.
static MotusStatus add_exported(MotusViewStream *s, MotusView *view, MotusError *error) {
    const AVFrameSideData *side = av_frame_get_side_data(s->frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVMotionVector *v = side ? (const AVMotionVector *)side->data : NULL;
    MotusStatus status = MOTUS_OK;
    for (size_t i = 0; side && !status && i < side->size / sizeof *v; i++) {
        if (!v[i].source || !v[i].motion_scale) continue;
        const MotusViewBlock block = {.x = v[i].dst_x - v[i].w / 2, // of the centre
                                      .y = v[i].dst_y - v[i].h / 2,
                                      .width = v[i].w,
                                      .height = v[i].h,
                                      .list = v[i].source > 0,
                                      .block = MOTUS_VIEW_CODED,
                                      .mv = {(int16_t)(v[i].motion_x * 4 / v[i].motion_scale),
                                             (int16_t)(v[i].motion_y * 4 / v[i].motion_scale)}};
        if (block.x >= 0 && block.y >= 0) status = motus_view_add(view, &block, error);
    }
    return status;
}

MotusStatus motus_view_stream_read(MotusViewStream *s, int n, MotusView *view, MotusError *error) {
    MotusStatus status = decode_up_to(s, n, error);
    if (!status) status = take_pictures(view, s, error);
    if (!status) status = add_exported(s, view, error);
    if (!status && !s->frame->decode_error_flags) status = read_parser(s, view, error);
    view->is_stream = view->coded = status == MOTUS_OK;
    view->damaged = status == MOTUS_OK && s->frame->decode_error_flags;
    return status;
}

MotusRational motus_view_stream_rate(const MotusViewStream *s) {
    AVRational rate = av_guess_frame_rate(s->format, s->format->streams[s->index], NULL);
    return rate.num > 0 && rate.den > 0 ? (MotusRational){rate.num, rate.den}
                                        : (MotusRational){25, 1};
}

void motus_view_stream_close(MotusViewStream **stream) {
    if (!*stream) return;
    MotusViewStream *s = *stream;
    motus_h264_close(&s->parser);
    close_file(s);
    av_frame_free(&s->frame);
    av_frame_free(&s->before);
    av_packet_free(&s->packet);
    motus_free(s->bytes);
    motus_free(s);
    *stream = NULL;
}
