// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/run.h"

#include <libavcodec/avcodec.h>
#include <libavutil/motion_vector.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"

struct MotusStreamDecoder {
    AVCodecContext *context;
    AVFrame *frame;
    AVPacket *packet;
    MotusExportedMv *mv;
    size_t capacity;
};

MotusStatus motus_stream_decoder_open(MotusStreamDecoder **decoder, MotusError *error) {
    const AVCodec *codec = avcodec_find_decoder_by_name("h264");
    *decoder = NULL;
    if (!codec)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "libavcodec has no H.264 decoder here");
    MotusStreamDecoder *d = *decoder = motus_alloc(1, sizeof *d);
    if (d) {
        d->context = avcodec_alloc_context3(codec);
        d->frame = av_frame_alloc();
        d->packet = av_packet_alloc();
    }
    if (!d || !d->context || !d->frame || !d->packet) {
        motus_stream_decoder_close(decoder);
        return motus_fail(error, MOTUS_ERR_MEMORY, "libavcodec: out of memory");
    }
    d->context->thread_count = 1;
    d->context->err_recognition =
        AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE | AV_EF_CAREFUL;
    d->context->flags |= AV_CODEC_FLAG_LOW_DELAY; // coding order is output order
    d->context->flags2 |= AV_CODEC_FLAG2_EXPORT_MVS;
    d->context->apply_cropping = 0; // prediction refers to whole MBs
    if (avcodec_open2(d->context, codec, NULL) < 0) {
        motus_stream_decoder_close(decoder);
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "libavcodec: the H.264 decoder cannot be opened");
    }
    return MOTUS_OK;
}

void motus_stream_decoder_close(MotusStreamDecoder **decoder) {
    if (!decoder || !*decoder) return;
    av_packet_free(&(*decoder)->packet);
    av_frame_free(&(*decoder)->frame);
    avcodec_free_context(&(*decoder)->context);
    motus_free((*decoder)->mv);
    motus_free(*decoder);
    *decoder = NULL;
}

static MotusStatus take_mvs(MotusStreamDecoder *d, MotusDecoded *picture) {
    const AVFrameSideData *side = av_frame_get_side_data(d->frame, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t n = side ? side->size / sizeof(AVMotionVector) : 0;
    if (n > d->capacity) {
        motus_free(d->mv);
        d->capacity = 0;
        d->mv = motus_alloc(n, sizeof *d->mv);
        if (!d->mv) return MOTUS_ERR_MEMORY;
        d->capacity = n;
    }
    for (size_t i = 0; i < n; i++) {
        const AVMotionVector *v = (const AVMotionVector *)side->data + i;
        if (v->motion_scale != 4) return MOTUS_ERR_UNSUPPORTED;
        d->mv[i] = (MotusExportedMv){v->dst_x - v->w / 2,
                                     v->dst_y - v->h / 2,
                                     v->w,
                                     v->h,
                                     {(int16_t)v->motion_x, (int16_t)v->motion_y}};
    }
    picture->mv = d->mv;
    picture->n_mv = n;
    return MOTUS_OK;
}

// Sets the planes and the size of the visible part, which is their top left.
static MotusStatus take_planes(const AVFrame *f, MotusDecoded *picture) {
    if ((f->format != AV_PIX_FMT_YUV420P && f->format != AV_PIX_FMT_YUVJ420P) || f->crop_left ||
        f->crop_top)
        return MOTUS_ERR_UNSUPPORTED;
    for (int c = 0; c < 3; c++)
        picture->plane[c] = (MotusPlane){f->data[c], f->linesize[c], c ? f->width / 2 : f->width,
                                         c ? f->height / 2 : f->height};
    picture->width = f->width - (int)f->crop_right;
    picture->height = f->height - (int)f->crop_bottom;
    return MOTUS_OK;
}

MotusStatus motus_stream_decoder_next(MotusStreamDecoder *d, const uint8_t *data, size_t size,
                                      MotusDecoded *picture, MotusError *error) {
    av_packet_unref(d->packet);
    av_frame_unref(d->frame);
    if (av_new_packet(d->packet, (int)size) < 0)
        return motus_fail(error, MOTUS_ERR_MEMORY, "libavcodec: out of memory");
    memcpy(d->packet->data, data, size);
    int rc = avcodec_send_packet(d->context, d->packet);
    if (rc >= 0) rc = avcodec_receive_frame(d->context, d->frame);
    if (rc < 0)
        return motus_fail(error, MOTUS_ERR_FORMAT, "libavcodec: %s",
                          rc == AVERROR(EAGAIN)
                              ? "a picture is shown later: by block only streams without B "
                                "pictures are compared"
                              : av_err2str(rc));
    if (d->frame->decode_error_flags || (d->frame->flags & AV_FRAME_FLAG_CORRUPT))
        return motus_fail(error, MOTUS_ERR_FORMAT, "libavcodec: the picture is damaged");
    MotusStatus status = take_planes(d->frame, picture);
    if (!status) status = take_mvs(d, picture);
    return status ? motus_fail(error, status, "libavcodec's picture: %s", motus_status_text(status))
                  : MOTUS_OK;
}

// ---- Comparison with the parser -----------------------------------------------------------------

// Indexes the exported MVs by the 8x8 block in which they begin.
static MotusStatus index_exported(const MotusParsedPicture *parsed, const MotusDecoded *decoded,
                                  const MotusExportedMv ***at) {
    const int columns = 2 * parsed->mb_width, rows = 2 * parsed->mb_height;
    *at = motus_alloc((size_t)columns * (size_t)rows, sizeof **at);
    if (!*at) return MOTUS_ERR_MEMORY;
    for (size_t i = 0; i < decoded->n_mv; i++) {
        const MotusExportedMv *v = decoded->mv + i;
        if (v->x < 0 || v->y < 0 || v->x >= 8 * columns || v->y >= 8 * rows) continue;
        (*at)[v->y / 8 * columns + v->x / 8] = v;
    }
    return MOTUS_OK;
}

static int is_same(const MotusExportedMv *v, const MotusPartition *p, int x, int y, MotusMv mv) {
    return v && v->x == x + 4 * p->x && v->y == y + 4 * p->y && v->width == 4 * p->width &&
           v->height == 4 * p->height && motus_mv_equal(v->mv, mv);
}

MotusStatus motus_extraction_add(MotusExtraction *e, const MotusParsedPicture *parsed,
                                 const MotusDecoded *decoded) {
    const MotusExportedMv **at = NULL;
    MotusStatus status = index_exported(parsed, decoded, &at);
    uint64_t expected = 0;
    for (int n = 0; !status && n < parsed->mb_width * parsed->mb_height; n++) {
        MotusPartition partitions[16];
        const MotusParsedMb *mb = parsed->mb + n;
        const int count = motus_parsed_partitions(mb, partitions);
        const int x = n % parsed->mb_width * 16, y = n / parsed->mb_width * 16;
        unsigned divided = 0; // quarters with smaller blocks: one MV of each is exported
        for (int i = 0; i < count; i++) {
            const MotusPartition *p = partitions + i;
            if (p->mode > MOTUS_MODE_8x8) {
                e->only_here++;
                divided |= 1u << (p->y / 2 * 2 + p->x / 2);
                continue;
            }
            const int block = (y / 8 + p->y / 2) * 2 * parsed->mb_width + x / 8 + p->x / 2;
            e->compared++;
            e->equal += (uint64_t)is_same(at[block], p, x, y, mb->mv[4 * p->y + p->x]);
            expected++;
        }
        for (; divided; divided &= divided - 1) expected++;
    }
    if (!status && decoded->n_mv > expected) e->unknown += decoded->n_mv - expected;
    motus_free(at);
    return status;
}
