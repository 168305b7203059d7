// The layout is that of x265 3.5 with analysis-load-reuse-level 10 and no file: for each CTU in
// raster order one entry per CU in z-order. At level 10 x265 keeps the CU sizes; with refine-inter
// 2 or 3 it evaluates its own modes for each CU and begins its search at the entry's MV.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis.h"

#include <limits.h>
#include <string.h>

// Values that x265.h does not define.
enum { MODE_INTER = 1, PART_2Nx2N = 0, DIR_L0 = 1 };

int analysis_open(Analysis *a, x265_param *param, int width, int height) {
    x265_picture picture;
    x265_picture_init(param, &picture); // computes the number of CTUs
    *a = (Analysis){.data = picture.analysisData,
                    .width = param->sourceWidth,
                    .height = param->sourceHeight,
                    .ctu = (int)param->maxCUSize};
    a->data.saveParam =
        (x265_analysis_validate){.maxNumReferences = param->maxNumReferences,
                                 .analysisReuseLevel = param->analysisLoadReuseLevel,
                                 .sourceWidth = width,
                                 .sourceHeight = height,
                                 .keyframeMax = param->keyframeMax,
                                 .keyframeMin = param->keyframeMin,
                                 .openGOP = param->bOpenGOP,
                                 .bframes = param->bframes,
                                 .bPyramid = param->bBPyramid,
                                 .maxCUSize = (int)param->maxCUSize,
                                 .minCUSize = (int)param->minCUSize,
                                 .intraRefresh = param->bIntraRefresh,
                                 .lookaheadDepth = param->lookaheadDepth,
                                 .chunkStart = param->chunkStart,
                                 .chunkEnd = param->chunkEnd,
                                 .cuTree = param->rc.cuTree,
                                 .ctuDistortionRefine = param->ctuDistortionRefine,
                                 .frameDuplication = param->bEnableFrameDuplication};
    x265_alloc_analysis_data(param, &a->data);
    return a->data.interData && a->data.intraData && a->data.wt ? 0 : -1;
}

void analysis_close(Analysis *a, x265_param *param) {
    if (a->data.interData) x265_free_analysis_data(param, &a->data);
}

void analysis_of_intra(Analysis *a) {
    a->data.sliceType = X265_TYPE_IDR;
    a->data.lookahead.keyframe = 1;
    a->data.depthBytes = a->data.numCUsInFrame; // one CU a CTU; ignored with refine-intra 4
    memset(a->data.intraData->depth, 0, a->data.depthBytes);
    memset(a->data.intraData->chromaModes, 0, a->data.depthBytes);
    memset(a->data.intraData->partSizes, 0, a->data.depthBytes);
}

static void put(Analysis *a, int depth, MotusMv mv) {
    x265_analysis_inter_data *to = a->data.interData;
    const uint32_t d = a->entries++;
    to->depth[d] = (uint8_t)depth;
    to->modes[d] = MODE_INTER;
    to->partSize[d] = PART_2Nx2N;
    to->mergeFlag[d] = 0;
    to->interDir[d] = DIR_L0;
    to->mvpIdx[0][d] = 0;
    to->refIdx[0][d] = 0;
    to->mv[0][d].x = a->still ? 0 : mv.x;
    to->mv[0][d].y = a->still ? 0 : mv.y;
    a->data.intraData->chromaModes[d] = 0;
}

// True if four CUs of 8x8 cost less than the macroblock; bits of syntax counted for them would lose
// more than they save. x265 evaluates rectangular partitions itself.
static int is_split(const MotusField *f, int mb) {
    uint32_t cost = 0;
    for (int i = 0; i < 4; i++) cost += f->cost[MOTUS_BLOCK_8x8 + i][mb];
    return cost < f->cost[MOTUS_BLOCK_16x16][mb];
}

// True if all macroblocks of a square have the same MV: they become one CU.
static int moves_as_one(const MotusField *f, int x, int y, int size) {
    const int corner = y / 16 * f->mb_width + x / 16;
    const MotusMv mv = f->mv[MOTUS_BLOCK_16x16][corner];
    for (int v = 0; v < size / 16; v++)
        for (int u = 0; u < size / 16; u++) {
            const int mb = corner + v * f->mb_width + u;
            const MotusMv other = f->mv[MOTUS_BLOCK_16x16][mb];
            if (other.x != mv.x || other.y != mv.y || is_split(f, mb)) return 0;
        }
    return 1;
}

static void put_cu(Analysis *a, const MotusField *f, int x, int y, int size, int depth);

static void put_quarters(Analysis *a, const MotusField *f, int x, int y, int size, int depth) {
    const MotusMv zero = {0, 0};
    for (int i = 0; i < 4; i++) {
        const int u = x + i % 2 * size / 2, v = y + i / 2 * size / 2,
                  outside = u >= a->width || v >= a->height;
        if (size > 16)
            put_cu(a, f, u, v, size / 2, depth);
        else
            put(a, depth,
                outside ? zero : f->mv[MOTUS_BLOCK_8x8 + i][y / 16 * f->mb_width + x / 16]);
    }
}

static void put_cu(Analysis *a, const MotusField *f, int x, int y, int size, int depth) {
    const MotusMv zero = {0, 0};
    const int mb = y / 16 * f->mb_width + x / 16;
    if (x >= a->width || y >= a->height) // outside: only counted
        put(a, depth, zero);
    else if (x + size > a->width || y + size > a->height || !moves_as_one(f, x, y, size))
        put_quarters(a, f, x, y, size, depth + 1);
    else
        put(a, depth, f->mv[MOTUS_BLOCK_16x16][mb]);
}

void analysis_of_field(Analysis *a, const MotusField *field) {
    const int columns = (a->width + a->ctu - 1) / a->ctu, rows = (a->height + a->ctu - 1) / a->ctu;
    a->data.sliceType = X265_TYPE_P;
    a->data.lookahead.keyframe = 0;
    a->entries = 0;
    for (int i = 0; i < columns * rows; i++)
        put_cu(a, field, i % columns * a->ctu, i / columns * a->ctu, a->ctu, 0);
    a->data.depthBytes = a->entries;
}
