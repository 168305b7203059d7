// encoder/slice/slice.c and its cores: slices of random macroblocks are read back by an
// independent reader (slice_reader.h), written by one thread and by several.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/settings/stream.h"
#include "tests/encoder/bitstream/random_mbs.h"
#include "tests/encoder/bitstream/slice_reader.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

enum { W = READ_WIDTH, H = READ_HEIGHT, N = READ_MBS }; // MBs of the test picture

static void compare(const MotusCodedMbs *want, const SliceReader *p, const MotusPictureStats *stats,
                    const ReadMb *got) {
    for (int i = 0; i < N; i++) {
        MotusNeighbours neighbours = motus_neighbours(want->mb, W, i % W, i / W, 0);
        MotusMbSource src = motus_mb_source(want->src, i % W, i / W);
        MotusMv mvd[16] = {{0, 0}};
        MotusMb mb = want->mb[i];
        uint8_t pcm[384] = {0};
        int n = mb.type == MOTUS_MB_P_SKIP ? 0 : motus_mb_mvd(&mb, &neighbours, mvd);
        for (int k = 0; k < 384 && mb.type == MOTUS_MB_I_PCM; k++) {
            int plane = k / 256 + k / 320, size = plane ? 8 : 16,
                at = k - (plane ? 192 + 64 * plane : 0);
            pcm[k] = src.plane[plane][at / size * src.stride[plane] + at % size];
        }
        memset(mb.mv, 0, sizeof mb.mv);
        const void *a = &mb, *b = &got[i].mb; // zeroed before they were filled, padding included
        MOTUS_CHECK(!memcmp(a, b, sizeof mb), "MB %d type %d slice_type %d", i, mb.type,
                    p->slice_type);
        MOTUS_CHECK(!memcmp(&want->coef[i], &got[i].coef, sizeof got[i].coef),
                    "MB %d type %d coefficients", i, mb.type);
        MOTUS_CHECK(got[i].n_mvd == n && !memcmp(got[i].mvd, mvd, (size_t)n * sizeof *mvd),
                    "MB %d type %d vectors", i, mb.type);
        MOTUS_CHECK(!memcmp(got[i].pcm, pcm, sizeof pcm), "MB %d type %d samples", i, mb.type);
    }
    MOTUS_CHECK(!memcmp(&p->stats, stats, sizeof *stats), "bits %ju %ju %ju %ju",
                (uintmax_t)stats->bits_mode, (uintmax_t)stats->bits_mv, (uintmax_t)stats->bits_luma,
                (uintmax_t)stats->bits_chroma);
}

static int unseen(const long *seen, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) count += !seen[i];
    return count;
}

// Writes the slice again after overwriting all levels that must not be read.
static int same_when_poisoned(MotusCodedMbs *pic, int slice_type, int qp, const uint8_t *data,
                              size_t size) {
    static uint8_t again[N * 8192];
    MotusPictureStats stats = {0};
    MotusBits bits;
    random_mbs_poison(pic);
    motus_bits_init(&bits, again, sizeof again);
    const MotusSliceSettings slice = {.slice_type = slice_type, .qp = qp};
    motus_write_slice_data(&bits, pic, 0, pic->mb_height, &slice, &stats);
    return bits.size == size && !memcmp(again, data, size);
}

static void slices_read_back(void) {
    static SliceReader p;
    static ReadMb parsed[N];
    static uint8_t data[N * 8192];
    MotusCodedMbs pic;
    memset(&p, 0, sizeof p);
    random_mbs_open(&pic, W, H);
    for (int round = 0; round < 800; round++) {
        MotusPictureStats stats = {0};
        MotusBits bits;
        int qp = p.qp = motus_test_range(0, 51);
        p.slice_type = round & 1;
        random_mbs_fill(&pic, p.slice_type, qp,
                        round % 8 < 5 ? MBS_MIXED : (MbContent)(round / 8 % MBS_CONTENTS));
        motus_finalize_mbs(&pic, qp);
        motus_bits_init(&bits, data, sizeof data);
        const MotusSliceSettings slice = {.slice_type = p.slice_type, .qp = qp};
        motus_write_slice_data(&bits, &pic, 0, H, &slice, &stats);
        p.reader = (Reader){data, bits.size, 0, 0};
        read_slice(&p, parsed);
        MOTUS_CHECK(!p.reader.error && !bits.overflow && read_bits(&p.reader, 1) == 1 &&
                        p.reader.pos + 7 >= 8 * bits.size,
                    "round %d", round);
        compare(&pic, &p, &stats, parsed);
        MOTUS_CHECK(same_when_poisoned(&pic, p.slice_type, qp, data, bits.size), "round %d", round);
    }
    random_mbs_close(&pic);
    CU_ASSERT_EQUAL(unseen(p.seen_mb_type[0], 26), 0);
    CU_ASSERT_EQUAL(unseen(p.seen_mb_type[1], 31), 1); // P_8x8ref0 is not allowed
    CU_ASSERT_EQUAL(unseen(p.seen_sub_type, 4), 0);
    CU_ASSERT_EQUAL(unseen(p.seen_cbp[0], 48) + unseen(p.seen_cbp[1], 48), 0);
    CU_ASSERT_EQUAL(unseen(p.seen_mode[0], 81), 0);
}

// The functions that decisions use equal those of the writer.
static void neighbour_functions(void) {
    MotusCodedMbs pic;
    random_mbs_open(&pic, 3, 1);
    for (int round = 0; round < 500; round++) {
        random_mbs_fill(&pic, 1, 26, MBS_MIXED);
        const MotusMb *mb = pic.mb;
        MotusNeighbours neighbours = {round & 1 ? &mb[1] : NULL, round & 2 ? &mb[2] : NULL, NULL,
                                      NULL};
        for (int blk = 0; blk < 24; blk++) {
            int side = blk < 16 ? 4 : 2, first = blk < 16 ? 0 : blk & ~3, x = (blk - first) % side,
                y = (blk - first) / side;
            int left = x           ? mb[0].total_coeff[blk - 1]
                       : round & 1 ? mb[1].total_coeff[first + y * side + side - 1]
                                   : -1;
            int above = y           ? mb[0].total_coeff[blk - side]
                        : round & 2 ? mb[2].total_coeff[first + (side - 1) * side + x]
                                    : -1;
            MOTUS_CHECK(motus_cavlc_nc_at(mb[0].total_coeff, &neighbours, blk) ==
                            motus_cavlc_nc(left, above),
                        "blk %d around %d", blk, round & 3);
        }
    }
    random_mbs_close(&pic);
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

// Writes a slice behind a header of `header` bits into a buffer of `capacity` bytes.
static Written write_rows(const MotusCodedMbs *pic, int from, int to, int threads, int slice_type,
                          int qp, int header, size_t capacity) {
    MotusCodedMbs with = *pic;
    Written w = {.data = motus_test_guarded(capacity)};
    MotusBits bits;
    with.threads = threads;
    motus_bits_init(&bits, w.data, capacity);
    for (int i = 0; i < header; i++) motus_bits_put(&bits, 1, i % 3 == 0);
    const MotusSliceSettings slice = {.slice_type = slice_type, .qp = qp};
    motus_write_slice_data(&bits, &with, from, to, &slice, &w.stats);
    w.size = bits.size;
    w.overflow = bits.overflow;
    return w;
}

// Checks that several threads write what one writes: into a large buffer, one without space for
// each row's share, and one that is too small.
static void one_and_many(const MotusCodedMbs *pic, int slice_type, int qp, int header) {
    const size_t enough = 64 + 8192 * (size_t)pic->n_mb;
    const Written one = write_rows(pic, 0, pic->mb_height, 1, slice_type, qp, header, enough);
    const size_t capacity[4] = {enough, 2 * one.size, one.size, one.size - 1};
    for (int i = 0; i < 4; i++) {
        const Written many =
            write_rows(pic, 0, pic->mb_height, 2 + i, slice_type, qp, header, capacity[i]);
        const int equal = many.size == one.size && !memcmp(many.data, one.data, many.size) &&
                          !memcmp(&many.stats, &one.stats, sizeof one.stats);
        MOTUS_CHECK(many.overflow == (i == 3) && motus_test_guard_ok(many.data) &&
                        (equal || i == 3),
                    "%dx%d header %d buffer %d", pic->mb_width, pic->mb_height, header, i);
        motus_test_guard_free(many.data);
    }
    motus_test_guard_free(one.data);
}

static void copy_mbs(MotusMb *to, const MotusCodedMbs *from) {
    memcpy(to, from->mb, (size_t)from->n_mb * sizeof *to);
}

static int same_vectors(const MotusCodedMv *a, const MotusCodedMv *b, size_t n) {
    size_t i = 0;
    while (i < n && a[i].x == b[i].x && a[i].y == b[i].y && a[i].width == b[i].width &&
           a[i].height == b[i].height && a[i].skip == b[i].skip && a[i].list == b[i].list &&
           a[i].mv.x == b[i].mv.x && a[i].mv.y == b[i].mv.y)
        i++;
    return i == n;
}

// Finalizes and lists MVs with one thread and with several.
static void finalize_and_list(MotusCodedMbs *pic, int qp) {
    enum { MOST = 256 };
    static MotusMb before[MOST], finalized[MOST];
    static MotusCodedMv mvs[2][16 * MOST];
    const MotusRefDistances distances = {{{-1}, {1}}};
    size_t n[2];
    CU_ASSERT_FATAL(pic->n_mb <= MOST);
    copy_mbs(before, pic);
    memset(mvs, 0, sizeof mvs);
    motus_finalize_mbs(pic, qp);
    copy_mbs(finalized, pic);
    n[0] = motus_list_mvs(pic, &distances, mvs[0]);
    memcpy(pic->mb, before, (size_t)pic->n_mb * sizeof *before);
    pic->threads = 4;
    motus_finalize_mbs(pic, qp);
    n[1] = motus_list_mvs(pic, &distances, mvs[1]);
    pic->threads = 1;
    const void *a = finalized, *b = pic->mb;
    MOTUS_CHECK(!memcmp(a, b, (size_t)pic->n_mb * sizeof *finalized), "%dx%d finalized",
                pic->mb_width, pic->mb_height);
    MOTUS_CHECK(n[0] == n[1] && same_vectors(mvs[0], mvs[1], n[0]), "%dx%d vectors", pic->mb_width,
                pic->mb_height);
}

// Single rows and several together: P_Skip runs and QPs that pass through whole rows; I_PCM in no,
// some and all rows.
static void rows_on_threads(void) {
    static const int sizes[][2] = {{1, 1}, {1, 17}, {23, 1}, {3, 2}, {7, 5}, {13, 11}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MotusCodedMbs pic;
        random_mbs_open(&pic, sizes[i][0], sizes[i][1]);
        for (int round = 0; round < 9 * MBS_CONTENTS; round++) {
            const int qp = motus_test_range(0, 51), slice_type = round % 3;
            random_mbs_fill(&pic, slice_type, qp, (MbContent)(round / 9));
            finalize_and_list(&pic, qp);
            one_and_many(&pic, slice_type, qp, motus_test_range(0, 90));
        }
        random_mbs_close(&pic);
    }
}

// Returns MB rows [from, to) as a picture; `work` keeps only the MBs' own arrays.
static MotusCodedMbs rows_of(const MotusCodedMbs *pic, int from, int to, MotusFrame *src) {
    MotusCodedMbs rows = *pic;
    *src = *pic->src;
    for (int p = 0; p < 3; p++) src->plane[p].data += (p ? 8 : 16) * from * src->plane[p].stride;
    rows.src = src;
    rows.mb_height = to - from;
    rows.n_mb = rows.mb_width * rows.mb_height;
    rows.mb = pic->mb + from * pic->mb_width;
    rows.coef = pic->coef + from * pic->mb_width;
    rows.direct.col_zero = pic->direct.col_zero + from * pic->mb_width;
    rows.slice_first = NULL;
    return rows;
}

// A slice of whole rows is finalized and written like a picture of its own, as CUDA does it.
static void rows_of_slices(void) {
    static const int sizes[][3] = {{1, 2, 2}, {1, 17, 5},  {3, 2, 2},
                                   {7, 5, 3}, {13, 11, 4}, {13, 11, 11}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MotusCodedMbs pic;
        MotusSlices slices;
        random_mbs_open(&pic, sizes[i][0], sizes[i][1]);
        REQUIRE_OK(motus_slices_alloc(&slices, sizes[i][2], 0, pic.mb_width, pic.mb_height));
        MotusMb *finalized = malloc((size_t)pic.n_mb * sizeof *finalized),
                *before = malloc((size_t)pic.n_mb * sizeof *before);
        for (int round = 0; round < 3 * MBS_CONTENTS; round++) {
            const int qp = motus_test_range(0, 51), slice_type = round % 3,
                      header = motus_test_range(0, 90);
            random_mbs_fill(&pic, slice_type, qp, (MbContent)(round / 3));
            copy_mbs(before, &pic);
            pic.slice_first = slices.first;
            pic.threads = 1 + round % 3;
            motus_finalize_mbs(&pic, qp);
            copy_mbs(finalized, &pic);
            for (int k = 0; k < slices.n; k++) {
                const int from = slices.begin[k], to = slices.begin[k + 1],
                          first = from * pic.mb_width;
                const size_t capacity = 64 + 1024 * (size_t)((to - from) * pic.mb_width);
                MotusFrame src;
                memcpy(pic.mb, finalized, (size_t)pic.n_mb * sizeof *finalized);
                const Written a =
                    write_rows(&pic, from, to, 1 + round % 4, slice_type, qp, header, capacity);
                memcpy(pic.mb, before, (size_t)pic.n_mb * sizeof *before);
                MotusCodedMbs rows = rows_of(&pic, from, to, &src);
                motus_finalize_mbs(&rows, qp);
                const Written b =
                    write_rows(&rows, 0, rows.mb_height, 1, slice_type, qp, header, capacity);
                const void *want = finalized + first, *got = rows.mb;
                MOTUS_CHECK(!memcmp(got, want, (size_t)rows.n_mb * sizeof *finalized),
                            "%dx%d slice %d", pic.mb_width, pic.mb_height, k);
                MOTUS_CHECK(a.size == b.size && !memcmp(a.data, b.data, a.size) &&
                                !memcmp(&a.stats, &b.stats, sizeof a.stats),
                            "%dx%d slice %d", pic.mb_width, pic.mb_height, k);
                motus_test_guard_free(a.data);
                motus_test_guard_free(b.data);
            }
        }
        free(finalized);
        free(before);
        motus_slices_free(&slices);
        random_mbs_close(&pic);
    }
}

MOTUS_SUITE("cavlc_mb", TEST(slices_read_back), TEST(neighbour_functions), TEST(rows_on_threads),
            TEST(rows_of_slices))
