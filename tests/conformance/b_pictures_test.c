// Random B pictures between random P pictures, some B pictures being references, some with several
// references in list 0, written with CAVLC and CABAC: libavcodec decodes them to the samples of a
// plain reconstruction.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "encoder/mb/deblock.h"
#include "encoder/mb/direct_core.h"
#include "encoder/settings/stream.h"
#include "encoder/slice/slice.h"
#include "tests/conformance/decoders/decoders.h"
#include "tests/conformance/inter_mbs.h"
#include "tests/support/harness.h"

enum { PICTURES = 8, MOST_REFS = 3 };

// Pictures in coding order, by numbers shown: what list 0 has by default, n earlier pictures, and
// list 1. command: abs_diff_pic_num of list 0.
typedef struct Coded {
    MotusSliceType type;
    int shown, frame_num, is_reference;
    uint32_t command;
    int n, list0[MOST_REFS], list1;
} Coded;
static const Coded orders[2][PICTURES] = {{{MOTUS_SLICE_I, 0, 0, 1, 0, 0, {0}, 0},
                                           {MOTUS_SLICE_P, 3, 1, 1, 0, 1, {0}, 0},
                                           {MOTUS_SLICE_B, 1, 2, 0, 0, 1, {0}, 3},
                                           {MOTUS_SLICE_B, 2, 2, 0, 0, 1, {0}, 3},
                                           {MOTUS_SLICE_P, 6, 2, 1, 0, 1, {3}, 0},
                                           {MOTUS_SLICE_B, 4, 3, 0, 0, 2, {3, 0}, 6},
                                           {MOTUS_SLICE_B, 5, 3, 0, 0, 2, {3, 0}, 6},
                                           {MOTUS_SLICE_P, 7, 3, 1, 0, 1, {6}, 0}},
                                          // A pyramid.
                                          {{MOTUS_SLICE_I, 0, 0, 1, 0, 0, {0}, 0},
                                           {MOTUS_SLICE_P, 4, 1, 1, 0, 1, {0}, 0},
                                           {MOTUS_SLICE_B, 2, 2, 1, 0, 1, {0}, 4},
                                           {MOTUS_SLICE_B, 1, 3, 0, 0, 1, {0}, 2},
                                           {MOTUS_SLICE_B, 3, 3, 0, 0, 2, {2, 0}, 4},
                                           {MOTUS_SLICE_P, 7, 3, 1, 2, 1, {4}, 0},
                                           {MOTUS_SLICE_B, 5, 4, 1, 0, 3, {4, 2, 0}, 7},
                                           {MOTUS_SLICE_B, 6, 5, 0, 0, 3, {5, 4, 2}, 7}}};

// A stream that is being written, with its reconstruction.
typedef struct Clip {
    int mb_width, mb_height, cabac, transform_8x8, deblock, spread;
    MotusSlices slices;
    MotusCodedMbs mbs;
    int pyramid;
    int temporal;
    // Collocated motion of pictures by number shown, and the references that it refers to.
    uint8_t *col_zero[PICTURES];
    MotusColMb *col[PICTURES];
    int32_t listed[PICTURES][MOST_REFS + 1];
    int n_listed[PICTURES];
    MotusDirect *direct;       // per MB, temporal
    MotusFrame *rec[PICTURES]; // by number shown
    uint8_t *rbsp, *nal;
    size_t rbsp_capacity, size;
    int shown; // pictures decoded
    int n_differ;
    const char *what; // failed check
} Clip;

// ---- Headers ------------------------------------------------------------------------------------

static void put_nal(Clip *c, int nal_ref_idc, int type, const MotusBits *bits) {
    CU_ASSERT_FATAL(!bits->overflow);
    c->size += motus_nal_write(c->nal + c->size, nal_ref_idc, type, c->rbsp, bits->size);
}

static MotusSequenceSettings sequence_of(const Clip *c) {
    const MotusSequenceSettings settings = {
        .profile = MOTUS_PROFILE_HIGH,
        .cabac = c->cabac,
        .transform_8x8 = c->transform_8x8,
        .width = 16 * c->mb_width,
        .height = 16 * c->mb_height,
        .fps = {25, 1},
        .colour = MOTUS_COLOUR_UNKNOWN,
        .level = motus_level_choose(120, 68, (MotusRational){25, 1}, 2, 0), // MVs up to 512 rows
        .log2_max_frame_num = 4,
        .max_refs = 4,
        .reorder = 1 + c->pyramid,
        .pic_init_qp = 26};
    return settings;
}

static void write_headers(Clip *c) {
    const MotusSequenceSettings settings = sequence_of(c);
    MotusBits bits;
    motus_bits_init(&bits, c->rbsp, c->rbsp_capacity);
    motus_write_sps(&bits, &settings);
    put_nal(c, 3, MOTUS_NAL_SPS, &bits);
    motus_bits_init(&bits, c->rbsp, c->rbsp_capacity);
    motus_write_pps(&bits, &settings);
    put_nal(c, 3, MOTUS_NAL_PPS, &bits);
}

// ---- Pictures -----------------------------------------------------------------------------------

// Fills the samples of I_PCM: a slope with noise, flat enough for deblocking if `spread` is low.
static void fill_source(Clip *c, int number) {
    for (int k = 0; k < 3; k++) {
        const MotusPlane *p = &c->mbs.src->plane[k];
        for (int y = 0; y < p->height; y++)
            for (int x = 0; x < p->width; x++)
                p->data[y * p->stride + x] = motus_clip_u8(100 + x / 4 + y / 4 + 4 * number +
                                                           motus_test_range(-c->spread, c->spread));
    }
}

static void make_pcm(Clip *c) {
    for (int i = 0; i < c->mbs.n_mb; i++) {
        c->mbs.mb[i] = (MotusMb){.type = MOTUS_MB_I_PCM};
        memset(c->mbs.mb[i].total_coeff, 16, sizeof c->mbs.mb[i].total_coeff);
    }
}

// Writes MBs [begin, end) one by one and compares with slice data that whole rows gave.
static void check_mb_by_mb(Clip *c, const MotusMb *decided, int begin, int end,
                           const MotusSliceSettings *slice, const uint8_t *data, size_t size) {
    MotusSliceState state = {.qp = slice->qp};
    MotusMbWriter writer = {0};
    motus_bits_init(&writer.bits, malloc(c->rbsp_capacity), c->rbsp_capacity);
    uint8_t *own = writer.bits.data;
    motus_begin_slice_data(&writer, slice);
    for (int i = begin; i < end; i++) {
        c->mbs.mb[i] = decided[i];
        motus_finalize_mb(&c->mbs, i, &state);
        motus_write_mb(&writer, &c->mbs, i, &state);
    }
    motus_end_slice(&writer, &state);
    MOTUS_CHECK(writer.bits.size == size && !memcmp(own, data, size), "slice at %d", begin);
    free(own);
}

// Writes slice data at a whole byte, with several threads and without, and MB by MB.
static void check_writers(Clip *c, const MotusMb *decided, int from, int to,
                          const MotusSliceSettings *slice) {
    MotusPictureStats stats[2];
    MotusBits bits[2];
    memset(stats, 0, sizeof stats);
    for (int i = 0; i < 2; i++) {
        c->mbs.threads = 1 + 2 * i;
        motus_bits_init(&bits[i], malloc(c->rbsp_capacity), c->rbsp_capacity);
        motus_write_slice_data(&bits[i], &c->mbs, from, to, slice, &stats[i]);
    }
    MOTUS_CHECK(bits[0].size == bits[1].size && !memcmp(bits[0].data, bits[1].data, bits[0].size) &&
                    !memcmp(&stats[0], &stats[1], sizeof stats[0]),
                "rows %d..%d", from, to);
    const uint64_t counted =
        stats[0].bits_mode + stats[0].bits_mv + stats[0].bits_luma + stats[0].bits_chroma;
    MOTUS_CHECK(counted <= 8 * bits[0].size && counted + 16 >= 8 * bits[0].size, "%ju of %zu",
                (uintmax_t)counted, 8 * bits[0].size);
    check_mb_by_mb(c, decided, from * c->mb_width, to * c->mb_width, slice, bits[0].data,
                   bits[0].size);
    free(bits[0].data);
    free(bits[1].data);
}

static void write_slices(Clip *c, const Coded *p, const MotusMb *decided, int qp) {
    const MotusSequenceSettings settings = sequence_of(c);
    for (int k = 0; k < c->slices.n; k++) {
        const int from = c->slices.begin ? c->slices.begin[k] : 0,
                  to = c->slices.begin ? c->slices.begin[k + 1] : c->mb_height;
        const MotusSliceSettings slice = {.first_mb = from * c->mb_width,
                                          .idr = p->type == MOTUS_SLICE_I,
                                          .slice_type = (int)p->type,
                                          .refs = c->mbs.refs,
                                          .is_reference = p->is_reference,
                                          .direct_spatial = !c->temporal,
                                          .list_command = {p->command, 0},
                                          .frame_num = (uint32_t)p->frame_num,
                                          .poc = 2 * p->shown,
                                          .deblock = c->deblock,
                                          .qp = qp,
                                          .cabac = c->cabac,
                                          .cabac_init_idc = motus_test_range(0, 2),
                                          .transform_8x8 = c->transform_8x8};
        MotusPictureStats stats = {0};
        MotusBits bits;
        motus_bits_init(&bits, c->rbsp, c->rbsp_capacity);
        motus_write_slice_header(&bits, &settings, &slice);
        motus_write_slice_data(&bits, &c->mbs, from, to, &slice, &stats);
        put_nal(c, p->is_reference ? 2 : 0,
                p->type == MOTUS_SLICE_I ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE, &bits);
        check_writers(c, decided, from, to, &slice);
    }
}

// Checks that the list of MVs has those of every 4x4 block and list, once.
static void check_list(const Clip *c, const Coded *p) {
    const size_t n_blk = 16 * (size_t)c->mbs.n_mb;
    MotusCodedMv *mvs = malloc(n_blk * sizeof *mvs);
    const MotusRefDistances distances = {{{-2, -5, -6}, {1}}};
    size_t n = motus_list_mvs(&c->mbs, &distances, mvs);
    long expected = 0, got = 0, wrong = 0;
    for (size_t i = 0; i < n_blk; i++) {
        const MotusMb *mb = &c->mbs.mb[i / 16];
        for (int list = 0; list < 2 && !motus_mb_is_intra(mb); list++)
            expected += motus_pred_uses(mb->pred[motus_8x8_of((int)i % 16)], list);
    }
    for (size_t i = 0; i < n; i++)
        for (int y = mvs[i].y; y < mvs[i].y + mvs[i].height; y += 4)
            for (int x = mvs[i].x; x < mvs[i].x + mvs[i].width; x += 4) {
                const MotusMb *mb = &c->mbs.mb[y / 16 * c->mb_width + x / 16];
                const int blk = y % 16 / 4 * 4 + x % 16 / 4, q = motus_8x8_of(blk);
                const MotusMv mv = mvs[i].list ? mb->mv1[q] : mb->mv[blk];
                got++;
                wrong += mvs[i].distance != (mvs[i].list ? 1 : distances.to[0][mb->ref[0][q]]) ||
                         motus_mb_is_intra(mb) || !motus_pred_uses(mb->pred[q], mvs[i].list) ||
                         !motus_mv_equal(mv, mvs[i].mv) ||
                         mvs[i].skip != (mb->type == MOTUS_MB_P_SKIP);
            }
    MOTUS_CHECK(got == expected && !wrong, "picture %d: %ld of %ld, %ld wrong", p->shown, got,
                expected, wrong);
    free(mvs);
}

// Chooses where the direct prediction of a B picture comes from.
static void find_direct(Clip *c, const Coded *p) {
    MotusTemporalMap map;
    c->mbs.direct = (MotusDirectSource){NULL, c->col_zero[p->list1]};
    if (!c->temporal) return;
    motus_temporal_map(&map, p->shown, c->listed[p->shown], c->mbs.refs, c->listed[p->list1],
                       c->n_listed[p->list1]);
    for (int i = 0; i < c->mbs.n_mb; i++)
        c->direct[i] = motus_direct_temporal(&c->col[p->list1][i], &map);
    c->mbs.direct = (MotusDirectSource){c->direct, NULL};
}

static void keep_motion(Clip *c, const Coded *p) {
    for (int i = 0; i < c->mbs.n_mb; i++) {
        c->col_zero[p->shown][i] = (uint8_t)motus_col_zero(&c->mbs.mb[i]);
        c->col[p->shown][i] = motus_col_mb(&c->mbs.mb[i], c->mbs.refs);
    }
}

static void code_picture(Clip *c, const Coded *p, int qp) {
    const MotusFrame *refs[MOST_REFS + 1];
    c->mbs.refs = p->n > 1 ? motus_test_range(1, p->n) : 1;
    for (int k = 0; k < c->mbs.refs; k++) refs[k] = c->rec[p->list0[k]];
    refs[c->mbs.refs] = c->rec[p->list1];
    for (int k = 0; k < c->mbs.refs; k++) c->listed[p->shown][k] = p->list0[k];
    c->listed[p->shown][c->mbs.refs] = p->list1;
    c->n_listed[p->shown] = c->mbs.refs + (p->type == MOTUS_SLICE_B);
    if (p->type == MOTUS_SLICE_B) find_direct(c, p);
    const InterMbs how = {.qp = qp,
                          .cabac = c->cabac,
                          .transform_8x8 = c->transform_8x8,
                          .reach = 4 * (16 * c->mb_width + 60),
                          .residual = motus_test_range(0, 80),
                          .direct = c->mbs.direct};
    const size_t mb_bytes = (size_t)c->mbs.n_mb * sizeof(MotusMb);
    MotusMb *decided = aligned_alloc(64, (mb_bytes + 63) & ~(size_t)63);
    CU_ASSERT_FATAL(decided != NULL);
    c->mbs.slice_type = (int)p->type;
    fill_source(c, p->shown);
    if (p->type)
        inter_mbs_fill(&c->mbs, &how);
    else
        make_pcm(c);
    memcpy(decided, c->mbs.mb, mb_bytes);
    motus_finalize_mbs(&c->mbs, qp);
    REQUIRE_OK(motus_frame_alloc(&c->rec[p->shown], 16 * c->mb_width, 16 * c->mb_height));
    for (int i = 0; i < c->mbs.n_mb; i++) plain_mb_reconstruct(c->rec[p->shown], &c->mbs, i, refs);
    if (c->deblock) motus_deblock_picture(c->rec[p->shown], &c->mbs);
    check_list(c, p);
    keep_motion(c, p);
    write_slices(c, p, decided, qp);
    free(decided);
}

// ---- Clips --------------------------------------------------------------------------------------

static void take_decoded(void *context, int number, const MotusPlane plane[3]) {
    Clip *c = context;
    if (number >= PICTURES) return;
    for (int k = 0; k < 3; k++) {
        const MotusPlane *own = &c->rec[number]->plane[k];
        for (int y = 0; y < own->height && plane[k].height == own->height; y++)
            for (int x = 0; x < own->width; x++) {
                if (own->data[y * own->stride + x] == plane[k].data[y * plane[k].stride + x])
                    continue;
                if (!c->n_differ++)
                    MOTUS_CHECK(0, "%s: picture %d plane %d sample %d, %d", c->what, number, k, x,
                                y);
            }
    }
}

static void open_clip(Clip *c, int mb_width, int mb_height, int slices) {
    const size_t n = (size_t)mb_width * (size_t)mb_height;
    MotusFrame *src = NULL;
    c->mb_width = mb_width, c->mb_height = mb_height;
    c->rbsp_capacity = 4096 + 8192 * n;
    c->mbs =
        (MotusCodedMbs){.mb_width = mb_width, .mb_height = mb_height, .n_mb = (int)n, .threads = 1};
    c->mbs.mb = aligned_alloc(64, (n * sizeof *c->mbs.mb + 63) & ~(size_t)63);
    c->mbs.coef = aligned_alloc(64, (n * sizeof *c->mbs.coef + 63) & ~(size_t)63);
    c->mbs.context = aligned_alloc(64, (n * sizeof *c->mbs.context + 63) & ~(size_t)63);
    c->direct = calloc(n, sizeof *c->direct);
    for (int i = 0; i < PICTURES; i++) {
        c->col_zero[i] = calloc(n, 1), c->col[i] = calloc(n, sizeof *c->col[i]);
        CU_ASSERT_FATAL(c->direct && c->col_zero[i] && c->col[i]);
    }
    c->rbsp = malloc(c->rbsp_capacity);
    c->nal = malloc(PICTURES * 2 * c->rbsp_capacity);
    CU_ASSERT_FATAL(c->mbs.mb && c->mbs.coef && c->mbs.context && c->rbsp && c->nal);
    REQUIRE_OK(motus_frame_alloc(&src, 16 * mb_width, 16 * mb_height));
    REQUIRE_OK(motus_slices_alloc(&c->slices, slices, 0, mb_width, mb_height));
    c->mbs.src = src;
    c->mbs.slice_first = c->slices.first;
}

static void close_clip(Clip *c) {
    MotusFrame *src = (MotusFrame *)c->mbs.src;
    motus_frame_unref(&src);
    for (int i = 0; i < PICTURES; i++) {
        motus_frame_unref(&c->rec[i]);
        free(c->col_zero[i]);
        free(c->col[i]);
    }
    motus_slices_free(&c->slices);
    free(c->direct);
    free(c->mbs.mb);
    free(c->mbs.coef);
    free(c->mbs.context);
    free(c->rbsp);
    free(c->nal);
}

static void one_clip(int cabac, int mb_width, int mb_height, int slices) {
    char what[120];
    MotusDecodeReport report;
    Clip c = {.cabac = cabac,
              .pyramid = motus_test_range(0, 1),
              .temporal = motus_test_range(0, 1),
              .transform_8x8 = motus_test_range(0, 1),
              .deblock = motus_test_range(0, 2) > 0,
              .spread = 1 << motus_test_range(0, 7)};
    const int qp = motus_test_range(0, 51);
    open_clip(&c, mb_width, mb_height, slices);
    if (!cabac) free(c.mbs.context), c.mbs.context = NULL;
    snprintf(
        what, sizeof what,
        "%s %dx%d pyramid=%d temporal=%d slices=%d transform_8x8=%d deblock=%d qp=%d spread=%d",
        cabac ? "CABAC" : "CAVLC", mb_width, mb_height, c.pyramid, c.temporal, c.slices.n,
        c.transform_8x8, c.deblock, qp, c.spread);
    c.what = what;
    write_headers(&c);
    for (int i = 0; i < PICTURES; i++) code_picture(&c, &orders[c.pyramid][i], qp);
    motus_decode_libavcodec(c.nal, c.size, take_decoded, &c, &report);
    MOTUS_CHECK(report.pictures == PICTURES && !report.complaints, "%s: %d pictures, %s", what,
                report.pictures, report.first);
    MOTUS_CHECK(!c.n_differ, "%s: %d samples", what, c.n_differ);
    close_clip(&c);
}

static void clips(int cabac) {
    for (int round = motus_test_cases(30); round > 0; round--)
        one_clip(cabac, motus_test_range(1, 7), motus_test_range(1, 6), motus_test_range(1, 3));
}

static void cavlc(void) { clips(0); }
static void cabac(void) { clips(1); }

MOTUS_SUITE("b_pictures", TEST(cavlc), TEST(cabac))
