// The filters of `motus filter` and `motus encode`: their options, and a run of them over the frames of a sequence, in the order given.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTERS_H
#define TOOLS_FILTERS_H

#include "motus/backend.h"
#include "motus/filter.h"
#include "tools/options.h"
#include "yuv/reader.h"

#define MOTUS_MAX_FILTERS 8

typedef enum MotusFilterKind { MOTUS_FILTER_EQUALIZE, MOTUS_FILTER_DENOISE, MOTUS_FILTER_KEY } MotusFilterKind;

typedef struct MotusFilterStep {
    MotusFilterKind kind;
    MotusEqualizeConfig equalize;
    float strength; // of denoising
    int levels;     // 0: three, or as many as the size allows
    MotusKeyConfig key;
} MotusFilterStep;

typedef struct MotusFilterList {
    MotusFilterStep step[MOTUS_MAX_FILTERS];
    int n;
    const char *background; // of the key
    int scale, loop;        // background: to the foreground's size; from its beginning when it ends (else its last frame stays)
} MotusFilterList;

// Parsers for options whose value is a MotusFilterList; each use appends a filter.
//   equalize  [clahe][,tiles=WxH][,clip=X][,smooth=N]
//   denoise   STRENGTH[,levels=N]
//   key       COLOUR[,hue=DEGREES][,sat=X][,value=X][,soft=X][,spill=X][,plain]    COLOUR: green, blue, red or #RRGGBB
MotusOptionParse motus_option_equalize;
MotusOptionParse motus_option_denoise;
MotusOptionParse motus_option_key;

extern const char motus_filters_help[]; // for the text of commands that have these options

typedef struct MotusFilters MotusFilters;

// backend AUTO: on a CUDA device where there is one. MOTUS_ERR_ARGUMENT: a key without background or the reverse, or a background of another size
// without `scale`.
MotusStatus motus_filters_open(MotusFilters **filters, const MotusFilterList *list, const MotusSequenceInfo *info, int threads,
                               MotusBackend backend, MotusError *error);

// Replaces *frame (a reference that the caller owns) by the filtered frame. With an empty list it stays as it is.
MotusStatus motus_filters_run(MotusFilters *filters, MotusFrame **frame, MotusError *error);

void motus_filters_close(MotusFilters **filters);

#endif
