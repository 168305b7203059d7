// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/slice.h"

#include "encoder/slice_core.h"

void motus_settle_mbs(MotusWork *work, int slice_qp) {
    int qp = slice_qp;
    for (int i = 0; i < work->n_mb; i++) {
        MotusMb *mb = &work->mb[i];
        MotusNeighbours neighbours = motus_neighbours(work->mb, work->mb_width, i % work->mb_width, i / work->mb_width);
        motus_mb_settle_skip(mb, &neighbours);
        motus_mb_settle_qp(mb, qp);
        if (motus_mb_has_qp_delta(mb)) qp = mb->qp;
    }
}

static void count_kind(const MotusMb *mb, MotusPictureStats *stats) {
    stats->mb[mb->type]++;
    if (mb->type == MOTUS_MB_P_8x8)
        for (int q = 0; q < 4; q++) stats->sub[mb->sub_type[q]]++;
}

void motus_write_slice_data(MotusBits *bits, const MotusWork *work, int p_slice, int slice_qp, MotusPictureStats *stats) {
    uint64_t count[MOTUS_BIT_KINDS] = {0};
    uint32_t skip_run = 0;
    int qp = slice_qp;
    for (int i = 0; i < work->n_mb; i++) {
        const MotusMb *mb = &work->mb[i];
        count_kind(mb, stats);
        if (mb->type == MOTUS_MB_P_SKIP) {
            skip_run++;
            continue;
        }
        int x = i % work->mb_width, y = i / work->mb_width;
        const MotusMbSyntax syntax = {.mb = mb,
                                      .coef = &work->coef[i],
                                      .neighbours = motus_neighbours(work->mb, work->mb_width, x, y),
                                      .src = motus_mb_source(work->src, x, y),
                                      .p_slice = p_slice,
                                      .skip_run = skip_run,
                                      .qp_delta = motus_qp_delta(mb->qp, qp)};
        motus_put_mb(bits, &syntax, count);
        if (motus_mb_has_qp_delta(mb)) qp = mb->qp;
        skip_run = 0;
    }
    if (skip_run) {
        size_t before = motus_bits_count(bits);
        motus_bits_ue(bits, skip_run);
        count[MOTUS_BITS_MODE] += motus_bits_count(bits) - before;
    }
    motus_bits_trailing(bits);
    stats->bits_mode += count[MOTUS_BITS_MODE];
    stats->bits_mv += count[MOTUS_BITS_MV];
    stats->bits_luma += count[MOTUS_BITS_LUMA];
    stats->bits_chroma += count[MOTUS_BITS_CHROMA];
}

MotusSliceHead motus_slice_head(const MotusSequenceSettings *settings, const MotusSliceSettings *slice, int nal_ref_idc) {
    MotusSliceHead head = {.p_slice = slice->p_slice != 0, .qp = (uint8_t)slice->qp};
    MotusBits bits;
    motus_bits_init(&bits, head.header, sizeof head.header);
    motus_write_slice_header(&bits, settings, slice);
    head.header_bits = (uint32_t)motus_bits_count(&bits);
    motus_bits_align_zero(&bits);
    assert(!bits.overflow);
    head.nal_header = (uint8_t)(nal_ref_idc << 5 | (slice->idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE));
    return head;
}

size_t motus_list_mvs(const MotusWork *work, MotusCodedMv *mvs) {
    size_t total = 0;
    for (int i = 0; i < work->n_mb; i++) {
        const MotusMb *mb = &work->mb[i];
        MotusPart parts[16];
        int n = motus_mb_parts(mb, parts);
        for (int k = 0; k < n; k++) {
            const MotusPart *p = &parts[k];
            mvs[total++] = (MotusCodedMv){.x = (uint16_t)(i % work->mb_width * 16 + 4 * p->x),
                                          .y = (uint16_t)(i / work->mb_width * 16 + 4 * p->y),
                                          .width = (uint8_t)(4 * p->width),
                                          .height = (uint8_t)(4 * p->height),
                                          .skip = mb->type == MOTUS_MB_P_SKIP,
                                          .mv = mb->mv[4 * p->y + p->x]};
        }
    }
    return total;
}
