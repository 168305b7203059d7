// The parallel coder of CABAC on strings of symbols, random ones and the hardest: NAL units, bits
// by kind and counts of bins. A case's width is its number of symbols. MOTUS_LONG=1 codes 10^9
// bins.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cabac/cabac_cuda.h"
#include "tests/encoder/cabac/bin_strings.h"
#include "tests/gpu/gpu_test.h"

enum { IN_PIECES = 1, MOST_RESTARTS = 40000 }; // row->variant; symbols of strings of I_PCM

typedef struct Strings {
    BinString string;
    MotusSliceHead head;
    uint32_t most, capacity, piece;
    uint8_t *rbsp, *want;
    size_t size;
    uint64_t bits[4];
    MotusBinCounts counts;
    GpuBuffer *symbol, *mb_end, *d_head, *nal, *result, *stats, *bins, *scratch;
} Strings;

static void open_strings(GpuCase *c) {
    Strings *s = c->state;
    const uint32_t n = s->most = (uint32_t)c->width,
                   restarts = n < MOST_RESTARTS ? n : MOST_RESTARTS;
    if (n > MOST_RESTARTS && getenv("MOTUS_LONG")) c->rounds *= 50;
    s->piece = c->row->variant & IN_PIECES ? (uint32_t)motus_test_range(30, 3000)
                                           : motus_cabac_cuda_piece((int)(n / 500));
    s->capacity = 2 * n + 400 * restarts + 4096;
    bin_string_open(&s->string, n);
    s->rbsp = malloc(s->capacity);
    s->want = malloc(motus_nal_bound(s->capacity));
    s->symbol = gpu_buffer(c, "symbols", GPU_INPUT, n * sizeof *s->string.symbol);
    s->mb_end = gpu_buffer(c, "MBs", GPU_INPUT, (n + 1) * sizeof *s->string.mb_end);
    s->d_head = gpu_buffer(c, "head", GPU_INPUT, sizeof s->head);
    s->nal = gpu_buffer(c, "NAL unit", GPU_RESULT, s->capacity);
    s->result = gpu_buffer(c, "result", GPU_RESULT, sizeof(MotusSliceResult));
    s->stats = gpu_buffer(c, "statistics", GPU_STATE, sizeof(MotusPictureStats));
    s->bins = gpu_buffer(c, "bins", GPU_STATE, sizeof(MotusBinCounts));
    s->scratch = gpu_buffer(c, "scratch", GPU_SCRATCH,
                            motus_cabac_cuda_bytes((int)n, s->capacity, s->piece));
}

static void close_strings(GpuCase *c) {
    Strings *s = c->state;
    bin_string_close(&s->string);
    free(s->rbsp);
    free(s->want);
}

static void fill_strings(GpuCase *c) {
    Strings *s = c->state;
    BinString *string = &s->string;
    const BinContent content = (BinContent)(c->round % BINS_CONTENTS);
    const uint32_t n = content == BINS_RESTARTS && s->most > MOST_RESTARTS ? MOST_RESTARTS
                       : c->round < BINS_CONTENTS
                           ? s->most
                           : (uint32_t)motus_test_range((int)s->most / 2 + 1, (int)s->most);
    bin_string_fill(string, content, n);
    const MotusSequenceSettings sequence = {
        .log2_max_frame_num = 16, .pic_init_qp = 26, .cabac = 1};
    const MotusSliceSettings slice = {.slice_type = string->table > 0,
                                      .frame_num = motus_test_random() & 0xFFFF,
                                      .qp = string->qp,
                                      .cabac = 1,
                                      .cabac_init_idc = string->table ? string->table - 1 : 0};
    s->head = motus_slice_head(&sequence, &slice, 2);
    memcpy(s->symbol->at[ON_CPU], string->symbol, string->n * sizeof *string->symbol);
    memcpy(s->mb_end->at[ON_CPU], string->mb_end,
           ((size_t)string->n_mb + 1) * sizeof *string->mb_end);
    memcpy(s->d_head->at[ON_CPU], &s->head, sizeof s->head);
    memset(s->stats->at[ON_CPU], 0, sizeof(MotusPictureStats));
    memset(s->bins->at[ON_CPU], 0, sizeof(MotusBinCounts));
    snprintf(c->what, sizeof c->what, "%s, %u symbols", bin_content_names[content], string->n);
}

static void code_on_cpu(Strings *s) {
    MotusBits bits;
    motus_bits_init(&bits, s->rbsp, s->capacity);
    for (uint32_t i = 0; i < s->head.header_bits; i++)
        motus_bits_put(&bits, 1, s->head.header[i / 8] >> (7 - i % 8) & 1u);
    while (motus_bits_count(&bits) % 8) motus_bits_put(&bits, 1, 1);
    motus_bits_align_zero(&bits);
    const size_t n = bin_string_code(&s->string, s->rbsp + bits.size, s->capacity - bits.size,
                                     s->bits, &s->counts);
    s->size = motus_nal_write(s->want, s->head.nal_header >> 5, s->head.nal_header & 31, s->rbsp,
                              bits.size + n);
}

static MotusStatus run_strings(GpuCase *c, int on) {
    Strings *s = c->state;
    const MotusCabacSliceCuda slice = {.slice = {.mb_width = s->string.n_mb,
                                                 .mb_height = 1,
                                                 .head = s->d_head->at[ON_CUDA],
                                                 .work = s->scratch->at[ON_CUDA],
                                                 .nal = s->nal->at[ON_CUDA],
                                                 .capacity = s->capacity,
                                                 .result = s->result->at[ON_CUDA],
                                                 .stats = s->stats->at[ON_CUDA]},
                                       .piece = s->piece,
                                       .bins = s->bins->at[ON_CUDA],
                                       .string = s->symbol->at[ON_CUDA],
                                       .string_end = s->mb_end->at[ON_CUDA]};
    if (on) {
        cudaError_t status = motus_cabac_slice_cuda_begin(&slice, c->stream);
        if (!status) status = motus_cabac_slice_cuda_end(&slice, c->stream);
        return gpu_launched(c, status);
    }
    code_on_cpu(s);
    return MOTUS_OK;
}

static void check_strings(GpuCase *c) {
    const Strings *s = c->state;
    const MotusSliceResult *result = s->result->got;
    const MotusPictureStats *stats = s->stats->got;
    const uint64_t bits[4] = {stats->bits_mode, stats->bits_mv, stats->bits_luma,
                              stats->bits_chroma};
    const uint8_t *nal = s->nal->got;
    size_t at = 0;
    gpu_expect(c, result->size == s->size && !result->overflow, "%u bytes, not %zu", result->size,
               s->size);
    while (at < s->size && nal[at] == s->want[at]) at++;
    gpu_expect(c, at == s->size, "byte %zu of %zu differs", at, s->size);
    for (int i = 0; i < 4; i++)
        gpu_expect(c, bits[i] == s->bits[i], "kind %d: %ju bits, not %ju", i, (uintmax_t)bits[i],
                   (uintmax_t)s->bits[i]);
    gpu_expect(c, !memcmp(s->bins->got, &s->counts, sizeof s->counts), "bins differ");
}

static const GpuKernel strings = {sizeof(Strings), open_strings,  fill_strings,
                                  run_strings,     check_strings, close_strings};

static const GpuSize lengths[] = {{1, 1, 10},       {33, 1, 300},    {300, 1, 300},
                                  {2500, 1, 200},   {20000, 1, 100}, {100000, 1, 20},
                                  {1000000, 1, 20}, {0, 0, 0}};
static const GpuSize short_lengths[] = {{100, 1, 60}, {2500, 1, 60}, {20000, 1, 20}, {0, 0, 0}};

static const GpuRow rows[] = {
    {.name = "strings", .kernel = &strings, .sizes = lengths, .bench = {273000, 1, 0}},
    {.name = "in_pieces", .kernel = &strings, .sizes = short_lengths, .variant = IN_PIECES},
    {0}};

const GpuSuite gpu_cabac = {"cabac", rows};
