// SPDX-License-Identifier: BSD-2-Clause
#include "tools/media/mux_streams.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"

#define READ_ON 5 // seconds to read beyond the last picture for its audio

// ---- The note on what is left out ---------------------------------------------------------------

typedef struct LeftOut {
    char text[160];
    size_t used;
} LeftOut;

static void leave_out(LeftOut *left, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void leave_out(LeftOut *left, const char *format, ...) {
    char item[64];
    va_list args;
    va_start(args, format);
    vsnprintf(item, sizeof item, format, args);
    va_end(args);
    if (left->used >= sizeof left->text - 1 || strstr(left->text, item)) return;
    left->used += (size_t)snprintf(left->text + left->used, sizeof left->text - left->used, "%s%s",
                                   left->used ? ", " : "", item);
}

static void log_loss(const LeftOut *left, const MotusMuxSettings *settings, const char *path,
                     const char *why) {
    char line[400];
    if (!left->used || !settings->log) return;
    snprintf(line, sizeof line, "%s: note: left out, %s: %s", motus_shown(path), why, left->text);
    settings->log(settings->opaque, MOTUS_LOG_LOSS, line);
}

// True for QuickTime's timecode, which libavformat remakes from a tag of the video stream.
static int is_timecode(const AVStream *stream) {
    return stream->codecpar->codec_type == AVMEDIA_TYPE_DATA &&
           stream->codecpar->codec_tag == MKTAG('t', 'm', 'c', 'd');
}

static void leave_out_stream(LeftOut *left, const AVStream *stream) {
    const char *kind = av_get_media_type_string(stream->codecpar->codec_type),
               *name = avcodec_get_name(stream->codecpar->codec_id);
    if (stream->disposition & AV_DISPOSITION_ATTACHED_PIC)
        leave_out(left, "cover picture");
    else if (is_timecode(stream))
        leave_out(left, "timecode");
    else if (stream->codecpar->codec_id == AV_CODEC_ID_NONE)
        leave_out(left, "%s", kind ? kind : "unknown data");
    else
        leave_out(left, "%s %s", kind ? kind : "data", name);
}

static int is_unwanted(const MotusMuxSettings *settings, const AVStream *stream) {
    return settings->no_audio && stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
}

static void leave_out_rotation(LeftOut *left, const MotusReader *reader) {
    int rotation = motus_reader_info(reader)->rotation;
    if (rotation)
        leave_out(left, "rotation by %d degrees clockwise (.mp4 and .mov hold it)", rotation);
    else if (motus_media_matrix(reader))
        leave_out(left, "mirroring or rotation (.mp4 and .mov hold it)");
}

// ---- Streams ------------------------------------------------------------------------------------

// True for the codecs that libavformat writes into MPEG-TS: it does not list them.
static int ts_holds(enum AVCodecID id) {
    static const enum AVCodecID known[] = {
        AV_CODEC_ID_AAC,  AV_CODEC_ID_MP2, AV_CODEC_ID_MP3,  AV_CODEC_ID_AC3,
        AV_CODEC_ID_EAC3, AV_CODEC_ID_DTS, AV_CODEC_ID_OPUS, AV_CODEC_ID_DVB_SUBTITLE};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == id) return 1;
    return 0;
}

static int holds(const AVFormatContext *output, const AVStream *stream, MotusFormat format) {
    const AVCodecParameters *p = stream->codecpar;
    if (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) return 0;
    if (p->codec_type == AVMEDIA_TYPE_ATTACHMENT)
        return format == MOTUS_FORMAT_MKV && p->extradata_size > 0;
    if (p->codec_type != AVMEDIA_TYPE_AUDIO && p->codec_type != AVMEDIA_TYPE_SUBTITLE) return 0;
    if (p->codec_type == AVMEDIA_TYPE_AUDIO &&
        (p->sample_rate <= 0 || p->codec_id == AV_CODEC_ID_NONE))
        return 0;
    if (format == MOTUS_FORMAT_TS) return ts_holds(p->codec_id);
    return avformat_query_codec(output->oformat, p->codec_id, FF_COMPLIANCE_EXPERIMENTAL) == 1;
}

static void leave_out_tags(LeftOut *left, MotusFormat format, const AVFormatContext *input) {
    char tags[64];
    if (motus_tags_left_out(format, input, tags, sizeof tags)) leave_out(left, "%s", tags);
    if (input->nb_chapters && (format == MOTUS_FORMAT_H264 || format == MOTUS_FORMAT_TS))
        leave_out(left, "chapters");
}

void motus_mux_streams_note_left_out(const MotusMuxSettings *settings, const char *path,
                                     const char *why) {
    LeftOut left = {0};
    int video;
    const AVFormatContext *input = motus_media_container(settings->reader, &video);
    if (!input) return;
    for (int i = 0; i < (int)input->nb_streams; i++)
        if (i != video && !is_unwanted(settings, input->streams[i]))
            leave_out_stream(&left, input->streams[i]);
    leave_out_tags(&left, MOTUS_FORMAT_H264, input);
    leave_out_rotation(&left, settings->reader);
    if (motus_reader_info(settings->reader)->variable)
        leave_out(&left, "the pictures' own times (its rate is their average)");
    log_loss(&left, settings, path, why);
}

// Opens a converter for subtitles that the format holds in another form.
static int converts(MotusMuxStreams *s, int i, const AVStream *stream,
                    const MotusMuxSettings *settings, const char *path) {
    char line[300];
    if (!(s->subtitles[i] = motus_subtitles_open(stream, settings->format))) return 0;
    const int loses = motus_subtitles_lose_styles(s->subtitles[i]);
    snprintf(line, sizeof line, "%s: note: subtitles (%s) are written as %s%s", motus_shown(path),
             avcodec_get_name(stream->codecpar->codec_id),
             settings->format == MOTUS_FORMAT_MKV ? "SubRip" : "mov_text",
             loses ? ", without most of their styles" : "");
    if (settings->log)
        settings->log(settings->opaque, loses ? MOTUS_LOG_LOSS : MOTUS_LOG_NOTE, line);
    return 1;
}

// Opens the filter that removes AAC's ADTS headers, which MP4 cannot hold. libavformat inserts it
// itself, except into fragments.
static int open_filter(MotusMuxStreams *s, int i, const AVStream *from) {
    const int is_mp4 = s->format == MOTUS_FORMAT_MP4 || s->format == MOTUS_FORMAT_MOV;
    av_bsf_free(&s->filter[i]);
    if (!is_mp4 || from->codecpar->codec_id != AV_CODEC_ID_AAC || from->codecpar->extradata_size)
        return 0;
    const AVBitStreamFilter *kind = av_bsf_get_by_name("aac_adtstoasc");
    int code = kind ? av_bsf_alloc(kind, &s->filter[i]) : AVERROR_BSF_NOT_FOUND;
    if (code >= 0) code = avcodec_parameters_copy(s->filter[i]->par_in, from->codecpar);
    if (code >= 0) s->filter[i]->time_base_in = from->time_base;
    return code < 0 ? code : av_bsf_init(s->filter[i]);
}

// Filters a packet in place. Returns 0 or AVERROR.
static int filter_packet(AVBSFContext *filter, AVPacket *p) {
    const int code = av_bsf_send_packet(filter, p);
    return code < 0 ? code : av_bsf_receive_packet(filter, p);
}

static int copy_stream(MotusMuxStreams *s, int i, const AVStream *from) {
    AVStream *to = avformat_new_stream(s->output, NULL);
    if (!to) return AVERROR(ENOMEM);
    int code = s->subtitles[i] ? motus_subtitles_describe(s->subtitles[i], to->codecpar)
                               : avcodec_parameters_copy(to->codecpar, from->codecpar);
    if (code >= 0) code = open_filter(s, i, from);
    if (code < 0) return code;
    to->codecpar->codec_tag = 0; // belongs to the input's container
    to->time_base = from->time_base;
    to->disposition = from->disposition;
    motus_tags_copy(&to->metadata, from->metadata);
    s->to[i] = to->index;
    s->copied++;
    return 0;
}

static int copy_chapters(AVFormatContext *output, const AVFormatContext *input) {
    if (!input->nb_chapters) return 0;
    output->chapters = av_calloc(input->nb_chapters, sizeof *output->chapters);
    if (!output->chapters) return AVERROR(ENOMEM);
    for (unsigned i = 0; i < input->nb_chapters; i++) {
        AVChapter *c = av_mallocz(sizeof *c);
        if (!c) return AVERROR(ENOMEM);
        *c = *input->chapters[i];
        c->metadata = NULL;
        av_dict_copy(&c->metadata, input->chapters[i]->metadata, 0);
        output->chapters[output->nb_chapters++] = c; // freed with the context
    }
    return 0;
}

static int set_side_data(AVStream *stream, enum AVPacketSideDataType type, const void *data,
                         size_t size) {
    void *copy = av_memdup(data, size);
    if (!copy) return AVERROR(ENOMEM);
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    AVCodecParameters *p = stream->codecpar;
    if (av_packet_side_data_add(&p->coded_side_data, &p->nb_coded_side_data, type, copy, size, 0))
        return 0;
    av_free(copy);
    return AVERROR(ENOMEM);
#else
    int code = av_stream_add_side_data(stream, type, copy, size);
    if (code < 0) av_free(copy);
    return code;
#endif
}

static const uint8_t *side_data(const AVStream *stream, enum AVPacketSideDataType type,
                                size_t *size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    const AVPacketSideData *d = av_packet_side_data_get(stream->codecpar->coded_side_data,
                                                        stream->codecpar->nb_coded_side_data, type);
    *size = d ? d->size : 0;
    return d ? d->data : NULL;
#else
    return av_stream_get_side_data(stream, type, size);
#endif
}

// Copies the container's data about the pictures.
static int copy_picture_data(AVStream *to, const AVStream *from, const int32_t *matrix) {
    static const enum AVPacketSideDataType kept[] = {AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
                                                     AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
                                                     AV_PKT_DATA_STEREO3D, AV_PKT_DATA_SPHERICAL};
    to->disposition = from->disposition & ~AV_DISPOSITION_ATTACHED_PIC;
    int code =
        matrix ? set_side_data(to, AV_PKT_DATA_DISPLAYMATRIX, matrix, 9 * sizeof *matrix) : 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && code >= 0; i++) {
        size_t size = 0;
        const uint8_t *data = side_data(from, kept[i], &size);
        if (data) code = set_side_data(to, kept[i], data, size);
    }
    motus_tags_copy(&to->metadata, from->metadata);
    return code;
}

// True if this libavformat writes the matrix into Matroska (ProjectionPoseYaw, PoseRoll): found out
// by a trial header.
static int matroska_keeps(const int32_t *matrix) {
    // Identifier, and the size of a double.
    static const uint8_t fields[2][3] = {{0x76, 0x73, 0x88}, {0x76, 0x75, 0x88}};
    AVFormatContext *trial = NULL;
    uint8_t *bytes = NULL;
    int size = 0, found = 0;
    if (avformat_alloc_output_context2(&trial, NULL, "matroska", NULL) < 0) return 0;
    AVStream *stream = avformat_new_stream(trial, NULL);
    if (stream && avio_open_dyn_buf(&trial->pb) >= 0) {
        AVCodecParameters *p = stream->codecpar;
        p->codec_type = AVMEDIA_TYPE_VIDEO;
        p->codec_id = AV_CODEC_ID_MJPEG;
        p->width = p->height = 16;
        int good =
            set_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, matrix, 9 * sizeof *matrix) >= 0;
        if (good && avformat_write_header(trial, NULL) >= 0) avio_flush(trial->pb);
        size = avio_close_dyn_buf(trial->pb, &bytes);
    }
    for (int i = 0; i + 3 <= size; i++)
        found |= !memcmp(bytes + i, fields[0], 3) || !memcmp(bytes + i, fields[1], 3);
    av_free(bytes);
    avformat_free_context(trial);
    return found;
}

static int holds_matrix(MotusFormat format, const int32_t *matrix) {
    return matrix && (format == MOTUS_FORMAT_MP4 || format == MOTUS_FORMAT_MOV ||
                      (format == MOTUS_FORMAT_MKV && matroska_keeps(matrix)));
}

int motus_mux_streams_add(MotusMuxStreams *s, AVFormatContext *output,
                          const MotusMuxSettings *settings, const char *path) {
    static const char *const names[MOTUS_FORMATS] = {"H.264", "MP4", "QuickTime", "Matroska",
                                                     "MPEG-TS"};
    LeftOut left = {0};
    int video, code = 0;
    const AVFormatContext *input = motus_media_container(settings->reader, &video);
    s->reader = settings->reader;
    s->output = output;
    s->format = settings->format;
    s->waiting_from = INT64_MAX;
    for (int i = 0; i < MOTUS_MUX_STREAMS; i++) s->to[i] = -1, s->last_dts[i] = AV_NOPTS_VALUE;
    if (!input) return 0;
    const int32_t *matrix = motus_media_matrix(s->reader);
    int held = holds_matrix(settings->format, matrix);
    code = copy_picture_data(output->streams[0], input->streams[video], held ? matrix : NULL);
    for (int i = 0; i < (int)input->nb_streams && code >= 0; i++) {
        const AVStream *stream = input->streams[i];
        int remade = is_timecode(stream) && settings->format != MOTUS_FORMAT_TS &&
                     av_dict_get(input->streams[video]->metadata, "timecode", NULL, 0);
        if (i == video || is_unwanted(settings, stream) || remade) continue;
        if (i < MOTUS_MUX_STREAMS &&
            (holds(output, stream, settings->format) || converts(s, i, stream, settings, path)))
            code = copy_stream(s, i, stream);
        else
            leave_out_stream(&left, stream);
    }
    motus_tags_copy(&output->metadata, input->metadata);
    s->names_tags = motus_tags_need_names(s->format, input);
    if (!s->names_tags) leave_out_tags(&left, s->format, input);
    if (code >= 0) code = copy_chapters(output, input);
    if (!held) leave_out_rotation(&left, s->reader);
    char why[64];
    snprintf(why, sizeof why, "%s as written here cannot hold it", names[settings->format]);
    if (code >= 0) log_loss(&left, settings, path, why);
    return code;
}

// ---- Packets ------------------------------------------------------------------------------------

static AVRational unit_of_pictures(const MotusMuxStreams *s) {
    MotusRational r = motus_reader_info(s->reader)->time_base;
    return (AVRational){r.num, r.den};
}

static AVRational unit_of(const MotusMuxStreams *s, const AVPacket *packet) {
    int video;
    return motus_media_container(s->reader, &video)->streams[packet->stream_index]->time_base;
}

static int64_t begin_of(const AVPacket *p) { return p->pts != AV_NOPTS_VALUE ? p->pts : p->dts; }

// Makes decoding times increase, which damaged inputs do not always have.
static void make_grow(MotusMuxStreams *s, int i, AVPacket *p) {
    if (p->dts == AV_NOPTS_VALUE) p->dts = p->pts;
    if (s->last_dts[i] != AV_NOPTS_VALUE && p->dts <= s->last_dts[i]) p->dts = s->last_dts[i] + 1;
    if (p->pts != AV_NOPTS_VALUE && p->pts < p->dts) p->pts = p->dts;
    s->last_dts[i] = p->dts;
}

// Returns the delay of Opus in Matroska, which readers subtract and libavformat's muxer does not
// add; 0 for others.
static int64_t codec_delay(const MotusMuxStreams *s, const AVStream *to) {
    const AVCodecParameters *p = to->codecpar;
    if (s->format != MOTUS_FORMAT_MKV || p->codec_id != AV_CODEC_ID_OPUS || p->initial_padding <= 0)
        return 0;
    return av_rescale_q(p->initial_padding, (AVRational){1, 48000}, to->time_base);
}

static int write_one(MotusMuxStreams *s, AVPacket *p, int64_t shift) {
    int i = p->stream_index, code;
    const int made = s->subtitles[i] ? motus_subtitles_convert(s->subtitles[i], p) : 1;
    if (made < 0 && made != AVERROR(ENOMEM)) s->lost++;
    if (made <= 0) return made == AVERROR(ENOMEM) ? made : 0;
    if (s->filter[i] && (code = filter_packet(s->filter[i], p)) < 0) {
        if (code != AVERROR(ENOMEM)) s->lost++;
        return code == AVERROR(ENOMEM) ? code : 0;
    }
    AVRational unit = unit_of(s, p);
    const AVStream *to = s->output->streams[s->to[i]];
    int64_t back = av_rescale_q(shift, unit_of_pictures(s), unit), delay = codec_delay(s, to);
    if (back == INT64_MIN) back = 0; // overflow
    if (p->pts != AV_NOPTS_VALUE) p->pts -= back;
    if (p->dts != AV_NOPTS_VALUE) p->dts -= back;
    av_packet_rescale_ts(p, unit, to->time_base);
    if (p->pts != AV_NOPTS_VALUE) p->pts += delay;
    if (p->dts != AV_NOPTS_VALUE) p->dts += delay;
    make_grow(s, i, p);
    p->stream_index = s->to[i];
    p->pos = -1;
    code = av_interleaved_write_frame(s->output, p);
    if (code == AVERROR_INVALIDDATA || code == AVERROR(EINVAL)) { // this packet only
        s->lost++;
        return 0;
    }
    return code;
}

// Moves the reader's packets to those that wait.
static int take_new(MotusMuxStreams *s, int64_t from) {
    AVPacket *p;
    int code = 0;
    while (!code && (p = motus_media_side_packet(s->reader))) {
        int i = p->stream_index;
        if (i < MOTUS_MUX_STREAMS && s->to[i] >= 0 && begin_of(p) != AV_NOPTS_VALUE) {
            int64_t begin = av_rescale_q(begin_of(p), unit_of(s, p), unit_of_pictures(s));
            int64_t end =
                av_rescale_q(begin_of(p) + p->duration, unit_of(s, p), unit_of_pictures(s));
            if (end > from || from == INT64_MIN) {
                if (begin < s->waiting_from) s->waiting_from = begin;
                code = motus_packets_push(&s->waiting, p);
            }
        }
        av_packet_free(&p);
    }
    return code;
}

int motus_mux_streams_write(MotusMuxStreams *s, int64_t from, int64_t until, int64_t shift) {
    if (!s->copied) return 0;
    int code = take_new(s, from);
    if (code < 0 || s->waiting_from >= until) return code;
    MotusPackets rest = {0};
    s->waiting_from = INT64_MAX;
    for (AVPacket *p; code >= 0 && (p = motus_packets_pop(&s->waiting));) {
        int64_t begin = av_rescale_q(begin_of(p), unit_of(s, p), unit_of_pictures(s));
        if (begin < until || until == INT64_MAX) {
            code = write_one(s, p, shift);
        } else {
            if (begin < s->waiting_from) s->waiting_from = begin;
            code = motus_packets_push(&rest, p);
        }
        av_packet_free(&p);
    }
    motus_packets_free(&s->waiting);
    s->waiting = rest;
    return code;
}

void motus_mux_streams_read_on(MotusMuxStreams *s, int64_t until) {
    AVRational unit = unit_of_pictures(s);
    int64_t at = AV_NOPTS_VALUE, far = until + av_rescale_q(READ_ON, (AVRational){1, 1}, unit);
    if (!s->copied) return;
    for (int i = 0; i < 1000 && motus_media_read_on(s->reader, &at); i++)
        if (at == AV_NOPTS_VALUE || at > far) break;
}

void motus_mux_streams_free(MotusMuxStreams *s) {
    for (int i = 0; i < MOTUS_MUX_STREAMS; i++) {
        motus_subtitles_close(&s->subtitles[i]);
        av_bsf_free(&s->filter[i]);
    }
    motus_packets_free(&s->waiting);
}
