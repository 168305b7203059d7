// H.264 encoder: frames in, byte-stream pictures (Annex B access units) out. Constrained Baseline: I and P pictures, CAVLC, one slice per
// picture, one reference, closed GOPs.
//
//     MotusEncoderConfig config = motus_encoder_config_default(352, 288, (MotusRational){30000, 1001});
//     MotusEncoder *enc; MotusPicture pic;
//     motus_encoder_open(&enc, &config, NULL);
//     while (have frame) { motus_encoder_send(enc, frame); while (motus_encoder_receive(enc, &pic) == MOTUS_OK) write(pic.data, pic.size); }
//     motus_encoder_send(enc, NULL);
//     while (motus_encoder_receive(enc, &pic) == MOTUS_OK) write(pic.data, pic.size);
//     motus_encoder_close(&enc);
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_ENCODER_H
#define MOTUS_ENCODER_H

#include "motus/backend.h"
#include "motus/frame.h"
#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// How much work goes into decisions: from the fewest bits to the most pictures a second. A preset chooses the search range, which blocks are refined, how many
// ways to code a macroblock are evaluated to the last bit, and how levels are chosen; the stream of a preset is the same on every backend.
typedef enum MotusPreset {
    MOTUS_PRESET_SLOW,
    MOTUS_PRESET_MEDIUM,
    MOTUS_PRESET_FAST,
    MOTUS_PRESET_FASTER,
    MOTUS_PRESETS,
} MotusPreset;

// "slow", "medium", "fast", "faster"; "unknown" for other values. Static storage.
MOTUS_API const char *motus_preset_name(MotusPreset preset);

typedef struct MotusEncoderConfig {
    int width,
        height; // luma samples, even, 2..MOTUS_MAX_SIZE; padded to whole MBs inside and cropped in the SPS (4:2:0 crops in twos)
    MotusRational fps; // pictures per second, > 0
    int qp;            // of P pictures, 0..51
    int qp_i_offset;   // added to qp for I pictures, result clipped to 0..51; -3 by default
    int keyint;        // an IDR picture every keyint pictures; 0 = only the first one
    MotusPreset preset;
    int range; // R of the whole-sample search, 1..128; 0 = the preset's
    MotusSubpel subpel;
    uint32_t partitions; // mask of 1 << MotusMode that P MBs may use, of those that the preset considers; 16x16 is always allowed
    int deblock;         // 0 = disable_deblocking_filter_idc 1
    int aud;             // 1 = begin each access unit with a delimiter
    int threads;         // 0 = as many as OpenMP offers; the stream does not depend on it
    int stream_only;     // 1: pictures have no recon, source and mvs: with CUDA nothing but the stream leaves the device
    MotusBackend backend;
    MotusColour colour; // goes into the VUI
} MotusEncoderConfig;

// qp 26, I offset -3, keyint 250, preset medium and its range, quarter samples, all partitions, deblocking on, no delimiters, backend AUTO.
MOTUS_API MotusEncoderConfig motus_encoder_config_default(int width, int height, MotusRational fps);

// MB kinds as statistics count them.
typedef enum MotusMbKind {
    MOTUS_MB_P_SKIP,
    MOTUS_MB_P_16x16,
    MOTUS_MB_P_16x8,
    MOTUS_MB_P_8x16,
    MOTUS_MB_P_8x8,
    MOTUS_MB_I_4x4,
    MOTUS_MB_I_16x16,
    MOTUS_MB_I_PCM,
    MOTUS_MB_KINDS,
} MotusMbKind;

typedef struct MotusPictureStats {
    uint32_t mb[MOTUS_MB_KINDS];
    uint32_t sub[4];                 // sub-macroblocks of P_8x8 MBs: coded 8x8, 8x4, 4x8, 4x4
    uint64_t bits_header;            // parameter sets, slice header, start codes, emulation prevention, alignment
    uint64_t bits_mode;              // mb_type, skip runs, sub types, intra modes, coded_block_pattern, mb_qp_delta
    uint64_t bits_mv;                // vector differences
    uint64_t bits_luma, bits_chroma; // coefficients (I_PCM samples count by component)
    uint64_t ssd[3];                 // reconstruction against `source`
} MotusPictureStats;

// One vector of the coded picture: a block as it was really coded (P_Skip included), in luma samples of the picture.
typedef struct MotusCodedMv {
    uint16_t x, y;         // top-left corner
    uint8_t width, height; // 16x16 .. 4x4
    uint8_t skip;          // 1: part of a P_Skip MB
    MotusMv mv;
} MotusCodedMv;

// A coded picture. Pointers stay valid until the next call on the encoder, except recon and source, which may be kept with motus_frame_ref.
typedef struct MotusPicture {
    const uint8_t *data; // whole access unit with start codes
    size_t size;
    int64_t number; // counts pictures from 0, in order
    int is_idr;
    char type; // 'I' or 'P'
    int qp;
    const MotusFrame
        *recon; // reconstruction after deblocking, the visible size; with stream_only NULL, as is source, and n_mvs is 0
    const MotusFrame *source; // the frame as it was encoded, the visible size, in host memory; `number` is that of the frame sent
    const MotusCodedMv *mvs;  // n_mvs vectors, MBs in raster order; none for I pictures and intra MBs
    size_t n_mvs;
    MotusPictureStats stats;
} MotusPicture;

typedef struct MotusEncoder MotusEncoder;

// Opens an encoder. MOTUS_ERR_ARGUMENT (error->text says which setting), _UNSUPPORTED (size beyond the highest level), _MEMORY, _NO_DEVICE,
// _CUDA. With AUTO a device that cannot be opened leaves the search to the CPU for good: motus_encoder_backend tells, and motus_encoder_error why.
MOTUS_API MotusStatus motus_encoder_open(MotusEncoder **enc, const MotusEncoderConfig *config, MotusError *error);

// Gives the next frame, which is only read and not needed any more when the call returns; NULL ends the sequence. MOTUS_ERR_ARGUMENT: wrong size.
// MOTUS_ERR_STATE: after the end, or pictures are waiting to be received. MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA (the search): motus_encoder_error has the
// words. MOTUS_ERR_INTERNAL. After any error the encoder is as it was before the call, but a search that failed on a device fails from then on.
MOTUS_API MotusStatus motus_encoder_send(MotusEncoder *enc, const MotusFrame *frame);

// The same for a frame in CUDA device memory (motus_frame_wrap makes a MotusFrame of device pointers; any strides and alignment), made on `stream`, a
// cudaStream_t (NULL: the legacy default stream) of the device that was current when the encoder was opened, and is now. The encoder reads it on that
// stream, once: after what the caller has put there before, and before what comes later; by the time the call returns it has been read. It is
// encoded where it is; with stream_only nothing but the stream comes to the host. The stream of pictures is the one that motus_encoder_send gives, and
// frames of both kinds may alternate. Where AUTO took the CPU at the opening, frames still come down from a device that can do that.
// Beside the errors above: MOTUS_ERR_UNSUPPORTED (the encoder was told to use the CPU, or this build has no CUDA), MOTUS_ERR_NO_DEVICE,
// MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA, MOTUS_ERR_ARGUMENT (a plane that is not in device memory): motus_encoder_error has the words.
MOTUS_API MotusStatus motus_encoder_send_device(MotusEncoder *enc, const MotusFrame *frame, void *stream);

// Takes the next coded picture. MOTUS_AGAIN: send more first. MOTUS_END: all pictures have been handed out.
MOTUS_API MotusStatus motus_encoder_receive(MotusEncoder *enc, MotusPicture *picture);

// SPS and PPS as an Annex B byte stream (for containers); valid while the encoder is open.
MOTUS_API const uint8_t *motus_encoder_headers(const MotusEncoder *enc, size_t *size);

// level_idc of the stream: 10, 11, 12, 13, 20, ... 62 (9 = 1b is never used).
MOTUS_API int motus_encoder_level(const MotusEncoder *enc);

// Why the last frame failed, in CUDA's own words where it was CUDA (wrong sizes and calls out of order leave none), else why AUTO took the CPU at the
// opening. status is MOTUS_OK and text empty if there was neither.
MOTUS_API const MotusError *motus_encoder_error(const MotusEncoder *enc);

// The backend that runs (never AUTO).
MOTUS_API MotusBackend motus_encoder_backend(const MotusEncoder *enc);

// Closes and sets *enc to NULL; accepts NULL and *enc == NULL.
MOTUS_API void motus_encoder_close(MotusEncoder **enc);

#ifdef __cplusplus
}
#endif
#endif
