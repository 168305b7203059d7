// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/settings/rate_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/int_core.h"
#include "common/log2_core.h"
#include "encoder/bitstream/headers.h"
#include "encoder/lookahead/b_costs.h"

// mb-tree strengths with the lowest BD-rates on real sequences: QPs per octave, 1/256. With B
// pictures, which most often have no offsets, QPs may differ more.
#define MB_TREE_STRENGTH 256
#define MB_TREE_STRENGTH_B 512

// mb-tree lowers the mean QP; adding this to CRF keeps the bits about those of the same CRF without
// mb-tree.
#define MB_TREE_CRF (4 * MOTUS_QP_UNIT + MOTUS_QP_UNIT / 2)
#define MB_TREE_CRF_B (7 * MOTUS_QP_UNIT)

#define MAX_RATE ((int64_t)1000000000000) // bits per second, and bits

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

MotusStatus motus_rate_config_check_rates(int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                                          MotusError *error) {
    if (bitrate < 0 || bitrate > MAX_RATE)
        REFUSE("bitrate %" PRId64 " is outside 0..%" PRId64 " bit/s", bitrate, MAX_RATE);
    if (vbv_rate < 0 || vbv_rate > MAX_RATE)
        REFUSE("VBV rate %" PRId64 " is outside 0..%" PRId64 " bit/s", vbv_rate, MAX_RATE);
    if (vbv_size < 0 || vbv_size > MAX_RATE)
        REFUSE("VBV size %" PRId64 " is outside 0..%" PRId64 " bits", vbv_size, MAX_RATE);
    if (vbv_rate && !vbv_size) REFUSE("a VBV rate needs a VBV size");
    if (vbv_size && !vbv_rate) REFUSE("a VBV size needs a VBV rate");
    if (vbv_rate && bitrate > vbv_rate)
        REFUSE("bitrate %" PRId64 " is above the VBV's rate, %" PRId64 " bit/s", bitrate, vbv_rate);
    return MOTUS_OK;
}

// True if low <= value <= high; false for NaN.
static int within(double value, double low, double high) { return value >= low && value <= high; }

static MotusStatus check_lookahead(const MotusEncoderConfig *c, MotusError *error) {
    if (c->lookahead < 0 || c->lookahead > MOTUS_MAX_LOOKAHEAD)
        REFUSE("lookahead of %d pictures is outside 0..%d", c->lookahead, MOTUS_MAX_LOOKAHEAD);
    if (c->min_keyint < 0) REFUSE("min-keyint %d is negative", c->min_keyint);
    if (c->keyint && c->min_keyint > c->keyint)
        REFUSE("min-keyint %d is above keyint %d", c->min_keyint, c->keyint);
    if (c->scenecut < 0 || c->scenecut > 100) REFUSE("scenecut %d is outside 0..100", c->scenecut);
    if ((unsigned)c->aq_mode > MOTUS_AQ_AUTO) REFUSE("unknown AQ mode %d", (int)c->aq_mode);
    if (!within(c->aq_strength, 0, 4)) REFUSE("AQ strength %g is outside 0..4", c->aq_strength);
    return MOTUS_OK;
}

static MotusStatus check_hrd(const MotusEncoderConfig *c, MotusError *error) {
    if ((unsigned)c->hrd > MOTUS_HRD_CBR) REFUSE("unknown HRD %d", (int)c->hrd);
    if (!c->hrd) return MOTUS_OK;
    if (!c->vbv_maxrate) REFUSE("an HRD needs a VBV");
    if (c->time_base.num) REFUSE("an HRD needs pictures that are all shown for the same time");
    if (c->vbv_maxrate < 64 || c->vbv_bufsize < 16) REFUSE("the VBV is too small for an HRD");
    if (c->vbv_maxrate >= (int64_t)64 << 32 || c->vbv_bufsize >= (int64_t)16 << 32)
        REFUSE("the VBV is too large for an HRD");
    if (c->hrd == MOTUS_HRD_CBR && (c->rate != MOTUS_RATE_BITRATE || c->bitrate != c->vbv_maxrate))
        REFUSE("a constant rate needs bitrate and VBV rate to be equal");
    return MOTUS_OK;
}

MotusStatus motus_rate_config_check(const MotusEncoderConfig *c, MotusError *error) {
    if ((unsigned)c->rate > MOTUS_RATE_BITRATE) REFUSE("unknown rate control %d", (int)c->rate);
    if (c->rate == MOTUS_RATE_QP) {
        if (c->vbv_maxrate || c->vbv_bufsize || c->pass || c->hrd)
            REFUSE("a fixed QP goes with no VBV, HRD and pass");
        return MOTUS_OK;
    }
    MotusStatus status =
        motus_rate_config_check_rates(c->bitrate, c->vbv_maxrate, c->vbv_bufsize, error);
    if (status) return status;
    if (c->rate == MOTUS_RATE_BITRATE && c->bitrate < 1) REFUSE("no bitrate given");
    if (c->rate == MOTUS_RATE_CRF && !within(c->crf, 0, 51))
        REFUSE("CRF %g is outside 0..51", c->crf);
    if (c->qp_min < 0 || c->qp_max > 51 || c->qp_min > c->qp_max)
        REFUSE("QPs %d..%d are not within 0..51", c->qp_min, c->qp_max);
    if (c->qp_step < 1 || c->qp_step > 51) REFUSE("QP step %d is outside 1..51", c->qp_step);
    if (!within(c->ip_ratio, 0.1, 10))
        REFUSE("ratio %g of P and I steps is outside 0.1..10", c->ip_ratio);
    if (c->time_base.num < 0 || c->time_base.den <= 0)
        REFUSE("time base %d/%d", c->time_base.num, c->time_base.den);
    if (c->pass < 0 || c->pass > 2) REFUSE("pass %d is outside 0..2", c->pass);
    if (c->pass == 2 && c->rate != MOTUS_RATE_BITRATE) REFUSE("a second pass needs a bitrate");
    if (c->pass == 2 && !c->pass_log) REFUSE("a second pass needs the log of the first");
    status = check_hrd(c, error);
    return status ? status : check_lookahead(c, error);
}

#undef REFUSE

// ---- Settings -----------------------------------------------------------------------------------

static int q8(double v) { return (int)(v * 256 + 0.5); }

int motus_ratio_q8(double ratio) {
    return (motus_log2_q12((uint64_t)(ratio * 65536)) - 16 * MOTUS_OCTAVE) * 3 / 8;
}

static int b_span_of(const MotusEncoderConfig *c) {
    const int most = c->b_pyramid ? MOTUS_B_SPAN : MOTUS_B_FLAT_SPAN;
    return c->bframes && c->b_adapt ? motus_min(c->bframes + 1, most) : 0;
}

static int mb_tree_of(const MotusEncoderConfig *c) {
    if (!c->mb_tree || !c->lookahead) return 0;
    return c->bframes ? MB_TREE_STRENGTH_B : MB_TREE_STRENGTH;
}

static MotusLookaheadSettings lookahead_of(const MotusEncoderConfig *c, int mb_width,
                                           int mb_height) {
    MotusLookaheadSettings look = {.mb_width = mb_width,
                                   .mb_height = mb_height,
                                   .threads = c->threads,
                                   .depth = c->lookahead,
                                   .keyint = c->keyint,
                                   .min_keyint = motus_max(1, c->min_keyint),
                                   .scenecut = c->scenecut,
                                   .aq_mode = c->aq_mode,
                                   .aq_strength_q8 = q8(c->aq_strength),
                                   .mb_tree_q8 = mb_tree_of(c),
                                   .first = c->first_picture,
                                   .b_span = b_span_of(c),
                                   .b_pyramid = c->b_pyramid == MOTUS_B_PYRAMID_NORMAL,
                                   .weights = c->weightp > 0,
                                   .keep_aq =
                                       c->bframes && c->aq_mode && c->mb_tree && c->lookahead};
    if (c->rate != MOTUS_RATE_QP) return look;
    look.depth = look.scenecut = look.mb_tree_q8 = look.keep_aq = 0; // mini-GOPs alone
    look.aq_mode = MOTUS_AQ_OFF;
    return look;
}

// The HRD can express a rate or size only approximately (E.2.2): the VBV takes the same value.
static int64_t vbv_value(const MotusEncoderConfig *c, int64_t value, int unit) {
    int scale;
    return c->hrd ? motus_hrd_value(value, unit, &scale) : value;
}

static MotusRateSettings control_of(const MotusEncoderConfig *c, int has_mb_tree, int n_mb) {
    const int slices = motus_clip(1, motus_mbs(c->height), c->slices),
              messages = (c->hrd ? 160 : 0) + (c->aud ? 48 : 0);
    return (MotusRateSettings){
        .kind = c->rate,
        .fps = c->time_base.num ? (MotusRational){c->time_base.den, c->time_base.num} : c->fps,
        .crf_q8 = q8(c->crf) + (!has_mb_tree ? 0
                                : c->bframes ? MB_TREE_CRF_B
                                             : MB_TREE_CRF),
        .bitrate = c->bitrate,
        .vbv_rate = vbv_value(c, c->vbv_maxrate, 6),
        .vbv_size = vbv_value(c, c->vbv_bufsize, 4),
        .qp_min = c->qp_min,
        .qp_max = c->qp_max,
        .qp_step = c->qp_step,
        .ip_q8 = motus_ratio_q8(c->ip_ratio),
        .pb_q8 = has_mb_tree ? 0 : motus_ratio_q8(c->pb_ratio),
        .hrd = c->hrd,
        .keyint = c->keyint,
        .empty_bits = {messages + 400 + 8 * n_mb, messages + 104 * slices, messages + 104 * slices,
                       messages + 104 * slices}};
}

static void write_fingerprint(MotusRateConfig *rate, const MotusEncoderConfig *c) {
    const MotusLookaheadSettings *l = &rate->lookahead;
    const int length = snprintf(
        rate->fingerprint, sizeof rate->fingerprint,
        "%dx%d %d/%d time %d/%d lookahead %d keyint %d min %d scenecut %d aq %d %d propagation %d",
        c->width, c->height, c->fps.num, c->fps.den, c->time_base.num, c->time_base.den, l->depth,
        l->keyint, l->min_keyint, l->scenecut, (int)l->aq_mode, l->aq_strength_q8, l->mb_tree_q8);
    const size_t used = (size_t)motus_min(length, (int)sizeof rate->fingerprint);
    if (c->bframes)
        snprintf(rate->fingerprint + used, sizeof rate->fingerprint - used,
                 " bframes %d adapt %d%s", c->bframes, l->b_span, c->b_pyramid ? " pyramid" : "");
    else if (c->intra_refresh)
        snprintf(rate->fingerprint + used, sizeof rate->fingerprint - used, " refresh");
}

// Returns where two texts, which differ, begin to: one word before, which names the value.
static size_t difference(const char *a, const char *b) {
    size_t word = 0, name = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == ' ') name = word, word = i + 1;
    return name;
}

static MotusStatus read_log(MotusRateConfig *rate, const char *text, MotusError *error) {
    MotusError cause = {0};
    MotusStatus status = motus_pass_log_read(&rate->log, text, &cause);
    if (status) return motus_fail(error, status, "pass log: %s", cause.text);
    if (strcmp(rate->log.fingerprint, rate->fingerprint)) {
        const size_t at = difference(rate->log.fingerprint, rate->fingerprint);
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "pass log: made with other settings: %.90s; now %.90s",
                          rate->log.fingerprint + at, rate->fingerprint + at);
    }
    rate->control.log = &rate->log;
    return MOTUS_OK;
}

MotusStatus motus_rate_config_open(MotusRateConfig *rate, const MotusEncoderConfig *c, int mb_width,
                                   int mb_height, MotusError *error) {
    rate->lookahead = lookahead_of(c, mb_width, mb_height);
    if (c->rate == MOTUS_RATE_QP) return MOTUS_OK; // the rest is not used
    rate->control = control_of(c, rate->lookahead.mb_tree_q8 != 0, mb_width * mb_height);
    write_fingerprint(rate, c);
    return c->pass == 2 ? read_log(rate, c->pass_log, error) : MOTUS_OK;
}

void motus_rate_config_close(MotusRateConfig *rate) { motus_pass_log_free(&rate->log); }
