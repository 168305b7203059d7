// Entropy coding: NAL units, statistics and finalized MBs, for every kind of MB, long runs of
// skipped MBs and of zeros, the longest codes, several slices and buffers too small.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/slice_cuda.h"
#include "encoder/settings/stream.h"
#include "tests/encoder/bitstream/random_mbs.h"
#include "tests/gpu/gpu_test.h"

enum { MOST_SLICES = 18 };

typedef struct Slice {
    MotusCodedMbs pic; // MBs as they were decided
    MotusSlices slices;
    MotusSliceHead head; // of every slice
    int qp;              // of pictures to come; -1: any
    uint32_t most, capacity;
    uint8_t *want; // NAL units
    size_t size;
    MotusPictureStats want_stats;
    GpuBuffer *nal, *result, *earlier, *stats, *d_head, *mb, *coef, *marks, *first, *searched,
        *kept, *scratch;
    GpuPlane src[3];
} Slice;

static const char *const content_names[MBS_CONTENTS] = {"mixed", "quiet", "skipped", "I_PCM",
                                                        "largest"};

// ---- Memory -------------------------------------------------------------------------------------

static void open_with(GpuCase *c, int slices, int bytes_per_mb) {
    Slice *s = c->state;
    const int mb_width = (c->width + 15) / 16, mb_height = (c->height + 15) / 16;
    const size_t n = (size_t)mb_width * (size_t)mb_height, words = 2 * motus_mark_words((int)n);
    c->width = 16 * mb_width, c->height = 16 * mb_height;
    s->slices.n = 1, s->qp = -1;
    random_mbs_open(&s->pic, mb_width, mb_height);
    if (slices > 1)
        CU_ASSERT_EQUAL_FATAL(motus_slices_alloc(&s->slices, slices, mb_width, mb_height),
                              MOTUS_OK);
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
    s->searched = gpu_buffer(c, "searched MVs", GPU_INPUT, n * sizeof(MotusMv));
    s->kept = gpu_buffer(c, "kept MVs", GPU_OUTPUT, n * sizeof(MotusMv));
    s->scratch = gpu_buffer(c, "scratch", GPU_SCRATCH, motus_slice_cuda_bytes((int)n, s->most));
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &s->pic.src->plane[p];
        s->src[p] =
            gpu_plane(c, "source", GPU_INPUT, plane->width, plane->height, plane->stride, 1);
    }
}

static void open_slice(GpuCase *c) { open_with(c, c->row->variant, 3072); }
static void open_large(GpuCase *c) { open_with(c, 1, 1100); }

static void close_slice(GpuCase *c) {
    Slice *s = c->state;
    random_mbs_close(&s->pic);
    motus_slices_free(&s->slices);
    free(s->want);
}

// ---- Content ------------------------------------------------------------------------------------

static void make_head(Slice *s, int p_slice) {
    MotusSequenceSettings sequence = {.log2_max_frame_num = 16, .pic_init_qp = 26, .deblock = 1};
    MotusSliceSettings slice = {.idr = !p_slice,
                                .idr_pic_id = motus_test_range(0, 65535),
                                .p_slice = p_slice,
                                .frame_num = motus_test_random() & 0xFFFF,
                                .qp = s->qp < 0 ? motus_test_range(0, 51) : s->qp,
                                .deblock = motus_test_range(0, 1)};
    s->head = motus_slice_head(&sequence, &slice, 2);
}

static void fill_with(GpuCase *c, int p_slice, MbContent content) {
    Slice *s = c->state;
    const size_t n = (size_t)s->pic.n_mb;
    MotusMv *searched = s->searched->cpu;
    make_head(s, p_slice);
    random_mbs_fill(&s->pic, p_slice, s->head.qp, content);
    random_mbs_poison(&s->pic);
    for (size_t i = 0; i < n; i++)
        searched[i] =
            (MotusMv){(int16_t)motus_test_range(-999, 999), (int16_t)motus_test_range(-999, 999)};
    memset(s->stats->cpu, 0, sizeof(MotusPictureStats));
    memcpy(s->d_head->cpu, &s->head, sizeof s->head);
    memcpy(s->mb->cpu, s->pic.mb, n * sizeof(MotusMb));
    memcpy(s->coef->cpu, s->pic.coef, n * sizeof(MotusMbCoef));
    if (s->slices.first) memcpy(s->first->cpu, s->slices.first, n * sizeof(int));
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &s->pic.src->plane[p];
        memcpy(s->src[p].cpu.data, plane->data, (size_t)(plane->stride * plane->height));
    }
    snprintf(c->what, sizeof c->what, "%s, %s, %d slices", content_names[content],
             p_slice ? "P" : "I", s->slices.n);
}

static MbContent cycled(const GpuCase *c) { return (MbContent)(c->round / 2 % MBS_CONTENTS); }

static void fill_slice(GpuCase *c) { fill_with(c, c->round & 1, cycled(c)); }

static void fill_large(GpuCase *c) {
    static const MbContent contents[] = {MBS_MIXED, MBS_QUIET, MBS_PCM};
    fill_with(c, 1, contents[c->round % 3]);
}

static void fill_in_flight(GpuCase *c) {
    fill_with(c, c->round & 1, (MbContent)((c->round + c->number) % 2));
}

// I and P pictures of one QP, as a captured launch needs them.
static void fill_graph(GpuCase *c) {
    ((Slice *)c->state)->qp = 31;
    fill_with(c, c->round & 1, cycled(c));
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
    motus_write_slice_data(&bits, pic, from, to, s->head.p_slice, s->head.qp, stats);
    CU_ASSERT_FATAL(!bits.overflow);
    return motus_nal_write(nal, s->head.nal_header >> 5, s->head.nal_header & 31, rbsp, bits.size);
}

static void write_picture(Slice *s) {
    MotusCodedMbs pic = s->pic;
    const size_t capacity = (size_t)pic.n_mb * 2048 + 512;
    uint8_t *rbsp = malloc(capacity);
    pic.slice_first = s->slices.first;
    pic.mb = s->mb->cpu;
    motus_finalize_mbs(&pic, s->head.qp);
    memset(&s->want_stats, 0, sizeof s->want_stats);
    free(s->want);
    s->want = malloc((size_t)s->slices.n * 64 + motus_nal_bound(capacity));
    s->size = 0;
    for (int k = 0; k < s->slices.n; k++)
        s->size += write_slice(s, &pic, k, rbsp, capacity, s->want + s->size, &s->want_stats);
    free(rbsp);
}

// Finalizes the MBs in place. The next picture's centres are predicted from `kept`.
static void code_picture(Slice *s) {
    MotusMv *kept = s->kept->cpu;
    write_picture(s);
    for (int i = 0; i < s->pic.n_mb; i++) {
        const MotusMb *mb = (const MotusMb *)s->mb->cpu + i;
        kept[i] = motus_mb_is_intra(mb) ? ((const MotusMv *)s->searched->cpu)[i] : mb->mv[0];
    }
}

static void set_capacity(Slice *s, uint32_t capacity) {
    const int fits = s->size <= capacity;
    s->capacity = capacity;
    *(MotusSliceResult *)s->result->cpu = (MotusSliceResult){fits ? (uint32_t)s->size : 0, !fits};
}

static void slice_cpu(GpuCase *c) {
    Slice *s = c->state;
    code_picture(s);
    set_capacity(s, s->most);
}

// The last rounds have too little memory: for the last slice, or for one before.
static void too_small_cpu(GpuCase *c) {
    Slice *s = c->state;
    code_picture(s);
    set_capacity(s, c->round < 4 * MBS_CONTENTS ? s->most
                                                : (uint32_t)motus_test_range(1, (int)s->size));
}

// Capacities around the size that is needed, and far below it.
static void just_too_small_cpu(GpuCase *c) {
    Slice *s = c->state;
    code_picture(s);
    uint32_t capacity = (uint32_t)s->size;
    if (c->round % 3 == 1) capacity -= (uint32_t)motus_test_range(1, 3);
    if (c->round % 3 == 2) capacity = (uint32_t)motus_test_range(1, (int)s->size);
    set_capacity(s, capacity ? capacity : 1);
}

// ---- The device's -------------------------------------------------------------------------------

// As a GOP coder does it: the last slice's result is the picture's.
static MotusStatus slice_cuda(GpuCase *c, cudaStream_t stream) {
    Slice *s = c->state;
    const int n = s->slices.n, *begin = s->slices.begin;
    MotusMarks marks = {.coded = s->marks->cuda};
    marks.with_qp = marks.coded + motus_mark_words(s->pic.n_mb);
    const MotusFinalizeCuda finalize = {.mb_width = s->pic.mb_width,
                                        .n_mb = s->pic.n_mb,
                                        .mb = s->mb->cuda,
                                        .slice_first = s->slices.first ? s->first->cuda : NULL,
                                        .qp = s->head.qp,
                                        .marks = marks,
                                        .searched = s->searched->cuda,
                                        .kept = s->kept->cuda};
    cudaError_t status = motus_finalize_cuda(&finalize, stream);
    for (int k = 0; k < n && !status; k++) {
        const int from = begin ? begin[k] : 0, to = begin ? begin[k + 1] : s->pic.mb_height,
                  first_mb = from * s->pic.mb_width;
        MotusSliceResult *earlier = s->earlier->cuda;
        MotusSliceCuda slice = {.mb_width = s->pic.mb_width,
                                .mb_height = to - from,
                                .mb = (const MotusMb *)s->mb->cuda + first_mb,
                                .marks = marks,
                                .first_mb = first_mb,
                                .coef = (const MotusMbCoef *)s->coef->cuda + first_mb,
                                .head = s->d_head->cuda,
                                .work = s->scratch->cuda,
                                .nal = s->nal->cuda,
                                .capacity = s->capacity,
                                .before = k ? earlier + k - 1 : NULL,
                                .result = k + 1 < n ? earlier + k : s->result->cuda,
                                .stats = s->stats->cuda};
        for (int p = 0; p < 3; p++) {
            slice.src_stride[p] = s->src[p].cuda.stride;
            slice.src[p] = s->src[p].cuda.data + (p ? 8 : 16) * from * slice.src_stride[p];
        }
        status = motus_slice_cuda_write(&slice, stream);
    }
    return gpu_launched(c, status);
}

static int is_untouched(const GpuBuffer *b, size_t from) {
    for (size_t i = from; i < b->bytes; i++)
        if (((const uint8_t *)b->got)[i] != GPU_POISON) return 0;
    return 1;
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
    while (at < s->size && nal[at] == s->want[at]) at++;
    gpu_expect(c, at == s->size, "byte %zu of %zu differs", at, s->size);
    gpu_expect(c, is_untouched(s->nal, s->size), "written behind the end, %zu bytes", s->size);
    gpu_expect(c, !memcmp(stats, want, sizeof *want), "%ju %ju %ju %ju bits, not %ju %ju %ju %ju",
               (uintmax_t)stats->bits_mode, (uintmax_t)stats->bits_mv, (uintmax_t)stats->bits_luma,
               (uintmax_t)stats->bits_chroma, (uintmax_t)want->bits_mode, (uintmax_t)want->bits_mv,
               (uintmax_t)want->bits_luma, (uintmax_t)want->bits_chroma);
}

// ---- Rows ---------------------------------------------------------------------------------------

#define KERNEL(open, fill, cpu)                                                                    \
    { sizeof(Slice), open, fill, cpu, slice_cuda, check_slice, close_slice }
static const GpuKernel slice = KERNEL(open_slice, fill_slice, slice_cpu),
                       large = KERNEL(open_large, fill_large, slice_cpu),
                       too_small = KERNEL(open_slice, fill_slice, too_small_cpu),
                       just_too_small = KERNEL(open_slice, fill_slice, just_too_small_cpu),
                       in_flight = KERNEL(open_slice, fill_in_flight, slice_cpu),
                       graph = KERNEL(open_slice, fill_graph, slice_cpu);

enum { TWICE = 2 * MBS_CONTENTS }; // every content as I and as P

static const GpuSize sizes[] = {{16, 16, 60 * TWICE},
                                {16, 64, 30 * TWICE},
                                {64, 16, 30 * TWICE},
                                {48, 80, 40 * TWICE},
                                {352, 288, 8 * TWICE},
                                {1920, 1088, TWICE},
                                {0, 0, 0}};
static const GpuSize tall[] = {{16, 64, 0}, {0, 0, 0}}, block[] = {{48, 80, 0}, {0, 0, 0}},
                     cif[] = {{352, 288, 0}, {0, 0, 0}}, hd[] = {{1920, 1088, 0}, {0, 0, 0}},
                     uhd[] = {{4096, 2304, 3}, {0, 0, 0}}, odd[] = {{176, 144, 60}, {0, 0, 0}};
static const GpuSize four[] = {
    {480, 272, 3}, {496, 320, 0}, {512, 368, 0}, {528, 416, 0}, {0, 0, 0}};

#define SLICES(label, n, list)                                                                     \
    { .name = label, .kernel = &too_small, .variant = n, .rounds = 6 * MBS_CONTENTS, .sizes = list }

static const GpuRow rows[] = {
    {.name = "contents", .kernel = &slice, .sizes = sizes, .bench = {1920, 1088, 0}},
    SLICES("slices_2", 2, tall),
    SLICES("slices_5", 5, block),
    SLICES("slices_4", 4, cif),
    SLICES("slices_18", 18, cif),
    SLICES("slices_8", 8, hd),
    {.name = "large", .kernel = &large, .sizes = uhd},
    {.name = "buffer_too_small", .kernel = &just_too_small, .sizes = odd},
    {.name = "in_flight", .kernel = &in_flight, .sizes = four, .together = 1},
    {.name = "graph", .kernel = &graph, .rounds = 8, .sizes = cif, .graph = 1},
    {0}};

const GpuSuite gpu_slice = {"slice", rows, NULL};
