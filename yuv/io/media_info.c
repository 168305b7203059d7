// Describes the sequence by its container and its first picture. Measures the rate of pictures: the
// container's own claim if the times confirm it, else the times' rate.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yuv/io/media_internal.h"

#define LOOK 64               // most packets whose times are examined
#define LOOK_BYTES (16 << 20) // and their most bytes
#define FEW_HOLES 16          // one hole in so many distances is allowed
#define NEARBY 4              // distances between the holes that one loss leaves among B pictures
#define UNSETTLED 16          // latest times, whose neighbours may come later (B pictures)
#define HIGHEST_GUESS 240     // most frames/s that a container may claim for a single picture
#define MAX_TERM 1001000      // of a measured rate's fraction
static const MotusRational usual = {25, 1};

static MotusColour colour_of(const AVFrame *f, AVRational sar) {
    MotusColour colour = MOTUS_COLOUR_UNKNOWN;
    if (sar.num > 0 && sar.den > 0) colour.sar = (MotusRational){sar.num, sar.den};
    if (motus_is_full_range(f))
        colour.full_range = 1;
    else if (f->color_range == AVCOL_RANGE_MPEG)
        colour.full_range = 0;
    // libavutil numbers these as H.264 does; its chroma locations are one higher, 0 is unspecified.
    if (f->color_primaries) colour.primaries = (int)f->color_primaries;
    if (f->color_trc) colour.transfer = (int)f->color_trc;
    if (f->colorspace) colour.matrix = (int)f->colorspace;
    if (f->chroma_location) colour.chroma_location = (int)f->chroma_location - 1;
    if (motus_is_rgb(f->format)) {
        colour.matrix = (int)motus_rgb_matrix(f);
        colour.full_range = 0;
    }
    return colour;
}

static const int32_t *stored_matrix(const MotusMedia *m) {
    const AVStream *stream = m->format->streams[m->stream];
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    const AVPacketSideData *side =
        av_packet_side_data_get(stream->codecpar->coded_side_data,
                                stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    if (side && side->size >= sizeof m->matrix) return (const int32_t *)side->data;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    if (data && size >= sizeof m->matrix) return (const int32_t *)data;
#endif
    const AVFrameSideData *coded =
        av_frame_get_side_data(m->frame, AV_FRAME_DATA_DISPLAYMATRIX); // from an SEI message
    return coded && coded->size >= sizeof m->matrix ? (const int32_t *)coded->data : NULL;
}

void motus_media_describe(MotusReader *reader) {
    MotusMedia *m = reader->state;
    AVStream *stream = m->format->streams[m->stream];
    MotusSequenceInfo *info = &reader->info;
    const AVRational period = {info->fps.den, info->fps.num};
    const enum AVPixelFormat format = m->frame->format;
    info->width = m->frame->width;
    info->height = m->frame->height;
    info->frames =
        stream->nb_frames > 0     ? stream->nb_frames
        : stream->duration > 0    ? av_rescale_q(stream->duration, stream->time_base, period)
        : m->format->duration > 0 ? av_rescale_q(m->format->duration, AV_TIME_BASE_Q, period)
                                  : -1;
    if (!info->frames) info->frames = -1;
    info->colour = colour_of(m->frame, av_guess_sample_aspect_ratio(m->format, stream, m->frame));
    info->format = m->format->iformat->name;
    const int32_t *matrix = stored_matrix(m);
    if (matrix) {
        memcpy(m->matrix, matrix, sizeof m->matrix);
        m->has_matrix = 1;
        double degrees = av_display_rotation_get(matrix); // counter-clockwise
        if (!isnan(degrees)) info->rotation = ((int)lround(-degrees / 90) * 90 % 360 + 360) % 360;
    }
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    if (d && format != AV_PIX_FMT_YUV420P && format != AV_PIX_FMT_YUVJ420P &&
        format != AV_PIX_FMT_NV12 && format != AV_PIX_FMT_NV21) {
        // 8-bit 4:2:0 holds less than deeper samples, more chroma, RGB.
        const int rgb = motus_is_rgb(format),
                  more = d->nb_components >= 3 && (!d->log2_chroma_w || !d->log2_chroma_h);
        motus_reader_log(
            reader, rgb || more || d->comp[0].depth > 8 ? MOTUS_LOG_LOSS : MOTUS_LOG_NOTE,
            "its pictures (%s) are converted to 8-bit 4:2:0%s", d->name,
            !rgb                                            ? ""
            : motus_rgb_matrix(m->frame) == AVCOL_SPC_BT709 ? ", BT.709, limited range"
                                                            : ", BT.601, limited range");
    }
    const AVDictionaryEntry *alpha = av_dict_get(stream->metadata, "alpha_mode", NULL, 0);
    if (alpha && !strcmp(alpha->value, "1") &&
        !(av_pix_fmt_desc_get(m->frame->format)->flags & AV_PIX_FMT_FLAG_ALPHA))
        motus_reader_log(reader, MOTUS_LOG_LOSS,
                         "its transparency is left out, libavcodec does not decode it here");
    if (stream->disposition & AV_DISPOSITION_ATTACHED_PIC)
        motus_reader_log(reader, MOTUS_LOG_NOTE, "its only video is a cover picture");
}

// ---- Rate ---------------------------------------------------------------------------------------

static double value(AVRational r) { return r.num > 0 && r.den > 0 ? av_q2d(r) : 0; }

static int within(double a, double b, double part) {
    return a > 0 && b > 0 && fabs(a / b - 1) <= part;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Reads the first packets into m->ahead and sorts the times of their pictures. *more: the input
// goes on. *untimed: number of pictures without a time, if the first one has none.
static int look_ahead(MotusReader *reader, int64_t times[LOOK], int *n, int *more, int *untimed) {
    MotusMedia *m = reader->state;
    int code = 0, none = 0;
    *n = *more = *untimed = 0;
    for (int i = 0;
         i < LOOK && m->ahead.bytes < LOOK_BYTES && !(code = motus_media_read_packet(reader));
         i++) {
        int64_t at = m->packet->pts != AV_NOPTS_VALUE ? m->packet->pts : m->packet->dts;
        if (at != AV_NOPTS_VALUE && !(m->packet->flags & AV_PKT_FLAG_DISCARD)) times[(*n)++] = at;
        none += at == AV_NOPTS_VALUE;
        if (none > i) *untimed = none;
        code = motus_packets_push(&m->ahead, m->packet);
        if (code) return code;
    }
    if (*untimed) *untimed = none;
    *more = !code;
    m->after_ahead = code;
    qsort(times, (size_t)*n, sizeof *times, by_value);
    if (*more) *n -= *n > 2 * UNSETTLED ? UNSETTLED : 0;
    int kept = 0;
    for (int i = 0; i < *n; i++)
        if (!kept || times[i] > times[kept - 1]) times[kept++] = times[i];
    *n = kept;
    return 0;
}

static int near(int64_t d, int64_t mean) {
    return llabs(d - mean) <= (mean >= 20 ? 1 : 0) || llabs(d - mean) * 100 <= mean;
}

// Returns the distance of neighbours if all have it, except for rounding and a few holes of whole
// pictures; else 0. *same gets the number of neighbours at that distance. A broadcast loses
// packets: there one loss is allowed wherever it is, with all the holes that it leaves.
static double even_distance(const int64_t *times, int n, int broadcast, int *same) {
    int64_t d[LOOK], sum = 0;
    int holes = 0, last = -NEARBY;
    for (int i = 0; i < n - 1; i++) d[i] = times[i + 1] - times[i];
    qsort(d, (size_t)n - 1, sizeof *d, by_value);
    const int64_t median = d[(n - 1) / 2];
    *same = 0;
    for (int i = 0; i < n - 1; i++) {
        const int64_t gap = times[i + 1] - times[i];
        if (near(gap, median)) {
            sum += gap;
            ++*same;
        } else if (gap > median && near(gap / ((gap + median / 2) / median), median)) {
            holes += !broadcast || i - last > NEARBY;
            last = i;
        } else {
            return 0;
        }
    }
    if (broadcast && holes == 1 && *same > NEARBY) holes = 0;
    return holes * FEW_HOLES > *same ? 0 : (double)sum / *same;
}

static MotusRational fraction(double rate) {
    static const double families[2] = {1, 1.001}; // 24, 25, 30 ..., and NTSC's
    for (int i = 0; i < 2; i++) {
        double whole = round(rate * families[i]);
        if (whole >= 1 && within(whole / families[i], rate, 2e-4))
            return i ? (MotusRational){(int)whole * 1000, 1001} : (MotusRational){(int)whole, 1};
    }
    AVRational r = av_d2q(rate, MAX_TERM);
    return r.num > 0 && r.den > 0 ? (MotusRational){r.num, r.den} : usual;
}

// Returns the rate by the times. even: distance of pictures, 0 if it varies.
static MotusRational measured(const AVStream *stream, AVRational guess, const int64_t *times, int n,
                              int more, double even) {
    double unit = av_q2d(stream->time_base),
           mean = (n - 1) / ((double)(times[n - 1] - times[0]) * unit);
    if (even) mean = 1 / (even * unit);
    if (even && within(value(guess), mean, 0.01)) return (MotusRational){guess.num, guess.den};
    if (even && within(value(stream->avg_frame_rate), mean, 0.01))
        return (MotusRational){stream->avg_frame_rate.num, stream->avg_frame_rate.den};
    if (even) return fraction(mean);
    if (more && stream->nb_frames > 1 && stream->duration > 0) // the average over the whole file
        mean = (double)stream->nb_frames / ((double)stream->duration * unit);
    return within(value(guess), mean, 0.03) ? (MotusRational){guess.num, guess.den}
                                            : fraction(mean);
}

int motus_media_measure(MotusReader *reader) {
    MotusMedia *m = reader->state;
    AVStream *stream = m->format->streams[m->stream];
    MotusSequenceInfo *info = &reader->info;
    AVRational guess = av_guess_frame_rate(m->format, stream, NULL);
    int64_t times[LOOK];
    int n = 0, more = 1, untimed = 0;
    if (reader->source && reader->source->seekable) { // a pipe may be slow
        int code = look_ahead(reader, times, &n, &more, &untimed);
        if (code < 0) return code;
    }
    const int broadcast = (m->format->iformat->flags & AVFMT_TS_DISCONT) != 0,
              claims = within(value(guess), value(stream->avg_frame_rate), 0.001);
    if (n < 2) {
        m->says_even = broadcast && claims; // a pipe: its times are seen as they come
        int single = !more || stream->disposition & AV_DISPOSITION_ATTACHED_PIC;
        // libavformat's guess, unless the container's average contradicts it
        const double average = value(stream->avg_frame_rate);
        const AVRational r =
            average && !within(value(guess), average, 0.25) ? stream->avg_frame_rate : guess;
        info->fps = (single && value(guess) > HIGHEST_GUESS) || !value(r)
                        ? usual
                        : (MotusRational){r.num, r.den};
    } else {
        int same;
        double even = even_distance(times, n, broadcast, &same);
        info->variable = even == 0;
        info->fps = measured(stream, guess, times, n, more, even);
        m->says_even = even && claims;
        if (m->says_even && broadcast) m->even = same; // a hole near the beginning counts
    }
    info->time_base = (MotusRational){stream->time_base.num, stream->time_base.den};
    m->period = av_rescale_q(1, (AVRational){info->fps.den, info->fps.num}, stream->time_base);
    if (m->period < 1) m->period = 1;
    // Matroska's reader leaves out times below zero.
    if (n && untimed && m->period < MOTUS_MAX_TIME / LOOK)
        m->begin = times[0] - untimed * m->period;
    return 0;
}
