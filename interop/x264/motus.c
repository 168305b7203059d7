// Search by libmotus: see motus.h. Planes are those of x264 in whole macroblocks (MBs), so that
// both repeat the same edge samples. Search centres come from the vectors of x264's lookahead.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/common.h"

#include "analyse.h"
#include "motus.h"

#include <motus/motus.h>

#define WEIGHTED_MAX 3 // weighted copies of references in x264: those of h->mb.p_weight_buf

struct x264_motus_t {
    MotusMe *me;
    MotusMeReference *weighted[WEIGHTED_MAX]; // references of this picture after weighting
    int n_weighted;
    int n_mb;
    int failed; // the failure has been logged
    uint32_t modes;
    uint8_t *mb_modes;                // per MB: modes of the picture
    uint16_t *lambda;                 // per MB, times 256
    MotusMv *previous;                // per MB: the lookahead's MVs
    MotusMv *mv[2][X264_REF_MAX];     // [list][reference]: [MOTUS_BLOCKS][n_mb], allocated on use
    MotusMv *centre[2][X264_REF_MAX]; // per MB
    uint8_t searched[2][X264_REF_MAX];
    uint32_t picture_modes;
};

// ---- Opening and closing ------------------------------------------------------------------------

static uint32_t modes_of(unsigned inter, int b_picture) {
    uint32_t modes = 1u << MOTUS_MODE_16x16;
    if (inter & (b_picture ? X264_ANALYSE_BSUB16x16 : X264_ANALYSE_PSUB16x16))
        modes |= 1u << MOTUS_MODE_16x8 | 1u << MOTUS_MODE_8x16 | 1u << MOTUS_MODE_8x8;
    if (!b_picture && inter & X264_ANALYSE_PSUB8x8)
        modes |= 1u << MOTUS_MODE_8x4 | 1u << MOTUS_MODE_4x8 | 1u << MOTUS_MODE_4x4;
    return modes;
}

int x264_motus_open(x264_t *h) {
    static const MotusBackend backends[] = {MOTUS_BACKEND_AUTO, MOTUS_BACKEND_CPU,
                                            MOTUS_BACKEND_CUDA};
    x264_motus_t *s = calloc(1, sizeof *s);
    MotusError error = {0};
    if (!s) return -1;
    h->motus = s;
    s->n_mb = h->mb.i_mb_count;
    s->modes = modes_of(h->param.analyse.inter, 0) | modes_of(h->param.analyse.inter, 1);
    MotusMeConfig config = motus_me_config_default(16 * h->mb.i_mb_width, 16 * h->mb.i_mb_height);
    config.range = X264_MIN(h->param.analyse.i_me_range, MOTUS_MAX_RANGE);
    config.subpel = (MotusSubpel)h->param.motus.i_subpel;
    config.modes = s->modes;
    config.threads = h->param.b_sliced_threads ? h->param.i_threads : 1;
    config.backend = backends[h->param.motus.i_backend];
    config.error = &error;
    const MotusStatus status = motus_me_open(&s->me, &config);
    s->mb_modes = malloc((size_t)s->n_mb);
    s->lambda = malloc((size_t)s->n_mb * sizeof *s->lambda);
    s->previous = malloc((size_t)s->n_mb * sizeof *s->previous);
    if (status == MOTUS_OK && s->mb_modes && s->lambda && s->previous) {
        if (h == h->thread[0])
            x264_log(h, X264_LOG_INFO, "motus %s searches on %s\n", motus_version(),
                     motus_backend_name(motus_me_backend(s->me)));
        return 0;
    }
    x264_log(h, X264_LOG_ERROR, "motus: %s\n", error.text[0] ? error.text : "no memory");
    x264_motus_close(h);
    return -1;
}

void x264_motus_close(x264_t *h) {
    x264_motus_t *s = h->motus;
    h->motus = NULL;
    if (!s) return;
    for (int list = 0; list < 2; list++)
        for (int i = 0; i < X264_REF_MAX; i++) {
            free(s->mv[list][i]);
            free(s->centre[list][i]);
        }
    for (int i = 0; i < WEIGHTED_MAX; i++) motus_me_reference_unref(&s->weighted[i]);
    motus_me_close(&s->me);
    free(s->mb_modes);
    free(s->lambda);
    free(s->previous);
    free(s);
}

void x264_motus_frame_delete(x264_frame_t *frame) {
    MotusMeReference *reference = frame->motus;
    motus_me_reference_unref(&reference);
    frame->motus = NULL;
}

// ---- References ---------------------------------------------------------------------------------

static MotusPlane luma_of(const x264_t *h, uint8_t *samples, int stride) {
    return (MotusPlane){samples, stride, 16 * h->mb.i_mb_width, 16 * h->mb.i_mb_height};
}

static MotusStatus fill(x264_motus_t *s, MotusMeReference **reference, MotusPlane luma) {
    const MotusStatus status = *reference ? MOTUS_OK : motus_me_reference_alloc(reference, s->me);
    return status ? status
                  : motus_me_reference_fill(*reference, s->me, &luma, MOTUS_MEMORY_HOST, NULL);
}

// Fills the frame's reference once, whichever thread comes first.
static MotusStatus fill_frame(x264_t *h, x264_frame_t *frame, uint8_t *samples, int stride) {
    MotusStatus status = MOTUS_OK;
    x264_pthread_mutex_lock(&frame->mutex);
    if (!frame->b_motus_filled) {
        MotusMeReference *reference = frame->motus;
        status = fill(h->motus, &reference, luma_of(h, samples, stride));
        frame->motus = reference;
        frame->b_motus_filled = status == MOTUS_OK;
    }
    x264_pthread_mutex_unlock(&frame->mutex);
    return status;
}

static void failed(x264_t *h, MotusStatus status) {
    const MotusError *error = motus_me_error(h->motus->me);
    if (!h->motus->failed)
        x264_log(h, X264_LOG_WARNING, "motus: %s; using hex\n",
                 error->text[0] ? error->text : motus_status_text(status));
    h->motus->failed = 1;
}

void x264_motus_source(x264_t *h) {
    if (!h->motus || !h->param.motus.b_source || !h->fdec->b_kept_as_ref) return;
    x264_emms();
    const MotusStatus status = fill_frame(h, h->fdec, h->fenc->plane[0], h->fenc->i_stride[0]);
    if (status) failed(h, status);
}

// Returns the reference to search for h->fref[list][i], complete and weighted as x264 predicts from
// it; NULL with *status set.
static const MotusMeReference *reference_of(x264_t *h, int list, int i, MotusStatus *status) {
    x264_motus_t *s = h->motus;
    x264_frame_t *frame = h->fref[list][i]->orig;
    if (h->param.motus.b_source) {
        *status = frame->b_motus_filled ? MOTUS_OK : MOTUS_ERR_STATE;
        return frame->b_motus_filled ? frame->motus : NULL;
    }
    if (list == 0 && h->sh.weight[i][0].weightfn && s->n_weighted < WEIGHTED_MAX) {
        MotusMeReference **weighted = &s->weighted[s->n_weighted++];
        *status = fill(s, weighted, luma_of(h, h->fenc->weighted[i], h->fenc->i_stride[0]));
        return *weighted;
    }
    *status = fill_frame(h, frame, frame->plane[0], frame->i_stride[0]);
    return frame->motus;
}

// Waits for the references of the picture, and weights them, which x264 does row by row.
static void wait_for_references(x264_t *h) {
    for (int list = h->sh.i_type == SLICE_TYPE_B; list >= 0; list--)
        for (int i = 0; i < h->i_ref[list]; i++)
            x264_frame_cond_wait(h->fref[list][i]->orig, 16 * h->mb.i_mb_height);
    x264_analyse_weight_frame(h, 16 * h->mb.i_mb_height + 16);
}

// ---- Hints --------------------------------------------------------------------------------------

// Sets lambda of each MB from the picture's QP and the MB's offset.
static void set_lambda(x264_t *h) {
    const float *offset = !h->param.rc.i_aq_mode   ? NULL
                          : h->fdec->b_kept_as_ref ? h->fenc->f_qp_offset
                                                   : h->fenc->f_qp_offset_aq;
    const int base = h->fdec->i_qpplus1 - 1;
    for (int mb = 0; mb < h->motus->n_mb; mb++) {
        const int qp = (int)(base + (offset ? offset[mb] : 0) + 0.5f);
        h->motus->lambda[mb] = (uint16_t)(256 * x264_lambda_tab[x264_clip3(qp, 0, QP_MAX_SPEC)]);
    }
}

static int16_t scaled(int mv, int distance, int measured) {
    return (int16_t)x264_clip3(2 * mv * distance / measured, -MOTUS_MAX_CENTRE, MOTUS_MAX_CENTRE);
}

// Gets the lookahead's MVs of the list, measured at the distance of the reference or else scaled
// from the nearest one measured. Returns NULL if there are none.
static const MotusMv *previous_mvs(x264_t *h, int list, int i) {
    const int distance = abs(h->fenc->i_frame - h->fref[list][i]->i_frame);
    int best = 0;
    if (!h->frames.b_have_lowres || (list && !h->param.i_bframe) || !distance) return NULL;
    for (int d = 1; d <= h->param.i_bframe + 1; d++)
        if (h->fenc->lowres_mvs[list][d - 1][0][0] != 0x7fff &&
            (!best || abs(d - distance) < abs(best - distance)))
            best = d;
    if (!best) return NULL;
    for (int mb = 0; mb < h->motus->n_mb; mb++) { // of half-size pictures
        const int16_t *mv = h->fenc->lowres_mvs[list][best - 1][mb];
        h->motus->previous[mb].x = scaled(mv[0], distance, best);
        h->motus->previous[mb].y = scaled(mv[1], distance, best);
    }
    return h->motus->previous;
}

static MotusStatus find_centres(x264_t *h, const MotusPlane *cur, const MotusMeReference *reference,
                                int list, int i) {
    x264_motus_t *s = h->motus;
    MotusMeCentres c = motus_me_centres_default(cur, reference, s->centre[list][i]);
    c.previous = previous_mvs(h, list, i);
    c.lambda_q8 = 256 * x264_lambda_tab[x264_clip3(h->fdec->i_qpplus1 - 1, 0, QP_MAX_SPEC)];
    c.limit_x = c.limit_y = 4 * h->param.analyse.i_mv_range;
    return motus_me_centres(s->me, &c);
}

// ---- Search -------------------------------------------------------------------------------------

static int has_memory(x264_motus_t *s, int list, int i) {
    if (!s->mv[list][i]) s->mv[list][i] = malloc((size_t)MOTUS_BLOCKS * s->n_mb * sizeof(MotusMv));
    if (!s->centre[list][i]) s->centre[list][i] = malloc((size_t)s->n_mb * sizeof(MotusMv));
    return s->mv[list][i] && s->centre[list][i];
}

static MotusStatus search_targets(x264_t *h) {
    x264_motus_t *s = h->motus;
    const MotusPlane cur = luma_of(h, h->fenc->plane[0], h->fenc->i_stride[0]);
    MotusMeTarget target[MOTUS_ME_MAX_TARGETS] = {0};
    MotusMeHints hints[MOTUS_ME_MAX_TARGETS] = {0};
    int n = 0;
    for (int list = 0; list <= (h->sh.i_type == SLICE_TYPE_B); list++)
        for (int i = 0; i < h->i_ref[list] && n < MOTUS_ME_MAX_TARGETS; i++) {
            MotusStatus status = MOTUS_ERR_MEMORY;
            if (h->sh.i_type == SLICE_TYPE_P && i == h->mb.ref_blind_dupe) continue;
            target[n].reference = reference_of(h, list, i, &status);
            if (status) return status;
            if (!has_memory(s, list, i)) return MOTUS_ERR_MEMORY;
            status = find_centres(h, &cur, target[n].reference, list, i);
            if (status) return status;
            hints[n] = (MotusMeHints){
                .centre = s->centre[list][i], .predictor = s->centre[list][i], .lambda = s->lambda};
            target[n].hints = &hints[n];
            target[n].mv = s->mv[list][i];
            s->searched[list][i] = 1;
            n++;
        }
    MotusMeRequest request = motus_me_request_default(&cur, target, n);
    request.modes = s->mb_modes;
    const MotusStatus status = motus_me_request(s->me, &request);
    return status ? status : motus_me_wait(s->me, NULL, -1);
}

void x264_motus_search(x264_t *h) {
    x264_motus_t *s = h->motus;
    if (!s) return;
    memset(s->searched, 0, sizeof s->searched);
    s->n_weighted = 0;
    if (h->param.analyse.i_me_method != X264_ME_MOTUS || h->sh.i_type == SLICE_TYPE_I) return;
    x264_emms();
    if (h->i_thread_frames > 1 && !h->param.motus.b_source) wait_for_references(h);
    s->picture_modes = s->modes & modes_of(h->param.analyse.inter, h->sh.i_type == SLICE_TYPE_B);
    memset(s->mb_modes, (int)s->picture_modes, (size_t)s->n_mb);
    set_lambda(h);
    const MotusStatus status = search_targets(h);
    if (status) {
        memset(s->searched, 0, sizeof s->searched);
        failed(h, status);
    }
}

// Returns the index of a block in the order of motus_blocks; x264's PIXEL_* are its modes.
static int block_index(int size, int x, int y) {
    switch (size) {
    case PIXEL_16x8:
        return MOTUS_BLOCK_16x8 + y / 8;
    case PIXEL_8x16:
        return MOTUS_BLOCK_8x16 + x / 8;
    case PIXEL_8x8:
        return MOTUS_BLOCK_8x8 + y / 8 * 2 + x / 8;
    case PIXEL_8x4:
        return MOTUS_BLOCK_8x4 + y / 4 * 2 + x / 8;
    case PIXEL_4x8:
        return MOTUS_BLOCK_4x8 + y / 8 * 4 + x / 4;
    case PIXEL_4x4:
        return MOTUS_BLOCK_4x4 + y / 4 * 4 + x / 4;
    default:
        return MOTUS_BLOCK_16x16;
    }
}

int x264_motus_mv(x264_t *h, const x264_me_t *m, int16_t mv[2]) {
    const x264_motus_t *s = h->motus;
    const int offset = (int)(m->p_fenc[0] - h->mb.pic.p_fenc[0]);
    if (!s || !s->searched[m->i_list][m->i_ref] || !(s->picture_modes >> m->i_pixel & 1)) return 0;
    const int b = block_index(m->i_pixel, offset % FENC_STRIDE, offset / FENC_STRIDE);
    const MotusMv found = s->mv[m->i_list][m->i_ref][(size_t)b * s->n_mb + h->mb.i_mb_xy];
    mv[0] = found.x;
    mv[1] = found.y;
    return 1;
}
