// encoder/slice.c and its cores: slices of random macroblocks are parsed back by an independent reader of 7.3.4 and 7.3.5, which derives neighbours (nC,
// predicted intra modes) and QP from its own picture-wide arrays.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/stream.h"
#include "tests/cavlc_reader.h"
#include "tests/harness.h"
#include "tests/random_mbs.h"

#include <stdlib.h>
#include <string.h>

enum { W = 5, H = 4, N = W * H }; // MBs of the test picture

// An MB as it is read.
typedef struct Coded {
    MotusMb mb; // without vectors
    MotusMbCoef coef;
    MotusMv mvd[16];
    int n_mvd;
    uint8_t pcm[384];
} Coded;

// Columns of table 9-4 for 4:2:0: coded_block_pattern of a codeNum.
static const uint8_t cbp_intra[48] = {47, 31, 15, 0,  23, 27, 29, 30, 7,  11, 13, 14, 39, 43, 45, 46,
                                      16, 3,  5,  10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1,  2,  4,
                                      8,  17, 18, 20, 24, 6,  9,  22, 25, 32, 33, 34, 36, 40, 38, 41};
static const uint8_t cbp_inter[48] = {0,  16, 1,  2,  4,  8,  32, 3,  5,  10, 12, 15, 47, 7,  11, 13,
                                      14, 6,  9,  31, 35, 37, 42, 44, 33, 34, 36, 40, 39, 43, 45, 46,
                                      17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41};

// --- the reader

typedef struct Parser {
    Reader reader;
    int p_slice, qp; // of the MB before
    MotusPictureStats stats;
    int luma_count[4 * H][4 * W], chroma_count[2][2 * H][2 * W]; // total_coeff by block, -1 not yet decoded
    int mode[4 * H][4 * W];                                      // intra 4x4 modes, 2 in other MBs, -1 not yet decoded
    long seen_mb_type[2][31], seen_sub_type[4], seen_cbp[2][48], seen_mode[9][9];
} Parser;

static int neighbour_nc(const int *count, int stride, int x, int y) {
    int left = x ? count[y * stride + x - 1] : -1, above = y ? count[(y - 1) * stride + x] : -1;
    if (left >= 0 && above >= 0) return (left + above + 1) >> 1;
    return left >= 0 ? left : above >= 0 ? above : 0;
}

static void set_counts(Parser *p, int mb_x, int mb_y, int value) {
    for (int i = 0; i < 16; i++) p->luma_count[4 * mb_y + i / 4][4 * mb_x + i % 4] = value;
    for (int i = 0; i < 8; i++) p->chroma_count[i / 4][2 * mb_y + i / 2 % 2][2 * mb_x + i % 2] = value;
}

static void set_modes(Parser *p, int mb_x, int mb_y, int value) {
    for (int i = 0; i < 16; i++) p->mode[4 * mb_y + i / 4][4 * mb_x + i % 4] = value;
}

// 6.4.3: x and y of luma4x4BlkIdx in blocks.
static int blk_x(int idx) { return idx / 4 % 2 * 2 + idx % 2; }
static int blk_y(int idx) { return idx / 8 * 2 + idx % 4 / 2; }

static void parse_intra4x4_modes(Parser *p, Coded *c, int mb_x, int mb_y) {
    for (int idx = 0; idx < 16; idx++) {
        int x = 4 * mb_x + blk_x(idx), y = 4 * mb_y + blk_y(idx);
        int left = x ? p->mode[y][x - 1] : -1, above = y ? p->mode[y - 1][x] : -1;
        int predicted = left < 0 || above < 0 ? 2 : left < above ? left : above, mode = predicted;
        if (!read_bits(&p->reader, 1)) {
            int rem = (int)read_bits(&p->reader, 3);
            mode = rem < predicted ? rem : rem + 1;
        }
        p->mode[y][x] = mode;
        p->seen_mode[predicted][mode]++;
        c->mb.intra4x4_pred_mode[4 * blk_y(idx) + blk_x(idx)] = (uint8_t)mode;
    }
}

static void parse_luma(Parser *p, Coded *c, int mb_x, int mb_y) {
    int intra16 = c->mb.type == MOTUS_MB_I_16x16;
    if (intra16) read_residual(&p->reader, c->coef.luma_dc, 16, neighbour_nc(p->luma_count[0], 4 * W, 4 * mb_x, 4 * mb_y));
    for (int idx = 0; idx < 16; idx++) {
        int x = 4 * mb_x + blk_x(idx), y = 4 * mb_y + blk_y(idx), blk = 4 * blk_y(idx) + blk_x(idx), count = 0;
        if (c->mb.cbp >> (idx / 4) & 1)
            count =
                read_residual(&p->reader, c->coef.luma[blk] + intra16, 16 - intra16, neighbour_nc(p->luma_count[0], 4 * W, x, y));
        p->luma_count[y][x] = count;
        c->mb.total_coeff[blk] = (uint8_t)count;
    }
}

static void parse_chroma(Parser *p, Coded *c, int mb_x, int mb_y) {
    for (int comp = 0; comp < 2 && c->mb.cbp >> 4; comp++) read_residual(&p->reader, c->coef.chroma_dc[comp], 4, -1);
    for (int i = 0; i < 8; i++) {
        int x = 2 * mb_x + i % 2, y = 2 * mb_y + i / 2 % 2, count = 0;
        int nc = neighbour_nc(p->chroma_count[i / 4][0], 2 * W, x, y);
        if (c->mb.cbp >> 4 == 2) count = read_residual(&p->reader, c->coef.chroma_ac[i / 4][i % 4] + 1, 15, nc);
        p->chroma_count[i / 4][y][x] = count;
        c->mb.total_coeff[16 + i] = (uint8_t)count;
    }
}

static void parse_pcm(Parser *p, Coded *c) {
    while (p->reader.pos % 8) MOTUS_CHECK(!read_bits(&p->reader, 1), "pcm_alignment_zero_bit");
    for (int i = 0; i < 384; i++) c->pcm[i] = (uint8_t)read_bits(&p->reader, 8);
    memset(c->mb.total_coeff, 16, sizeof c->mb.total_coeff);
    p->stats.bits_luma += 256 * 8;
    p->stats.bits_chroma += 128 * 8;
}

// Returns the bits of the vectors.
static uint32_t parse_vectors(Parser *p, Coded *c) {
    static const uint8_t vectors[4] = {1, 2, 2, 4};
    size_t start = p->reader.pos;
    c->n_mvd = c->mb.type == MOTUS_MB_P_16x16 ? 1 : c->mb.type == MOTUS_MB_P_8x8 ? 0 : 2;
    for (int i = 0; i < 4 && c->mb.type == MOTUS_MB_P_8x8; i++) {
        uint32_t sub_mb_type = read_ue(&p->reader);
        MOTUS_CHECK(sub_mb_type < 4, "sub_mb_type %u", sub_mb_type);
        c->n_mvd += vectors[c->mb.sub_type[i] = (uint8_t)(sub_mb_type & 3)];
        p->seen_sub_type[sub_mb_type & 3]++;
        p->stats.sub[sub_mb_type & 3]++;
        start = p->reader.pos;
    }
    for (int i = 0; i < c->n_mvd; i++) {
        c->mvd[i].x = (int16_t)read_se(&p->reader);
        c->mvd[i].y = (int16_t)read_se(&p->reader);
    }
    return (uint32_t)(p->reader.pos - start);
}

// mb_type of tables 7-11 and 7-13. Returns whether the MB is intra.
static int parse_mb_type(Parser *p, Coded *c) {
    uint32_t mb_type = read_ue(&p->reader);
    MOTUS_CHECK(mb_type < (p->p_slice ? 31u : 26u) && !(p->p_slice && mb_type == 4), "mb_type %u", mb_type);
    p->seen_mb_type[p->p_slice][mb_type % 31]++;
    if (p->p_slice && mb_type < 5) {
        c->mb.type = (uint8_t)(MOTUS_MB_P_16x16 + mb_type);
        return 0;
    }
    if (p->p_slice) mb_type -= 5;
    c->mb.type = mb_type == 0 ? MOTUS_MB_I_4x4 : mb_type == 25 ? MOTUS_MB_I_PCM : MOTUS_MB_I_16x16;
    if (c->mb.type == MOTUS_MB_I_16x16) {
        c->mb.intra16x16_pred_mode = (mb_type - 1) % 4;
        c->mb.cbp = (uint8_t)((mb_type - 1) / 4 % 3 << 4 | (mb_type >= 13 ? 15 : 0));
    }
    return 1;
}

static void parse_mb(Parser *p, Coded *c, int mb_x, int mb_y) {
    size_t start = p->reader.pos;
    uint32_t mv_bits = 0;
    int intra = parse_mb_type(p, c);
    p->stats.mb[c->mb.type]++;
    set_modes(p, mb_x, mb_y, c->mb.type == MOTUS_MB_I_4x4 ? -1 : 2);
    set_counts(p, mb_x, mb_y, c->mb.type == MOTUS_MB_I_PCM ? 16 : 0);
    if (c->mb.type == MOTUS_MB_I_PCM) {
        parse_pcm(p, c);
        p->stats.bits_mode += p->reader.pos - start - 384 * 8;
        return;
    }
    if (c->mb.type == MOTUS_MB_I_4x4) parse_intra4x4_modes(p, c, mb_x, mb_y);
    if (intra)
        c->mb.intra_chroma_pred_mode = (uint8_t)read_ue(&p->reader);
    else
        mv_bits = parse_vectors(p, c);
    if (c->mb.type != MOTUS_MB_I_16x16) {
        uint32_t code_num = read_ue(&p->reader);
        MOTUS_CHECK(code_num < 48, "coded_block_pattern %u", code_num);
        c->mb.cbp = (intra ? cbp_intra : cbp_inter)[code_num % 48];
        p->seen_cbp[intra][c->mb.cbp]++;
    }
    if (c->mb.cbp || c->mb.type == MOTUS_MB_I_16x16) {
        int mb_qp_delta = read_se(&p->reader);
        MOTUS_CHECK(mb_qp_delta >= -26 && mb_qp_delta <= 25, "mb_qp_delta %d", mb_qp_delta);
        p->qp = (p->qp + mb_qp_delta + 52) % 52;
    }
    c->mb.qp = (uint8_t)p->qp;
    p->stats.bits_mode += p->reader.pos - start - mv_bits;
    p->stats.bits_mv += mv_bits;
    start = p->reader.pos;
    if (!c->mb.cbp && c->mb.type != MOTUS_MB_I_16x16) return;
    parse_luma(p, c, mb_x, mb_y);
    p->stats.bits_luma += p->reader.pos - start;
    start = p->reader.pos;
    parse_chroma(p, c, mb_x, mb_y);
    p->stats.bits_chroma += p->reader.pos - start;
}

static void parse_slice(Parser *p, Coded *coded) {
    memset(p->luma_count, -1, sizeof p->luma_count);
    memset(p->chroma_count, -1, sizeof p->chroma_count);
    memset(p->mode, -1, sizeof p->mode);
    memset(&p->stats, 0, sizeof p->stats);
    memset(coded, 0, N * sizeof *coded);
    for (int i = 0; i < N && !p->reader.error; i++) {
        size_t start = p->reader.pos;
        uint32_t run = p->p_slice ? read_ue(&p->reader) : 0;
        p->stats.bits_mode += p->reader.pos - start;
        for (; run && i < N; run--, i++) {
            set_modes(p, i % W, i / W, 2);
            set_counts(p, i % W, i / W, 0);
            coded[i].mb.qp = (uint8_t)p->qp;
            p->stats.mb[MOTUS_MB_P_SKIP]++;
        }
        if (i < N) parse_mb(p, &coded[i], i % W, i / W);
    }
}

static void compare(const MotusWork *want, const Parser *p, const MotusPictureStats *stats, const Coded *got) {
    for (int i = 0; i < N; i++) {
        MotusNeighbours neighbours = motus_neighbours(want->mb, W, i % W, i / W, 0);
        MotusMbSource src = motus_mb_source(want->src, i % W, i / W);
        MotusMv mvd[16] = {{0, 0}};
        MotusMb mb = want->mb[i];
        uint8_t pcm[384] = {0};
        int n = mb.type == MOTUS_MB_P_SKIP ? 0 : motus_mb_mvd(&mb, &neighbours, mvd);
        for (int k = 0; k < 384 && mb.type == MOTUS_MB_I_PCM; k++) {
            int plane = k / 256 + k / 320, size = plane ? 8 : 16, at = k - (plane ? 192 + 64 * plane : 0);
            pcm[k] = src.plane[plane][at / size * src.stride[plane] + at % size];
        }
        memset(mb.mv, 0, sizeof mb.mv);
        const void *a = &mb, *b = &got[i].mb; // zeroed before they were filled, padding and all
        MOTUS_CHECK(!memcmp(a, b, sizeof mb), "MB %d type %d p_slice %d", i, mb.type, p->p_slice);
        MOTUS_CHECK(!memcmp(&want->coef[i], &got[i].coef, sizeof got[i].coef), "MB %d type %d coefficients", i, mb.type);
        MOTUS_CHECK(got[i].n_mvd == n && !memcmp(got[i].mvd, mvd, (size_t)n * sizeof *mvd), "MB %d type %d vectors", i, mb.type);
        MOTUS_CHECK(!memcmp(got[i].pcm, pcm, sizeof pcm), "MB %d type %d samples", i, mb.type);
    }
    MOTUS_CHECK(!memcmp(&p->stats, stats, sizeof *stats), "bits %ju %ju %ju %ju", (uintmax_t)stats->bits_mode,
                (uintmax_t)stats->bits_mv, (uintmax_t)stats->bits_luma, (uintmax_t)stats->bits_chroma);
}

static int unseen(const long *seen, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) count += !seen[i];
    return count;
}

// Writes the slice once more with levels that nobody may read overwritten.
static int same_when_poisoned(MotusWork *work, int p_slice, int qp, const uint8_t *data, size_t size) {
    static uint8_t again[N * 8192];
    MotusPictureStats stats = {0};
    MotusBits bits;
    random_mbs_poison(work);
    motus_bits_init(&bits, again, sizeof again);
    motus_write_slice_data(&bits, work, 0, work->mb_height, p_slice, qp, &stats);
    return bits.size == size && !memcmp(again, data, size);
}

static void slices_read_back(void) {
    static Parser p;
    static Coded parsed[N];
    static uint8_t data[N * 8192];
    MotusWork work;
    memset(&p, 0, sizeof p);
    random_mbs_open(&work, W, H);
    for (int round = 0; round < 800; round++) {
        MotusPictureStats stats = {0};
        MotusBits bits;
        int qp = p.qp = motus_test_range(0, 51);
        p.p_slice = round & 1;
        random_mbs_fill(&work, p.p_slice, qp, round % 8 < 5 ? MBS_MIXED : (MbContent)(round / 8 % MBS_CONTENTS));
        motus_settle_mbs(&work, qp);
        motus_bits_init(&bits, data, sizeof data);
        motus_write_slice_data(&bits, &work, 0, H, p.p_slice, qp, &stats);
        p.reader = (Reader){data, bits.size, 0, 0};
        parse_slice(&p, parsed);
        MOTUS_CHECK(!p.reader.error && !bits.overflow && read_bits(&p.reader, 1) == 1 && p.reader.pos + 7 >= 8 * bits.size,
                    "round %d", round);
        compare(&work, &p, &stats, parsed);
        MOTUS_CHECK(same_when_poisoned(&work, p.p_slice, qp, data, bits.size), "round %d", round);
    }
    random_mbs_close(&work);
    CU_ASSERT_EQUAL(unseen(p.seen_mb_type[0], 26), 0);
    CU_ASSERT_EQUAL(unseen(p.seen_mb_type[1], 31), 1); // P_8x8ref0 is not for use
    CU_ASSERT_EQUAL(unseen(p.seen_sub_type, 4), 0);
    CU_ASSERT_EQUAL(unseen(p.seen_cbp[0], 48) + unseen(p.seen_cbp[1], 48), 0);
    CU_ASSERT_EQUAL(unseen(p.seen_mode[0], 81), 0);
}

// The functions that decisions use must give what the writer uses.
static void neighbour_functions(void) {
    MotusWork work;
    random_mbs_open(&work, 3, 1);
    for (int round = 0; round < 500; round++) {
        random_mbs_fill(&work, 1, 26, MBS_MIXED);
        const MotusMb *mb = work.mb;
        MotusNeighbours neighbours = {round & 1 ? &mb[1] : NULL, round & 2 ? &mb[2] : NULL, NULL, NULL};
        for (int blk = 0; blk < 24; blk++) {
            int side = blk < 16 ? 4 : 2, first = blk < 16 ? 0 : blk & ~3, x = (blk - first) % side, y = (blk - first) / side;
            int left = x ? mb[0].total_coeff[blk - 1] : round & 1 ? mb[1].total_coeff[first + y * side + side - 1] : -1;
            int above = y ? mb[0].total_coeff[blk - side] : round & 2 ? mb[2].total_coeff[first + (side - 1) * side + x] : -1;
            MOTUS_CHECK(motus_cavlc_nc_at(mb[0].total_coeff, &neighbours, blk) == motus_cavlc_nc(left, above), "blk %d around %d",
                        blk, round & 3);
        }
    }
    random_mbs_close(&work);
    MotusMb none = {.type = MOTUS_MB_I_4x4};
    MotusNeighbours nothing = {0};
    CU_ASSERT_EQUAL(motus_intra4x4_predicted_mode(&none, &nothing, 0), MOTUS_I4_DC);
    CU_ASSERT_EQUAL(motus_intra4x4_predicted_mode(&none, &nothing, 5), MOTUS_I4_VERTICAL);
}

// ---- Threads

typedef struct Written {
    uint8_t *data;
    size_t size;
    int overflow;
    MotusPictureStats stats;
} Written;

// A slice behind a header of `header` bits, in a buffer of `capacity` bytes.
static Written write_rows(const MotusWork *work, int from, int to, int threads, int p_slice, int qp, int header,
                          size_t capacity) {
    MotusWork with = *work;
    Written w = {.data = motus_test_guarded(capacity)};
    MotusBits bits;
    with.threads = threads;
    motus_bits_init(&bits, w.data, capacity);
    for (int i = 0; i < header; i++) motus_bits_put(&bits, 1, i % 3 == 0);
    motus_write_slice_data(&bits, &with, from, to, p_slice, qp, &w.stats);
    w.size = bits.size;
    w.overflow = bits.overflow;
    return w;
}

static Written write_slice(const MotusWork *work, int threads, int p_slice, int qp, int header, size_t capacity) {
    return write_rows(work, 0, work->mb_height, threads, p_slice, qp, header, capacity);
}

// Whether several threads write what one does: into plenty of room, room for the slice but not for every row's share, and too little.
static void one_and_many(const MotusWork *work, int p_slice, int qp, int header) {
    const Written one = write_slice(work, 1, p_slice, qp, header, 64 + 8192 * (size_t)work->n_mb);
    const size_t capacity[4] = {64 + 8192 * (size_t)work->n_mb, 2 * one.size, one.size, one.size - 1};
    for (int i = 0; i < 4; i++) {
        const Written many = write_slice(work, 2 + i, p_slice, qp, header, capacity[i]);
        MOTUS_CHECK(many.overflow == (i == 3), "%dx%d header %d room %d", work->mb_width, work->mb_height, header, i);
        MOTUS_CHECK(motus_test_guard_ok(many.data), "%dx%d header %d room %d", work->mb_width, work->mb_height, header, i);
        if (i < 3)
            MOTUS_CHECK(many.size == one.size && !memcmp(many.data, one.data, one.size) &&
                            !memcmp(&many.stats, &one.stats, sizeof one.stats),
                        "%dx%d header %d room %d", work->mb_width, work->mb_height, header, i);
        motus_test_guard_free(many.data);
    }
    motus_test_guard_free(one.data);
}

static void copy_mbs(MotusMb *to, const MotusWork *from) { memcpy(to, from->mb, (size_t)from->n_mb * sizeof *to); }

static int same_vectors(const MotusCodedMv *a, const MotusCodedMv *b, size_t n) {
    size_t i = 0;
    while (i < n && a[i].x == b[i].x && a[i].y == b[i].y && a[i].width == b[i].width && a[i].height == b[i].height &&
           a[i].skip == b[i].skip && a[i].mv.x == b[i].mv.x && a[i].mv.y == b[i].mv.y)
        i++;
    return i == n;
}

// Settles and lists with one thread and with several.
static void settle_and_list(MotusWork *work, int qp) {
    enum { MOST = 256 };
    static MotusMb before[MOST], settled[MOST];
    static MotusCodedMv mvs[2][16 * MOST];
    size_t n[2];
    CU_ASSERT_FATAL(work->n_mb <= MOST);
    copy_mbs(before, work);
    memset(mvs, 0, sizeof mvs);
    motus_settle_mbs(work, qp);
    copy_mbs(settled, work);
    n[0] = motus_list_mvs(work, mvs[0]);
    memcpy(work->mb, before, (size_t)work->n_mb * sizeof *before);
    work->threads = 4;
    motus_settle_mbs(work, qp);
    n[1] = motus_list_mvs(work, mvs[1]);
    work->threads = 1;
    const void *a = settled, *b = work->mb;
    MOTUS_CHECK(!memcmp(a, b, (size_t)work->n_mb * sizeof *settled), "%dx%d settled", work->mb_width, work->mb_height);
    MOTUS_CHECK(n[0] == n[1] && same_vectors(mvs[0], mvs[1], n[0]), "%dx%d vectors", work->mb_width, work->mb_height);
}

// Rows alone, and together: P_Skip runs and QP that pass through whole rows, I_PCM in none, some and all of them.
static void rows_on_threads(void) {
    static const int sizes[][2] = {{1, 1}, {1, 17}, {23, 1}, {3, 2}, {7, 5}, {13, 11}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MotusWork work;
        random_mbs_open(&work, sizes[i][0], sizes[i][1]);
        for (int round = 0; round < 8 * MBS_CONTENTS; round++) {
            const int qp = motus_test_range(0, 51), p_slice = round & 1;
            random_mbs_fill(&work, p_slice, qp, (MbContent)(round / 8));
            settle_and_list(&work, qp);
            one_and_many(&work, p_slice, qp, motus_test_range(0, 90));
        }
        random_mbs_close(&work);
    }
}

// MB rows [from, to) as a picture: what is left of `work` are its MBs' own arrays.
static MotusWork part_of(const MotusWork *work, int from, int to, MotusFrame *src) {
    MotusWork part = *work;
    *src = *work->src;
    for (int p = 0; p < 3; p++) src->plane[p].data += (p ? 8 : 16) * from * src->plane[p].stride;
    part.src = src;
    part.mb_height = to - from;
    part.n_mb = part.mb_width * part.mb_height;
    part.mb = work->mb + from * work->mb_width;
    part.coef = work->coef + from * work->mb_width;
    part.slice_first = NULL;
    return part;
}

// A slice of whole rows is settled and written as if it were a picture of its own, which is what a device takes it for.
static void rows_of_slices(void) {
    static const int sizes[][3] = {{1, 2, 2}, {1, 17, 5}, {3, 2, 2}, {7, 5, 3}, {13, 11, 4}, {13, 11, 11}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MotusWork work;
        MotusSlices slices;
        random_mbs_open(&work, sizes[i][0], sizes[i][1]);
        CU_ASSERT_EQUAL_FATAL(motus_slices_make(&slices, sizes[i][2], work.mb_width, work.mb_height), MOTUS_OK);
        MotusMb *settled = malloc((size_t)work.n_mb * sizeof *settled), *before = malloc((size_t)work.n_mb * sizeof *before);
        for (int round = 0; round < 2 * MBS_CONTENTS; round++) {
            const int qp = motus_test_range(0, 51), p_slice = round & 1, header = motus_test_range(0, 90);
            random_mbs_fill(&work, p_slice, qp, (MbContent)(round / 2));
            copy_mbs(before, &work);
            work.slice_first = slices.first;
            work.threads = 1 + round % 3;
            motus_settle_mbs(&work, qp);
            copy_mbs(settled, &work);
            for (int k = 0; k < slices.n; k++) {
                const int from = slices.begin[k], to = slices.begin[k + 1], first = from * work.mb_width;
                const size_t room = 64 + 1024 * (size_t)((to - from) * work.mb_width);
                MotusFrame src;
                memcpy(work.mb, settled, (size_t)work.n_mb * sizeof *settled);
                const Written a = write_rows(&work, from, to, 1 + round % 4, p_slice, qp, header, room);
                memcpy(work.mb, before, (size_t)work.n_mb * sizeof *before);
                MotusWork part = part_of(&work, from, to, &src);
                motus_settle_mbs(&part, qp);
                const Written b = write_slice(&part, 1, p_slice, qp, header, room);
                const void *want = settled + first, *got = part.mb;
                MOTUS_CHECK(!memcmp(got, want, (size_t)part.n_mb * sizeof *settled), "%dx%d slice %d", work.mb_width,
                            work.mb_height, k);
                MOTUS_CHECK(a.size == b.size && !memcmp(a.data, b.data, a.size) && !memcmp(&a.stats, &b.stats, sizeof a.stats),
                            "%dx%d slice %d", work.mb_width, work.mb_height, k);
                motus_test_guard_free(a.data);
                motus_test_guard_free(b.data);
            }
        }
        free(settled);
        free(before);
        motus_slices_free(&slices);
        random_mbs_close(&work);
    }
}

static const MotusTest tests[] = {{"slices_read_back", slices_read_back},
                                  {"neighbour_functions", neighbour_functions},
                                  {"rows_on_threads", rows_on_threads},
                                  {"rows_of_slices", rows_of_slices},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("cavlc_mb", tests, argc, argv); }
