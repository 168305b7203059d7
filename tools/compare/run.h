// Compares one sequence at one QP: two streams picture by picture, and motus's search on x264's
// pictures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_RUN_H
#define TOOLS_COMPARE_RUN_H

#include "motus/encoder.h"
#include "motus/me.h"
#include "tools/cli/bytes.h"
#include "tools/cli/system.h"
#include "tools/compare/figures.h"
#include "tools/compare/judge.h"
#include "tools/h264/h264.h"
#include "tools/x264/x264.h"
#include "yuv/io/reader.h"
#include "yuv/io/writer.h"

// The input as both encoders get it: a .y4m file of its first frames, cropped to an even size, in
// the temporary folder.

typedef struct MotusCompareClip {
    const char *path; // belongs to the folder
    int width, height, frames, full_range;
    MotusRational fps;
} MotusCompareClip;

// Copies the input's first `limit` frames (0: all) to folder->clip. MOTUS_ERR_TRUNCATED: fewer than
// two frames. MOTUS_END: a signal.
MotusStatus motus_compare_clip_make(MotusCompareClip *clip, const MotusWorkFolder *folder,
                                    const char *input, int limit, MotusError *error);

// Reader of the clip's frames. motus_clip_frames_next is a MotusSourceFrame (tools/x264/x264.h)
// with the reader as `opaque`.
typedef struct MotusClipFrames {
    MotusReader *reader;
    MotusFrame *frame; // returned last
} MotusClipFrames;

MotusStatus motus_clip_frames_open(MotusClipFrames *frames, const MotusCompareClip *clip,
                                   MotusError *error);
MotusStatus motus_clip_frames_next(void *opaque, int n, const MotusFrame **frame,
                                   MotusError *error);
void motus_clip_frames_close(MotusClipFrames *frames);

// Data of the report's frame viewer: pictures as JPEG data URIs, macroblocks as compressed records
// (layout in docs/compare.md).

// Appends an MB's record: x264's MB, the MB of motus's stream, and the pairs.
void motus_viewer_mb(MotusBytes *b, const MotusParsedMb *x264, const MotusParsedMb *ours,
                     const MotusMbPairs *pairs);

// Compresses records (zlib) into a new base64 text; NULL without memory. The caller frees it with
// motus_free.
char *motus_viewer_pack(const MotusBytes *records);

// Encodes a picture into a new text "data:image/jpeg;base64,...", freed with motus_free. full_range
// 0: samples 16..235 are stretched.
MotusStatus motus_viewer_picture(const MotusFrame *frame, int full_range, char **uri,
                                 MotusError *error);

// Encodes a clip with motus, in memory.

// Bits by syntax elements.
typedef struct MotusBitSums {
    uint64_t header, mode, mv, residual;
} MotusBitSums;

typedef struct MotusOurStream {
    MotusBytes stream;
    int frames;
    uint64_t luma_ssd;
    uint64_t *frame_ssd; // per frame
    double ssim;         // sum over the frames
    MotusTimes times;    // of the encoder only, without reading and measuring
    int on_gpu;          // the encoder ran on one
    MotusBitSums bits;
} MotusOurStream;

// Receives the number of pictures done.
typedef void MotusOurProgress(void *opaque, int frames);

// Encodes the clip with `config`, whose size, rate, QP and threads are set. MOTUS_END: a signal.
// Call motus_our_stream_free in every case.
MotusStatus motus_our_encode(const MotusEncoderConfig *config, const MotusCompareClip *clip,
                             MotusOurProgress *progress, void *opaque, MotusOurStream *out,
                             MotusError *error);
void motus_our_stream_free(MotusOurStream *out);

// Ground truth: the true MVs of a generated sequence, written by motus synth --vectors.

typedef struct MotusTruth MotusTruth;

// Reads a CSV file with the columns frame,x,y,w,h,mv_x,mv_y,layer,whole,flat. MOTUS_ERR_IO,
// _FORMAT, _MEMORY.
MotusStatus motus_truth_load(MotusTruth **truth, const char *path, MotusError *error);

// Finds the true MV of a block of frame n (luma samples). Returns 0 unless all its cells move as
// one, were visible before and are not flat.
int motus_truth_at(const MotusTruth *truth, int64_t n, int x, int y, int width, int height,
                   MotusMv *mv);

void motus_truth_free(MotusTruth **truth); // accepts NULL and *truth == NULL

// Decodes a byte stream with libavcodec and compares its exported MVs with the parser's. Exported
// MVs (AV_CODEC_FLAG2_EXPORT_MVS) have block centres as positions and no reference index, and of an
// 8x8 quarter with smaller blocks only the first MV is exported.

typedef struct MotusExportedMv {
    int x, y, width, height; // luma samples, top-left corner
    MotusMv mv;              // quarter samples
} MotusExportedMv;

typedef struct MotusDecoded {
    // Whole MBs, of which the top left is visible. Valid until the next call.
    MotusPlane plane[3];
    int width, height; // of the visible part
    const MotusExportedMv *mv;
    size_t n_mv;
} MotusDecoded;

typedef struct MotusStreamDecoder MotusStreamDecoder;

// Opens a decoder. MOTUS_ERR_UNSUPPORTED: libavcodec has no H.264 decoder here.
MotusStatus motus_stream_decoder_open(MotusStreamDecoder **decoder, MotusError *error);

// Decodes one access unit. MOTUS_ERR_FORMAT: the decoder complains, or there is no picture.
MotusStatus motus_stream_decoder_next(MotusStreamDecoder *decoder, const uint8_t *data, size_t size,
                                      MotusDecoded *picture, MotusError *error);

void motus_stream_decoder_close(MotusStreamDecoder **decoder); // accepts NULL and *decoder == NULL

typedef struct MotusExtraction {
    uint64_t compared;  // blocks of 16x16 to 8x8, P_Skip included
    uint64_t equal;     // of these with the same position, size and MV
    uint64_t only_here; // smaller blocks, which only the parser has
    uint64_t unknown;   // exported MVs of blocks without one
} MotusExtraction;

// Adds a picture. MOTUS_ERR_MEMORY.
MotusStatus motus_extraction_add(MotusExtraction *extraction, const MotusParsedPicture *parsed,
                                 const MotusDecoded *decoded);

enum { MOTUS_X264_TYPES = 8, MOTUS_OWN_TYPES = 4 };

// Inputs of a run.
typedef struct MotusRunSetup {
    const MotusCompareClip *clip;
    const char *name;    // of the sequence
    const uint8_t *x264; // stream
    size_t x264_size;
    const MotusOurStream *ours; // motus's stream
    int qp, range, threads;     // range 0: x264's own
    int subpel;                 // MotusSubpel; -1: as x264's --subme
    int bound;                  // pictures whose bound is found; none of whole samples
    int feed_x264;              // takes x264's MVs for motus's, as a test: all differences are zero
    const MotusTruth *truth;    // NULL: unknown
    MotusOutput *csv;           // NULL: not wanted
    size_t viewer_bytes;        // limit for MB records in the report
    MotusOurProgress *progress; // may be NULL
    void *opaque;
} MotusRunSetup;

typedef struct MotusRun {
    int range;
    MotusSubpel subpel;
    uint32_t modes; // that x264 could choose from
    uint32_t lambda_q8;
    int profile_idc[MOTUS_SIDES];
    int frames, p_frames, left_out; // compared, P pictures among them, those without MB records
    MotusFigures figures, by_size[MOTUS_MODES], own, own_by_size[MOTUS_MODES];
    uint64_t confusion[MOTUS_X264_TYPES][MOTUS_OWN_TYPES], sub_confusion[4][4];
    MotusBoundFigures bound;
    MotusExtraction extraction;
    MotusBitSums bits[MOTUS_SIDES]; // of the pictures compared
    MotusQuality quality;           // of x264's stream
    cJSON *frame_list;              // "frames" of docs/compare.md; owned by the caller
} MotusRun;

// Fills *run in every case. MOTUS_END: a signal came; *run has what was done.
// MOTUS_ERR_UNSUPPORTED: x264's stream has several references. MOTUS_ERR_FORMAT.
MotusStatus motus_run(const MotusRunSetup *setup, MotusRun *run, MotusError *error);

cJSON *motus_run_json(const MotusRun *run, int qp, int has_truth); // takes frame_list over
cJSON *motus_bits_json(const MotusBitSums *bits);

#define MOTUS_COMPARE_CSV_HEADER                                                                   \
    "sequence,qp,frame,mb,x,y,w,h,skip,x264_mv_x,x264_mv_y,mv_x,mv_y,x264_sad,sad,x264_satd,satd," \
    "x264_bits,bits,x264_j,j,inside\n"

#endif
