// The files that an encode writes: the stream, and those beside it, which may fail without harm to
// the stream.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_ENCODE_OUTPUTS_H
#define TOOLS_ENCODE_ENCODE_OUTPUTS_H

#include "tools/encode/mvs.h"
#include "tools/encode/report.h"
#include "tools/media/mux.h"
#include "tools/search/field_file.h"
#include "yuv/io/writer.h"

typedef struct MotusEncodeNames {
    const char *stream;
    const char *recon, *stats, *mvs, *log, *field; // NULL: not wanted
} MotusEncodeNames;

typedef struct MotusEncodeOutputs {
    MotusOutput *stream; // this or mux
    MotusMux *mux;
    MotusWriter *recon;
    MotusStatsFile *stats;
    MotusMvsFile *mvs;
    MotusFieldOut *field;
    MotusOutput *log; // of the first pass
    int64_t logged;
    int lost; // files beside the stream that were given up
} MotusEncodeOutputs;

// Opens all; `settings` are the mux's, with the stream's format.
MotusStatus motus_encode_outputs_open(MotusEncodeOutputs *outputs, const MotusEncodeNames *names,
                                      const MotusMuxSettings *settings,
                                      const MotusEncodeReport *job, const uint8_t *headers,
                                      size_t size, MotusError *error);

// Adds a picture, shown at `time`. A file beside the stream that fails is told, removed and done
// without.
MotusStatus motus_encode_outputs_picture(MotusEncodeOutputs *outputs, const MotusEncodeReport *job,
                                         const MotusPacket *picture, MotusTime time, double ssim,
                                         MotusError *error);

// The stream first: where another file fails, it is whole. partly: the input goes on behind the
// last picture.
MotusStatus motus_encode_outputs_commit(MotusEncodeOutputs *outputs, const MotusTotals *totals,
                                        const MotusEncodeReport *job, int partly,
                                        MotusError *error);

void motus_encode_outputs_abandon(MotusEncodeOutputs *outputs);

#endif
