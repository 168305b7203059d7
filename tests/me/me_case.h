// Random motion-estimation cases, checked against the oracle.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ME_CASE_H
#define TESTS_ME_CASE_H

#include "motus/me_request.h"

typedef enum MeContent {
    ME_RANDOM,          // noise
    ME_EXTREMES,        // 0 or 255 at random
    ME_MOVED,           // the reference moved, with a little noise
    ME_SMOOTH,          // a slope with some bumps
    ME_FLAT,            // one value in both pictures
    ME_CHECKERBOARD,    // 0 and 255
    ME_OPPOSITE,        // current 0, reference 255
    ME_NEARLY_OPPOSITE, // ME_OPPOSITE except for a few samples
    ME_CONTENTS,
} MeContent;

typedef struct MeCase {
    MotusMeConfig config;
    MotusPlane cur, ref; // of exactly the needed size; each with its own stride
    MotusMeHints hints;
    MotusMv *centre, *predictor;
    uint16_t *lambda;
    MeContent content;
} MeCase;

// Draws size (fewer MBs for larger ranges), content, modes and hints.
void me_case_random(MeCase *c, int range, MotusSubpel subpel);
void me_case_fill(MeCase *c, MeContent content);
// Makes a picture that has moved, with rows of exactly `width` bytes and one lambda.
void me_case_moved(MeCase *c, int width, int height, int range, MotusSubpel subpel);
void me_case_free(MeCase *c);

// Opens a context of a backend.
MotusMe *me_case_open(MotusMeConfig config, MotusBackend backend);

// Returns a reference filled from a plane in host memory.
MotusMeReference *me_case_reference(MotusMe *me, const MotusPlane *plane);

// Returns a poisoned field, and one with the results of a search.
MotusField *me_case_field(int width, int height);
MotusField *me_case_search(MotusMe *me, const MeCase *c);

// Searches with plain C and the fastest version, with one thread and three, and compares all with
// the oracle. Entries of blocks that were not requested must not change.
void me_case_check(const MeCase *c, int number);

#endif
