// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "encoder/mb/qp_core.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"

// State of a walk along the two streams.
typedef struct Walk {
    const MotusRunSetup *setup;
    MotusRun *run;
    MotusH264Reader *x264, *ours;
    MotusStreamDecoder *decoder;
    MotusJudge *judge;
    MotusClipFrames frames;
    MotusPlane ref; // luma of the picture that x264's stream decoded to before, whole MBs
    MotusBytes records;
    size_t viewer_bytes; // used so far
    MotusError *error;
} Walk;

// ---- x264's settings ----------------------------------------------------------------------------

// Reads range, sub-sample precision and partitions from x264's SEI message.
static void read_settings(const MotusRunSetup *s, MotusRun *run) {
    char text[64];
    run->range = s->range ? s->range : 16;
    if (!s->range && motus_h264_x264_option(s->x264, s->x264_size, "me_range=", text, sizeof text))
        run->range = (int)strtol(text, NULL, 10);
    run->range = motus_clip(1, MOTUS_MAX_RANGE, run->range);
    run->subpel = s->subpel < 0 ? MOTUS_SUBPEL_BEST : (MotusSubpel)s->subpel;
    if (s->subpel < 0 &&
        motus_h264_x264_option(s->x264, s->x264_size, "subme=", text, sizeof text) &&
        strtol(text, NULL, 10) == 0)
        run->subpel = MOTUS_SUBPEL_FULL;
    run->modes = MOTUS_MODES_ALL;
    if (!motus_h264_x264_option(s->x264, s->x264_size, "analyse=", text, sizeof text)) return;
    const char *inter = strchr(text, ':'); // intra:inter, hexadecimal
    const unsigned long flags = inter ? strtoul(inter + 1, NULL, 16) : 0x30;
    const uint32_t down_to_8x8 = 0xF;
    run->modes = flags & 0x20   ? MOTUS_MODES_ALL
                 : flags & 0x10 ? down_to_8x8
                                : 1u << MOTUS_MODE_16x16;
}

// ---- One P picture ------------------------------------------------------------------------------

static MotusStatus put_row(Walk *w, int frame, int n, int mb_width, const MotusParsedMb *mb,
                           const MotusPair *p) {
    const MotusPartition *b = &p->partition;
    char row[400];
    const int length = snprintf(
        row, sizeof row, "%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%u,%u,%u,%u,%d,%d,%u,%u,%d\n",
        w->setup->name, w->setup->qp, frame, n, n % mb_width * 16 + b->x * 4,
        n / mb_width * 16 + b->y * 4, b->width * 4, b->height * 4, mb->type == MOTUS_MB_P_SKIP,
        p->mv[0].x, p->mv[0].y, p->mv[1].x, p->mv[1].y, p->sad[0], p->sad[1], p->satd[0],
        p->satd[1], p->bits[0], p->bits[1], p->j[0], p->j[1], p->inside);
    return motus_output_write(w->setup->csv, row, (size_t)length, w->error);
}

static void add_pair(Walk *w, MotusFigures *all, MotusFigures *by_size, MotusFigures *of_frame,
                     const MotusPair *p, int frame, int mb_x, int mb_y) {
    MotusMv truth;
    const MotusPartition *b = &p->partition;
    const int known = w->setup->truth &&
                      motus_truth_at(w->setup->truth, frame, 16 * mb_x + 4 * b->x,
                                     16 * mb_y + 4 * b->y, 4 * b->width, 4 * b->height, &truth);
    motus_figures_add(all, p, known ? &truth : NULL);
    motus_figures_add(&by_size[b->mode], p, known ? &truth : NULL);
    if (of_frame) motus_figures_add(of_frame, p, known ? &truth : NULL);
}

static MotusStatus add_mb(Walk *w, int frame, int n, int mb_width, const MotusParsedMb *mb,
                          const MotusMbPairs *pairs, MotusFigures *of_frame) {
    MotusRun *run = w->run;
    const int mb_x = n % mb_width, mb_y = n / mb_width;
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < pairs->n_x264 && !status; i++) {
        add_pair(w, &run->figures, run->by_size, of_frame, &pairs->x264[i], frame, mb_x, mb_y);
        if (w->setup->csv) status = put_row(w, frame, n, mb_width, mb, &pairs->x264[i]);
    }
    for (int i = 0; i < pairs->n_own; i++)
        add_pair(w, &run->own, run->own_by_size, NULL, &pairs->own[i], frame, mb_x, mb_y);
    run->confusion[mb->type][pairs->own_type - MOTUS_MB_P_16x16]++;
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8 && pairs->own_type == MOTUS_MB_P_8x8; q++)
        run->sub_confusion[mb->sub_type[q]][pairs->own_sub[q]]++;
    return status;
}

static int refers_back(const MotusParsedPicture *p) {
    for (int n = 0; n < p->mb_width * p->mb_height; n++)
        for (int q = 0; q < 4; q++)
            if (p->mb[n].ref_idx[q] > 0) return 1;
    return 0;
}

static MotusStatus compare_p(Walk *w, int frame, const MotusFrame *source,
                             const MotusParsedPicture *x264, const MotusParsedPicture *ours,
                             MotusFigures *figures) {
    if (refers_back(x264))
        return motus_fail(
            w->error, MOTUS_ERR_UNSUPPORTED,
            "x264's stream refers to several pictures: its problem is another one (--ref 1)");
    MotusStatus status =
        motus_judge_picture(w->judge, &source->plane[0], &w->ref, x264->mb, w->run->lambda_q8);
    if (!status && w->setup->feed_x264)
        motus_judge_copy_x264(w->judge);
    else if (!status)
        status = motus_judge_search(w->judge);
    const int bounded = w->run->subpel != MOTUS_SUBPEL_FULL &&
                        motus_bound_picks(frame, w->setup->clip->frames, w->setup->bound);
    if (!status && bounded) status = motus_judge_bound(w->judge);
    if (status) return motus_fail(w->error, status, "search: %s", motus_status_text(status));
    w->run->bound.pictures += bounded;
    w->records.n = 0;
    for (int n = 0; n < x264->mb_width * x264->mb_height && !status; n++) {
        MotusMbPairs pairs;
        motus_judge_mb(w->judge, n, &pairs);
        status = add_mb(w, frame, n, x264->mb_width, x264->mb + n, &pairs, figures);
        if (bounded) motus_bound_add(&w->run->bound, w->judge, n, &pairs);
        motus_viewer_mb(&w->records, x264->mb + n, ours->mb + n, &pairs);
    }
    w->run->p_frames++;
    return status;
}

// ---- One frame ----------------------------------------------------------------------------------

static MotusBitSums bits_of(const MotusParsedPicture *p) {
    MotusBitSums b = {0};
    for (int n = 0; n < p->mb_width * p->mb_height; n++) {
        b.mode += p->mb[n].bits_mode;
        b.mv += p->mb[n].bits_mv;
        b.residual += p->mb[n].bits_residual;
    }
    b.header = 8 * p->bytes - b.mode - b.mv - b.residual;
    return b;
}

static void add_bits(MotusBitSums *sum, const MotusBitSums *b) {
    sum->header += b->header, sum->mode += b->mode, sum->mv += b->mv, sum->residual += b->residual;
}

static double psnr_of(const MotusCompareClip *clip, uint64_t ssd) {
    return motus_psnr(ssd, (uint64_t)clip->width * (uint64_t)clip->height);
}

// Adds "mbs" while there is space.
static void add_records(Walk *w, cJSON *frame, int is_p) {
    char *packed = is_p ? motus_viewer_pack(&w->records) : NULL;
    const size_t n = packed ? strlen(packed) : 0;
    if (packed && w->viewer_bytes + n <= w->setup->viewer_bytes) {
        w->viewer_bytes += n;
        cJSON_AddStringToObject(frame, "mbs", packed);
    } else {
        if (is_p) w->viewer_bytes = SIZE_MAX / 2; // no gaps: later ones are left out too
        w->run->left_out += is_p;
        cJSON_AddNullToObject(frame, "mbs");
    }
    motus_free(packed);
}

static void add_frame(Walk *w, int n, const MotusParsedPicture picture[MOTUS_SIDES], uint64_t ssd,
                      const MotusFigures *figures) {
    const MotusCompareClip *clip = w->setup->clip;
    cJSON *frame = cJSON_CreateObject(), *psnr, *bits;
    const int is_p = picture[MOTUS_X264].type == 'P' && n > 0;
    cJSON_AddNumberToObject(frame, "n", n);
    cJSON_AddStringToObject(frame, "type", is_p ? "P" : "I");
    psnr = cJSON_AddObjectToObject(frame, "psnr_y");
    cJSON_AddNumberToObject(psnr, "x264", psnr_of(clip, ssd));
    cJSON_AddNumberToObject(psnr, "motus", psnr_of(clip, w->setup->ours->frame_ssd[n]));
    bits = cJSON_AddObjectToObject(frame, "bits");
    for (int side = 0; side < MOTUS_SIDES; side++) {
        const MotusBitSums b = bits_of(&picture[side]);
        add_bits(&w->run->bits[side], &b);
        cJSON_AddItemToObject(bits, side == MOTUS_X264 ? "x264" : "motus", motus_bits_json(&b));
    }
    cJSON_AddItemToObject(frame, "figures",
                          is_p ? motus_figures_json(figures, w->setup->truth != NULL)
                               : cJSON_CreateNull());
    add_records(w, frame, is_p);
    cJSON_AddItemToArray(w->run->frame_list, frame);
}

static MotusStatus read_next(MotusH264Reader *stream, const char *whose, int n,
                             MotusParsedPicture *picture, MotusError *error) {
    MotusStatus status = motus_h264_next(stream, picture);
    if (!status) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s stream, picture %d: %s", whose, n,
                      status == MOTUS_END ? "there is none" : motus_h264_error(stream));
}

static MotusStatus open_judge(Walk *w, const MotusParsedPicture *p) {
    const MotusJudgeConfig config = {.width = 16 * p->mb_width,
                                     .height = 16 * p->mb_height,
                                     .range = w->run->range,
                                     .threads = w->setup->threads,
                                     .subpel = w->run->subpel,
                                     .modes = w->run->modes};
    const size_t samples = (size_t)config.width * (size_t)config.height;
    w->ref = (MotusPlane){motus_alloc(samples, 1), config.width, config.width, config.height};
    MotusStatus status = w->ref.data ? motus_judge_open(&w->judge, &config) : MOTUS_ERR_MEMORY;
    return status ? motus_fail(w->error, status, "search: %s", motus_status_text(status))
                  : MOTUS_OK;
}

// Checks that both streams, the decoder and the search have the same picture size.
static MotusStatus check_sizes(const Walk *w, const MotusParsedPicture picture[MOTUS_SIDES],
                               const MotusDecoded *decoded) {
    const MotusParsedPicture *x = &picture[MOTUS_X264], *o = &picture[MOTUS_OURS];
    if (x->mb_width == o->mb_width && x->mb_height == o->mb_height &&
        decoded->plane[0].width == 16 * x->mb_width &&
        decoded->plane[0].height == 16 * x->mb_height && decoded->width == w->setup->clip->width &&
        decoded->height == w->setup->clip->height &&
        (!w->judge ||
         (w->ref.width == decoded->plane[0].width && w->ref.height == decoded->plane[0].height)))
        return MOTUS_OK;
    return motus_fail(w->error, MOTUS_ERR_FORMAT, "x264's stream: pictures of %dx%d",
                      decoded->width, decoded->height);
}

static void add_quality(MotusQuality *q, const MotusParsedPicture *p, const MotusPlane *source,
                        const MotusPlane *decoded, uint64_t ssd) {
    q->bytes += p->bytes;
    q->luma_ssd += ssd;
    q->ssim += motus_plane_ssim(source, decoded, source->width, source->height);
    q->frames++;
}

static MotusStatus walk_frame(Walk *w, int n) {
    MotusParsedPicture picture[MOTUS_SIDES];
    MotusDecoded decoded;
    const MotusFrame *source = NULL;
    MotusFigures figures = {0};
    MotusStatus status = read_next(w->x264, "x264's", n, &picture[MOTUS_X264], w->error);
    if (!status) status = read_next(w->ours, "our", n, &picture[MOTUS_OURS], w->error);
    const MotusParsedPicture *x264 = &picture[MOTUS_X264];
    if (!status)
        status = motus_stream_decoder_next(w->decoder, w->setup->x264 + x264->begin,
                                           x264->end - x264->begin, &decoded, w->error);
    if (!status) status = motus_clip_frames_next(&w->frames, n, &source, w->error);
    if (!status) status = check_sizes(w, picture, &decoded);
    if (!status && !w->judge) status = open_judge(w, x264);
    if (status) return status;
    for (int s = 0; s < MOTUS_SIDES; s++) w->run->profile_idc[s] = picture[s].profile_idc;
    if (motus_extraction_add(&w->run->extraction, x264, &decoded))
        return motus_fail(w->error, MOTUS_ERR_MEMORY, "out of memory");
    if (x264->type == 'P' && n > 0)
        status = compare_p(w, n, source, x264, &picture[MOTUS_OURS], &figures);
    if (status) return status;
    const uint64_t ssd =
        motus_plane_ssd(&source->plane[0], &decoded.plane[0], source->width, source->height);
    add_quality(&w->run->quality, x264, &source->plane[0], &decoded.plane[0], ssd);
    add_frame(w, n, picture, ssd, &figures);
    for (int y = 0; y < w->ref.height; y++)
        memcpy(w->ref.data + y * w->ref.stride, decoded.plane[0].data + y * decoded.plane[0].stride,
               (size_t)w->ref.width);
    w->run->frames++;
    return MOTUS_OK;
}

static MotusStatus open_walk(Walk *w) {
    const MotusRunSetup *s = w->setup;
    MotusStatus status = motus_h264_open(&w->x264, s->x264, s->x264_size, NULL);
    if (!status) status = motus_h264_open(&w->ours, s->ours->stream.data, s->ours->stream.n, NULL);
    if (status)
        return motus_fail(w->error, status, "reader of streams: %s", motus_status_text(status));
    status = motus_stream_decoder_open(&w->decoder, w->error);
    return status ? status : motus_clip_frames_open(&w->frames, s->clip, w->error);
}

MotusStatus motus_run(const MotusRunSetup *setup, MotusRun *run, MotusError *error) {
    *run = (MotusRun){.lambda_q8 = motus_lambda_q8(setup->qp, MOTUS_SLICE_P),
                      .frame_list = cJSON_CreateArray()};
    read_settings(setup, run);
    Walk w = {.setup = setup, .run = run, .error = error};
    MotusStatus status = open_walk(&w);
    for (int n = 0; !status && n < setup->clip->frames; n++) {
        if (motus_signal_caught())
            status = motus_fail(error, MOTUS_END, "interrupted");
        else
            status = walk_frame(&w, n);
        if (!status && setup->progress) setup->progress(setup->opaque, n + 1);
    }
    motus_h264_close(&w.x264);
    motus_h264_close(&w.ours);
    motus_stream_decoder_close(&w.decoder);
    motus_judge_close(&w.judge);
    motus_clip_frames_close(&w.frames);
    motus_bytes_free(&w.records);
    motus_free(w.ref.data);
    return status;
}

// ---- JSON (docs/compare.md) ---------------------------------------------------------------------

cJSON *motus_bits_json(const MotusBitSums *bits) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "header", (double)bits->header);
    cJSON_AddNumberToObject(object, "mode", (double)bits->mode);
    cJSON_AddNumberToObject(object, "mv", (double)bits->mv);
    cJSON_AddNumberToObject(object, "residual", (double)bits->residual);
    return object;
}

static cJSON *by_size_json(const MotusFigures figures[MOTUS_MODES], int has_truth) {
    cJSON *array = cJSON_CreateArray();
    for (int m = 0; m < MOTUS_MODES; m++) {
        cJSON *object = motus_figures_json(&figures[m], has_truth);
        cJSON_AddStringToObject(object, "size", motus_mode_name((MotusMode)m));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *matrix_json(const char *const *rows, int n_rows, const char *const *columns,
                          int n_columns, const uint64_t *count) {
    cJSON *object = cJSON_CreateObject(), *counts;
    cJSON_AddItemToObject(object, "rows", cJSON_CreateStringArray(rows, n_rows));
    cJSON_AddItemToObject(object, "columns", cJSON_CreateStringArray(columns, n_columns));
    counts = cJSON_AddArrayToObject(object, "counts");
    for (int r = 0; r < n_rows; r++) {
        cJSON *row = cJSON_CreateArray();
        for (int c = 0; c < n_columns; c++)
            cJSON_AddItemToArray(row, cJSON_CreateNumber((double)count[r * n_columns + c]));
        cJSON_AddItemToArray(counts, row);
    }
    return object;
}

static cJSON *extraction_json(const MotusExtraction *e) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "compared", (double)e->compared);
    cJSON_AddNumberToObject(object, "equal", (double)e->equal);
    cJSON_AddNumberToObject(object, "only_here", (double)e->only_here);
    return object;
}

cJSON *motus_run_json(const MotusRun *run, int qp, int has_truth) {
    static const char *const types[MOTUS_X264_TYPES] = {"skip", "16x16", "16x8",   "8x16",
                                                        "8x8",  "I4x4",  "I16x16", "PCM"};
    static const char *const subs[4] = {"8x8", "8x4", "4x8", "4x4"};
    cJSON *object = cJSON_CreateObject(), *bits;
    cJSON_AddNumberToObject(object, "qp", qp);
    cJSON_AddNumberToObject(object, "lambda_q8", run->lambda_q8);
    cJSON_AddItemToObject(object, "figures", motus_figures_json(&run->figures, has_truth));
    cJSON_AddItemToObject(object, "by_size", by_size_json(run->by_size, has_truth));
    cJSON_AddItemToObject(object, "own", motus_figures_json(&run->own, has_truth));
    cJSON_AddItemToObject(object, "own_by_size", by_size_json(run->own_by_size, has_truth));
    cJSON_AddItemToObject(
        object, "confusion",
        matrix_json(types, MOTUS_X264_TYPES, types + 1, MOTUS_OWN_TYPES, &run->confusion[0][0]));
    cJSON_AddItemToObject(object, "sub_confusion",
                          matrix_json(subs, 4, subs, 4, &run->sub_confusion[0][0]));
    bits = cJSON_AddObjectToObject(object, "bits");
    cJSON_AddItemToObject(bits, "x264", motus_bits_json(&run->bits[MOTUS_X264]));
    cJSON_AddItemToObject(bits, "motus", motus_bits_json(&run->bits[MOTUS_OURS]));
    cJSON_AddItemToObject(object, "bound", motus_bound_json(&run->bound));
    cJSON_AddItemToObject(object, "extraction", extraction_json(&run->extraction));
    cJSON_AddItemToObject(object, "frames", run->frame_list);
    return object;
}
