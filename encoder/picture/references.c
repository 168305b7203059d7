// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/references.h"

#include <string.h>

#include "common/alloc.h"
#include "encoder/mb/direct_core.h"

MotusStatus motus_references_alloc(MotusReferences *refs, const MotusStream *stream) {
    const int with_b = stream->config.bframes > 0,
              with_col = with_b && stream->config.direct == MOTUS_DIRECT_TEMPORAL;
    const size_t n_mb = (size_t)stream->mb_width * (size_t)stream->mb_height;
    *refs = (MotusReferences){.n = stream->sequence.max_refs};
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < refs->n && !status; i++) {
        MotusReferencePicture *p = &refs->picture[i];
        status = motus_ref_luma_alloc(&p->luma, 16 * stream->mb_width, 16 * stream->mb_height);
        if (!status && with_b && !(p->col_zero = motus_alloc(n_mb, 1))) status = MOTUS_ERR_MEMORY;
        if (!status && with_col && !(p->col = motus_alloc(n_mb, sizeof *p->col)))
            status = MOTUS_ERR_MEMORY;
    }
    return status;
}

void motus_references_free(MotusReferences *refs) {
    for (int i = 0; i < refs->n; i++) {
        motus_frame_unref(&refs->picture[i].frame);
        motus_ref_luma_free(&refs->picture[i].luma);
        motus_free(refs->picture[i].col_zero);
        motus_free(refs->picture[i].col);
    }
    *refs = (MotusReferences){0};
}

MotusReferencePicture *motus_references_find(MotusReferences *refs, int32_t shown) {
    for (int i = 0; i < refs->n; i++)
        if (refs->picture[i].frame && refs->picture[i].shown == shown) return &refs->picture[i];
    return NULL;
}

void motus_reference_prepare(MotusReferencePicture *p, int with_half, int threads) {
    if (p->is_prepared) return;
    motus_ref_luma_build(&p->luma, &p->frame->plane[0], with_half, threads);
    p->is_prepared = 1;
}

void motus_references_add(MotusReferences *refs, MotusFrame *frame,
                          const MotusPictureParams *params, const MotusCodedMbs *mbs) {
    for (int i = 0; i < refs->n && params->idr; i++) motus_frame_unref(&refs->picture[i].frame);
    MotusReferencePicture *p = &refs->picture[params->slot];
    motus_frame_unref(&p->frame);
    p->frame = frame;
    p->shown = params->shown;
    p->is_prepared = 0;
    p->n_listed = motus_references_listed(params);
    memcpy(p->listed, params->ref_shown, sizeof p->listed);
    if (!p->col_zero) return;
#pragma omp parallel for num_threads(mbs->threads) schedule(static)
    for (int i = 0; i < mbs->n_mb; i++) {
        p->col_zero[i] = (uint8_t)motus_col_zero(&mbs->mb[i]);
        if (p->col) p->col[i] = motus_col_mb(&mbs->mb[i], params->refs);
    }
}
