// The CUDA executor: the table over the coders, frame slots and packet pools of a device, and what
// the host does for a picture beside them.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/picture/cuda_coder.h"
#include "encoder/picture/executor.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/picture/frame_slots.h"
#include "encoder/picture/packet_pool.h"
#include "encoder/slice/slice.h"
#include "yuv/frame_pool.h"

#define MAX_CODERS 16 // of a device, if their number is chosen here: more hardly add to the speed
#define SLOTS_BYTES ((size_t)4 << 30) // likewise, of frame slots

// A picture between begin() and finish(). The frame and the field stay for an undone picture.
typedef struct Pending {
    const MotusPictureParams *params;
    MotusFrame *rec;   // NULL with stream_only
    MotusField *field; // of a P picture, with config.export_field
} Pending;

typedef struct Coder {
    const MotusStream *stream;
    MotusCudaCoder *cuda;
    MotusPacketPool *packets; // NULL: the bytes of packets are downloaded
    MotusFramePool pool;      // of reconstructions
    MotusCodedMv *mvs;
    Pending pending[MOTUS_CODER_DEPTH];
    unsigned begun, finished; // pictures
    MotusField *field;        // handed out with the picture that was finished last
    MotusCudaPicture coded;   // what wait() found
} Coder;

// ---- Device -------------------------------------------------------------------------------------

// Every device has to be usable, not only those whose coders get a GOP.
static MotusStatus find_devices(const MotusEncoderConfig *c, int device[MOTUS_MAX_GOP_CODERS],
                                int *n, MotusError *error) {
    const int all = motus_min(motus_device_count(), MOTUS_MAX_GOP_CODERS);
    MotusStatus status = MOTUS_OK;
    *n = motus_max(1, c->n_devices == MOTUS_ALL_DEVICES ? all : c->n_devices);
    for (int i = 0; i < *n && !status; i++) {
        const int wanted = !c->n_devices ? c->device : c->n_devices > 0 ? c->devices[i] : i;
        status = motus_device_choose(wanted, &device[i], error);
    }
    return status;
}

// As many whole GOPs as fit into a quarter of the free memory of the device that has least.
static int best_coders(const MotusStream *stream, const int *device, int n_devices, int threads,
                       int slots) {
    (void)threads;
    size_t bytes = SLOTS_BYTES;
    for (int i = 0; i < n_devices; i++) {
        const size_t free_bytes = motus_cuda_coder_free_bytes(device[i]) / 4;
        if (bytes > free_bytes) bytes = free_bytes;
    }
    const size_t fit = bytes / motus_cuda_coder_bytes(stream, slots, MAX_CODERS);
    return n_devices * (int)(fit < 1 ? 1 : fit > MAX_CODERS ? MAX_CODERS : fit);
}

static MotusStatus open_device(void **shared, int device, MotusError *error) {
    return motus_copy_streams_open((MotusCopyStreams **)shared, device, error);
}

static void close_device(void **shared) { motus_copy_streams_close((MotusCopyStreams **)shared); }

static MotusStatus open_slots(void **slots, const MotusStream *stream, void *shared, int n,
                              MotusFrameSlot **first, MotusError *error) {
    return motus_frame_slots_open((MotusFrameSlots **)slots, stream, shared, n, first, error);
}

static void close_slots(void **slots) { motus_frame_slots_close((MotusFrameSlots **)slots); }

// ---- Coder --------------------------------------------------------------------------------------

static void close_coder(void **coder) {
    Coder *c = *coder;
    if (!c) return;
    motus_cuda_coder_close(&c->cuda);
    motus_packet_pool_close(&c->packets);
    for (int i = 0; i < MOTUS_CODER_DEPTH; i++) {
        motus_frame_unref(&c->pending[i].rec);
        motus_field_free(&c->pending[i].field);
    }
    motus_field_free(&c->field);
    motus_frame_pool_close(&c->pool);
    motus_free(c->mvs);
    motus_free(c);
    *coder = NULL;
}

static MotusStatus open_coder(void **coder, const MotusStream *stream, void *shared, int index,
                              int coders, int threads, MotusError *error) {
    (void)threads;
    const MotusCopyStreams *copies = shared;
    const size_t n_mb = (size_t)stream->mb_width * (size_t)stream->mb_height;
    Coder *c = *coder = motus_alloc(1, sizeof *c);
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    c->stream = stream;
    c->pool = (MotusFramePool){
        .width = 16 * stream->mb_width, .height = 16 * stream->mb_height, .pinned = 1};
    MotusStatus status = MOTUS_OK;
    if (!stream->config.stream_only && !(c->mvs = motus_alloc(16 * n_mb, sizeof *c->mvs)))
        status = motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) status = motus_cuda_coder_open(&c->cuda, stream, copies, index, coders, error);
    if (!status && stream->config.packet_memory == MOTUS_MEMORY_DEVICE)
        status = motus_packet_pool_open(&c->packets, copies->device, error);
    if (status) close_coder(coder);
    return status;
}

static MotusStatus alloc_outputs(Coder *c, Pending *p, MotusError *error) {
    const MotusEncoderConfig *config = &c->stream->config;
    MotusStatus status = MOTUS_OK;
    if (!config->stream_only && !p->rec) status = motus_frame_pool_take(&c->pool, &p->rec);
    if (!status && config->export_field && p->params->type == MOTUS_SLICE_P && !p->field)
        status = motus_field_alloc(&p->field, config->width, config->height);
    return status ? motus_fail(error, status, "%s", motus_status_text(status)) : MOTUS_OK;
}

static MotusStatus begin(void *coder, const MotusPictureInput *input, MotusError *error) {
    Coder *c = coder;
    Pending *p = &c->pending[c->begun % MOTUS_CODER_DEPTH];
    p->params = input->params;
    MotusStatus status = alloc_outputs(c, p, error);
    if (!status)
        status = motus_cuda_coder_begin(c->cuda, input->slot, input->params, input->coders, p->rec,
                                        p->field, error);
    c->begun += !status;
    return status;
}

static MotusStatus wait_coded(void *coder, size_t *size, MotusError *error) {
    Coder *c = coder;
    MotusStatus status = motus_cuda_coder_wait(c->cuda, &c->coded, error);
    *size = c->coded.size;
    return status;
}

static void undo(void *coder) {
    Coder *c = coder;
    motus_cuda_coder_undo(c->cuda);
    c->begun--;
}

// Crops the reconstruction and lists the MVs.
static MotusStatus show_recon(Coder *c, const Pending *p, MotusCodedPicture *out) {
    const MotusStream *s = c->stream;
    const MotusCodedMbs coded = {.mb_width = s->mb_width,
                                 .mb_height = s->mb_height,
                                 .n_mb = s->mb_width * s->mb_height,
                                 .slice_type = (int)p->params->type,
                                 .threads = 1,
                                 .refs = p->params->refs,
                                 .mb = (MotusMb *)c->coded.mb};
    const MotusRefDistances distances = motus_ref_distances(p->params);
    MotusStatus status = motus_frame_crop(&out->recon, p->rec, s->config.width, s->config.height);
    if (status) return status;
    out->recon->number = p->params->number;
    out->mvs = c->mvs;
    out->n_mvs = motus_list_mvs(&coded, &distances, c->mvs);
    return MOTUS_OK;
}

static MotusStatus finish(void *coder, MotusCodedPicture *out, MotusError *error) {
    Coder *c = coder;
    Pending *p = &c->pending[c->finished++ % MOTUS_CODER_DEPTH];
    const MotusCudaPicture *coded = &c->coded;
    *out = (MotusCodedPicture){.nal = coded->nal,
                               .device_nal = coded->device_nal,
                               .size = coded->size,
                               .slices = motus_picture_slices(c->stream, p->params)->n,
                               .stats = coded->stats};
    memcpy(out->stage_us, coded->stage_us, sizeof out->stage_us);
    MotusStatus status = p->rec ? show_recon(c, p, out) : MOTUS_OK;
    motus_frame_unref(&p->rec);
    motus_field_free(&c->field);
    out->field = c->field = p->field;
    p->field = NULL;
    return status ? motus_fail(error, status, "%s", motus_status_text(status)) : MOTUS_OK;
}

static MotusStatus measure(const MotusPictureInput *input, MotusSourceStats *stats,
                           MotusError *error) {
    return motus_frame_slot_stats(input->slot, stats, error);
}

static MotusStatus store(void *coder, const MotusPacketPiece *piece, int n,
                         MotusPacketBlock **block, MotusError *error) {
    return motus_packet_pool_put(((Coder *)coder)->packets, piece, n, block, error);
}

const MotusExecutorOps motus_executor_ops_cuda = {.backend = MOTUS_BACKEND_CUDA,
                                                  .any_thread = 1,
                                                  .depth = motus_cuda_coder_depth,
                                                  .find_devices = find_devices,
                                                  .best_coders = best_coders,
                                                  .coder_bytes = motus_cuda_coder_bytes,
                                                  .open_device = open_device,
                                                  .close_device = close_device,
                                                  .open_slots = open_slots,
                                                  .close_slots = close_slots,
                                                  .fill_slot = motus_frame_slot_fill,
                                                  .wait_filled = motus_frame_slot_wait,
                                                  .measure = measure,
                                                  .open = open_coder,
                                                  .close = close_coder,
                                                  .begin = begin,
                                                  .wait = wait_coded,
                                                  .undo = undo,
                                                  .finish = finish,
                                                  .store = store};
