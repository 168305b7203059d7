// The results of an encode: totals over its pictures, a summary on a terminal, and a JSON file.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_REPORT_H
#define TOOLS_ENCODE_REPORT_H

#include <stdio.h>

#include "motus/encoder.h"
#include "yuv/io/writer.h"

// Totals of the pictures of one type.
typedef struct MotusTypeTotals {
    int64_t frames;
    uint64_t bytes, ssd[3];
    double qp;                                          // sum of means over frames
    uint64_t mb[MOTUS_MB_KINDS], sub[4], i_8x8, direct; // i_8x8: of mb[MOTUS_MB_I_4x4]
    uint64_t samples[3];                                // luma samples predicted from L0, L1, both
} MotusTypeTotals;

enum { MOTUS_TYPE_I, MOTUS_TYPE_P, MOTUS_TYPE_B, MOTUS_TYPES };

typedef struct MotusTotals {
    int64_t frames;
    uint64_t bytes;
    MotusTypeTotals of[MOTUS_TYPES];
    uint64_t bits_header, bits_mode, bits_mv, bits_luma, bits_chroma;
    uint64_t ssd[3];
    double ssim;                     // sum over frames, in order
    double qp;                       // sum of means over frames
    int64_t coded_again, underflows; // discarded codings; pictures that broke the VBV
    int64_t least_vbv;               // smallest VBV fullness, bits
} MotusTotals;

// The job that the totals belong to. Pointers are the caller's.
typedef struct MotusEncodeReport {
    const char *input, *output;
    MotusEncoderConfig config;
    MotusRational time_base; // of the pictures' times
    MotusBackend backend;    // the one that ran
    int level;               // level_idc
    double seconds;          // from the first frame to the last packet
    MotusDamage damage;      // of the input
    int complete;            // 0: interrupted, or the input was cut
    int variable;            // pictures have no constant rate; kb/s are at the average
    int known_variable;      // 1: that was known from the start
} MotusEncodeReport;

void motus_totals_add(MotusTotals *totals, const MotusPacket *picture, double ssim);

// Returns the PSNR of component c (0 Y, 1 Cb, 2 Cr) from the mean squared error of all frames; 0
// without frames.
double motus_totals_psnr(const MotusTotals *totals, const MotusEncodeReport *job, int c);

// Returns the PSNR of Y of the pictures of a type, as motus_totals_psnr.
double motus_type_psnr(const MotusTotals *totals, const MotusEncodeReport *job, int type);

// Returns kb/s at the sequence's frame rate; 0 without frames.
double motus_totals_kbps(const MotusTotals *totals, const MotusEncodeReport *job);

// Writes the members that --progress json has beside the frames: ", \"kbps\": ...".
void motus_progress_fields(const MotusTotals *totals, const MotusEncodeReport *job, char text[64]);

// Writes "2 pictures lost, 1 picture repaired, ...", or "" without damage.
void motus_damage_text(const MotusDamage *damage, char text[160]);

void motus_report_print(FILE *file, const MotusTotals *totals, const MotusEncodeReport *job);

// The JSON file. It is written picture by picture, so that it takes no memory: settings, then
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

// Names of MB types as reports tell them: P's (NULL where P has none), B's, those of intra MBs.
enum { MOTUS_INTER_TYPES = MOTUS_MB_I_4x4 + 1, MOTUS_INTRA_TYPES = 4 };
extern const char *const motus_inter_names[2][MOTUS_INTER_TYPES];
extern const char *const motus_intra_names[MOTUS_INTRA_TYPES];
extern const char *const motus_sub_names[4]; // sub-partitions of P_8x8
extern const char *const motus_type_names[MOTUS_TYPES];

// MBs of each type. B_Direct_16x16 and Intra8x8 are types of their own here.
typedef struct MotusMbCounts {
    uint64_t inter[MOTUS_INTER_TYPES], intra[MOTUS_INTRA_TYPES];
} MotusMbCounts;

// Counts the MBs of B pictures, or of all others.
MotusMbCounts motus_totals_mbs(const MotusTotals *totals, int of_b);

#endif
