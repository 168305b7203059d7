// Helpers of the suites of motus compare: generated clips, streams of x264 and of ours, and the
// check that both ways to read MVs agree.
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

// Makes a clip of FRAMES frames in a folder of its own (motus_work_folder_remove); the clip's path
// points into *m.
void make_material(Material *m, MotusSynthConfig scene);

int have_x264(void); // 0: not installed; the running test is marked as skipped

// Encodes the clip with x264 and further options; encodes it with motus.
MotusBytes encode_x264(const Material *m, int qp, const char *const *words);
MotusOurStream encode_ours(const Material *m, int qp, MotusPreset preset, MotusProfile profile);

// Checks for all FRAMES pictures that the decoder's MVs are those that our reader finds.
MotusExtraction check_extraction(const uint8_t *data, size_t size, const char *what);

#endif
