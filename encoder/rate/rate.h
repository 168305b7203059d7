// Rate control: the QP of each picture from its plan (lookahead.h), the wanted rate, and the sizes
// of the pictures coded before. Integers only: the same QPs on every machine.
//
// Sizes are fed back without delay: by the time a picture's QP is asked for, every picture before
// it has been coded, where motus_rate_feeds_back. Then closed GOPs are coded one after another.
// CRF, fixed QP and second passes without VBV look at no other GOP's sizes, so that GOPs may be
// coded side by side, each with a MotusRate of its own.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_RATE_H
#define ENCODER_RATE_RATE_H

#include "encoder/rate/lookahead.h"
#include "encoder/rate/pass_log.h"
#include "encoder/rate/vbv.h"

#define MOTUS_RATE_TRIES                                                                           \
    3 // how often a picture that would break the VBV is coded again, at most; the last time at QP
      // 51

typedef struct MotusRateSettings {
    MotusRateControl kind;   // not QP
    MotusRational fps;       // a picture's duration is counted in 1 / fps
    int crf_q8;              // CRF, 1/256
    int64_t bitrate;         // BITRATE: bits a second
    int64_t vbv_rate;        // bits a second; 0: no VBV
    int64_t vbv_size;        // bits
    int qp_min, qp_max;      // of MBs
    int qp_step;             // most QPs from a P picture to the next
    int ip_q8;               // I pictures are quantized finer by this much, 1/256 QP
    int filler;              // the channel never pauses: what is missing is made up for
    int keyint;              // pictures of a GOP, as far as is known; 0: any number
    const MotusPassLog *log; // BITRATE, second pass; NULL: none. The caller's
} MotusRateSettings;

// Bits that pictures of each type ask for, times what their QP divides them by.
typedef struct MotusDemand {
    uint64_t i, p;
} MotusDemand;

typedef struct MotusRate {
    MotusRateSettings settings;
    MotusVbv vbv;
    // Of what has been coded.
    MotusDemand past;
    int64_t spent, elapsed; // bits; durations
    uint64_t demand[2],
        cost[2]; // decaying sums, I and P: of demand, and of the weighted costs that it came from
    uint32_t ratio_q8[2]; // weighted cost / cost of the last picture, I and P; 0: there was none
    int last_qp_q8;       // of the last P picture; below 0: none
    // Second pass: one QP for the whole log; of this GOP what the log's pictures still ask for,
    // what those before were to take at that QP, what they were expected to take at theirs, and
    // what they took.
    int log_qp_q8;
    MotusDemand rest, now; // now: the picture's own
    int64_t planned, expected, taken;
    // The picture that is being coded.
    MotusLookaheadPlan plan;
    int qp_q8, tries;
    int64_t duration;
    // For statistics.
    int64_t idr_at, since_idr; // when the last IDR picture was due, and how long before this
                               // picture the one before it was
    int64_t held; // in the VBV after the last picture had left, bits; below 0: it came too late
    int64_t coded_again; // pictures coded once more because of the VBV, each time counted
} MotusRate;

void motus_rate_open(MotusRate *rate, const MotusRateSettings *settings);

// Whether sizes of other GOPs matter (see above); and whether those of the GOP's own pictures do.
int motus_rate_feeds_back(const MotusRateSettings *settings);
int motus_rate_wants_sizes(const MotusRateSettings *settings);

// What is known of the pictures after the one in question (motus_lookahead_costs).
typedef struct MotusFutureCosts {
    const uint64_t *cost;
    const uint8_t *idr;
    int n, ended;
} MotusFutureCosts;

// QP of a picture in 1/256, to which the plan's offsets are added; duration: how long it is shown,
// in 1 / fps.
int motus_rate_qp(MotusRate *rate, const MotusLookaheadPlan *plan, const MotusFutureCosts *ahead,
                  int64_t duration);

// Tells how many bits its access unit has. Returns 0, or 1 where the picture has to be coded again,
// at *qp_q8. filler_bytes: of a filler data NAL unit that goes with it, where settings.filler asks
// for one.
int motus_rate_coded(MotusRate *rate, int64_t bits, int *qp_q8, int64_t *filler_bytes);

// From now on; for a sender whose channel changes. The buffer keeps what it holds, up to its new
// size.
void motus_rate_change(MotusRate *rate, int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                       MotusRational fps);

// The picture's slice QP, and each MB's QP as an offset from it: base + offset rounded, within
// [qp_min, qp_max]; extra: offsets in whole QPs that the caller asked for, NULL: none. Returns the
// slice's QP; *mean_q8 is that of the MBs.
int motus_rate_map(int8_t *map, int qp_q8, const int16_t *offset, const int8_t *extra, int n_mb,
                   int qp_min, int qp_max, int *mean_q8);

#endif
