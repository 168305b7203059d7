// yuv/io: files that libavformat reads, made here with libav's own muxers and lossless encoders.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "tests/support/harness.h"
#include "tests/support/memory_file.h"
#include "yuv/io/reader_ops.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "yuv_media_test.XXXXXX";

#define FRAMES 6

typedef struct Clip {
    const char *name; // ending gives the container
    enum AVCodecID codec;
    enum AVPixelFormat format;
    int width, height;
    AVFrame *frames[FRAMES];
} Clip;

static void clip_path(const Clip *clip, char path[128]) {
    snprintf(path, 128, "%s/%s", folder, clip->name);
}

// Fills a frame with random samples; ten-bit samples stay in range.
static void clip_fill(Clip *clip) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(clip->format);
    for (int n = 0; n < FRAMES; n++) {
        AVFrame *f = clip->frames[n] = av_frame_alloc();
        f->format = clip->format;
        f->width = clip->width;
        f->height = clip->height;
        f->pts = n;
        CU_ASSERT_EQUAL_FATAL(av_frame_get_buffer(f, 0), 0);
        for (int i = 0; i < 4 && f->data[i]; i++) {
            int rows =
                i == 1 || i == 2 ? AV_CEIL_RSHIFT(clip->height, d->log2_chroma_h) : clip->height;
            motus_test_fill(f->data[i], (size_t)f->linesize[i] * (size_t)rows);
            for (int k = 1; d->comp[0].depth == 10 && k < f->linesize[i] * rows; k += 2)
                f->data[i][k] &= 3;
        }
    }
}

static void mux(AVFormatContext *format, AVCodecContext *encoder, const AVFrame *frame) {
    AVPacket *packet = av_packet_alloc();
    CU_ASSERT_EQUAL_FATAL(avcodec_send_frame(encoder, frame), 0);
    while (!avcodec_receive_packet(encoder, packet)) {
        packet->duration = 1;
        av_packet_rescale_ts(packet, encoder->time_base, format->streams[0]->time_base);
        CU_ASSERT_EQUAL(av_interleaved_write_frame(format, packet), 0);
    }
    av_packet_free(&packet);
}

static void clip_write(const Clip *clip) {
    char path[128];
    clip_path(clip, path);
    AVFormatContext *format = NULL;
    CU_ASSERT_FATAL(avformat_alloc_output_context2(&format, NULL, NULL, path) >= 0);
    AVStream *stream = avformat_new_stream(format, NULL);
    AVCodecContext *encoder = avcodec_alloc_context3(avcodec_find_encoder(clip->codec));
    encoder->width = clip->width;
    encoder->height = clip->height;
    encoder->pix_fmt = clip->format;
    encoder->time_base = (AVRational){1, 30};
    encoder->framerate = stream->avg_frame_rate = stream->r_frame_rate = (AVRational){30, 1};
    encoder->sample_aspect_ratio = stream->sample_aspect_ratio = (AVRational){4, 3};
    encoder->color_primaries = AVCOL_PRI_BT709;
    encoder->color_range = AVCOL_RANGE_JPEG;
    encoder->strict_std_compliance = format->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
    stream->time_base = encoder->time_base;
    CU_ASSERT_EQUAL_FATAL(avcodec_open2(encoder, NULL, NULL), 0);
    avcodec_parameters_from_context(stream->codecpar, encoder);
    if (!(format->oformat->flags & AVFMT_NOFILE))
        CU_ASSERT_FATAL(avio_open(&format->pb, path, AVIO_FLAG_WRITE) >= 0);
    CU_ASSERT_FATAL(avformat_write_header(format, NULL) >= 0);
    for (int n = 0; n < FRAMES; n++) mux(format, encoder, clip->frames[n]);
    mux(format, encoder, NULL);
    av_write_trailer(format);
    if (!(format->oformat->flags & AVFMT_NOFILE)) avio_closep(&format->pb);
    avcodec_free_context(&encoder);
    avformat_free_context(format);
}

static void clip_remove(Clip *clip) {
    char path[128], numbered[128];
    clip_path(clip, path);
    unlink(path);
    for (int n = 0; n < FRAMES; n++) {
        av_frame_free(&clip->frames[n]);
        if (!strchr(path, '%')) continue;
        av_get_frame_filename(numbered, sizeof numbered, path, n + 1);
        unlink(numbered);
    }
}

static int same_plane(const MotusPlane *p, const AVFrame *f, int i) {
    for (int y = 0; y < p->height; y++)
        if (memcmp(p->data + y * p->stride, f->data[i] + y * f->linesize[i], (size_t)p->width))
            return 0;
    return 1;
}

// Counts samples of a plane that differ by more than `tolerance` from the top 8 bits of another.
static int far_samples(const MotusPlane *p, const AVFrame *f, int i, int depth, int tolerance) {
    int far = 0;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const uint8_t *row = f->data[i] + y * f->linesize[i];
            int want = depth == 8 ? row[x] : (row[2 * x] | row[2 * x + 1] << 8) >> 2;
            far += abs(p->data[y * p->stride + x] - want) > tolerance;
        }
    return far;
}

static MotusStatus clip_open(const Clip *clip, int threads, MotusReader **reader,
                             MotusError *error) {
    char path[128];
    clip_path(clip, path);
    const MotusReaderOptions options = {
        .width = clip->width, .height = clip->height, .fps = {0, 1}, .threads = threads};
    return motus_reader_open(reader, path, &options, error);
}

// 8-bit 4:2:0 is read unchanged. Of other formats luma is compared, with a tolerance for bit depth.
static void check_clip(Clip *clip, int threads) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(clip->format);
    int exact = clip->format == AV_PIX_FMT_YUV420P, rgb = d->flags & AV_PIX_FMT_FLAG_RGB;
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusFrame *f = NULL;
    MotusStatus status = clip_open(clip, threads, &reader, &error);
    MOTUS_CHECK(!status, "%s: %s", clip->name, error.text);
    if (status) return;
    const MotusSequenceInfo *info = motus_reader_info(reader);
    MOTUS_CHECK(info->width == clip->width && info->height == clip->height, "%s: %dx%d", clip->name,
                info->width, info->height);
    // NUT's duration omits the last picture.
    MOTUS_CHECK(info->frames == FRAMES || info->frames == FRAMES - 1 || info->frames == -1,
                "%s: %lld", clip->name, (long long)info->frames);
    for (int n = 0; n < FRAMES; n++) {
        status = motus_reader_next(reader, &f, &error);
        MOTUS_CHECK(!status && f->number == n, "%s frame %d: %s", clip->name, n, error.text);
        if (status) break;
        for (int i = 0; i < 3 && exact; i++)
            MOTUS_CHECK(same_plane(&f->plane[i], clip->frames[n], i), "%s frame %d plane %d",
                        clip->name, n, i);
        if (!exact && !rgb)
            MOTUS_CHECK(!far_samples(&f->plane[0], clip->frames[n], 0, d->comp[0].depth, 1),
                        "%s frame %d", clip->name, n);
        motus_frame_unref(&f);
    }
    CU_ASSERT_EQUAL(motus_reader_next(reader, &f, &error), MOTUS_END);
    CU_ASSERT_EQUAL(motus_reader_next(reader, &f, &error), MOTUS_END);
    motus_reader_close(&reader);
}

static void containers(void) {
    Clip clips[] = {
        {"ffv1.mkv", AV_CODEC_ID_FFV1, AV_PIX_FMT_YUV420P, 66, 34, {0}},
        {"raw.avi", AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_YUV420P, 64, 48, {0}},
        {"raw.nut", AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_YUV420P, 33, 17, {0}},
        {"ffv1.avi", AV_CODEC_ID_FFV1, AV_PIX_FMT_YUV420P, 48, 32, {0}},
        {"png.mov", AV_CODEC_ID_PNG, AV_PIX_FMT_RGB24, 48, 32, {0}},
        {"422.mkv", AV_CODEC_ID_FFV1, AV_PIX_FMT_YUV422P, 48, 33, {0}},
        {"444p10.mkv", AV_CODEC_ID_FFV1, AV_PIX_FMT_YUV444P10, 35, 32, {0}},
        {"422.y4m", AV_CODEC_ID_WRAPPED_AVFRAME, AV_PIX_FMT_YUV422P, 32, 16, {0}},
        {"10bit.y4m", AV_CODEC_ID_WRAPPED_AVFRAME, AV_PIX_FMT_YUV420P10, 32, 16, {0}},
        {"rgb%03d.png", AV_CODEC_ID_PNG, AV_PIX_FMT_RGB24, 40, 24, {0}},
        {"grey%d.png", AV_CODEC_ID_PNG, AV_PIX_FMT_GRAY8, 40, 24, {0}},
    };
    for (size_t i = 0; i < sizeof clips / sizeof *clips; i++) {
        clip_fill(&clips[i]);
        clip_write(&clips[i]);
        for (int threads = 0; threads < 4; threads += 3) check_clip(&clips[i], threads);
        clip_remove(&clips[i]);
    }
}

static MotusFrame *first_frame(const Clip *clip) {
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusFrame *f = NULL;
    MotusStatus status = clip_open(clip, 1, &reader, &error);
    if (!status) status = motus_reader_next(reader, &f, &error);
    MOTUS_CHECK(!status, "%s: %s", clip->name, error.text);
    motus_reader_close(&reader);
    return f;
}

// Chroma of an odd-sized 4:4:4 or 4:2:2 picture is that of the picture without its last column and
// row, as H.264 crops it.
static void odd_chroma(void) {
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV422P,
                                                 AV_PIX_FMT_RGB24};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        int rgb = formats[k] == AV_PIX_FMT_RGB24;
        Clip odd = {rgb ? "odd.mov" : "odd.mkv",
                    rgb ? AV_CODEC_ID_PNG : AV_CODEC_ID_FFV1,
                    formats[k],
                    37,
                    35,
                    {0}};
        Clip even = {rgb ? "even.mov" : "even.mkv", odd.codec, formats[k], 36, 34, {0}};
        clip_fill(&odd);
        clip_fill(&even);
        for (int n = 0; n < FRAMES; n++)
            av_image_copy(even.frames[n]->data, even.frames[n]->linesize,
                          (const uint8_t **)odd.frames[n]->data, odd.frames[n]->linesize,
                          formats[k], 36, 34);
        clip_write(&odd);
        clip_write(&even);
        MotusFrame *a = first_frame(&odd), *b = first_frame(&even);
        int different = 0;
        for (int i = 0; a && b && i < 3; i++)
            for (int y = 0; y < b->plane[i].height; y++)
                different += memcmp(a->plane[i].data + y * a->plane[i].stride,
                                    b->plane[i].data + y * b->plane[i].stride,
                                    (size_t)b->plane[i].width) != 0;
        MOTUS_CHECK(a && b && !different, "%s: %d rows differ", av_get_pix_fmt_name(formats[k]),
                    different);
        motus_frame_unref(&a);
        motus_frame_unref(&b);
        clip_remove(&odd);
        clip_remove(&even);
    }
}

static void details(void) {
    Clip clip = {"tags.mkv", AV_CODEC_ID_FFV1, AV_PIX_FMT_YUV420P, 32, 32, {0}};
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusFrame *f = NULL;
    clip_fill(&clip);
    clip_write(&clip);
    REQUIRE_OK(clip_open(&clip, 1, &reader, &error));
    const MotusSequenceInfo *info = motus_reader_info(reader);
    CU_ASSERT(info->fps.num == 30 && info->fps.den == 1 && info->colour.sar.num == 4 &&
              info->colour.sar.den == 3);
    CU_ASSERT(info->colour.primaries == 1 && info->colour.transfer == 2 &&
              info->colour.matrix == 2 && info->colour.full_range == 1);
    CU_ASSERT(strstr(info->format, "matroska") != NULL);
    EXPECT_OK(motus_reader_skip(reader, 4, &error));
    REQUIRE_OK(motus_reader_next(reader, &f, &error));
    CU_ASSERT(f->number == 4 && same_plane(&f->plane[0], clip.frames[4], 0));
    motus_frame_unref(&f);
    CU_ASSERT_EQUAL(motus_reader_skip(reader, 2, &error), MOTUS_END);
    motus_reader_close(&reader);
    clip.width = 34; // differs from the file's
    CU_ASSERT_EQUAL(clip_open(&clip, 1, &reader, &error), MOTUS_ERR_ARGUMENT);
    CU_ASSERT(strstr(error.text, "32x32, not 34x32") != NULL);
    clip_remove(&clip);
}

// Cut anywhere: an error, or whole unchanged pictures and then an end; no crash, no wrong sample.
static void cuts(void) {
    Clip clip = {"cut.avi", AV_CODEC_ID_RAWVIDEO, AV_PIX_FMT_YUV420P, 16, 16, {0}};
    static uint8_t data[100000];
    char path[128];
    clip_fill(&clip);
    clip_write(&clip);
    clip_path(&clip, path);
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (file) fclose(file);
    CU_ASSERT(size > FRAMES * 384);
    int truncated = 0;
    for (size_t cut = 1; cut < size; cut += (size_t)motus_test_range(1, 60)) {
        MotusSource *source = NULL;
        MotusReader *reader = NULL;
        MotusError error = {MOTUS_OK, ""};
        static const MotusReaderOptions one = {.threads = 1};
        REQUIRE_OK(motus_test_source(&source, data, cut, &error));
        MotusStatus status = motus_reader_open_source(&reader, source, "cut.avi", &one, &error);
        MotusFrame *f = NULL;
        for (int n = 0; !status && !(status = motus_reader_next(reader, &f, &error)); n++) {
            MOTUS_CHECK(n < FRAMES && same_plane(&f->plane[2], clip.frames[n], 2),
                        "%zu bytes, frame %d", cut, n);
            motus_frame_unref(&f);
        }
        truncated += status == MOTUS_ERR_TRUNCATED;
        MOTUS_CHECK(status == MOTUS_END ||
                        (error.status == status && !strncmp(error.text, "cut.avi: ", 9)),
                    "%zu bytes: %s", cut, error.text);
        motus_reader_close(&reader);
    }
    MOTUS_CHECK(truncated > 5, "%d", truncated);
    clip_remove(&clip);
}

enum { SENT = 70, LOST = 10 };

// Writes a transport stream of SENT pictures without the packets [first, first + LOST).
static void write_lossy(const char *path, int b_pictures, int first) {
    AVFormatContext *format = NULL;
    CU_ASSERT_FATAL(avformat_alloc_output_context2(&format, NULL, "mpegts", path) >= 0);
    AVStream *stream = avformat_new_stream(format, NULL);
    AVCodecContext *encoder = avcodec_alloc_context3(avcodec_find_encoder(AV_CODEC_ID_MPEG2VIDEO));
    encoder->width = encoder->height = 32;
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = (AVRational){1, 25};
    encoder->framerate = stream->avg_frame_rate = (AVRational){25, 1};
    encoder->max_b_frames = b_pictures;
    encoder->thread_count = 1;
    CU_ASSERT_EQUAL_FATAL(avcodec_open2(encoder, NULL, NULL), 0);
    avcodec_parameters_from_context(stream->codecpar, encoder);
    CU_ASSERT_FATAL(avio_open(&format->pb, path, AVIO_FLAG_WRITE) >= 0);
    CU_ASSERT_FATAL(avformat_write_header(format, NULL) >= 0);
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    frame->format = AV_PIX_FMT_YUV420P;
    frame->width = frame->height = 32;
    CU_ASSERT_EQUAL_FATAL(av_frame_get_buffer(frame, 0), 0);
    for (int n = 0, k = 0; n <= SENT; n++) {
        frame->pts = n;
        avcodec_send_frame(encoder, n < SENT ? frame : NULL);
        for (; !avcodec_receive_packet(encoder, packet); k++) {
            packet->duration = 1;
            av_packet_rescale_ts(packet, encoder->time_base, stream->time_base);
            if (k < first || k >= first + LOST) av_interleaved_write_frame(format, packet);
            av_packet_unref(packet);
        }
    }
    av_write_trailer(format);
    avio_closep(&format->pb);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&encoder);
    avformat_free_context(format);
}

// Pictures that are not in a broadcast are counted by the times of the others, wherever they are,
// also in a short clip and among B pictures.
static void lost_packets(void) {
    static const int firsts[] = {2, 8, 30, 56, SENT};
    char path[128];
    snprintf(path, sizeof path, "%s/lossy.ts", folder);
    for (int i = 0; i < 10; i++) {
        const int first = firsts[i / 2], b = i % 2 * 2;
        MotusReader *reader = NULL;
        MotusFrame *f = NULL;
        write_lossy(path, b, first);
        REQUIRE_OK(motus_reader_open(&reader, path, &(MotusReaderOptions){.threads = 1}, NULL));
        while (!motus_reader_next(reader, &f, NULL)) motus_frame_unref(&f);
        const int64_t missing = motus_reader_info(reader)->damage.missing;
        MOTUS_CHECK(missing == (first < SENT ? LOST : 0) && !motus_reader_info(reader)->variable,
                    "%d B pictures, lost from %d on: %lld missing, variable %d", b, first,
                    (long long)missing, motus_reader_info(reader)->variable);
        motus_reader_close(&reader);
    }
    unlink(path);
}

static void failing_allocations(void) {
    Clip clip = {"alloc.mkv", AV_CODEC_ID_FFV1, AV_PIX_FMT_YUV422P, 32, 32, {0}};
    clip_fill(&clip);
    clip_write(&clip);
    MotusStatus status = MOTUS_ERR_MEMORY;
    int n = 0;
    for (; status && n < 50; n++) {
        MotusReader *reader = NULL;
        MotusError error = {MOTUS_OK, ""};
        MotusFrame *f = NULL;
        motus_alloc_fail_after(n);
        status = clip_open(&clip, 1, &reader, &error);
        if (!status) status = motus_reader_next(reader, &f, &error);
        MOTUS_CHECK(!status || status == MOTUS_ERR_MEMORY, "allocation %d: %s", n, error.text);
        motus_frame_unref(&f);
        motus_reader_close(&reader);
    }
    motus_alloc_fail_after(-1);
    MOTUS_CHECK(n > 4 && n < 50, "%d allocations", n);
    clip_remove(&clip);
}

static int run(const char *suite, const MotusTest *tests, int argc, char **argv) {
    av_log_set_level(AV_LOG_QUIET);
    if (!mkdtemp(folder)) return 1;
    int status = motus_test_main(suite, tests, argc, argv);
    return rmdir(folder) ? 1 : status; // files left behind are a failure
}

MOTUS_SUITE_BY(run, "yuv_media", TEST(containers), TEST(odd_chroma), TEST(details), TEST(cuts),
               TEST(lost_packets), TEST(failing_allocations))
