// Look-ahead on a CUDA device: the passes over a picture, which give what their CPU versions give
// (lookahead_cost.h, aq.h), and pictures' costs, kept there.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_LOOKAHEAD_CUDA_H
#define ENCODER_RATE_LOOKAHEAD_CUDA_H

#include "encoder/rate/lookahead.h"
#include "encoder/rate/lookahead_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sums over a picture's MBs.
typedef struct MotusLookaheadSums {
    uint64_t intra, inter; // costs
    uint64_t octaves;      // of energies (motus_aq_octaves)
    uint64_t offsets;      // of QP: a signed number
    uint64_t weighted;     // costs at each MB's own step, times 65,536
    uint64_t
        since_idr;  // pictures since the last IDR picture began, itself included; 0: not known yet
    uint64_t cut;   // it is an IDR picture because of its costs alone
    uint64_t again; // costs, as inter, of another search
} MotusLookaheadSums;

// ---- Passes, on `stream` (a cudaStream_t); pointers are the device's. MOTUS_ERR_CUDA ------------

MotusStatus motus_half_build_cuda(const MotusHalfPicture *half, const MotusPlane *luma,
                                  void *stream, MotusError *error);

MotusStatus motus_intra_costs_cuda(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                                   void *stream, MotusError *error);

// A picture's search from the one before, which may still be under way itself: MBs wait for those
// of the picture before that they begin from.
typedef struct MotusLookaheadSearch {
    MotusMbCosts costs;           // intra is filled in
    MotusHalfPicture cur, before; // before.memory NULL: there is no picture before
    const MotusMv *earlier;       // its vectors; NULL: none
    MotusLookaheadSums *sums;     // 0 before
    uint32_t *progress; // of MBs in each row that have been searched, 0 before; NULL: nobody asks
    // Of the picture before, and of the one before that, whose type is known. NULL: the picture
    // before is done, and its vectors count.
    const MotusLookaheadSums *sums_before, *sums_two_before;
    const uint32_t *progress_before;
    MotusLookaheadType type_before; // scenecut 0: what is known of its type without its costs
} MotusLookaheadSearch;

// Fills in costs.inter and costs.mv, and adds costs up in *sums. Begins with the assumption that
// the picture before is no cut, unless the one before that was one.
MotusStatus motus_lookahead_search_cuda(const MotusLookaheadSearch *search, void *stream,
                                        MotusError *error);

// When that and the type of the picture before are there: searches again if the assumption was
// wrong, then chooses the type.
MotusStatus motus_lookahead_type_cuda(const MotusLookaheadSearch *search,
                                      const MotusLookaheadType *type, void *stream,
                                      MotusError *error);

// sums->octaves is 0 before.
MotusStatus motus_aq_variance_cuda(int16_t *offset, const MotusPlane *luma, int mb_width,
                                   int mb_height, MotusAqMode mode, int strength_q8,
                                   MotusLookaheadSums *sums, void *stream, MotusError *error);

// What has been passed is added up in 64 bits; the CPU's 32 are the lesser of that and UINT32_MAX,
// in whatever order it came.
MotusStatus motus_aq_pass_back_cuda(uint64_t *before, const uint64_t *passed,
                                    const MotusMbCosts *costs, const int16_t *aq, int mb_width,
                                    int mb_height, void *stream, MotusError *error);

// motus_aq_propagated; then adds the offsets up, and the costs (is_idr: as intra) at the steps they
// make.
MotusStatus motus_aq_propagated_cuda(int16_t *offset, const uint64_t *passed,
                                     const MotusMbCosts *costs, int is_idr, int n_mb,
                                     int strength_q8, MotusLookaheadSums *sums, void *stream,
                                     MotusError *error);

// ---- Pictures, in a ring of entries -------------------------------------------------------------

typedef struct MotusLookaheadCuda MotusLookaheadCuda;

// Entries of pictures on that device, for MotusLookahead. MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA with
// CUDA's words in *error.
MotusStatus motus_lookahead_cuda_open(MotusLookaheadCuda **look,
                                      const MotusLookaheadSettings *settings, int entries,
                                      int device, MotusError *error);
void motus_lookahead_cuda_close(MotusLookaheadCuda **look); // accepts NULL inside

// Which picture comes next.
typedef struct MotusLookaheadEntry {
    int64_t number; // in the ring: entry number % entries
    int begins;     // there is no picture before
    int force_idr;  // the caller wants an IDR picture
} MotusLookaheadEntry;

// Analyses luma on the device behind the cudaEvent_t `filled`, and what has begun before. After a
// failure what had begun of it, and `filled`, have been waited for.
MotusStatus motus_lookahead_cuda_begin(MotusLookaheadCuda *look, const MotusLookaheadEntry *place,
                                       const MotusPlane *luma, void *filled, MotusError *error);

// Waits for what began there.
MotusStatus motus_lookahead_cuda_wait(const MotusLookaheadCuda *look, int at,
                                      MotusLookaheadSums *sums, MotusError *error);

// Analyses a frame in host memory, or one made on `made_on` of a CUDA device. Waits for the result:
// the frame has been read on return, after a failure as well.
MotusStatus motus_lookahead_cuda_analyse(MotusLookaheadCuda *look, const MotusLookaheadEntry *place,
                                         const MotusFrame *frame, int on_device, void *made_on,
                                         MotusLookaheadSums *sums, MotusError *error);

// The frame that was analysed last, if it came from host memory, until the next one: complete, to
// be read on *stream of `device`. NULL: it is not there.
const MotusFrame *motus_lookahead_cuda_frame(const MotusLookaheadCuda *look, int device,
                                             void **stream);

// The offsets of the first n_final of the n pictures of a window that begins at entry `first` (and
// goes on at entry 0 behind the last one). Waits for them.
MotusStatus motus_lookahead_cuda_plan(MotusLookaheadCuda *look, int first, int n, int n_final,
                                      int first_is_idr, MotusError *error);

// What the last motus_lookahead_cuda_plan with that entry found, until the entry is another
// picture's.
const int16_t *motus_lookahead_cuda_offsets(const MotusLookaheadCuda *look, int at,
                                            MotusLookaheadSums *sums);

#ifdef __cplusplus
}
#endif
#endif
