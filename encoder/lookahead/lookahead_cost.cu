// Half-size planes, MB costs and picture types; the results equal those of lookahead_cost.c.
//   half_planes        a thread: four samples of each of the four planes, with their borders
//   intra_costs        a thread: one mode of one MB
//   inter_costs        a warp: a row of MBs from left to right, because an MB begins from its left
//                      neighbour's MV; lanes 2c and 2c + 1 measure candidate c, 4 rows each
//   inter_costs_again  the same without MVs of the previous picture
//   choose_type        one thread
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_passes_cuda.h"

#include "common/cuda_call.cuh"
#include "common/hand_on.cuh"
#include "encoder/lookahead/lookahead_search.cuh"
#include "me/pixel/cost_core.h"
#include "me/pixel/pixel_core.h"

namespace {

constexpr int MB = MOTUS_LOOKAHEAD_MB, BORDER = MOTUS_HALF_BORDER;
constexpr int THREADS = 128;

// ---- Scaling ------------------------------------------------------------------------------------

__device__ int sample(const MotusPlane &luma, int x, int y) {
    return luma.data[(ptrdiff_t)min(y, luma.height - 1) * luma.stride + min(x, luma.width - 1)];
}

// Two samples of 16 bits each.
struct Pairs {
    uint32_t even, odd; // of a word's samples
};

__device__ Pairs add(const Pairs &a, const Pairs &b) { return {a.even + b.even, a.odd + b.odd}; }

// Loads 12 samples, of which the last three are not used, from a multiple of 4.
__device__ void load_pairs(Pairs to[3], const uint8_t *from) {
    for (int i = 0; i < 3; i++) {
        const uint32_t word = motus_word_get(from + 4 * i);
        to[i] = {word & 0x00FF00FFu, word >> 8 & 0x00FF00FFu};
    }
}

// Returns four means from the sums of two rows: 2x2 samples that begin at even or at odd columns.
__device__ uint32_t means(const Pairs sum[3], int odd) {
    uint32_t pair[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t next = __funnelshift_r(sum[i].even, sum[i + 1].even, 16);
        pair[i] = (sum[i].odd + (odd ? next : sum[i].even) + 0x00020002u) >> 2;
    }
    return __byte_perm(pair[0], pair[1], 0x6420);
}

// Fills in the words of the planes at column 2 x of the picture, a multiple of 8, from whole words.
__device__ void scale_words(uint32_t word[4], const MotusPlane &luma, int x, int y) {
    Pairs row[3][3];
    for (int k = 0; k < 3; k++)
        load_pairs(row[k],
                   luma.data + (ptrdiff_t)min(y + k, luma.height - 1) * luma.stride + 2 * x);
    for (int k = 0; k < 2; k++) {
        Pairs sum[3];
        for (int i = 0; i < 3; i++) sum[i] = add(row[k][i], row[k + 1][i]);
        for (int odd = 0; odd < 2; odd++) word[2 * k + odd] = means(sum, odd);
    }
}

// The same from single samples, edge samples repeated.
__device__ void scale_samples(uint32_t word[4], const MotusPlane &luma, int x0, int y,
                              int columns) {
    for (int i = 0; i < 4; i++) {
        const int x = 2 * motus_clip(0, columns - 1, x0 + i);
        int s[2][3]; // sums of two rows: [row parity of the plane][column]
        for (int k = 0; k < 3; k++) {
            const int a = sample(luma, x + k, y), b = sample(luma, x + k, y + 1),
                      c = sample(luma, x + k, y + 2);
            s[0][k] = a + b, s[1][k] = b + c;
        }
        for (int p = 0; p < 4; p++)
            word[p] |= (uint32_t)motus_half_mean(s[p >> 1][p & 1], s[p >> 1][(p & 1) + 1])
                       << (8 * i);
    }
}

__global__ void half_planes(MotusHalfPicture half, MotusPlane luma) {
    const int x0 = 4 * (int)(blockIdx.x * blockDim.x + threadIdx.x) - BORDER,
              y0 = (int)blockIdx.y - BORDER;
    const int columns = MB * half.mb_width, rows = MB * half.mb_height;
    if (x0 >= columns + BORDER) return;
    const int y = 2 * motus_clip(0, rows - 1, y0),
              aligned = !(((uintptr_t)luma.data | (uintptr_t)luma.stride) & 3);
    uint32_t word[4] = {};
    if (aligned && x0 >= 0 && 2 * x0 + 12 <= luma.width)
        scale_words(word, luma, x0, y);
    else
        scale_samples(word, luma, x0, y, columns);
    for (int p = 0; p < 4; p++) motus_word_put(half.plane[p] + y0 * half.stride + x0, word[p]);
}

// ---- Intra --------------------------------------------------------------------------------------

__device__ uint32_t satd8x8(const uint8_t *a, ptrdiff_t stride, const uint8_t *pred) {
    uint32_t sum = 0;
    for (int k = 0; k < 4; k++) {
        const int x = 4 * (k & 1), y = 4 * (k >> 1);
        sum += motus_satd4x4(a + y * stride + x, stride, pred + y * MB + x, MB);
    }
    return sum;
}

__global__ void intra_costs(uint16_t *intra, MotusHalfPicture cur) {
    const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = cur.mb_width * cur.mb_height;
    const int i = min(t >> 2, n - 1), mode = t & 3, x = i % cur.mb_width,
              y = i / cur.mb_width; // no lane returns: all take part in the shuffles
    const uint8_t *at = cur.plane[0] + MB * (y * cur.stride + x);
    const int has = motus_lookahead_has(x, y);
    uint32_t cost = UINT32_MAX;
    if (motus_intra_chroma_allowed(mode, has)) {
        uint8_t pred[MB * MB];
        MotusIntraEdge edge;
        motus_intra_edge(&edge, at, cur.stride, MB, has);
        motus_intra_chroma(pred, MB, &edge, mode);
        cost = satd8x8(at, cur.stride, pred);
    }
    for (int step = 1; step < 4; step *= 2)
        cost = min(cost, __shfl_xor_sync(MOTUS_ALL_LANES, cost, step));
    if (!mode && t >> 2 < n)
        intra[i] = motus_lookahead_cost(cost + MOTUS_LOOKAHEAD_LAMBDA * MOTUS_LOOKAHEAD_INTRA_BITS);
}

// ---- Inter --------------------------------------------------------------------------------------

// Adds the costs of all lanes to the picture's sums.
__device__ void add_up(MotusLookaheadSums *sums, uint32_t intra, uint32_t inter) {
    const uint32_t all_intra = motus_lanes_sum(intra),
                   all_inter = motus_lanes_sum(inter); // a row has at most 2^9 MBs
    if (motus_lane()) return;
    atomicAdd((unsigned long long *)&sums->intra, (unsigned long long)all_intra);
    atomicAdd((unsigned long long *)&sums->inter, (unsigned long long)all_inter);
}

// Input of the next MB's search, fetched while the current MB is searched.
struct Next {
    uint32_t row[2][4], intra;
    MotusMv mv; // start candidate; the left neighbour's MV comes later
    int has_one;
};

__device__ void fetch(Next *next, const MotusMbCosts &costs, const MotusHalfPicture &cur,
                      const MotusMv *earlier, int x, int y) {
    if (x >= cur.mb_width) return;
    load_blocks(next->row, cur.plane[0] + (MB * y + 4 * (motus_lane() & 1)) * cur.stride + MB * x,
                cur.stride);
    next->intra = costs.intra[y * cur.mb_width + x];
    next->has_one = motus_lookahead_start(&next->mv, motus_lane() >> 1, motus_lookahead_mv(0, 0),
                                          earlier, &cur, x, y);
}

// ---- Two searches at once -----------------------------------------------------------------------
//
// A row of MBs mostly waits for its own loads, so two pictures are searched at once. The later
// search begins once the type of the picture two before is known, follows the earlier one from MB
// to MB and assumes that its picture is no scene cut. If it is one, inter_costs_again repeats the
// search.

// MVs of the previous picture, as its search writes them.
struct Earlier {
    const MotusMv *mv;        // NULL: none
    const uint32_t *progress; // NULL: all MVs are written
    int known;                // MVs written so far in each of the three rows around
};

// Returns the candidates of the previous picture. Behind a cut it waits for the previous picture's
// type: so a cut misleads only the next picture's search.
__device__ Earlier find_earlier(const MotusLookaheadSearch &s) {
    const Earlier none = {NULL, NULL, 0};
    if (!s.sums_before) return {s.earlier, NULL, 0};
    if (s.sums_two_before->cut) {
        uint64_t since_idr;
        while (!(since_idr = motus_acquire(&s.sums_before->since_idr))) __nanosleep(500);
        __syncwarp();
        return since_idr == 1 ? none : Earlier{s.earlier, NULL, 0};
    }
    if (motus_lookahead_since_idr(&s.rules_before, (int)s.sums_two_before->since_idr, 0, 0) == 1)
        return none;
    return {s.earlier, s.progress_before, 0};
}

// Waits for the MVs that MB x begins from; the rightmost is that of MB x + 1.
__device__ void follow(Earlier *e, const MotusHalfPicture &cur, int x, int y) {
    if (!e->progress || x >= cur.mb_width) return;
    const int needed = min(x + 2, cur.mb_width),
              row = motus_clip(0, cur.mb_height - 1, y - 1 + min(motus_lane(), 2));
    while (e->known < needed) {
        e->known = (int)motus_lanes_min(motus_acquire(e->progress + row));
        if (e->known < needed) __nanosleep(500);
    }
    __syncwarp(); // orders the lanes' reads behind the one that acquired
}

constexpr int PROGRESS_STEP = 8; // MBs between two reports

// Searches a row. *all_intra and *all_inter: its sums of costs in lane 0, 0 in the other lanes.
__device__ void search_row(const MotusLookaheadSearch &p, Earlier earlier, uint32_t *progress,
                           uint32_t *all_intra, uint32_t *all_inter) {
    const int y = (int)blockIdx.x, width = p.cur.mb_width;
    Search s;
    Next next = {};
    s.before = &p.before;
    s.weight = p.weight ? *p.weight : motus_half_no_weight();
    s.y = MB * y;
    s.best = motus_lookahead_mv(0, 0); // left of the first MB
    *all_intra = *all_inter = 0;
    follow(&earlier, p.cur, 0, y);
    fetch(&next, p.costs, p.cur, earlier.mv, 0, y);
    for (int x = 0; x < width; x++) {
        const int i = y * width + x, has_one = next.has_one;
        const uint32_t intra = next.intra;
        s.x = MB * x;
        s.predictor = s.best;
        memcpy(s.row, next.row, sizeof s.row);
        unweigh(&s);
        const MotusMv mv = motus_lane() >> 1 == 1 ? motus_lookahead_even(s.predictor) : next.mv;
        follow(&earlier, p.cur, x + 1, y);
        fetch(&next, p.costs, p.cur, earlier.mv, x + 1, y);
        search(&s, mv, has_one);
        if (motus_lane()) continue;
        const uint32_t inter = motus_lookahead_cost(s.cost < intra ? s.cost : intra);
        p.costs.mv[i] = s.best;
        p.costs.inter[i] = (uint16_t)inter;
        *all_intra += intra, *all_inter += inter;
        if (progress && ((x + 1) % PROGRESS_STEP == 0 || x + 1 == width))
            motus_release(progress + y, (uint32_t)x + 1);
    }
}

__global__ void __launch_bounds__(32) inter_costs(const __grid_constant__ MotusLookaheadSearch p) {
    uint32_t all_intra, all_inter;
    search_row(p, find_earlier(p), p.progress, &all_intra, &all_inter);
    add_up(p.sums, all_intra, all_inter);
}

// True if a picture was searched from MVs of a scene cut.
__device__ int is_misled(const MotusLookaheadSums *before, const MotusLookaheadSums *two_before) {
    return before && before->cut && !two_before->cut;
}

__global__ void __launch_bounds__(32)
    inter_costs_again(const __grid_constant__ MotusLookaheadSearch p) {
    uint32_t all_intra, all_inter;
    if (!is_misled(p.sums_before, p.sums_two_before)) return;
    search_row(p, {NULL, NULL, 0}, NULL, &all_intra, &all_inter);
    if (!motus_lane())
        atomicAdd((unsigned long long *)&p.sums->repeated, (unsigned long long)all_inter);
}

// Inter costs of a picture without a previous one: its intra costs.
__global__ void __launch_bounds__(32)
    no_inter_costs(MotusMbCosts costs, int width, MotusLookaheadSums *sums) {
    uint32_t all = 0;
    for (int x = motus_lane(); x < width; x += MOTUS_LANES) {
        const int i = (int)blockIdx.x * width + x;
        costs.mv[i] = motus_lookahead_mv(0, 0);
        costs.inter[i] = costs.intra[i];
        all += costs.intra[i];
    }
    add_up(sums, all, all);
}

__global__ void choose_type(MotusLookaheadSums *sums, const MotusLookaheadSums *before,
                            const MotusLookaheadSums *two_before, MotusLookaheadRules rules) {
    const int since_before = before ? (int)before->since_idr : 0;
    if (is_misled(before, two_before)) sums->inter = sums->repeated;
    const int since_idr = motus_lookahead_since_idr(&rules, since_before, sums->intra, sums->inter);
    rules.scenecut = 0;
    sums->cut = since_idr == 1 && motus_lookahead_since_idr(&rules, since_before, 0, 0) != 1;
    motus_release(&sums->since_idr, (uint64_t)since_idr);
}

} // namespace

// ---- Launchers ----------------------------------------------------------------------------------

MotusStatus motus_half_build_cuda(const MotusHalfPicture *half, const MotusPlane *luma,
                                  void *stream, MotusError *error) {
    const int words = (MB * half->mb_width + 2 * BORDER) / 4;
    const dim3 grid((words + THREADS - 1) / THREADS, MB * half->mb_height + 2 * BORDER);
    half_planes<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*half, *luma);
    return motus_cuda_launched("lookahead: scaling", error);
}

MotusStatus motus_intra_costs_cuda(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                                   void *stream, MotusError *error) {
    const int threads = 4 * cur->mb_width * cur->mb_height;
    intra_costs<<<(threads + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)stream>>>(
        costs->intra, *cur);
    return motus_cuda_launched("lookahead: intra costs", error);
}

MotusStatus motus_lookahead_search_cuda(const MotusLookaheadSearch *search, void *stream,
                                        MotusError *error) {
    const MotusHalfPicture *cur = &search->cur;
    if (search->before.memory)
        inter_costs<<<cur->mb_height, 32, 0, (cudaStream_t)stream>>>(*search);
    else
        no_inter_costs<<<cur->mb_height, 32, 0, (cudaStream_t)stream>>>(
            search->costs, cur->mb_width, search->sums);
    return motus_cuda_launched("lookahead: inter costs", error);
}

MotusStatus motus_lookahead_type_cuda(const MotusLookaheadSearch *search,
                                      const MotusLookaheadRules *rules, void *stream,
                                      MotusError *error) {
    MotusStatus status = MOTUS_OK;
    if (search->sums_before) {
        inter_costs_again<<<search->cur.mb_height, 32, 0, (cudaStream_t)stream>>>(*search);
        status = motus_cuda_launched("lookahead: repeated search", error);
    }
    if (status) return status;
    choose_type<<<1, 1, 0, (cudaStream_t)stream>>>(search->sums, search->sums_before,
                                                   search->sums_two_before, *rules);
    return motus_cuda_launched("lookahead: type", error);
}

// A block of the later search holds its place on an SM while it waits for the earlier search. If
// one search could fill the device, the earlier one's blocks would never start: a deadlock.
int motus_lookahead_searches_at_once_cuda(int device, int mb_height) {
    MotusOnDevice on(device);
    int blocks = 0, sms = 0;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, inter_costs, 32, 0) != cudaSuccess ||
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        (void)cudaGetLastError(); // one picture is always possible
    return mb_height < blocks * sms ? 2 : 1;
}
