// SPDX-License-Identifier: BSD-2-Clause
#include "motus/encoder.h"

#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/gop/gop_coders.h"
#include "encoder/gop/intake.h"
#include "encoder/gop/planner.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/settings/rate_config.h"
#include "encoder/settings/stream.h"
#include "yuv/image.h"
#include "yuv/usable.h"

struct MotusEncoder {
    MotusStream stream;
    MotusBackend backend; // never AUTO
    MotusGopCoders *gop_coders;
    MotusLookahead *look;    // NULL where QP is fixed
    MotusPlanner *planner;   // goes with it
    MotusRateChange change;  // for the next picture
    MotusError lost;         // why no more pictures can be planned, where a call told that
    MotusIntakeImage image;  // the one that is being sent
    MotusPictureParams next; // of the next picture, but for its type
    int begins;              // the next picture is the first of the stream or of a part
    int at_end;
    MotusError error; // of the last call, where it failed; else why AUTO fell back to the CPU
};

// Lanes, and look-ahead where they are.
static MotusStatus open_backend(MotusEncoder *enc, MotusError *error) {
    MotusStatus status = motus_gop_coders_open(&enc->gop_coders, &enc->stream, enc->backend, error);
    if (status || enc->stream.config.rate == MOTUS_RATE_QP) return status;
    status = motus_lookahead_open(&enc->look, &enc->stream.look,
                                  motus_gop_coders_device(enc->gop_coders), error);
    if (!status) {
        status = motus_planner_open(&enc->planner, &enc->stream, enc->gop_coders, enc->look,
                                    enc->stream.config.first_gop);
        if (status) motus_fail(error, status, "%s", motus_status_text(status));
    }
    if (status) motus_lookahead_close(&enc->look);
    if (status) motus_gop_coders_close(&enc->gop_coders);
    return status;
}

// Where AUTO is asked for, a device that is not there or fails leaves the work to the CPU.
static MotusStatus open_lanes(MotusEncoder *enc, MotusError *error) {
    const MotusBackend wanted = enc->stream.config.backend;
    MotusStatus status = motus_backend_choose(wanted, &enc->backend);
    if (status)
        return status == MOTUS_ERR_ARGUMENT ? motus_fail(error, status, "unknown backend")
                                            : motus_device_check(error);
    status = open_backend(enc, &enc->error);
    if (status && enc->backend == MOTUS_BACKEND_CUDA && wanted == MOTUS_BACKEND_AUTO) {
        enc->backend = MOTUS_BACKEND_CPU;
        MotusError again = {0};
        status = open_backend(enc, &again);
        if (status) enc->error = again;
    }
    if (status) return motus_fail(error, status, "%s", enc->error.text);
    if (enc->backend == MOTUS_BACKEND_CUDA || enc->stream.config.packet_memory == MOTUS_MEMORY_HOST)
        return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      "packets in device memory need the CUDA backend%s%s",
                      enc->error.text[0] ? ": " : "", enc->error.text);
}

MotusStatus motus_encoder_open(MotusEncoder **out, const MotusEncoderConfig *config,
                               MotusError *error) {
    if (!out || !config)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "no encoder or no configuration given");
    *out = NULL;
    MotusEncoder *enc = motus_alloc(1, sizeof *enc);
    if (!enc) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = motus_stream_open(&enc->stream, config, error);
    if (!status) status = open_lanes(enc, error);
    enc->next.number = enc->stream.config.first_picture;
    enc->next.idr_pic_id = (uint32_t)enc->stream.config.first_gop;
    enc->begins = 1;
    if (status)
        motus_encoder_close(&enc);
    else
        *out = enc;
    return status;
}

// Which picture comes next; with look-ahead its type is only what the caller wants, and its QP is
// chosen later.
static MotusPictureParams place_next(const MotusEncoder *enc, int force_idr) {
    const MotusEncoderConfig *c = &enc->stream.config;
    MotusPictureParams place = enc->next;
    place.idr = force_idr;
    if (enc->look) return place;
    if (enc->begins || (c->keyint && place.since_idr == (uint32_t)c->keyint)) place.idr = 1;
    place.qp = place.idr ? motus_clip(0, 51, c->qp + c->qp_i_offset) : c->qp;
    return place;
}

static void note_sent(MotusEncoder *enc, const MotusPictureParams *place) {
    enc->next.number++;
    enc->next.since_idr = place->since_idr + 1;
    enc->next.idr_pic_id += (uint32_t)place->idr;
    enc->begins = 0;
}

// A program that was built with an older header knows only the first members.
static MotusStatus read_params(MotusEncoder *enc, MotusFrameParams *to,
                               const MotusFrameParams *from) {
    const size_t n_mb = (size_t)enc->stream.mb_width * (size_t)enc->stream.mb_height;
    *to = (MotusFrameParams){.size = sizeof *to, .pts = enc->next.number, .duration = 1};
    if (!from) return MOTUS_OK;
    if (from->size < offsetof(MotusFrameParams, qp_offset) || from->size > sizeof *to)
        return MOTUS_ERR_ARGUMENT;
    memcpy(to, from, from->size);
    if (to->qp_offset && to->n_qp_offset != n_mb) return MOTUS_ERR_ARGUMENT;
    if (to->external_mvs && motus_external_mvs_check(&enc->stream, to, &enc->error))
        return MOTUS_ERR_ARGUMENT;
    return enc->stream.config.time_base.num && to->duration < 1 ? MOTUS_ERR_ARGUMENT : MOTUS_OK;
}

// What came of planning pictures, of which the error is in enc->lost.
static MotusStatus planned(MotusEncoder *enc, MotusStatus status) {
    if (status) enc->error = enc->lost;
    return status;
}

static MotusStatus end(MotusEncoder *enc) {
    enc->at_end = 1;
    return enc->planner ? planned(enc, motus_planner_end(enc->planner, &enc->lost)) : MOTUS_OK;
}

static MotusStatus send(MotusEncoder *enc, const MotusFrame *frame, int on_device, void *made_on,
                        const MotusFrameParams *given) {
    MotusFrameParams params;
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (enc->at_end) return MOTUS_ERR_STATE;
    if (!frame) return end(enc);
    const MotusEncoderConfig *c = &enc->stream.config;
    if (!motus_frame_usable(frame) || frame->width != c->width || frame->height != c->height)
        return MOTUS_ERR_ARGUMENT;
    enc->error = enc->lost;
    if (read_params(enc, &params, given)) return MOTUS_ERR_ARGUMENT;
    if (enc->lost.status) return enc->lost.status;
    MotusOrder order = {.place = place_next(enc, params.force_idr != 0),
                        .pts = params.pts,
                        .duration = params.duration,
                        .opaque = params.opaque};
    MotusStatus status =
        motus_picture_plan_alloc(&order.planned, &enc->stream, &params, &order.place.given);
    if (status) return motus_fail(&enc->error, status, "out of memory");
    order.planned->duration = c->time_base.num ? params.duration : 1;
    order.planned->change = enc->change;
    if (enc->planner) motus_planner_begin(enc->planner);
    const MotusStatus sent = motus_gop_coders_send(enc->gop_coders, &order, enc->look, frame,
                                                   on_device, made_on, &enc->error);
    if (!sent) enc->change.wanted = 0;
    if (!sent) note_sent(enc, &order.place);
    if (enc->planner) status = motus_planner_sent(enc->planner, sent, &enc->lost);
    return sent ? sent : planned(enc, status);
}

MotusStatus motus_encoder_next_segment(MotusEncoder *enc, int64_t first_picture,
                                       int64_t first_gop) {
    if (!enc || !motus_stream_segment_is_possible(first_picture, first_gop))
        return MOTUS_ERR_ARGUMENT;
    if (!enc->at_end) return MOTUS_ERR_STATE;
    enc->error = enc->lost;
    if (enc->lost.status) return enc->lost.status;
    if (enc->look && motus_rate_feeds_back(&enc->stream.control))
        return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                          "sizes of earlier pictures decide about QPs: a part needs them all");
    MotusStatus status = enc->planner ? motus_planner_next_segment(enc->planner, first_picture,
                                                                   first_gop, &enc->error)
                                      : MOTUS_OK;
    if (status) return status;
    enc->next.number = first_picture;
    enc->next.idr_pic_id = (uint32_t)first_gop;
    enc->begins = 1;
    enc->at_end = 0;
    return MOTUS_OK;
}

MotusStatus motus_encoder_set_rate(MotusEncoder *enc, int64_t bitrate, int64_t vbv_maxrate,
                                   int64_t vbv_bufsize) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    const MotusRateSettings *r = &enc->stream.control;
    enc->error = (MotusError){0};
    if (enc->stream.config.rate != MOTUS_RATE_BITRATE || r->log || enc->stream.config.hrd)
        return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                          "this encoder's rate cannot be changed");
    MotusStatus status = motus_rate_config_rates(bitrate, vbv_maxrate, vbv_bufsize, &enc->error);
    if (!status && bitrate < 1)
        status = motus_fail(&enc->error, MOTUS_ERR_ARGUMENT, "no bitrate given");
    if (!status && !r->vbv_rate != !vbv_maxrate)
        status = motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                            "a running encoder neither gets a VBV nor loses it");
    if (!status) enc->change = (MotusRateChange){1, bitrate, vbv_maxrate, vbv_bufsize};
    return status;
}

MotusStatus motus_encoder_send(MotusEncoder *enc, const MotusFrame *frame,
                               const MotusFrameParams *params) {
    return send(enc, frame, 0, NULL, params);
}

static MotusStatus refuse_device(MotusEncoder *enc) {
    return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                      "a frame in device memory, for an encoder on the CPU");
}

MotusStatus motus_encoder_send_device(MotusEncoder *enc, const MotusFrame *frame, void *stream,
                                      const MotusFrameParams *params) {
    if (enc && frame && enc->stream.config.backend == MOTUS_BACKEND_CPU) return refuse_device(enc);
    return send(enc, frame, 1, stream, params);
}

// Whether an image may be converted now; one that must not be sent is not.
static MotusStatus check_image(MotusEncoder *enc, const MotusImage *image) {
    if (enc->at_end) return MOTUS_ERR_STATE;
    const MotusEncoderConfig *c = &enc->stream.config;
    if (!motus_image_usable(image) || image->width != c->width || image->height != c->height)
        return MOTUS_ERR_ARGUMENT;
    enc->error = enc->lost;
    return enc->lost.status;
}

MotusStatus motus_encoder_send_image(MotusEncoder *enc, const MotusImage *image,
                                     const MotusFrameParams *params) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    const MotusFrame *frame;
    MotusStatus status = check_image(enc, image);
    if (!status)
        status =
            motus_intake_image(&enc->image, image, &enc->stream.config.colour, &frame, &enc->error);
    return status ? status : send(enc, frame, 0, NULL, params);
}

MotusStatus motus_encoder_send_image_device(MotusEncoder *enc, const MotusImage *image,
                                            void *stream, const MotusFrameParams *params) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (enc->stream.config.backend == MOTUS_BACKEND_CPU) return refuse_device(enc);
    const MotusFrame *frame;
    MotusStatus status = check_image(enc, image);
    if (!status)
        status = motus_image_cuda(&enc->image.cuda, image, &enc->stream.config.colour, stream,
                                  &frame, &enc->error);
    if (status) return status;
    status = send(enc, frame, 1, stream, params);
    MotusStatus noted = motus_image_cuda_read(enc->image.cuda, stream,
                                              status ? NULL : &enc->error); // after a failure, too
    return status ? status : noted;
}

MotusStatus motus_encoder_receive(MotusEncoder *enc, MotusPacket **packet, int timeout_ms) {
    if (!packet) return MOTUS_ERR_ARGUMENT;
    *packet = NULL;
    if (!enc) return MOTUS_ERR_ARGUMENT;
    MotusError error = {0};
    MotusStatus status = motus_gop_coders_receive(enc->gop_coders, packet, timeout_ms, &error);
    if (status < 0) enc->error = error;
    return status == MOTUS_AGAIN && enc->at_end && motus_gop_coders_empty(enc->gop_coders)
               ? MOTUS_END
               : status;
}

const uint8_t *motus_encoder_headers(const MotusEncoder *enc, size_t *size) {
    if (size) *size = enc ? enc->stream.headers_size : 0;
    return enc ? enc->stream.headers : NULL;
}

int motus_encoder_level(const MotusEncoder *enc) {
    return enc ? enc->stream.sequence.level->level_idc : 0;
}

const MotusError *motus_encoder_error(const MotusEncoder *enc) {
    static const MotusError none = {MOTUS_OK, ""};
    return enc ? &enc->error : &none;
}

MotusBackend motus_encoder_backend(const MotusEncoder *enc) {
    return enc ? enc->backend : MOTUS_BACKEND_CPU;
}

int motus_encoder_gop_coders(const MotusEncoder *enc) {
    return enc ? motus_gop_coders_count(enc->gop_coders) : 0;
}

size_t motus_encoder_gop_coder_bytes(const MotusEncoder *enc) {
    return enc ? motus_gop_coders_bytes(enc->gop_coders) : 0;
}

void motus_encoder_close(MotusEncoder **out) {
    if (!out || !*out) return;
    motus_planner_close(&(*out)->planner);
    motus_lookahead_close(&(*out)->look);
    motus_gop_coders_close(&(*out)->gop_coders);
    motus_intake_image_close(&(*out)->image);
    motus_stream_close(&(*out)->stream);
    motus_free(*out);
    *out = NULL;
}
