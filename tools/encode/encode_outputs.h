// The files that an encode writes: the stream, and others beside it, whose failure does not harm
// the stream.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_ENCODE_OUTPUTS_H
#define TOOLS_ENCODE_ENCODE_OUTPUTS_H

#include "tools/encode/report.h"
#include "tools/media/mux.h"
#include "tools/search/field_file.h"
#include "yuv/io/writer.h"

typedef struct MotusEncodeNames {
    const char *stream;
    const char *recon, *stats, *mvs, *pass_log, *field; // NULL: not written
} MotusEncodeNames;

// The MVs of coded pictures as a table, .csv or .npy (a one-dimensional structured array): one row
// per block and list as it was coded. Columns: frame, x, y, mv_x, mv_y (quarter samples), w, h,
// skip, list.
typedef struct MotusMvsFile MotusMvsFile;

// A picture that waits for one that is shown before it.
typedef struct MotusHeldPicture {
    MotusPacket *picture; // a reference
    MotusTime time;
    double ssim;
} MotusHeldPicture;

typedef struct MotusEncodeOutputs {
    MotusOutput *stream; // a byte stream; else mux
    MotusMux *mux;
    MotusWriter *recon;
    MotusStatsFile *stats;
    MotusMvsFile *mvs;
    MotusFieldOut *field;
    MotusOutput *pass_log; // of the first pass
    int64_t logged;        // pictures in it
    // Pictures held for files in display order, sorted.
    MotusHeldPicture held[MOTUS_MAX_BFRAMES + 1];
    int n_held;
    int64_t next; // number of the picture that is shown next
    int lost;     // files beside the stream that were given up
    int unread;   // those whose reader has gone
} MotusEncodeOutputs;

// Opens all files. `settings` are the mux's, with the stream's format.
MotusStatus motus_encode_outputs_open(MotusEncodeOutputs *outputs, const MotusEncodeNames *names,
                                      const MotusMuxSettings *settings,
                                      const MotusEncodeReport *job, const uint8_t *headers,
                                      size_t size, MotusError *error);

// Adds the next picture of the stream, which is shown at `time`. Files beside the stream take a
// reference to it; one that fails is warned about and removed.
MotusStatus motus_encode_outputs_picture(MotusEncodeOutputs *outputs, const MotusEncodeReport *job,
                                         const MotusPacket *picture, MotusTime time, double ssim,
                                         MotusError *error);

// Commits all files, the stream first. partly: the input goes on after the last picture.
MotusStatus motus_encode_outputs_commit(MotusEncodeOutputs *outputs, const MotusTotals *totals,
                                        const MotusEncodeReport *job, int partly,
                                        MotusError *error);

void motus_encode_outputs_abandon(MotusEncodeOutputs *outputs);

#endif
