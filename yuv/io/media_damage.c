// Finds the damage of an input and reports it. libavformat and libavcodec conceal what they can;
// return codes, flags of pictures, their logs and the container's own counts show what they
// dropped.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yuv/io/media_internal.h"

#define LOG_MAGIC 0x6D6F7475
#define LINES 5  // warnings about single errors; the totals come at the end
#define EVEN 12  // pictures at one distance, after which a gap is a hole
#define SLACK 40 // milliseconds by which a container may overstate its duration

// ---- The log ------------------------------------------------------------------------------------

// Keeps the text of an error, unless one is kept.
static void keep_text(MotusMediaLog *log, const char *format, va_list args) {
    int free = MOTUS_TEXT_FREE;
    if (!atomic_compare_exchange_strong(&log->text_state, &free, MOTUS_TEXT_BEING_WRITTEN)) return;
    vsnprintf(log->text, sizeof log->text, format, args);
    log->text[strcspn(log->text, "\r\n")] = 0;
    atomic_store(&log->text_state, MOTUS_TEXT_READY);
}

int motus_media_is_playlist(const AVFormatContext *f) {
    static const char *const names[] = {"hls", "dash", "concat"};
    for (size_t i = 0; f->iformat && i < sizeof names / sizeof *names; i++)
        if (strstr(f->iformat->name, names[i])) return 1;
    return 0;
}

// Counts an error. libav* has one log per process; the context's `opaque` points to ours.
static void note_error(void *context, int level, const char *format, va_list args) {
    if (!context || level > AV_LOG_WARNING) return;
    const AVClass *class = *(const AVClass **)context;
    if (!class) return;
    int decoder = !strcmp(class->class_name, "AVCodecContext"),
        container = !strcmp(class->class_name, "AVFormatContext");
    MotusMediaLog *log = decoder     ? ((AVCodecContext *)context)->opaque
                         : container ? ((AVFormatContext *)context)->opaque
                                     : NULL;
    if (!log || log->magic != LOG_MAGIC) return;
    if (log->opening && level <= AV_LOG_ERROR) keep_text(log, format, args);
    // Readers of playlists only warn of a missing segment. A flagged packet counts with its
    // picture.
    int playlist =
        container && motus_media_is_playlist(context) && strncmp(format, "Packet corrupt", 14) != 0;
    if (level > AV_LOG_ERROR ? !playlist : !playlist && log->opening) return;
    atomic_fetch_add(decoder ? &log->decoder : &log->container, 1);
    keep_text(log, format, args);
}

void motus_media_log_begin(MotusMediaLog *log) {
    log->magic = LOG_MAGIC;
    av_log_set_callback(note_error);
}

void motus_media_log_take(MotusMediaLog *log, char text[120]) {
    text[0] = 0;
    if (atomic_load(&log->text_state) != MOTUS_TEXT_READY) return;
    snprintf(text, 120, " (%s)", log->text);
    atomic_store(&log->text_state, MOTUS_TEXT_FREE);
}

// ---- Counting -----------------------------------------------------------------------------------

double motus_media_seconds(const MotusMedia *m, int64_t time) {
    return time == AV_NOPTS_VALUE ? 0
                                  : (double)time * av_q2d(m->format->streams[m->stream]->time_base);
}

void motus_media_packet_lost(MotusReader *reader, int code) {
    MotusMedia *m = reader->state;
    char words[AV_ERROR_MAX_STRING_SIZE], text[120];
    av_strerror(code, words, sizeof words);
    motus_media_log_take(&m->log, text);
    m->seen_decoder = atomic_load(&m->log.decoder); // the same fault
    reader->info.damage.lost++;
    if (m->lines++ < LINES)
        motus_reader_log(reader, MOTUS_LOG_WARNING,
                         "at %.3f s: a picture is lost, it cannot be decoded: %s%s",
                         motus_media_seconds(m, m->at), words, text);
}

void motus_media_picture_came(MotusReader *reader) {
    MotusMedia *m = reader->state;
    int logged = atomic_load(&m->log.decoder) != m->seen_decoder;
    if (!logged && !(m->frame->flags & AV_FRAME_FLAG_CORRUPT) && !m->frame->decode_error_flags &&
        !m->transient)
        return;
    char text[120];
    motus_media_log_take(&m->log, text);
    m->seen_decoder = atomic_load(&m->log.decoder);
    m->transient = 0;
    reader->info.damage.repaired++;
    if (m->lines++ < LINES)
        motus_reader_log(reader, MOTUS_LOG_WARNING,
                         "at %.3f s: a damaged picture was repaired as well as it can be%s",
                         motus_media_seconds(m, m->frame->best_effort_timestamp), text);
}

void motus_media_container_error(MotusReader *reader, int code) {
    MotusMedia *m = reader->state;
    char words[AV_ERROR_MAX_STRING_SIZE] = "", text[120];
    if (code) av_strerror(code, words, sizeof words);
    motus_media_log_take(&m->log, text);
    m->seen_container = atomic_load(&m->log.container);
    reader->info.damage.container_errors++;
    if (m->lines++ < LINES)
        motus_reader_log(reader, MOTUS_LOG_WARNING, "after %.3f s: the container is damaged%s%s%s",
                         motus_media_seconds(m, m->at), code ? ": " : "", words, text);
}

void motus_media_packet_came(MotusReader *reader, const AVPacket *packet) {
    MotusMedia *m = reader->state;
    const AVStream *stream = m->format->streams[packet->stream_index];
    if (atomic_load(&m->log.container) != m->seen_container) motus_media_container_error(reader, 0);
    int64_t at = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    m->packets += packet->stream_index == m->stream;
    if (at == AV_NOPTS_VALUE) return;
    int64_t end = av_rescale_q(at + packet->duration, stream->time_base, AV_TIME_BASE_Q);
    if (m->end == AV_NOPTS_VALUE || end > m->end) m->end = end;
}

// Counts the pictures missing in a gap that the last picture's duration does not fill. The rate
// must be constant, by the container and so far. Lost packets have been reported already.
static void find_hole(MotusReader *reader, int64_t gap) {
    MotusMedia *m = reader->state;
    int64_t missing = (gap + m->period / 2) / m->period - 1;
    if (!m->says_even || reader->info.variable || m->even < EVEN || missing < 1 ||
        m->last.duration >= gap - m->period / 2)
        return;
    m->holes += missing;
    int64_t unexplained = m->holes - reader->info.damage.lost;
    if (unexplained <= reader->info.damage.missing) return;
    reader->info.damage.missing = unexplained;
    if (m->lines++ < LINES)
        motus_reader_log(reader, MOTUS_LOG_WARNING,
                         "between %.3f s and %.3f s: pictures are missing: %lld",
                         motus_media_seconds(m, m->last.at),
                         motus_media_seconds(m, m->last.at + gap), (long long)missing);
}

void motus_media_time_came(MotusReader *reader, MotusTime time) {
    MotusMedia *m = reader->state;
    if (!m->has_last) return;
    int64_t gap = time.at - m->last.at, off = llabs(gap - m->period);
    if (off <= 2 || off * 50 <= m->period) {
        m->even++;
        return;
    }
    find_hole(reader, gap);
    if (!reader->options.fps.num && !reader->info.damage.missing && !reader->info.damage.lost)
        reader->info.variable = 1;
}

// ---- The end ------------------------------------------------------------------------------------

// True if the header's duration exceeds the last packet. Formats count it from zero or from their
// first packet: the lower estimate is used. ASF adds the player's delay; without a header it is an
// estimate.
static int promises_more(const MotusMedia *m, int64_t *told, int64_t *seen) {
    const AVFormatContext *f = m->format;
    if (f->duration <= 0 || m->end == AV_NOPTS_VALUE ||
        f->duration_estimation_method != AVFMT_DURATION_FROM_STREAM)
        return 0;
    if (strstr(f->iformat->name, "asf")) return 0;
    int64_t start = f->start_time == AV_NOPTS_VALUE || f->start_time > 0 ? 0 : f->start_time;
    int64_t slack =
        3 * av_rescale_q(m->period, f->streams[m->stream]->time_base, AV_TIME_BASE_Q) / 2;
    if (slack < SLACK * 1000) slack = SLACK * 1000;
    *told = f->duration;
    *seen = m->end - start;
    return *told - *seen > slack;
}

void motus_media_ended(MotusReader *reader) {
    MotusMedia *m = reader->state;
    if (m->ended++) return;
    const char *kind = m->format->iformat->name;
    // Pictures that the index lists and that did not come. Only MP4 lists all of them.
    const int64_t listed = avformat_index_get_entries_count(m->format->streams[m->stream]),
                  missing = strstr(kind, "mp4") && listed > m->packets ? listed - m->packets : 0;
    reader->info.damage.missing += missing;
    if (m->failure.status) { // reported by itself
        reader->info.damage.cut |= m->failure.status == MOTUS_ERR_TRUNCATED;
        return;
    }
    if (missing) {
        reader->info.damage.cut = 1;
        motus_reader_log(reader, MOTUS_LOG_WARNING,
                         "its index lists %lld pictures, the last %lld are not there",
                         (long long)(m->packets + missing), (long long)missing);
        return;
    }
    const int64_t size = reader->source ? reader->source->size : 0;
    if (!strcmp(kind, "mpegts") && size > 188 && size % 188 && size % 192 && size % 204) {
        reader->info.damage.cut = 1;
        motus_reader_log(reader, MOTUS_LOG_WARNING,
                         "is cut: it ends inside a packet of the transport stream");
        return;
    }
    int64_t told, seen;
    if (!promises_more(m, &told, &seen)) return;
    reader->info.damage.cut = 1;
    motus_reader_log(reader, MOTUS_LOG_WARNING, "is cut: it ends at %.3f s, its header says %.3f s",
                     (double)seen / AV_TIME_BASE, (double)told / AV_TIME_BASE);
}
