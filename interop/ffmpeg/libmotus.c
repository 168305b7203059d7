// FFmpeg's encoder "libmotus", a file of libavcodec 5.1 that is built with FFmpeg itself (apply.sh
// adds it; docs/ffmpeg.md). Frames are sent as they come and packets taken as they are ready: motus
// codes several GOPs at a time on threads of its own.
// SPDX-License-Identifier: BSD-2-Clause
#include <motus/motus.h>

#include "avcodec.h"
#include "codec_internal.h"
#include "encode.h"
#include "libavutil/imgutils.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "packet_internal.h"

typedef struct LibmotusContext {
    const AVClass *class;
    MotusEncoder *encoder;
    AVFrame *frame;
    int ended;
    int64_t packets; // handed out so far

    // Options.
    char *preset;
    float crf, aq_strength, scenecut;
    int profile, coder, transform_8x8;
    int qp, zerolatency, aq_mode, lookahead, mbtree, hrd, aud, deblock, slice_max_size, range,
        gop_coders, backend, device, b_adapt, b_pyramid, direct, weightb, weightp, intra_refresh;
} LibmotusContext;

static int averror(MotusStatus status) {
    switch (status) {
    case MOTUS_END:
        return AVERROR_EOF;
    case MOTUS_AGAIN:
        return AVERROR(EAGAIN);
    case MOTUS_ERR_ARGUMENT:
        return AVERROR(EINVAL);
    case MOTUS_ERR_MEMORY:
        return AVERROR(ENOMEM);
    case MOTUS_ERR_UNSUPPORTED:
        return AVERROR(ENOSYS);
    case MOTUS_ERR_NO_DEVICE:
        return AVERROR(ENODEV);
    default:
        return AVERROR_EXTERNAL;
    }
}

static int failure(AVCodecContext *avctx, MotusStatus status) {
    const LibmotusContext *x = avctx->priv_data;
    const MotusError *cause = motus_encoder_error(x->encoder);
    av_log(avctx, AV_LOG_ERROR, "%s\n",
           cause->status == status ? cause->text : motus_status_text(status));
    return averror(status);
}

// ---- Opening ------------------------------------------------------------------------------------

// Sets rate control. FFmpeg's own options (-b:v, -maxrate, -bufsize, -g, -qmin ...) win if they are
// set.
static void set_rate(MotusEncoderConfig *config, const AVCodecContext *avctx) {
    const LibmotusContext *x = avctx->priv_data;
    config->rate = MOTUS_RATE_CRF;
    if (x->crf >= 0) {
        config->crf = x->crf;
    } else if (x->qp >= 0) {
        config->rate = MOTUS_RATE_QP;
        config->qp = x->qp;
    } else if (avctx->bit_rate > 0) {
        config->rate = MOTUS_RATE_BITRATE;
        config->bitrate = avctx->bit_rate;
    }
    config->vbv_maxrate = avctx->rc_max_rate;
    config->vbv_bufsize = avctx->rc_buffer_size;
    config->hrd = (MotusHrd)x->hrd;
    if (avctx->qmin >= 0) config->qp_min = avctx->qmin;
    if (avctx->qmax >= 0) config->qp_max = avctx->qmax;
    if (avctx->max_qdiff >= 0) config->qp_step = avctx->max_qdiff;
    if (avctx->i_quant_factor > 0) config->ip_ratio = 1 / fabs(avctx->i_quant_factor);
    if (avctx->b_quant_factor > 0) config->pb_ratio = avctx->b_quant_factor;
    config->pass = avctx->flags & AV_CODEC_FLAG_PASS1   ? 1
                   : avctx->flags & AV_CODEC_FLAG_PASS2 ? 2
                                                        : 0;
    config->pass_log = config->pass == 2 ? avctx->stats_in : NULL;
}

static void set_pictures(MotusEncoderConfig *config, const AVCodecContext *avctx) {
    const LibmotusContext *x = avctx->priv_data;
    if (avctx->gop_size >= 0) config->keyint = avctx->gop_size;
    if (avctx->keyint_min >= 0) config->min_keyint = avctx->keyint_min;
    if (x->scenecut >= 0) config->scenecut = (int)x->scenecut;
    if (x->lookahead >= 0) config->lookahead = x->lookahead;
    if (avctx->max_b_frames >= 0) config->bframes = avctx->max_b_frames;
    config->b_adapt = x->b_adapt;
    config->b_pyramid = (MotusBPyramid)x->b_pyramid;
    config->direct = (MotusDirectMode)x->direct;
    if (avctx->refs > 0) config->references = avctx->refs;
    config->weightb = x->weightb;
    config->weightp = x->weightp >= 0 ? x->weightp : x->zerolatency ? 0 : 2;
    config->intra_refresh = x->intra_refresh;
    if (avctx->slices > 0) config->slices = avctx->slices;
    config->slice_max_size = x->slice_max_size;
    config->range = x->range;
    config->aq_mode = (MotusAqMode)x->aq_mode;
    config->aq_strength = x->aq_strength;
    config->mb_tree = x->mbtree;
    config->aud = x->aud;
    config->deblock = x->deblock && avctx->flags & AV_CODEC_FLAG_LOOP_FILTER;
    if (x->zerolatency) {
        config->lookahead = config->bframes = 0;
        config->gop_coders = 1;
    }
}

static int set_preset(MotusEncoderConfig *config, AVCodecContext *avctx) {
    const LibmotusContext *x = avctx->priv_data;
    for (int p = 0; p < MOTUS_PRESETS; p++)
        if (!strcmp(x->preset, motus_preset_name((MotusPreset)p))) {
            config->preset = (MotusPreset)p;
            return 0;
        }
    av_log(avctx, AV_LOG_ERROR, "there is no preset %s; they are", x->preset);
    for (int p = 0; p < MOTUS_PRESETS; p++)
        av_log(avctx, AV_LOG_ERROR, " %s", motus_preset_name((MotusPreset)p));
    av_log(avctx, AV_LOG_ERROR, "\n");
    return -1;
}

// Sets the profile: of -profile:v, else the context's, else Baseline.
static void set_profile(MotusEncoderConfig *config, const AVCodecContext *avctx) {
    const LibmotusContext *x = avctx->priv_data;
    if (x->profile >= 0)
        config->profile = (MotusProfile)x->profile;
    else if (avctx->profile == FF_PROFILE_H264_MAIN)
        config->profile = MOTUS_PROFILE_MAIN;
    else if (avctx->profile == FF_PROFILE_H264_HIGH)
        config->profile = MOTUS_PROFILE_HIGH;
    config->cabac = x->coder;
    config->transform_8x8 = x->transform_8x8;
}

// VUI fields have the same numbers in FFmpeg (Annex E).
static MotusColour colour_of(const AVCodecContext *avctx) {
    MotusColour colour = MOTUS_COLOUR_UNKNOWN;
    if (avctx->sample_aspect_ratio.num > 0) {
        colour.sar.num = avctx->sample_aspect_ratio.num;
        colour.sar.den = avctx->sample_aspect_ratio.den;
    }
    if (avctx->color_range == AVCOL_RANGE_JPEG || avctx->pix_fmt == AV_PIX_FMT_YUVJ420P)
        colour.full_range = 1;
    else if (avctx->color_range == AVCOL_RANGE_MPEG)
        colour.full_range = 0;
    colour.primaries = avctx->color_primaries;
    colour.transfer = avctx->color_trc;
    colour.matrix = avctx->colorspace;
    if (avctx->chroma_sample_location != AVCHROMA_LOC_UNSPECIFIED)
        colour.chroma_location =
            avctx->chroma_sample_location - AVCHROMA_LOC_LEFT; // 1 there, 0 here
    return colour;
}

// Sets the extradata: SPS and PPS as a byte stream, which muxers convert.
static int set_extradata(AVCodecContext *avctx) {
    const LibmotusContext *x = avctx->priv_data;
    size_t size;
    const uint8_t *headers = motus_encoder_headers(x->encoder, &size);
    avctx->extradata = av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!avctx->extradata) return AVERROR(ENOMEM);
    memcpy(avctx->extradata, headers, size);
    avctx->extradata_size = (int)size;
    return 0;
}

static int libmotus_init(AVCodecContext *avctx) {
    LibmotusContext *x = avctx->priv_data;
    AVRational fps = avctx->framerate.num > 0 && avctx->framerate.den > 0
                         ? avctx->framerate
                         : av_inv_q(avctx->time_base);
    MotusRational rate = {fps.num, fps.den};
    MotusEncoderConfig config = motus_encoder_config_default(avctx->width, avctx->height, rate);
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status;
    set_rate(&config, avctx);
    set_pictures(&config, avctx);
    set_profile(&config, avctx);
    if (set_preset(&config, avctx) < 0) return AVERROR(EINVAL);
    config.colour = colour_of(avctx);
    config.threads = avctx->thread_count;
    config.backend = (MotusBackend)x->backend;
    config.device = x->device;
    if (x->gop_coders) config.gop_coders = x->gop_coders;
    config.stream_only = 1;
    config.no_ssd = !(avctx->flags & AV_CODEC_FLAG_PSNR);
    status = motus_encoder_open(&x->encoder, &config, &error);
    if (status) {
        av_log(avctx, AV_LOG_ERROR, "%s\n", error.text);
        return averror(status);
    }
    av_log(avctx, AV_LOG_VERBOSE, "motus %s, backend %s\n", motus_version(),
           motus_backend_name(motus_encoder_backend(x->encoder)));
    x->frame = av_frame_alloc();
    if (!x->frame) return AVERROR(ENOMEM);
    avctx->profile = config.profile == MOTUS_PROFILE_HIGH   ? FF_PROFILE_H264_HIGH
                     : config.profile == MOTUS_PROFILE_MAIN ? FF_PROFILE_H264_MAIN
                                                            : FF_PROFILE_H264_CONSTRAINED_BASELINE;
    avctx->has_b_frames = (config.bframes > 0) + (config.bframes > 2 && config.b_pyramid) +
                          (config.bframes > 6 && config.b_pyramid);
    avctx->level = motus_encoder_level(x->encoder);
    return avctx->flags & AV_CODEC_FLAG_GLOBAL_HEADER ? set_extradata(avctx) : 0;
}

// ---- Frames -------------------------------------------------------------------------------------

// Makes a MotusFrame of FFmpeg's planes; copies them if rows are stored bottom-up.
static MotusStatus wrap(MotusFrame **wrapped, const AVFrame *frame) {
    const ptrdiff_t strides[3] = {frame->linesize[0], frame->linesize[1], frame->linesize[2]};
    MotusStatus status;
    if (strides[0] > 0 && strides[1] > 0 && strides[2] > 0)
        return motus_frame_wrap(wrapped, frame->width, frame->height, frame->data, strides, NULL,
                                NULL);
    status = motus_frame_alloc(wrapped, frame->width, frame->height);
    for (int p = 0; !status && p < 3; p++) {
        MotusPlane *plane = &(*wrapped)->plane[p];
        av_image_copy_plane(plane->data, (int)plane->stride, frame->data[p], frame->linesize[p],
                            plane->width, plane->height);
    }
    return status;
}

static int64_t duration_of(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_MAJOR >= 58
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

static MotusStatus send(AVCodecContext *avctx) {
    LibmotusContext *x = avctx->priv_data;
    const AVFrame *frame = x->frame;
    const MotusFrameParams params = {.size = sizeof params,
                                     .pts = frame->pts,
                                     .duration = duration_of(frame),
                                     .force_idr = frame->pict_type == AV_PICTURE_TYPE_I};
    MotusFrame *wrapped = NULL;
    MotusStatus status = wrap(&wrapped, frame);
    if (!status) status = motus_encoder_send(x->encoder, wrapped, &params);
    motus_frame_unref(&wrapped);
    return status;
}

// Sends the next frame, or the end.
static int feed(AVCodecContext *avctx) {
    LibmotusContext *x = avctx->priv_data;
    int ret = ff_encode_get_frame(avctx, x->frame);
    MotusStatus status;
    if (ret < 0 && ret != AVERROR_EOF) return ret;
    x->ended = ret == AVERROR_EOF;
    status = x->ended ? motus_encoder_send(x->encoder, NULL, NULL) : send(avctx);
    av_frame_unref(x->frame);
    return status ? failure(avctx, status) : 0;
}

// ---- Packets ------------------------------------------------------------------------------------

// Hands lines of a first pass's log to FFmpeg, which writes them after each packet.
static int set_log(AVCodecContext *avctx, const char *lines) {
    if (!(avctx->flags & AV_CODEC_FLAG_PASS1)) return 0;
    av_freep(&avctx->stats_out);
    avctx->stats_out = av_strdup(lines ? lines : "");
    return avctx->stats_out ? 0 : AVERROR(ENOMEM);
}

static int set_log_end(AVCodecContext *avctx) {
    const LibmotusContext *x = avctx->priv_data;
    char line[32];
    int ret;
    snprintf(line, sizeof line, "end %lld\n", (long long)x->packets);
    ret = set_log(avctx, line);
    return ret < 0 ? ret : AVERROR_EOF;
}

// Returns the bytes of parameter sets after the delimiter that the extradata already holds.
static size_t extradata_size(const AVCodecContext *avctx, const MotusPacket *packet,
                             size_t delimiter) {
    size_t size = avctx->extradata_size;
    if (!size || packet->size < delimiter + size) return 0;
    return memcmp(packet->data + delimiter, avctx->extradata, size) ? 0 : size;
}

static int fill_packet(AVCodecContext *avctx, AVPacket *pkt, const MotusPacket *packet) {
    const LibmotusContext *x = avctx->priv_data;
    const size_t delimiter = x->aud ? 6 : 0; // start code, NAL header, primary_pic_type
    const size_t cut = packet->is_idr ? extradata_size(avctx, packet, delimiter) : 0;
    const uint64_t *ssd = packet->stats.ssd;
    int64_t errors[3] = {(int64_t)ssd[0], (int64_t)ssd[1], (int64_t)ssd[2]};
    int ret = ff_get_encode_buffer(avctx, pkt, (int64_t)(packet->size - cut), 0);
    if (ret < 0) return ret;
    memcpy(pkt->data, packet->data, delimiter);
    memcpy(pkt->data + delimiter, packet->data + delimiter + cut, packet->size - delimiter - cut);
    pkt->pts = packet->pts;
    pkt->dts = packet->dts;
    pkt->duration = packet->duration;
    if (packet->is_idr) pkt->flags |= AV_PKT_FLAG_KEY;
    ret = ff_side_data_set_encoder_stats(pkt, packet->qp * FF_QP2LAMBDA, errors,
                                         avctx->flags & AV_CODEC_FLAG_PSNR ? 3 : 0,
                                         packet->type == 'I'   ? AV_PICTURE_TYPE_I
                                         : packet->type == 'B' ? AV_PICTURE_TYPE_B
                                                               : AV_PICTURE_TYPE_P);
    return ret < 0 ? ret : set_log(avctx, packet->pass_log);
}

static int libmotus_receive_packet(AVCodecContext *avctx, AVPacket *pkt) {
    LibmotusContext *x = avctx->priv_data;
    for (;;) {
        MotusPacket *packet;
        int ret;
        MotusStatus status =
            motus_encoder_receive(x->encoder, &packet, x->ended || x->zerolatency ? -1 : 0);
        if (status == MOTUS_OK) {
            ret = fill_packet(avctx, pkt, packet);
            x->packets++;
            motus_packet_unref(&packet);
            return ret;
        }
        if (status == MOTUS_END) return set_log_end(avctx);
        if (status != MOTUS_AGAIN) return failure(avctx, status);
        ret = feed(avctx);
        if (ret < 0) return ret;
    }
}

static int libmotus_close(AVCodecContext *avctx) {
    LibmotusContext *x = avctx->priv_data;
    motus_encoder_close(&x->encoder);
    av_frame_free(&x->frame);
    av_freep(&avctx->stats_out);
    return 0;
}

// ---- Options ------------------------------------------------------------------------------------

#define OFFSET(member) offsetof(LibmotusContext, member)
#define VE (AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_ENCODING_PARAM)
#define NUMBER(name, help, member, standard, least, most)                                          \
    { name, help, OFFSET(member), AV_OPT_TYPE_INT, {.i64 = standard}, least, most, VE, NULL }
#define FRACTION(name, help, member, standard, least, most)                                        \
    { name, help, OFFSET(member), AV_OPT_TYPE_FLOAT, {.dbl = standard}, least, most, VE, NULL }
#define SWITCH(name, help, member, standard)                                                       \
    { name, help, OFFSET(member), AV_OPT_TYPE_BOOL, {.i64 = standard}, 0, 1, VE, NULL }
#define CHOICE(name, help, member, standard, most)                                                 \
    { name, help, OFFSET(member), AV_OPT_TYPE_INT, {.i64 = standard}, 0, most, VE, name }
#define WORD(of, name, value)                                                                      \
    { name, "", 0, AV_OPT_TYPE_CONST, {.i64 = value}, 0, 0, VE, of }

static const AVOption options[] = {
    FRACTION("crf", "constant quality (23 unless qp or a bit rate is set)", crf, -1, -1, 51),
    NUMBER("qp", "constant quantizer of P pictures", qp, -1, -1, 51),
    {"preset",
     "speed against bits, placebo to faster",
     OFFSET(preset),
     AV_OPT_TYPE_STRING,
     {.str = "medium"},
     0,
     0,
     VE,
     NULL},
    {"profile",
     "tools that the stream may use (-1: the context's)",
     OFFSET(profile),
     AV_OPT_TYPE_INT,
     {.i64 = -1},
     -1,
     MOTUS_PROFILES - 1,
     VE,
     "profile"},
    WORD("profile", "baseline", MOTUS_PROFILE_BASELINE),
    WORD("profile", "main", MOTUS_PROFILE_MAIN),
    WORD("profile", "high", MOTUS_PROFILE_HIGH),
    CHOICE("coder", "entropy coder of the profiles above Baseline", coder, 1, 1),
    WORD("coder", "cavlc", 0),
    WORD("coder", "vlc", 0),
    WORD("coder", "cabac", 1),
    WORD("coder", "ac", 1),
    SWITCH("8x8dct", "8x8 transforms in profile high", transform_8x8, 1),
    CHOICE("tune", "zerolatency: a packet comes out before the next frame goes in", zerolatency, 0,
           1),
    WORD("tune", "none", 0),
    WORD("tune", "zerolatency", 1),
    CHOICE("aq-mode", "adaptive quantization by variance", aq_mode, MOTUS_AQ_OFF, MOTUS_AQ_AUTO),
    WORD("aq-mode", "none", MOTUS_AQ_OFF),
    WORD("aq-mode", "variance", MOTUS_AQ_VARIANCE),
    WORD("aq-mode", "autovariance", MOTUS_AQ_AUTO),
    FRACTION("aq-strength", "strength of aq-mode", aq_strength, 1, 0, 4),
    NUMBER("rc-lookahead", "pictures known ahead (-1: 40)", lookahead, -1, -1, MOTUS_MAX_LOOKAHEAD),
    FRACTION("sc_threshold", "scene cut threshold, 0: no key pictures at cuts (-1: 40)", scenecut,
             -1, -1, 100),
    NUMBER("b_strategy", "0: always -bf B-frames in a row, else fewer if that is better", b_adapt,
           1, 0, 2),
    CHOICE("b-pyramid", "B-frames that are references", b_pyramid, MOTUS_B_PYRAMID_NORMAL,
           MOTUS_B_PYRAMID_NORMAL),
    WORD("b-pyramid", "none", MOTUS_B_PYRAMID_NONE),
    WORD("b-pyramid", "normal", MOTUS_B_PYRAMID_NORMAL),
    CHOICE("direct-pred", "vectors of direct and skipped blocks of B-frames", direct,
           MOTUS_DIRECT_AUTO, MOTUS_DIRECT_AUTO),
    WORD("direct-pred", "none", MOTUS_DIRECT_NONE),
    WORD("direct-pred", "spatial", MOTUS_DIRECT_SPATIAL),
    WORD("direct-pred", "temporal", MOTUS_DIRECT_TEMPORAL),
    WORD("direct-pred", "auto", MOTUS_DIRECT_AUTO),
    NUMBER("weightp", "P-frames weight references in fades (-1: 2, zerolatency 0)", weightp, -1, -1,
           2),
    SWITCH("intra-refresh", "rows of intra MBs wander in g pictures", intra_refresh, 0),
    SWITCH("weightb", "B-frames weight references by their distance", weightb, 0),
    SWITCH("mbtree", "finer quantizers for macroblocks that later pictures predict from", mbtree,
           1),
    CHOICE("nal-hrd", "HRD parameters in the stream", hrd, MOTUS_HRD_NONE, MOTUS_HRD_CBR),
    WORD("nal-hrd", "none", MOTUS_HRD_NONE),
    WORD("nal-hrd", "vbr", MOTUS_HRD_VBR),
    WORD("nal-hrd", "cbr", MOTUS_HRD_CBR),
    SWITCH("aud", "access unit delimiters", aud, 0),
    SWITCH("deblock", "deblocking filter", deblock, 1),
    NUMBER("slice-max-size", "largest slice in bytes (0: no limit)", slice_max_size, 0, 0, INT_MAX),
    NUMBER("range", "search +-range samples (0: the preset's)", range, 0, 0, MOTUS_MAX_RANGE),
    NUMBER("gop-coders", "GOPs coded in parallel (0: as memory allows)", gop_coders, 0, 0,
           MOTUS_MAX_GOP_CODERS),
    CHOICE("backend", "CPU or CUDA", backend, MOTUS_BACKEND_AUTO, MOTUS_BACKEND_CUDA),
    WORD("backend", "auto", MOTUS_BACKEND_AUTO),
    WORD("backend", "cpu", MOTUS_BACKEND_CPU),
    WORD("backend", "cuda", MOTUS_BACKEND_CUDA),
    NUMBER("device", "CUDA device (-1: the current one)", device, -1, -1, INT_MAX),
    {NULL},
};

static const AVClass libmotus_class = {
    .class_name = "libmotus",
    .item_name = av_default_item_name,
    .option = options,
    .version = LIBAVUTIL_VERSION_INT,
};

// -1: not set; motus's own default holds.
static const FFCodecDefault defaults[] = {
    {"b", "0"},          {"refs", "-1"},     {"g", "-1"},      {"keyint_min", "-1"},
    {"qmin", "-1"},      {"qmax", "-1"},     {"qdiff", "-1"},  {"i_qfactor", "-1"},
    {"b_qfactor", "-1"}, {"flags", "+loop"}, {"threads", "0"}, {NULL},
};

const FFCodec ff_libmotus_encoder = {
    .p.name = "libmotus",
    .p.long_name = "motus H.264 / AVC",
    .p.type = AVMEDIA_TYPE_VIDEO,
    .p.id = AV_CODEC_ID_H264,
    .p.capabilities = AV_CODEC_CAP_DR1 | AV_CODEC_CAP_DELAY | AV_CODEC_CAP_OTHER_THREADS,
    .p.pix_fmts =
        (const enum AVPixelFormat[]){AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_NONE},
    .p.priv_class = &libmotus_class,
    .p.wrapper_name = "libmotus",
    .priv_data_size = sizeof(LibmotusContext),
    .caps_internal =
        FF_CODEC_CAP_INIT_CLEANUP | FF_CODEC_CAP_AUTO_THREADS | FF_CODEC_CAP_INIT_THREADSAFE,
    .defaults = defaults,
    .init = libmotus_init,
    FF_CODEC_RECEIVE_PACKET_CB(libmotus_receive_packet),
    .close = libmotus_close,
};
