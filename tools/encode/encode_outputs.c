// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/encode_outputs.h"

#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/search/export.h"

// ---- The table of coded MVs ---------------------------------------------------------------------

enum { ROW_BYTES = 18, NPY_HEADER_BYTES = 320 };

struct MotusMvsFile {
    MotusOutput *out;
    int npy;
    uint64_t n_rows;
};

static const char csv_header[] = "frame,x,y,mv_x,mv_y,w,h,skip,list,distance\n";
static const char npy_columns[] =
    "[('frame', '<i4'), ('x', '<u2'), ('y', '<u2'), ('mv_x', '<i2'), ('mv_y', '<i2'), "
    "('w', '|u1'), ('h', '|u1'), ('skip', '|u1'), ('list', '|u1'), ('distance', '<i2')]";

static MotusStatus put_binary(MotusMvsFile *mvs, int64_t frame, const MotusCodedMv *b,
                              MotusError *error) {
    uint8_t row[ROW_BYTES], *p = motus_put_le(row, (uint32_t)frame, 4);
    p = motus_put_le(motus_put_le(p, b->x, 2), b->y, 2);
    p = motus_put_le(motus_put_le(p, (uint16_t)b->mv.x, 2), (uint16_t)b->mv.y, 2);
    *p++ = b->width;
    *p++ = b->height;
    *p++ = b->skip;
    *p++ = b->list;
    motus_put_le(p, (uint16_t)b->distance, 2);
    return motus_output_write(mvs->out, row, sizeof row, error);
}

static MotusStatus put_text(MotusMvsFile *mvs, int64_t frame, const MotusCodedMv *b,
                            MotusError *error) {
    char line[96];
    int length =
        snprintf(line, sizeof line, "%lld,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", (long long)frame, b->x,
                 b->y, b->mv.x, b->mv.y, b->width, b->height, b->skip, b->list, b->distance);
    return motus_output_write(mvs->out, line, (size_t)length, error);
}

static void npy_header(char header[NPY_HEADER_BYTES], uint64_t n_rows) {
    char shape[32];
    snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)n_rows);
    motus_npy_header(header, NPY_HEADER_BYTES, npy_columns, shape);
}

static void mvs_abandon(MotusMvsFile **mvs) {
    if (!mvs || !*mvs) return;
    motus_output_abandon(&(*mvs)->out);
    motus_free(*mvs);
    *mvs = NULL;
}

static MotusStatus mvs_open(MotusMvsFile **mvs, const char *path, MotusError *error) {
    char header[NPY_HEADER_BYTES];
    MotusMvsFile *m = *mvs = motus_alloc(1, sizeof *m);
    if (!m) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    m->npy = motus_has_ending(path, ".npy\0");
    npy_header(header, 0);
    MotusStatus status = motus_output_open(&m->out, path, error);
    if (!status)
        status = m->npy ? motus_output_write(m->out, header, sizeof header, error)
                        : motus_output_write(m->out, csv_header, sizeof csv_header - 1, error);
    if (status) mvs_abandon(mvs);
    return status;
}

static MotusStatus mvs_picture(MotusMvsFile *mvs, const MotusPacket *picture, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (size_t i = 0; i < picture->n_mvs && !status; i++)
        status = (mvs->npy ? put_binary : put_text)(mvs, picture->number, &picture->mvs[i], error);
    mvs->n_rows += picture->n_mvs;
    return status;
}

static MotusStatus mvs_commit(MotusMvsFile **mvs, MotusError *error) {
    MotusMvsFile *m = *mvs;
    char header[NPY_HEADER_BYTES];
    npy_header(header, m->n_rows);
    MotusStatus status =
        m->npy ? motus_output_rewrite(m->out, header, sizeof header, error) : MOTUS_OK;
    if (!status) status = motus_output_commit(&m->out, error);
    mvs_abandon(mvs);
    return status;
}

// ---- All files ----------------------------------------------------------------------------------

MotusStatus motus_encode_outputs_open(MotusEncodeOutputs *o, const MotusEncodeNames *names,
                                      const MotusMuxSettings *settings,
                                      const MotusEncodeReport *job, const uint8_t *headers,
                                      size_t size, MotusError *error) {
    const MotusEncoderConfig *c = &job->config;
    const MotusSequenceInfo recon = {
        .width = c->width, .height = c->height, .fps = c->fps, .colour = c->colour};
    MotusStatus status =
        settings->format == MOTUS_FORMAT_H264
            ? motus_output_open(&o->stream, names->stream, error)
            : motus_mux_open(&o->mux, names->stream, settings, c, headers, size, error);
    if (!status && o->stream)
        motus_mux_note_left_out(settings, names->stream, "a byte stream holds pictures only");
    if (!status && names->recon) status = motus_writer_open(&o->recon, names->recon, &recon, error);
    if (!status && names->stats) status = motus_stats_open(&o->stats, names->stats, job, error);
    if (!status && names->pass_log)
        status = motus_output_open(&o->pass_log, names->pass_log, error);
    if (!status && names->mvs) status = mvs_open(&o->mvs, names->mvs, error);
    if (!status && names->field)
        status = motus_field_out_open(&o->field, names->field,
                                      (MotusFieldFormat)motus_field_format_of(names->field),
                                      c->width, c->height, error);
    return status;
}

// Warns of a file beside the stream that failed, but not of a broken pipe. Returns 1 if it has to
// be closed.
static int is_lost(MotusEncodeOutputs *o, MotusStatus status, const MotusError *cause) {
    if (!status) return 0;
    const int unread = motus_is_broken_pipe(cause);
    if (!unread) motus_warn("%s; this file is given up, the stream is not", cause->text);
    o->unread += unread;
    o->lost += !unread;
    return 1;
}

// Writes the first held picture to the files beside the stream.
static void show_first(MotusEncodeOutputs *o, const MotusEncodeReport *job) {
    MotusError cause = {0};
    const MotusHeldPicture *p = &o->held[0];
    MotusPacket *picture = p->picture;
    if (o->recon && is_lost(o, motus_writer_put(o->recon, picture->recon, &cause), &cause))
        motus_writer_abandon(&o->recon);
    if (o->stats &&
        is_lost(o, motus_stats_picture(o->stats, job, picture, p->time, p->ssim, &cause), &cause))
        motus_stats_abandon(&o->stats);
    if (o->mvs && is_lost(o, mvs_picture(o->mvs, picture, &cause), &cause)) mvs_abandon(&o->mvs);
    if (o->field && picture->field) {
        const MotusStatus status = motus_field_out_picture(
            o->field, picture->number, picture->field, picture->field_modes, &cause);
        if (is_lost(o, status, &cause)) motus_field_out_abandon(&o->field);
    }
    o->next = picture->number + 1;
    motus_packet_unref(&picture);
    memmove(&o->held[0], &o->held[1], (size_t)--o->n_held * sizeof *o->held);
}

static void hold(MotusEncodeOutputs *o, const MotusPacket *picture, MotusTime time, double ssim) {
    int i = o->n_held++;
    for (; i && o->held[i - 1].picture->number > picture->number; i--) o->held[i] = o->held[i - 1];
    o->held[i] = (MotusHeldPicture){motus_packet_ref((MotusPacket *)picture), time, ssim};
}

MotusStatus motus_encode_outputs_picture(MotusEncodeOutputs *o, const MotusEncodeReport *job,
                                         const MotusPacket *picture, MotusTime time, double ssim,
                                         MotusError *error) {
    MotusStatus status = o->mux
                             ? motus_mux_picture(o->mux, picture, time, error)
                             : motus_output_write(o->stream, picture->data, picture->size, error);
    if (!status && o->pass_log)
        status =
            motus_output_write(o->pass_log, picture->pass_log, strlen(picture->pass_log), error);
    if (status) return status;
    o->logged++;
    if (!o->recon && !o->stats && !o->mvs && !o->field) return MOTUS_OK;
    hold(o, picture, time, ssim);
    while (o->n_held && (o->held[0].picture->number == o->next || o->n_held > job->config.bframes))
        show_first(o, job);
    return MOTUS_OK;
}

// Commits the pass log, without which a first pass has failed.
static MotusStatus commit_pass_log(MotusEncodeOutputs *o, MotusError *error) {
    char end[40];
    const int length = snprintf(end, sizeof end, "end %lld\n", (long long)o->logged);
    if (!o->pass_log) return MOTUS_OK;
    MotusStatus status = motus_output_write(o->pass_log, end, (size_t)length, error);
    return status ? status : motus_output_commit(&o->pass_log, error);
}

MotusStatus motus_encode_outputs_commit(MotusEncodeOutputs *o, const MotusTotals *totals,
                                        const MotusEncodeReport *job, int partly,
                                        MotusError *error) {
    MotusError cause = {0};
    while (o->n_held) show_first(o, job); // after a signal some may be missing between them
    MotusStatus status =
        o->mux ? motus_mux_commit(&o->mux, partly, error) : motus_output_commit(&o->stream, error);
    if (!status) status = commit_pass_log(o, error);
    if (status) return status;
    if (o->recon) is_lost(o, motus_writer_commit(&o->recon, &cause), &cause);
    if (o->stats) is_lost(o, motus_stats_commit(&o->stats, totals, job, &cause), &cause);
    if (o->mvs) is_lost(o, mvs_commit(&o->mvs, &cause), &cause);
    if (o->field) is_lost(o, motus_field_out_commit(&o->field, &cause), &cause);
    return MOTUS_OK;
}

void motus_encode_outputs_abandon(MotusEncodeOutputs *o) {
    while (o->n_held) motus_packet_unref(&o->held[--o->n_held].picture);
    motus_field_out_abandon(&o->field);
    mvs_abandon(&o->mvs);
    motus_output_abandon(&o->pass_log);
    motus_stats_abandon(&o->stats);
    motus_writer_abandon(&o->recon);
    motus_mux_abandon(&o->mux);
    motus_output_abandon(&o->stream);
}
