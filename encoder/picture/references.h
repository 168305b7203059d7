// Reference pictures of a GOP coder on the CPU: the last reconstructions that are references.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_REFERENCES_H
#define ENCODER_PICTURE_REFERENCES_H

#include "encoder/mb/coded_mbs.h"
#include "encoder/mb/direct_core.h"
#include "encoder/picture/ref_lists.h"
#include "encoder/settings/stream.h"
#include "me/pixel/ref_luma.h"

typedef struct MotusReferencePicture {
    MotusFrame *frame; // whole MBs, deblocked; NULL: no picture yet
    int32_t shown;     // MotusPictureParams.shown
    MotusRefLuma luma; // of the frame, once motus_reference_prepare was called
    int is_prepared;
    uint8_t *col_zero; // per MB (motus_col_zero); NULL if the stream has no B pictures
    MotusColMb *col;   // per MB; NULL without temporal direct prediction
    int32_t listed[MOTUS_MAX_REFERENCES]; // MotusPictureParams.ref_shown
    int n_listed;
} MotusReferencePicture;

typedef struct MotusReferences {
    MotusReferencePicture picture[MOTUS_MAX_REFERENCES];
    int n; // pictures kept: max_num_ref_frames
} MotusReferences;

// Allocates room for a stream's references. MOTUS_ERR_MEMORY.
MotusStatus motus_references_alloc(MotusReferences *refs, const MotusStream *stream);
void motus_references_free(MotusReferences *refs); // accepts a zeroed one

// Returns the newest picture with this `shown`; NULL: there is none.
MotusReferencePicture *motus_references_find(MotusReferences *refs, int32_t shown);

// Fills picture->luma unless it is filled. with_half: as motus_ref_luma_build.
void motus_reference_prepare(MotusReferencePicture *picture, int with_half, int threads);

// Puts a finished reference picture, whose frame it owns from then on, into its slot. An IDR
// picture drops all others.
void motus_references_add(MotusReferences *refs, MotusFrame *frame,
                          const MotusPictureParams *params, const MotusCodedMbs *mbs);

#endif
