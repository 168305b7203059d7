// The filters of `motus filter` and `motus encode`: their options, and a run of them over the
// frames of a sequence, in the order given.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTER_FILTERS_H
#define TOOLS_FILTER_FILTERS_H

#include "motus/backend.h"
#include "motus/filter.h"
#include "tools/cli/options.h"
#include "yuv/io/reader.h"

#define MOTUS_MAX_FILTERS 8

typedef enum MotusFilterKind {
    MOTUS_FILTER_EQUALIZE,
    MOTUS_FILTER_EQUALIZE_RGB,
    MOTUS_FILTER_DENOISE,
    MOTUS_FILTER_KEY
} MotusFilterKind;

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
    int scale, loop; // background: to the foreground's size; from its beginning when it ends (else
                     // its last frame stays)
} MotusFilterList;

// Parsers for options whose value is a MotusFilterList; each use appends a filter.
//   equalize  [rgb][,clahe][,tiles=WxH][,clip=X][,smooth=N]
//   denoise   STRENGTH[,levels=N]
//   key       COLOUR[,hue=DEGREES][,sat=X][,value=X][,soft=X][,spill=X][,plain]    COLOUR: green,
//   blue, red or #RRGGBB
MotusOptionParse motus_option_equalize;
MotusOptionParse motus_option_denoise;
MotusOptionParse motus_option_key;

extern const char motus_filters_help[]; // for the text of commands that have these options

typedef struct MotusFilters MotusFilters;

// backend AUTO: on a CUDA device where there is one; should it fail here (too little memory, say),
// on the CPU with a warning. on_device: filtered frames stay in the device's memory;
// motus_filters_on_device tells whether they do. MOTUS_ERR_ARGUMENT: a key without background or
// the reverse, or a background of another size without `scale`.
MotusStatus motus_filters_open(MotusFilters **filters, const MotusFilterList *list,
                               const MotusSequenceInfo *info, int threads, MotusBackend backend,
                               int on_device, MotusError *error);

// Where frames come from: hands the caller a reference to the next one. MOTUS_END: there are no
// more.
typedef MotusStatus MotusFilterSource(void *opaque, MotusFrame **frame, MotusError *error);

// Hands the caller a reference to the next frame that `read` gives, filtered (with an empty list:
// as it is). On a device several frames are under way, so that `read` is ahead of what comes out.
// MOTUS_END: all frames have been handed out.
MotusStatus motus_filters_next(MotusFilters *filters, MotusFilterSource *read, void *opaque,
                               MotusFrame **frame, MotusError *error);

// 1 when these frames lie in device memory. The frame last handed out is there for what is put on
// *stream (a cudaStream_t) before the next motus_filters_next.
int motus_filters_on_device(const MotusFilters *filters, void **stream);

void motus_filters_close(MotusFilters **filters);

#endif
