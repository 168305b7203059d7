// Pictures in, access units out. Outputs take packets in the order in which pictures were sent.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interop/nvenc/layouts.h"
#include "interop/nvenc/session.h"

// ---- Packets ------------------------------------------------------------------------------------

// Gives a packet to the output of the oldest picture without one.
static void give(Session *s, MotusPacket *packet) {
    const PictureTag *tag = packet->opaque;
    pthread_mutex_lock(&s->lock);
    s->history[s->received % NVENC_HISTORY].timestamp = tag->timestamp;
    s->history[s->received % NVENC_HISTORY].number = packet->number;
    s->received++;
    Output *out = s->first_queued;
    s->first_queued = out->next_queued;
    if (!s->first_queued) s->last_queued = NULL;
    out->next_queued = NULL, out->is_queued = 0, out->packet = packet;
    const int is_destroyed = out->is_destroyed;
    pthread_mutex_unlock(&s->lock);
    if (is_destroyed) motus_nvenc_free_output(s, out);
}

// Receives packets until `wanted` has its own. MOTUS_AGAIN: it needs more frames, or, without a
// timeout, is not done yet.
static MotusStatus receive(Session *s, const Output *wanted, int timeout_ms) {
    MotusStatus status = MOTUS_OK;
    pthread_mutex_lock(&s->receiving);
    while (!status && !wanted->packet) {
        MotusPacket *packet = NULL;
        motus_nvenc_enter(s);
        status = motus_encoder_receive(s->encoder, &packet, timeout_ms);
        motus_nvenc_leave(s);
        if (!status) give(s, packet);
    }
    pthread_mutex_unlock(&s->receiving);
    return wanted->packet ? MOTUS_OK : status;
}

// Blocks until another frame, or the end, was sent, for a second at most.
static void wait_for_frames(Session *s, int64_t sent) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&s->lock);
    while (s->sent == sent && !s->has_ended)
        if (pthread_cond_timedwait(&s->sent_more, &s->lock, &until) == ETIMEDOUT) break;
    pthread_mutex_unlock(&s->lock);
}

// ---- In -----------------------------------------------------------------------------------------

static NVENCSTATUS end_stream(Session *s) {
    pthread_mutex_lock(&s->lock);
    const int had_ended = s->has_ended;
    s->has_ended = 1;
    pthread_mutex_unlock(&s->lock);
    if (had_ended) return NV_ENC_SUCCESS; // callers repeat it
    motus_nvenc_enter(s);
    const MotusStatus status = motus_encoder_send(s->encoder, NULL, NULL);
    motus_nvenc_leave(s);
    pthread_cond_broadcast(&s->sent_more);
    return motus_nvenc_status(s, status, "the end");
}

// True if the packets of all pictures up to this one come without further frames: no B picture
// waits for the next P picture. The encoder's rule, for runs of B pictures of a fixed length.
static int completes_run(Session *s, int is_idr) {
    const MotusEncoderConfig *m = &s->settings;
    is_idr |= !s->sent || (m->keyint && !m->intra_refresh && s->since_idr >= m->keyint);
    s->since_idr = is_idr ? 1 : s->since_idr + 1;
    s->run = is_idr ? 0 : s->run + 1;
    const int is_last = is_idr || s->run == m->bframes + 1;
    if (is_last) s->run = 0;
    return is_last;
}

// Emphasis levels as QP offsets: 0 none, 5 the strongest.
static void emphasize(const int8_t *level, int8_t *offset, size_t n) {
    static const int8_t qp[6] = {0, -1, -2, -4, -6, -8};
    for (size_t i = 0; i < n; i++) offset[i] = qp[level[i] < 0 ? 0 : level[i] > 5 ? 5 : level[i]];
}

// Sets the QP offsets of a picture; *own gets memory to free, or NULL.
static NVENCSTATUS set_qp_map(Session *s, const NV_ENC_PIC_PARAMS *p, MotusFrameParams *params,
                              int8_t **own) {
    const QpMap map = qp_map_of(p);
    const NV_ENC_QP_MAP_MODE mode = s->config.rcParams.qpMapMode;
    const size_t n = (size_t)((s->settings.width + 15) / 16) * ((s->settings.height + 15) / 16);
    *own = NULL;
    if (!map.delta || (mode != NV_ENC_QP_MAP_DELTA && mode != NV_ENC_QP_MAP_EMPHASIS))
        return NV_ENC_SUCCESS;
    if (map.size < n)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "a QP map has %u of %zu entries",
                                map.size, n);
    params->qp_offset = map.delta, params->n_qp_offset = n;
    if (mode == NV_ENC_QP_MAP_DELTA) return NV_ENC_SUCCESS;
    if (!(*own = malloc(n))) return NV_ENC_ERR_OUT_OF_MEMORY;
    emphasize(map.delta, *own, n);
    params->qp_offset = *own;
    return NV_ENC_SUCCESS;
}

static void put_in_queue(Session *s, Output *out) {
    pthread_mutex_lock(&s->lock);
    out->is_queued = 1;
    if (s->last_queued)
        s->last_queued->next_queued = out;
    else
        s->first_queued = out;
    s->last_queued = out;
    pthread_mutex_unlock(&s->lock);
}

// Takes the newest output out of the queue: its frame was not sent.
static void take_from_queue(Session *s, Output *out) {
    pthread_mutex_lock(&s->lock);
    Output **at = &s->first_queued, *before = NULL;
    for (; *at != out; at = &(*at)->next_queued) before = *at;
    *at = NULL;
    s->last_queued = before;
    out->is_queued = 0;
    pthread_mutex_unlock(&s->lock);
}

// Writes an access unit into device memory of the caller: NV_ENC_ENCODE_OUT_PARAMS, then the bytes.
static NVENCSTATUS deliver(Session *s, Output *out) {
    NV_ENC_ENCODE_OUT_PARAMS head = {.version = NV_ENC_ENCODE_OUT_PARAMS_VER,
                                     .bitstreamSizeInBytes = (uint32_t)out->packet->size};
    const CUdeviceptr to = (CUdeviceptr)(uintptr_t)out->memory->data;
    motus_nvenc_enter(s);
    CUresult status = s->cuda->upload(to, &head, sizeof head, s->own_stream);
    if (!status)
        status = s->cuda->copy(to + sizeof head, (CUdeviceptr)(uintptr_t)out->packet->device_data,
                               out->packet->size, s->own_stream);
    if (!status) status = s->cuda->synchronize(s->own_stream);
    motus_nvenc_leave(s);
    return status ? motus_nvenc_fail(s, NV_ENC_ERR_GENERIC, "an output could not be copied: %d",
                                     status)
                  : NV_ENC_SUCCESS;
}

// Delivers all access units that are wanted in device memory and can be had. Nobody locks them.
static NVENCSTATUS deliver_finished(Session *s, int64_t last) {
    NVENCSTATUS status = NV_ENC_SUCCESS;
    while (!status && s->received < last) {
        Output *out = s->first_queued;
        const MotusStatus received = receive(s, out, -1);
        if (received) return motus_nvenc_status(s, received, "a packet");
        status = deliver(s, out);
        motus_nvenc_free_output(s, out);
    }
    return status;
}

NVENCSTATUS motus_nvenc_encode(Session *s, NV_ENC_PIC_PARAMS *p) {
    if (!s->encoder) return motus_nvenc_fail(s, NV_ENC_ERR_ENCODER_NOT_INITIALIZED, "no encoder");
    const int in_memory = s->init.enableOutputInVidmem;
    if (p->encodePicFlags & NV_ENC_PIC_FLAG_EOS) {
        NVENCSTATUS ended = end_stream(s);
        return ended || !in_memory ? ended : deliver_finished(s, s->sent);
    }
    if (s->has_ended) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_CALL, "a frame after the end");
    Input *in = motus_nvenc_input(s, p->inputBuffer);
    Input *memory = in_memory ? motus_nvenc_input(s, p->outputBitstream) : NULL;
    Output *out = memory ? NULL : motus_nvenc_output(s, p->outputBitstream);
    if (!in || in->is_output || !(memory || out))
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no such %s", in ? "output" : "input");
    if (memory) out = calloc(1, sizeof *out);
    if (!out) return motus_nvenc_fail(s, NV_ENC_ERR_OUT_OF_MEMORY, "no memory for a picture");
    if (out->is_queued || out->packet)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_CALL, "the output is in use");
    out->memory = memory;
    PictureTag *tag = malloc(sizeof *tag);
    if (!tag) {
        if (memory) free(out);
        return motus_nvenc_fail(s, NV_ENC_ERR_OUT_OF_MEMORY, "no memory for a picture");
    }
    *tag = (PictureTag){p->inputTimeStamp, p->inputDuration, p->frameIdx};
    const int wants_idr =
        p->encodePicFlags & (NV_ENC_PIC_FLAG_FORCEIDR | NV_ENC_PIC_FLAG_FORCEINTRA);
    MotusFrameParams params = {.size = sizeof params, .pts = s->sent, .duration = 1};
    params.opaque = tag;
    params.force_idr = s->forces_idr || wants_idr;
    int8_t *own_map;
    NVENCSTATUS status = set_qp_map(s, p, &params, &own_map);
    put_in_queue(s, out);
    if (!status) status = motus_nvenc_send(s, in, &params);
    free(own_map);
    if (status) {
        take_from_queue(s, out);
        if (memory) free(out);
        free(tag);
        return status;
    }
    const int is_complete = completes_run(s, params.force_idr);
    s->forces_idr = 0;
    pthread_mutex_lock(&s->lock);
    s->sent++;
    pthread_mutex_unlock(&s->lock);
    pthread_cond_broadcast(&s->sent_more);
    // Behind a lookahead packets come one by one, so many frames later; callers wait for as many.
    const int is_ready =
        s->settings.lookahead ? s->sent > s->settings.lookahead + s->settings.bframes : is_complete;
    if (in_memory && is_ready)
        status = deliver_finished(s, s->settings.lookahead
                                         ? s->sent - s->settings.lookahead - s->settings.bframes
                                         : s->sent);
    return status ? status : is_ready ? NV_ENC_SUCCESS : NV_ENC_ERR_NEED_MORE_INPUT;
}

// ---- Out ----------------------------------------------------------------------------------------

// Calls visit() for each NAL unit of an access unit, start code included.
static void each_nal(const uint8_t *data, size_t size,
                     void (*visit)(void *opaque, const uint8_t *nal, size_t bytes, size_t at,
                                   int type),
                     void *opaque) {
    size_t begin = 0;
    while (begin < size) { // every NAL unit of motus has a start code of four bytes
        size_t end = begin + 4;
        while (end + 4 <= size && memcmp(data + end, "\0\0\0\1", 4)) end++;
        if (end + 4 > size) end = size;
        visit(opaque, data + begin, end - begin, begin, data[begin + 4] & 31);
        begin = end;
    }
}

typedef struct Stripped {
    uint8_t *data;
    size_t size;
} Stripped;

static void keep_unless_parameters(void *opaque, const uint8_t *nal, size_t bytes, size_t at,
                                   int type) {
    Stripped *to = opaque;
    (void)at;
    if (type == 7 || type == 8) return;
    memcpy(to->data + to->size, nal, bytes);
    to->size += bytes;
}

typedef struct SliceOffsets {
    uint32_t *offset;
    uint32_t n;
} SliceOffsets;

static void note_slice(void *opaque, const uint8_t *nal, size_t bytes, size_t at, int type) {
    SliceOffsets *to = opaque;
    (void)nal, (void)bytes;
    if (type == 1 || type == 5) to->offset[to->n++] = (uint32_t)at;
}

static NV_ENC_PIC_TYPE type_of(const MotusPacket *packet) {
    return packet->is_idr        ? NV_ENC_PIC_TYPE_IDR
           : packet->type == 'I' ? NV_ENC_PIC_TYPE_I
           : packet->type == 'P' ? NV_ENC_PIC_TYPE_P
                                 : NV_ENC_PIC_TYPE_B;
}

// Fills in what a locked picture tells beside its bytes, and the statistics of the session.
static void report(Session *s, const Output *out, NV_ENC_LOCK_BITSTREAM *p) {
    const MotusPacket *packet = out->packet;
    const PictureTag *tag = packet->opaque;
    const MotusPictureStats *stats = &packet->stats;
    const uint32_t intra =
        stats->mb[MOTUS_MB_I_4x4] + stats->mb[MOTUS_MB_I_16x16] + stats->mb[MOTUS_MB_I_PCM];
    const uint32_t mbs =
        (uint32_t)((s->settings.width + 15) / 16) * (uint32_t)((s->settings.height + 15) / 16);
    p->outputTimeStamp = tag->timestamp;
    p->outputDuration = tag->duration;
    p->frameIdx = tag->index;
    p->hwEncodeStatus = 2; // done
    p->numSlices = (uint32_t)packet->slices;
    p->pictureType = type_of(packet);
    p->pictureStruct = NV_ENC_PIC_STRUCT_FRAME;
    p->frameAvgQP = (uint32_t)(packet->mean_qp + 0.5);
    p->frameSatd = 0;
    p->temporalId = 0;
    uint32_t *counts = mb_counts_of(p);
    counts[0] = intra, counts[1] = mbs - intra;
    counts[2] = counts[3] = 0;
    s->stats = (NV_ENC_STAT){.outputBitStream = p->outputBitstream,
                             .bitStreamSize = p->bitstreamSizeInBytes,
                             .picType = p->pictureType,
                             .lastValidByteOffset = p->bitstreamSizeInBytes,
                             .picIdx = tag->index,
                             .frameAvgQP = p->frameAvgQP,
                             .intraMBCount = intra,
                             .interMBCount = mbs - intra};
}

// Waits for an output's packet. A caller may lock an output that still needs frames which another
// of its threads sends.
static NVENCSTATUS wait_for_packet(Session *s, Output *out, int returns_at_once) {
    for (int seconds = 0; seconds < 20;) {
        const int64_t sent = s->sent;
        const MotusStatus status = receive(s, out, returns_at_once ? 0 : -1);
        if (!status) return NV_ENC_SUCCESS;
        if (status == MOTUS_AGAIN && returns_at_once) return NV_ENC_ERR_LOCK_BUSY;
        if (status != MOTUS_AGAIN) return motus_nvenc_status(s, status, "a packet");
        wait_for_frames(s, sent);
        seconds += s->sent == sent;
    }
    return motus_nvenc_fail(s, NV_ENC_ERR_LOCK_BUSY, "the output needs frames that did not come");
}

NVENCSTATUS motus_nvenc_lock(Session *s, NV_ENC_LOCK_BITSTREAM *p) {
    Output *out = motus_nvenc_output(s, p->outputBitstream);
    if (!out) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no such output");
    if (out->mv) {
        p->bitstreamBufferPtr = out->mv;
        p->bitstreamSizeInBytes = (uint32_t)((size_t)s->n_mb * sizeof *out->mv);
        return NV_ENC_SUCCESS;
    }
    if (!out->is_queued && !out->packet)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_CALL, "no picture was sent for the output");
    const NVENCSTATUS status = wait_for_packet(s, out, p->doNotWait);
    if (status) return status;
    const MotusPacket *packet = out->packet;
    Stripped bytes = {(uint8_t *)packet->data, packet->size};
    if (packet->is_idr && s->config.encodeCodecConfig.h264Config.disableSPSPPS && !out->stripped) {
        if (!(out->stripped = malloc(packet->size)))
            return motus_nvenc_fail(s, NV_ENC_ERR_OUT_OF_MEMORY, "no memory for a packet");
        bytes = (Stripped){out->stripped, 0};
        each_nal(packet->data, packet->size, keep_unless_parameters, &bytes);
    }
    p->bitstreamBufferPtr = bytes.data;
    p->bitstreamSizeInBytes = (uint32_t)bytes.size;
    report(s, out, p);
    if (s->init.reportSliceOffsets && p->sliceOffsets) {
        SliceOffsets slices = {p->sliceOffsets, 0};
        each_nal(bytes.data, bytes.size, note_slice, &slices);
    }
    out->is_locked = 1;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_unlock(Session *s, NV_ENC_OUTPUT_PTR handle) {
    Output *out = motus_nvenc_output(s, handle);
    if (!out) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no such output");
    if (out->mv) return NV_ENC_SUCCESS;
    if (!out->is_locked)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_CALL, "the output is not locked");
    out->is_locked = 0;
    free(out->packet->opaque);
    motus_nvenc_enter(s);
    motus_packet_unref(&out->packet);
    motus_nvenc_leave(s);
    free(out->stripped);
    out->stripped = NULL;
    return NV_ENC_SUCCESS;
}
