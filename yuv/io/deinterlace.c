// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/deinterlace.h"

#include <errno.h>
#include <libavutil/error.h>

#ifdef MOTUS_HAVE_DEINTERLACE
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <stdio.h>

#include "common/alloc.h"

struct MotusDeinterlacer {
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
    AVRational time_base;
    int width, height, format;
};

static int add(MotusDeinterlacer *d, AVFilterContext **filter, const char *kind,
               const char *settings) {
    const AVFilter *known = avfilter_get_by_name(kind);
    return known ? avfilter_graph_create_filter(filter, known, kind, settings, NULL, d->graph)
                 : AVERROR(ENOSYS);
}

static int build(MotusDeinterlacer *d, const AVFrame *like, int all) {
    char source[160];
    AVFilterContext *bwdif = NULL;
    snprintf(source, sizeof source, "video_size=%dx%d:pix_fmt=%d:time_base=%d/%d", like->width,
             like->height, like->format, d->time_base.num, d->time_base.den);
    if (!(d->graph = avfilter_graph_alloc())) return AVERROR(ENOMEM);
    d->graph->nb_threads = 1;
    int code = add(d, &d->source, "buffer", source);
    if (code >= 0)
        code = add(d, &bwdif, "bwdif",
                   all ? "mode=send_frame:deint=all" : "mode=send_frame:deint=interlaced");
    if (code >= 0) code = add(d, &d->sink, "buffersink", NULL);
    if (code >= 0) code = avfilter_link(d->source, 0, bwdif, 0);
    if (code >= 0) code = avfilter_link(bwdif, 0, d->sink, 0);
    return code < 0 ? code : avfilter_graph_config(d->graph, NULL);
}

int motus_deinterlacer_open(MotusDeinterlacer **deinterlacer, const AVFrame *like,
                            AVRational time_base, int all) {
    MotusDeinterlacer *d = motus_alloc(1, sizeof *d);
    if (!d) return AVERROR(ENOMEM);
    d->time_base = time_base;
    d->width = like->width;
    d->height = like->height;
    d->format = like->format;
    int code = build(d, like, all);
    if (code < 0)
        motus_deinterlacer_close(&d);
    else
        *deinterlacer = d;
    return code < 0 ? code : 0;
}

int motus_deinterlacer_fits(const MotusDeinterlacer *d, const AVFrame *frame) {
    return d->width == frame->width && d->height == frame->height && d->format == frame->format;
}

int motus_deinterlacer_send(MotusDeinterlacer *d, AVFrame *frame) {
    if (frame) frame->pts = frame->best_effort_timestamp;
    return av_buffersrc_add_frame(d->source, frame);
}

int motus_deinterlacer_receive(MotusDeinterlacer *d, AVFrame *frame) {
    av_frame_unref(frame); // the sink does not
    int code = av_buffersink_get_frame(d->sink, frame);
    if (code < 0) return code;
    // bwdif counts in half units.
    frame->pts = av_rescale_q(frame->pts, av_buffersink_get_time_base(d->sink), d->time_base);
    frame->best_effort_timestamp = frame->pts;
    return 0;
}

void motus_deinterlacer_close(MotusDeinterlacer **deinterlacer) {
    if (!deinterlacer || !*deinterlacer) return;
    avfilter_graph_free(&(*deinterlacer)->graph);
    motus_free(*deinterlacer);
    *deinterlacer = NULL;
}

#else // without libavfilter: none is ever opened

int motus_deinterlacer_open(MotusDeinterlacer **deinterlacer, const AVFrame *like,
                            AVRational time_base, int all) {
    (void)like, (void)time_base, (void)all;
    *deinterlacer = NULL;
    return AVERROR(ENOSYS);
}

int motus_deinterlacer_fits(const MotusDeinterlacer *d, const AVFrame *frame) {
    return !d && frame;
}

int motus_deinterlacer_send(MotusDeinterlacer *d, AVFrame *frame) {
    (void)d, (void)frame;
    return AVERROR(ENOSYS);
}

int motus_deinterlacer_receive(MotusDeinterlacer *d, AVFrame *frame) {
    (void)d, (void)frame;
    return AVERROR(ENOSYS);
}

void motus_deinterlacer_close(MotusDeinterlacer **deinterlacer) { (void)deinterlacer; }
#endif
