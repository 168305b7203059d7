// Rate control: the QP of each picture from its plan (lookahead.h), the target rate and the sizes
// of the pictures coded before. Integers only: the same QPs on every machine.
//
// If motus_rate_feeds_back, a picture's QP is asked for when all pictures before it have been
// coded, so GOPs are coded one after another. Otherwise (CRF, and second passes without a VBV) each
// GOP has a MotusRate of its own, and GOPs may be coded in parallel.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_RATE_H
#define ENCODER_RATE_RATE_H

#include "encoder/lookahead/lookahead.h"
#include "encoder/rate/pass_log.h"
#include "encoder/rate/size_model.h"
#include "encoder/rate/vbv.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Rate control -------------------------------------------------------------------------------

// Times that a picture is coded again if it would underflow the VBV, the last time at QP 51; and in
// a second pass if the rest of its GOP cannot make up for its size.
#define MOTUS_RATE_TRIES 3
#define MOTUS_RATE_LOG_TRIES 5

typedef struct MotusRateSettings {
    MotusRateControl kind;   // not MOTUS_RATE_QP
    MotusRational fps;       // durations count in 1 / fps
    int crf_q8;              // CRF, 1/256
    int64_t bitrate;         // BITRATE: bits per second
    int64_t vbv_rate;        // bits per second; 0: no VBV
    int64_t vbv_size;        // bits
    int qp_min, qp_max;      // bounds of MB QPs
    int qp_step;             // largest QP change from one P picture to the next
    int ip_q8;               // QP of P pictures minus that of I pictures, 1/256
    int pb_q8;               // QP of B pictures minus that of P pictures, 1/256
    MotusHrd hrd;            // CBR: filler data make up for missing bits
    int keyint;              // longest GOP in pictures; 0: no limit
    int empty_bits[4];       // largest pictures without a residual by type, about
    const MotusPassLog *log; // second pass of BITRATE; NULL: none. Not owned
} MotusRateSettings;

// Types of pictures whose bits are predicted apart.
enum { MOTUS_RATE_I, MOTUS_RATE_P, MOTUS_RATE_B, MOTUS_RATE_B_REFERENCE, MOTUS_RATE_TYPES };

typedef struct MotusRate {
    MotusRateSettings settings;
    MotusVbv vbv;
    // Pictures coded so far.
    MotusComplexity past;
    int64_t spent, elapsed; // bits; durations
    // Decaying sums of complexity and of the weighted costs it came from, by type. Without pictures
    // that are empty.
    uint64_t complexity[MOTUS_RATE_TYPES], cost[MOTUS_RATE_TYPES];
    uint32_t ratio_q8[MOTUS_RATE_TYPES]; // weighted cost / cost of the last picture; 0: none yet
    int last_qp_q8;      // of the last P picture with a residual, or cut; below 0: none
    MotusSizeModel size; // of P pictures, if the VBV holds about one picture
    // Second pass.
    int log_qp_q8;        // QP at which the whole log fits the rate
    MotusComplexity rest; // of the GOP's pictures that are left
    MotusComplexity now;  // of the current picture
    int64_t planned;      // bits of the GOP's coded pictures at log_qp_q8
    int64_t taken;        // bits of them at their own QPs
    // Decaying sums over about 16 pictures of the GOP at their own QPs: bits by the log, really.
    int64_t expected, recent;
    // Samples of the current picture nearest to the bits wanted; no bits: none.
    MotusRateSample over, under;
    // The current picture.
    MotusLookaheadPlan plan;
    int type; // MOTUS_RATE_*
    int qp_q8, tries;
    int64_t duration;
    int64_t in_gop; // pictures from the last IDR picture to it
    // Statistics.
    int64_t idr_at;      // time of the last IDR picture
    int64_t since_idr;   // from the IDR picture before the current picture to it
    int64_t held;        // bits in the VBV after the last picture's removal; below 0: it came late
    int64_t coded_again; // codings that were thrown away
} MotusRate;

// Costs of the pictures that are coded after the current one, in that order.
typedef struct MotusFutureCosts {
    const uint64_t *cost;
    const uint8_t *idr;
    int n, ended;     // ended: no more pictures follow these
    const uint8_t *b; // MotusPictureB; NULL: there are no B pictures
} MotusFutureCosts;

void motus_rate_open(MotusRate *rate, const MotusRateSettings *settings);

// True if coded sizes of other GOPs set QPs (see above).
int motus_rate_feeds_back(const MotusRateSettings *settings);

// True if coded sizes of any picture set QPs.
int motus_rate_wants_sizes(const MotusRateSettings *settings);

// Returns the QP of the next picture in 1/256; the plan's offsets are added to it. duration: in
// 1 / fps.
int motus_rate_qp(MotusRate *rate, const MotusLookaheadPlan *plan, const MotusFutureCosts *future,
                  int64_t duration);

// True if the VBV holds one picture, or little more: each has to fit by itself.
int motus_rate_holds_one(const MotusRate *rate);

// Takes the bits of the picture's access unit. Returns 1 if the picture must be coded again at
// *qp_q8, else 0 with the bytes of a filler data NAL unit to add in *filler_bytes.
int motus_rate_coded(MotusRate *rate, int64_t bits, int *qp_q8, int64_t *filler_bytes);

// Changes the rates from the next picture on.
void motus_rate_change(MotusRate *rate, int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                       MotusRational fps);

// Fills map[n_mb] with QP offsets to the slice QP, which it returns. An MB's QP is qp_q8 +
// offset[], rounded, plus extra[] (whole QPs, or NULL), within [qp_min, qp_max]. Before extra[] it
// is the previous MB's QP if that is less than one and a half away, which saves mb_qp_delta.
// spread: MBs of a row, of which the upper ones round the QP down and the lower ones up, so that
// their mean is qp_q8; 0: all round to nearest. *mean_q8: mean QP of the MBs.
int motus_rate_map(int8_t *map, int qp_q8, const int16_t *offset, const int8_t *extra, int n_mb,
                   int spread, int qp_min, int qp_max, int *mean_q8);

#ifdef __cplusplus
}
#endif
#endif
