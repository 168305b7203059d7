// media_probe FILE: demuxes and decodes a video file with libavformat and libavcodec, and prints
// one line:
//   CODEC WxH RATE packets=N key=N first=SECONDS end=SECONDS avcc=0|1 frames=N sum=CHECKSUM
// The checksum (FNV-1a over the samples) is that of any other file with the same pictures, .y4m
// too. Exit status 1 on any error or decoder warning.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdarg.h>
#include <stdio.h>

static int complaints;

static void complain(void *context, int level, const char *format, va_list args) {
    (void)context;
    if (level > AV_LOG_WARNING) return;
    complaints++;
    vfprintf(stderr, format, args);
}

typedef struct Probe {
    int packets, keys, frames;
    double first, end;
    uint64_t sum;
} Probe;

static void add_frame(Probe *probe, const AVFrame *frame) {
    probe->frames++;
    for (int p = 0; p < 3; p++) {
        int w = p ? (frame->width + 1) / 2 : frame->width,
            h = p ? (frame->height + 1) / 2 : frame->height;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                probe->sum =
                    (probe->sum ^ frame->data[p][y * frame->linesize[p] + x]) * 0x100000001B3u;
    }
}

static int decode(Probe *probe, AVCodecContext *decoder, const AVPacket *packet, AVFrame *frame) {
    int code = avcodec_send_packet(decoder, packet);
    while (code >= 0 && (code = avcodec_receive_frame(decoder, frame)) >= 0)
        add_frame(probe, frame);
    return code == AVERROR(EAGAIN) || code == AVERROR_EOF;
}

static int probe_file(AVFormatContext *input, AVCodecContext *decoder, AVPacket *packet,
                      AVFrame *frame) {
    const AVStream *stream = input->streams[0];
    const AVCodecParameters *p = stream->codecpar;
    double unit = av_q2d(stream->time_base);
    Probe probe = {.first = -1, .sum = 0xCBF29CE484222325u};
    int ok = 1;
    for (; ok && av_read_frame(input, packet) >= 0; av_packet_unref(packet)) {
        probe.packets++;
        probe.keys += packet->flags & AV_PKT_FLAG_KEY;
        if (probe.first < 0) probe.first = (double)packet->pts * unit;
        const double end = (double)(packet->pts + packet->duration) * unit;
        if (end > probe.end) probe.end = end; // B pictures come later than they are shown
        ok = decode(&probe, decoder, packet, frame);
    }
    ok = ok && decode(&probe, decoder, NULL, frame);
    printf("%s %dx%d %d/%d packets=%d key=%d first=%.4f end=%.4f avcc=%d frames=%d sum=%016llx\n",
           avcodec_get_name(p->codec_id), p->width, p->height, stream->avg_frame_rate.num,
           stream->avg_frame_rate.den, probe.packets, probe.keys, probe.first, probe.end,
           p->extradata_size > 7 && p->extradata[0] == 1, probe.frames,
           (unsigned long long)probe.sum);
    return ok && !complaints;
}

int main(int argc, char **argv) {
    av_log_set_callback(complain);
    AVFormatContext *input = NULL;
    if (argc != 2 || avformat_open_input(&input, argv[1], NULL, NULL) < 0 ||
        avformat_find_stream_info(input, NULL) < 0)
        return 1;
    const AVCodec *codec = avcodec_find_decoder(input->streams[0]->codecpar->codec_id);
    AVCodecContext *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int ok = decoder && packet && frame &&
             avcodec_parameters_to_context(decoder, input->streams[0]->codecpar) >= 0 &&
             avcodec_open2(decoder, codec, NULL) >= 0 && probe_file(input, decoder, packet, frame);
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&decoder);
    avformat_close_input(&input);
    return !ok;
}
