// Rank 0: hands out the parts of the stream as workers ask for them, and puts what they make of
// them in order into the output.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/master.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/mpi/picture.h"

// ---- Output -------------------------------------------------------------------------------------

MotusStatus motus_mpi_log_add(MotusMpiPass *pass, const char *text, size_t size,
                              MotusError *error) {
    if (pass->log_room < pass->log_size + size + 1) {
        const size_t room = 2 * pass->log_room + size + 4096;
        char *more = realloc(pass->log, room);
        if (!more) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
        pass->log = more, pass->log_room = room;
    }
    memcpy(pass->log + pass->log_size, text, size);
    pass->log_size += size;
    pass->log[pass->log_size] = 0;
    return MOTUS_OK;
}

static MotusStatus write_picture(MotusMaster *m, const uint8_t *data, int64_t size,
                                 MotusError *error) {
    MotusPictureHead head;
    if (size < (int64_t)sizeof head)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "a picture without a head");
    memcpy(&head, data, sizeof head);
    if (head.size != size - (int64_t)sizeof head || head.number != m->totals.frames)
        return motus_fail(error, MOTUS_ERR_INTERNAL,
                          "picture %" PRId64 " came where %" PRId64 " was due", head.number,
                          m->totals.frames);
    const MotusPacket packet = motus_picture_packet(&head, data + sizeof head);
    const MotusTime time = {packet.pts, packet.duration};
    char more[80];
    motus_totals_add(&m->totals, &packet, head.ssim);
    const int used =
        snprintf(more, sizeof more, "  %d rank%s  ", m->ranks, m->ranks > 1 ? "s" : "");
    if (m->pass->first)
        snprintf(more + used, sizeof more - (size_t)used, "first pass");
    else
        snprintf(more + used, sizeof more - (size_t)used, "%.1f kb/s",
                 motus_totals_kbps(&m->totals, &m->job));
    motus_progress_show(&m->progress, m->totals.frames, more);
    if (m->pass->first)
        return motus_mpi_log_add(m->pass, (const char *)packet.data, packet.size, error);
    return motus_encode_outputs_picture(&m->outputs, &m->job, &packet, time, head.ssim, error);
}

// Pictures one after another; they are whole (motus_part_take).
static MotusStatus write_pictures(MotusMaster *m, const uint8_t *data, int64_t size,
                                  MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int64_t at = 0; !status && at < size;) {
        MotusPictureHead head;
        memcpy(&head, data + at, sizeof head);
        status = write_picture(m, data + at, (int64_t)sizeof head + head.size, error);
        at += (int64_t)sizeof head + head.size;
    }
    return status;
}

static MotusStatus write_from_journal(MotusMaster *m, const MotusStreamPart *part,
                                      MotusError *error) {
    uint8_t *data = NULL;
    const MotusRecord *found = motus_journal_find(m->journal, part->first);
    if (!found) return motus_fail(error, MOTUS_ERR_INTERNAL, "the journal has lost a part");
    const MotusRecord record = *found;
    MotusStatus status = motus_journal_read(m->journal, &record, &data, error);
    if (!status) status = write_pictures(m, data, record.size, error);
    motus_free(data);
    return status;
}

// Whatever is due and there.
static MotusStatus write_due(MotusMaster *m, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (MotusStreamPart *p = m->parts.head; p && !status; p = m->parts.head) {
        if (p->rank < 0)
            status = write_from_journal(m, p, error);
        else
            for (; p->unwritten && !status; p->unwritten = p->unwritten->next)
                status = write_pictures(m, p->unwritten->data, p->unwritten->size, error);
        if (!p->done || status) break;
        motus_parts_drop(&m->parts);
    }
    return status;
}

// ---- Parts --------------------------------------------------------------------------------------

// The part's length is known, so that the next one may begin.
static void settle(MotusMaster *m, MotusStreamPart *p, int64_t count, int64_t gops, int at_end) {
    p->count = count, p->gops = gops, p->at_end = at_end;
    p->known = 1;
    if (p == m->parts.tail) m->next_first = p->first + count, m->next_gop = p->gop + gops;
    if (at_end || m->next_first >= m->limit) m->ended = 1;
}

// Where the next part ends. 0: nobody knows yet; the input ends before it; or *error.
static int find_cut(MotusMaster *m, MotusCutsPart *cut, MotusError *error) {
    const MotusStatus status = motus_cuts_part(m->cuts, m->next_first, m->setup.gops, cut, error);
    if (status == MOTUS_END) m->ended = 1;
    return !status;
}

// The next part, if it can be told where it begins: of the journal, where that has it, else for
// `rank`. NULL: there is none now.
static MotusStreamPart *next_part(MotusMaster *m, int rank, MotusError *error) {
    if (m->ended || (m->parts.tail && !m->parts.tail->known && m->parts.tail->count < 0))
        return NULL;
    const MotusRecord *found = motus_journal_find(m->journal, m->next_first);
    if (!found && m->parts.under_way >= m->window) return NULL;
    MotusCutsPart cut = {0};
    if (!found && m->cuts && !find_cut(m, &cut, error)) return NULL;
    MotusStreamPart *p = motus_parts_add(&m->parts, m->next_first, m->next_gop, found ? -1 : rank);
    if (!p) motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!p) return NULL;
    if (found) {
        settle(m, p, found->count, found->gops, found->at_end);
        p->done = 1;
        return p;
    }
    if (m->setup.feeds) return p;
    if (m->cuts) {
        settle(m, p, cut.count, cut.gops, cut.at_end);
        return p;
    }
    const int64_t left = m->limit - m->next_first,
                  length = motus_gops_length(&m->gops, m->setup.gops);
    p->count = length < left ? length : left;
    p->gops = m->setup.gops;
    m->next_first = p->count == INT64_MAX ? INT64_MAX : p->first + p->count;
    m->next_gop += p->gops;
    if (m->next_first >= m->limit) m->ended = 1;
    return p;
}

static void tell_part(MotusMaster *m, const MotusStreamPart *p) {
    MotusMessage *message = motus_message(MOTUS_SAYS_PART, NULL, 0);
    if (!message) return;
    message->number = p->first, message->gop = p->gop, message->gops = m->setup.gops;
    message->count = p->count, message->reserved = m->limit - p->first;
    m->asks[p->rank] = 0;
    m->has[p->rank]++;
    motus_link_tell(m->link, p->rank, message);
}

// Who asks and has least to do; others before rank 0, whose processor writes as well.
static int who_asks(const MotusMaster *m) {
    int found = -1;
    for (int i = 0; i < m->ranks; i++) {
        const int rank = (i + 1) % m->ranks;
        if (m->asks[rank] && (found < 0 || m->has[rank] < m->has[found])) found = rank;
    }
    return found;
}

// Parts for those who ask; where frames are fed, that is done as they come (feed.c).
static MotusStatus hand_out(MotusMaster *m, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int rank; !m->setup.feeds && !status && (rank = who_asks(m)) >= 0;) {
        MotusStreamPart *p = next_part(m, rank, error);
        if (!p) return error->status;
        if (p->rank >= 0)
            tell_part(m, p);
        else
            status = write_due(m, error);
    }
    return status;
}

MotusStreamPart *motus_master_open_part(MotusMaster *m, MotusError *error) {
    const int rank = who_asks(m);
    if (rank < 0 && !motus_journal_find(m->journal, m->next_first)) return NULL;
    MotusStreamPart *p = next_part(m, rank, error);
    if (p && p->rank >= 0) tell_part(m, p);
    return p;
}

MotusStatus motus_master_end_part(MotusMaster *m, MotusStreamPart *p, int64_t count, int64_t gops,
                                  int at_end, MotusError *error) {
    settle(m, p, count, gops, at_end);
    return p->rank < 0 ? write_due(m, error) : MOTUS_OK;
}

// ---- What workers say ---------------------------------------------------------------------------

static MotusStatus part_done(MotusMaster *m, MotusStreamPart *p, const MotusMessage *message,
                             MotusError *error) {
    if (!p->known && !m->setup.feeds &&
        p->count >= 0) { // its length was given, but the input may have been shorter
        const int64_t count = message->count, gops = message->gops;
        p->count = count, p->gops = gops, p->at_end = message->at_end;
        p->known = 1;
        m->ended |= p->at_end;
    }
    if (p->came != message->count || p->count != message->count)
        return motus_fail(error, MOTUS_ERR_INTERNAL,
                          "rank %d: %" PRId64 " pictures came of %" PRId64
                          "; has the input changed?",
                          p->rank, p->came, p->count);
    // What was read from something else is neither kept nor shown.
    MotusStatus status = motus_input_unchanged(m->options->input, &m->setup.input, 0, error);
    if (status) return status;
    p->done = 1;
    m->has[p->rank]--;
    if (m->times && p->count)
        fprintf(m->times, "%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%.6f,%.6f\n", p->first, p->count,
                p->rank, p->bytes, (double)message->reserved / 1e6, motus_seconds() - m->began);
    status = m->journal && p->count ? motus_part_keep(p, m->journal, error) : MOTUS_OK;
    return status ? status : write_due(m, error);
}

static void warn(MotusMaster *m, const char *line) {
    if (!strcmp(m->warned, line)) return; // by another rank
    snprintf(m->warned, sizeof m->warned, "%s", line);
    if (m->pass->first) return; // the last pass says it again
    motus_progress_wipe(&m->progress);
    motus_warn("%s", line);
    m->damaged = 1;
}

// Pictures of a part, the last ones of it where it is done. The message is taken over.
static MotusStatus take_pictures(MotusMaster *m, MotusStreamPart *p, MotusMessage *message,
                                 MotusError *error) {
    const MotusMessage said = *message;
    if (!motus_part_take(p, message))
        return motus_fail(error, MOTUS_ERR_INTERNAL, "rank %d: half a picture came", said.rank);
    if (said.kind == MOTUS_SAYS_DONE) return part_done(m, p, &said, error);
    return p == m->parts.head ? write_due(m, error) : MOTUS_OK;
}

MotusStatus motus_master_hear(MotusMaster *m, int *heard, MotusError *error) {
    MotusMessage *message = motus_link_hear(m->link);
    MotusStatus status = MOTUS_OK;
    *heard = 0;
    if (!message) return MOTUS_OK;
    const int rank = message->rank,
              pictures = message->kind == MOTUS_SAYS_PICTURES || message->kind == MOTUS_SAYS_DONE;
    MotusStreamPart *p = pictures ? motus_parts_of(&m->parts, rank, message->number) : NULL;
    *heard = 1 + pictures;
    m->heard[pictures].messages++;
    m->heard[pictures].bytes += message->size;
    if (message->kind == MOTUS_SAYS_ASK) {
        m->asks[rank] = 1;
        if (m->asked <= m->began) m->asked = motus_seconds();
    } else if (message->kind == MOTUS_SAYS_TAKEN) {
        m->credit[rank]++;
    } else if (message->kind == MOTUS_SAYS_WARNING) {
        warn(m, (const char *)message->data);
    } else if (message->kind == MOTUS_SAYS_FAILED) {
        status =
            motus_fail(error, MOTUS_ERR_STATE, "rank %d: %s", rank, (const char *)message->data);
    } else if (!p) {
        status = motus_fail(error, MOTUS_ERR_INTERNAL,
                            "rank %d tells of a part that it does not have", rank);
    } else {
        status = take_pictures(m, p, message, error);
        message = NULL;
    }
    motus_message_free(&message);
    return status ? status : hand_out(m, error);
}

// Of the processor, by this thread: what waiting for messages takes is not what messages take.
static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

MotusStatus motus_master_run(MotusMaster *m, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int idle = 0, heard; !status && !(m->ended && !m->parts.head);) {
        const double before = m->times ? thread_seconds() : 0;
        status = motus_master_hear(m, &heard, error);
        if (heard && m->times) m->heard[heard - 1].seconds += thread_seconds() - before;
        if (!status && motus_signal_caught())
            status = motus_fail(error, MOTUS_END, "ended by signal %d", motus_signal_caught());
        int fed = 0;
        if (!status && !heard && m->setup.feeds) status = motus_feed(m, &fed, error);
        if (!status && !heard && m->cuts) status = hand_out(m, error);
        if (heard || fed)
            idle = 0;
        else
            motus_link_nap(m->link, &idle);
    }
    return status;
}
