// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/settings/stream.h"

#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "common/log2_core.h"
#include "encoder/lookahead/b_costs.h"
#include "encoder/lookahead/b_order.h"
#include "encoder/settings/config.h"

#define LOG2_MAX_FRAME_NUM 16  // 4..16 (7.4.2.1.1)
#define MAX_MB_BYTES 416       // macroblock_layer(), 3,200 bits (A.3.1), and its mb_skip_run
#define LEAST_WITH_WEIGHTS 512 // slice_max_size with weightp
#define MAX_SLICE_BYTES 32     // slice header (130 bits), trailing bits, start code
// Three save 1.5 % of the bits (slower; carphone, parkjoy, mobile), five 1.6 %.
#define MOST_B_REFERENCES 5

// mb-tree strengths with the lowest BD-rates on real sequences: QPs per octave, 1/256. With B
// pictures, which most often have no offsets, QPs may differ more.
#define MB_TREE_STRENGTH 256
#define MB_TREE_STRENGTH_B 512

// mb-tree lowers the mean QP; adding this to CRF keeps the bits about those of the same CRF without
// mb-tree.
#define MB_TREE_CRF (4 * MOTUS_QP_UNIT + MOTUS_QP_UNIT / 2)
#define MB_TREE_CRF_B (7 * MOTUS_QP_UNIT)

#define MIN_FAR_RANGE 4
#define MODES_BELOW_8x8 (1u << MOTUS_MODE_8x4 | 1u << MOTUS_MODE_4x8 | 1u << MOTUS_MODE_4x4)

// ---- Slices of whole MB rows --------------------------------------------------------------------

MotusStatus motus_slices_alloc(MotusSlices *s, int wanted, int extra, int mb_width, int mb_height) {
    const int n = motus_clip(1, mb_height, wanted);
    int is_new = extra > 0 && extra < mb_height;
    for (int k = 0; k < n; k++) is_new &= (mb_height * k + n / 2) / n != extra;
    *s = (MotusSlices){.n = n + is_new};
    if (s->n == 1) return MOTUS_OK;
    s->first = motus_alloc((size_t)mb_width * (size_t)mb_height, sizeof *s->first);
    s->row_order = motus_alloc((size_t)mb_height, sizeof *s->row_order);
    s->begin = motus_alloc((size_t)s->n + 1, sizeof *s->begin);
    if (!s->first || !s->row_order || !s->begin) {
        motus_slices_free(s);
        return MOTUS_ERR_MEMORY;
    }
    for (int k = 0; k < n; k++) s->begin[k] = (mb_height * k + n / 2) / n;
    if (is_new) {
        int k = n;
        for (; s->begin[k - 1] > extra; k--) s->begin[k] = s->begin[k - 1];
        s->begin[k] = extra;
    }
    s->begin[s->n] = mb_height;
    for (int k = 0; k < s->n; k++)
        for (int i = s->begin[k] * mb_width; i < s->begin[k + 1] * mb_width; i++)
            s->first[i] = s->begin[k] * mb_width;
    for (int row = 0, at = 0; at < mb_height; row++)
        for (int k = 0; k < s->n; k++)
            if (s->begin[k] + row < s->begin[k + 1]) s->row_order[at++] = s->begin[k] + row;
    return MOTUS_OK;
}

void motus_slices_free(MotusSlices *s) {
    motus_free(s->first);
    motus_free(s->row_order);
    motus_free(s->begin);
    *s = (MotusSlices){0};
}

// ---- Rate control and lookahead -----------------------------------------------------------------

static int q8(double v) { return (int)(v * 256 + 0.5); }

int motus_ratio_q8(double ratio) {
    return (motus_log2_q12((uint64_t)(ratio * 65536)) - 16 * MOTUS_OCTAVE) * 3 / 8;
}

static MotusLookaheadSettings lookahead_of(const MotusEncoderConfig *c, int mb_width,
                                           int mb_height) {
    const int has_tree = c->mb_tree && c->lookahead,
              most_span = c->b_pyramid ? MOTUS_B_SPAN : MOTUS_B_FLAT_SPAN;
    MotusLookaheadSettings look = {
        .mb_width = mb_width,
        .mb_height = mb_height,
        .threads = c->threads,
        .depth = c->lookahead,
        .keyint = c->keyint,
        .min_keyint = motus_max(1, c->min_keyint),
        .scenecut = c->scenecut,
        .aq_mode = c->aq_mode,
        .aq_strength_q8 = q8(c->aq_strength),
        .mb_tree_q8 = !has_tree    ? 0
                      : c->bframes ? MB_TREE_STRENGTH_B
                                   : MB_TREE_STRENGTH,
        .first = c->first_picture,
        .b_span = c->bframes && c->b_adapt ? motus_min(c->bframes + 1, most_span) : 0,
        .b_pyramid = c->b_pyramid == MOTUS_B_PYRAMID_NORMAL,
        .weights = c->weightp > 0,
        .keep_aq = c->bframes && c->aq_mode && has_tree};
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

// Writes the settings that both passes must share.
static void write_fingerprint(MotusStream *s) {
    const MotusEncoderConfig *c = &s->config;
    const MotusLookaheadSettings *l = &s->lookahead;
    const int length = snprintf(
        s->fingerprint, sizeof s->fingerprint,
        "%dx%d %d/%d time %d/%d lookahead %d keyint %d min %d scenecut %d aq %d %d propagation %d",
        c->width, c->height, c->fps.num, c->fps.den, c->time_base.num, c->time_base.den, l->depth,
        l->keyint, l->min_keyint, l->scenecut, (int)l->aq_mode, l->aq_strength_q8, l->mb_tree_q8);
    const size_t used = (size_t)motus_min(length, (int)sizeof s->fingerprint);
    if (c->bframes)
        snprintf(s->fingerprint + used, sizeof s->fingerprint - used, " bframes %d adapt %d%s",
                 c->bframes, l->b_span, c->b_pyramid ? " pyramid" : "");
    else if (c->intra_refresh)
        snprintf(s->fingerprint + used, sizeof s->fingerprint - used, " refresh");
}

// Sets up rate control and lookahead, and reads the pass log. MOTUS_ERR_FORMAT (the log),
// MOTUS_ERR_MEMORY.
static MotusStatus open_rate(MotusStream *s, MotusError *error) {
    const MotusEncoderConfig *c = &s->config;
    s->lookahead = lookahead_of(c, s->mb_width, s->mb_height);
    if (c->rate == MOTUS_RATE_QP) return MOTUS_OK; // the rest is not used
    s->rate = control_of(c, s->lookahead.mb_tree_q8 != 0, s->mb_width * s->mb_height);
    write_fingerprint(s);
    if (c->pass != 2) return MOTUS_OK;
    MotusError cause = {0};
    MotusStatus status = motus_pass_log_read(&s->pass_log, c->pass_log, &cause);
    if (status) return motus_fail(error, status, "pass log: %s", cause.text);
    s->rate.log = &s->pass_log;
    const char *theirs = s->pass_log.fingerprint, *ours = s->fingerprint;
    if (!strcmp(theirs, ours)) return MOTUS_OK;
    size_t word = 0, name = 0; // from one word before the difference, which names the value
    for (size_t i = 0; theirs[i] && theirs[i] == ours[i]; i++)
        if (ours[i] == ' ') name = word, word = i + 1;
    return motus_fail(error, MOTUS_ERR_FORMAT,
                      "pass log: made with other settings: %.90s; now %.90s", theirs + name,
                      ours + name);
}

// ---- Opening ------------------------------------------------------------------------------------

static MotusStatus write_headers(MotusStream *s, MotusError *error) {
    uint8_t rbsp[MOTUS_HEADER_BYTES];
    MotusBits bits;
    motus_bits_init(&bits, rbsp, sizeof rbsp);
    motus_write_sps(&bits, &s->sequence);
    s->headers_size = motus_nal_write(s->headers, 3, MOTUS_NAL_SPS, rbsp, bits.size);
    motus_bits_init(&bits, rbsp, sizeof rbsp);
    motus_write_pps(&bits, &s->sequence);
    s->headers_size +=
        motus_nal_write(s->headers + s->headers_size, 3, MOTUS_NAL_PPS, rbsp, bits.size);
    return bits.overflow
               ? motus_fail(error, MOTUS_ERR_INTERNAL, "the headers are larger than their buffer")
               : MOTUS_OK;
}

// Chooses the level and the limits of MVs. MVs reach range + 0.75 samples around a centre; centres
// use up the rest of the level's vertical range.
static MotusStatus choose_level(MotusStream *s, MotusError *error) {
    const MotusEncoderConfig *c = &s->config;
    const MotusLevel *level = motus_level_choose(s->mb_width, s->mb_height, c->fps,
                                                 s->sequence.max_refs, s->effort.range);
    if (!level)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "size %dx%d is beyond H.264's highest level", c->width, c->height);
    if ((int64_t)s->sequence.max_refs * s->mb_width * s->mb_height > level->max_dpb_mbs)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%d reference pictures of size %dx%d are beyond H.264's highest level",
                          s->sequence.max_refs, c->width, c->height);
    level = motus_level_for_rate(level, c->vbv_maxrate > c->bitrate ? c->vbv_maxrate : c->bitrate,
                                 c->vbv_bufsize);
    s->sequence.level = level;
    s->limits =
        (MotusInterLimits){.max_mvs = level->max_mvs_per_2mb ? level->max_mvs_per_2mb / 2 : 16,
                           .max_mv_y = level->max_mv_y * 4,
                           .unit = 4 >> c->subpel,
                           .steps = s->effort.steps};
    s->centre_limit_y =
        motus_clip(0, MOTUS_MAX_CENTRE, (level->max_mv_y - s->effort.range - 1) * 4 & ~3);
    return MOTUS_OK;
}

static MotusSequenceSettings sequence_of(const MotusStream *s) {
    const MotusEncoderConfig *c = &s->config;
    // With a pyramid of one level: the last two P pictures, and the B reference after each of them.
    // The older P picture is needed behind the newer B reference only if a B picture is shown
    // before that. With two levels: references on both sides, of both levels, and the new one.
    const int pyramid = c->b_pyramid ? motus_min(c->bframes, 3) : 0;
    const int refs = pyramid > 1 ? pyramid + 1 : c->bframes ? 2 : 1;
    return (MotusSequenceSettings){
        .profile = c->profile,
        .cabac = c->cabac && c->profile != MOTUS_PROFILE_BASELINE,
        .transform_8x8 = c->transform_8x8 && c->profile == MOTUS_PROFILE_HIGH,
        .width = c->width,
        .height = c->height,
        .fps = c->fps,
        .colour = c->colour,
        .log2_max_frame_num = LOG2_MAX_FRAME_NUM,
        .max_refs = motus_max(refs, motus_max(c->references, c->keep_references)),
        .gaps = c->keep_references > 0,
        .active_refs = c->references,
        .weighted_pred = c->weightp > 0,
        .weighted_bipred = c->weightb && c->bframes,
        .reorder = motus_b_reorder(c->bframes, c->b_pyramid ? MOTUS_B_LEVELS : 0),
        .pic_init_qp = 26,
        .deblock = c->deblock,
        .hrd = c->hrd,
        .hrd_rate = s->rate.vbv_rate,
        .hrd_size = s->rate.vbv_size};
}

// Divides the pictures of a cycle at the ends of their ranges.
static MotusStatus open_refresh(MotusStream *s, MotusError *error) {
    const int n = motus_refresh_pictures(s->mb_height, s->refresh_period);
    s->refresh_slices = motus_alloc((size_t)n, sizeof *s->refresh_slices);
    for (int at = 0; s->refresh_slices && at < n; at++) {
        MotusSlices *slices = &s->refresh_slices[s->n_refreshes];
        const MotusRefresh refresh = motus_refresh_at(s->mb_height, s->refresh_period, at);
        if (motus_slices_alloc(slices, s->config.slices, refresh.end, s->mb_width, s->mb_height))
            break;
        s->most_slices = motus_max(s->most_slices, slices->n);
        s->n_refreshes++;
    }
    return s->n_refreshes == n ? MOTUS_OK : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
}

MotusStatus motus_stream_open(MotusStream *s, const MotusEncoderConfig *config, MotusError *error) {
    MotusEncoderConfig *c = &s->config;
    MotusStatus status = motus_config_read(c, config, error);
    if (status) return status;
    // Slices that are too small leave no bytes for MBs behind a header with weights.
    if (c->profile == MOTUS_PROFILE_BASELINE ||
        (c->slice_max_size && c->slice_max_size < LEAST_WITH_WEIGHTS))
        c->weightp = 0;
    if (c->intra_refresh) c->weightp = motus_min(c->weightp, 1);
    if (c->intra_refresh) c->references = 1;
    motus_preset_complete(c, &s->spatial_references);
    s->effort = motus_effort_of(c);
    s->p_refs = motus_min(c->references + (c->weightp == 2), MOTUS_MAX_REFERENCES);
    s->b_refs = c->bframes ? motus_min(c->references, MOST_B_REFERENCES) : 0;
    for (int lambda = 0; lambda < MOTUS_LAMBDAS; lambda++)
        for (int qp = 0; qp < MOTUS_QPS; qp++) {
            s->qp_table[lambda][qp] = motus_qp_at(qp, lambda);
            s->quant8_table[lambda][qp] = motus_quant8_at(qp, lambda);
        }
    s->mb_width = motus_mbs(c->width);
    s->mb_height = motus_mbs(c->height);
    if (motus_slices_alloc(&s->slices, c->slices, 0, s->mb_width, s->mb_height))
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    s->most_slices = s->slices.n;
    if (c->intra_refresh) { // the first GOP does not end
        s->refresh_period = c->keyint;
        c->keyint = c->min_keyint = c->scenecut = 0;
        status = open_refresh(s, error);
    }
    const size_t n_mb = (size_t)s->mb_width * (size_t)s->mb_height,
                 slices = c->slice_max_size ? n_mb : (size_t)s->most_slices,
                 slice_bytes = MAX_SLICE_BYTES + (c->weightp ? MOTUS_MAX_WEIGHTS_BYTES : 0);
    // Decisions bound the bits that an MB takes in CAVLC.
    s->rbsp_capacity = n_mb * MAX_MB_BYTES * (c->profile == MOTUS_PROFILE_BASELINE ? 1 : 2) +
                       slices * slice_bytes + MOTUS_HEADER_BYTES;
    if (!status) status = open_rate(s, error);
    c->pass_log = NULL; // the caller's, and read
    s->sequence = sequence_of(s);
    if (!status) status = choose_level(s, error);
    if (!status) status = write_headers(s, error);
    if (status) motus_stream_close(s);
    return status;
}

void motus_stream_close(MotusStream *s) {
    motus_pass_log_free(&s->pass_log);
    motus_slices_free(&s->slices);
    for (int at = 0; at < s->n_refreshes; at++) motus_slices_free(&s->refresh_slices[at]);
    motus_free(s->refresh_slices);
}

MotusSliceSettings motus_slice_settings(const MotusStream *s, const MotusPictureParams *params,
                                        int first_mb) {
    const int apart = motus_refresh_apart(&params->refresh);
    return (MotusSliceSettings){.first_mb = first_mb,
                                .idr = params->idr,
                                .idr_pic_id = (int)(params->idr_pic_id & 0xFFFF),
                                .slice_type = (int)params->type,
                                .refs = params->refs,
                                .copies = params->copies,
                                .weights = &params->weights,
                                .is_reference = params->is_reference,
                                .frame_num = params->frame_num & ((1u << LOG2_MAX_FRAME_NUM) - 1),
                                .poc = 2 * params->shown,
                                .direct_spatial = params->direct != MOTUS_DIRECT_TEMPORAL,
                                .list_command = {params->list_command[0], params->list_command[1]},
                                .drop_command = params->drop_command,
                                .qp = params->qp,
                                .deblock = s->config.deblock,
                                .is_apart = apart && first_mb / s->mb_width == apart,
                                .cabac = s->sequence.cabac,
                                .transform_8x8 = s->sequence.transform_8x8};
}

// ---- Pictures -----------------------------------------------------------------------------------

// MVs of one reference tell those of another.
int motus_far_range(int range) { return motus_min(range, motus_max(range / 2, MIN_FAR_RANGE)); }

MotusEffort motus_picture_effort(const MotusStream *s, const MotusPictureParams *params) {
    const MotusExternalMvs *external = &params->external;
    MotusEffort effort = s->effort;
    if (params->type == MOTUS_SLICE_B) {
        // The last P picture's MVs tell those of B pictures, which have few intra MBs. More than
        // half saves 0.1 % of the bits each.
        effort.range = motus_far_range(effort.range);
        effort.intra_chain /= 2;
        effort.phases = effort.b_phases;
        effort.skip_gate = effort.b_skip_gate;
        effort.transforms = effort.b_transforms;
    }
    if (!external->mv) return effort;
    effort.partitions &= external->modes;
    if (external->final) effort.pair_steps = 0;
    if (!(effort.partitions >> MOTUS_MODE_8x8 & 1))
        effort.partitions &= ~MODES_BELOW_8x8; // sub types need their 8x8
    return effort;
}

int motus_picture_lambda(const MotusStream *s, const MotusPictureParams *params) {
    const int has_b_tree = s->config.bframes && s->lookahead.mb_tree_q8;
    // Where pictures take little from one another few inherit P pictures' errors, too.
    if (!has_b_tree && params->type == MOTUS_SLICE_B && params->moves) return MOTUS_LAMBDA_TREE_B;
    if (!has_b_tree || params->type == MOTUS_SLICE_P) return (int)params->type;
    return params->type == MOTUS_SLICE_I ? MOTUS_LAMBDA_TREE_I
           : params->is_reference        ? MOTUS_LAMBDA_TREE_B_REFERENCE
                                         : MOTUS_LAMBDA_TREE_B;
}

size_t motus_access_unit_begin(const MotusStream *s, const MotusPictureParams *params,
                               uint8_t *dst) {
    const int begins_cycle = params->refresh.end && !params->refresh_at; // of intra refresh
    size_t size = 0;
    if (s->config.aud) {
        uint8_t rbsp[16];
        MotusBits bits;
        motus_bits_init(&bits, rbsp, sizeof rbsp);
        motus_write_aud(&bits, (int)params->type);
        size += motus_nal_write(dst, 0, MOTUS_NAL_AUD, rbsp, bits.size);
    }
    if (params->idr || begins_cycle) {
        memcpy(dst + size, s->headers, s->headers_size);
        size += s->headers_size;
    }
    if (begins_cycle) {
        uint8_t rbsp[16];
        MotusBits bits;
        motus_bits_init(&bits, rbsp, sizeof rbsp);
        motus_write_recovery_point(&bits,
                                   motus_refresh_pictures(s->mb_height, s->refresh_period) - 1);
        size += motus_nal_write(dst + size, 0, MOTUS_NAL_SEI, rbsp, bits.size);
    }
    if (s->sequence.hrd) {
        uint8_t rbsp[64];
        MotusBits bits;
        motus_bits_init(&bits, rbsp, sizeof rbsp);
        MotusHrdTiming timing = params->hrd;
        if (s->sequence.reorder) // so many pictures later than in a stream without reordering
            timing.output_delay =
                2 * ((uint32_t)params->shown + (uint32_t)s->sequence.reorder - params->since_idr);
        motus_write_sei(&bits, &timing, params->idr);
        size += motus_nal_write(dst + size, 0, MOTUS_NAL_SEI, rbsp, bits.size);
    }
    return size;
}
