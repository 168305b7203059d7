// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/extraction.h"

#include "common/alloc.h"
#include "tools/compare/judge.h"

// The exported vector by the 8x8 block it begins at.
static MotusStatus index_exported(const MotusReadPicture *read, const MotusDecoded *decoded,
                                  const MotusExportedMv ***at) {
    const int columns = 2 * read->mb_width, rows = 2 * read->mb_height;
    *at = motus_alloc((size_t)columns * (size_t)rows, sizeof **at);
    if (!*at) return MOTUS_ERR_MEMORY;
    for (size_t i = 0; i < decoded->n_mv; i++) {
        const MotusExportedMv *v = decoded->mv + i;
        if (v->x < 0 || v->y < 0 || v->x >= 8 * columns || v->y >= 8 * rows) continue;
        (*at)[v->y / 8 * columns + v->x / 8] = v;
    }
    return MOTUS_OK;
}

MotusStatus motus_extraction_add(MotusExtraction *e, const MotusReadPicture *read,
                                 const MotusDecoded *decoded) {
    const MotusExportedMv **at = NULL;
    MotusStatus status = index_exported(read, decoded, &at);
    uint64_t expected = 0;
    for (int n = 0; !status && n < read->mb_width * read->mb_height; n++) {
        MotusPartition parts[16];
        const MotusReadMb *mb = read->mb + n;
        const int n_parts = motus_read_parts(mb, parts), x = n % read->mb_width * 16,
                  y = n / read->mb_width * 16;
        unsigned divided =
            0; // quarters with blocks below 8x8: the decoder exports one vector for each
        for (int i = 0; i < n_parts; i++) {
            const MotusPartition *p = parts + i;
            if (p->mode > MOTUS_MODE_8x8) {
                e->only_here++;
                divided |= 1u << (p->y / 2 * 2 + p->x / 2);
                continue;
            }
            const MotusExportedMv *v =
                at[(y / 8 + p->y / 2) * 2 * read->mb_width + x / 8 + p->x / 2];
            const MotusMv mv = mb->mv[4 * p->y + p->x];
            e->compared++;
            expected++;
            e->equal += v && v->x == x + 4 * p->x && v->y == y + 4 * p->y &&
                        v->width == 4 * p->width && v->height == 4 * p->height && v->mv.x == mv.x &&
                        v->mv.y == mv.y;
        }
        for (; divided; divided &= divided - 1) expected++;
    }
    if (!status && decoded->n_mv > expected) e->unknown += decoded->n_mv - expected;
    motus_free(at);
    return status;
}
