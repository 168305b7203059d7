// Configuration of an encoder (motus/encoder.h): presets, profiles, rate control, pictures, slices.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_ENCODER_CONFIG_H
#define MOTUS_ENCODER_CONFIG_H

#include "motus/backend.h"
#include "motus/image.h"
#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// Presets, from the fewest bits to the most pictures per second. A preset sets the search range,
// the blocks that are refined, the number of RD trials per MB, the choice of levels and the number
// of references. Its stream is the same on every backend.
typedef enum MotusPreset {
    MOTUS_PRESET_PLACEBO,
    MOTUS_PRESET_SLOWER,
    MOTUS_PRESET_SLOW,
    MOTUS_PRESET_MEDIUM,
    MOTUS_PRESET_FAST,
    MOTUS_PRESET_FASTER,
    MOTUS_PRESETS,
} MotusPreset;

// Profiles (A.2), from the tools that every decoder has to those that take the fewest bits. A
// profile allows tools: CABAC from Main on.
typedef enum MotusProfile {
    MOTUS_PROFILE_BASELINE, // Constrained Baseline
    MOTUS_PROFILE_MAIN,
    MOTUS_PROFILE_HIGH,
    MOTUS_PROFILES,
} MotusProfile;

// Returns "baseline", "main" or "high"; "unknown" for other values. Static storage.
MOTUS_API const char *motus_profile_name(MotusProfile profile);

// Returns "placebo", "slower", ... "faster"; "unknown" from MOTUS_PRESETS on. Static storage.
MOTUS_API const char *motus_preset_name(MotusPreset preset);

enum {
    MOTUS_MAX_GOP_CODERS = 64,
    MOTUS_MAX_LOOKAHEAD = 250,
    MOTUS_ALL_DEVICES = -1,
    MOTUS_MIN_SLICE_SIZE = 128,
    MOTUS_MAX_BFRAMES = 16,
    MOTUS_MAX_REFERENCES = 16
};

// References among B pictures.
typedef enum MotusBPyramid {
    MOTUS_B_PYRAMID_NONE,   // none
    MOTUS_B_PYRAMID_NORMAL, // the middle one of two and more in a row, and of those on its sides
} MotusBPyramid;

// Direct prediction: B_Skip and MBs or 8x8 blocks of B pictures without MVDs.
typedef enum MotusDirectMode {
    MOTUS_DIRECT_NONE,     // none
    MOTUS_DIRECT_SPATIAL,  // with the MVs of neighbours (8.4.1.2.2)
    MOTUS_DIRECT_TEMPORAL, // with those of the collocated MB (8.4.1.2.3)
    MOTUS_DIRECT_AUTO,     // takes fewer bits with the preset: TEMPORAL with FAST and FASTER, with
                           // MEDIUM in B pictures that are no references; else SPATIAL
    MOTUS_DIRECT_MODES
} MotusDirectMode;

// Rate control: what sets a picture's QP.
typedef enum MotusRateControl {
    MOTUS_RATE_QP,      // constant QP: `qp` for every P picture; no lookahead, no AQ
    MOTUS_RATE_CRF,     // constant rate factor: `crf`, one quality for all pictures
    MOTUS_RATE_BITRATE, // average bitrate: `bitrate`
} MotusRateControl;

// Adaptive quantization: moves the QP of MBs by the variance of their luma.
typedef enum MotusAqMode {
    MOTUS_AQ_OFF,
    MOTUS_AQ_VARIANCE, // lower QP for flat MBs, higher for busy ones, against a fixed variance
    MOTUS_AQ_AUTO,     // against the picture's mean: the mean QP stays
} MotusAqMode;

// HRD parameters in the stream (Annex E): none; VBR, the channel pauses while the buffer is full;
// CBR, it never pauses, and filler data NAL units make up for missing bits.
typedef enum MotusHrd { MOTUS_HRD_NONE, MOTUS_HRD_VBR, MOTUS_HRD_CBR } MotusHrd;

// Configuration of an encoder. Pointers are read by motus_encoder_open only.
typedef struct MotusEncoderConfig {
    size_t size; // sizeof(MotusEncoderConfig): patch versions add members at the end

    // ---- Picture ----
    // Luma samples, even, 2..MOTUS_MAX_SIZE. Padded to whole MBs inside; the SPS crops (in steps of
    // two samples, 7.4.2.1.1).
    int width, height;
    MotusRational fps;  // pictures per second, > 0
    MotusColour colour; // written into the VUI (Annex E); images are converted by it

    // ---- Tools of the standard ----
    MotusProfile profile;
    int cabac;         // 0 = CAVLC also in profiles that allow CABAC
    int transform_8x8; // 0 = only 4x4 transforms in profile HIGH, too
    int deblock;       // 0 = disable_deblocking_filter_idc 1

    // ---- GOP and references ----
    int keyint;     // longest GOP in pictures; 0 = only the first picture is an IDR picture
    int min_keyint; // fewest pictures from an IDR picture to a scene cut's; 0 = 1
    int scenecut;   // scene cut sensitivity, 0 (off) .. 100
    // 1: only the first picture, and those that are asked for, are IDR pictures. Where another one
    // would follow after keyint pictures, a cycle begins: a range of intra MBs wanders over the
    // picture from the top down, an eighth of the rows in cycles of up to 26 pictures, down to a
    // seventeenth in those of 51 and more, but a row at least: in 25 pictures at most. A slice
    // ends with it. Nothing above its end is predicted from below. A decoder that joins at the
    // beginning of a cycle, which has parameter sets and a recovery point SEI message (D.1.8), is
    // exact once the range has passed. Sizes of pictures stay close to one another. One reference,
    // one GOP coder, no scene cuts; not with B pictures, keyint 0 or an HRD.
    int intra_refresh;
    // Most B pictures in a row, 0..MOTUS_MAX_BFRAMES. They are coded after the P picture that is
    // shown behind them. Packets then come up to bframes frames later. Not with
    // profile BASELINE.
    int bframes;
    // 1 or 2, which is the same: each run of B pictures is as long as costs of source pictures make
    // it, at most bframes and at most 7 (5 without a pyramid). Packets come another 12 frames
    // later, with bframes 7 and more 16, within the lookahead's delay if there is one. 0: runs of
    // bframes B pictures.
    int b_adapt;
    // NORMAL: the middle one of two and more B pictures is coded before the others, as a reference
    // of them; so is the middle one of two and more that are left on either side. With bframes 2
    // decoders then keep three pictures, with more four, and show them two later than they come,
    // from bframes 7 on three.
    MotusBPyramid b_pyramid;
    // Reference pictures that a P picture may use, 1..MOTUS_MAX_REFERENCES: the last ones coded.
    // Decoders keep as many, which may raise the level. P pictures with external_mvs use one. 0 =
    // the preset's, or fewer in pictures so large that no level allows as many: placebo 16, slower
    // 5, slow 3, the others 1.
    int references;
    // Reference pictures that decoders keep at least, 0..MOTUS_MAX_REFERENCES: one of them replaces
    // a lost picture (motus_encoder_reference_lost). Four cover a loss that is told three pictures
    // late. The SPS then allows gaps in frame_num (7.4.3), so that decoders know them as losses.
    // Memory and maybe the level grow, time does not. 0 = those that are used. Not with B pictures.
    int keep_references;

    // ---- Decisions ----
    MotusPreset preset;
    int range;          // whole-sample search range R, 1..128; 0 = the preset's
    MotusSubpel subpel; // precision of MVs, at most MOTUS_SUBPEL_QUARTER
    // Partitions that P MBs may use, of those that the preset considers: mask of 1 << MotusMode.
    // 16x16 is always allowed.
    uint32_t partitions;
    // TEMPORAL: of pictures whose list 0 has the collocated picture's first reference: all without
    // a pyramid, with one and a single reference about half; the others are SPATIAL.
    MotusDirectMode direct;
    // 1 or 2: P pictures have weights and offsets of their references where source pictures say
    // that it helps: in fades and flicker. 2: where only a part of the picture fades, the first
    // reference is in the list again without weights, so that each MB chooses; not with
    // intra_refresh or external_mvs. 0: none. BASELINE has none, nor have slices of at most
    // slice_max_size < 512 bytes.
    int weightp;
    // 1: B pictures weight their two references by their distances in time (implicit weights).
    // Differs from 0 where the distances do: with a pyramid, or with bframes 2, 4 and more.
    int weightb;

    // ---- Rate control ----
    // Coded sizes set QPs with MOTUS_RATE_BITRATE (except in a second pass) and with a VBV. Then
    // there is one GOP coder, and a picture's QP is set when all pictures before it are coded.
    MotusRateControl rate;
    int qp;              // QP of P pictures with rate control QP, 0..51
    int qp_i_offset;     // added to qp for I pictures, result clipped to 0..51
    double crf;          // 0..51, in steps of 1/256; lower is better; +6 doubles the quantizer step
    int64_t bitrate;     // bits per second
    int64_t vbv_maxrate; // bits per second into the decoder's buffer (VBV); 0 = no VBV
    int64_t vbv_bufsize; // size of that buffer in bits
    MotusHrd hrd;        // needs a VBV; CBR needs vbv_maxrate = bitrate
    int qp_min, qp_max;  // bounds of MB QPs with CRF and BITRATE, 0..51
    int qp_step;         // largest QP change from one P picture to the next with BITRATE, 1..51
    double ip_ratio;     // quantizer step of P pictures over that of I pictures, 0.1..10
    // Quantizer step of B pictures over that of P pictures, 0.1..10. With rate control QP this is
    // that of a B picture alone between P pictures: half of the offset is between a reference and
    // the other B pictures beside it, and between two levels of a pyramid. Not used with mb_tree,
    // which lowers the QP of P pictures alone.
    double pb_ratio;
    // Unit of MotusFrameParams.duration in seconds, for variable frame rates; 0/1 = every picture
    // lasts 1 / fps.
    MotusRational time_base;
    // Pictures known beyond the one that is coded, 0..MOTUS_MAX_LOOKAHEAD (CRF and BITRATE). A
    // packet comes that many frames later.
    int lookahead;
    MotusAqMode aq_mode;
    double aq_strength; // 0..4
    // mb-tree: lowers the QP of MBs that later pictures in the lookahead window predict from.
    int mb_tree;
    int pass; // 1 = packets carry lines of a pass log; 2 = pass_log is that log; 0 = one pass
    const char *pass_log; // log of the first pass: text, NUL-terminated

    // ---- Slices and delimiters ----
    // Slices are NAL units that can be decoded without one another, except for deblocking. Both
    // limits may be set.
    // Slices per picture, of whole MB rows as even as possible; 0 = 1. One more where a range of
    // intra_refresh ends.
    int slices;
    // Largest NAL unit in bytes, start code excluded; a slice ends before the MB that would exceed
    // it. An MB that alone exceeds it gets a higher QP. 0 = no limit, else MOTUS_MIN_SLICE_SIZE or
    // more. CPU only.
    int slice_max_size;
    int aud; // 1 = each access unit begins with an access unit delimiter

    // ---- Machine ----
    MotusBackend backend;
    int threads; // CPU threads of all GOP coders; 0 = as many as OpenMP offers; same stream
    // GOPs coded in parallel, 1..MOTUS_MAX_GOP_CODERS; 0 = from keyint and free memory.
    int gop_coders;
    int device; // CUDA device number; -1 = the current one
    // CUDA devices that GOP coders are spread over: GOP coder k runs on devices[k % n_devices].
    // 0 = `device` alone; MOTUS_ALL_DEVICES = every device, in CUDA's order; else up to
    // MOTUS_MAX_GOP_CODERS, and `device` must be -1. With gop_coders 0 each device gets as many
    // as it would alone.
    int n_devices;
    const int *devices; // CUDA device numbers, all different

    // ---- Output ----
    // 1 = packets have no recon, source and mvs; with CUDA only the stream comes to the host.
    int stream_only;
    // Memory of packet data. MOTUS_MEMORY_DEVICE (CUDA only): the device that coded the picture
    // (MotusPacket.device_data); with stream_only just sizes and statistics come to the host.
    MotusMemory packet_memory;
    int export_field; // 1 = packets of P pictures carry their motion field
    int time_stages;  // 1 = packets carry stage times; pictures take a little longer
    // 1: squared errors are not measured, MotusPictureStats.ssd is 0. With stream_only, pictures
    // that are no references are not deblocked, either: nobody sees them. Same stream.
    int no_ssd;

    // ---- Segments ----
    // Encoders that share no state may each code a segment of a stream, unless coded sizes set QPs
    // (see `rate`). A segment begins with an IDR picture of the whole stream and ends before
    // another one. The packets of all segments in order equal those of one encoder.
    int64_t first_picture; // pictures before this segment, 0..2^62; packets are numbered from it
    int64_t first_gop;     // IDR pictures before this segment, 0..first_picture
} MotusEncoderConfig;

// Returns the defaults. Members that are not named here are 0, which means off, none or automatic.
//     tools      profile BASELINE (above it: CABAC, 8x8 transform), deblocking
//     GOP        keyint 250, scenecut 40, no B pictures (b_adapt 1, b_pyramid NORMAL)
//     decisions  preset MEDIUM with its range and references, quarter samples, all partitions,
//                direct AUTO, weightp 2
//     rate       QP: 26, I pictures 23. With CRF and BITRATE: crf 23, QPs 0..51 in steps of 4,
//                lookahead 40, mb-tree, aq_strength 1 (AQ off); ip_ratio 1.26, pb_ratio 1.3
//     machine    backend AUTO, the current device, GOP coders from keyint and memory
//     output     one slice, packets in host memory with all that they carry, squared errors
MOTUS_API MotusEncoderConfig motus_encoder_config_default(int width, int height, MotusRational fps);

#ifdef __cplusplus
}
#endif
#endif
