// The JSON file. cJSON builds each object, which is written at once; the list of frames is written
// by hand as it grows.
// SPDX-License-Identifier: BSD-2-Clause
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "motus/version.h"
#include "tools/cli/options.h"
#include "tools/encode/report.h"
#ifdef MOTUS_HAVE_MEDIA
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#endif

struct MotusStatsFile {
    MotusOutput *out;
    int64_t pictures;
};

static MotusStatus no_memory(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_MEMORY, "statistics: out of memory");
}

static MotusStatus put(MotusStatsFile *stats, const char *text, MotusError *error) {
    return text ? motus_output_write(stats->out, text, strlen(text), error) : no_memory(error);
}

// Writes the members of `object` without its braces, one per line, and deletes it (NULL: out of
// memory).
static MotusStatus put_members(MotusStatsFile *stats, cJSON *object, MotusError *error) {
    MotusStatus status = object ? MOTUS_OK : no_memory(error);
    for (cJSON *m = object ? object->child : NULL; m && !status; m = m->next) {
        char *value = cJSON_PrintUnformatted(m);
        status = value ? put(stats, "\"", error) : no_memory(error);
        if (!status) status = put(stats, m->string, error);
        if (!status) status = put(stats, "\": ", error);
        if (!status) status = put(stats, value, error);
        if (!status && m->next) status = put(stats, ",\n", error);
        cJSON_free(value);
    }
    cJSON_Delete(object);
    return status;
}

// Adds a number with a fixed number of decimals.
static void add_decimal(cJSON *object, const char *name, double value, int decimals) {
    char text[64];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    cJSON_AddRawToObject(object, name, text);
}

static void add_rate(cJSON *object, const char *name, MotusRational rate) {
    char text[32];
    snprintf(text, sizeof text, "%d/%d", rate.num, rate.den);
    cJSON_AddStringToObject(object, name, text);
}

static void add_lookahead(cJSON *s, const MotusEncoderConfig *c) {
    cJSON_AddNumberToObject(s, "qp_min", c->qp_min);
    cJSON_AddNumberToObject(s, "qp_max", c->qp_max);
    cJSON_AddNumberToObject(s, "lookahead", c->lookahead);
    cJSON_AddNumberToObject(s, "scenecut", c->scenecut);
    cJSON_AddNumberToObject(s, "aq_mode", c->aq_mode);
    cJSON_AddNumberToObject(s, "aq_strength", c->aq_strength);
    cJSON_AddBoolToObject(s, "mbtree", c->mb_tree);
    cJSON_AddNumberToObject(s, "pass", c->pass);
}

static void add_settings(cJSON *head, const MotusEncoderConfig *c) {
    cJSON *s = cJSON_AddObjectToObject(head, "settings");
    char partitions[64];
    motus_modes_text(c->partitions, partitions, sizeof partitions);
    add_rate(s, "frame_rate", c->fps);
    static const char *const rates[] = {"qp", "crf", "bitrate"};
    cJSON_AddStringToObject(s, "rate_control", rates[c->rate]);
    if (c->rate == MOTUS_RATE_CRF) cJSON_AddNumberToObject(s, "crf", c->crf);
    if (c->rate == MOTUS_RATE_BITRATE) cJSON_AddNumberToObject(s, "bitrate", (double)c->bitrate);
    if (c->vbv_maxrate) cJSON_AddNumberToObject(s, "vbv_maxrate", (double)c->vbv_maxrate);
    if (c->vbv_maxrate) cJSON_AddNumberToObject(s, "vbv_bufsize", (double)c->vbv_bufsize);
    if (c->rate != MOTUS_RATE_QP) add_lookahead(s, c);
    cJSON_AddNumberToObject(s, "qp", c->qp);
    cJSON_AddNumberToObject(s, "qp_i_offset", c->qp_i_offset);
    cJSON_AddNumberToObject(s, "keyint", c->keyint);
    cJSON_AddNumberToObject(s, "range", c->range);
    cJSON_AddStringToObject(s, "subpel", motus_subpel_name(c->subpel));
    cJSON_AddStringToObject(s, "partitions", partitions);
    cJSON_AddBoolToObject(s, "deblock", c->deblock);
    cJSON_AddBoolToObject(s, "aud", c->aud);
    cJSON_AddNumberToObject(s, "slices", c->slices);
    if (c->bframes) cJSON_AddNumberToObject(s, "bframes", c->bframes);
    if (c->bframes) cJSON_AddNumberToObject(s, "pb_ratio", c->pb_ratio);
    if (c->bframes) cJSON_AddNumberToObject(s, "b_adapt", c->b_adapt);
    if (c->bframes) cJSON_AddNumberToObject(s, "b_pyramid", c->b_pyramid);
    if (c->bframes) cJSON_AddNumberToObject(s, "direct", c->direct);
    if (c->weightp) cJSON_AddNumberToObject(s, "weightp", c->weightp);
    if (c->weightb) cJSON_AddNumberToObject(s, "weightb", c->weightb);
    if (c->references > 1) cJSON_AddNumberToObject(s, "references", c->references);
    if (c->keep_references) cJSON_AddNumberToObject(s, "keep_references", c->keep_references);
    if (c->intra_refresh) cJSON_AddBoolToObject(s, "intra_refresh", 1);
    if (c->slice_max_size) cJSON_AddNumberToObject(s, "slice_max_size", c->slice_max_size);
    cJSON_AddStringToObject(s, "profile", motus_profile_name(c->profile));
    if (c->profile != MOTUS_PROFILE_BASELINE)
        cJSON_AddStringToObject(s, "entropy_coding", c->cabac ? "cabac" : "cavlc");
    if (c->profile == MOTUS_PROFILE_HIGH)
        cJSON_AddBoolToObject(s, "transform_8x8", c->transform_8x8);
    cJSON_AddStringToObject(s, "preset", motus_preset_name(c->preset));
    cJSON_AddNumberToObject(s, "threads", c->threads);
}

MotusStatus motus_stats_open(MotusStatsFile **stats, const char *path, const MotusEncodeReport *job,
                             MotusError *error) {
    MotusStatsFile *s = *stats = motus_alloc(1, sizeof *s);
    if (!s) return no_memory(error);
    cJSON *head = cJSON_CreateObject();
    cJSON_AddStringToObject(head, "motus", motus_version());
    cJSON_AddStringToObject(head, "input", job->input);
    cJSON_AddStringToObject(head, "output", job->output);
    cJSON *size = cJSON_AddObjectToObject(head, "size");
    cJSON_AddNumberToObject(size, "width", job->config.width);
    cJSON_AddNumberToObject(size, "height", job->config.height);
    add_settings(head, &job->config);
    cJSON_AddStringToObject(head, "backend", motus_backend_name(job->backend));
    cJSON_AddNumberToObject(head, "level_idc", job->level);
    MotusStatus status = motus_output_open(&s->out, path, error);
    if (!status) status = put(s, "{\n", error);
    if (status)
        cJSON_Delete(head);
    else
        status = put_members(s, head, error);
    if (!status) status = put(s, ",\n\"per_frame\": [", error);
    if (status) motus_stats_abandon(stats);
    return status;
}

#define MD5_TEXT 33 // 32 hexadecimal digits and the zero

// Computes the MD5 of a picture's planes without padding, as `ffmpeg -f framemd5` prints it for
// 8-bit 4:2:0. Returns 0 without libavutil or memory.
static int frame_md5(const MotusFrame *frame, char text[MD5_TEXT]) {
#ifdef MOTUS_HAVE_MEDIA
    struct AVMD5 *md5 = av_md5_alloc();
    uint8_t digest[16];
    if (!md5) return 0;
    av_md5_init(md5);
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &frame->plane[p];
        for (int y = 0; y < plane->height; y++)
            av_md5_update(md5, plane->data + y * plane->stride, (size_t)plane->width);
    }
    av_md5_final(md5, digest);
    av_free(md5);
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return 1;
#else
    (void)frame;
    text[0] = 0;
    return 0;
#endif
}

static cJSON *numbers(const char *const *names, const uint64_t *values, int n) {
    cJSON *object = cJSON_CreateObject();
    for (int i = 0; i < n; i++) cJSON_AddNumberToObject(object, names[i], (double)values[i]);
    return object;
}

// Adds PSNR and mean SSIM, if they are measured.
static void add_quality(cJSON *object, const MotusTotals *t, const MotusEncodeReport *job) {
    static const char *const names[3] = {"psnr_y", "psnr_u", "psnr_v"};
    if (job->config.no_ssd) return;
    for (int c = 0; c < 3; c++) add_decimal(object, names[c], motus_totals_psnr(t, job, c), 4);
    add_decimal(object, "ssim", t->frames ? t->ssim / (double)t->frames : 0, 6);
}

// Counts MBs by type: P's names, if there are pictures other than B pictures, B's, intra.
static cJSON *mb_type_counts(const MotusTotals *t) {
    cJSON *object = cJSON_CreateObject();
    uint64_t intra[MOTUS_INTRA_TYPES] = {0};
    for (int of_b = 0; of_b < 2; of_b++) {
        const int64_t b_frames = t->of[MOTUS_TYPE_B].frames;
        const MotusMbCounts n = motus_totals_mbs(t, of_b);
        for (int k = 0; k < MOTUS_INTRA_TYPES; k++) intra[k] += n.intra[k];
        if (of_b ? !b_frames : b_frames && b_frames == t->frames) continue;
        for (int k = 0; k < MOTUS_INTER_TYPES; k++)
            if (motus_inter_names[of_b][k])
                cJSON_AddNumberToObject(object, motus_inter_names[of_b][k], (double)n.inter[k]);
    }
    for (int k = 0; k < MOTUS_INTRA_TYPES; k++)
        cJSON_AddNumberToObject(object, motus_intra_names[k], (double)intra[k]);
    return object;
}

// Luma samples of inter MBs in B pictures by the lists that predict them.
static cJSON *list_counts(const MotusTotals *t) {
    static const char *const names[] = {"L0", "L1", "Bi"};
    return numbers(names, t->of[MOTUS_TYPE_B].samples, 3);
}

static cJSON *type_totals(const MotusTotals *t, const MotusEncodeReport *job) {
    cJSON *types = cJSON_CreateObject();
    for (int type = 0; type < MOTUS_TYPES; type++) {
        const MotusTypeTotals *of = &t->of[type];
        if (!of->frames) continue;
        cJSON *object = cJSON_AddObjectToObject(types, motus_type_names[type]);
        cJSON_AddNumberToObject(object, "frames", (double)of->frames);
        cJSON_AddNumberToObject(object, "bytes", (double)of->bytes);
        add_decimal(object, "mean_qp", of->qp / (double)of->frames, 3);
        if (!job->config.no_ssd) add_decimal(object, "psnr_y", motus_type_psnr(t, job, type), 4);
    }
    return types;
}

MotusStatus motus_stats_picture(MotusStatsFile *stats, const MotusEncodeReport *job,
                                const MotusPacket *picture, MotusTime time, double ssim,
                                MotusError *error) {
    const char type[2] = {picture->type, 0};
    char md5[MD5_TEXT];
    MotusTotals one = {0};
    motus_totals_add(&one, picture, ssim);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "frame", (double)picture->number);
    add_decimal(object, "time", (double)time.at * job->time_base.num / job->time_base.den, 6);
    cJSON_AddStringToObject(object, "type", type);
    cJSON_AddNumberToObject(object, "qp", picture->qp);
    if (job->config.rate != MOTUS_RATE_QP) add_decimal(object, "mean_qp", picture->mean_qp, 3);
    if (job->config.vbv_maxrate)
        cJSON_AddNumberToObject(object, "vbv_fullness", (double)picture->vbv_fullness);
    if (job->config.vbv_maxrate)
        cJSON_AddNumberToObject(object, "coded_again", picture->coded_again);
    if (picture->slices > 1) cJSON_AddNumberToObject(object, "slices", picture->slices);
    cJSON_AddNumberToObject(object, "bits", 8.0 * (double)picture->size);
    add_quality(object, &one, job);
    cJSON_AddItemToObject(object, "mb_types", mb_type_counts(&one));
    if (picture->type == 'B') cJSON_AddItemToObject(object, "b_samples", list_counts(&one));
    if (frame_md5(picture->recon, md5)) cJSON_AddStringToObject(object, "recon_md5", md5);
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    if (!text) return no_memory(error);
    MotusStatus status = put(stats, stats->pictures++ ? ",\n" : "\n", error);
    if (!status) status = put(stats, text, error);
    cJSON_free(text);
    return status;
}

// Counts the blocks of each size in the MBs of P pictures other than P_Skip.
static cJSON *partition_counts(const MotusTypeTotals *t) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "16x16", (double)t->mb[MOTUS_MB_P_16x16]);
    cJSON_AddNumberToObject(object, "16x8", 2.0 * (double)t->mb[MOTUS_MB_P_16x8]);
    cJSON_AddNumberToObject(object, "8x16", 2.0 * (double)t->mb[MOTUS_MB_P_8x16]);
    for (int k = 0; k < 4; k++) {
        static const int blocks[4] = {1, 2, 2, 4}; // of a sub-macroblock
        cJSON_AddNumberToObject(object, motus_sub_names[k], blocks[k] * (double)t->sub[k]);
    }
    return object;
}

static cJSON *bit_counts(const MotusTotals *t) {
    static const char *const names[] = {"header", "mode", "mv", "luma", "chroma"};
    const uint64_t values[] = {t->bits_header, t->bits_mode, t->bits_mv, t->bits_luma,
                               t->bits_chroma};
    return numbers(names, values, 5);
}

static cJSON *damage_counts(const MotusDamage *d) {
    static const char *const names[] = {"lost", "repaired", "missing", "container_errors"};
    const uint64_t values[] = {(uint64_t)d->lost, (uint64_t)d->repaired, (uint64_t)d->missing,
                               (uint64_t)d->container_errors};
    cJSON *object = numbers(names, values, 4);
    cJSON_AddBoolToObject(object, "cut", d->cut);
    return object;
}

MotusStatus motus_stats_commit(MotusStatsFile **stats, const MotusTotals *t,
                               const MotusEncodeReport *job, MotusError *error) {
    cJSON *tail = cJSON_CreateObject();
    cJSON_AddNumberToObject(tail, "frames", (double)t->frames);
    cJSON_AddBoolToObject(tail, "complete", job->complete);
    cJSON_AddBoolToObject(tail, "variable_rate", job->variable);
    cJSON_AddItemToObject(tail, "damage", damage_counts(&job->damage));
    if (job->config.rate != MOTUS_RATE_QP)
        add_decimal(tail, "mean_qp", t->frames ? t->qp / (double)t->frames : 0, 3);
    if (job->config.vbv_maxrate) {
        cJSON_AddNumberToObject(tail, "vbv_least_fullness", (double)t->least_vbv);
        cJSON_AddNumberToObject(tail, "vbv_underflows", (double)t->underflows);
        cJSON_AddNumberToObject(tail, "coded_again", (double)t->coded_again);
    }
    cJSON_AddItemToObject(tail, "types", type_totals(t, job));
    add_decimal(tail, "seconds", job->seconds, 3);
    add_decimal(tail, "fps", job->seconds > 0 ? (double)t->frames / job->seconds : 0, 2);
    cJSON_AddNumberToObject(tail, "bytes", (double)t->bytes);
    add_decimal(tail, "kbps", motus_totals_kbps(t, job), 3);
    add_quality(tail, t, job);
    cJSON_AddItemToObject(tail, "mb_types", mb_type_counts(t));
    if (t->of[MOTUS_TYPE_B].frames) cJSON_AddItemToObject(tail, "b_samples", list_counts(t));
    cJSON_AddItemToObject(tail, "partitions", partition_counts(&t->of[MOTUS_TYPE_P]));
    cJSON_AddItemToObject(tail, "bits", bit_counts(t));
    MotusStatus status = put(*stats, "\n],\n", error);
    if (status)
        cJSON_Delete(tail);
    else
        status = put_members(*stats, tail, error);
    if (!status) status = put(*stats, "\n}\n", error);
    if (!status) status = motus_output_commit(&(*stats)->out, error);
    motus_stats_abandon(stats);
    return status;
}

void motus_stats_abandon(MotusStatsFile **stats) {
    if (!stats || !*stats) return;
    motus_output_abandon(&(*stats)->out);
    motus_free(*stats);
    *stats = NULL;
}
