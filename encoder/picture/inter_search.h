// Motion search of P and B pictures on the CPU: one field of 41 MVs an MB for each reference.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_INTER_SEARCH_H
#define ENCODER_PICTURE_INTER_SEARCH_H

#include "encoder/decide/decide.h"
#include "encoder/picture/references.h"
#include "encoder/settings/stream.h"
#include "me/me_cpu.h"

typedef struct MotusInterSearch {
    const MotusStream *stream;
    MotusReferences refs;
    MotusMeCpu *me;
    int fields;                              // most references of a picture
    MotusField *field[MOTUS_MAX_REFERENCES]; // of each reference (MotusPictureJob)
    MotusMv *centre[MOTUS_MAX_REFERENCES];   // per MB: search centres of each reference
    MotusMv *near_mv;                        // per MB: MVs that they come from
    MotusMv *last_mv;                        // per MB: of the last P picture
    MotusDirect *direct;                     // per MB, unless direct prediction is spatial
    int has_last_mv;
    int32_t last_span; // of last_mv: pictures from its reference to the P picture
    MotusRefLuma weighted[MOTUS_MAX_REFERENCES]; // with weightp: each reference's luma with weights
    // Source, references and hints of searches MB by MB. A P picture's centres are predicted by MB,
    // too.
    const MotusPlane *src;
    const MotusRefLuma *ref_luma[2];
    MotusMeHints hints[2];
    int centres_by_mb;
} MotusInterSearch;

// Needs motus_inter_search_close() even if it fails. Returns _MEMORY.
MotusStatus motus_inter_search_open(MotusInterSearch *s, const MotusStream *stream, int threads);
void motus_inter_search_close(MotusInterSearch *s);
// Returns the bytes that open() allocates.
size_t motus_inter_search_bytes(const MotusStream *stream);

// Prepares the references of a P or B picture and searches them: fills in
// `job`, which points into s until the next call. External MVs are only measured.
void motus_inter_search(MotusInterSearch *s, const MotusPictureParams *params,
                        const MotusPictureState *pic, MotusPictureJob *job);

// Keeps MVs of a P picture that is finalized for the search centres of the next pictures; an IDR
// picture forgets them.
void motus_inter_search_keep(MotusInterSearch *s, const MotusPictureParams *params,
                             const MotusCodedMbs *mbs);

#endif
