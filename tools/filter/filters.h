// The filters of motus filter and motus encode: their options, and their application to the frames
// of a sequence, in the order given.
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
    int scale;              // 1: the background is scaled to the foreground's size
    int loop;               // 1: it restarts when it ends; 0: its last frame stays
} MotusFilterList;

// Parsers of options whose value is a MotusFilterList, to which each use appends a filter.
//   equalize  [rgb][,clahe][,tiles=WxH][,clip=X][,smooth=N]
//   denoise   STRENGTH[,levels=N]
//   key       COLOUR[,hue=DEGREES][,sat=X][,value=X][,soft=X][,spill=X][,plain]
//             COLOUR: green, blue, red or #RRGGBB
MotusOptionParse motus_option_equalize;
MotusOptionParse motus_option_denoise;
MotusOptionParse motus_option_key;

extern const char motus_filters_help[]; // about these options

// Checks that a key has a background and the reverse. Returns -1, or the exit status after a line.
int motus_filters_check(const char *command, const MotusFilterList *list);

typedef struct MotusFilters MotusFilters;

// Opens the filters. backend AUTO: a CUDA device if there is one; if it fails here (too little
// memory), the CPU after a warning. on_device: filtered frames stay in device memory if they are
// filtered there. MOTUS_ERR_ARGUMENT: a background of another size without `scale`.
MotusStatus motus_filters_open(MotusFilters **filters, const MotusFilterList *list,
                               const MotusSequenceInfo *info, int threads, MotusBackend backend,
                               int on_device, MotusError *error);

// The source of frames: hands out a reference to the next one. MOTUS_END: there are no more.
typedef MotusStatus MotusFilterSource(void *opaque, MotusFrame **frame, MotusError *error);

// Hands out a reference to the next frame of `read`, filtered (unchanged with an empty list). On a
// device several frames are in flight, so `read` is called ahead. MOTUS_END: there are no more.
MotusStatus motus_filters_next(MotusFilters *filters, MotusFilterSource *read, void *opaque,
                               MotusFrame **frame, MotusError *error);

// True if these frames lie in device memory. The last one is valid for work put on *stream (a
// cudaStream_t) before the next motus_filters_next.
int motus_filters_on_device(const MotusFilters *filters, void **stream);

void motus_filters_close(MotusFilters **filters);

// The filters on a CUDA device: one upload, all steps, one download or none; several frames in
// flight.

typedef struct MotusFiltersCuda MotusFiltersCuda;

// on_device: filtered frames stay in device memory.
MotusStatus motus_filters_cuda_open(MotusFiltersCuda **filters, const MotusFilterList *list,
                                    int width, int height, int on_device, MotusError *error);

// True if another frame may be sent.
int motus_filters_cuda_has_room(const MotusFiltersCuda *filters);

// Copies both frames; background: NULL if no step is a key.
MotusStatus motus_filters_cuda_send(MotusFiltersCuda *filters, const MotusFrame *frame,
                                    const MotusFrame *background, MotusError *error);

// Hands out the oldest frame as motus_filters_next does. MOTUS_END: none is in flight.
MotusStatus motus_filters_cuda_receive(MotusFiltersCuda *filters, MotusFrame **frame,
                                       MotusError *error);
int motus_filters_cuda_on_device(const MotusFiltersCuda *filters, void **stream);
void motus_filters_cuda_close(MotusFiltersCuda **filters); // accepts NULL inside

#endif
