// Converts decoded pictures to 8-bit 4:2:0.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "yuv/io/media_internal.h"

enum { WHOLE, EVEN_PART, TO_ALPHA, FROM_ALPHA };

int motus_is_rgb(int format) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL);
}

int motus_is_gray(int format) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && d->nb_components <= 2 && !motus_is_rgb(format);
}

int motus_is_full_range(const AVFrame *frame) {
    if (motus_is_gray(frame->format)) return frame->color_range != AVCOL_RANGE_MPEG;
    return frame->color_range == AVCOL_RANGE_JPEG || frame->format == AV_PIX_FMT_YUVJ420P ||
           frame->format == AV_PIX_FMT_YUVJ422P || frame->format == AV_PIX_FMT_YUVJ440P ||
           frame->format == AV_PIX_FMT_YUVJ444P;
}

int motus_is_interlaced(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame;
#endif
}

// Returns the matrix that players assume for untagged video of this size: BT.709 for HD, else
// BT.601.
enum AVColorSpace motus_rgb_matrix(const AVFrame *frame) {
    return frame->height > 576 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

// Pointers to the samples of a picture.
typedef struct PictureSamples {
    uint8_t *data[4];
    int stride[4];
    int width, height, format;
} PictureSamples;

static PictureSamples samples_of_frame(const MotusFrame *frame) {
    PictureSamples s = {
        .width = frame->width, .height = frame->height, .format = AV_PIX_FMT_YUV420P};
    for (int i = 0; i < 3; i++)
        s.data[i] = frame->plane[i].data, s.stride[i] = (int)frame->plane[i].stride;
    return s;
}

static PictureSamples samples_of_av(const AVFrame *frame) {
    PictureSamples s = {.width = frame->width, .height = frame->height, .format = frame->format};
    for (int i = 0; i < 4; i++) s.data[i] = frame->data[i], s.stride[i] = frame->linesize[i];
    return s;
}

// Scales `from` to `to` by scaler `which`, made anew if its settings differ from the last ones.
// f: the picture whose matrix and range count.
static int scale(MotusConverter *c, int which, const AVFrame *f, const PictureSamples *from,
                 const PictureSamples *to) {
    const int key[8] = {from->width, from->height, from->format,        to->width,
                        to->height,  to->format,   (int)f->color_range, (int)f->colorspace};
    if (!c->scaler[which] || memcmp(c->key[which], key, sizeof key)) {
        sws_freeContext(c->scaler[which]);
        memcpy(c->key[which], key, sizeof key);
        c->scaler[which] = sws_getContext(
            from->width, from->height, from->format, to->width, to->height, to->format,
            SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
        if (!c->scaler[which]) return AVERROR(EINVAL);
        // Pictures keep their matrix and range; only RGB gets new ones. libswscale knows no range
        // of gray sources: equal ranges on both sides keep their samples, too.
        const int rgb = motus_is_rgb(f->format),
                  full = !rgb && !motus_is_gray(f->format) && motus_is_full_range(f);
        const int *matrix = sws_getCoefficients(rgb ? motus_rgb_matrix(f) : f->colorspace);
        sws_setColorspaceDetails(c->scaler[which], matrix, full, matrix, full, 0, 1 << 16, 1 << 16);
    }
    const int code = sws_scale(c->scaler[which], (const uint8_t *const *)from->data, from->stride,
                               0, from->height, to->data, to->stride);
    return code < 0 ? code : 0;
}

// ---- Gray ---------------------------------------------------------------------------------------

// True for gray of 8 to 16 whole bits, whose range libswscale treats in several ways.
static int is_plain_gray(int format) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return motus_is_gray(format) && d->comp[0].depth >= 8 && d->comp[0].depth <= 16 &&
           !(d->flags & AV_PIX_FMT_FLAG_FLOAT);
}

// Reads a component of a gray picture, reduced to 8 bits: v * 255 / most in full range.
static void read_gray(const AVFrame *f, int component, int full, uint8_t *to, ptrdiff_t stride) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
    const uint32_t most = (1U << d->comp[component].depth) - 1, limited = (most + 1) / 256,
                   over = full ? most : limited, factor = full ? 255 : 1;
    uint16_t part[256];
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x += 256) {
            const int n = f->width - x < 256 ? f->width - x : 256;
            av_read_image_line2(part, (const uint8_t **)f->data, f->linesize, d, x, y, component, n,
                                0, sizeof *part);
            for (int i = 0; i < n; i++) {
                const uint32_t v = (part[i] * factor + over / 2) / over;
                to[y * stride + x + i] = v > 255 ? 255 : (uint8_t)v;
            }
        }
}

// Converts a gray picture of the frame's size.
static void convert_gray(const AVFrame *f, const MotusFrame *frame) {
    read_gray(f, 0, motus_is_full_range(f), frame->plane[0].data, frame->plane[0].stride);
    for (int i = 1; i < 3; i++)
        for (int y = 0; y < frame->plane[i].height; y++)
            memset(frame->plane[i].data + y * frame->plane[i].stride, 128,
                   (size_t)frame->plane[i].width);
}

// ---- Alpha --------------------------------------------------------------------------------------

static int is_opaque(const AVFrame *f, int plane, int first, int step) {
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            if (f->data[plane][y * f->linesize[plane] + x * step + first] != 255) return 0;
    return 1;
}

// Composes the picture over black into c->composed, in a format without alpha. Returns 1, or 0 if
// the picture is opaque: use the original.
static int compose(MotusConverter *c, const AVFrame *f) {
    int rgb = motus_is_rgb(f->format), code;
    av_frame_free(&c->composed);
    AVFrame *t = c->composed = av_frame_alloc();
    if (!t) return AVERROR(ENOMEM);
    t->width = f->width;
    t->height = f->height;
    t->format = rgb ? AV_PIX_FMT_RGBA : AV_PIX_FMT_YUVA444P;
    t->color_range = motus_is_full_range(f) ? AVCOL_RANGE_JPEG : f->color_range;
    t->colorspace = f->colorspace;
    if ((code = av_frame_get_buffer(t, 0)) < 0) return code;
    PictureSamples from = samples_of_av(f), to = samples_of_av(t);
    if (is_plain_gray(f->format)) {
        read_gray(f, 0, motus_is_full_range(f), t->data[0], t->linesize[0]);
        read_gray(f, 1, 1, t->data[3], t->linesize[3]);
        for (int i = 1; i < 3; i++)
            memset(t->data[i], 128, (size_t)t->linesize[i] * (size_t)t->height);
    } else if ((code = scale(c, TO_ALPHA, f, &from, &to)) < 0) {
        return code;
    }
    if (rgb ? is_opaque(t, 0, 3, 4) : is_opaque(t, 3, 0, 1)) return 0;
    const int dark = motus_is_full_range(f) ? 0 : 16;
    for (int i = 0; i < 3; i++) {
        const int black = rgb ? 0 : i ? 128 : dark;
        for (int y = 0; y < t->height; y++)
            for (int x = 0; x < t->width; x++) {
                uint8_t *v = rgb ? t->data[0] + y * t->linesize[0] + 4 * x + i
                                 : t->data[i] + y * t->linesize[i] + x;
                const int alpha = rgb ? v[3 - i] : t->data[3][y * t->linesize[3] + x];
                *v = (uint8_t)((*v * alpha + black * (255 - alpha) + 127) / 255); // rounded
            }
    }
    t->format = rgb ? AV_PIX_FMT_RGB0 : AV_PIX_FMT_YUV444P;
    return 1;
}

// ---- Pictures -----------------------------------------------------------------------------------

// Scales a picture of odd size: the even part with chroma at exactly 2:1, since H.264 crops to it;
// the last column and row from the whole picture. libswscale may write beyond a row's end, so the
// whole goes to a frame of its own.
static int scale_odd(MotusConverter *c, int which, const AVFrame *source, const MotusFrame *frame) {
    MotusFrame *whole = NULL;
    if (motus_frame_alloc(&whole, frame->width, frame->height)) return AVERROR(ENOMEM);
    PictureSamples from = samples_of_av(source), to = samples_of_frame(whole),
                   part = samples_of_frame(frame);
    int code = scale(c, which, source, &from, &to);
    from.width = part.width = frame->width & ~1;
    from.height = part.height = frame->height & ~1;
    if (!code && part.width && part.height) code = scale(c, EVEN_PART, source, &from, &part);
    for (int i = 0; i < 3 && !code; i++) {
        const MotusPlane *p = &frame->plane[i];
        int width = i ? part.width / 2 : part.width, height = i ? part.height / 2 : part.height;
        for (int y = 0; y < p->height; y++) {
            int first = y < height ? width : 0;
            memcpy(p->data + y * p->stride + first,
                   whole->plane[i].data + y * whole->plane[i].stride + first,
                   (size_t)(p->width - first));
        }
    }
    motus_frame_unref(&whole);
    return code;
}

int motus_convert(MotusConverter *c, const AVFrame *f, const MotusFrame *frame, int *done) {
    int same_size = f->width == frame->width && f->height == frame->height, code = 0;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
    *done = same_size ? 0 : MOTUS_CONVERTED_SIZE;
    if (d && d->flags & AV_PIX_FMT_FLAG_ALPHA) code = compose(c, f);
    if (code < 0) return code;
    if (code) *done |= MOTUS_CONVERTED_ALPHA;
    int which = code ? FROM_ALPHA : WHOLE;
    const AVFrame *source = code ? c->composed : f;
    if (same_size &&
        (source->format == AV_PIX_FMT_YUV420P || source->format == AV_PIX_FMT_YUVJ420P)) {
        for (int i = 0; i < 3; i++) {
            const MotusPlane *p = &frame->plane[i];
            av_image_copy_plane(p->data, (int)p->stride, source->data[i], source->linesize[i],
                                p->width, p->height);
        }
        return 0;
    }
    if (same_size && is_plain_gray(source->format)) {
        convert_gray(source, frame);
        return 0;
    }
    d = av_pix_fmt_desc_get(source->format);
    const int halves_chroma =
        d && d->log2_chroma_w == 1 && d->log2_chroma_h == 1 && !motus_is_rgb(source->format);
    if (same_size && !halves_chroma && (frame->width | frame->height) & 1)
        return scale_odd(c, which, source, frame);
    PictureSamples from = samples_of_av(source), to = samples_of_frame(frame);
    return scale(c, which, source, &from, &to);
}
