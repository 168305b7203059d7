// The vectors of one picture, from a table, an H.264 stream or a search, with the picture itself if
// known, and their drawing.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_VIEW_H
#define TOOLS_VIEW_VIEW_H

#include "motus/me.h"
#include "tools/view/canvas.h"
#include "yuv/io/reader.h"

typedef struct MotusViewBlock {
    int x, y;              // top-left corner, luma samples
    uint8_t width, height; // samples
    uint8_t skip;          // part of a P_Skip or B_Skip MB
    uint8_t list;          // 0: into an earlier picture; 1: into a later one (B pictures)
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
    int has_cost;           // `value` is the source's own cost
    MotusPlane picture;     // luma, owned; data NULL: unknown
    MotusPlane before;      // luma of the picture before, likewise
    MotusViewBlock *blocks; // in the order of the source
    size_t n, capacity;
    int coded;     // blocks as a stream has them: MBs without a vector are intra, or unknown
    int is_stream; // they are intra
    int damaged;   // libavcodec decoded the picture with errors
    int has_list1; // some blocks are of list 1: a B picture
} MotusView;

typedef struct MotusViewSource {
    const char *path;
    int all;    // 1: pictures are read one after another, and may have no vectors
    int search; // 1: search the pictures even if the file has vectors
    int mode;   // blocks of a field of all sizes: MotusMode, MOTUS_VIEW_LEAST, -1: the largest
    const char *picture; // a file whose frame is drawn under a table's vectors; NULL: none
    MotusReaderOptions reader;
    MotusMeConfig me; // of a search, without size
    uint32_t lambda_q8;
} MotusViewSource;

typedef struct MotusViewInput MotusViewInput;

MotusStatus motus_view_open(MotusViewInput **input, const MotusViewSource *source,
                            MotusError *error);

// Reads picture n, which is later than the last one read, into *view; free it in every case.
// MOTUS_END: there is none, as *error says.
MotusStatus motus_view_read(MotusViewInput *input, int n, MotusView *view, MotusError *error);

// Returns the pictures per second, 25 if they are unknown.
MotusRational motus_view_rate(const MotusViewInput *input);
void motus_view_close(MotusViewInput **input); // accepts *input == NULL

void motus_view_free(MotusView *view); // accepts a zeroed one

// ---- Parts of motus_view_read -------------------------------------------------------------------

MotusStatus motus_view_add(MotusView *view, const MotusViewBlock *block, MotusError *error);

// Copies the luma planes of two pictures; `before` may be NULL.
MotusStatus motus_view_pictures(MotusView *view, const MotusPlane *picture,
                                const MotusPlane *before, MotusError *error);

// Keeps the blocks to draw of a field of all sizes, drops the others. mode as in MotusViewSource.
MotusStatus motus_view_keep(MotusView *view, int mode, const char *path, MotusError *error);

// An H.264 file, in builds with libavcodec. Its blocks are those of a Baseline stream down to 4x4,
// else those that libavcodec exports, down to 8x8. open: `all` as in MotusViewSource; MOTUS_END: no
// H.264 file. The others are as motus_view_read, _rate and _close.
typedef struct MotusViewStream MotusViewStream;
MotusStatus motus_view_stream_open(MotusViewStream **stream, const char *path, int all,
                                   MotusError *error);
MotusStatus motus_view_stream_read(MotusViewStream *stream, int n, MotusView *view,
                                   MotusError *error);
MotusRational motus_view_stream_rate(const MotusViewStream *stream);
void motus_view_stream_close(MotusViewStream **stream);

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

enum { MOTUS_VIEW_PANES = 2 };

// Shared by all pictures of a drawing: sizes in pixels and scales.
typedef struct MotusViewLayout {
    MotusViewStyle style;
    int n;       // views side by side
    int zoom;    // pixels per sample
    int stretch; // length of arrows in percent
    double most; // samples (flow) or value (cost, bits) of the last colour
    int left[MOTUS_VIEW_PANES], pane_width[MOTUS_VIEW_PANES]; // samples * zoom
    int sample_height[MOTUS_VIEW_PANES];
    int pane_height, text_scale, width, height; // height: with the legends
} MotusViewLayout;

// Chooses what is 0 of `zoom` (for a width of about 1100) and `stretch` (so that arrows of
// neighbouring blocks do not touch) and the scale, from the views of one picture or of several, one
// after another, n each.
MotusStatus motus_view_layout(MotusViewLayout *layout, const MotusView *views, int n, int pictures,
                              MotusViewStyle style, int zoom, int stretch, MotusError *error);

// Draws n views of a picture on a new canvas (motus_canvas_free).
MotusStatus motus_view_draw(MotusCanvas *canvas, const MotusViewLayout *layout,
                            const MotusView *views, MotusError *error);

// Reads the pictures of one or two sources and draws them: one as a PNG, or all as a video.

typedef struct MotusViewJob {
    MotusViewSource source[MOTUS_VIEW_PANES];
    int n; // sources
    const char *output;
    int frame, frames; // the first picture; of a video: most pictures, 0: all
    MotusViewStyle style;
    int zoom, stretch; // as motus_view_layout
    int needs_stream;  // the first source must have H.264
    int threads, quiet;
} MotusViewJob;

// Draws picture job->frame.
MotusStatus motus_view_png(const MotusViewJob *job, MotusError *error);

// Draws all pictures from job->frame on, until a source ends or a signal comes, as H.264 in a
// container of `format`, a MotusFormat. Lengths and colours have the scale of the first pictures.
MotusStatus motus_view_video(const MotusViewJob *job, int format, MotusError *error);

#endif
