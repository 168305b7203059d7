// The vectors of one picture, from a table, an H.264 stream or a search, with the picture itself if
// known, and their drawing.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_VIEW_H
#define TOOLS_VIEW_VIEW_H

#include "motus/me.h"
#include "yuv/io/reader.h"

typedef struct MotusViewBlock {
    int x, y;              // top-left corner, luma samples
    uint8_t width, height; // samples
    uint8_t skip;          // part of a P_Skip MB
    uint8_t block;         // number of a field's 41 blocks, or MOTUS_VIEW_CODED
    MotusMv mv;            // quarter samples, from the block to its match in the reference
    double value;          // styles cost and bits: decides the colour
} MotusViewBlock;

#define MOTUS_VIEW_CODED 255
#define MOTUS_VIEW_LEAST MOTUS_MODES // in place of a MotusMode: the partition with the least cost

// The vectors of one picture. Zeroed: empty.
typedef struct MotusView {
    const char *name;       // of the source, for the caption; not owned
    int frame;              // number of the picture, from 0
    int width, height;      // samples
    MotusPlane picture;     // luma, owned; data NULL: unknown
    MotusPlane before;      // luma of the picture before, likewise
    MotusViewBlock *blocks; // in the order of the source
    size_t n, capacity;
    int has_cost;  // `value` is the source's own cost
    int is_stream; // MBs without a vector are intra
    int damaged;   // libavcodec decoded the picture with errors
    int left_out;  // vectors of the source into later pictures, which are not among the blocks
} MotusView;

typedef struct MotusViewSource {
    const char *path;
    int frame;
    int search; // 1: search the pictures even if the file has vectors
    int mode;   // blocks of a field of all sizes: MotusMode, MOTUS_VIEW_LEAST, -1: the largest
    const char *picture; // a file whose frame is drawn under a table's vectors; NULL: none
    MotusReaderOptions reader;
    MotusMeConfig me; // of a search, without size
    uint32_t lambda_q8;
} MotusViewSource;

MotusStatus motus_view_open(MotusView *view, const MotusViewSource *source, MotusError *error);
void motus_view_close(MotusView *view); // accepts a zeroed one

// ---- Parts of motus_view_open -------------------------------------------------------------------

MotusStatus motus_view_add(MotusView *view, const MotusViewBlock *block, MotusError *error);

// Copies the luma planes of two pictures; `before` may be NULL.
MotusStatus motus_view_pictures(MotusView *view, const MotusPlane *picture,
                                const MotusPlane *before, MotusError *error);

// Decodes an H.264 file up to the picture. The blocks are those of a Baseline stream down to 4x4,
// else those that libavcodec exports, down to 8x8. MOTUS_END: no H.264 file. Only in builds with
// libavcodec.
MotusStatus motus_view_stream(MotusView *view, const char *path, MotusError *error);

// ---- Values of blocks ---------------------------------------------------------------------------

// Sets each block's value to its cost per sample: the source's own, else the SAD of the picture
// against the one before at the vector.
MotusStatus motus_view_costs(MotusView *view, MotusError *error);

// Sets each block's value to the bits of its vector in a P picture with one reference: se(v) of the
// difference from the prediction (8.4.1.3).
MotusStatus motus_view_bits(MotusView *view, MotusError *error);

// ---- Drawing ------------------------------------------------------------------------------------

typedef enum MotusViewStyle {
    MOTUS_VIEW_ARROWS,
    MOTUS_VIEW_FLOW,
    MOTUS_VIEW_PARTITIONS,
    MOTUS_VIEW_COST,
    MOTUS_VIEW_BITS,
    MOTUS_VIEW_STYLES,
} MotusViewStyle;

// Writes the views side by side as a PNG: `zoom` pixels per sample each way, arrows `stretch`
// percent of their vectors.
MotusStatus motus_view_draw(const char *path, const MotusView *views, int n, MotusViewStyle style,
                            int zoom, int stretch, MotusError *error);

#endif
