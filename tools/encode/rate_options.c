// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/encode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cmd.h"

#define SSIM_AQ_STRENGTH 1.5       // 1 takes 3 % more bits for the same SSIM, 2 2 %
#define MOST_LOG ((size_t)1 << 30) // bytes of a pass log

MotusRateOptions motus_rate_options_default(void) {
    MotusRateOptions o = {.qp = -1, .aq_mode = -1};
    o.crf = o.bitrate = o.vbv_maxrate = o.vbv_bufsize = o.aq_strength = -1;
    return o;
}

// Reads a whole file into a string. NULL: `cause` says why.
static char *read_file(const char *path, char *cause, size_t size) {
    FILE *file = fopen(path, "rb");
    char *text = NULL, *more;
    size_t used = 0, capacity = 0;
    if (!file) {
        snprintf(cause, size, "%s", strerror(errno));
        return NULL;
    }
    do {
        capacity = capacity ? 2 * capacity : 65536;
        if (capacity > MOST_LOG || !(more = realloc(text, capacity))) break;
        text = more;
        used += fread(text + used, 1, capacity - used - 1, file);
    } while (used == capacity - 1);
    const int whole = text && used < capacity - 1 && !ferror(file);
    fclose(file);
    if (whole) {
        text[used] = 0;
        return text;
    }
    free(text);
    snprintf(cause, size, "cannot be read as a pass log");
    return NULL;
}

static int check(const MotusRateOptions *o) {
    const char *wrong = NULL;
    if ((o->qp >= 0) + (o->crf >= 0) + (o->bitrate >= 0) > 1)
        wrong = "--qp, --crf and --bitrate: one of them decides";
    else if (o->pass == 1 && o->qp >= 0)
        wrong = "--pass 1: needs --bitrate or --crf";
    else if (o->pass == 2 && o->bitrate < 0)
        wrong = "--pass 2: needs --bitrate";
    else if (o->pass && !o->pass_log)
        wrong =
            o->pass == 1 ? "--pass 1: needs --pass-log FILE" : "--pass 2: needs --pass-log FILE";
    else if (!o->pass && o->pass_log)
        wrong = "--pass-log: needs --pass 1 or 2";
    else if (o->qp >= 0 && (o->vbv_maxrate >= 0 || o->vbv_bufsize >= 0))
        wrong = "--qp: goes with no VBV";
    else if (o->hrd && o->vbv_maxrate < 0)
        wrong = "--nal-hrd: needs --vbv-maxrate and --vbv-bufsize";
    else if ((o->vbv_maxrate >= 0) != (o->vbv_bufsize >= 0))
        wrong = "--vbv-maxrate and --vbv-bufsize: only together";
    return wrong ? motus_usage_error("encode", "%s", wrong) : -1;
}

static int64_t thousands(double v) { return v < 0 ? 0 : (int64_t)(v * 1000 + 0.5); }

static void apply_tune(const MotusRateOptions *o, MotusEncoderConfig *c) {
    c->aq_mode = o->aq_mode >= 0              ? (MotusAqMode)o->aq_mode
                 : o->tune == MOTUS_TUNE_SSIM ? MOTUS_AQ_AUTO
                                              : MOTUS_AQ_OFF;
    if (o->tune == MOTUS_TUNE_ZEROLATENCY) c->lookahead = c->bframes = 0, c->gop_coders = 1;
    if (o->aq_strength >= 0)
        c->aq_strength = o->aq_strength;
    else if (o->tune == MOTUS_TUNE_SSIM)
        c->aq_strength = SSIM_AQ_STRENGTH;
    c->mb_tree = !o->no_mbtree;
}

int motus_rate_options_apply(MotusRateOptions *o, MotusEncoderConfig *c) {
    const int status = check(o);
    if (status >= 0) return status;
    c->rate = o->qp >= 0 ? MOTUS_RATE_QP : o->bitrate >= 0 ? MOTUS_RATE_BITRATE : MOTUS_RATE_CRF;
    if (o->qp >= 0) c->qp = o->qp;
    if (o->crf >= 0) c->crf = o->crf;
    c->bitrate = thousands(o->bitrate);
    c->vbv_maxrate = thousands(o->vbv_maxrate);
    c->vbv_bufsize = thousands(o->vbv_bufsize);
    c->hrd = (MotusHrd)o->hrd;
    c->pass = o->pass;
    apply_tune(o, c);
    if (o->pass != 2) return -1;
    char cause[128];
    c->pass_log = o->log_text = read_file(o->pass_log, cause, sizeof cause);
    if (o->log_text) return -1;
    motus_warn("%s: %s", o->pass_log, cause);
    return MOTUS_EXIT_FAILURE;
}

void motus_rate_text(const MotusEncoderConfig *c, char *text, size_t size) {
    int used = 0;
    if (c->rate == MOTUS_RATE_QP)
        used = snprintf(text, size, "QP %d", c->qp);
    else if (c->rate == MOTUS_RATE_CRF)
        used = snprintf(text, size, "%sCRF %g", c->pass == 1 ? "pass 1, " : "", c->crf);
    else
        used = snprintf(text, size, "%s%g kb/s",
                        c->pass == 1   ? "pass 1, "
                        : c->pass == 2 ? "pass 2, "
                                       : "",
                        (double)c->bitrate / 1000);
    if (c->vbv_maxrate && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", VBV %g kb/s %g kbit",
                 (double)c->vbv_maxrate / 1000, (double)c->vbv_bufsize / 1000);
}
