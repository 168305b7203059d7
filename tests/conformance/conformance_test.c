// The encoder against independent decoders: libavcodec and openh264 decode every stream of a
// reduced grid to exactly the reconstruction, without a complaint. All streams together contain
// every kind of macroblock, mode and code word.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/decoders/conform_case.h"
#include "tests/conformance/decoders/decoders.h"
#include "tests/support/harness.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 200 };

static MotusCoverage coverage; // of all streams of this program

// Encodes and judges the case; returns its statistics.
static MotusPictureStats run_case(const ConformCase *c) {
    MotusPictureStats stats;
    conform_case_run(c, &coverage, &stats);
    return stats;
}

// Runs the case in Baseline and in High profile; returns the latter's statistics.
static MotusPictureStats run_profiles(const ConformCase *c) {
    ConformCase high = *c;
    high.config.profile = MOTUS_PROFILE_HIGH;
    run_case(c);
    return run_case(&high);
}

static void grid(void) {
    static const int qp[] = {0, 10, 22, 27, 32, 37, 45, 51}, keyint[] = {1, 3, 0},
                     range[] = {8, 16, 32, 64}, offset[] = {-3, 0, 6};
    static const int size[][2] = {{16, 16}, {2, 2}, {18, 34}, {80, 64}, {112, 80}};
    static const uint32_t partitions[] = {1 << MOTUS_MODE_16x16, 0x7, 0xF, MOTUS_MODES_ALL,
                                          1 << MOTUS_MODE_4x4};
    enum {
        QP,
        KEYINT,
        RANGE,
        OFFSET,
        SIZE,
        PARTITIONS,
        SUBPEL,
        DEBLOCK,
        MATERIAL,
        AUD,
        PRESET,
        THREADS,
        RATE,
        MAPS,
        PROFILE,
        CAVLC,
        AXES
    };
    static const int sizes[AXES] = {8,
                                    3,
                                    4,
                                    3,
                                    5,
                                    5,
                                    3,
                                    2,
                                    MOTUS_MATERIALS,
                                    2,
                                    MOTUS_PRESETS,
                                    2,
                                    MOTUS_CONFORM_RATES,
                                    2,
                                    MOTUS_PROFILES,
                                    2};
    static int rows[MOST_ROWS][MOTUS_MAX_AXES];
    const int n = motus_pairwise(AXES, sizes, rows, MOST_ROWS);
    CU_ASSERT_FATAL(n <= MOST_ROWS);
    for (int i = 0; i < n; i++) {
        const int *row = rows[i];
        ConformCase c = conform_case((MotusMaterial)row[MATERIAL], size[row[SIZE]][0],
                                     size[row[SIZE]][1], 5, qp[row[QP]]);
        c.config.keyint = keyint[row[KEYINT]];
        c.config.range = range[row[RANGE]];
        c.config.qp_i_offset = offset[row[OFFSET]];
        c.config.partitions = partitions[row[PARTITIONS]];
        c.config.subpel = (MotusSubpel)row[SUBPEL];
        c.config.deblock = row[DEBLOCK];
        c.config.aud = row[AUD];
        c.config.preset = (MotusPreset)row[PRESET];
        c.config.threads = 1 + 2 * row[THREADS];
        c.maps = (MotusConformMaps)row[MAPS];
        c.config.profile = (MotusProfile)row[PROFILE];
        c.config.cabac = !row[CAVLC];
        motus_conform_rate(&c.config, row[RATE]);
        run_case(&c);
    }
    printf("\n    %d cases ", n);
}

// Every QP, and every size of the last MB column and row.
static void every_qp(void) {
    for (int qp = 0; qp <= 51; qp++) {
        ConformCase c = conform_case(MOTUS_MATERIAL_SCENE, 48 + qp % 8 * 2, 46 - qp % 8 * 2, 4, qp);
        c.config.qp_i_offset = 0;
        run_profiles(&c);
    }
}

static void keyint_10(void) {
    ConformCase c = conform_case(MOTUS_MATERIAL_SCENE, 64, 48, 12, 30);
    c.config.keyint = 10;
    run_case(&c);
}

// Material with many code words, at QPs that leave many levels or few.
static void rich_material(void) {
    for (int qp = 2; qp < 48; qp += 3) {
        for (int material = 0; material < MOTUS_MATERIALS; material++) {
            ConformCase c = conform_case((MotusMaterial)material, 112, 96, 4, qp);
            c.config.keyint = material % 2 + 2;
            c.grey = qp % 2;
            run_profiles(&c);
        }
    }
}

// MBs that need more than 3200 bits any other way become I_PCM.
static void noise_at_qp_0(void) {
    ConformCase c = conform_case(MOTUS_MATERIAL_NOISE, 64, 48, 4, 0);
    MOTUS_CHECK(run_profiles(&c).mb[MOTUS_MB_I_PCM] > 0, "noise");
    c.material = MOTUS_MATERIAL_HARD;
    run_profiles(&c);
}

static void still_pictures_are_skipped(void) {
    ConformCase c = conform_case(MOTUS_MATERIAL_STILL, 96, 64, 5, 34);
    MOTUS_CHECK(run_case(&c).mb[MOTUS_MB_P_SKIP] >= 4 * 24 / 2, "still");
}

// The longest MVs of the search stay within the level's vertical range.
static void long_vectors(void) {
    static const int sizes[][2] = {{32, 256}, {176, 144}, {352, 64}};
    for (int i = 0; i < 3; i++) {
        ConformCase c = conform_case(MOTUS_MATERIAL_FAST, sizes[i][0], sizes[i][1], 4, 24 + i);
        c.config.range = 128;
        c.config.fps = (MotusRational){i == 0 ? 5 : 15, 1};
        run_case(&c);
    }
}

// Rates and sizes for levels on both sides of the limits on MVs per two MBs.
static void levels(void) {
    static const int fps[] = {1, 10, 60, 300, 3000};
    for (int i = 0; i < 5; i++) {
        ConformCase c = conform_case(MOTUS_MATERIAL_HARD, 96, 96, 3, 18);
        c.config.fps = (MotusRational){fps[i], 1};
        run_case(&c);
        c.config.width = 400;
        run_case(&c);
    }
}

static void long_and_thin(void) {
    static const int sizes[][2] = {{1040, 16}, {16, 1040}, {2, 130}, {130, 2}};
    for (int i = 0; i < 4; i++) {
        ConformCase c = conform_case(MOTUS_MATERIAL_SCENE, sizes[i][0], sizes[i][1], 3, 24);
        run_case(&c);
    }
}

// Fields of the VUI do not change pictures.
static void colours_and_rates(void) {
    for (int i = 0; i < 6; i++) {
        ConformCase c = conform_case(MOTUS_MATERIAL_STILL, 48, 32, 3, 28);
        c.config.colour = (MotusColour){{i * 4, 3 + i},  i % 3 - 1,       1 + 4 * (i % 2),
                                        1 + 5 * (i % 2), 1 + 4 * (i % 2), i - 1};
        c.config.fps = (MotusRational){i % 2 ? 30000 : 24 + i, i % 2 ? 1001 : 1};
        run_case(&c);
    }
}

static void threads_do_not_matter(void) {
    const ConformCase one = conform_case(MOTUS_MATERIAL_SCENE, 112, 80, 6, 26);
    for (int threads = 3; threads <= 7; threads += 2) {
        ConformCase many = one;
        many.config.threads = threads;
        conform_case_same(&one, &many, NULL, "threads");
    }
}

// Plain C and all versions for this CPU.
static void executors_agree(void) {
    for (int material = 0; material < MOTUS_MATERIALS; material++) {
        const ConformCase c =
            conform_case((MotusMaterial)material, 112, 80, 4, 12 + 7 * material % 30);
        conform_case_same(&c, &c, "c", "plain C");
    }
}

static void ignore(void *context, int number, const MotusPlane plane[3]) {
    (void)context, (void)number, (void)plane;
}

// Returns the bytes up to the middle of the last NAL unit.
static size_t cut_within_last_nal(const MotusCoded *coded) {
    size_t begin = coded->size - 3;
    while (begin && memcmp(coded->data + begin, "\0\0\1", 3)) begin--;
    return begin + (coded->size - begin) / 2;
}

// The judges must notice damage.
static void damage_is_found(void) {
    ConformCase c = conform_case(MOTUS_MATERIAL_SCENE, 112, 80, 4, 24);
    MotusCoded coded;
    conform_case_encode(&coded, &c);
    coded.recon[2]->plane[1].data[5 * coded.recon[2]->plane[1].stride + 7] ^= 1;
    motus_conform_judge(&coded, &coverage);
    MOTUS_CHECK(strstr(coded.failure, "picture 2 plane 1 differs first at 7,5"), "%s",
                coded.failure);
    for (int d = 0; d < MOTUS_DECODERS && coded.size > 100; d++) {
        MotusDecodeReport report;
        motus_decoders[d].decode(coded.data, cut_within_last_nal(&coded), ignore, NULL, &report);
        MOTUS_CHECK(report.complaints > 0, "%s: a cut stream", motus_decoders[d].name);
    }
    motus_coded_free(&coded);
}

// Values of a syntax element (or code words of a table): how many occurred, how many exist, and the
// count of the rarest.
typedef struct Tally {
    int seen, possible;
    unsigned least;
} Tally;

static void count(Tally *tally, unsigned occurrences) {
    if (tally->possible++ == 0 || occurrences < tally->least) tally->least = occurrences;
    tally->seen += occurrences > 0;
}

static Tally count_all(const unsigned *occurrences, int n) {
    Tally tally = {0};
    for (int i = 0; i < n; i++) count(&tally, occurrences[i]);
    return tally;
}

// Checks that at most `spare` of the values are missing.
static void expect(const char *name, Tally tally, int spare) {
    printf("\n    %-26s %4d of %4d, the rarest %u times", name, tally.seen, tally.possible,
           tally.least);
    MOTUS_CHECK(tally.seen + spare >= tally.possible, "%s", name);
}

static Tally tokens(int nc_class) {
    const int most = nc_class == 4 ? 4 : 16;
    Tally tally = {0};
    for (int total = 0; total <= most; total++)
        for (int ones = 0; ones <= 3 && ones <= total; ones++)
            count(&tally, coverage.token[nc_class][total][ones]);
    return tally;
}

static Tally total_zeros(void) {
    Tally tally = {0};
    for (int total = 1; total < 16; total++)
        for (int zeros = 0; zeros <= 16 - total; zeros++)
            count(&tally, coverage.total_zeros[total][zeros]);
    return tally;
}

static Tally total_zeros_dc(void) {
    Tally tally = {0};
    for (int total = 1; total < 4; total++)
        for (int zeros = 0; zeros <= 4 - total; zeros++)
            count(&tally, coverage.total_zeros_dc[total][zeros]);
    return tally;
}

static Tally runs_before(void) {
    Tally tally = {0};
    for (int left = 1; left <= 7; left++)
        for (int run = 0; run <= (left < 7 ? left : 14); run++)
            count(&tally, coverage.run_before[left][run]);
    return tally;
}

// Counts zeros and ones in the contexts of progressive I and P slices with one reference.
static Tally bins(void) {
    Tally tally = {0};
    for (int i = MOTUS_CTX_I_TYPE; i < MOTUS_CONTEXTS; i++) {
        const int is_b = i >= 24 && i < MOTUS_CTX_MVD, is_ref = i >= 54 && i < MOTUS_CTX_QP_DELTA,
                  is_field = i >= 70 && i < MOTUS_CTX_CBP_LUMA;
        const int is_other = i >= MOTUS_CTX_TERMINATE && i < MOTUS_CTX_TRANSFORM_8x8;
        for (int bin = 0; bin < 2 && !is_b && !is_ref && !is_field && !is_other; bin++)
            count(&tally, coverage.bins[i][bin]);
    }
    return tally;
}

// Checks the streams of the tests before. A few code words may be missing, so that other decisions
// of the encoder do not break the test.
static void everything_occurs(void) {
    const MotusCoverage *c = &coverage;
    if (c->pictures[1] == 0) {
        motus_test_skip("nothing has been encoded: run the whole suite");
        return;
    }
    expect("mb_type, I slices", count_all(c->i_mb_type[0], 26), 0);
    expect("mb_type, intra in P slices", count_all(c->i_mb_type[1], 26), 0);
    expect("mb_type, inter", count_all(c->p_mb_type, 4), 0);
    expect("P_Skip", count_all(&c->p_skip, 1), 0);
    expect("sub_mb_type", count_all(c->sub_mb_type, 4), 0);
    expect("intra4x4_pred_mode", count_all(c->intra4x4_pred_mode, 9), 0);
    expect("intra4x4 mode predicted", count_all(&c->intra4x4_is_predicted, 1), 0);
    expect("intra_chroma_pred_mode", count_all(c->intra_chroma, 4), 0);
    expect("coded_block_pattern, inter", count_all(c->cbp[0], 48), 4);
    // The decision hardly ever chooses I_NxN with levels in one 8x8 luma block only.
    expect("coded_block_pattern, intra", count_all(c->cbp[1], 48), 16);
    expect("QP", count_all(c->qp, 52), 0);
    expect("coeff_token, nC 0..1", tokens(0), 2);
    expect("coeff_token, nC 2..3", tokens(1), 2);
    expect("coeff_token, nC 4..7", tokens(2), 2);
    expect("coeff_token, nC 8..", tokens(3), 2);
    expect("coeff_token, chroma DC", tokens(4), 2);
    expect("total_zeros", total_zeros(), 2);
    expect("total_zeros, chroma DC", total_zeros_dc(), 0);
    expect("run_before", runs_before(), 2);
    for (int i = 0; i < 7; i++) expect("level_prefix", count_all(c->level_prefix[i], 16), 0);
    expect("intra8x8_pred_mode", count_all(c->intra8x8_pred_mode, 9), 0);
    expect("transform_size_8x8_flag", count_all(c->transform_8x8, 2), 0);
    expect("bins in contexts", bins(), 8);
    expect("emulation prevention", count_all(&c->emulation_prevention, 1), 0);
    printf("\n    longest macroblock_layer(): %u bits; %u I and %u P pictures ", c->mb_bits,
           c->pictures[0], c->pictures[1]);
}

MOTUS_SUITE("conformance", TEST(grid), TEST(every_qp), TEST(keyint_10), TEST(rich_material),
            TEST(noise_at_qp_0), TEST(still_pictures_are_skipped), TEST(long_vectors), TEST(levels),
            TEST(long_and_thin), TEST(colours_and_rates), TEST(threads_do_not_matter),
            TEST(executors_agree), TEST(damage_is_found), TEST(everything_occurs))
