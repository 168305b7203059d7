// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/report.h"

#include "tools/encode/encode.h"

const char *const motus_inter_names[2][MOTUS_INTER_TYPES] = {
    {"P_Skip", NULL, "P_16x16", "P_16x8", "P_8x16", "P_8x8"},
    {"B_Skip", "B_Direct_16x16", "B_16x16", "B_16x8", "B_8x16", "B_8x8"}};

const char *const motus_intra_names[MOTUS_INTRA_TYPES] = {"I_4x4", "I_8x8", "I_16x16", "I_PCM"};

const char *const motus_sub_names[4] = {"8x8", "8x4", "4x8", "4x4"};

const char *const motus_type_names[MOTUS_TYPES] = {"I", "P", "B"};

// Adds the samples of a B picture's blocks by the lists that predict them.
static void add_lists(MotusTypeTotals *t, const MotusCodedMv *mvs, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const MotusCodedMv *v = &mvs[i], *next = i + 1 < n ? v + 1 : v;
        const int both = !v->list && next->list && next->x == v->x && next->y == v->y;
        t->samples[both ? 2 : v->list] += (uint64_t)(v->width * v->height);
        i += (size_t)both;
    }
}

static void add_type(MotusTypeTotals *t, const MotusPacket *picture) {
    const MotusPictureStats *s = &picture->stats;
    t->frames++;
    t->bytes += picture->size;
    t->qp += picture->mean_qp;
    for (int c = 0; c < 3; c++) t->ssd[c] += s->ssd[c];
    for (int k = 0; k < MOTUS_MB_KINDS; k++) t->mb[k] += s->mb[k];
    for (int k = 0; k < 4; k++) t->sub[k] += s->sub[k];
    t->i_8x8 += s->transform_8x8[1];
    t->direct += s->direct;
    if (picture->type == 'B') add_lists(t, picture->mvs, picture->n_mvs);
}

void motus_totals_add(MotusTotals *t, const MotusPacket *picture, double ssim) {
    const MotusPictureStats *s = &picture->stats;
    t->frames++;
    t->bytes += picture->size;
    add_type(&t->of[picture->type == 'I'   ? MOTUS_TYPE_I
                    : picture->type == 'P' ? MOTUS_TYPE_P
                                           : MOTUS_TYPE_B],
             picture);
    t->bits_header += s->bits_header;
    t->bits_mode += s->bits_mode;
    t->bits_mv += s->bits_mv;
    t->bits_luma += s->bits_luma;
    t->bits_chroma += s->bits_chroma;
    for (int c = 0; c < 3; c++) t->ssd[c] += s->ssd[c];
    t->ssim += ssim;
    t->qp += picture->mean_qp;
    t->coded_again += picture->coded_again;
    t->underflows += picture->vbv_fullness < 0;
    if (t->frames == 1 || picture->vbv_fullness < t->least_vbv)
        t->least_vbv = picture->vbv_fullness;
}

static uint64_t samples(const MotusEncodeReport *job, int c) {
    uint64_t w = (uint64_t)job->config.width, h = (uint64_t)job->config.height;
    return c ? (w / 2) * (h / 2) : w * h;
}

double motus_totals_psnr(const MotusTotals *t, const MotusEncodeReport *job, int c) {
    return t->frames ? motus_psnr(t->ssd[c], samples(job, c) * (uint64_t)t->frames) : 0;
}

double motus_type_psnr(const MotusTotals *t, const MotusEncodeReport *job, int type) {
    const MotusTypeTotals *of = &t->of[type];
    return of->frames ? motus_psnr(of->ssd[0], samples(job, 0) * (uint64_t)of->frames) : 0;
}

double motus_totals_kbps(const MotusTotals *t, const MotusEncodeReport *job) {
    if (!t->frames) return 0;
    return 8e-3 * (double)t->bytes / (double)t->frames * job->config.fps.num / job->config.fps.den;
}

void motus_progress_fields(const MotusTotals *t, const MotusEncodeReport *job, char text[64]) {
    snprintf(text, 64, ", \"kbps\": %.1f, \"bytes\": %llu", motus_totals_kbps(t, job),
             (unsigned long long)t->bytes);
}

static void add_mbs(MotusMbCounts *counts, const MotusTypeTotals *t) {
    counts->inter[0] += t->mb[MOTUS_MB_P_SKIP];
    counts->inter[1] += t->direct;
    for (int k = MOTUS_MB_P_16x16; k < MOTUS_MB_I_4x4; k++) counts->inter[k + 1] += t->mb[k];
    counts->inter[2] -= t->direct;
    counts->intra[0] += t->mb[MOTUS_MB_I_4x4] - t->i_8x8;
    counts->intra[1] += t->i_8x8;
    counts->intra[2] += t->mb[MOTUS_MB_I_16x16];
    counts->intra[3] += t->mb[MOTUS_MB_I_PCM];
}

MotusMbCounts motus_totals_mbs(const MotusTotals *t, int of_b) {
    MotusMbCounts counts = {0};
    for (int type = 0; type < MOTUS_TYPES; type++)
        if ((type == MOTUS_TYPE_B) == of_b) add_mbs(&counts, &t->of[type]);
    return counts;
}

// Returns per cent.
static double share(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_mbs(FILE *file, const MotusTotals *t, int of_b) {
    const MotusMbCounts n = motus_totals_mbs(t, of_b);
    uint64_t all = 0;
    for (int k = 0; k < MOTUS_INTER_TYPES; k++) all += n.inter[k];
    for (int k = 0; k < MOTUS_INTRA_TYPES; k++) all += n.intra[k];
    if (!all) return;
    fprintf(file, "macroblocks ");
    for (int k = 0; k < MOTUS_INTER_TYPES; k++)
        if (motus_inter_names[of_b][k])
            fprintf(file, " %s %.1f%%", motus_inter_names[of_b][k], share(n.inter[k], all));
    for (int k = 0; k < MOTUS_INTRA_TYPES; k++)
        fprintf(file, " %s %.1f%%", motus_intra_names[k], share(n.intra[k], all));
    fprintf(file, "\n");
}

static void print_macroblocks(FILE *file, const MotusTotals *t) {
    const uint64_t *sub = t->of[MOTUS_TYPE_P].sub, *b = t->of[MOTUS_TYPE_B].samples;
    const uint64_t subs = sub[0] + sub[1] + sub[2] + sub[3], inter = b[0] + b[1] + b[2];
    print_mbs(file, t, 0);
    if (subs) fprintf(file, "P_8x8 parts ");
    for (int k = 0; k < 4 && subs; k++)
        fprintf(file, " %s %.1f%%%s", motus_sub_names[k], share(sub[k], subs), k < 3 ? "" : "\n");
    print_mbs(file, t, 1);
    if (inter)
        fprintf(file, "B samples    L0 %.1f%% L1 %.1f%% Bi %.1f%%\n", share(b[0], inter),
                share(b[1], inter), share(b[2], inter));
}

// Prints a line per picture type.
static void print_types(FILE *file, const MotusTotals *t, const MotusEncodeReport *job) {
    for (int type = 0; type < MOTUS_TYPES; type++) {
        const MotusTypeTotals *of = &t->of[type];
        char psnr[32] = "";
        if (!of->frames) continue;
        if (!job->config.no_ssd)
            snprintf(psnr, sizeof psnr, ", PSNR Y %.3f dB", motus_type_psnr(t, job, type));
        fprintf(file, "%s pictures   %lld, QP %.2f, %.1f%% of the bytes%s\n",
                motus_type_names[type], (long long)of->frames, of->qp / (double)of->frames,
                share(of->bytes, t->bytes), psnr);
    }
}

static void print_bits(FILE *file, const MotusTotals *t) {
    uint64_t bits = t->bytes * 8;
    fprintf(file,
            "bits         luma %.1f%% chroma %.1f%% vectors %.1f%% modes %.1f%% headers %.1f%%\n",
            share(t->bits_luma, bits), share(t->bits_chroma, bits), share(t->bits_mv, bits),
            share(t->bits_mode, bits), share(t->bits_header, bits));
}

void motus_damage_text(const MotusDamage *d, char text[160]) {
    const struct {
        int64_t n;
        const char *kind, *kinds;
    } counts[] = {{d->lost, "picture lost", "pictures lost"},
                  {d->repaired, "picture repaired", "pictures repaired"},
                  {d->missing, "picture missing", "pictures missing"},
                  {d->container_errors, "container error", "container errors"}};
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < 4; i++)
        if (counts[i].n)
            used += (size_t)snprintf(text + used, 160 - used, "%s%lld %s", used ? ", " : "",
                                     (long long)counts[i].n,
                                     counts[i].n == 1 ? counts[i].kind : counts[i].kinds);
    if (d->cut) snprintf(text + used, 160 - used, "%scut", used ? ", " : "");
}

void motus_report_print(FILE *file, const MotusTotals *t, const MotusEncodeReport *job) {
    const MotusEncoderConfig *c = &job->config;
    char rate[96], b[32] = "";
    const int64_t b_frames = t->of[MOTUS_TYPE_B].frames;
    motus_rate_text(c, rate, sizeof rate);
    if (b_frames) snprintf(b, sizeof b, ", %lld B", (long long)b_frames);
    fprintf(file, "%s: %dx%d, %lld frames (%lld I%s), %s, level %d.%d, backend %s\n", job->output,
            c->width, c->height, (long long)t->frames, (long long)t->of[MOTUS_TYPE_I].frames, b,
            rate, job->level / 10, job->level % 10, motus_backend_name(job->backend));
    if (!t->frames) return;
    if (c->rate != MOTUS_RATE_QP)
        fprintf(file, "QP           %.2f on average\n", t->qp / (double)t->frames);
    print_types(file, t, job);
    if (c->vbv_maxrate)
        fprintf(file, "VBV          at least %lld bits left, %lld underflows, %lld coded again\n",
                (long long)t->least_vbv, (long long)t->underflows, (long long)t->coded_again);
    fprintf(file, "size         %llu bytes, %.1f kb/s at %.5g frames/s%s\n",
            (unsigned long long)t->bytes, motus_totals_kbps(t, job),
            (double)c->fps.num / c->fps.den, job->variable ? " on average" : "");
    if (!c->no_ssd)
        fprintf(file, "quality      PSNR Y %.3f U %.3f V %.3f dB, SSIM %.5f\n",
                motus_totals_psnr(t, job, 0), motus_totals_psnr(t, job, 1),
                motus_totals_psnr(t, job, 2), t->ssim / (double)t->frames);
    print_macroblocks(file, t);
    print_bits(file, t);
    char damage[160];
    motus_damage_text(&job->damage, damage);
    if (damage[0]) fprintf(file, "damage       %s\n", damage);
    fprintf(file, "time         %.2f s, %.1f frames/s\n", job->seconds,
            job->seconds > 0 ? (double)t->frames / job->seconds : 0);
}
