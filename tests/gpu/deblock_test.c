// Deblocking of whole pictures. Nothing beside the planes may be touched.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/deblock.h"

#include "encoder/mb/mb_cuda.h"
#include "tests/encoder/mb/deblock_case.h"
#include "tests/gpu/gpu_test.h"

enum { B_PICTURES = 1, SEVERAL_REFS }; // row->variant

enum { REFS = 3 };

typedef struct Deblock {
    int mb_width, mb_height;
    GpuPlane from[3], to[3];
    int apart;                       // MB row that a slice begins in, apart in deblocking; 0: none
    GpuBuffer *mb, *first, *scratch; // first: per MB: first MB of its slice
} Deblock;

// Rows have a gap of at least 64 bytes.
static void open_deblock(GpuCase *c) {
    Deblock *d = c->state;
    d->mb_width = (c->width + 15) / 16, d->mb_height = (c->height + 15) / 16;
    c->width = 16 * d->mb_width, c->height = 16 * d->mb_height;
    for (int p = 0; p < 3; p++) {
        const int width = c->width >> (p > 0), height = c->height >> (p > 0),
                  stride = (width + 127) / 64 * 64;
        d->from[p] = gpu_plane(c, "from", GPU_INPUT, width, height, stride, 1);
        d->to[p] = gpu_plane(c, "to", GPU_OUTPUT, width, height, stride, 1);
    }
    const size_t n_mb = (size_t)d->mb_width * (size_t)d->mb_height;
    d->mb = gpu_buffer(c, "MBs", GPU_INPUT, n_mb * sizeof(MotusMb));
    d->first = gpu_buffer(c, "first MBs", GPU_INPUT, n_mb * sizeof(int));
    d->apart = motus_test_range(0, d->mb_height - 1); // a graph keeps it
    d->scratch =
        gpu_buffer(c, "scratch", GPU_SCRATCH, motus_deblock_cuda_bytes(d->mb_width, d->mb_height));
}

static void fill_with(GpuCase *c, DeblockKind kind, int qp, int spread) {
    Deblock *d = c->state;
    for (int p = 0; p < 3; p++) deblock_case_samples(&d->from[p].at[ON_CPU], spread);
    for (int i = 0; i < d->mb_width * d->mb_height; i++) {
        const int row = i / d->mb_width;
        ((int *)d->first->at[ON_CPU])[i] = row < d->apart ? 0 : d->apart * d->mb_width;
        MotusMb *mb = (MotusMb *)d->mb->at[ON_CPU] + i;
        deblock_case_mb(mb, kind, qp);
        if (c->row->variant == B_PICTURES) deblock_case_b(mb, REFS);
        if (c->row->variant == SEVERAL_REFS) deblock_case_refs(mb, REFS);
    }
    snprintf(c->what, sizeof c->what, "kind %d, QP %d, spread %d", (int)kind, qp, spread);
}

static MotusStatus run_deblock(GpuCase *c, int on) {
    const Deblock *d = c->state;
    const int is_b = c->row->variant == B_PICTURES,
              refs = c->row->variant == SEVERAL_REFS ? REFS : !is_b;
    MotusFrame frame = {.width = c->width, .height = c->height};
    uint8_t *to[3];
    const uint8_t *from[3];
    ptrdiff_t stride[3];
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &d->from[p].at[on];
        frame.plane[p] = d->to[p].at[on];
        to[p] = frame.plane[p].data, from[p] = plane->data, stride[p] = plane->stride;
        if (!on) gpu_copy_plane(&frame.plane[p], plane);
    }
    if (on)
        return gpu_launched(c, motus_deblock_cuda(to, from, stride, d->mb->at[on], d->mb_width,
                                                  d->mb_height, refs, refs / 2, d->apart,
                                                  d->scratch->at[on], 0, c->stream));
    const MotusCodedMbs mbs = {.mb_width = d->mb_width,
                               .mb_height = d->mb_height,
                               .slice_type = is_b ? MOTUS_SLICE_B : MOTUS_SLICE_P,
                               .refs = refs,
                               .copies = refs / 2,
                               .slice_first = d->first->at[on],
                               .apart_row = d->apart,
                               .mb = d->mb->at[on]};
    motus_deblock_picture(&frame, &mbs);
    return MOTUS_OK;
}

// ---- Contents -----------------------------------------------------------------------------------

static int any_spread(void) { return 2 << motus_test_range(0, 6); }

static void fill_every_qp(GpuCase *c) {
    fill_with(c, (DeblockKind)(c->round % DEBLOCK_KINDS), c->round / 8 - 1, any_spread());
}

static void fill_any(GpuCase *c) {
    fill_with(c, c->number % 3 ? DEBLOCK_MIXED : DEBLOCK_INTER,
              c->number % 2 ? -1 : motus_test_range(20, 51), any_spread());
}

// Every kind, the last round intra with a high QP.
static void fill_each_kind(GpuCase *c) {
    if (c->round == c->rounds - 1)
        fill_with(c, DEBLOCK_INTRA, 44, 24);
    else
        fill_with(c, (DeblockKind)c->round, -1, 16);
}

static void fill_in_flight(GpuCase *c) {
    fill_with(c, c->number % 2 ? DEBLOCK_INTER : DEBLOCK_MIXED, c->number % 3 ? -1 : 38, 16);
}

#define KERNEL(fill)                                                                               \
    { sizeof(Deblock), open_deblock, fill, run_deblock, NULL, NULL }
static const GpuKernel every_qp = KERNEL(fill_every_qp), any = KERNEL(fill_any),
                       each_kind = KERNEL(fill_each_kind), in_flight = KERNEL(fill_in_flight);

static const GpuSize one[] = {{80, 64, 53 * 8}, {0, 0, 0}}, cif[] = {{352, 288, 4}, {0, 0, 0}};
static const GpuSize usual[] = {{16, 16, 5},     {16, 64, 5},     {64, 16, 5},
                                {48, 80, 5},     {352, 288, 5},   {1280, 720, 5},
                                {1920, 1088, 2}, {4096, 2304, 2}, {0, 0, 0}};
static const GpuSize six[] = {{960, 192, 12}, {816, 368, 0},  {672, 544, 0}, {528, 720, 0},
                              {384, 896, 0},  {240, 1072, 0}, {0, 0, 0}};

static const GpuRow rows[] = {
    {.name = "every_qp", .kernel = &every_qp, .sizes = one},
    {.name = "any_size", .kernel = &any, .most = {192, 192, 0}, .cases = 60},
    {.name = "usual_sizes", .kernel = &each_kind, .sizes = usual, .bench = {1920, 1088, 2}},
    // More row walkers than one stream has; each picture's memory is used again at once.
    {.name = "in_flight", .kernel = &in_flight, .sizes = six, .together = 1, .launches = 3},
    {.name = "b_any_size",
     .kernel = &any,
     .most = {192, 192, 0},
     .cases = 60,
     .variant = B_PICTURES},
    {.name = "b_usual_sizes",
     .kernel = &each_kind,
     .sizes = usual,
     .variant = B_PICTURES,
     .bench = {1920, 1088, 2}},
    {.name = "refs_any_size",
     .kernel = &any,
     .most = {192, 192, 0},
     .cases = 60,
     .variant = SEVERAL_REFS},
    {.name = "refs_usual_sizes",
     .kernel = &each_kind,
     .sizes = usual,
     .variant = SEVERAL_REFS,
     .bench = {1920, 1088, 2}},
    {.name = "graph", .kernel = &in_flight, .sizes = cif, .launches = 2, .graph = 1},
    {0}};

const GpuSuite gpu_deblock = {"deblock", rows};
