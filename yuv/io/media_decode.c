// Reads packets, decodes and deinterlaces. Damage is reported and left out.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "common/error.h"
#include "yuv/io/media_internal.h"

#define MAX_ERRORS 1000     // of a decoder in a row, of a container in all, before giving up
#define JUMP_BACK 100000    // microseconds; a time farther back is a jump
#define JUMP_AHEAD 10000000 // and one farther ahead
#define CUT FFERRTAG('M', 'C', 'U', 'T') // the input ends inside a packet

// ---- Packets ------------------------------------------------------------------------------------

static int keep_side_packet(MotusReader *reader) {
    MotusMedia *m = reader->state;
    return reader->options.with_side_streams ? motus_packets_push(&m->side, m->packet) : 0;
}

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
            motus_reader_note(
                reader, "times jump from %.3f s to %.3f s; the rest is moved so that they go on",
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
        if (code == AVERROR_INVALIDDATA && reader->damage.container_errors < MAX_ERRORS) {
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
        if (!ends && (code = keep_side_packet(reader)) < 0) return code;
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
    code = avcodec_send_packet(m->decoder, code < 0 ? NULL : m->packet);
    return code;
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

static int is_interlaced_stream(const MotusMedia *m) {
    enum AVFieldOrder order = m->format->streams[m->stream]->codecpar->field_order;
    return order != AV_FIELD_UNKNOWN && order != AV_FIELD_PROGRESSIVE;
}

static int wants_deinterlacing(const MotusReader *reader) {
    const MotusMedia *m = reader->state;
    MotusDeinterlace wanted = reader->options.deinterlace;
    if (wanted != MOTUS_DEINTERLACE_AUTO) return wanted == MOTUS_DEINTERLACE_ON;
    return motus_is_interlaced(m->frame) || is_interlaced_stream(m);
}

static MotusStatus begin_deinterlacing(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    int all = reader->options.deinterlace == MOTUS_DEINTERLACE_ON || !motus_is_interlaced(m->frame);
    int code = motus_deinterlacer_open(&m->deinterlacer, m->frame,
                                       m->format->streams[m->stream]->time_base, all);
    if (code == AVERROR(ENOSYS))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: is interlaced, and this build has no libavfilter to deinterlace it; "
                          "--deinterlace off encodes it as it is",
                          reader->name);
    if (code < 0) return motus_media_fail(reader, error, code, "cannot be deinterlaced");
    const int asked = reader->options.deinterlace == MOTUS_DEINTERLACE_ON;
    if (!(m->told & MOTUS_ONCE_INTERLACED))
        (asked ? motus_reader_note : motus_reader_loss)(
            reader, "interlaced pictures are deinterlaced (bwdif); --deinterlace off "
                    "keeps their fields");
    m->told |= MOTUS_ONCE_INTERLACED;
    return MOTUS_OK;
}

// Marks the frame as interlaced if only the container says so (raw samples).
static void mark_fields(MotusMedia *m) {
    enum AVFieldOrder order = m->format->streams[m->stream]->codecpar->field_order;
    if (is_interlaced_stream(m) && !motus_is_interlaced(m->frame))
        motus_set_interlaced(m->frame, order == AV_FIELD_TT || order == AV_FIELD_TB);
}

// Sends m->frame to the deinterlacer. A frame of another size waits until the old deinterlacer has
// handed out its last one.
static MotusStatus deinterlace(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    MotusStatus status = m->deinterlacer ? MOTUS_OK : begin_deinterlacing(reader, error);
    if (status) return status;
    mark_fields(m);
    int fits = motus_deinterlacer_fits(m->deinterlacer, m->frame);
    if (!fits) av_frame_move_ref(m->waiting, m->frame);
    int code = motus_deinterlacer_send(m->deinterlacer, fits ? m->frame : NULL);
    return code < 0 ? motus_media_fail(reader, error, code, "cannot be deinterlaced") : MOTUS_OK;
}

// Receives a picture from the deinterlacer. MOTUS_AGAIN: none is ready.
static MotusStatus deinterlaced(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    int code = motus_deinterlacer_receive(m->deinterlacer, m->frame);
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
        MotusStatus status = m->deinterlacer ? deinterlaced(reader, error) : MOTUS_AGAIN;
        if (status != MOTUS_AGAIN) return status;
        MotusError cause = {0};
        status = decode(reader, &cause);
        if (!m->deinterlacer) {
            if (status && error) *error = cause;
            if (status || !wants_deinterlacing(reader)) return status;
        }
        if (status == MOTUS_OK)
            status = deinterlace(reader, error);
        else if (motus_deinterlacer_send(m->deinterlacer, NULL) >= 0)
            status = MOTUS_OK; // the end is reported after the last pictures
        if (status) return status;
    }
}
