// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/settings/stream.h"

#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/lookahead/b_order.h"
#include "encoder/settings/rate_config.h"

#define LOG2_MAX_FRAME_NUM 16  // 4..16 (7.4.2.1.1)
#define MAX_MB_BYTES 416       // macroblock_layer(), 3,200 bits (A.3.1), and its mb_skip_run
#define LEAST_WITH_WEIGHTS 512 // slice_max_size with weightp: room for MBs behind the header
#define MAX_SLICE_BYTES 32     // slice header (130 bits), trailing bits, start code

// ---- Slices of whole MB rows --------------------------------------------------------------------

static void place_rows(MotusSlices *s, int mb_width, int mb_height) {
    int at = 0;
    for (int k = 0; k < s->n; k++)
        for (int i = s->begin[k] * mb_width; i < s->begin[k + 1] * mb_width; i++)
            s->first[i] = s->begin[k] * mb_width;
    for (int row = 0; at < mb_height; row++)
        for (int k = 0; k < s->n; k++)
            if (s->begin[k] + row < s->begin[k + 1]) s->row_order[at++] = s->begin[k] + row;
}

static MotusStatus alloc_arrays(MotusSlices *s, int mb_width, int mb_height) {
    s->first = motus_alloc((size_t)mb_width * (size_t)mb_height, sizeof *s->first);
    s->row_order = motus_alloc((size_t)mb_height, sizeof *s->row_order);
    s->begin = motus_alloc((size_t)s->n + 1, sizeof *s->begin);
    if (s->first && s->row_order && s->begin) return MOTUS_OK;
    motus_slices_free(s);
    return MOTUS_ERR_MEMORY;
}

MotusStatus motus_slices_alloc(MotusSlices *s, int wanted, int mb_width, int mb_height) {
    *s = (MotusSlices){.n = motus_clip(1, mb_height, wanted)};
    if (s->n == 1) return MOTUS_OK;
    const MotusStatus status = alloc_arrays(s, mb_width, mb_height);
    if (status) return status;
    for (int k = 0; k <= s->n; k++) s->begin[k] = (mb_height * k + s->n / 2) / s->n;
    place_rows(s, mb_width, mb_height);
    return MOTUS_OK;
}

MotusStatus motus_slices_split(MotusSlices *s, const MotusSlices *from, int row, int mb_width,
                               int mb_height) {
    int k = 0; // slices that begin before the row
    while (k < from->n && (from->begin ? from->begin[k] : 0) < row) k++;
    const int begins = k < from->n && (from->begin ? from->begin[k] : 0) == row,
              is_new = row < mb_height && !begins;
    *s = (MotusSlices){.n = from->n + is_new};
    if (s->n == 1) return MOTUS_OK;
    const MotusStatus status = alloc_arrays(s, mb_width, mb_height);
    if (status) return status;
    for (int i = 0; i < s->n; i++)
        s->begin[i] = is_new && i == k ? row : from->begin ? from->begin[i - (is_new && i > k)] : 0;
    s->begin[s->n] = mb_height;
    place_rows(s, mb_width, mb_height);
    return MOTUS_OK;
}

void motus_slices_free(MotusSlices *s) {
    motus_free(s->first);
    motus_free(s->row_order);
    motus_free(s->begin);
    *s = (MotusSlices){0};
}

// ---- Configuration ------------------------------------------------------------------------------

MotusEncoderConfig motus_encoder_config_default(int width, int height, MotusRational fps) {
    return (MotusEncoderConfig){.size = sizeof(MotusEncoderConfig),
                                // Picture.
                                .width = width,
                                .height = height,
                                .fps = fps,
                                .colour = MOTUS_COLOUR_UNKNOWN,
                                // Tools of the standard.
                                .profile = MOTUS_PROFILE_BASELINE,
                                .cabac = 1,
                                .transform_8x8 = 1,
                                .deblock = 1,
                                // GOP and references.
                                .keyint = 250,
                                .scenecut = 40,
                                .b_adapt = 1,
                                .b_pyramid = MOTUS_B_PYRAMID_NORMAL,
                                // Decisions.
                                .preset = MOTUS_PRESET_MEDIUM,
                                .subpel = MOTUS_SUBPEL_QUARTER,
                                .partitions = MOTUS_MODES_ALL,
                                .direct = MOTUS_DIRECT_AUTO,
                                .weightp = 2,
                                // Rate control.
                                .rate = MOTUS_RATE_QP,
                                .qp = 26,
                                .qp_i_offset = -3,
                                .crf = 23,
                                .qp_min = 0,
                                .qp_max = 51,
                                .qp_step = 4,
                                .ip_ratio = 1.26,
                                .pb_ratio = 1.3,
                                .time_base = {0, 1},
                                .lookahead = 40,
                                .aq_strength = 1,
                                .mb_tree = 1,
                                // Slices; machine.
                                .slices = 1,
                                .backend = MOTUS_BACKEND_AUTO,
                                .device = -1};
}

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

static MotusStatus check_devices(const MotusEncoderConfig *c, MotusError *error) {
    if (c->device < -1) REFUSE("CUDA device %d", c->device);
    if (c->n_devices < MOTUS_ALL_DEVICES || c->n_devices > MOTUS_MAX_GOP_CODERS)
        REFUSE("%d CUDA devices", c->n_devices);
    if (c->n_devices && c->device >= 0)
        REFUSE("CUDA device %d beside a list of devices", c->device);
    if (c->n_devices > 0 && !c->devices)
        REFUSE("%d CUDA devices, but no list of them", c->n_devices);
    for (int i = 0; i < c->n_devices; i++) {
        if (c->devices[i] < 0) REFUSE("CUDA device %d", c->devices[i]);
        for (int k = 0; k < i; k++)
            if (c->devices[k] == c->devices[i])
                REFUSE("CUDA device %d is listed twice", c->devices[i]);
    }
    return MOTUS_OK;
}

int motus_stream_segment_is_possible(int64_t first_picture, int64_t first_gop) {
    return first_picture >= 0 && first_picture <= (int64_t)1 << 62 && first_gop >= 0 &&
           first_gop <= first_picture;
}

static MotusStatus check_picture(const MotusEncoderConfig *c, MotusError *error) {
    if (c->width < 2 || c->height < 2 || c->width > MOTUS_MAX_SIZE || c->height > MOTUS_MAX_SIZE)
        REFUSE("size %dx%d is outside 2x2 .. %dx%d", c->width, c->height, MOTUS_MAX_SIZE,
               MOTUS_MAX_SIZE);
    if (c->width % 2 || c->height % 2)
        REFUSE("size %dx%d is odd; 4:2:0 H.264 needs even sizes", c->width, c->height);
    if (c->fps.num <= 0 || c->fps.den <= 0)
        REFUSE("frame rate %d/%d is not positive", c->fps.num, c->fps.den);
    if (c->qp < 0 || c->qp > 51) REFUSE("QP %d is outside 0..51", c->qp);
    if (c->qp_i_offset < -51 || c->qp_i_offset > 51)
        REFUSE("I picture QP offset %d is outside -51..51", c->qp_i_offset);
    if (c->keyint < 0) REFUSE("keyint %d is negative", c->keyint);
    if (c->range < 0 || c->range > MOTUS_MAX_RANGE)
        REFUSE("search range %d is outside 0..%d", c->range, MOTUS_MAX_RANGE);
    if ((unsigned)c->subpel > MOTUS_SUBPEL_QUARTER)
        REFUSE("unknown sub-sample precision %d", (int)c->subpel);
    if (c->partitions & ~MOTUS_MODES_ALL)
        REFUSE("unknown partition modes in mask 0x%x", (unsigned)c->partitions);
    if ((unsigned)c->preset >= MOTUS_PRESETS) REFUSE("unknown preset %d", (int)c->preset);
    if ((unsigned)c->profile >= MOTUS_PROFILES) REFUSE("unknown profile %d", (int)c->profile);
    if (c->bframes < 0 || c->bframes > MOTUS_MAX_BFRAMES)
        REFUSE("%d B pictures in a row are outside 0..%d", c->bframes, MOTUS_MAX_BFRAMES);
    if (c->bframes && c->profile == MOTUS_PROFILE_BASELINE)
        REFUSE("B pictures need profile main or high");
    if (!(c->pb_ratio >= 0.1 && c->pb_ratio <= 10))
        REFUSE("ratio %g of B and P steps is outside 0.1..10", c->pb_ratio);
    if ((unsigned)c->b_pyramid > MOTUS_B_PYRAMID_NORMAL)
        REFUSE("unknown B pyramid %d", (int)c->b_pyramid);
    if ((unsigned)c->direct >= MOTUS_DIRECT_MODES) REFUSE("unknown direct mode %d", (int)c->direct);
    if (c->b_adapt < 0 || c->b_adapt > 2) REFUSE("b_adapt %d is outside 0..2", c->b_adapt);
    if (c->references < 0 || c->references > MOTUS_MAX_REFERENCES)
        REFUSE("%d reference pictures are outside 0..%d", c->references, MOTUS_MAX_REFERENCES);
    if (c->keep_references < 0 || c->keep_references > MOTUS_MAX_REFERENCES)
        REFUSE("%d kept reference pictures are outside 0..%d", c->keep_references,
               MOTUS_MAX_REFERENCES);
    if (c->keep_references && c->bframes)
        REFUSE("kept reference pictures are for streams without B pictures");
    if (c->intra_refresh != 0 && c->intra_refresh != 1)
        REFUSE("intra_refresh %d is not 0 or 1", c->intra_refresh);
    if (c->intra_refresh && (c->bframes || c->references > 1))
        REFUSE("intra refresh is without B pictures, with one reference");
    if (c->intra_refresh && (!c->keyint || c->hrd))
        REFUSE("intra refresh needs %s", c->hrd ? "a stream without HRD" : "a keyint: its cycle");
    if (c->weightp < 0 || c->weightp > 2) REFUSE("weightp %d is outside 0..2", c->weightp);
    if (c->weightb != 0 && c->weightb != 1) REFUSE("weightb %d is not 0 or 1", c->weightb);
    if (c->no_ssd != 0 && c->no_ssd != 1) REFUSE("no_ssd %d is not 0 or 1", c->no_ssd);
    if (c->slices < 0) REFUSE("%d slices", c->slices);
    if (c->slice_max_size && c->slice_max_size < MOTUS_MIN_SLICE_SIZE)
        REFUSE("slices of at most %d bytes: the least is %d", c->slice_max_size,
               MOTUS_MIN_SLICE_SIZE);
    return MOTUS_OK;
}

static MotusStatus check_config(const MotusEncoderConfig *c, MotusError *error) {
    MotusStatus status = check_picture(c, error);
    if (status) return status;
    if (c->threads < 0) REFUSE("%d threads", c->threads);
    if (c->packet_memory != MOTUS_MEMORY_HOST && c->packet_memory != MOTUS_MEMORY_DEVICE)
        REFUSE("packets in unknown memory %d", (int)c->packet_memory);
    if (c->gop_coders < 0 || c->gop_coders > MOTUS_MAX_GOP_CODERS)
        REFUSE("%d GOP coders are outside 0..%d", c->gop_coders, MOTUS_MAX_GOP_CODERS);
    if (!motus_stream_segment_is_possible(c->first_picture, c->first_gop))
        REFUSE("a segment cannot begin at picture %lld, GOP %lld", (long long)c->first_picture,
               (long long)c->first_gop);
    status = check_devices(c, error);
    return status ? status : motus_rate_config_check(c, error);
}
#undef REFUSE

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

// True if P pictures may have weights: they need room in the header of a slice.
static int may_weigh(const MotusEncoderConfig *c) {
    return c->profile != MOTUS_PROFILE_BASELINE &&
           (!c->slice_max_size || c->slice_max_size >= LEAST_WITH_WEIGHTS);
}

// Copies and checks a configuration. A program built with an older header has a smaller one: the
// members that it lacks get their defaults.
static MotusStatus read_config(MotusEncoderConfig *to, const MotusEncoderConfig *from,
                               MotusError *error) {
    if (from->size < offsetof(MotusEncoderConfig, colour) || from->size > sizeof *to)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "a configuration of %zu bytes is not of this library (%zu)", from->size,
                          sizeof *to);
    *to = motus_encoder_config_default(from->width, from->height, from->fps);
    memcpy(to, from, from->size);
    MotusStatus status = check_config(to, error);
    if (!status && !may_weigh(to)) to->weightp = 0;
    if (!status && to->intra_refresh) to->weightp = motus_min(to->weightp, 1);
    if (!status) to->references = to->intra_refresh ? 1 : motus_references_of(to);
    return status;
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
        .hrd_rate = s->rate.control.vbv_rate,
        .hrd_size = s->rate.control.vbv_size};
}

static size_t rbsp_capacity(const MotusStream *s) {
    const size_t n_mb = (size_t)s->mb_width * (size_t)s->mb_height,
                 slices = s->config.slice_max_size ? n_mb : (size_t)s->most_slices;
    // Decisions bound the bits that an MB takes in CAVLC.
    return n_mb * MAX_MB_BYTES * (s->config.profile == MOTUS_PROFILE_BASELINE ? 1 : 2) +
           slices * (MAX_SLICE_BYTES + (s->config.weightp ? MOTUS_MAX_WEIGHTS_BYTES : 0)) +
           MOTUS_HEADER_BYTES;
}

// Divides the pictures of a cycle at the ends of their ranges.
static MotusStatus open_refresh(MotusStream *s, MotusError *error) {
    const int n = motus_refresh_pictures(s->mb_height, s->refresh_period);
    s->refresh_slices = motus_alloc((size_t)n, sizeof *s->refresh_slices);
    for (int at = 0; s->refresh_slices && at < n; at++) {
        MotusSlices *slices = &s->refresh_slices[s->n_refreshes];
        const MotusRefresh refresh = motus_refresh_at(s->mb_height, s->refresh_period, at);
        if (motus_slices_split(slices, &s->slices, refresh.end, s->mb_width, s->mb_height)) break;
        s->most_slices = motus_max(s->most_slices, slices->n);
        s->n_refreshes++;
    }
    return s->n_refreshes == n ? MOTUS_OK : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
}

MotusStatus motus_stream_open(MotusStream *s, const MotusEncoderConfig *config, MotusError *error) {
    MotusEncoderConfig *c = &s->config;
    MotusStatus status = read_config(c, config, error);
    if (status) return status;
    s->effort = motus_effort_of(c);
    s->p_refs = motus_min(c->references + (c->weightp == 2), MOTUS_MAX_REFERENCES);
    s->b_refs = motus_b_references_of(c);
    c->direct = motus_direct_mode_of(c, &s->spatial_references);
    for (int lambda = 0; lambda < MOTUS_LAMBDAS; lambda++)
        for (int qp = 0; qp < MOTUS_QPS; qp++) {
            s->qp_table[lambda][qp] = motus_qp_at(qp, lambda);
            s->quant8_table[lambda][qp] = motus_quant8_at(qp, lambda);
        }
    s->mb_width = motus_mbs(c->width);
    s->mb_height = motus_mbs(c->height);
    if (motus_slices_alloc(&s->slices, c->slices, s->mb_width, s->mb_height))
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    s->most_slices = s->slices.n;
    if (c->intra_refresh) { // the first GOP does not end
        s->refresh_period = c->keyint;
        c->keyint = c->min_keyint = c->scenecut = 0;
        status = open_refresh(s, error);
    }
    s->rbsp_capacity = rbsp_capacity(s);
    if (!status) status = motus_rate_config_open(&s->rate, c, s->mb_width, s->mb_height, error);
    c->pass_log = NULL; // the caller's, and read
    s->sequence = sequence_of(s);
    if (!status) status = choose_level(s, error);
    if (!status) status = write_headers(s, error);
    if (status) motus_stream_close(s);
    return status;
}

void motus_stream_close(MotusStream *s) {
    motus_rate_config_close(&s->rate);
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

size_t motus_access_unit_begin(const MotusStream *s, const MotusPictureParams *params,
                               uint8_t *dst) {
    size_t size = 0;
    if (s->config.aud) {
        uint8_t rbsp[16];
        MotusBits bits;
        motus_bits_init(&bits, rbsp, sizeof rbsp);
        motus_write_aud(&bits, (int)params->type);
        size += motus_nal_write(dst, 0, MOTUS_NAL_AUD, rbsp, bits.size);
    }
    if (params->idr || motus_begins_cycle(params)) {
        memcpy(dst + size, s->headers, s->headers_size);
        size += s->headers_size;
    }
    if (motus_begins_cycle(params)) {
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
