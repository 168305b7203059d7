// Entropy coding on a CUDA device gives the CPU's NAL units, statistics and settled MBs: every kind
// of MB, long runs of skipped ones and of zeros, the longest codes, several slices, buffers too
// small, several pictures in flight, a captured launch played again.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/slice_cuda.h"
#include "encoder/settings/stream.h"
#include "tests/encoder/bitstream/random_mbs.h"
#include "tests/gpu/gpu.h"

#define POISON 0xA5
#define GUARD 64       // bytes behind the NAL units' buffer
#define MOST_SLICES 18 // of a picture

// A picture, what the CPU makes of it, and its buffers on the device.
typedef struct Case {
    MotusCodedMbs pic;
    MotusSlices slices;
    MotusSliceHead head; // of every slice
    uint8_t *nal;        // as it must be
    size_t size;
    MotusPictureStats stats;
    MotusFinalizeCuda settle;
    MotusSliceCuda slice;
    MotusMv *searched;  // random ones
    int qp;             // of the pictures to come; -1: any
    uint32_t allocated; // bytes at slice.nal
    cudaStream_t stream;
    uint8_t *block; // all of the device memory but `work` and `nal`
    size_t stats_at, head_at, mb_at, coef_at, marks_at, first_at, searched_at, kept_at, src_at,
        block_bytes;
} Case;

static void make_head(Case *c, int p_slice) {
    MotusSequenceSettings sequence = {.log2_max_frame_num = 16, .pic_init_qp = 26, .deblock = 1};
    MotusSliceSettings slice = {.idr = !p_slice,
                                .idr_pic_id = motus_test_range(0, 65535),
                                .p_slice = p_slice,
                                .frame_num = motus_test_random() & 0xFFFF,
                                .qp = c->qp < 0 ? motus_test_range(0, 51) : c->qp,
                                .deblock = motus_test_range(0, 1)};
    c->head = motus_slice_head(&sequence, &slice, 2);
}

// What the CPU makes of slice k of a settled picture; returns its bytes.
static size_t write_slice(const Case *c, const MotusCodedMbs *settled, int k, uint8_t *rbsp,
                          size_t capacity, uint8_t *nal, MotusPictureStats *stats) {
    const int *begin = c->slices.begin, from = begin ? begin[k] : 0,
              to = begin ? begin[k + 1] : settled->mb_height;
    MotusBits bits;
    motus_bits_init(&bits, rbsp, capacity);
    for (uint32_t i = 0; i < c->head.header_bits; i++)
        motus_bits_put(&bits, 1, c->head.header[i / 8] >> (7 - i % 8) & 1u);
    motus_write_slice_data(&bits, settled, from, to, c->head.p_slice, c->head.qp, stats);
    CU_ASSERT_FATAL(!bits.overflow);
    return motus_nal_write(nal, c->head.nal_header >> 5, c->head.nal_header & 31, rbsp, bits.size);
}

// What the CPU writes; the MBs of `work` become settled.
static void expect(Case *c) {
    MotusCodedMbs settled = c->pic;
    size_t mb_bytes = (size_t)settled.n_mb * sizeof *settled.mb,
           capacity = (size_t)settled.n_mb * 2048 + 512;
    uint8_t *rbsp = malloc(capacity);
    settled.slice_first = c->slices.first;
    settled.mb = aligned_alloc(64, (mb_bytes + 63) & ~(size_t)63);
    memcpy(settled.mb, c->pic.mb, mb_bytes);
    motus_finalize_mbs(&settled, c->head.qp);
    memset(&c->stats, 0, sizeof c->stats);
    free(c->nal);
    c->nal = malloc((size_t)c->slices.n * 64 + motus_nal_bound(capacity));
    c->size = 0;
    for (int k = 0; k < c->slices.n; k++)
        c->size += write_slice(c, &settled, k, rbsp, capacity, c->nal + c->size, &c->stats);
    free(rbsp);
    memcpy(c->pic.mb, settled.mb, mb_bytes);
    free(settled.mb);
}

static void fill(Case *c, int p_slice, MbContent content) {
    make_head(c, p_slice);
    random_mbs_fill(&c->pic, p_slice, c->head.qp, content);
    random_mbs_poison(&c->pic);
}

static size_t take(size_t *end, size_t bytes) {
    size_t at = *end;
    *end += (bytes + 255) & ~(size_t)255;
    return at;
}

static void open_case(Case *c, int mb_width, int mb_height, uint32_t most) {
    MotusSliceCuda *s = &c->slice;
    memset(c, 0, sizeof *c);
    c->slices.n = 1;
    random_mbs_open(&c->pic, mb_width, mb_height);
    const size_t bytes = motus_slice_cuda_bytes(c->pic.n_mb, most);
    size_t n = (size_t)c->pic.n_mb, samples = 0;
    for (int p = 0; p < 3; p++)
        samples += (size_t)c->pic.src->plane[p].stride * (size_t)c->pic.src->plane[p].height;
    take(&c->block_bytes, (MOST_SLICES + 1) * sizeof(MotusSliceResult));
    c->stats_at = take(&c->block_bytes, sizeof(MotusPictureStats));
    c->head_at = take(&c->block_bytes, sizeof(MotusSliceHead));
    c->mb_at = take(&c->block_bytes, n * sizeof(MotusMb));
    c->coef_at = take(&c->block_bytes, n * sizeof(MotusMbCoef));
    c->marks_at = take(&c->block_bytes, 2 * motus_mark_words((int)n) * sizeof(uint32_t));
    c->first_at = take(&c->block_bytes, n * sizeof(int));
    c->searched_at = take(&c->block_bytes, n * sizeof(MotusMv));
    c->kept_at = take(&c->block_bytes, n * sizeof(MotusMv));
    c->src_at = take(&c->block_bytes, samples);
    c->searched = malloc(n * sizeof *c->searched);
    c->qp = -1;
    c->allocated = most + GUARD;
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking),
                          cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(cudaMalloc((void **)&c->block, c->block_bytes), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(cudaMalloc(&s->work, bytes), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(cudaMemset(s->work, POISON, bytes), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(cudaMalloc((void **)&s->nal, c->allocated), cudaSuccess);
    s->mb_width = mb_width, s->mb_height = mb_height, s->capacity = most;
    s->result = (MotusSliceResult *)c->block;
    s->stats = (MotusPictureStats *)(c->block + c->stats_at);
    s->head = (const MotusSliceHead *)(c->block + c->head_at);
    s->mb = (MotusMb *)(c->block + c->mb_at);
    s->coef = (const MotusMbCoef *)(c->block + c->coef_at);
    s->marks.coded = (uint32_t *)(void *)(c->block + c->marks_at);
    s->marks.with_qp = s->marks.coded + motus_mark_words((int)n);
    c->settle = (MotusFinalizeCuda){.mb_width = mb_width,
                                    .n_mb = (int)n,
                                    .mb = (MotusMb *)(c->block + c->mb_at),
                                    .marks = s->marks,
                                    .searched = (const MotusMv *)(c->block + c->searched_at),
                                    .kept = (MotusMv *)(c->block + c->kept_at)};
}

static void upload_vectors(Case *c) {
    const size_t n = (size_t)c->pic.n_mb;
    for (size_t i = 0; i < n; i++)
        c->searched[i] =
            (MotusMv){(int16_t)motus_test_range(-999, 999), (int16_t)motus_test_range(-999, 999)};
    CU_ASSERT_EQUAL(cudaMemcpy(c->block + c->searched_at, c->searched, n * sizeof(MotusMv),
                               cudaMemcpyHostToDevice),
                    cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemset(c->settle.kept, POISON, n * sizeof(MotusMv)), cudaSuccess);
    CU_ASSERT_EQUAL(
        cudaMemset(c->slice.marks.coded, POISON, 2 * motus_mark_words((int)n) * sizeof(uint32_t)),
        cudaSuccess);
    c->settle.slice_first = c->slices.first ? (const int *)(void *)(c->block + c->first_at) : NULL;
    if (c->slices.first)
        CU_ASSERT_EQUAL(cudaMemcpy(c->block + c->first_at, c->slices.first, n * sizeof(int),
                                   cudaMemcpyHostToDevice),
                        cudaSuccess);
}

// Everything that the picture is made from; poisons what it is to become.
static void upload(Case *c) {
    size_t n = (size_t)c->pic.n_mb;
    uint8_t *at = c->block + c->src_at;
    upload_vectors(c);
    CU_ASSERT_EQUAL(cudaMemset(c->block, POISON, (MOST_SLICES + 1) * sizeof(MotusSliceResult)),
                    cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemset(c->slice.stats, 0, sizeof *c->slice.stats), cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemset(c->slice.nal, POISON, c->allocated), cudaSuccess);
    CU_ASSERT_EQUAL(
        cudaMemcpy(c->block + c->head_at, &c->head, sizeof c->head, cudaMemcpyHostToDevice),
        cudaSuccess);
    CU_ASSERT_EQUAL(
        cudaMemcpy(c->block + c->mb_at, c->pic.mb, n * sizeof(MotusMb), cudaMemcpyHostToDevice),
        cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemcpy(c->block + c->coef_at, c->pic.coef, n * sizeof(MotusMbCoef),
                               cudaMemcpyHostToDevice),
                    cudaSuccess);
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &c->pic.src->plane[p];
        size_t bytes = (size_t)plane->stride * (size_t)plane->height;
        CU_ASSERT_EQUAL(cudaMemcpy(at, plane->data, bytes, cudaMemcpyHostToDevice), cudaSuccess);
        c->slice.src[p] = at;
        c->slice.src_stride[p] = plane->stride;
        at += bytes;
    }
}

// The last slice's result is the picture's, as in a lane.
static void start(Case *c) {
    c->settle.qp = c->head.qp;
    CU_ASSERT_EQUAL(motus_finalize_cuda(&c->settle, c->stream), cudaSuccess);
    for (int k = 0; k < c->slices.n; k++) {
        const int *begin = c->slices.begin, from = begin ? begin[k] : 0,
                  to = begin ? begin[k + 1] : c->pic.mb_height;
        MotusSliceCuda s = c->slice;
        s.mb_height = to - from;
        s.first_mb = from * s.mb_width;
        s.mb += from * s.mb_width, s.coef += from * s.mb_width;
        for (int p = 0; p < 3; p++) s.src[p] += (p ? 8 : 16) * from * s.src_stride[p];
        s.before = k ? c->slice.result + k : NULL;
        s.result = k + 1 < c->slices.n ? c->slice.result + 1 + k : c->slice.result;
        CU_ASSERT_EQUAL(motus_slice_cuda_write(&s, c->stream), cudaSuccess);
    }
}

// Bytes that differ, or -1.
static long first_difference(const uint8_t *a, const uint8_t *b, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) return (long)i;
    return -1;
}

static int behind_is_untouched(const Case *c, const uint8_t *nal, size_t from) {
    for (size_t i = from; i < c->allocated; i++)
        if (nal[i] != POISON) return 0;
    return 1;
}

// What the next picture's centres are predicted from; c->work.mb is settled.
static void check_kept(const Case *c, const char *what) {
    const int n = c->pic.n_mb;
    MotusMv *kept = malloc((size_t)n * sizeof *kept);
    int wrong = 0;
    CU_ASSERT_EQUAL(
        cudaMemcpy(kept, c->settle.kept, (size_t)n * sizeof *kept, cudaMemcpyDeviceToHost),
        cudaSuccess);
    for (int i = 0; i < n; i++) {
        const MotusMb *mb = &c->pic.mb[i];
        wrong += !motus_mv_equal(kept[i], motus_mb_is_intra(mb) ? c->searched[i] : mb->mv[0]);
    }
    MOTUS_CHECK(!wrong, "%s %dx%d: %d vectors kept", what, c->pic.mb_width, c->pic.mb_height,
                wrong);
    free(kept);
}

// After `start`; c->work.mb is settled.
static void check(Case *c, const char *what) {
    size_t n = (size_t)c->pic.n_mb;
    uint8_t *nal = malloc(c->allocated);
    MotusMb *mb = malloc(n * sizeof *mb);
    MotusSliceResult result;
    MotusPictureStats stats;
    CU_ASSERT_EQUAL(cudaStreamSynchronize(c->stream), cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemcpy(&result, c->slice.result, sizeof result, cudaMemcpyDeviceToHost),
                    cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemcpy(&stats, c->slice.stats, sizeof stats, cudaMemcpyDeviceToHost),
                    cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemcpy(nal, c->slice.nal, c->allocated, cudaMemcpyDeviceToHost),
                    cudaSuccess);
    CU_ASSERT_EQUAL(cudaMemcpy(mb, c->slice.mb, n * sizeof *mb, cudaMemcpyDeviceToHost),
                    cudaSuccess);
    const void *settled = mb, *want = c->pic.mb;
    MOTUS_CHECK(!memcmp(settled, want, n * sizeof *mb), "%s %dx%d: settled MBs", what,
                c->pic.mb_width, c->pic.mb_height);
    check_kept(c, what);
    if (c->size <= c->slice.capacity) {
        MOTUS_CHECK(result.size == c->size && !result.overflow,
                    "%s %dx%d: %u of %zu bytes, overflow %u", what, c->pic.mb_width,
                    c->pic.mb_height, result.size, c->size, result.overflow);
        long at = first_difference(nal, c->nal, c->size);
        MOTUS_CHECK(at < 0, "%s %dx%d: byte %ld of %zu differs: %02x, not %02x", what,
                    c->pic.mb_width, c->pic.mb_height, at, c->size, nal[at], c->nal[at]);
        MOTUS_CHECK(behind_is_untouched(c, nal, c->size), "%s: written behind the end", what);
        MOTUS_CHECK(!memcmp(&stats, &c->stats, sizeof stats),
                    "%s %dx%d: %ju %ju %ju %ju bits, not %ju %ju %ju %ju", what, c->pic.mb_width,
                    c->pic.mb_height, (uintmax_t)stats.bits_mode, (uintmax_t)stats.bits_mv,
                    (uintmax_t)stats.bits_luma, (uintmax_t)stats.bits_chroma,
                    (uintmax_t)c->stats.bits_mode, (uintmax_t)c->stats.bits_mv,
                    (uintmax_t)c->stats.bits_luma, (uintmax_t)c->stats.bits_chroma);
    } else {
        MOTUS_CHECK(!result.size && result.overflow == 1, "%s: overflow %u, size %u", what,
                    result.overflow, result.size);
        MOTUS_CHECK(behind_is_untouched(c, nal, c->slice.capacity), "%s: written past the capacity",
                    what);
    }
    free(nal);
    free(mb);
}

static void close_case(Case *c) {
    random_mbs_close(&c->pic);
    motus_slices_free(&c->slices);
    free(c->nal);
    free(c->searched);
    cudaFree(c->block);
    cudaFree(c->slice.work);
    cudaFree(c->slice.nal);
    cudaStreamDestroy(c->stream);
}

static void run_case(Case *c, int p_slice, MbContent content, const char *what) {
    fill(c, p_slice, content);
    upload(c);
    expect(c);
    start(c);
    check(c, what);
}

static const char *const names[MBS_CONTENTS] = {"mixed", "quiet", "skipped", "I_PCM", "largest"};

static uint32_t most_bytes(int mbs) { return (uint32_t)mbs * 3072 + 1024; }

static void every_content_and_size(void) {
    static const int size[][3] = {{1, 1, 60}, {1, 4, 30},  {4, 1, 30},
                                  {3, 5, 40}, {22, 18, 8}, {120, 68, 1}};
    if (!motus_test_has_gpu()) return;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        Case c;
        open_case(&c, size[i][0], size[i][1], most_bytes(size[i][0] * size[i][1]));
        for (int round = 0; round < size[i][2] * 2 * MBS_CONTENTS; round++) {
            MbContent content = (MbContent)(round / 2 % MBS_CONTENTS);
            run_case(&c, round & 1, content, names[content]);
        }
        close_case(&c);
    }
}

static void several_slices(void) {
    static const int size[][3] = {{1, 4, 2}, {3, 5, 5}, {22, 18, 4}, {22, 18, 18}, {120, 68, 8}};
    if (!motus_test_has_gpu()) return;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        Case c;
        open_case(&c, size[i][0], size[i][1], most_bytes(size[i][0] * size[i][1]));
        CU_ASSERT_EQUAL_FATAL(motus_slices_make(&c.slices, size[i][2], size[i][0], size[i][1]),
                              MOTUS_OK);
        const uint32_t capacity = c.slice.capacity;
        for (int round = 0; round < 6 * MBS_CONTENTS; round++) {
            const MbContent content = (MbContent)(round / 2 % MBS_CONTENTS);
            fill(&c, round & 1, content);
            upload(&c);
            expect(&c);
            // In the end too little room: for the last slice, or for one before.
            c.slice.capacity =
                round < 4 * MBS_CONTENTS ? capacity : (uint32_t)motus_test_range(1, (int)c.size);
            start(&c);
            check(&c, names[content]);
        }
        close_case(&c);
    }
}

static void large_pictures(void) {
    static const MbContent contents[] = {MBS_MIXED, MBS_QUIET, MBS_PCM};
    if (!motus_test_has_gpu()) return;
    Case c;
    open_case(&c, 256, 144, 256 * 144 * 1100);
    for (int i = 0; i < 3; i++) run_case(&c, 1, contents[i], names[contents[i]]);
    close_case(&c);
}

// Capacities around the size that is needed, and far below it.
static void buffers_too_small(void) {
    if (!motus_test_has_gpu()) return;
    Case c;
    open_case(&c, 11, 9, most_bytes(99));
    for (int round = 0; round < 60; round++) {
        MbContent content = (MbContent)(round / 2 % MBS_CONTENTS);
        fill(&c, round & 1, content);
        upload(&c);
        expect(&c);
        uint32_t capacity = (uint32_t)c.size;
        if (round % 3 == 1) capacity -= (uint32_t)motus_test_range(1, 3);
        if (round % 3 == 2) capacity = (uint32_t)motus_test_range(1, (int)c.size);
        c.slice.capacity = capacity ? capacity : 1;
        start(&c);
        check(&c, names[content]);
    }
    close_case(&c);
}

static void pictures_in_flight(void) {
    enum { LANES = 4 };
    if (!motus_test_has_gpu()) return;
    Case c[LANES];
    for (int i = 0; i < LANES; i++)
        open_case(&c[i], 30 + i, 17 + 3 * i, most_bytes((30 + i) * (17 + 3 * i)));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < LANES; i++) {
            fill(&c[i], round & 1, (MbContent)((round + i) % 2));
            upload(&c[i]);
            expect(&c[i]);
        }
        for (int i = 0; i < LANES; i++) start(&c[i]);
        for (int i = 0; i < LANES; i++) check(&c[i], "in flight");
    }
    for (int i = 0; i < LANES; i++) close_case(&c[i]);
}

// Captured once; each picture, I or P, is another playing of it at the same QP.
static void captured_once(void) {
    if (!motus_test_has_gpu()) return;
    Case c;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    open_case(&c, 22, 18, most_bytes(22 * 18));
    c.qp = 31;
    fill(&c, 0, MBS_MIXED);
    upload(&c); // sets the planes
    CU_ASSERT_EQUAL_FATAL(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeThreadLocal),
                          cudaSuccess);
    start(&c);
    CU_ASSERT_EQUAL_FATAL(cudaStreamEndCapture(c.stream, &graph), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
    for (int round = 0; round < 8; round++) {
        fill(&c, round & 1, (MbContent)(round / 2));
        upload(&c);
        expect(&c);
        CU_ASSERT_EQUAL(cudaGraphLaunch(exec, c.stream), cudaSuccess);
        check(&c, "played again");
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    close_case(&c);
}

static const MotusTest tests[] = {{"every_content_and_size", every_content_and_size},
                                  {"several_slices", several_slices},
                                  {"large_pictures", large_pictures},
                                  {"buffers_too_small", buffers_too_small},
                                  {"pictures_in_flight", pictures_in_flight},
                                  {"captured_once", captured_once},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_slice", tests, argc, argv); }
