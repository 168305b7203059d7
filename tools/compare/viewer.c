// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/run.h"

#include <libavcodec/avcodec.h>
#include <string.h>
#include <zlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"

// ---- Records ------------------------------------------------------------------------------------

static void put8(MotusBytes *b, unsigned v) { motus_bytes_add(b, &(uint8_t){(uint8_t)v}, 1); }

static void put16(MotusBytes *b, unsigned v) {
    v = v < 65535 ? v : 65535;
    motus_bytes_add(b, (const uint8_t[2]){(uint8_t)v, (uint8_t)(v >> 8)}, 2);
}

static void put_mv(MotusBytes *b, MotusMv mv) {
    put16(b, (uint16_t)mv.x);
    put16(b, (uint16_t)mv.y);
}

static void put_type(MotusBytes *b, int type, const uint8_t sub[4]) {
    put8(b, (unsigned)type);
    put8(b,
         type == MOTUS_MB_P_8x8 ? (unsigned)(sub[0] | sub[1] << 2 | sub[2] << 4 | sub[3] << 6) : 0);
}

static void put_bits(MotusBytes *b, const MotusParsedMb *mb) {
    put16(b, mb->bits_mode);
    put16(b, mb->bits_mv);
    put16(b, mb->bits_residual);
}

static void put_measures(MotusBytes *b, const MotusPair *p, int intra) {
    put16(b, intra ? 65535 : p->sad[MOTUS_X264]);
    put16(b, p->sad[MOTUS_OURS]);
    put16(b, intra ? 65535 : p->satd[MOTUS_X264]);
    put16(b, p->satd[MOTUS_OURS]);
}

void motus_viewer_mb(MotusBytes *b, const MotusParsedMb *x264, const MotusParsedMb *ours,
                     const MotusMbPairs *pairs) {
    put_type(b, x264->type, x264->sub_type);
    put_type(b, pairs->own_type, pairs->own_sub);
    put_type(b, ours->type, ours->sub_type);
    put_bits(b, x264);
    put_bits(b, ours);
    put_mv(b, pairs->predictor);
    for (int i = 0; i < pairs->n_x264; i++) {
        const MotusPair *p = &pairs->x264[i];
        put_mv(b, p->mv[MOTUS_X264]);
        put_mv(b, p->mv[MOTUS_OURS]);
        put_measures(b, p, 0);
        put8(b, (unsigned)p->bits[MOTUS_X264]);
        put8(b, (unsigned)p->bits[MOTUS_OURS]);
    }
    for (int i = 0; i < pairs->n_own; i++) {
        const MotusPair *p = &pairs->own[i];
        put_mv(b, p->mv[MOTUS_OURS]);
        put_measures(b, p, x264->type >= MOTUS_MB_I_4x4);
        put8(b, (unsigned)p->bits[MOTUS_OURS]);
    }
}

// ---- Text ---------------------------------------------------------------------------------------

static char *base64(const char *prefix, const uint8_t *data, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t length = strlen(prefix);
    char *text = motus_alloc(length + (n + 2) / 3 * 4 + 1, 1), *p = text;
    if (!text) return NULL;
    memcpy(p, prefix, length);
    p += length;
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t v = (uint32_t)data[i] << 16 | (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) |
                           (i + 2 < n ? data[i + 2] : 0u);
        *p++ = digits[v >> 18];
        *p++ = digits[v >> 12 & 63];
        *p++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *p++ = i + 2 < n ? digits[v & 63] : '=';
    }
    *p = 0;
    return text;
}

char *motus_viewer_pack(const MotusBytes *records) {
    uLongf n = compressBound((uLong)records->n);
    uint8_t *packed = records->failed ? NULL : motus_alloc(n, 1);
    char *text = NULL;
    if (packed && compress2(packed, &n, records->data, (uLong)records->n, 6) == Z_OK)
        text = base64("", packed, n);
    motus_free(packed);
    return text;
}

// ---- Pictures -----------------------------------------------------------------------------------

// Maps 16..235 (luma) and 16..240 (chroma) to JPEG's full range.
static void stretch(uint8_t table[256], int chroma, int full_range) {
    for (int v = 0; v < 256; v++) {
        const int wide = chroma ? 128 + ((v - 128) * 255 + (v < 128 ? -112 : 112)) / 224
                                : ((v - 16) * 255 + 109) / 219;
        table[v] = (uint8_t)(full_range ? v : motus_clip(0, 255, wide));
    }
}

static void fill(AVFrame *av, const MotusFrame *frame, int full_range) {
    for (int c = 0; c < 3; c++) {
        uint8_t table[256];
        const MotusPlane *p = &frame->plane[c];
        stretch(table, c, full_range);
        for (int y = 0; y < p->height; y++)
            for (int x = 0; x < p->width; x++)
                av->data[c][y * av->linesize[c] + x] = table[p->data[y * p->stride + x]];
    }
}

static MotusStatus encode_jpeg(AVCodecContext *context, AVFrame *av, AVPacket *packet,
                               const MotusFrame *frame, int full_range) {
    context->width = av->width = frame->width;
    context->height = av->height = frame->height;
    context->pix_fmt = AV_PIX_FMT_YUVJ420P;
    av->format = AV_PIX_FMT_YUVJ420P;
    context->color_range = AVCOL_RANGE_JPEG;
    context->time_base = (AVRational){1, 25};
    context->flags |= AV_CODEC_FLAG_QSCALE;
    context->global_quality = av->quality = 5 * FF_QP2LAMBDA; // 13 KB a CIF picture
    context->thread_count = 1;
    if (av_frame_get_buffer(av, 0)) return MOTUS_ERR_MEMORY;
    fill(av, frame, full_range);
    if (avcodec_open2(context, context->codec, NULL) < 0 || avcodec_send_frame(context, av) < 0 ||
        avcodec_send_frame(context, NULL) < 0 || avcodec_receive_packet(context, packet) < 0)
        return MOTUS_ERR_UNSUPPORTED;
    return MOTUS_OK;
}

MotusStatus motus_viewer_picture(const MotusFrame *frame, int full_range, char **uri,
                                 MotusError *error) {
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
    *uri = NULL;
    if (!codec)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "libavcodec has no JPEG encoder here");
    AVCodecContext *context = avcodec_alloc_context3(codec);
    AVFrame *av = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    MotusStatus status = context && av && packet
                             ? encode_jpeg(context, av, packet, frame, full_range)
                             : MOTUS_ERR_MEMORY;
    if (!status) *uri = base64("data:image/jpeg;base64,", packet->data, (size_t)packet->size);
    if (!status && !*uri) status = MOTUS_ERR_MEMORY;
    av_packet_free(&packet);
    av_frame_free(&av);
    avcodec_free_context(&context);
    return status ? motus_fail(error, status, "JPEG encoder: %s", motus_status_text(status))
                  : MOTUS_OK;
}
