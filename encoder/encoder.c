// SPDX-License-Identifier: BSD-2-Clause
#include "motus/encoder.h"

#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "encoder/deblock.h"
#include "encoder/decide.h"
#include "encoder/headers.h"
#include "encoder/intake.h"
#include "encoder/lane_cuda.h"
#include "encoder/preset.h"
#include "encoder/slice.h"
#include "me/me_internal.h"
#include "yuv/pad.h"
#include "yuv/usable.h"

#define LOG2_MAX_FRAME_NUM 16
#define RESIDUAL_BYTES_PER_MB 416 // 3,200 bits of macroblock_layer() and its mb_skip_run
#define HEADER_BYTES 512          // parameter sets, delimiter and slice header

enum { WANTS_FRAME, HAS_PICTURE, AT_END };

struct MotusEncoder {
    MotusEncoderConfig config;
    MotusSequenceSettings sequence;
    int mb_width, mb_height, state;
    int64_t n_coded;
    uint32_t since_idr, idr_pic_id;

    MotusBackend backend; // never AUTO
    MotusLaneCuda *lane;  // of the CUDA backend, which does all that the members down to `intake` do on the CPU
    MotusMe *me;
    MotusField *field;
    MotusWork work;
    const MotusPasses *passes;
    MotusQp qp_table[52];
    MotusEffort effort;
    MotusMv *centre, *last_mv; // per MB: search centres; the last P picture's vectors
    int has_last_mv;
    MotusRefLuma ref_luma;
    MotusIntake intake;
    MotusError error;      // of the last frame, where it failed; else why AUTO fell back to the CPU
    MotusFrame *rec, *ref; // whole MBs
    MotusFrame *spare;     // the reference before, where nobody has kept it: memory of the next rec
    MotusFrame *visible;   // rec, cropped, for the receiver

    uint8_t *rbsp, *stream;
    size_t rbsp_capacity;
    uint8_t headers[HEADER_BYTES];
    size_t headers_size;
    MotusCodedMv *mvs;
    MotusPicture picture;
};

MotusEncoderConfig motus_encoder_config_default(int width, int height, MotusRational fps) {
    return (MotusEncoderConfig){.width = width,
                                .height = height,
                                .fps = fps,
                                .qp = 26,
                                .qp_i_offset = -3,
                                .keyint = 250,
                                .range = 0,
                                .subpel = MOTUS_SUBPEL_QUARTER,
                                .partitions = MOTUS_MODES_ALL,
                                .deblock = 1,
                                .preset = MOTUS_PRESET_MEDIUM,
                                .backend = MOTUS_BACKEND_AUTO,
                                .colour = MOTUS_COLOUR_UNKNOWN};
}

static MotusStatus check_config(const MotusEncoderConfig *c, MotusError *error) {
#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)
    if (c->width < 2 || c->height < 2 || c->width > MOTUS_MAX_SIZE || c->height > MOTUS_MAX_SIZE)
        REFUSE("size %dx%d is outside 2x2 .. %dx%d", c->width, c->height, MOTUS_MAX_SIZE, MOTUS_MAX_SIZE);
    if (c->width % 2 || c->height % 2) REFUSE("size %dx%d is odd; 4:2:0 H.264 needs even sizes", c->width, c->height);
    if (c->fps.num <= 0 || c->fps.den <= 0) REFUSE("frame rate %d/%d is not positive", c->fps.num, c->fps.den);
    if (c->qp < 0 || c->qp > 51) REFUSE("QP %d is outside 0..51", c->qp);
    if (c->qp_i_offset < -51 || c->qp_i_offset > 51) REFUSE("I picture QP offset %d is outside -51..51", c->qp_i_offset);
    if (c->keyint < 0) REFUSE("keyint %d is negative", c->keyint);
    if (c->range < 0 || c->range > MOTUS_MAX_RANGE) REFUSE("search range %d is outside 0..%d", c->range, MOTUS_MAX_RANGE);
    if ((unsigned)c->subpel > MOTUS_SUBPEL_QUARTER) REFUSE("unknown sub-sample precision %d", (int)c->subpel);
    if (c->partitions & ~MOTUS_MODES_ALL) REFUSE("unknown partition modes in mask 0x%x", (unsigned)c->partitions);
    if ((unsigned)c->preset >= MOTUS_PRESETS) REFUSE("unknown preset %d", (int)c->preset);
    if (c->threads < 0) REFUSE("%d threads", c->threads);
#undef REFUSE
    return MOTUS_OK;
}

// Vectors reach R + 0.75 samples after refinement, and farther around centres that the level leaves room for.
static MotusStatus choose_level(MotusEncoder *enc, MotusError *error) {
    enc->sequence.level = motus_level_choose(enc->mb_width, enc->mb_height, enc->config.fps, enc->effort.range);
    if (!enc->sequence.level)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "size %dx%d is beyond H.264's highest level", enc->config.width,
                          enc->config.height);
    return MOTUS_OK;
}

static MotusStatus write_headers(MotusEncoder *enc) {
    uint8_t rbsp[HEADER_BYTES];
    MotusBits bits;
    motus_bits_init(&bits, rbsp, sizeof rbsp);
    motus_write_sps(&bits, &enc->sequence);
    enc->headers_size = motus_nal_write(enc->headers, 3, MOTUS_NAL_SPS, rbsp, bits.size);
    motus_bits_init(&bits, rbsp, sizeof rbsp);
    motus_write_pps(&bits, &enc->sequence);
    enc->headers_size += motus_nal_write(enc->headers + enc->headers_size, 3, MOTUS_NAL_PPS, rbsp, bits.size);
    return bits.overflow ? MOTUS_ERR_INTERNAL : MOTUS_OK;
}

static MotusStatus open_search(MotusEncoder *enc) {
    MotusMeConfig me = motus_me_config_default(enc->mb_width * 16, enc->mb_height * 16);
    me.range = enc->effort.range;
    me.subpel = MOTUS_SUBPEL_FULL; // what is worth refining is refined by the decisions
    me.modes = enc->effort.partitions;
    me.threads = enc->config.threads;
    me.backend = MOTUS_BACKEND_CPU;
    MotusStatus status = motus_me_open(&enc->me, &me);
    return status ? status : motus_field_alloc(&enc->field, me.width, me.height);
}

static MotusInterLimits inter_limits(const MotusEncoder *enc) {
    const MotusLevel *level = enc->sequence.level;
    return (MotusInterLimits){.partitions = enc->effort.partitions,
                              .max_mvs = level->max_mvs_per_2mb ? level->max_mvs_per_2mb / 2 : 16,
                              .max_mv_y = level->max_mv_y * 4,
                              .unit = 4 >> enc->config.subpel,
                              .steps = enc->effort.steps};
}

// Search centres may go as far as the level's vertical range lets the whole window follow.
static int centre_limit(const MotusEncoder *enc) {
    return motus_clip(0, MOTUS_MAX_CENTRE, (enc->sequence.level->max_mv_y - enc->effort.range - 1) * 4 & ~3);
}

// Where AUTO is asked for, a device that is not there or fails leaves the work to the CPU.
static MotusStatus open_backend(MotusEncoder *enc, MotusError *error) {
    MotusStatus status = motus_backend_choose(enc->config.backend, &enc->backend);
    if (status) return status == MOTUS_ERR_ARGUMENT ? motus_fail(error, status, "unknown backend") : motus_device_check(error);
    if (enc->backend == MOTUS_BACKEND_CPU) return MOTUS_OK;
    const MotusLaneSettings lane = {.width = enc->config.width,
                                    .height = enc->config.height,
                                    .mb_width = enc->mb_width,
                                    .mb_height = enc->mb_height,
                                    .effort = enc->effort,
                                    .limits = inter_limits(enc),
                                    .subpel = enc->config.subpel,
                                    .centre_limit_y = centre_limit(enc),
                                    .deblock = enc->config.deblock,
                                    .nal_capacity = motus_nal_bound(enc->rbsp_capacity)};
    status = motus_lane_cuda_open(&enc->lane, &lane, &enc->error);
    if (!status) return MOTUS_OK;
    if (enc->config.backend == MOTUS_BACKEND_CUDA) return motus_fail(error, status, "%s", enc->error.text);
    enc->backend = MOTUS_BACKEND_CPU;
    return MOTUS_OK;
}

static MotusStatus alloc_buffers(MotusEncoder *enc) {
    size_t n = (size_t)enc->mb_width * (size_t)enc->mb_height;
    enc->rbsp = motus_alloc(enc->rbsp_capacity, 1);
    enc->stream = motus_alloc(motus_nal_bound(enc->rbsp_capacity) + 2 * HEADER_BYTES, 1);
    enc->mvs = motus_alloc(16 * n, sizeof *enc->mvs);
    if (!enc->rbsp || !enc->stream || !enc->mvs) return MOTUS_ERR_MEMORY;
    MotusStatus status =
        motus_intake_open(&enc->intake, enc->config.width, enc->config.height, enc->config.threads, enc->lane != NULL);
    if (status || enc->lane) return status;
    enc->centre = motus_alloc(n, sizeof *enc->centre);
    enc->last_mv = motus_alloc(n, sizeof *enc->last_mv);
    if (!enc->centre || !enc->last_mv) return MOTUS_ERR_MEMORY;
    status = motus_work_alloc(&enc->work, enc->mb_width, enc->mb_height, enc->config.threads);
    if (!status) status = motus_ref_luma_alloc(&enc->ref_luma, 16 * enc->mb_width, 16 * enc->mb_height);
    return status ? status : open_search(enc);
}

MotusStatus motus_encoder_open(MotusEncoder **out, const MotusEncoderConfig *config, MotusError *error) {
    if (!out || !config) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no encoder or no configuration given");
    *out = NULL;
    MotusStatus status = check_config(config, error);
    if (status) return status;
    MotusEncoder *enc = motus_alloc(1, sizeof *enc);
    if (!enc) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    enc->config = *config;
    enc->effort = motus_effort_of(config);
    enc->passes = motus_passes();
    for (int qp = 0; qp < 52; qp++) enc->qp_table[qp] = motus_qp_at(qp);
    enc->mb_width = motus_mbs(config->width);
    enc->mb_height = motus_mbs(config->height);
    enc->sequence = (MotusSequenceSettings){.width = config->width,
                                            .height = config->height,
                                            .fps = config->fps,
                                            .colour = config->colour,
                                            .log2_max_frame_num = LOG2_MAX_FRAME_NUM,
                                            .pic_init_qp = 26,
                                            .deblock = config->deblock};
    enc->config.threads = motus_threads_open(config->threads);
    status = choose_level(enc, error);
    enc->rbsp_capacity = (size_t)enc->mb_width * (size_t)enc->mb_height * RESIDUAL_BYTES_PER_MB + HEADER_BYTES;
    if (!status) status = open_backend(enc, error);
    if (!status && (status = alloc_buffers(enc)) != MOTUS_OK) motus_fail(error, status, "%s", motus_status_text(status));
    if (!status) status = write_headers(enc);
    if (status) {
        motus_encoder_close(&enc);
        return status;
    }
    *out = enc;
    return MOTUS_OK;
}

static MotusStatus search(MotusEncoder *enc, uint32_t lambda_q8) {
    const MotusPlane *luma = &enc->intake.whole->plane[0];
    motus_ref_luma_build(&enc->ref_luma, &enc->ref->plane[0], enc->config.subpel != MOTUS_SUBPEL_FULL, enc->work.threads);
    MotusStatus status = motus_me_predict_centres(enc->me, luma, &enc->ref_luma, enc->has_last_mv ? enc->last_mv : NULL,
                                                  lambda_q8, enc->effort.reach, MOTUS_MAX_CENTRE, centre_limit(enc), enc->centre);
    if (status) return status;
    MotusMeHints hints = {.centre = enc->centre, .predictor = enc->centre, .lambda_q8 = lambda_q8};
    return motus_me_search_prepared(enc->me, luma, NULL, &enc->ref_luma, &hints, enc->field);
}

static MotusReference reference(const MotusEncoder *enc) {
    const MotusRefLuma *luma = &enc->ref_luma;
    MotusReference ref = {.width = luma->width,
                          .height = luma->height,
                          .luma = luma->plane[0],
                          .chroma = {enc->ref->plane[1].data, enc->ref->plane[2].data},
                          .luma_stride = luma->stride,
                          .chroma_stride = enc->ref->plane[1].stride};
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

static MotusStatus code_p(MotusEncoder *enc, const MotusCoding *coding) {
    MotusStatus status = search(enc, coding->qp_table[coding->qp].lambda_q8);
    if (status) return status;
    const MotusPCoding p = {.ref = reference(enc),
                            .ref_luma = &enc->ref_luma,
                            .field = enc->field,
                            .centre = enc->centre,
                            .subpel = enc->config.subpel,
                            .limits = inter_limits(enc)};
    enc->passes->code_p(&enc->work, coding, &p);
    return MOTUS_OK;
}

// Begins the access unit in enc->stream: what comes before the slice. Returns its bytes.
static size_t begin_access_unit(MotusEncoder *enc, int idr) {
    size_t size = 0;
    if (enc->config.aud) {
        MotusBits bits;
        motus_bits_init(&bits, enc->rbsp, enc->rbsp_capacity);
        motus_write_aud(&bits, !idr);
        size += motus_nal_write(enc->stream, 0, MOTUS_NAL_AUD, enc->rbsp, bits.size);
    }
    if (!idr) return size;
    memcpy(enc->stream + size, enc->headers, enc->headers_size);
    return size + enc->headers_size;
}

static MotusSliceSettings slice_settings(const MotusEncoder *enc, int idr, int qp) {
    return (MotusSliceSettings){.idr = idr,
                                .idr_pic_id = (int)(enc->idr_pic_id & 0xFFFF),
                                .p_slice = !idr,
                                .frame_num = idr ? 0 : enc->since_idr & ((1u << LOG2_MAX_FRAME_NUM) - 1),
                                .qp = qp,
                                .deblock = enc->config.deblock};
}

static void end_access_unit(MotusEncoder *enc, size_t size) {
    MotusPictureStats *stats = &enc->picture.stats;
    enc->picture.data = enc->stream;
    enc->picture.size = size;
    stats->bits_header = 8 * (uint64_t)size - stats->bits_mode - stats->bits_mv - stats->bits_luma - stats->bits_chroma;
}

// Writes the access unit into enc->stream.
static MotusStatus write_picture(MotusEncoder *enc, int idr, int qp) {
    size_t size = begin_access_unit(enc, idr);
    const MotusSliceSettings slice = slice_settings(enc, idr, qp);
    MotusBits bits;
    motus_bits_init(&bits, enc->rbsp, enc->rbsp_capacity);
    motus_write_slice_header(&bits, &enc->sequence, &slice);
    motus_write_slice_data(&bits, &enc->work, !idr, qp, &enc->picture.stats);
    if (bits.overflow) return MOTUS_ERR_INTERNAL;
    size += motus_nal_write(enc->stream + size, 2, idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE, enc->rbsp, bits.size);
    end_access_unit(enc, size);
    return MOTUS_OK;
}

// Hands out the reconstruction at the visible size.
static MotusStatus show(MotusEncoder *enc) {
    motus_frame_unref(&enc->visible);
    MotusStatus status = motus_frame_crop(&enc->visible, enc->rec, enc->config.width, enc->config.height);
    if (!status) enc->visible->number = enc->n_coded;
    return status;
}

static uint64_t plane_ssd(const MotusPlane *a, const MotusPlane *b, int threads) {
    uint64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int y = 0; y < a->height; y += 16) {
        const MotusPlane rows = motus_plane_rows(a, y, 16), others = motus_plane_rows(b, y, 16);
        sum += motus_plane_ssd(&rows, &others, rows.width, rows.height);
    }
    return sum;
}

static void measure(MotusEncoder *enc) {
    for (int p = 0; p < 3; p++)
        enc->picture.stats.ssd[p] = plane_ssd(&enc->intake.visible->plane[p], &enc->visible->plane[p], enc->work.threads);
}

static void keep_vectors(MotusEncoder *enc) {
#pragma omp parallel for num_threads(enc->work.threads) schedule(static)
    for (int i = 0; i < enc->work.n_mb; i++)
        enc->last_mv[i] = motus_mb_is_intra(&enc->work.mb[i]) ? enc->field->mv[MOTUS_BLOCK_16x16][i] : enc->work.mb[i].mv[0];
}

static MotusStatus make_rec(MotusEncoder *enc) {
    enc->rec = enc->spare;
    enc->spare = NULL;
    return enc->rec ? MOTUS_OK : motus_frame_alloc(&enc->rec, 16 * enc->mb_width, 16 * enc->mb_height);
}

// What was made is the next picture's reference.
static void keep_rec(MotusEncoder *enc) {
    if (motus_frame_shared(enc->ref)) motus_frame_unref(&enc->ref);
    enc->spare = enc->ref;
    enc->ref = enc->rec;
    enc->rec = NULL;
}

// The frame that was taken in, on the CPU. After a failure the encoder is as it was before.
static MotusStatus encode_on_cpu(MotusEncoder *enc, int idr, int qp) {
    const MotusCoding coding = {enc->qp_table, qp, enc->effort};
    MotusStatus status = make_rec(enc);
    if (status) return status;
    enc->work.src = enc->intake.whole;
    enc->work.rec = enc->rec;
    if (idr)
        enc->passes->code_i(&enc->work, &coding);
    else if ((status = code_p(enc, &coding)) != MOTUS_OK)
        return status;
    motus_settle_mbs(&enc->work, qp);
    if ((status = write_picture(enc, idr, qp)) != MOTUS_OK) return status;
    if (enc->config.deblock) motus_deblock_picture(enc->rec, enc->work.mb, enc->mb_width, enc->mb_height, enc->work.threads);
    if ((status = show(enc)) != MOTUS_OK) return status;
    measure(enc);
    enc->picture.n_mvs = motus_list_mvs(&enc->work, enc->mvs);
    enc->has_last_mv = !idr;
    if (!idr) keep_vectors(enc);
    keep_rec(enc);
    return MOTUS_OK;
}

// Room for the reconstruction: that of the picture before, unless somebody has kept it.
static MotusStatus make_room(MotusEncoder *enc) {
    motus_frame_unref(&enc->visible);
    if (enc->rec && motus_frame_shared(enc->rec)) motus_frame_unref(&enc->rec);
    return enc->rec ? MOTUS_OK : motus_frame_alloc_pinned(&enc->rec, 16 * enc->mb_width, 16 * enc->mb_height);
}

// The same on the device; only results come to the host.
static MotusStatus encode_on_device(MotusEncoder *enc, const MotusFrame *frame, int on_device, void *stream, int idr, int qp) {
    const MotusSliceSettings slice = slice_settings(enc, idr, qp);
    const MotusSliceHead head = motus_slice_head(&enc->sequence, &slice, 2);
    int bare = enc->config.stream_only;
    MotusLanePicture coded;
    MotusStatus status = motus_lane_cuda_begin(enc->lane, frame, on_device, stream, &head, &enc->error);
    if (!status && !bare) status = make_room(enc);
    if (!status) status = motus_lane_cuda_finish(enc->lane, bare ? NULL : enc->rec, !bare, &coded, &enc->error);
    if (status) return status;
    size_t size = begin_access_unit(enc, idr);
    memcpy(enc->stream + size, coded.nal, coded.size);
    enc->picture.stats = coded.stats;
    end_access_unit(enc, size + coded.size);
    if (bare) return MOTUS_OK;
    const MotusWork listed = {.mb_width = enc->mb_width,
                              .mb_height = enc->mb_height,
                              .n_mb = enc->mb_width * enc->mb_height,
                              .threads = enc->intake.threads,
                              .mb = (MotusMb *)coded.mb};
    enc->picture.n_mvs = motus_list_mvs(&listed, enc->mvs);
    return show(enc);
}

static MotusStatus encode(MotusEncoder *enc, const MotusFrame *frame, int on_device, void *stream) {
    const MotusEncoderConfig *c = &enc->config;
    int idr = enc->n_coded == 0 || (c->keyint && enc->since_idr == (uint32_t)c->keyint);
    int qp = idr ? motus_clip(0, 51, c->qp + c->qp_i_offset) : c->qp;
    MotusPicture *pic = &enc->picture;
    *pic = (MotusPicture){.number = enc->n_coded, .is_idr = idr, .type = idr ? 'I' : 'P', .qp = qp, .mvs = enc->mvs};
    MotusStatus status = enc->lane ? encode_on_device(enc, frame, on_device, stream, idr, qp) : encode_on_cpu(enc, idr, qp);
    if (status) return status;
    if (!c->stream_only) {
        pic->recon = enc->visible;
        pic->source = enc->intake.visible;
    } else {
        pic->n_mvs = 0;
    }
    enc->n_coded++;
    enc->since_idr = idr ? 1 : enc->since_idr + 1;
    enc->idr_pic_id += (uint32_t)idr;
    return MOTUS_OK;
}

// Takes in and encodes a frame of host memory, or (on_device) one that was made on `stream`.
static MotusStatus send(MotusEncoder *enc, const MotusFrame *frame, int on_device, void *stream) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (enc->state != WANTS_FRAME) return MOTUS_ERR_STATE;
    if (!frame) {
        enc->state = AT_END;
        return MOTUS_OK;
    }
    if (!motus_frame_usable(frame)) return MOTUS_ERR_ARGUMENT;
    if (frame->width != enc->config.width || frame->height != enc->config.height) return MOTUS_ERR_ARGUMENT;
    enc->error = (MotusError){0};
    enc->work.threads = enc->intake.threads = motus_threads_ready(enc->config.threads);
    MotusStatus status = MOTUS_OK;
    if (!enc->lane || !enc->config.stream_only)
        status =
            on_device ? motus_intake_device(&enc->intake, frame, stream, &enc->error) : motus_intake_host(&enc->intake, frame);
    if (!status) status = encode(enc, frame, on_device, stream);
    if (status && !enc->error.text[0]) motus_fail(&enc->error, status, "%s", motus_status_text(status));
    if (status)
        motus_frame_unref(&enc->rec);
    else
        enc->state = HAS_PICTURE;
    return status;
}

MotusStatus motus_encoder_send(MotusEncoder *enc, const MotusFrame *frame) { return send(enc, frame, 0, NULL); }

MotusStatus motus_encoder_send_device(MotusEncoder *enc, const MotusFrame *frame, void *stream) {
    if (enc && frame && enc->config.backend == MOTUS_BACKEND_CPU)
        return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED, "a frame in device memory, for an encoder on the CPU");
    return send(enc, frame, 1, stream);
}

MotusStatus motus_encoder_receive(MotusEncoder *enc, MotusPicture *picture) {
    if (!enc || !picture) return MOTUS_ERR_ARGUMENT;
    if (enc->state == AT_END) return MOTUS_END;
    if (enc->state == WANTS_FRAME) return MOTUS_AGAIN;
    *picture = enc->picture;
    enc->state = WANTS_FRAME;
    return MOTUS_OK;
}

const uint8_t *motus_encoder_headers(const MotusEncoder *enc, size_t *size) {
    if (size) *size = enc ? enc->headers_size : 0;
    return enc ? enc->headers : NULL;
}

int motus_encoder_level(const MotusEncoder *enc) { return enc ? enc->sequence.level->level_idc : 0; }

const MotusError *motus_encoder_error(const MotusEncoder *enc) {
    static const MotusError none = {MOTUS_OK, ""};
    return enc ? &enc->error : &none;
}

MotusBackend motus_encoder_backend(const MotusEncoder *enc) { return enc ? enc->backend : MOTUS_BACKEND_CPU; }

void motus_encoder_close(MotusEncoder **out) {
    if (!out || !*out) return;
    MotusEncoder *enc = *out;
    motus_lane_cuda_close(&enc->lane);
    motus_me_close(&enc->me);
    motus_field_free(&enc->field);
    motus_work_free(&enc->work);
    motus_ref_luma_free(&enc->ref_luma);
    motus_frame_unref(&enc->visible);
    motus_intake_close(&enc->intake);
    motus_frame_unref(&enc->rec);
    motus_frame_unref(&enc->ref);
    motus_frame_unref(&enc->spare);
    motus_free(enc->rbsp);
    motus_free(enc->stream);
    motus_free(enc->centre);
    motus_free(enc->last_mv);
    motus_free(enc->mvs);
    motus_free(enc);
    *out = NULL;
}
