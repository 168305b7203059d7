// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/parts.h"

#include "encoder/cavlc.h"
#include "encoder/cavlc_tables.h"

#define SKIP_RUN_BITS 1 // an MB's share of mb_skip_run: a skipped MB lengthens a run, a coded one ends it

static MotusPart make_part(int mode, int part, int x, int y) {
    static const uint8_t first[MOTUS_MODES] = {MOTUS_BLOCK_16x16, MOTUS_BLOCK_16x8, MOTUS_BLOCK_8x16, MOTUS_BLOCK_8x8,
                                               MOTUS_BLOCK_8x4,   MOTUS_BLOCK_4x8,  MOTUS_BLOCK_4x4};
    const MotusBlock *shape = &motus_blocks[first[mode]];
    int width = shape->width / 4, height = shape->height / 4;
    int block = first[mode] + y / height * (4 / width) + x / width;
    return (MotusPart){(uint8_t)x, (uint8_t)y, (uint8_t)width, (uint8_t)height, (uint8_t)mode, (uint8_t)part, (uint8_t)block};
}

int motus_quarter_parts(int sub_type, int q, MotusPart parts[4]) {
    int x = q % 2 * 2, y = q / 2 * 2;
    switch (sub_type) {
    case MOTUS_SUB_8x8:
        parts[0] = make_part(MOTUS_MODE_8x8, 0, x, y);
        return 1;
    case MOTUS_SUB_8x4:
        for (int i = 0; i < 2; i++) parts[i] = make_part(MOTUS_MODE_8x4, 0, x, y + i);
        return 2;
    case MOTUS_SUB_4x8:
        for (int i = 0; i < 2; i++) parts[i] = make_part(MOTUS_MODE_4x8, 0, x + i, y);
        return 2;
    default:
        for (int i = 0; i < 4; i++) parts[i] = make_part(MOTUS_MODE_4x4, 0, x + i % 2, y + i / 2);
        return 4;
    }
}

int motus_mb_parts(const MotusMb *mb, MotusPart parts[16]) {
    int n = 0;
    switch (mb->type) {
    case MOTUS_MB_P_SKIP:
    case MOTUS_MB_P_16x16:
        parts[n++] = make_part(MOTUS_MODE_16x16, 0, 0, 0);
        break;
    case MOTUS_MB_P_16x8:
        for (int i = 0; i < 2; i++) parts[n++] = make_part(MOTUS_MODE_16x8, i, 0, 2 * i);
        break;
    case MOTUS_MB_P_8x16:
        for (int i = 0; i < 2; i++) parts[n++] = make_part(MOTUS_MODE_8x16, i, 2 * i, 0);
        break;
    case MOTUS_MB_P_8x8:
        for (int q = 0; q < 4; q++) n += motus_quarter_parts(mb->sub_type[q], q, parts + n);
        break;
    default:
        break;
    }
    return n;
}

void motus_mb_set_mv(MotusMb *mb, const MotusPart *part, MotusMv mv) {
    for (int y = part->y; y < part->y + part->height; y++)
        for (int x = part->x; x < part->x + part->width; x++) mb->mv[4 * y + x] = mv;
}

int motus_mb_mvd(const MotusMb *mb, const MotusMbAround *around, MotusMv mvd[16]) {
    MotusPart parts[16];
    MotusMvGrid grid;
    int n = motus_mb_parts(mb, parts);
    motus_grid_load(&grid, around);
    for (int i = 0; i < n; i++) {
        const MotusPart *p = &parts[i];
        MotusMv mv = mb->mv[4 * p->y + p->x];
        MotusMv predictor = motus_mvp(&grid, p->mode, p->part, p->x, p->y, p->width);
        mvd[i] = (MotusMv){(int16_t)(mv.x - predictor.x), (int16_t)(mv.y - predictor.y)};
        motus_grid_set(&grid, p->x, p->y, p->width, p->height, MOTUS_CELL_INTER, mv);
    }
    return n;
}

MotusMv motus_mb_skip_mv(const MotusMbAround *around) {
    MotusMvGrid grid;
    motus_grid_load(&grid, around);
    return motus_mvp_skip(&grid);
}

static uint32_t cbp_bits(int cbp, int intra4x4) { return (uint32_t)motus_ue_bits((uint32_t)motus_cavlc_cbp_code(cbp, intra4x4)); }

static uint32_t intra_mode_bits(const MotusMb *mb, const MotusMbAround *around, int p_slice) {
    uint32_t bits = (uint32_t)motus_ue_bits(mb->intra_chroma_pred_mode), type = 0;
    if (mb->type == MOTUS_MB_I_4x4) {
        for (int blk = 0; blk < 16; blk++)
            bits += mb->intra4x4_pred_mode[blk] == motus_intra4x4_predicted_mode(mb, around, blk) ? 1 : 4;
        bits += cbp_bits(mb->cbp, 1) + (mb->cbp != 0);
    } else {
        type = 1u + mb->intra16x16_pred_mode + 4u * (mb->cbp >> 4) + (mb->cbp & 15 ? 12 : 0);
        bits += 1;
    }
    return bits + (uint32_t)motus_ue_bits(type + (p_slice ? 5 : 0));
}

uint32_t motus_mb_mode_bits(const MotusMb *mb, const MotusMbAround *around, int p_slice) {
    uint32_t bits = p_slice ? SKIP_RUN_BITS : 0;
    if (mb->type == MOTUS_MB_P_SKIP) return bits;
    if (motus_mb_is_intra(mb)) return bits + intra_mode_bits(mb, around, p_slice);
    MotusMv mvd[16];
    int n = motus_mb_mvd(mb, around, mvd);
    bits += (uint32_t)motus_ue_bits((uint32_t)(mb->type - MOTUS_MB_P_16x16));
    if (mb->type == MOTUS_MB_P_8x8)
        for (int q = 0; q < 4; q++) bits += (uint32_t)motus_ue_bits(mb->sub_type[q]);
    for (int i = 0; i < n; i++) bits += (uint32_t)(motus_se_bits(mvd[i].x) + motus_se_bits(mvd[i].y));
    return bits + cbp_bits(mb->cbp, 0) + (mb->cbp != 0);
}
