// The CPU executor: search -> decisions -> entropy coding -> deblocking -> squared errors.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "encoder/decide/decide.h"
#include "encoder/mb/deblock.h"
#include "encoder/picture/executor.h"
#include "encoder/picture/inter_search.h"
#include "encoder/picture/slice_cut.h"
#include "encoder/settings/picture_effort.h"
#include "encoder/slice/slice.h"
#include "yuv/frame_pool.h"
#include "yuv/pad.h"

#define GOPS_BYTES ((size_t)256 << 20) // of pending frames, if the number of coders is chosen here

typedef struct Coder {
    const MotusStream *stream;
    const MotusPasses *passes;
    MotusInterSearch search;
    MotusPictureState pic;
    int max_threads;
    MotusFramePool pool;
    MotusFrame *rec; // whole MBs
    uint8_t *rbsp, *nal;
    int *cut_first;          // n_mb, with config.slice_max_size (MotusSliceCut)
    MotusMbContext *context; // n_mb, with CABAC
    MotusCodedMv *mvs;
    // Costs of CABAC's bins for decisions, and those that were learnt in the GOP.
    MotusCabacCosts costs, learnt_costs[MOTUS_COST_KINDS][MOTUS_COST_TABLES];
    MotusLearntCosts learnt;
    MotusBinCounts bins;
    // The picture between begin() and finish().
    MotusPictureInput input;
    MotusStageClock clock;
    MotusPictureStats stats;
    size_t size; // bytes in nal
    int n_slices;
} Coder;

// ---- Opening ------------------------------------------------------------------------------------

static MotusStatus alloc_buffers(Coder *c) {
    const MotusStream *s = c->stream;
    size_t n = (size_t)s->mb_width * (size_t)s->mb_height;
    c->rbsp = motus_alloc(s->rbsp_capacity, 1);
    c->nal = motus_alloc(motus_nal_bound(s->rbsp_capacity), 1);
    c->mvs = motus_alloc(16 * n, sizeof *c->mvs);
    if (!c->rbsp || !c->nal || !c->mvs) return MOTUS_ERR_MEMORY;
    if (s->config.slice_max_size && !(c->cut_first = motus_alloc(n, sizeof *c->cut_first)))
        return MOTUS_ERR_MEMORY;
    MotusStatus status = motus_picture_state_alloc(&c->pic, s->mb_width, s->mb_height, 1);
    if (!status && s->sequence.cabac && !(c->context = motus_alloc(n, sizeof *c->context)))
        status = MOTUS_ERR_MEMORY;
    c->pic.mbs.context = c->context;
    c->pic.mbs.bins = c->context ? &c->bins : NULL;
    if (!status) status = motus_inter_search_open(&c->search, s, c->max_threads);
    if (!status) c->max_threads = c->search.me->threads;
    return status;
}

// Counts what alloc_buffers() allocates, and the reconstructions.
static size_t coder_bytes(const MotusStream *s, int slots, int coders) {
    (void)slots, (void)coders;
    size_t n = (size_t)s->mb_width * (size_t)s->mb_height, samples = 256 * n;
    size_t per_mb = 16 * sizeof(MotusCodedMv) + 3 * sizeof(MotusMb) + sizeof(MotusMbCoef) +
                    3 * sizeof(uint32_t) + 2 * sizeof(uint16_t) + 1 + sizeof(MotusMbCandidates) +
                    sizeof(int) + (s->sequence.cabac ? sizeof(MotusMbContext) : 0);
    return n * per_mb + s->rbsp_capacity + motus_nal_bound(s->rbsp_capacity) + 3 * samples / 2 +
           motus_inter_search_bytes(s);
}

static void close_coder(void **coder) {
    Coder *c = *coder;
    if (!c) return;
    motus_inter_search_close(&c->search);
    motus_picture_state_free(&c->pic);
    motus_frame_unref(&c->rec);
    motus_frame_pool_close(&c->pool);
    motus_free(c->rbsp);
    motus_free(c->nal);
    motus_free(c->cut_first);
    motus_free(c->context);
    motus_free(c->mvs);
    motus_free(c);
    *coder = NULL;
}

// OpenMP's threads belong to the thread that calls begin(): it has to open the coder, too.
static MotusStatus open_coder(void **coder, const MotusStream *stream, void *shared, int index,
                              int coders, int threads, MotusError *error) {
    (void)shared, (void)index, (void)coders;
    Coder *c = *coder = motus_alloc(1, sizeof *c);
    MotusStatus status = MOTUS_ERR_MEMORY;
    if (c) {
        c->stream = stream;
        c->max_threads = threads;
        c->passes = motus_passes();
        c->pool =
            (MotusFramePool){.width = 16 * stream->mb_width, .height = 16 * stream->mb_height};
        status = alloc_buffers(c);
    }
    if (!status) return MOTUS_OK;
    close_coder(coder);
    return motus_fail(error, status, "%s", motus_status_text(status));
}

// ---- A picture ----------------------------------------------------------------------------------

static void code_inter(Coder *c, const MotusCoding *coding) {
    MotusInterCoding inter;
    motus_inter_search(&c->search, c->input.params, &c->pic, coding, &inter);
    c->pic.mbs.direct = inter.direct;
    c->pic.mbs.refs = inter.refs;
    c->pic.mbs.copies = c->input.params->copies;
    (c->cut_first ? c->passes->decide_inter : c->passes->code_inter)(&c->pic, coding, &inter);
}

// ---- Slices -------------------------------------------------------------------------------------

// Appends the NAL unit of the slice that is MB rows [from, to).
static MotusStatus write_slice(Coder *c, int from, int to) {
    const MotusPictureParams *params = c->input.params;
    const MotusSliceSettings slice =
        motus_slice_settings(c->stream, params, from * c->pic.mbs.mb_width);
    MotusBits bits;
    motus_bits_init(&bits, c->rbsp, c->stream->rbsp_capacity);
    motus_write_slice_header(&bits, &c->stream->sequence, &slice);
    motus_write_slice_data(&bits, &c->pic.mbs, from, to, &slice, &c->stats);
    if (bits.overflow) return MOTUS_ERR_INTERNAL;
    c->size += motus_nal_write(c->nal + c->size, motus_nal_ref_idc(params),
                               params->idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE, c->rbsp, bits.size);
    return MOTUS_OK;
}

static MotusStatus write_slices(Coder *c) {
    const MotusSlices *s = motus_picture_slices(c->stream, c->input.params);
    MotusStatus status = MOTUS_OK;
    if (!s->begin) return write_slice(c, 0, c->pic.mbs.mb_height);
    for (int k = 0; k < s->n && !status; k++) status = write_slice(c, s->begin[k], s->begin[k + 1]);
    return status;
}

// Appends cabac_zero_words, each with its emulation prevention byte, to the last slice.
static void write_zero_words(Coder *c) {
    static const uint8_t zero_word[3] = {0, 0, 3};
    const size_t bytes = c->size - 4 * (size_t)c->n_slices; // without start codes
    uint64_t bins = c->bins.others;
    for (int i = 0; i < 2 * MOTUS_SYMBOL_BIN; i++) bins += c->bins.bin[i];
    for (size_t n = motus_cabac_zero_words(bins, bytes, c->pic.mbs.n_mb); n; n--) {
        memcpy(c->nal + c->size, zero_word, sizeof zero_word);
        c->size += sizeof zero_word;
    }
}

// Decides the picture and writes its slices: all that depends on QP.
static MotusStatus code(Coder *c) {
    const MotusPictureParams *params = c->input.params;
    const MotusSequenceSettings *sequence = &c->stream->sequence;
    const MotusSlices *slices = motus_picture_slices(c->stream, params);
    const int lambda = motus_picture_lambda(c->stream, params);
    const MotusCoding coding = {.qp_table = c->stream->qp_table[lambda],
                                .qp = params->qp,
                                .effort = motus_picture_effort(c->stream, params),
                                .quant8 = sequence->transform_8x8 ? c->stream->quant8_table[lambda]
                                                                  : NULL,
                                .costs = sequence->cabac ? &c->costs : NULL};
    const int kind = motus_cost_kind((int)params->type, params->is_reference);
    motus_learnt_costs_begin(&c->learnt, (int)params->type, params->idr);
    if (c->learnt.has_table[kind])
        c->costs = c->learnt_costs[kind][c->learnt.table[kind]];
    else
        motus_cabac_costs_set(&c->costs, !params->idr, params->qp);
    c->bins = (MotusBinCounts){.others = 0};
    MotusStatus status = MOTUS_OK;
    c->pic.qp_offset = params->qp_offset;
    c->pic.refresh = params->refresh;
    c->pic.mbs.slice_first = slices->first;
    c->pic.mbs.apart_row = motus_refresh_apart(&params->refresh);
    c->pic.row_order = slices->row_order;
    c->n_slices = slices->n;
    c->stats = (MotusPictureStats){0};
    c->size = 0;
    if (!params->idr)
        code_inter(c, &coding);
    else
        (c->cut_first ? c->passes->choose_types : c->passes->code_i)(&c->pic, &coding);
    motus_stage_ended(c->pic.clock, MOTUS_STAGE_INTRA);
    if (c->cut_first) {
        const MotusSliceCut cut = {c->stream,    params,  c->passes, &coding,
                                   c->cut_first, c->rbsp, c->nal};
        status = motus_slice_cut_picture(&cut, &c->pic, &c->size, &c->n_slices, &c->stats);
    } else {
        motus_finalize_mbs(&c->pic.mbs, params->qp);
        status = write_slices(c);
        if (!status && sequence->cabac) write_zero_words(c);
    }
    motus_stage_ended(c->pic.clock, MOTUS_STAGE_ENTROPY);
    return status;
}

static MotusStatus begin(void *coder, const MotusPictureInput *input, MotusError *error) {
    Coder *c = coder;
    MotusStatus status = c->rec ? MOTUS_OK : motus_frame_pool_take(&c->pool, &c->rec);
    c->input = *input;
    c->pic.mbs.src = input->whole;
    c->pic.mbs.slice_type = (int)input->params->type;
    c->pic.rec = c->rec;
    // OpenMP keeps as many threads as its last region had, and cannot report that one is missing.
    c->pic.mbs.threads = c->search.me->threads =
        motus_threads_ready(motus_min(input->threads, c->max_threads));
    c->pic.clock = c->stream->config.time_stages ? &c->clock : NULL;
    motus_stages_begin(c->pic.clock);
    if (!status) status = code(c);
    return status ? motus_fail(error, status, "%s", motus_status_text(status)) : MOTUS_OK;
}

static MotusStatus wait_coded(void *coder, size_t *size, MotusError *error) {
    (void)error;
    *size = ((Coder *)coder)->size;
    return MOTUS_OK;
}

static void undo(void *coder) { (void)coder; } // begin() starts over in the same frame

// ---- Completion ---------------------------------------------------------------------------------

static uint64_t rows_ssd(const MotusPlane *a, const MotusPlane *b, int first, int n) {
    const MotusPlane rows = motus_plane_rows(a, first, n), others = motus_plane_rows(b, first, n);
    return motus_plane_ssd(&rows, &others, rows.width, rows.height);
}

// Sums the squared errors of the three planes, by rows of MBs.
static void sum_ssd(const MotusFrame *a, const MotusFrame *b, int threads, uint64_t ssd[3]) {
    uint64_t y = 0, cb = 0, cr = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : y, cb, cr)
    for (int row = 0; row < motus_mbs(a->height); row++) {
        y += rows_ssd(&a->plane[0], &b->plane[0], 16 * row, 16);
        cb += rows_ssd(&a->plane[1], &b->plane[1], 8 * row, 8);
        cr += rows_ssd(&a->plane[2], &b->plane[2], 8 * row, 8);
    }
    ssd[0] = y, ssd[1] = cb, ssd[2] = cr;
}

// Keeps what later pictures of the GOP learn from this one.
static void learn(Coder *c) {
    const MotusPictureParams *params = c->input.params;
    const int kind = motus_cost_kind((int)params->type, params->is_reference);
    motus_inter_search_keep(&c->search, params, &c->pic.mbs);
    if (params->idr) return;
    if (c->stream->sequence.cabac && motus_costs_are_learnt(&c->learnt, kind, params->idr)) {
        MotusCabacCosts *next = &c->learnt_costs[kind][motus_next_cost_table(&c->learnt, kind)];
        *next = c->costs;
        motus_cabac_costs_learn(next, &c->bins);
        c->learnt.has_next[kind] = 1;
    }
}

static MotusStatus finish(void *coder, MotusCodedPicture *out, MotusError *error) {
    Coder *c = coder;
    const MotusStream *s = c->stream;
    const MotusPictureParams *params = c->input.params;
    MotusFrame *visible = NULL;
    if (motus_is_deblocked(s, params)) motus_deblock_picture(c->rec, &c->pic.mbs);
    MotusStatus status = motus_frame_crop(&visible, c->rec, s->config.width, s->config.height);
    if (status) return motus_fail(error, status, "%s", motus_status_text(status));
    if (!s->config.no_ssd) sum_ssd(c->input.visible, visible, c->pic.mbs.threads, c->stats.ssd);
    motus_stage_ended(c->pic.clock, MOTUS_STAGE_DEBLOCK);
    *out = (MotusCodedPicture){
        .nal = c->nal, .size = c->size, .slices = c->n_slices, .stats = c->stats};
    if (c->pic.clock) memcpy(out->stage_us, c->clock.us, sizeof out->stage_us);
    if (s->config.stream_only) {
        motus_frame_unref(&visible);
    } else {
        visible->number = params->number;
        out->recon = visible;
        out->mvs = c->mvs;
        const MotusRefDistances distances = motus_ref_distances(params);
        out->n_mvs = motus_list_mvs(&c->pic.mbs, &distances, c->mvs);
    }
    if (s->config.export_field && params->type == MOTUS_SLICE_P) out->field = c->search.field[0];
    learn(c);
    if (params->is_reference)
        motus_references_add(&c->search.refs, c->rec, params, &c->pic.mbs);
    else
        motus_frame_unref(&c->rec);
    c->rec = NULL;
    return MOTUS_OK;
}

// A picture's threads share all of it.
static int depth(const MotusStream *stream, int coders) {
    (void)stream, (void)coders;
    return 1;
}

// ---- What a CPU does not need -------------------------------------------------------------------

static MotusStatus find_devices(const MotusEncoderConfig *config, int device[MOTUS_MAX_GOP_CODERS],
                                int *n, MotusError *error) {
    (void)config, (void)error;
    device[0] = -1;
    *n = 1;
    return MOTUS_OK;
}

// Two threads share a picture well; each further coder costs the memory of its pending frames.
static int best_coders(const MotusStream *s, const int *device, int n_devices, int threads,
                       int slots) {
    (void)device, (void)n_devices;
    const size_t gop = (size_t)slots * 384 * (size_t)s->mb_width * (size_t)s->mb_height;
    return motus_min((int)(1 + GOPS_BYTES / gop), motus_max(1, threads / 2));
}

static MotusStatus open_device(void **shared, int device, MotusError *error) {
    (void)device, (void)error;
    *shared = NULL;
    return MOTUS_OK;
}

static void close_device(void **shared) { (void)shared; }

// The slots only count pending pictures, whose frames are in host memory.
static MotusStatus open_slots(void **slots, const MotusStream *stream, void *shared, int n,
                              MotusFrameSlot **first, MotusError *error) {
    (void)stream, (void)shared;
    MotusFrameSlot *slot = *slots = *first = motus_alloc((size_t)n, sizeof *slot);
    if (!slot) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    for (int i = 0; i + 1 < n; i++) slot[i].next = &slot[i + 1];
    return MOTUS_OK;
}

static void close_slots(void **slots) {
    motus_free(*slots);
    *slots = NULL;
}

static MotusStatus fill_slot(MotusFrameSlot *slot, const MotusFrameSource *source,
                             MotusError *error) {
    (void)slot, (void)source, (void)error;
    return MOTUS_OK;
}

static MotusStatus wait_filled(const MotusFrameSlot *slot, MotusError *error) {
    (void)slot, (void)error;
    return MOTUS_OK;
}

static MotusStatus measure(const MotusPictureInput *input, MotusSourceStats *stats,
                           MotusError *error) {
    (void)error;
    motus_source_stats_measure(stats, input->whole, motus_threads_ready(input->threads));
    return MOTUS_OK;
}

const MotusExecutorOps motus_executor_ops_cpu = {.backend = MOTUS_BACKEND_CPU,
                                                 .depth = depth,
                                                 .codes_from_host = 1,
                                                 .find_devices = find_devices,
                                                 .best_coders = best_coders,
                                                 .coder_bytes = coder_bytes,
                                                 .open_device = open_device,
                                                 .close_device = close_device,
                                                 .open_slots = open_slots,
                                                 .close_slots = close_slots,
                                                 .fill_slot = fill_slot,
                                                 .wait_filled = wait_filled,
                                                 .measure = measure,
                                                 .open = open_coder,
                                                 .close = close_coder,
                                                 .begin = begin,
                                                 .wait = wait_coded,
                                                 .undo = undo,
                                                 .finish = finish};
