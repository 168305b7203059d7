// The way of a picture on the CPU: search -> decisions -> entropy coding -> deblocking -> error.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cpu_coder.h"

#include <string.h>

#include "common/alloc.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "encoder/bitstream/slice.h"
#include "encoder/decide/decide.h"
#include "encoder/mb/deblock.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/picture/slice_cut.h"
#include "me/me_cpu.h"
#include "yuv/frame_pool.h"
#include "yuv/pad.h"

struct MotusCpuCoder {
    const MotusStream *stream;
    const MotusPasses *passes;
    MotusMeCpu *me;
    MotusField *field;
    MotusPictureState pic;
    int most;                  // threads
    MotusMv *centre, *last_mv; // per MB: search centres; the last P picture's vectors
    int has_last_mv;
    MotusRefLuma ref_luma;
    MotusFramePool pool;
    MotusFrame *rec, *ref; // whole MBs
    MotusStageClock clock; // of the picture
    uint8_t *rbsp, *nal;
    int n_slices;   // in nal
    int *cut_first; // n_mb, where slices have a largest size (MotusSliceCut)
    MotusCodedMv *mvs;
};

static MotusStatus open_search(MotusCpuCoder *l) {
    MotusMeConfig me = motus_me_config_default(l->pic.mbs.mb_width * 16, l->pic.mbs.mb_height * 16);
    me.range = l->stream->effort.range;
    me.subpel = MOTUS_SUBPEL_FULL; // what is worth refining is refined by the decisions
    me.modes = l->stream->effort.partitions;
    me.threads = l->most;
    MotusStatus status = motus_me_cpu_open(&l->me, &me);
    if (!status) l->most = l->me->threads;
    return status ? status : motus_field_alloc(&l->field, me.width, me.height);
}

static MotusStatus alloc_buffers(MotusCpuCoder *l) {
    const MotusStream *s = l->stream;
    size_t n = (size_t)s->mb_width * (size_t)s->mb_height;
    l->rbsp = motus_alloc(s->rbsp_capacity, 1);
    l->nal = motus_alloc(motus_nal_bound(s->rbsp_capacity), 1);
    l->mvs = motus_alloc(16 * n, sizeof *l->mvs);
    l->centre = motus_alloc(n, sizeof *l->centre);
    l->last_mv = motus_alloc(n, sizeof *l->last_mv);
    if (!l->rbsp || !l->nal || !l->mvs || !l->centre || !l->last_mv) return MOTUS_ERR_MEMORY;
    if (s->config.slice_max_size && !(l->cut_first = motus_alloc(n, sizeof *l->cut_first)))
        return MOTUS_ERR_MEMORY;
    MotusStatus status = motus_picture_state_alloc(&l->pic, s->mb_width, s->mb_height, 1);
    l->pic.mbs.slice_first = s->slices.first;
    l->pic.row_order = s->slices.row_order;
    if (!status) status = motus_ref_luma_alloc(&l->ref_luma, 16 * s->mb_width, 16 * s->mb_height);
    return status ? status : open_search(l);
}

// What alloc_buffers takes: all that grows with the picture.
size_t motus_cpu_coder_bytes(const MotusStream *s) {
    size_t n = (size_t)s->mb_width * (size_t)s->mb_height, samples = 256 * n;
    size_t per_mb = 16 * sizeof(MotusCodedMv) + 2 * sizeof(MotusMv) + 3 * sizeof(MotusMb) +
                    sizeof(MotusMbCoef) + sizeof(MotusCandidates) + 3 * sizeof(uint32_t) +
                    2 * sizeof(uint16_t) + 1 + MOTUS_BLOCKS * (sizeof(MotusMv) + 2 + 4) +
                    sizeof(int);
    return n * per_mb + s->rbsp_capacity + motus_nal_bound(s->rbsp_capacity) +
           7 * samples; // reference planes, two reconstructions
}

MotusStatus motus_cpu_coder_open(MotusCpuCoder **lane, const MotusStream *stream, int threads) {
    *lane = motus_alloc(1, sizeof **lane);
    if (!*lane) return MOTUS_ERR_MEMORY;
    (*lane)->stream = stream;
    (*lane)->most = threads;
    (*lane)->passes = motus_passes();
    (*lane)->pool =
        (MotusFramePool){.width = 16 * stream->mb_width, .height = 16 * stream->mb_height};
    MotusStatus status = alloc_buffers(*lane);
    if (status) motus_cpu_coder_close(lane);
    return status;
}

void motus_cpu_coder_close(MotusCpuCoder **lane) {
    if (!lane || !*lane) return;
    MotusCpuCoder *l = *lane;
    motus_me_cpu_close(&l->me);
    motus_field_free(&l->field);
    motus_picture_state_free(&l->pic);
    motus_ref_luma_free(&l->ref_luma);
    motus_frame_unref(&l->rec);
    motus_frame_unref(&l->ref);
    motus_frame_pool_close(&l->pool);
    motus_free(l->rbsp);
    motus_free(l->nal);
    motus_free(l->cut_first);
    motus_free(l->mvs);
    motus_free(l->centre);
    motus_free(l->last_mv);
    motus_free(l);
    *lane = NULL;
}

static MotusReference reference(const MotusCpuCoder *l) {
    const MotusRefLuma *luma = &l->ref_luma;
    MotusReference ref = {.width = luma->width,
                          .height = luma->height,
                          .luma = luma->plane[0],
                          .chroma = {l->ref->plane[1].data, l->ref->plane[2].data},
                          .luma_stride = luma->stride,
                          .chroma_stride = l->ref->plane[1].stride};
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

// Fills the field; vectors that were given are only measured.
static void search(MotusCpuCoder *l, const MotusPlane *luma, uint32_t lambda_q8,
                   const MotusExternalMvs *given, uint32_t modes) {
    const MotusStream *s = l->stream;
    motus_ref_luma_build(&l->ref_luma, &l->ref->plane[0], s->config.subpel != MOTUS_SUBPEL_FULL,
                         l->pic.mbs.threads);
    motus_me_cpu_predict(l->me,
                         &(MotusCentresPicture){.cur = luma->data,
                                                .cur_stride = luma->stride,
                                                .ref = &l->ref_luma,
                                                .previous = l->has_last_mv ? l->last_mv : NULL,
                                                .lambda_q8 = lambda_q8,
                                                .reach = s->effort.reach,
                                                .limit_x = MOTUS_MAX_CENTRE,
                                                .limit_y = s->centre_limit_y,
                                                .centre = l->centre});
    motus_stage_ended(l->pic.clock, MOTUS_STAGE_REFERENCE);
    if (given->mv) {
        motus_external_mvs_measure(given, modes, luma, &l->ref_luma, l->centre, lambda_q8,
                                   l->pic.mbs.threads, l->field);
        return;
    }
    MotusMeHints hints = {.centre = l->centre, .predictor = l->centre, .lambda_q8 = lambda_q8};
    motus_me_cpu_search(l->me, luma, &l->ref_luma, &hints, l->field);
}

static void code_p(MotusCpuCoder *l, const MotusCoding *coding, const MotusExternalMvs *given) {
    search(l, &l->pic.mbs.src->plane[0], coding->qp_table[coding->qp].lambda_q8, given,
           coding->effort.partitions);
    motus_stage_ended(l->pic.clock, MOTUS_STAGE_SEARCH);
    const MotusPCoding p = {.ref = reference(l),
                            .ref_luma = &l->ref_luma,
                            .field = l->field,
                            .centre = l->centre,
                            .subpel = given->final ? MOTUS_SUBPEL_FULL : l->stream->config.subpel,
                            .limits = l->stream->limits};
    (l->cut_first ? l->passes->decide_p : l->passes->code_p)(&l->pic, coding, &p);
}

// Appends the NAL unit of the slice that is MB rows [from, to) to the *size bytes in l->nal.
static MotusStatus write_slice(MotusCpuCoder *l, const MotusPictureParams *place, int from, int to,
                               size_t *size, MotusPictureStats *stats) {
    const MotusSliceSettings slice =
        motus_slice_settings(l->stream, place, from * l->pic.mbs.mb_width);
    MotusBits bits;
    motus_bits_init(&bits, l->rbsp, l->stream->rbsp_capacity);
    motus_write_slice_header(&bits, &l->stream->sequence, &slice);
    motus_write_slice_data(&bits, &l->pic.mbs, from, to, slice.p_slice, place->qp, stats);
    if (bits.overflow) return MOTUS_ERR_INTERNAL;
    *size += motus_nal_write(l->nal + *size, 2, place->idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE,
                             l->rbsp, bits.size);
    return MOTUS_OK;
}

static MotusStatus write_slices(MotusCpuCoder *l, const MotusPictureParams *place, size_t *size,
                                MotusPictureStats *stats) {
    const MotusSlices *s = &l->stream->slices;
    MotusStatus status = MOTUS_OK;
    *size = 0;
    if (!s->begin) return write_slice(l, place, 0, l->pic.mbs.mb_height, size, stats);
    for (int k = 0; k < s->n && !status; k++)
        status = write_slice(l, place, s->begin[k], s->begin[k + 1], size, stats);
    return status;
}

static uint64_t rows_ssd(const MotusPlane *a, const MotusPlane *b, int first, int n) {
    const MotusPlane rows = motus_plane_rows(a, first, n), others = motus_plane_rows(b, first, n);
    return motus_plane_ssd(&rows, &others, rows.width, rows.height);
}

// Squared errors of the three planes, by rows of MBs.
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

// Of each MB, for the centres of the next picture.
static void keep_vectors(MotusCpuCoder *l) {
#pragma omp parallel for num_threads(l->pic.mbs.threads) schedule(static)
    for (int i = 0; i < l->pic.mbs.n_mb; i++)
        l->last_mv[i] = motus_mb_is_intra(&l->pic.mbs.mb[i]) ? l->field->mv[MOTUS_BLOCK_16x16][i]
                                                             : l->pic.mbs.mb[i].mv[0];
}

// The packet of the picture in l->nal.
static MotusStatus finish(MotusCpuCoder *l, const MotusPictureParams *place,
                          const MotusPicturePlan *planned, const MotusFrame *source, size_t size,
                          MotusPictureStats stats, MotusPacket **packet) {
    const MotusStream *s = l->stream;
    MotusFrame *visible = NULL;
    if (s->config.deblock)
        motus_deblock_picture(l->rec, l->pic.mbs.mb, s->mb_width, s->mb_height, l->pic.mbs.threads);
    MotusStatus status = motus_frame_crop(&visible, l->rec, s->config.width, s->config.height);
    if (status) return status;
    visible->number = place->number;
    sum_ssd(source, visible, l->pic.mbs.threads, stats.ssd);
    motus_stage_ended(l->pic.clock, MOTUS_STAGE_DEBLOCK);
    status =
        motus_packet_make(packet, s, place, l->nal, size, (size_t)planned->filler_bytes, &stats);
    if (!status && l->pic.clock) memcpy((*packet)->stage_us, l->clock.us, sizeof l->clock.us);
    if (!status) (*packet)->slices = l->n_slices;
    if (!status && !s->config.stream_only)
        status =
            motus_packet_add(*packet, visible, source, l->mvs, motus_list_mvs(&l->pic.mbs, l->mvs));
    motus_frame_unref(&visible);
    if (!status && s->config.export_field && !place->idr)
        status = motus_packet_add_field(*packet, s, l->field,
                                        motus_external_mvs_effort(s, &place->given).partitions);
    if (status) motus_packet_unref(packet);
    return status;
}

// OpenMP keeps as many threads as the last region had; more are made before it is asked for them.
static void use_threads(MotusCpuCoder *l, int threads) {
    l->pic.mbs.threads = l->me->threads = motus_threads_ready(motus_min(threads, l->most));
}

// Decides, and writes the slices: all that another QP would change.
static MotusStatus code_once(MotusCpuCoder *l, const MotusPictureParams *place, size_t *size,
                             MotusPictureStats *stats) {
    const MotusCoding coding = {l->stream->qp_table, place->qp,
                                motus_external_mvs_effort(l->stream, &place->given)};
    MotusStatus status = MOTUS_OK;
    l->pic.qp_offset = place->qp_offset;
    l->n_slices = l->stream->slices.n;
    *stats = (MotusPictureStats){0};
    if (!place->idr)
        code_p(l, &coding, &place->given);
    else if (!l->cut_first)
        l->passes->code_i(&l->pic, &coding);
    motus_stage_ended(l->pic.clock, MOTUS_STAGE_INTRA);
    if (l->cut_first) {
        const MotusSliceCut cut = {l->stream,    place,   l->passes, &coding,
                                   l->cut_first, l->rbsp, l->nal};
        status = motus_slice_cut_picture(&cut, &l->pic, size, &l->n_slices, stats);
    } else {
        motus_finalize_mbs(&l->pic.mbs, place->qp);
        status = write_slices(l, place, size, stats);
    }
    motus_stage_ended(l->pic.clock, MOTUS_STAGE_ENTROPY);
    return status;
}

MotusStatus motus_cpu_coder_code(MotusCpuCoder *l, MotusPictureParams *place,
                                 MotusPicturePlan *planned, MotusRate *rate,
                                 const MotusFrame *whole, const MotusFrame *source, int threads,
                                 MotusPacket **packet) {
    const MotusStream *s = l->stream;
    MotusPictureStats stats;
    size_t size = 0;
    *packet = NULL;
    MotusStatus status = motus_frame_pool_take(&l->pool, &l->rec);
    if (status) return status;
    l->pic.mbs.src = whole;
    l->pic.rec = l->rec;
    use_threads(l, threads);
    l->pic.clock = s->config.time_stages ? &l->clock : NULL;
    motus_stages_begin(l->pic.clock);
    motus_picture_plan_begin(planned, rate, s, place);
    do status = code_once(l, place, &size, &stats);
    while (!status &&
           motus_picture_plan_coded(planned, rate, s, place, motus_packet_bytes(s, place, size)));
    if (!status) status = finish(l, place, planned, source, size, stats, packet);
    if (status) {
        motus_frame_unref(&l->rec);
        return status;
    }
    l->has_last_mv = !place->idr;
    if (!place->idr) keep_vectors(l);
    motus_frame_unref(&l->ref); // what was made is the next picture's reference
    l->ref = l->rec;
    l->rec = NULL;
    return MOTUS_OK;
}
