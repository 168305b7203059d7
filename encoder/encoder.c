// SPDX-License-Identifier: BSD-2-Clause
#include "motus/encoder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/gop/intake.h"
#include "encoder/gop/planner.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/settings/config.h"
#include "encoder/settings/stream.h"
#include "yuv/image.h"
#include "yuv/usable.h"

// The thread that last called one side of the encoder.
typedef struct Caller {
    pthread_t thread;
    int64_t call; // number of that call on either side; 0: none
} Caller;

struct MotusEncoder {
    MotusStream stream;
    MotusBackend backend; // never AUTO
    MotusGopCoders *coders;
    MotusLookahead *look;   // NULL with fixed QP, unless it has to choose types
    MotusPlanner *planner;  // beside the lookahead
    MotusRateChange change; // for the next picture
    MotusImageIntake image;
    int64_t number; // of the next picture
    int wants_idr;  // it has to be an IDR picture: a receiver has lost all references
    atomic_int at_end;
    MotusError lost;     // why no more pictures can be planned, if a call has reported it
    MotusError opened;   // why AUTO fell back to the CPU
    MotusError error;    // of the sender's last call
    MotusError received; // of the receiver's last failure
    pid_t process;       // that opened it; a child of fork() has none of its threads
    pthread_mutex_t lock;
    // Under the lock.
    Caller sender, receiver;
    int64_t calls;
};

// ---- Opening ------------------------------------------------------------------------------------

// Opens the GOP coders, and a lookahead on their first device.
static MotusStatus open_backend(MotusEncoder *enc, MotusError *error) {
    MotusStatus status = motus_gop_coders_open(&enc->coders, &enc->stream, enc->backend, error);
    const int looks = enc->stream.config.rate != MOTUS_RATE_QP || enc->stream.lookahead.b_span;
    if (status || !looks) return status;
    status = motus_lookahead_open(&enc->look, &enc->stream.lookahead,
                                  enc->coders->executor[0].device, error);
    if (!status) {
        status = motus_planner_open(&enc->planner, &enc->stream, enc->coders, enc->look);
        if (status) motus_fail(error, status, "%s", motus_status_text(status));
    }
    if (status) motus_lookahead_close(&enc->look);
    if (status) motus_gop_coders_close(&enc->coders);
    return status;
}

// AUTO falls back to the CPU if there is no device or it fails.
static MotusStatus open_coders(MotusEncoder *enc, MotusError *error) {
    const MotusEncoderConfig *c = &enc->stream.config;
    MotusStatus status = motus_backend_choose(c->backend, &enc->backend);
    if (status)
        return status == MOTUS_ERR_ARGUMENT ? motus_fail(error, status, "unknown backend")
                                            : motus_device_check(error);
    if (c->backend == MOTUS_BACKEND_AUTO && enc->backend == MOTUS_BACKEND_CPU)
        motus_device_lacks_code(&enc->opened);
    status = open_backend(enc, &enc->opened);
    if (status && c->backend == MOTUS_BACKEND_AUTO && enc->backend != MOTUS_BACKEND_CPU) {
        enc->backend = MOTUS_BACKEND_CPU;
        MotusError again = {0};
        status = open_backend(enc, &again);
        if (status) enc->opened = again;
    }
    if (status) return motus_fail(error, status, "%s", enc->opened.text);
    if (c->packet_memory == MOTUS_MEMORY_HOST || enc->coders->ops->store) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      "packets in device memory need the CUDA backend%s%s",
                      enc->opened.text[0] ? ": " : "", enc->opened.text);
}

MotusStatus motus_encoder_open(MotusEncoder **out, const MotusEncoderConfig *config,
                               MotusError *error) {
    if (!out || !config)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "no encoder or no configuration given");
    *out = NULL;
    MotusEncoder *enc = motus_alloc(1, sizeof *enc);
    if (enc && pthread_mutex_init(&enc->lock, NULL)) motus_free(enc), enc = NULL;
    if (!enc) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    enc->process = getpid();
    MotusStatus status = motus_stream_open(&enc->stream, config, error);
    if (!status) status = open_coders(enc, error);
    enc->number = enc->stream.config.first_picture;
    if (status)
        motus_encoder_close(&enc);
    else
        *out = enc;
    return status;
}

// ---- Calling threads: one may send while another receives ---------------------------------------

// True in a child of fork() that has a copy of the parent's encoder: no lock of it may be taken.
static int is_inherited(const MotusEncoder *enc) { return enc->process != getpid(); }

// Notes the calling thread, so that motus_encoder_error finds its error.
static void note_call(MotusEncoder *enc, Caller *caller) {
    pthread_mutex_lock(&enc->lock);
    *caller = (Caller){pthread_self(), ++enc->calls};
    pthread_mutex_unlock(&enc->lock);
}

static void begin_sending(MotusEncoder *enc) {
    note_call(enc, &enc->sender);
    enc->error = enc->lost;
}

// Returns the number of the calling thread's last call on this side; 0: none.
static int64_t own_call(const Caller *caller) {
    return caller->call && pthread_equal(caller->thread, pthread_self()) ? caller->call : 0;
}

const MotusError *motus_encoder_error(const MotusEncoder *enc) {
    static const MotusError none = {MOTUS_OK, ""};
    static const MotusError inherited = {
        MOTUS_ERR_STATE, "the encoder belongs to the parent process: open one after the fork"};
    if (!enc) return &none;
    if (is_inherited(enc)) return &inherited;
    pthread_mutex_t *lock = (pthread_mutex_t *)&enc->lock;
    pthread_mutex_lock(lock);
    const int64_t sent = own_call(&enc->sender), received = own_call(&enc->receiver);
    pthread_mutex_unlock(lock);
    return !sent && !received ? &enc->opened : received > sent ? &enc->received : &enc->error;
}

// ---- Frames in ----------------------------------------------------------------------------------

// Reads a caller's parameters, which an older header may have made shorter.
static MotusStatus read_params(MotusEncoder *enc, MotusFrameParams *to,
                               const MotusFrameParams *from) {
    const size_t n_mb = (size_t)enc->stream.mb_width * (size_t)enc->stream.mb_height;
    *to = (MotusFrameParams){.size = sizeof *to, .pts = enc->number, .duration = 1};
    if (!from) return MOTUS_OK;
    if (from->size < offsetof(MotusFrameParams, qp_offset) || from->size > sizeof *to)
        return MOTUS_ERR_ARGUMENT;
    memcpy(to, from, from->size);
    if (to->qp_offset && to->n_qp_offset != n_mb) return MOTUS_ERR_ARGUMENT;
    if (motus_external_mvs_bytes(&enc->stream, to) &&
        motus_external_mvs_check(&enc->stream, to, &enc->error))
        return MOTUS_ERR_ARGUMENT;
    return enc->stream.config.time_base.num && to->duration < 1 ? MOTUS_ERR_ARGUMENT : MOTUS_OK;
}

// Returns the status of a planner call, whose error is in enc->lost.
static MotusStatus planned(MotusEncoder *enc, MotusStatus status) {
    if (status) enc->error = enc->lost;
    return status;
}

static MotusStatus end(MotusEncoder *enc) {
    begin_sending(enc);
    atomic_store(&enc->at_end, 1);
    if (enc->planner)
        return planned(enc, motus_planner_sent(enc->planner, MOTUS_OK, 1, &enc->lost));
    motus_gop_coders_end(enc->coders);
    return MOTUS_OK;
}

static MotusStatus send(MotusEncoder *enc, const MotusFrameSource *source,
                        const MotusFrameParams *given) {
    MotusFrameParams params;
    MotusPendingPicture *picture;
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (is_inherited(enc) || enc->at_end) return MOTUS_ERR_STATE;
    if (!source->frame && !source->image) return end(enc);
    const MotusEncoderConfig *c = &enc->stream.config;
    if (source->frame && (!motus_frame_usable(source->frame) || source->frame->width != c->width ||
                          source->frame->height != c->height))
        return MOTUS_ERR_ARGUMENT;
    begin_sending(enc);
    if (read_params(enc, &params, given)) return MOTUS_ERR_ARGUMENT;
    params.force_idr |= enc->wants_idr;
    if (enc->lost.status) return enc->lost.status;
    MotusStatus status = motus_pending_alloc(&picture, &enc->stream, &params);
    if (status) return motus_fail(&enc->error, status, "out of memory");
    picture->params.number = enc->number;
    picture->plan->duration = c->time_base.num ? params.duration : 1;
    picture->plan->change = enc->change;
    if (enc->planner) motus_planner_begin(enc->planner);
    const MotusStatus sent =
        motus_gop_coders_send(enc->coders, picture, enc->look, source, &enc->error);
    if (!sent) {
        enc->change.wanted = enc->wants_idr = 0;
        enc->number++;
    }
    if (enc->planner) status = motus_planner_sent(enc->planner, sent, 0, &enc->lost);
    return sent ? sent : planned(enc, status);
}

MotusStatus motus_encoder_next_segment(MotusEncoder *enc, int64_t first_picture,
                                       int64_t first_gop) {
    if (!enc || !motus_config_segment_is_possible(first_picture, first_gop))
        return MOTUS_ERR_ARGUMENT;
    if (is_inherited(enc) || !enc->at_end) return MOTUS_ERR_STATE;
    begin_sending(enc);
    if (enc->lost.status) return enc->lost.status;
    if (enc->look && motus_rate_feeds_back(&enc->stream.rate))
        return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                          "sizes of earlier pictures set QPs: a segment needs them all");
    MotusStatus status = enc->planner
                             ? motus_planner_next_segment(enc->planner, first_picture, &enc->error)
                             : MOTUS_OK;
    if (status) return status;
    pthread_mutex_lock(&enc->coders->lock);
    enc->coders->idr_pic_id = (uint32_t)first_gop;
    pthread_mutex_unlock(&enc->coders->lock);
    enc->coders->begins = 1;
    enc->number = first_picture;
    enc->at_end = 0;
    return MOTUS_OK;
}

MotusStatus motus_encoder_set_rate(MotusEncoder *enc, int64_t bitrate, int64_t vbv_maxrate,
                                   int64_t vbv_bufsize) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (is_inherited(enc)) return MOTUS_ERR_STATE;
    const MotusRateSettings *r = &enc->stream.rate;
    begin_sending(enc);
    enc->error = (MotusError){0};
    if (enc->stream.config.rate != MOTUS_RATE_BITRATE || r->log || enc->stream.config.hrd)
        return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                          "this encoder's rate cannot be changed");
    MotusStatus status = motus_config_check_rates(bitrate, vbv_maxrate, vbv_bufsize, &enc->error);
    if (!status && bitrate < 1)
        status = motus_fail(&enc->error, MOTUS_ERR_ARGUMENT, "no bitrate given");
    if (!status && !r->vbv_rate != !vbv_maxrate)
        status = motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                            "a running encoder neither gets a VBV nor loses it");
    if (!status) enc->change = (MotusRateChange){1, bitrate, vbv_maxrate, vbv_bufsize};
    return status;
}

MotusStatus motus_encoder_reference_lost(MotusEncoder *enc, int64_t number) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (is_inherited(enc) || enc->at_end) return MOTUS_ERR_STATE;
    begin_sending(enc);
    pthread_mutex_lock(&enc->coders->lock);
    const int kept = motus_mini_gop_reference_lost(&enc->coders->mini_gop, number);
    pthread_mutex_unlock(&enc->coders->lock);
    if (kept < 0)
        return motus_fail(&enc->error, MOTUS_ERR_ARGUMENT, "picture %lld has not been coded",
                          (long long)number);
    enc->wants_idr |= !kept;
    return MOTUS_OK;
}

MotusStatus motus_encoder_send(MotusEncoder *enc, const MotusFrame *frame,
                               const MotusFrameParams *params) {
    const MotusFrameSource source = {.frame = frame};
    return send(enc, &source, params);
}

static MotusStatus refuse_device(MotusEncoder *enc) {
    if (is_inherited(enc)) return MOTUS_ERR_STATE;
    begin_sending(enc);
    return motus_fail(&enc->error, MOTUS_ERR_UNSUPPORTED,
                      "a frame in device memory, for an encoder on the CPU");
}

MotusStatus motus_encoder_send_device(MotusEncoder *enc, const MotusFrame *frame, void *stream,
                                      const MotusFrameParams *params) {
    const MotusFrameSource source = {.frame = frame, .on_device = 1, .stream = stream};
    if (enc && frame && enc->stream.config.backend == MOTUS_BACKEND_CPU) return refuse_device(enc);
    return send(enc, &source, params);
}

// Checks that an image may be sent now, before it is converted.
static MotusStatus check_image(MotusEncoder *enc, const MotusImage *image) {
    if (is_inherited(enc) || enc->at_end) return MOTUS_ERR_STATE;
    const MotusEncoderConfig *c = &enc->stream.config;
    if (!motus_image_usable(image) || image->width != c->width || image->height != c->height)
        return MOTUS_ERR_ARGUMENT;
    begin_sending(enc);
    return enc->lost.status;
}

MotusStatus motus_encoder_send_image(MotusEncoder *enc, const MotusImage *image,
                                     const MotusFrameParams *params) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    MotusFrameSource source = {0};
    MotusStatus status = check_image(enc, image);
    if (!status)
        status = motus_image_intake_take(&enc->image, image, &enc->stream.config.colour,
                                         &source.frame, &enc->error);
    return status ? status : send(enc, &source, params);
}

MotusStatus motus_encoder_send_image_device(MotusEncoder *enc, const MotusImage *image,
                                            void *stream, const MotusFrameParams *params) {
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (enc->stream.config.backend == MOTUS_BACKEND_CPU) return refuse_device(enc);
    const MotusColour *colour = &enc->stream.config.colour;
    MotusFrameSource source = {.image = image, .colour = colour, .on_device = 1, .stream = stream};
    int device;
    MotusStatus status = check_image(enc, image);
    if (!status) status = motus_image_cuda_locate(image, &device, &enc->error);
    if (status) return status;
    if (enc->coders->n_executors == 1 && enc->coders->executor[0].device == device &&
        enc->stream.config.stream_only &&
        (!enc->look || motus_gop_coders_type_later(enc->coders, enc->look))) // read in its slot
        return send(enc, &source, params);
    status = motus_image_cuda_take(&enc->image.cuda, image, device, colour, stream, &source.frame,
                                   &enc->error);
    if (status) return status;
    status = send(enc, &source, params);
    MotusStatus noted = motus_image_cuda_read(enc->image.cuda, stream, status ? NULL : &enc->error);
    return status ? status : noted; // the frame may be under read after a failure, too
}

// ---- Packets out --------------------------------------------------------------------------------

MotusStatus motus_encoder_receive(MotusEncoder *enc, MotusPacket **packet, int timeout_ms) {
    if (!packet) return MOTUS_ERR_ARGUMENT;
    *packet = NULL;
    if (!enc) return MOTUS_ERR_ARGUMENT;
    if (is_inherited(enc)) return MOTUS_ERR_STATE;
    MotusError error = {0};
    MotusStatus status =
        motus_gop_coders_receive(enc->coders, enc->at_end, packet, timeout_ms, &error);
    if (status < 0) {
        enc->received = error;
        note_call(enc, &enc->receiver);
    }
    return status;
}

// ---- What is known ------------------------------------------------------------------------------

const uint8_t *motus_encoder_headers(const MotusEncoder *enc, size_t *size) {
    if (size) *size = enc ? enc->stream.headers_size : 0;
    return enc ? enc->stream.headers : NULL;
}

int motus_encoder_level(const MotusEncoder *enc) {
    return enc ? enc->stream.sequence.level->level_idc : 0;
}

MotusBackend motus_encoder_backend(const MotusEncoder *enc) {
    return enc ? enc->backend : MOTUS_BACKEND_CPU;
}

int motus_encoder_gop_coders(const MotusEncoder *enc) {
    return enc && !is_inherited(enc) ? motus_gop_coders_count(enc->coders) : 0;
}

size_t motus_encoder_gop_coder_bytes(const MotusEncoder *enc) {
    const MotusGopCoders *coders = enc ? enc->coders : NULL;
    return coders ? coders->ops->coder_bytes(coders->stream, coders->slots_per_coder,
                                             coders->per_device)
                  : 0;
}

void motus_encoder_close(MotusEncoder **out) {
    if (!out || !*out) return;
    if (is_inherited(*out)) { // the parent's: its threads cannot be joined here
        *out = NULL;
        return;
    }
    motus_planner_close(&(*out)->planner);
    motus_lookahead_close(&(*out)->look);
    motus_gop_coders_close(&(*out)->coders);
    motus_frame_unref(&(*out)->image.host);
    motus_image_cuda_close(&(*out)->image.cuda);
    motus_stream_close(&(*out)->stream);
    pthread_mutex_destroy(&(*out)->lock);
    motus_free(*out);
    *out = NULL;
}
