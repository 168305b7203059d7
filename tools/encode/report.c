// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/report.h"

#include "tools/encode/rate_options.h"

const char *const motus_mb_type_names[MOTUS_MB_TYPES] = {
    "P_Skip", "P_16x16", "P_16x8", "P_8x16", "P_8x8", "I_4x4", "I_8x8", "I_16x16", "I_PCM"};

const char *const motus_sub_names[4] = {"8x8", "8x4", "4x8", "4x4"};

void motus_totals_add(MotusTotals *t, const MotusPacket *picture, double ssim) {
    const MotusPictureStats *s = &picture->stats;
    t->frames++;
    t->i_frames += picture->type == 'I';
    t->bytes += picture->size;
    if (picture->type == 'B') t->b_frames++, t->b_bytes += picture->size;
    if (picture->type == 'B') t->b_qp += picture->mean_qp;
    for (int k = 0; k < MOTUS_MB_KINDS; k++) t->mb[k] += s->mb[k];
    for (int k = 0; k < 4; k++) t->sub[k] += s->sub[k];
    t->i_8x8 += s->transform_8x8[1];
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

double motus_totals_kbps(const MotusTotals *t, const MotusEncodeReport *job) {
    if (!t->frames) return 0;
    return 8e-3 * (double)t->bytes / (double)t->frames * job->config.fps.num / job->config.fps.den;
}

void motus_progress_fields(const MotusTotals *t, const MotusEncodeReport *job, char text[64]) {
    snprintf(text, 64, ", \"kbps\": %.1f, \"bytes\": %llu", motus_totals_kbps(t, job),
             (unsigned long long)t->bytes);
}

void motus_totals_mb_types(const MotusTotals *t, uint64_t counts[MOTUS_MB_TYPES]) {
    enum { I_8x8 = MOTUS_MB_I_4x4 + 1 };
    for (int k = 0; k < MOTUS_MB_TYPES; k++)
        counts[k] = k == I_8x8 ? t->i_8x8 : t->mb[k - (k > I_8x8)];
    counts[MOTUS_MB_I_4x4] -= t->i_8x8;
}

// Returns per cent.
static double share(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_macroblocks(FILE *file, const MotusTotals *t) {
    uint64_t all = 0, subs = 0, mbs[MOTUS_MB_TYPES];
    motus_totals_mb_types(t, mbs);
    for (int k = 0; k < MOTUS_MB_TYPES; k++) all += mbs[k];
    for (int k = 0; k < 4; k++) subs += t->sub[k];
    fprintf(file, "macroblocks ");
    for (int k = 0; k < MOTUS_MB_TYPES; k++)
        fprintf(file, " %s %.1f%%", motus_mb_type_names[k], share(mbs[k], all));
    fprintf(file, "\n");
    if (!subs) return;
    fprintf(file, "P_8x8 parts ");
    for (int k = 0; k < 4; k++)
        fprintf(file, " %s %.1f%%", motus_sub_names[k], share(t->sub[k], subs));
    fprintf(file, "\n");
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
    motus_rate_text(c, rate, sizeof rate);
    if (t->b_frames) snprintf(b, sizeof b, ", %lld B", (long long)t->b_frames);
    fprintf(file, "%s: %dx%d, %lld frames (%lld I%s), %s, level %d.%d, backend %s\n", job->output,
            c->width, c->height, (long long)t->frames, (long long)t->i_frames, b, rate,
            job->level / 10, job->level % 10, motus_backend_name(job->backend));
    if (!t->frames) return;
    if (c->rate != MOTUS_RATE_QP)
        fprintf(file, "QP           %.2f on average\n", t->qp / (double)t->frames);
    if (t->b_frames)
        fprintf(file, "B pictures   QP %.2f on average, %.1f%% of the bytes\n",
                t->b_qp / (double)t->b_frames, share(t->b_bytes, t->bytes));
    if (c->vbv_maxrate)
        fprintf(file, "VBV          at least %lld bits left, %lld underflows, %lld coded again\n",
                (long long)t->least_vbv, (long long)t->underflows, (long long)t->coded_again);
    fprintf(file, "size         %llu bytes, %.1f kb/s at %.5g frames/s%s\n",
            (unsigned long long)t->bytes, motus_totals_kbps(t, job),
            (double)c->fps.num / c->fps.den, job->variable ? " on average" : "");
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
