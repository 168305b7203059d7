// Effort and lambda of one picture of a stream, by its type.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_PICTURE_EFFORT_H
#define ENCODER_SETTINGS_PICTURE_EFFORT_H

#include "encoder/settings/stream.h"

#ifdef __cplusplus // CUDA code
extern "C" {
#endif

// Returns the effort of a picture: the preset's by type, without partitions that its external MVs
// lack.
MotusEffort motus_picture_effort(const MotusStream *stream, const MotusPictureParams *params);

// Returns a picture's MotusLambda.
int motus_picture_lambda(const MotusStream *stream, const MotusPictureParams *params);

// Returns the search range in further references of a P picture.
int motus_far_range(int range);

// True if reference k is searched wide (MotusCentresPicture): the first one of a list if that of
// either list is no neighbour in display order, so that motion may pass what 4:1 pictures reach.
int motus_searches_wide(const MotusPictureParams *params, int k);

#ifdef __cplusplus
}
#endif
#endif
