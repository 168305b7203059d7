// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/slice.h"

#include <string.h>

#include "encoder/cavlc.h"
#include "encoder/syntax_core.h"

void motus_settle_skips(MotusWork *work) {
    for (int i = 0; i < work->n_mb; i++) {
        MotusMb *mb = &work->mb[i];
        if (mb->type > MOTUS_MB_P_16x16 || mb->cbp) continue;
        MotusNeighbours neighbours = motus_neighbours(work->mb, work->mb_width, i % work->mb_width, i / work->mb_width);
        mb->type = motus_mv_equal(mb->mv[0], motus_mb_skip_mv(&neighbours)) ? MOTUS_MB_P_SKIP : MOTUS_MB_P_16x16;
    }
}

// The samples of an I_PCM MB, which the reconstruction carries unchanged from the source (deblocking may only have changed `rec`).
static void pcm_samples(const MotusWork *work, int x, int y, uint8_t pcm[384]) {
    MotusMbSource src = motus_mb_source(work->src, x, y);
    for (int row = 0; row < 16; row++) memcpy(pcm + 16 * row, src.plane[0] + row * src.stride[0], 16);
    for (int c = 0; c < 2; c++)
        for (int row = 0; row < 8; row++) memcpy(pcm + 256 + 64 * c + 8 * row, src.plane[c + 1] + row * src.stride[c + 1], 8);
}

static void write_mb(MotusBits *bits, const MotusWork *work, int i, int p_slice, MotusMbBits *count) {
    const MotusMb *mb = &work->mb[i];
    int x = i % work->mb_width, y = i / work->mb_width;
    MotusNeighbours neighbours = motus_neighbours(work->mb, work->mb_width, x, y);
    MotusMv mvd[16];
    uint8_t pcm[384];
    motus_mb_mvd(mb, &neighbours, mvd);
    if (mb->type == MOTUS_MB_I_PCM) pcm_samples(work, x, y, pcm);
    motus_cavlc_mb(bits, mb, &work->coef[i], &neighbours, mvd, mb->type == MOTUS_MB_I_PCM ? pcm : NULL, p_slice, 0, count);
}

void motus_write_slice_data(MotusBits *bits, const MotusWork *work, int p_slice, MotusPictureStats *stats) {
    MotusMbBits count = {0};
    size_t run_bits = 0;
    uint32_t skip_run = 0;
    for (int i = 0; i < work->n_mb; i++) {
        const MotusMb *mb = &work->mb[i];
        stats->mb[mb->type]++;
        if (mb->type == MOTUS_MB_P_8x8)
            for (int q = 0; q < 4; q++) stats->sub[mb->sub_type[q]]++;
        if (mb->type == MOTUS_MB_P_SKIP) {
            skip_run++;
            continue;
        }
        if (p_slice) {
            size_t before = motus_bits_count(bits);
            motus_bits_ue(bits, skip_run);
            run_bits += motus_bits_count(bits) - before;
            skip_run = 0;
        }
        write_mb(bits, work, i, p_slice, &count);
    }
    if (skip_run) {
        size_t before = motus_bits_count(bits);
        motus_bits_ue(bits, skip_run);
        run_bits += motus_bits_count(bits) - before;
    }
    motus_bits_trailing(bits);
    stats->bits_mode += count.mode + run_bits;
    stats->bits_mv += count.mv;
    stats->bits_luma += count.luma;
    stats->bits_chroma += count.chroma;
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
