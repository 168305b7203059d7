// Reads any file that libavformat and libavcodec read: opening, frames with their times, and the
// other streams.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "yuv/io/media_internal.h"

#define IO_BUFFER 65536
#define INDEX_AT_END 1 // not an AVERROR

// ---- Packets ------------------------------------------------------------------------------------

int motus_packets_push(MotusPackets *p, const AVPacket *packet) {
    if (p->first && p->end == p->capacity) {
        memmove(p->list, p->list + p->first, (p->end - p->first) * sizeof *p->list);
        p->end -= p->first;
        p->first = 0;
    }
    if (p->end == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : 64;
        AVPacket **list = motus_alloc(capacity, sizeof *list);
        if (!list) return AVERROR(ENOMEM);
        if (p->end) memcpy(list, p->list, p->end * sizeof *list);
        motus_free(p->list);
        p->list = list;
        p->capacity = capacity;
    }
    AVPacket *kept = av_packet_clone(packet);
    if (!kept) return AVERROR(ENOMEM);
    p->list[p->end++] = kept;
    p->bytes += (size_t)kept->size;
    return 0;
}

AVPacket *motus_packets_pop(MotusPackets *packets) {
    if (packets->first == packets->end) return NULL;
    AVPacket *packet = packets->list[packets->first++];
    packets->bytes -= (size_t)packet->size;
    if (packets->first == packets->end) packets->first = packets->end = 0;
    return packet;
}

void motus_packets_free(MotusPackets *packets) {
    for (AVPacket *packet; (packet = motus_packets_pop(packets));) av_packet_free(&packet);
    motus_free(packets->list);
    *packets = (MotusPackets){0};
}

// ---- Reading the source -------------------------------------------------------------------------

MotusStatus motus_media_fail(const MotusReader *reader, MotusError *error, int code,
                             const char *what) {
    if (reader->source && reader->source->error)
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", reader->name,
                          strerror(reader->source->error));
    char text[AV_ERROR_MAX_STRING_SIZE], logged[120];
    av_strerror(code, text, sizeof text);
    motus_media_log_take(&((MotusMedia *)reader->state)->log, logged);
    MotusStatus status = code == AVERROR(ENOMEM)                              ? MOTUS_ERR_MEMORY
                         : code == AVERROR_EOF                                ? MOTUS_ERR_TRUNCATED
                         : code == AVERROR(ENOENT) || code == AVERROR(EACCES) ? MOTUS_ERR_IO
                         : code == AVERROR_DECODER_NOT_FOUND ? MOTUS_ERR_UNSUPPORTED
                                                             : MOTUS_ERR_FORMAT;
    return motus_fail(error, status, "%s: %s: %s%s", reader->name, what, text, logged);
}

static int source_read(void *opaque, uint8_t *data, int size) {
    MotusSource *source = opaque;
    size_t got = motus_source_read(source, data, (size_t)size);
    return got ? (int)got : source->error ? AVERROR(source->error) : AVERROR_EOF;
}

static int64_t source_seek(void *opaque, int64_t offset, int whence) {
    MotusSource *source = opaque;
    int64_t base = whence == SEEK_CUR   ? motus_source_position(source)
                   : whence == SEEK_END ? source->size
                                        : 0;
    if (whence & AVSEEK_SIZE) return source->size < 0 ? AVERROR(ENOSYS) : source->size;
    if (offset > INT64_MAX - base || !motus_source_seek(source, base + offset))
        return AVERROR(EINVAL);
    return base + offset;
}

static void media_close(MotusReader *reader) {
    MotusMedia *m = reader->state;
    for (int i = 0; i < 4; i++) sws_freeContext(m->converter.scaler[i]);
    av_frame_free(&m->converter.composed);
    motus_deinterlacer_close(&m->deinterlacer);
    av_frame_free(&m->frame);
    av_frame_free(&m->waiting);
    av_packet_free(&m->packet);
    avcodec_free_context(&m->decoder);
    motus_packets_free(&m->ahead);
    motus_packets_free(&m->side);
    avformat_close_input(&m->format);
    if (m->io) av_freep(&m->io->buffer);
    avio_context_free(&m->io);
    motus_free(m);
    reader->state = NULL;
}

// ---- Opening ------------------------------------------------------------------------------------

static int is_interrupted(void *opaque) {
    const MotusReader *reader = opaque;
    return reader->options.interrupted && reader->options.interrupted();
}

// True if the index came after the pictures and they cannot be read again.
static int has_passed_pictures(MotusMedia *m) {
    for (unsigned i = 0; i < m->format->nb_streams; i++) {
        const AVIndexEntry *e = avformat_index_get_entry(m->format->streams[i], 0);
        if (e && e->pos < avio_tell(m->io) && avio_seek(m->io, e->pos, SEEK_SET) < 0) return 1;
    }
    return 0;
}

static int open_container(MotusReader *reader, const char *path) {
    MotusMedia *m = reader->state;
    MotusSource *source = reader->source;
    if (!(m->format = avformat_alloc_context())) return AVERROR(ENOMEM);
    m->format->opaque = &m->log;
    m->format->interrupt_callback = (AVIOInterruptCB){is_interrupted, reader};
    m->log.opening = 1;
    if (source) {
        uint8_t *buffer = av_malloc(IO_BUFFER);
        m->io = buffer ? avio_alloc_context(buffer, IO_BUFFER, 0, source, source_read, NULL,
                                            source->seekable ? source_seek : NULL)
                       : NULL;
        if (!m->io) av_free(buffer);
        if (!m->io) return AVERROR(ENOMEM);
        m->format->pb = m->io;
    }
    AVDictionary *options = NULL;
    // A playlist may name files, never the network, and starts at its first file also while it
    // grows.
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    av_dict_set(&options, "live_start_index", "0", 0);
    const int code = avformat_open_input(&m->format, path, NULL, &options);
    av_dict_free(&options);
    if (code >= 0 && source && !source->seekable && has_passed_pictures(m)) return INDEX_AT_END;
    return code < 0 ? code : avformat_find_stream_info(m->format, NULL);
}

static int try_decoder(MotusMedia *m, const AVCodec *codec, int threads) {
    avcodec_free_context(&m->decoder);
    if (!(m->decoder = avcodec_alloc_context3(codec))) return AVERROR(ENOMEM);
    int code = avcodec_parameters_to_context(m->decoder, m->format->streams[m->stream]->codecpar);
    if (code < 0) return code;
    m->decoder->thread_count = threads;
    m->decoder->max_pixels = (int64_t)MOTUS_MAX_SIZE * MOTUS_MAX_SIZE;
    m->decoder->pkt_timebase = m->format->streams[m->stream]->time_base;
    m->decoder->opaque = &m->log;
    return avcodec_open2(m->decoder, codec, NULL);
}

// Opens the decoder, with one thread if it cannot have `threads`.
static int open_decoder(MotusMedia *m, int threads) {
    const AVCodec *codec = NULL;
    m->stream = av_find_best_stream(m->format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (m->stream < 0) return m->stream;
    m->packet = av_packet_alloc();
    m->frame = av_frame_alloc();
    m->waiting = av_frame_alloc();
    if (!m->packet || !m->frame || !m->waiting) return AVERROR(ENOMEM);
    int code = try_decoder(m, codec, threads);
    return code < 0 && threads != 1 ? try_decoder(m, codec, 1) : code;
}

// ---- Times --------------------------------------------------------------------------------------

// Sets the time of m->frame: increasing, and guessed if the stream has none.
static void take_time(MotusReader *reader) {
    MotusMedia *m = reader->state;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    MotusTime time = {m->frame->best_effort_timestamp, m->frame->duration};
#else
    MotusTime time = {m->frame->best_effort_timestamp, m->frame->pkt_duration};
#endif
    if (time.at != AV_NOPTS_VALUE && llabs(time.at / 2) > MOTUS_MAX_TIME / 2)
        time.at = AV_NOPTS_VALUE;
    if (time.duration > MOTUS_MAX_TIME) time.duration = 0;
    int64_t next = m->has_last ? m->last.at + m->last.duration : m->begin;
    if (time.at == AV_NOPTS_VALUE) time.at = next;
    if (m->has_last && time.at <= m->last.at) {
        if (!(m->told & MOTUS_ONCE_TIMES))
            motus_reader_log(reader, MOTUS_LOG_WARNING,
                             "at %.3f s: times do not grow from picture to picture; such pictures "
                             "are shown one tick apart",
                             motus_media_seconds(m, m->last.at));
        m->told |= MOTUS_ONCE_TIMES;
        time.at = m->last.at + 1;
    }
    motus_media_time_came(reader, time);
    if (time.duration <= 0) time.duration = m->period;
    if (!reader->options.fps.num) {
        reader->times[reader->number % MOTUS_READER_TIMES] = time;
        if (!reader->number) reader->info.start = time.at;
    }
    m->last = time;
    m->has_last = 1;
}

// ---- The reader ---------------------------------------------------------------------------------

// Decodes the next picture into m->frame and sets its time.
static MotusStatus next_timed(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    if (m->timed_waits) {
        m->timed_waits = 0;
        return MOTUS_OK;
    }
    MotusStatus status = m->first_waits ? MOTUS_OK : motus_media_next_picture(reader, error);
    m->first_waits = 0;
    if (!status) take_time(reader);
    return status;
}

static MotusStatus media_next(MotusReader *reader, MotusFrame **frame, MotusError *error) {
    MotusMedia *m = reader->state;
    MotusStatus status = next_timed(reader, error);
    if (status) return status;
    MotusFrame *f = NULL;
    status = motus_frame_alloc(&f, reader->info.width, reader->info.height);
    if (status) return motus_fail(error, status, "%s: out of memory", reader->name);
    int done, code = motus_convert(&m->converter, m->frame, f, &done);
    if (code < 0) {
        motus_frame_unref(&f);
        return motus_media_fail(reader, error, code, "cannot be converted to 8-bit 4:2:0");
    }
    if (done & MOTUS_CONVERTED_SIZE && !(m->told & MOTUS_ONCE_SIZE))
        motus_reader_log(reader, MOTUS_LOG_LOSS,
                         "at %.3f s the size changes to %dx%d; pictures are scaled to %dx%d",
                         motus_media_seconds(m, m->last.at), m->frame->width, m->frame->height,
                         reader->info.width, reader->info.height);
    if (done & MOTUS_CONVERTED_ALPHA && !(m->told & MOTUS_ONCE_ALPHA))
        motus_reader_log(
            reader, MOTUS_LOG_LOSS,
            "transparent pictures are shown over black, H.264 here has no transparency");
    m->told |= (done & MOTUS_CONVERTED_SIZE ? MOTUS_ONCE_SIZE : 0) |
               (done & MOTUS_CONVERTED_ALPHA ? MOTUS_ONCE_ALPHA : 0);
    f->number = reader->number++;
    *frame = f;
    return MOTUS_OK;
}

// Drops packets of other streams that end before the last picture, for pictures that were skipped.
static void drop_side_packets(MotusMedia *m) {
    while (m->side.first < m->side.end) {
        const AVPacket *p = m->side.list[m->side.first];
        int64_t end = p->pts == AV_NOPTS_VALUE ? INT64_MIN : p->pts + p->duration;
        if (av_compare_ts(end, m->format->streams[p->stream_index]->time_base, m->last.at,
                          m->format->streams[m->stream]->time_base) >= 0)
            return;
        AVPacket *gone = motus_packets_pop(&m->side);
        av_packet_free(&gone);
    }
}

// Skips pictures by decoding them: exact for every container, unlike seeking.
static MotusStatus media_skip(MotusReader *reader, int64_t n, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (; n > 0 && !status; n--) {
        status = next_timed(reader, error);
        if (status) break;
        reader->number++;
        drop_side_packets(reader->state);
    }
    return status;
}

static MotusStatus media_skip_until(MotusReader *reader, int64_t ticks, MotusError *error) {
    MotusMedia *m = reader->state;
    for (;;) {
        MotusStatus status = next_timed(reader, error);
        if (status) return status;
        if (m->last.at - reader->info.start >= ticks) break;
        reader->number++;
        drop_side_packets(m);
    }
    m->timed_waits = 1;
    return MOTUS_OK;
}

// Decodes the first picture, whose size and colours are more reliable than any header.
static MotusStatus prime(MotusReader *reader, MotusError *error) {
    MotusMedia *m = reader->state;
    MotusStatus status = motus_media_next_picture(reader, error);
    if (status == MOTUS_END) {
        if (m->last_error)
            return motus_media_fail(reader, error, m->last_error, "no picture can be decoded");
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: has no pictures", reader->name);
    }
    if (status) return status;
    if (m->frame->width > MOTUS_MAX_SIZE || m->frame->height > MOTUS_MAX_SIZE)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: size %dx%d is out of the range 1x1 to %dx%d", reader->name,
                          m->frame->width, m->frame->height, MOTUS_MAX_SIZE, MOTUS_MAX_SIZE);
    m->first_waits = 1;
    motus_media_describe(reader);
    return MOTUS_OK;
}

static const MotusReaderOps ops = {.next = media_next,
                                   .skip = media_skip,
                                   .skip_until = media_skip_until,
                                   .close = media_close,
                                   .has_times = 1};

MotusStatus motus_media_open(MotusReader *reader, const char *path, MotusError *error) {
    MotusMedia *m = motus_alloc(1, sizeof *m);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", reader->name);
    reader->state = m;
    reader->ops = &ops;
    m->at = m->end = AV_NOPTS_VALUE;
    for (int i = 0; i < MOTUS_MEDIA_STREAMS; i++) m->next_dts[i] = AV_NOPTS_VALUE;
    motus_media_log_begin(&m->log); // libav* prints nothing
    int code = open_container(reader, path);
    if (code == INDEX_AT_END)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: its index is behind its pictures, a pipe cannot go back to them; "
                          "name the file, or move the index (ffmpeg -movflags +faststart)",
                          reader->name);
    if (code < 0) return motus_media_fail(reader, error, code, "libavformat cannot open it");
    code = open_decoder(m, reader->options.threads);
    if (code == AVERROR_STREAM_NOT_FOUND)
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: has no video", reader->name);
    if (code < 0) return motus_media_fail(reader, error, code, "libavcodec cannot decode it");
    m->log.opening = 0;
    if (!motus_media_is_playlist(m->format)) // what was logged is of no interest
        atomic_store(&m->log.text_state, MOTUS_TEXT_FREE);
    code = motus_media_measure(reader);
    if (code < 0) return motus_media_fail(reader, error, code, "cannot be read");
    return prime(reader, error);
}

// ---- Other streams ------------------------------------------------------------------------------

AVFormatContext *motus_media_container(const MotusReader *reader, int *video) {
    if (reader->ops != &ops) return NULL;
    const MotusMedia *m = reader->state;
    *video = m->stream;
    return m->format;
}

int64_t motus_media_clock_start(const MotusReader *reader) {
    const MotusMedia *m = reader->ops == &ops ? reader->state : NULL;
    const char *name = m ? m->format->iformat->name : "";
    int has_clock = !strcmp(name, "mpegts") || !strcmp(name, "mpeg") || !strcmp(name, "hls");
    return has_clock && m->format->start_time != AV_NOPTS_VALUE ? m->format->start_time : 0;
}

const int32_t *motus_media_matrix(const MotusReader *reader) {
    const MotusMedia *m = reader->ops == &ops ? reader->state : NULL;
    return m && m->has_matrix ? m->matrix : NULL;
}

AVPacket *motus_media_side_packet(MotusReader *reader) {
    return reader->ops == &ops ? motus_packets_pop(&((MotusMedia *)reader->state)->side) : NULL;
}

int motus_media_read_on(MotusReader *reader, int64_t *at) {
    MotusMedia *m = reader->ops == &ops ? reader->state : NULL;
    if (!m || m->failure.status || motus_media_next_packet(reader)) return 0;
    *at = m->packet->dts != AV_NOPTS_VALUE ? m->packet->dts : m->packet->pts;
    return 1;
}
