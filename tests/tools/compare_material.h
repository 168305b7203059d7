// What the suites of motus compare share: generated clips, streams of x264 and of ours, and the
// check that both ways to read vectors agree.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_COMPARE_MATERIAL_H
#define TESTS_COMPARE_MATERIAL_H

#include "tools/compare/run.h"
#include "tools/synth/synth.h"

enum { FRAMES = 6 };

typedef struct Material {
    MotusWorkFolder folder;
    MotusCompareClip clip;
    MotusSynthConfig scene;
} Material;

MotusSynthConfig lively(int width, int height); // random motion, objects, noise

// A generated clip of FRAMES frames in a folder of its own (motus_work_folder_remove); the clip's
// path points into *m.
void make_material(Material *m, MotusSynthConfig scene);

int have_x264(void); // 0: not here, and the running test is marked as skipped

// x264's stream of the clip with these further options; ours.
MotusBytes encode_x264(const Material *m, int qp, const char *const *words);
MotusOurStream encode_ours(const Material *m, int qp, MotusPreset preset);

// The decoder's vectors are those that our reader finds, in all FRAMES pictures.
MotusExtraction check_extraction(const uint8_t *data, size_t size, const char *what);

#endif
