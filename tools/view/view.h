// What motus view draws: the vectors of one picture, from a table, an H.264 stream or a search,
// with the picture itself where there is one.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_VIEW_H
#define TOOLS_VIEW_VIEW_H

#include "motus/me.h"
#include "yuv/io/reader.h"

// A block and its vector.
typedef struct MotusViewBlock {
    int x, y;              // top-left corner, luma samples
    uint8_t width, height; // samples
    uint8_t skip;          // part of a P_Skip MB
    uint8_t block;         // of a field of all sizes: its number of 41; else MOTUS_VIEW_CODED
    MotusMv mv;            // quarter samples, from the block to its match in the reference
    double value;          // for the styles cost and bits: what the block is coloured by
} MotusViewBlock;

#define MOTUS_VIEW_CODED 255
#define MOTUS_VIEW_LEAST MOTUS_MODES // in place of a MotusMode: the partition with the least cost

// The vectors of one picture. Zeroed: empty.
typedef struct MotusView {
    const char *name;  // of the source, for the caption; not owned
    int frame;         // number of the picture, from 0
    int width, height; // samples
    MotusPlane picture,
        before;             // luma of the picture and the one before it, owned; data NULL: unknown
    MotusViewBlock *blocks; // in the order of the source
    size_t n, capacity;
    int has_cost;  // `value` is the source's own cost
    int is_stream; // what has no vector is intra
    int damaged;   // libavcodec decoded the picture with errors
    int left_out;  // vectors of the source that are not among the blocks: into pictures that come
                   // later
} MotusView;

// Where the vectors come from.
typedef struct MotusViewSource {
    const char *path;
    int frame;
    int search; // search the pictures even where the file has vectors of its own
    int mode;   // which blocks of a field of all sizes: MotusMode, MOTUS_VIEW_LEAST, or -1: the
                // largest there are
    const char *picture; // a file whose frame is drawn under a table's vectors, or NULL
    MotusReaderOptions reader;
    MotusMeConfig me; // of a search; the size is the pictures'
    uint32_t lambda_q8;
} MotusViewSource;

MotusStatus motus_view_open(MotusView *view, const MotusViewSource *source, MotusError *error);
void motus_view_close(MotusView *view); // accepts a zeroed one

// ---- What open is made of -----------------------------------------------------------------------

MotusStatus motus_view_add(MotusView *view, const MotusViewBlock *block, MotusError *error);

// Copies the luma planes of two pictures; `before` may be NULL.
MotusStatus motus_view_pictures(MotusView *view, const MotusPlane *picture,
                                const MotusPlane *before, MotusError *error);

// The rows of `view->frame` in a .npy or .csv file of motus search, motus encode --mvs or motus
// synth --vectors.
MotusStatus motus_view_table(MotusView *view, const char *path, MotusError *error);

// MOTUS_END: no H.264 file. Else decodes up to the picture; blocks are those of libavcodec's side
// data, 8x8 where an MB has smaller ones, or of motus_view_baseline.
MotusStatus motus_view_stream(MotusView *view, const char *path, MotusError *error);

// Replaces the blocks by those of the picture number `view->frame` of a byte stream, to the
// smallest; leaves them where it is no Baseline stream.
MotusStatus motus_view_baseline(MotusView *view, const uint8_t *data, size_t size,
                                MotusError *error);

// ---- Values of blocks ---------------------------------------------------------------------------

// Sets each block's value to its cost a sample: the source's own, else the SAD of the picture
// against the one before at the vector.
MotusStatus motus_view_costs(MotusView *view, MotusError *error);

// Sets each block's value to the bits of its vector's code in a P picture with one reference: se(v)
// of the difference from the prediction of 8.4.1.3.
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

// Writes the views side by side as a PNG, `zoom` pixels a sample each way, arrows `stretch` percent
// of their vectors long.
MotusStatus motus_view_draw(const char *path, const MotusView *views, int n, MotusViewStyle style,
                            int zoom, int stretch, MotusError *error);

#endif
