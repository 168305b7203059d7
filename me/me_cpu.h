// Motion estimation on the CPU. The encoder's CPU coder calls it with references of its own.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_ME_CPU_H
#define ME_ME_CPU_H

#include "me/centres/centres.h"
#include "me/pixel/pixel.h"
#include "me/search/refine.h"

typedef struct MotusMeCpu {
    MotusMeConfig config; // range may be lowered between calls
    int threads;          // of the next call, from 1 to the number it was opened with
    const MotusSearchOps *search;
    const MotusRefineOps *refine;
    const MotusPixelOps *pixel;
    uint8_t *scratch;    // scratch_size bytes per thread
    size_t scratch_size; // multiple of 64
    MotusDownscaled downscaled;
    MotusCentres centres; // of motus_me_cpu_predict_by_mb
    MotusPlane cur;       // whole MBs; used if the size is no multiple of 16
} MotusMeCpu;

// Opens it for a valid configuration. MOTUS_ERR_MEMORY.
MotusStatus motus_me_cpu_open(MotusMeCpu **out, const MotusMeConfig *config);
void motus_me_cpu_close(MotusMeCpu **cpu); // accepts NULL inside

// Searches `cur` in a prepared reference (with half planes if the configuration refines) and fills
// the field. cur and ref: whole MBs.
void motus_me_cpu_search(const MotusMeCpu *cpu, const MotusPlane *cur, const MotusRefLuma *ref,
                         const MotusMeHints *hints, MotusField *field);

// Searches MB number mb alone. A thread of a parallel region may call it.
void motus_me_cpu_search_mb(const MotusMeCpu *cpu, const MotusPlane *cur, const MotusRefLuma *ref,
                            const MotusMeHints *hints, int mb, MotusMbMotion *motion);

// Predicts a search centre for each MB. Reads no results of the picture itself.
void motus_me_cpu_predict(MotusMeCpu *cpu, const MotusCentresPicture *picture);

// Prepares predictions by motus_centre_of(&cpu->centres, mb).
void motus_me_cpu_predict_by_mb(MotusMeCpu *cpu, const MotusCentresPicture *picture);

#endif
