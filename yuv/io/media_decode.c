// Reads packets, decodes, and deinterlaces by libavfilter's bwdif. Damage is reported and left out.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "yuv/io/media_internal.h"
#ifdef MOTUS_HAVE_DEINTERLACE
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#endif

#define MAX_ERRORS 1000     // of a decoder in a row, of a container in all, before giving up
#define JUMP_BACK 100000    // microseconds; a time farther back is a jump
#define JUMP_AHEAD 10000000 // and one farther ahead
#define CUT FFERRTAG('M', 'C', 'U', 'T') // the input ends inside a packet

// ---- Packets ------------------------------------------------------------------------------------

// Clears times so far from zero that their sums could overflow.
static void forget_absurd_times(AVPacket *p) {
    if (llabs(p->pts / 2) > MOTUS_MAX_TIME / 2) p->pts = AV_NOPTS_VALUE;
    if (llabs(p->dts / 2) > MOTUS_MAX_TIME / 2) p->dts = AV_NOPTS_VALUE;
    if (p->duration < 0 || p->duration > MOTUS_MAX_TIME) p->duration = 0;
}

// Joins times that jump, in broadcasts and concatenated files: adds an offset to all times after
// the jump.
static void join_times(MotusReader *reader) {
    MotusMedia *m = reader->state;
    AVPacket *p = m->packet;
    const AVRational unit = m->format->streams[p->stream_index]->time_base, us = AV_TIME_BASE_Q;
    if (!(m->format->iformat->flags & AVFMT_TS_DISCONT) || p->stream_index >= MOTUS_MEDIA_STREAMS ||
        p->dts == AV_NOPTS_VALUE)
        return;
    int64_t *next = &m->next_dts[p->stream_index], dts = av_rescale_q(p->dts, unit, us),
            length = av_rescale_q(p->duration, unit, us);
    if (llabs(dts / 2) > MOTUS_MAX_TIME / 2 || length > MOTUS_MAX_TIME ||
        llabs(m->moved) > MOTUS_MAX_TIME)
        return;
    dts += m->moved;
    if (*next != AV_NOPTS_VALUE && (dts < *next - JUMP_BACK || dts > *next + JUMP_AHEAD)) {
        if (p->stream_index == m->stream)
            motus_reader_log(
                reader, MOTUS_LOG_NOTE,
                "times jump from %.3f s to %.3f s; the rest is moved so that they go on",
                (double)*next / AV_TIME_BASE, (double)dts / AV_TIME_BASE);
        m->moved += *next - dts;
        dts = *next;
    }
    int64_t by = av_rescale_q(m->moved, us, unit);
    p->dts += by;
    if (p->pts != AV_NOPTS_VALUE) p->pts += by;
    *next = dts + length;
    forget_absurd_times(p);
}

int motus_media_read_packet(MotusReader *reader) {
    MotusMedia *m = reader->state;
    for (;;) {
        av_packet_unref(m->packet);
        int code = av_read_frame(m->format, m->packet);
        if (code == AVERROR_INVALIDDATA && reader->info.damage.container_errors < MAX_ERRORS) {
            motus_media_container_error(reader, code);
            continue;
        }
        if (code < 0) return code;
        int at_end = m->format->pb && avio_feof(m->format->pb) &&
                     !motus_media_is_playlist(m->format); // a playlist is read before its files
        int ends = at_end && m->packet->flags & AV_PKT_FLAG_CORRUPT;
        forget_absurd_times(m->packet);
        join_times(reader);
        motus_media_packet_came(reader, m->packet);
        if (m->packet->stream_index == m->stream) return ends ? CUT : 0;
        if (!ends && reader->options.with_side_streams &&
            (code = motus_packets_push(&m->side, m->packet)) < 0)
            return code;
    }
}

int motus_media_next_packet(MotusReader *reader) {
    MotusMedia *m = reader->state;
    AVPacket *packet = motus_packets_pop(&m->ahead);
    int code = packet ? 0 : m->after_ahead ? m->after_ahead : motus_media_read_packet(reader);
    if (packet) {
        av_packet_free(&m->packet);
        m->packet = packet;
    }
    if (code && code != CUT) return code;
    m->at = m->packet->pts != AV_NOPTS_VALUE ? m->packet->pts : m->packet->dts;
    if (!code && m->packet->flags & AV_PKT_FLAG_CORRUPT) m->transient = 1;
    return code;
}

// Sends the decoder the next packet, or the end. A damaged input counts as ended, with the reason
// in m->failure.
static int feed(MotusReader *reader) {
    MotusMedia *m = reader->state;
    int code = m->failure.status ? AVERROR_EOF : motus_media_next_packet(reader);
    if (code == CUT) {
        motus_fail(&m->failure, MOTUS_ERR_TRUNCATED, "%s: ends inside a picture, at %.3f s",
                   reader->name, motus_media_seconds(m, m->at));
    } else if (code < 0 && code != AVERROR_EOF) {
        MotusStatus status =
            motus_media_fail(reader, &m->failure, code, "cannot be read to its end");
        if (status == MOTUS_ERR_FORMAT) m->failure.status = MOTUS_ERR_TRUNCATED; // as if cut here
    }
    if (code < 0) m->after_ahead = AVERROR_EOF;
    return avcodec_send_packet(m->decoder, code < 0 ? NULL : m->packet);
}

// ---- Pictures -----------------------------------------------------------------------------------

static MotusStatus at_end(MotusReader *reader, MotusError *error) {
    const MotusMedia *m = reader->state;
    motus_media_ended(reader);
    if (!m->failure.status) return MOTUS_END;
    return motus_fail(error, m->failure.status, "%s", m->failure.text);
}

// Decodes the next picture into m->frame. Packets that cannot be decoded are warned about.
static MotusStatus decode(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    for (;;) {
        int code = avcodec_receive_frame(m->decoder, m->frame);
        if (!code) {
            // H.264 infers limited range (E.2.1); pictures of other gray formats are full range.
            if (m->decoder->codec_id == AV_CODEC_ID_H264 && !m->frame->color_range)
                m->frame->color_range = motus_is_gray(m->frame->format) ? AVCOL_RANGE_MPEG : 0;
            m->errors_in_row = 0;
            motus_media_picture_came(reader);
            return MOTUS_OK;
        }
        if (code == AVERROR_EOF) return at_end(reader, error);
        if (code == AVERROR(EAGAIN) && !(code = feed(reader))) continue;
        if (code == AVERROR_EOF) continue; // the decoder drains itself
        if (code == AVERROR(ENOMEM) || code == AVERROR_PATCHWELCOME || code == AVERROR(ENOSYS) ||
            ++m->errors_in_row > MAX_ERRORS)
            return motus_media_fail(reader, error, code, "cannot be decoded");
        m->last_error = code;
        motus_media_packet_lost(reader, code);
    }
}

// ---- Deinterlacing: one picture out for one in, a picture later. Without libavfilter none is open

#ifdef MOTUS_HAVE_DEINTERLACE
// Opens the filter for frames like `like`, with times in units of time_base. all: also frames that
// are not marked as interlaced. AVERROR(ENOSYS): there is no bwdif.
static int open_deinterlacer(MotusDeinterlacer *d, const AVFrame *like, AVRational time_base,
                             int all) {
    char source[160];
    AVFilterContext *filter[3] = {NULL};
    const char *const name[3] = {"buffer", "bwdif", "buffersink"},
                      *const settings[3] = {source,
                                            all ? "mode=send_frame:deint=all"
                                                : "mode=send_frame:deint=interlaced",
                                            NULL};
    snprintf(source, sizeof source, "video_size=%dx%d:pix_fmt=%d:time_base=%d/%d", like->width,
             like->height, like->format, time_base.num, time_base.den);
    *d = (MotusDeinterlacer){.time_base = time_base,
                             .width = like->width,
                             .height = like->height,
                             .format = like->format,
                             .graph = avfilter_graph_alloc()};
    if (!d->graph) return AVERROR(ENOMEM);
    d->graph->nb_threads = 1;
    int code = 0;
    for (int i = 0; i < 3 && code >= 0; i++) {
        const AVFilter *known = avfilter_get_by_name(name[i]);
        code = known ? avfilter_graph_create_filter(&filter[i], known, name[i], settings[i], NULL,
                                                    d->graph)
                     : AVERROR(ENOSYS);
        if (code >= 0 && i) code = avfilter_link(filter[i - 1], 0, filter[i], 0);
    }
    if (code >= 0) code = avfilter_graph_config(d->graph, NULL);
    d->source = filter[0], d->sink = filter[2];
    if (code < 0) motus_deinterlacer_close(d);
    return code < 0 ? code : 0;
}

// Takes the frame's reference over; NULL: no more will come. Returns 0 or AVERROR.
static int send_to_deinterlacer(MotusDeinterlacer *d, AVFrame *frame) {
    if (frame) frame->pts = frame->best_effort_timestamp;
    return av_buffersrc_add_frame(d->source, frame);
}

// Returns 0, AVERROR(EAGAIN), AVERROR_EOF or another error.
static int receive_deinterlaced(MotusDeinterlacer *d, AVFrame *frame) {
    av_frame_unref(frame); // the sink does not
    int code = av_buffersink_get_frame(d->sink, frame);
    if (code < 0) return code;
    // bwdif counts in half units.
    frame->pts = av_rescale_q(frame->pts, av_buffersink_get_time_base(d->sink), d->time_base);
    frame->best_effort_timestamp = frame->pts;
    return 0;
}

void motus_deinterlacer_close(MotusDeinterlacer *d) {
    avfilter_graph_free(&d->graph);
    *d = (MotusDeinterlacer){0};
}
#else
#define open_deinterlacer(d, like, time_base, all) AVERROR(ENOSYS)
#define send_to_deinterlacer(d, frame) AVERROR(ENOSYS)
#define receive_deinterlaced(d, frame) AVERROR(ENOSYS)
void motus_deinterlacer_close(MotusDeinterlacer *d) { (void)d; }
#endif

static int is_interlaced_stream(const MotusMedia *m) {
    enum AVFieldOrder order = m->format->streams[m->stream]->codecpar->field_order;
    return order != AV_FIELD_UNKNOWN && order != AV_FIELD_PROGRESSIVE;
}

static MotusStatus begin_deinterlacing(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    const int asked = reader->options.deinterlace == MOTUS_DEINTERLACE_ON;
    const int code =
        open_deinterlacer(&m->deinterlacer, m->frame, m->format->streams[m->stream]->time_base,
                          asked || !motus_is_interlaced(m->frame));
    if (code == AVERROR(ENOSYS))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: is interlaced, and this build has no libavfilter to deinterlace it; "
                          "--deinterlace off encodes it as it is",
                          reader->name);
    if (code < 0) return motus_media_fail(reader, error, code, "cannot be deinterlaced");
    if (!(m->told & MOTUS_ONCE_INTERLACED))
        motus_reader_log(reader, asked ? MOTUS_LOG_NOTE : MOTUS_LOG_LOSS,
                         "interlaced pictures are deinterlaced (bwdif); --deinterlace off keeps "
                         "their fields");
    m->told |= MOTUS_ONCE_INTERLACED;
    return MOTUS_OK;
}

// Sends m->frame to the deinterlacer. A frame of another size waits until the old deinterlacer has
// handed out its last one.
static MotusStatus deinterlace(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    MotusStatus status = m->deinterlacer.graph ? MOTUS_OK : begin_deinterlacing(reader, error);
    if (status) return status;
    if (is_interlaced_stream(m) && !motus_is_interlaced(m->frame)) { // only the container says so
        const enum AVFieldOrder order = m->format->streams[m->stream]->codecpar->field_order;
        const int top_first = order == AV_FIELD_TT || order == AV_FIELD_TB;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
        m->frame->flags |=
            AV_FRAME_FLAG_INTERLACED | (top_first ? AV_FRAME_FLAG_TOP_FIELD_FIRST : 0);
#else
        m->frame->interlaced_frame = 1;
        m->frame->top_field_first = top_first;
#endif
    }
    const MotusDeinterlacer *d = &m->deinterlacer;
    const int fits = d->width == m->frame->width && d->height == m->frame->height &&
                     d->format == m->frame->format;
    if (!fits) av_frame_move_ref(m->waiting, m->frame);
    const int code = send_to_deinterlacer(&m->deinterlacer, fits ? m->frame : NULL);
    return code < 0 ? motus_media_fail(reader, error, code, "cannot be deinterlaced") : MOTUS_OK;
}

// Receives a picture from the deinterlacer. MOTUS_AGAIN: none is ready.
static MotusStatus deinterlaced(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    int code = receive_deinterlaced(&m->deinterlacer, m->frame);
    if (!code) return MOTUS_OK;
    if (code == AVERROR(EAGAIN)) return MOTUS_AGAIN;
    if (code != AVERROR_EOF) return motus_media_fail(reader, error, code, "cannot be deinterlaced");
    motus_deinterlacer_close(&m->deinterlacer);
    if (!m->waiting->buf[0]) return at_end(reader, error);
    av_frame_move_ref(m->frame, m->waiting);
    MotusStatus status = deinterlace(reader, error);
    return status ? status : MOTUS_AGAIN;
}

MotusStatus motus_media_next_picture(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    for (;;) {
        MotusStatus status = m->deinterlacer.graph ? deinterlaced(reader, error) : MOTUS_AGAIN;
        if (status != MOTUS_AGAIN) return status;
        MotusError cause = {0};
        status = decode(reader, &cause);
        if (!m->deinterlacer.graph) {
            const MotusDeinterlace wanted = reader->options.deinterlace;
            const int interlaced = wanted == MOTUS_DEINTERLACE_ON ||
                                   (wanted == MOTUS_DEINTERLACE_AUTO && !status &&
                                    (motus_is_interlaced(m->frame) || is_interlaced_stream(m)));
            if (status && error) *error = cause;
            if (status || !interlaced) return status;
        }
        if (status == MOTUS_OK)
            status = deinterlace(reader, error);
        else if (send_to_deinterlacer(&m->deinterlacer, NULL) >= 0)
            status = MOTUS_OK; // the end is reported after the last pictures
        if (status) return status;
    }
}
