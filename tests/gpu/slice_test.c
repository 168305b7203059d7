// Entropy coding: NAL units, statistics and finalized MBs, for every kind of MB, long runs of
// skipped MBs and of zeros, the longest codes, several slices and buffers too small. CAVLC, and
// CABAC with its costs and cabac_zero_words.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/slice_cuda.h"
#include "encoder/cabac/cabac_cuda.h"
#include "encoder/settings/stream.h"
#include "tests/encoder/bitstream/random_mbs.h"
#include "tests/gpu/gpu_test.h"

enum { MOST_SLICES = 18, THRICE = 3 * MBS_CONTENTS };

// row->variant: the slices of a picture; which rounds have too little memory for their NAL units.
enum { SLICES = 31, SHORT_IN_THE_END = 32, ABOUT_ENOUGH = 64, CABAC = 128, IN_PIECES = 256 };

typedef struct Slice {
    MotusCodedMbs pic; // MBs as they were decided
    MotusSlices slices;
    MotusSliceHead head; // of every slice
    MotusSliceSettings settings;
    uint32_t most, capacity, piece;
    uint8_t *want; // NAL units
    size_t size;
    MotusPictureStats want_stats;
    GpuBuffer *nal, *result, *earlier, *stats, *d_head, *mb, *coef, *marks, *first, *searched,
        *kept, *scratch, *context, *bins, *costs, *next, *col_zero;
    GpuPlane src[3];
} Slice;

static const char *const content_names[MBS_CONTENTS] = {"mixed", "quiet", "skipped", "I_PCM",
                                                        "largest"};
static const char type_names[3][2] = {"I", "P", "B"};

// ---- Memory -------------------------------------------------------------------------------------

static void open_slice(GpuCase *c) {
    Slice *s = c->state;
    const int mb_width = (c->width + 15) / 16, mb_height = (c->height + 15) / 16,
              slices = c->row->variant & SLICES, bytes_per_mb = c->width > 2000 ? 1100 : 3072;
    const size_t n = (size_t)mb_width * (size_t)mb_height, words = 2 * motus_mark_words((int)n);
    c->width = 16 * mb_width, c->height = 16 * mb_height;
    s->slices.n = 1;
    random_mbs_open(&s->pic, mb_width, mb_height);
    if (slices > 1)
        CU_ASSERT_FATAL(!motus_slices_alloc(&s->slices, slices, 0, mb_width, mb_height));
    s->most = s->capacity = (uint32_t)(n * (size_t)bytes_per_mb + 1024);
    s->nal = gpu_buffer(c, "NAL units", GPU_RESULT, s->most);
    s->result = gpu_buffer(c, "result", GPU_OUTPUT, sizeof(MotusSliceResult));
    s->earlier = gpu_buffer(c, "results", GPU_SCRATCH, MOST_SLICES * sizeof(MotusSliceResult));
    s->stats = gpu_buffer(c, "statistics", GPU_STATE, sizeof(MotusPictureStats));
    s->d_head = gpu_buffer(c, "head", GPU_INPUT, sizeof(MotusSliceHead));
    s->mb = gpu_buffer(c, "MBs", GPU_IN_OUT, n * sizeof(MotusMb));
    s->coef = gpu_buffer(c, "levels", GPU_INPUT, n * sizeof(MotusMbCoef));
    s->marks = gpu_buffer(c, "marks", GPU_SCRATCH, words * sizeof(uint32_t));
    s->first = gpu_buffer(c, "first MBs", GPU_INPUT, n * sizeof(int));
    s->col_zero = gpu_buffer(c, "col_zero", GPU_INPUT, n);
    s->searched = gpu_buffer(c, "searched MVs", GPU_INPUT, n * sizeof(MotusMv));
    s->kept = gpu_buffer(c, "kept MVs", GPU_OUTPUT, n * sizeof(MotusMv));
    s->piece = c->row->variant & IN_PIECES ? (uint32_t)motus_test_range(30, 3000)
                                           : motus_cabac_cuda_piece((int)n);
    s->scratch =
        gpu_buffer(c, "scratch", GPU_SCRATCH,
                   c->row->variant & CABAC ? motus_cabac_cuda_bytes((int)n, s->most, s->piece)
                                           : motus_slice_cuda_bytes((int)n, s->most));
    s->context = gpu_buffer(c, "contexts", GPU_SCRATCH, n * sizeof(MotusMbContext));
    s->pic.context = c->row->variant & CABAC ? malloc(n * sizeof *s->pic.context) : NULL;
    s->bins = gpu_buffer(c, "bins", GPU_STATE, sizeof(MotusBinCounts));
    s->costs = gpu_buffer(c, "costs", GPU_INPUT, sizeof(MotusCabacCosts));
    s->next = gpu_buffer(c, "next costs", GPU_RESULT, sizeof(MotusCabacCosts));
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &s->pic.src->plane[p];
        s->src[p] =
            gpu_plane(c, "source", GPU_INPUT, plane->width, plane->height, plane->stride, 1);
    }
}

static void close_slice(GpuCase *c) {
    Slice *s = c->state;
    random_mbs_close(&s->pic);
    motus_slices_free(&s->slices);
    free(s->pic.context);
    free(s->want);
}

// ---- Content ------------------------------------------------------------------------------------

static void make_head(Slice *s, int cabac, int slice_type, int qp) {
    const int transform_8x8 = motus_test_range(0, 1);
    const MotusSequenceSettings sequence = {.log2_max_frame_num = 16,
                                            .pic_init_qp = 26,
                                            .deblock = 1,
                                            .cabac = cabac,
                                            .transform_8x8 = transform_8x8};
    s->settings = (MotusSliceSettings){.idr = !slice_type,
                                       .idr_pic_id = motus_test_range(0, 65535),
                                       .slice_type = slice_type,
                                       .frame_num = motus_test_random() & 0xFFFF,
                                       .qp = qp,
                                       .deblock = motus_test_range(0, 1),
                                       .cabac = cabac,
                                       .cabac_init_idc = motus_test_range(0, 2),
                                       .transform_8x8 = transform_8x8};
    s->head = motus_slice_head(&sequence, &s->settings, 2);
}

// Every content as I, P and B; large pictures as P and B. A captured launch needs pictures of one
// QP that are all B or none.
static void fill_slice(GpuCase *c) {
    static const MbContent few[] = {MBS_MIXED, MBS_QUIET, MBS_PCM};
    Slice *s = c->state;
    const int large = c->width > 2000, slice_type = large ? MOTUS_SLICE_P + c->round / 3 % 2
                                                    : c->row->graph ? c->round % 2
                                                                    : c->round % 3;
    const MbContent content = large              ? few[c->round % 3]
                              : c->row->together ? few[(c->round + c->number) % 2]
                                                 : (MbContent)(c->round / 3 % MBS_CONTENTS);
    const size_t n = (size_t)s->pic.n_mb;
    MotusMv *searched = s->searched->at[ON_CPU];
    make_head(s, s->pic.context != NULL, slice_type, c->row->graph ? 31 : motus_test_range(0, 51));
    random_mbs_fill(&s->pic, slice_type, s->head.qp, content);
    if (s->settings.transform_8x8) random_mbs_transform_8x8(&s->pic, s->settings.cabac);
    random_mbs_poison(&s->pic);
    for (size_t i = 0; i < n; i++)
        searched[i] =
            (MotusMv){(int16_t)motus_test_range(-999, 999), (int16_t)motus_test_range(-999, 999)};
    memset(s->stats->at[ON_CPU], 0, sizeof(MotusPictureStats));
    memset(s->bins->at[ON_CPU], 0, sizeof(MotusBinCounts));
    motus_cabac_costs_set(s->costs->at[ON_CPU], s->head.cabac_table, s->head.qp);
    memcpy(s->d_head->at[ON_CPU], &s->head, sizeof s->head);
    memcpy(s->col_zero->at[ON_CPU], s->pic.direct.col_zero, n);
    memcpy(s->mb->at[ON_CPU], s->pic.mb, n * sizeof(MotusMb));
    memcpy(s->coef->at[ON_CPU], s->pic.coef, n * sizeof(MotusMbCoef));
    if (s->slices.first) memcpy(s->first->at[ON_CPU], s->slices.first, n * sizeof(int));
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &s->pic.src->plane[p];
        memcpy(s->src[p].at[ON_CPU].data, plane->data, (size_t)(plane->stride * plane->height));
    }
    snprintf(c->what, sizeof c->what, "%s, %s, %d slices", content_names[content],
             type_names[slice_type], s->slices.n);
}

// ---- The CPU's NAL units ------------------------------------------------------------------------

// Writes slice k of a finalized picture and returns its bytes.
static size_t write_slice(const Slice *s, const MotusCodedMbs *pic, int k, uint8_t *rbsp,
                          size_t capacity, uint8_t *nal, MotusPictureStats *stats) {
    const int *begin = s->slices.begin, from = begin ? begin[k] : 0,
              to = begin ? begin[k + 1] : pic->mb_height;
    MotusBits bits;
    motus_bits_init(&bits, rbsp, capacity);
    for (uint32_t i = 0; i < s->head.header_bits; i++)
        motus_bits_put(&bits, 1, s->head.header[i / 8] >> (7 - i % 8) & 1u);
    motus_write_slice_data(&bits, pic, from, to, &s->settings, stats);
    CU_ASSERT_FATAL(!bits.overflow);
    return motus_nal_write(nal, s->head.nal_header >> 5, s->head.nal_header & 31, rbsp, bits.size);
}

static void write_picture(Slice *s) {
    MotusBinCounts bins = {.others = 0};
    MotusCodedMbs pic = s->pic;
    if (pic.context) pic.bins = &bins;
    const size_t capacity = (size_t)pic.n_mb * 2048 + 512;
    uint8_t *rbsp = malloc(capacity);
    pic.slice_first = s->slices.first;
    pic.mb = s->mb->at[ON_CPU];
    motus_finalize_mbs(&pic, s->head.qp);
    memset(&s->want_stats, 0, sizeof s->want_stats);
    free(s->want);
    s->want = malloc((size_t)s->slices.n * 64 + 2 * motus_nal_bound(capacity));
    s->size = 0;
    for (int k = 0; k < s->slices.n; k++)
        s->size += write_slice(s, &pic, k, rbsp, capacity, s->want + s->size, &s->want_stats);
    if (pic.context)
        s->size += motus_write_zero_words(s->want + s->size, &bins,
                                          s->size - 4 * (size_t)s->slices.n, pic.n_mb);
    memcpy(s->bins->at[ON_CPU], &bins, sizeof bins);
    free(rbsp);
}

// Finalizes the MBs in place. The next picture's centres are predicted from `kept`.
static void code_picture(Slice *s) {
    MotusMv *kept = s->kept->at[ON_CPU];
    write_picture(s);
    for (int i = 0; i < s->pic.n_mb; i++) {
        const MotusMb *mb = (const MotusMb *)s->mb->at[ON_CPU] + i;
        kept[i] = motus_mb_is_intra(mb) ? ((const MotusMv *)s->searched->at[ON_CPU])[i] : mb->mv[0];
    }
}

static void set_capacity(Slice *s, uint32_t capacity) {
    const int fits = s->size <= capacity;
    s->capacity = capacity;
    *(MotusSliceResult *)s->result->at[ON_CPU] =
        (MotusSliceResult){fits ? (uint32_t)s->size : 0, !fits};
}

// Chooses how much memory the device has: often enough, sometimes too little for the last slice, or
// for one before.
static uint32_t capacity_of(const GpuCase *c, uint32_t most, uint32_t size) {
    const uint32_t any = (uint32_t)motus_test_range(1, (int)size);
    if (c->row->variant & SHORT_IN_THE_END) return c->round < 2 * THRICE ? most : any;
    if (!(c->row->variant & ABOUT_ENOUGH)) return most;
    const int way = c->round / THRICE % 3; // each for all contents
    if (way == 2) return any;
    return way ? (uint32_t)motus_max(1, (int)size - motus_test_range(1, 3)) : size;
}

// ---- The device's -------------------------------------------------------------------------------

// Launches as a GOP coder does: the last slice's result is the picture's.
static MotusStatus run_on_device(GpuCase *c) {
    const Slice *s = c->state;
    const int n = s->slices.n, *begin = s->slices.begin;
    MotusMarks marks = {.coded = s->marks->at[ON_CUDA]};
    marks.with_qp = marks.coded + motus_mark_words(s->pic.n_mb);
    const MotusFinalizeCuda finalize = {.mb_width = s->pic.mb_width,
                                        .n_mb = s->pic.n_mb,
                                        .mb = s->mb->at[ON_CUDA],
                                        .slice_first =
                                            s->slices.first ? s->first->at[ON_CUDA] : NULL,
                                        .qp = s->head.qp,
                                        .marks = marks,
                                        .searched = s->searched->at[ON_CUDA],
                                        .kept = s->kept->at[ON_CUDA],
                                        .is_b = s->settings.slice_type == MOTUS_SLICE_B,
                                        .refs = 1,
                                        .direct.col_zero = s->col_zero->at[ON_CUDA]};
    cudaError_t status = motus_finalize_cuda(&finalize, c->stream);
    for (int k = 0; k < n && !status; k++) {
        const int from = begin ? begin[k] : 0, to = begin ? begin[k + 1] : s->pic.mb_height,
                  first_mb = from * s->pic.mb_width;
        MotusSliceResult *earlier = s->earlier->at[ON_CUDA];
        MotusSliceCuda slice = {.mb_width = s->pic.mb_width,
                                .mb_height = to - from,
                                .mb = (const MotusMb *)s->mb->at[ON_CUDA] + first_mb,
                                .marks = marks,
                                .first_mb = first_mb,
                                .coef = (const MotusMbCoef *)s->coef->at[ON_CUDA] + first_mb,
                                .head = s->d_head->at[ON_CUDA],
                                .work = s->scratch->at[ON_CUDA],
                                .nal = s->nal->at[ON_CUDA],
                                .capacity = s->capacity,
                                .before = k ? earlier + k - 1 : NULL,
                                .result = k + 1 < n ? earlier + k : s->result->at[ON_CUDA],
                                .stats = s->stats->at[ON_CUDA],
                                .is_b = finalize.is_b,
                                .refs = 1};
        for (int p = 0; p < 3; p++) {
            slice.src_stride[p] = s->src[p].at[ON_CUDA].stride;
            slice.src[p] = s->src[p].at[ON_CUDA].data + (p ? 8 : 16) * from * slice.src_stride[p];
        }
        const int is_last = k + 1 == n;
        const MotusCabacSliceCuda cabac = {.slice = slice,
                                           .context =
                                               (MotusMbContext *)s->context->at[ON_CUDA] + first_mb,
                                           .piece = s->piece,
                                           .bins = s->bins->at[ON_CUDA],
                                           .n_mb = is_last ? s->pic.n_mb : 0,
                                           .n_slices = is_last ? n : 0,
                                           .costs = s->costs->at[ON_CUDA],
                                           .next = is_last ? s->next->at[ON_CUDA] : NULL};
        if (!s->settings.cabac)
            status = motus_slice_cuda_write(&slice, c->stream);
        else if (!(status = motus_cabac_slice_cuda_begin(&cabac, c->stream)))
            status = motus_cabac_slice_cuda_end(&cabac, c->stream);
    }
    return gpu_launched(c, status);
}

static MotusStatus run_slice(GpuCase *c, int on) {
    Slice *s = c->state;
    if (on) return run_on_device(c);
    code_picture(s);
    set_capacity(s, capacity_of(c, s->most, (uint32_t)s->size));
    return MOTUS_OK;
}

static int is_untouched(const GpuBuffer *b, size_t from) {
    for (size_t i = from; i < b->bytes; i++)
        if (((const uint8_t *)b->got)[i] != GPU_POISON) return 0;
    return 1;
}

// Compares bins, and the costs that are learnt from them.
static void check_bins(GpuCase *c) {
    const Slice *s = c->state;
    const MotusBinCounts *bins = s->bins->at[ON_CPU];
    MotusCabacCosts want;
    memcpy(&want, s->costs->at[ON_CPU], sizeof want);
    motus_cabac_costs_learn(&want, bins);
    gpu_expect(c, !memcmp(s->bins->got, bins, sizeof *bins), "bins differ");
    gpu_expect(c, !memcmp(s->next->got, &want, sizeof want), "costs differ");
}

static void check_slice(GpuCase *c) {
    const Slice *s = c->state;
    const uint8_t *nal = s->nal->got;
    const MotusPictureStats *stats = s->stats->got, *want = &s->want_stats;
    size_t at = 0;
    if (s->size > s->capacity) {
        gpu_expect(c, is_untouched(s->nal, s->capacity), "written past %u bytes", s->capacity);
        return;
    }
    if (s->settings.cabac) check_bins(c);
    while (at < s->size && nal[at] == s->want[at]) at++;
    gpu_expect(c, at == s->size, "byte %zu of %zu differs", at, s->size);
    gpu_expect(c, is_untouched(s->nal, s->size), "written behind the end, %zu bytes", s->size);
    gpu_expect(c, !memcmp(stats, want, sizeof *want), "%ju %ju %ju %ju bits, not %ju %ju %ju %ju",
               (uintmax_t)stats->bits_mode, (uintmax_t)stats->bits_mv, (uintmax_t)stats->bits_luma,
               (uintmax_t)stats->bits_chroma, (uintmax_t)want->bits_mode, (uintmax_t)want->bits_mv,
               (uintmax_t)want->bits_luma, (uintmax_t)want->bits_chroma);
}

// ---- Rows ---------------------------------------------------------------------------------------

static const GpuKernel slice = {sizeof(Slice), open_slice,  fill_slice,
                                run_slice,     check_slice, close_slice};

static const GpuSize sizes[] = {{16, 16, 60 * THRICE},
                                {16, 64, 30 * THRICE},
                                {64, 16, 30 * THRICE},
                                {48, 80, 40 * THRICE},
                                {352, 288, 8 * THRICE},
                                {1920, 1088, THRICE},
                                {0, 0, 0}};
static const GpuSize tall[] = {{16, 64, 0}, {0, 0, 0}}, block[] = {{48, 80, 0}, {0, 0, 0}},
                     cif[] = {{352, 288, 0}, {0, 0, 0}}, hd[] = {{1920, 1088, 0}, {0, 0, 0}},
                     uhd[] = {{4096, 2304, 6}, {0, 0, 0}},
                     odd[] = {{176, 144, 4 * THRICE}, {0, 0, 0}};
static const GpuSize four[] = {
    {480, 272, 3}, {496, 320, 0}, {512, 368, 0}, {528, 416, 0}, {0, 0, 0}};

#define ROW(label, list, slices) .name = label, .kernel = &slice, .sizes = list, .variant = slices
static const GpuRow rows[] = {
    {ROW("contents", sizes, 1), .bench = {1920, 1088, 0}},
    {ROW("slices_2", tall, 2 | SHORT_IN_THE_END), .rounds = 3 * THRICE},
    {ROW("slices_5", block, 5 | SHORT_IN_THE_END), .rounds = 3 * THRICE},
    {ROW("slices_4", cif, 4 | SHORT_IN_THE_END), .rounds = 3 * THRICE},
    {ROW("slices_18", cif, MOST_SLICES | SHORT_IN_THE_END), .rounds = 3 * THRICE},
    {ROW("slices_8", hd, 8 | SHORT_IN_THE_END), .rounds = 3 * THRICE},
    {ROW("large", uhd, 1)},
    {ROW("buffer_too_small", odd, 1 | ABOUT_ENOUGH)},
    {ROW("in_flight", four, 1), .together = 1},
    {ROW("graph", cif, 1), .rounds = 12, .graph = 1},
    {ROW("cabac", sizes, 1 | CABAC), .bench = {1920, 1088, 0}},
    {ROW("cabac_in_pieces", block, 1 | CABAC | IN_PIECES), .rounds = 6 * THRICE},
    {ROW("cabac_slices_5", block, 5 | CABAC | SHORT_IN_THE_END), .rounds = 3 * THRICE},
    {ROW("cabac_slices_18", cif, MOST_SLICES | CABAC | SHORT_IN_THE_END), .rounds = 3 * THRICE},
    {ROW("cabac_large", uhd, 1 | CABAC)},
    {ROW("cabac_too_small", odd, 1 | CABAC | ABOUT_ENOUGH)},
    {ROW("cabac_in_flight", four, 1 | CABAC), .together = 1},
    {ROW("cabac_graph", cif, 1 | CABAC), .rounds = 12, .graph = 1},
    {0}};

const GpuSuite gpu_slice = {"slice", rows};
