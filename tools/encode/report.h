// What an encode came to: totals over its pictures, a summary for people, and the same and more as
// JSON.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_REPORT_H
#define TOOLS_ENCODE_REPORT_H

#include <stdio.h>

#include "motus/encoder.h"
#include "yuv/io/writer.h"

typedef struct MotusTotals {
    int64_t frames, i_frames;
    uint64_t bytes;
    uint64_t mb[MOTUS_MB_KINDS], sub[4];
    uint64_t bits_header, bits_mode, bits_mv, bits_luma, bits_chroma;
    uint64_t ssd[3];
    double ssim;         // sum over frames, in order
    double qp;           // sum of means over frames
    int64_t again, late; // codings that were thrown away; pictures that broke the VBV
    int64_t least_vbv;   // of what the VBV held, bits
} MotusTotals;

// What the totals are about. Pointers are the caller's.
typedef struct MotusEncodeReport {
    const char *input, *output;
    MotusEncoderConfig config;
    MotusRational time_base; // of the pictures' times
    MotusBackend backend;    // the one that ran
    int level;               // level_idc
    double seconds;          // of work
    MotusDamage damage;      // of the input
    int complete;            // 0: interrupted, or the input was cut
    int variable;      // pictures do not follow each other at one rate; kb/s are at the average one
    int told_variable; // that was known, and said, from the beginning
} MotusEncodeReport;

void motus_totals_add(MotusTotals *totals, const MotusPacket *picture, double ssim);

// PSNR of component c (0 Y, 1 Cb, 2 Cr) from the mean squared error of all frames; 0 without
// frames.
double motus_totals_psnr(const MotusTotals *totals, const MotusEncodeReport *job, int c);

// Bits per second / 1000 at the sequence's frame rate; 0 without frames.
double motus_totals_kbps(const MotusTotals *totals, const MotusEncodeReport *job);

// "2 pictures lost, 1 repaired, ..." of what there is; empty: nothing was wrong.
void motus_damage_text(const MotusDamage *damage, char text[160]);

void motus_report_print(FILE *file, const MotusTotals *totals, const MotusEncodeReport *job);

// The JSON file is written as the job goes on, so that it takes no memory: settings, then
// "per_frame", then the totals.
typedef struct MotusStatsFile MotusStatsFile;
MotusStatus motus_stats_open(MotusStatsFile **stats, const char *path, const MotusEncodeReport *job,
                             MotusError *error);
MotusStatus motus_stats_picture(MotusStatsFile *stats, const MotusEncodeReport *job,
                                const MotusPacket *picture, MotusTime time, double ssim,
                                MotusError *error);
MotusStatus motus_stats_commit(MotusStatsFile **stats, const MotusTotals *totals,
                               const MotusEncodeReport *job, MotusError *error);
void motus_stats_abandon(MotusStatsFile **stats); // accepts NULL and *stats == NULL

// Names of MB kinds and of the sub-partitions of P_8x8, as the reports show them. Static storage.
const char *motus_mb_kind_name(MotusMbKind kind);
const char *motus_sub_name(int sub);

#endif
