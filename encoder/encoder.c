// SPDX-License-Identifier: BSD-2-Clause
#include "motus/encoder.h"

#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/lanes.h"
#include "encoder/stream.h"
#include "yuv/usable.h"

struct MotusEncoder {
    MotusStream stream;
    MotusBackend backend; // never AUTO
    MotusLanes *lanes;
    MotusPlace next; // of the next picture, but for its type
    int at_end;
    MotusError error; // of the last call, where it failed; else why AUTO fell back to the CPU
};

// Where AUTO is asked for, a device that is not there or fails leaves the work to the CPU.
static MotusStatus open_lanes(MotusEncoder *enc, MotusError *error) {
    const MotusBackend wanted = enc->stream.config.backend;
    MotusStatus status = motus_backend_choose(wanted, &enc->backend);
    if (status) return status == MOTUS_ERR_ARGUMENT ? motus_fail(error, status, "unknown backend") : motus_device_check(error);
    status = motus_lanes_open(&enc->lanes, &enc->stream, enc->backend, &enc->error);
    if (status && enc->backend == MOTUS_BACKEND_CUDA && wanted == MOTUS_BACKEND_AUTO) {
        enc->backend = MOTUS_BACKEND_CPU;
        MotusError again = {0};
        status = motus_lanes_open(&enc->lanes, &enc->stream, enc->backend, &again);
        if (status) enc->error = again;
    }
    return status ? motus_fail(error, status, "%s", enc->error.text) : MOTUS_OK;
}

MotusStatus motus_encoder_open(MotusEncoder **out, const MotusEncoderConfig *config, MotusError *error) {
    if (!out || !config) return motus_fail(error, MOTUS_ERR_ARGUMENT, "no encoder or no configuration given");
    *out = NULL;
    MotusEncoder *enc = motus_alloc(1, sizeof *enc);
    if (!enc) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = motus_stream_open(&enc->stream, config, error);
    if (!status) status = open_lanes(enc, error);
    if (status)
        motus_encoder_close(&enc);
    else
        *out = enc;
    return status;
}

// Which picture comes next.
static MotusPlace place_next(const MotusEncoder *enc, int force_idr) {
    const MotusEncoderConfig *c = &enc->stream.config;
    MotusPlace place = enc->next;
    place.idr = force_idr || !place.number || (c->keyint && place.since_idr == (uint32_t)c->keyint);
    place.qp = place.idr ? motus_clip(0, 51, c->qp + c->qp_i_offset) : c->qp;
    if (place.idr) place.since_idr = 0;
    return place;
}

static void note_sent(MotusEncoder *enc, const MotusPlace *place) {
    enc->next.number++;
    enc->next.since_idr = place->since_idr + 1;
    enc->next.idr_pic_id += (uint32_t)place->idr;
}

static MotusStatus send(MotusEncoder *enc, const MotusFrame *frame, int on_device, void *made_on,
                        const MotusFrameParams *params) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (enc->at_end) return MOTUS_ERR_STATE;
    if (!frame) {
        enc->at_end = 1;
        return MOTUS_OK;
    }
    const MotusEncoderConfig *c = &enc->stream.config;
    if (!motus_frame_usable(frame) || frame->width != c->width || frame->height != c->height) return MOTUS_ERR_ARGUMENT;
    if (params && params->size != sizeof *params) return MOTUS_ERR_ARGUMENT;
    MotusOrder order = {.place = place_next(enc, params && params->force_idr), .pts = enc->next.number, .duration = 1};
    if (params) order.pts = params->pts, order.duration = params->duration, order.opaque = params->opaque;
    enc->error = (MotusError){0};
    MotusStatus status = motus_lanes_send(enc->lanes, &order, frame, on_device, made_on, &enc->error);
    if (!status) note_sent(enc, &order.place);
    return status;
}

MotusStatus motus_encoder_send(MotusEncoder *enc, const MotusFrame *frame, const MotusFrameParams *params) {
    return send(enc, frame, 0, NULL, params);
}

MotusStatus motus_encoder_send_device(MotusEncoder *enc, const MotusFrame *frame, void *stream, const MotusFrameParams *params) {
    if (enc && frame && enc->stream.config.backend == MOTUS_BACKEND_CPU)
        return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED, "a frame in device memory, for an encoder on the CPU");
    return send(enc, frame, 1, stream, params);
}

MotusStatus motus_encoder_receive(MotusEncoder *enc, MotusPacket **packet, int timeout_ms) {
    if (!packet) return MOTUS_ERR_ARGUMENT;
    *packet = NULL;
    if (!enc) return MOTUS_ERR_ARGUMENT;
    MotusError error = {0};
    MotusStatus status = motus_lanes_receive(enc->lanes, packet, timeout_ms, &error);
    if (status < 0) enc->error = error;
    return status == MOTUS_AGAIN && enc->at_end && motus_lanes_empty(enc->lanes) ? MOTUS_END : status;
}

const uint8_t *motus_encoder_headers(const MotusEncoder *enc, size_t *size) {
    if (size) *size = enc ? enc->stream.headers_size : 0;
    return enc ? enc->stream.headers : NULL;
}

int motus_encoder_level(const MotusEncoder *enc) { return enc ? enc->stream.sequence.level->level_idc : 0; }

const MotusError *motus_encoder_error(const MotusEncoder *enc) {
    static const MotusError none = {MOTUS_OK, ""};
    return enc ? &enc->error : &none;
}

MotusBackend motus_encoder_backend(const MotusEncoder *enc) { return enc ? enc->backend : MOTUS_BACKEND_CPU; }

int motus_encoder_lanes(const MotusEncoder *enc) { return enc ? motus_lanes_count(enc->lanes) : 0; }

size_t motus_encoder_lane_bytes(const MotusEncoder *enc) { return enc ? motus_lanes_bytes(enc->lanes) : 0; }

void motus_encoder_close(MotusEncoder **out) {
    if (!out || !*out) return;
    motus_lanes_close(&(*out)->lanes);
    motus_free(*out);
    *out = NULL;
}
