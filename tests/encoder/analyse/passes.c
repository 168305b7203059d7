// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/analyse/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/bitstream/slice.h"
#include "encoder/mb/deblock.h"
#include "encoder/settings/preset.h"

static void must(int ok) {
    if (!ok) abort();
}

void passes_open(Passes *p, const MotusEncoderConfig *config) {
    *p = (Passes){.config = *config,
                  .mb_width = motus_mbs(config->width),
                  .mb_height = motus_mbs(config->height)};
    const size_t n = (size_t)p->mb_width * (size_t)p->mb_height;
    const int width = 16 * p->mb_width, height = 16 * p->mb_height;
    p->effort = motus_effort_of(config);
    p->sequence = (MotusSequenceSettings){.width = config->width,
                                          .height = config->height,
                                          .fps = config->fps,
                                          .colour = config->colour,
                                          .log2_max_frame_num = 16,
                                          .pic_init_qp = 26,
                                          .deblock = config->deblock};
    const MotusLevel *level = p->sequence.level =
        motus_level_choose(p->mb_width, p->mb_height, config->fps, p->effort.range);
    must(level != NULL);
    p->limits =
        (MotusInterLimits){.max_mvs = level->max_mvs_per_2mb ? level->max_mvs_per_2mb / 2 : 16,
                           .max_mv_y = level->max_mv_y * 4,
                           .unit = 4 >> config->subpel,
                           .steps = p->effort.steps};
    MotusMeConfig me = motus_me_config_default(width, height);
    me.range = p->effort.range, me.subpel = MOTUS_SUBPEL_FULL, me.modes = p->effort.partitions;
    me.threads = config->threads;
    must(!motus_me_cpu_open(&p->me, &me) && !motus_field_alloc(&p->field, width, height));
    must(!motus_picture_state_alloc(&p->pic, p->mb_width, p->mb_height, config->threads));
    must(!motus_ref_luma_alloc(&p->ref_luma, width, height));
    must(!motus_frame_alloc(&p->src, width, height) && !motus_frame_alloc(&p->rec, width, height) &&
         !motus_frame_alloc(&p->ref, width, height));
    p->rbsp_capacity = 416 * n + 512;
    must((p->centre = calloc(n, sizeof *p->centre)) &&
         (p->last_mv = calloc(n, sizeof *p->last_mv)) && (p->rbsp = malloc(p->rbsp_capacity)) &&
         (p->stream = malloc(motus_nal_bound(p->rbsp_capacity) + 1024)));
    for (int qp = 0; qp < 52; qp++) p->qp_table[qp] = motus_qp_at(qp);
}

void passes_close(Passes *p) {
    motus_me_cpu_close(&p->me);
    motus_field_free(&p->field);
    motus_picture_state_free(&p->pic);
    motus_ref_luma_free(&p->ref_luma);
    motus_frame_unref(&p->src);
    motus_frame_unref(&p->rec);
    motus_frame_unref(&p->ref);
    free(p->centre);
    free(p->last_mv);
    free(p->rbsp);
    free(p->stream);
}

static void code_p(Passes *p, const MotusCoding *coding) {
    const uint32_t lambda_q8 = p->qp_table[coding->qp].lambda_q8;
    const int reach_y = motus_clip(0, MOTUS_MAX_CENTRE,
                                   (p->sequence.level->max_mv_y - p->effort.range - 1) * 4 & ~3);
    const MotusRefLuma *luma = &p->ref_luma;
    motus_ref_luma_build(&p->ref_luma, &p->ref->plane[0], p->config.subpel != MOTUS_SUBPEL_FULL,
                         p->config.threads);
    motus_me_cpu_predict(p->me,
                         &(MotusCentresPicture){.cur = p->src->plane[0].data,
                                                .cur_stride = p->src->plane[0].stride,
                                                .ref = luma,
                                                .previous = p->has_last_mv ? p->last_mv : NULL,
                                                .lambda_q8 = lambda_q8,
                                                .reach = p->effort.reach,
                                                .limit_x = MOTUS_MAX_CENTRE,
                                                .limit_y = reach_y,
                                                .centre = p->centre});
    const MotusMeHints hints = {
        .centre = p->centre, .predictor = p->centre, .lambda_q8 = lambda_q8};
    motus_me_cpu_search(p->me, &p->src->plane[0], luma, &hints, p->field);
    MotusPCoding coded = {.ref = {.width = luma->width,
                                  .height = luma->height,
                                  .luma = luma->plane[0],
                                  .chroma = {p->ref->plane[1].data, p->ref->plane[2].data},
                                  .luma_stride = luma->stride,
                                  .chroma_stride = p->ref->plane[1].stride},
                          .ref_luma = luma,
                          .field = p->field,
                          .centre = p->centre,
                          .subpel = p->config.subpel,
                          .limits = p->limits};
    memcpy(coded.ref.tap, luma->tap, sizeof coded.ref.tap);
    motus_passes()->code_p(&p->pic, coding, &coded);
}

static void put_headers(Passes *p) {
    MotusBits bits;
    motus_bits_init(&bits, p->rbsp, p->rbsp_capacity);
    motus_write_sps(&bits, &p->sequence);
    p->size += motus_nal_write(p->stream + p->size, 3, MOTUS_NAL_SPS, p->rbsp, bits.size);
    motus_bits_init(&bits, p->rbsp, p->rbsp_capacity);
    motus_write_pps(&bits, &p->sequence);
    p->size += motus_nal_write(p->stream + p->size, 3, MOTUS_NAL_PPS, p->rbsp, bits.size);
}

static void put_slice(Passes *p, int idr, int qp) {
    const MotusSliceSettings slice = {.idr = idr,
                                      .idr_pic_id = p->idrs & 0xFFFF,
                                      .p_slice = !idr,
                                      .frame_num = (uint32_t)(idr ? 0 : p->since_idr),
                                      .qp = qp,
                                      .deblock = p->config.deblock};
    MotusBits bits;
    motus_bits_init(&bits, p->rbsp, p->rbsp_capacity);
    motus_write_slice_header(&bits, &p->sequence, &slice);
    motus_write_slice_data(&bits, &p->pic.mbs, 0, p->pic.mbs.mb_height, !idr, qp, &p->stats);
    must(!bits.overflow);
    p->size += motus_nal_write(p->stream + p->size, 2, idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE,
                               p->rbsp, bits.size);
}

void passes_code(Passes *p, const MotusFrame *frame, int idr, int qp, const int8_t *offset) {
    const MotusCoding coding = {p->qp_table, qp, p->effort};
    must(!motus_frame_copy_padded(p->src, frame));
    p->pic.mbs.src = p->src;
    p->pic.rec = p->rec;
    p->pic.qp_offset = offset;
    if (idr)
        motus_passes()->code_i(&p->pic, &coding);
    else
        code_p(p, &coding);
    motus_finalize_mbs(&p->pic.mbs, qp);
    p->stats = (MotusPictureStats){0};
    p->size = 0;
    if (idr) put_headers(p);
    put_slice(p, idr, qp);
    if (p->config.deblock) motus_deblock_picture(p->rec, &p->pic.mbs);
    for (int c = 0; c < 3; c++)
        p->stats.ssd[c] = motus_plane_ssd(&p->src->plane[c], &p->rec->plane[c],
                                          p->src->plane[c].width, p->src->plane[c].height);
    for (int i = 0; i < p->pic.mbs.n_mb; i++)
        p->last_mv[i] = motus_mb_is_intra(&p->pic.mbs.mb[i]) ? p->field->mv[MOTUS_BLOCK_16x16][i]
                                                             : p->pic.mbs.mb[i].mv[0];
    p->has_last_mv = !idr;
    p->since_idr = idr ? 1 : p->since_idr + 1;
    p->idrs += idr;
    MotusFrame *swap = p->ref;
    p->ref = p->rec;
    p->rec = swap;
}
