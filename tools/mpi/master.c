// Rank 0 hands out segments as workers request them and writes their pictures to the output in
// stream order.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/master.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/system.h"
#include "tools/mpi/segments.h"

// ---- Output -------------------------------------------------------------------------------------

MotusStatus motus_mpi_log_add(MotusMpiPass *pass, const char *text, size_t size,
                              MotusError *error) {
    motus_bytes_add(&pass->log, text, size);
    return pass->log.failed ? motus_fail(error, MOTUS_ERR_MEMORY, "out of memory") : MOTUS_OK;
}

static MotusStatus write_picture(MotusMaster *m, const uint8_t *data, int64_t size,
                                 MotusError *error) {
    MotusPictureHeader header;
    if (size < (int64_t)sizeof header)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "a picture without a header");
    memcpy(&header, data, sizeof header);
    const MotusEncoderConfig *c = &m->setup.config;
    const int64_t away = header.number - m->totals.frames; // pictures come in stream order
    if (header.size != size - (int64_t)sizeof header || away > c->bframes ||
        away < -3 * (c->bframes > 0)) // max_num_reorder_frames, at most
        return motus_fail(error, MOTUS_ERR_INTERNAL,
                          "picture %" PRId64 " came where %" PRId64 " was due", header.number,
                          m->totals.frames);
    const MotusPacket packet = motus_picture_packet(&header, data + sizeof header);
    const MotusTime time = {packet.pts, packet.duration};
    char more[80], fields[64];
    motus_totals_add(&m->totals, &packet, header.ssim);
    m->searched += header.searched;
    const int used =
        snprintf(more, sizeof more, "  %d rank%s  ", m->ranks, m->ranks > 1 ? "s" : "");
    if (m->pass->first)
        snprintf(more + used, sizeof more - (size_t)used, "first pass");
    else
        snprintf(more + used, sizeof more - (size_t)used, "%.1f kb/s",
                 motus_totals_kbps(&m->totals, &m->report));
    motus_progress_fields(&m->totals, &m->report, fields);
    motus_progress_show_as(&m->progress, m->totals.frames, more, m->pass->first ? "" : fields);
    if (m->pass->first)
        return motus_mpi_log_add(m->pass, (const char *)packet.data, packet.size, error);
    return motus_encode_outputs_picture(&m->outputs, &m->report, &packet, time, header.ssim, error);
}

// Writes consecutive complete pictures.
static MotusStatus write_pictures(MotusMaster *m, const uint8_t *data, int64_t size,
                                  MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int64_t at = 0; !status && at < size;) {
        MotusPictureHeader header;
        memcpy(&header, data + at, sizeof header);
        status = write_picture(m, data + at, (int64_t)sizeof header + header.size, error);
        at += (int64_t)sizeof header + header.size;
    }
    return status;
}

static MotusStatus write_from_journal(MotusMaster *m, const MotusSegment *s, MotusError *error) {
    uint8_t *data = NULL;
    const MotusRecord *found = motus_journal_find(m->journal, s->first);
    if (!found) return motus_fail(error, MOTUS_ERR_INTERNAL, "the journal has lost a segment");
    const MotusRecord record = *found;
    MotusStatus status = motus_journal_read(m->journal, &record, &data, error);
    if (!status) status = write_pictures(m, data, record.size, error);
    motus_free(data);
    return status;
}

// Writes what has arrived of the oldest segments, and drops segments that are written.
static MotusStatus write_due(MotusMaster *m, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (MotusSegment *s = m->segments.head; s && !status; s = m->segments.head) {
        if (s->rank < 0)
            status = write_from_journal(m, s, error);
        else
            for (; s->unwritten && !status; s->unwritten = s->unwritten->next)
                status = write_pictures(m, s->unwritten->data, s->unwritten->size, error);
        if (!s->done || status) break;
        motus_segments_drop_first(&m->segments);
    }
    return status;
}

// ---- Segments -----------------------------------------------------------------------------------

// Sets the final length of a segment, so that the next one may begin.
static void set_length(MotusMaster *m, MotusSegment *s, int64_t count, int64_t gops, int at_end) {
    s->count = count, s->gops = gops, s->at_end = at_end;
    s->known = 1;
    if (s == m->segments.tail) m->next_first = s->first + count, m->next_gop = s->gop + gops;
    if (at_end || m->next_first >= m->limit) m->ended = 1;
}

// Asks the scene scan where the next segment ends. Returns 0 if that is not known yet, if the input
// ends before, or with *error.
static int scan_segment(MotusMaster *m, MotusScannedSegment *scanned, MotusError *error) {
    const MotusStatus status =
        motus_scene_scan_segment(m->scan, m->next_first, m->setup.gops, scanned, error);
    if (status == MOTUS_END) m->ended = 1;
    return !status;
}

// Returns the next segment: from the journal, or for `rank`. NULL: none can begin now, or *error.
static MotusSegment *next_segment(MotusMaster *m, int rank, MotusError *error) {
    if (m->ended || (m->segments.tail && !m->segments.tail->known && m->segments.tail->count < 0))
        return NULL;
    const MotusRecord *found = motus_journal_find(m->journal, m->next_first);
    if (!found && m->segments.in_progress >= m->window) return NULL;
    MotusScannedSegment scanned = {0};
    if (!found && m->scan && !scan_segment(m, &scanned, error)) return NULL;
    MotusSegment *s =
        motus_segments_add(&m->segments, m->next_first, m->next_gop, found ? -1 : rank);
    if (!s) motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!s) return NULL;
    if (found) {
        set_length(m, s, found->count, found->gops, found->at_end);
        s->done = 1;
        return s;
    }
    if (m->setup.rank0_reads) return s;
    if (m->scan) {
        set_length(m, s, scanned.count, scanned.gops, scanned.at_end);
        return s;
    }
    const int64_t left = m->limit - m->next_first,
                  length = motus_gops_length(&m->gops, m->setup.gops);
    s->count = length < left ? length : left;
    s->gops = m->setup.gops;
    m->next_first = s->count == INT64_MAX ? INT64_MAX : s->first + s->count;
    m->next_gop += s->gops;
    if (m->next_first >= m->limit) m->ended = 1;
    return s;
}

static void send_segment(MotusMaster *m, const MotusSegment *s) {
    MotusMessage *message = motus_message(MOTUS_MSG_SEGMENT, NULL, 0);
    if (!message) return;
    message->number = s->first, message->gop = s->gop, message->gops = m->setup.gops;
    message->count = s->count;
    m->requested[s->rank] = 0;
    m->assigned[s->rank]++;
    motus_link_send(m->link, s->rank, message);
}

// Returns the rank that requested a segment and has the fewest, or -1. Rank 0 comes last: it also
// writes the output.
static int choose_rank(const MotusMaster *m) {
    int found = -1;
    for (int i = 0; i < m->ranks; i++) {
        const int rank = (i + 1) % m->ranks;
        if (m->requested[rank] && (found < 0 || m->assigned[rank] < m->assigned[found]))
            found = rank;
    }
    return found;
}

MotusStatus motus_master_assign(MotusMaster *m, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int rank; !m->setup.rank0_reads && !status && (rank = choose_rank(m)) >= 0;) {
        MotusSegment *s = next_segment(m, rank, error);
        if (!s) return error->status;
        if (s->rank >= 0)
            send_segment(m, s);
        else
            status = write_due(m, error);
    }
    return status;
}

MotusSegment *motus_master_open_segment(MotusMaster *m, MotusError *error) {
    const int rank = choose_rank(m);
    if (rank < 0 && !motus_journal_find(m->journal, m->next_first)) return NULL;
    MotusSegment *s = next_segment(m, rank, error);
    if (s && s->rank >= 0) send_segment(m, s);
    return s;
}

MotusStatus motus_master_end_segment(MotusMaster *m, MotusSegment *s, int64_t count, int64_t gops,
                                     int at_end, MotusError *error) {
    set_length(m, s, count, gops, at_end);
    return s->rank < 0 ? write_due(m, error) : MOTUS_OK;
}

// ---- Messages -----------------------------------------------------------------------------------

static MotusStatus finish_segment(MotusMaster *m, MotusSegment *s, const MotusMessage *message,
                                  MotusError *error) {
    // A planned length may exceed the input.
    if (!s->known && !m->setup.rank0_reads && s->count >= 0) {
        const int64_t count = message->count, gops = message->gops;
        s->count = count, s->gops = gops, s->at_end = message->at_end;
        s->known = 1;
        m->ended |= s->at_end;
    }
    if (s->arrived != message->count || s->count != message->count)
        return motus_fail(error, MOTUS_ERR_INTERNAL,
                          "rank %d: %" PRId64 " pictures arrived of %" PRId64
                          "; has the input changed?",
                          s->rank, s->arrived, s->count);
    // Pictures of a changed input must not reach the journal or the output.
    MotusStatus status = motus_input_unchanged(m->options->input, &m->setup.input, 0, error);
    if (status) return status;
    s->done = 1;
    m->assigned[s->rank]--;
    if (m->times && s->count)
        fprintf(m->times, "%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%.6f,%.6f\n", s->first, s->count,
                s->rank, s->bytes, (double)message->microseconds / 1e6, motus_seconds() - m->began);
    status = m->journal && s->count ? motus_segment_save(s, m->journal, error) : MOTUS_OK;
    return status ? status : write_due(m, error);
}

static void warn(MotusMaster *m, const char *line) {
    if (!strcmp(m->warned, line)) return; // from another rank
    snprintf(m->warned, sizeof m->warned, "%s", line);
    if (m->pass->first) return; // the last pass repeats it
    motus_progress_wipe(&m->progress);
    motus_warn("%s", line);
    m->damaged = 1;
}

// Takes the message over and writes its pictures if they are due.
static MotusStatus take_pictures(MotusMaster *m, MotusSegment *s, MotusMessage *message,
                                 MotusError *error) {
    const MotusMessage info = *message;
    if (!motus_segment_add_pictures(s, message))
        return motus_fail(error, MOTUS_ERR_INTERNAL, "rank %d: a picture is incomplete", info.rank);
    if (info.kind == MOTUS_MSG_DONE) return finish_segment(m, s, &info, error);
    return s == m->segments.head ? write_due(m, error) : MOTUS_OK;
}

MotusStatus motus_master_receive(MotusMaster *m, int *received, MotusError *error) {
    MotusMessage *message = motus_link_receive(m->link);
    MotusStatus status = MOTUS_OK;
    *received = 0;
    if (!message) return MOTUS_OK;
    const int rank = message->rank,
              pictures = message->kind == MOTUS_MSG_PICTURES || message->kind == MOTUS_MSG_DONE;
    MotusSegment *s = pictures ? motus_segments_find(&m->segments, rank, message->number) : NULL;
    *received = 1 + pictures;
    m->stats[pictures].messages++;
    m->stats[pictures].bytes += message->size;
    if (message->kind == MOTUS_MSG_REQUEST) {
        m->requested[rank] = 1;
        if (m->first_request <= m->began) m->first_request = motus_seconds();
    } else if (message->kind == MOTUS_MSG_CREDIT) {
        m->credit[rank]++;
    } else if (message->kind == MOTUS_MSG_WARNING) {
        warn(m, (const char *)message->data);
    } else if (message->kind == MOTUS_MSG_FAILED) {
        status =
            motus_fail(error, MOTUS_ERR_STATE, "rank %d: %s", rank, (const char *)message->data);
    } else if (!s) {
        status = motus_fail(error, MOTUS_ERR_INTERNAL,
                            "rank %d replied with a segment that it does not have", rank);
    } else {
        status = take_pictures(m, s, message, error);
        message = NULL;
    }
    motus_message_free(&message);
    return status ? status : motus_master_assign(m, error);
}
