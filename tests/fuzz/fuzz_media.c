// Files for libavformat, from memory. The target is our reader, not libav*: only cheap and simple
// containers and codecs are allowed.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mem.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static int is_simple(const uint8_t *data, size_t size) {
    static const char *const containers[] = {"avi", "matroska,webm", "nut", "png_pipe",
                                             "yuv4mpegpipe"};
    uint8_t *padded = av_mallocz(size + AVPROBE_PADDING_SIZE);
    if (!padded) return 0;
    memcpy(padded, data, size);
    int score;
    const AVInputFormat *format = av_probe_input_format3(
        &(AVProbeData){.filename = "", .buf = padded, .buf_size = (int)size}, 1, &score);
    av_free(padded);
    for (size_t i = 0; format && i < sizeof containers / sizeof *containers; i++)
        if (!strcmp(format->name, containers[i])) return 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    av_max_alloc(64 << 20); // pictures may claim any size
    av_log_set_level(AV_LOG_QUIET);
    if (!size || !is_simple(data, size)) return 0;
    const MotusReaderOptions none = {.threads = 1};
    MotusStatus status;
    motus_fuzz_read(data, size, "fuzz", &none, 50, &status);
    return 0;
}

static void mux(AVFormatContext *format, AVCodecContext *encoder, const AVFrame *frame) {
    AVPacket *packet = av_packet_alloc();
    avcodec_send_frame(encoder, frame);
    while (packet && !avcodec_receive_packet(encoder, packet)) av_write_frame(format, packet);
    av_packet_free(&packet);
}

// Encodes three small pictures.
static void encode(AVFormatContext *format, enum AVCodecID codec, enum AVPixelFormat pixels) {
    AVStream *stream = avformat_new_stream(format, NULL);
    AVCodecContext *encoder = avcodec_alloc_context3(avcodec_find_encoder(codec));
    AVFrame *frame = av_frame_alloc();
    encoder->width = frame->width = 16;
    encoder->height = frame->height = 8;
    encoder->pix_fmt = pixels;
    frame->format = pixels;
    encoder->time_base = stream->time_base = (AVRational){1, 25};
    encoder->strict_std_compliance = format->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
    if (!avcodec_open2(encoder, NULL, NULL) && !av_frame_get_buffer(frame, 0)) {
        avcodec_parameters_from_context(stream->codecpar, encoder);
        int headed = avformat_write_header(format, NULL) >= 0;
        for (int n = 0; headed && n < 3; n++) {
            av_frame_make_writable(frame);
            for (int i = 0; i < 4 && frame->buf[i]; i++)
                memset(frame->buf[i]->data, 1 + n, frame->buf[i]->size);
            frame->pts = n;
            mux(format, encoder, frame);
        }
        mux(format, encoder, NULL);
        if (headed) av_write_trailer(format);
    }
    av_frame_free(&frame);
    avcodec_free_context(&encoder);
}

size_t motus_fuzz_seed(int index, uint8_t *data) {
    static const struct {
        const char *container;
        enum AVCodecID codec;
        enum AVPixelFormat pixels;
    } seeds[] = {{"avi", AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_YUV420P},
                 {"avi", AV_CODEC_ID_MJPEG, AV_PIX_FMT_YUVJ420P},
                 {"matroska", AV_CODEC_ID_FFV1, AV_PIX_FMT_YUV420P},
                 {"matroska", AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_YUV422P},
                 {"nut", AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_NV12},
                 {"image2pipe", AV_CODEC_ID_PNG, AV_PIX_FMT_RGB24},
                 {"image2pipe", AV_CODEC_ID_PNG, AV_PIX_FMT_GRAY8},
                 {"yuv4mpegpipe", AV_CODEC_ID_WRAPPED_AVFRAME, AV_PIX_FMT_YUV422P},
                 {"yuv4mpegpipe", AV_CODEC_ID_WRAPPED_AVFRAME, AV_PIX_FMT_YUV444P10}};
    AVFormatContext *format = NULL;
    uint8_t *bytes = NULL;
    av_log_set_level(AV_LOG_QUIET);
    if (index >= (int)(sizeof seeds / sizeof *seeds)) return 0;
    if (avformat_alloc_output_context2(&format, NULL, seeds[index].container, NULL) < 0) return 0;
    size_t n = 0;
    if (avio_open_dyn_buf(&format->pb) >= 0) {
        encode(format, seeds[index].codec, seeds[index].pixels);
        n = (size_t)avio_close_dyn_buf(format->pb, &bytes);
    }
    if (n > FUZZ_MAX_INPUT) n = FUZZ_MAX_INPUT;
    memcpy(data, bytes, n);
    av_free(bytes);
    avformat_free_context(format);
    return n;
}
