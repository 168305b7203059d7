// H.264 encoder: frames in, access units out (Annex B byte stream). Constrained Baseline, Main or
// High: I, P and B pictures, closed GOPs.
//
//     MotusEncoderConfig config = motus_encoder_config_default(352, 288, (MotusRational){25, 1});
//     MotusEncoder *enc;
//     MotusPacket *packet;
//     motus_encoder_open(&enc, &config, NULL);
//     while (have frame) {
//         motus_encoder_send(enc, frame, NULL);
//         while (!motus_encoder_receive(enc, &packet, 0)) {
//             write(packet->data, packet->size);
//             motus_packet_unref(&packet);
//         }
//     }
//     motus_encoder_send(enc, NULL, NULL); // the end: receive the rest with timeout -1
//     motus_encoder_close(&enc);
//
// GOP coders, each with its own thread and buffers, code one closed GOP at a time. They share no
// state, so the stream does not depend on their number. One thread may send frames while another
// receives packets.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_ENCODER_H
#define MOTUS_ENCODER_H

#include "motus/backend.h"
#include "motus/frame.h"
#include "motus/image.h"
#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Configuration ------------------------------------------------------------------------------

// Presets. From the fewest bits to the most pictures per second: PLACEBO, SLOWER, SLOW, MEDIUM,
// FAST, FASTER. A preset sets the search range, the blocks that are refined, the number of RD
// trials per MB, the choice of levels and the number of references. Its stream is the same on every
// backend.
typedef enum MotusPreset {
    MOTUS_PRESET_SLOW,
    MOTUS_PRESET_MEDIUM,
    MOTUS_PRESET_FAST,
    MOTUS_PRESET_FASTER,
    MOTUS_PRESET_SLOWER, // values of earlier versions stay
    MOTUS_PRESET_PLACEBO,
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

// Returns "slow", "medium", "fast", "faster", "slower" or "placebo"; "unknown" for other values.
// Static storage.
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
    MOTUS_DIRECT_AUTO, // what takes fewer bits with the preset: TEMPORAL with FAST and FASTER, with
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

// Stages of a picture's encoding, in this order; an I picture begins with intra coding.
typedef enum MotusStage {
    MOTUS_STAGE_REFERENCE,  // half-sample planes of the reference, search centres
    MOTUS_STAGE_SEARCH,     // whole-sample search of all 41 blocks
    MOTUS_STAGE_CANDIDATES, // sub-sample refinement and SATD of the candidates' MVs
    MOTUS_STAGE_DECIDE,     // mode decision, intra estimates
    MOTUS_STAGE_INTRA,      // coding of intra MBs
    MOTUS_STAGE_ENTROPY,    // CAVLC; on a GPU only the share that deblocking waits for
    MOTUS_STAGE_DEBLOCK,    // deblocking, squared errors; on a GPU beside the next picture
    MOTUS_STAGES,
} MotusStage;

// Returns "reference", "search", ...; "unknown" for other values. Static storage.
MOTUS_API const char *motus_stage_name(MotusStage stage);

// Configuration of an encoder. Pointers are read by motus_encoder_open only.
typedef struct MotusEncoderConfig {
    size_t size; // sizeof(MotusEncoderConfig): later versions add members at the end
    // Luma samples, even, 2..MOTUS_MAX_SIZE. Padded to whole MBs inside; the SPS crops (in steps of
    // two samples, 7.4.2.1.1).
    int width, height;
    MotusRational fps; // pictures per second, > 0
    int qp;            // QP of P pictures, 0..51
    int qp_i_offset;   // added to qp for I pictures, result clipped to 0..51; default -3
    int keyint;        // longest GOP in pictures; 0 = only the first picture is an IDR picture
    MotusPreset preset;
    int range;          // whole-sample search range R, 1..128; 0 = the preset's
    MotusSubpel subpel; // precision of MVs, at most MOTUS_SUBPEL_QUARTER
    // Partitions that P MBs may use, of those that the preset considers: mask of 1 << MotusMode.
    // 16x16 is always allowed.
    uint32_t partitions;
    int deblock; // 0 = disable_deblocking_filter_idc 1
    int aud;     // 1 = each access unit begins with an access unit delimiter
    int threads; // CPU threads of all GOP coders; 0 = as many as OpenMP offers; same stream
    // 1 = packets have no recon, source and mvs; with CUDA only the stream comes to the host.
    int stream_only;
    MotusBackend backend;
    MotusColour colour; // written into the VUI (Annex E); images are converted by it
    // GOPs coded in parallel, 1..MOTUS_MAX_GOP_CODERS; 0 = from keyint and free memory.
    int gop_coders;
    int device; // CUDA device number; -1 = the current one

    // ---- Rate control ----
    // Coded sizes set QPs with MOTUS_RATE_BITRATE (except in a second pass) and with a VBV. Then
    // there is one GOP coder, and a picture's QP is set when all pictures before it are coded.
    MotusRateControl rate;
    double crf;          // 0..51, in steps of 1/256; lower is better; +6 doubles the quantizer step
    int64_t bitrate;     // bits per second
    int64_t vbv_maxrate; // bits per second into the decoder's buffer (VBV); 0 = no VBV
    int64_t vbv_bufsize; // size of that buffer in bits
    int qp_min, qp_max;  // bounds of MB QPs with CRF and BITRATE, 0..51
    int qp_step;         // largest QP change from one P picture to the next with BITRATE, 1..51
    double ip_ratio;     // quantizer step of P pictures over that of I pictures, 0.1..10
    MotusHrd hrd;        // needs a VBV; CBR needs vbv_maxrate = bitrate
    // Unit of MotusFrameParams.duration in seconds, for variable frame rates; 0/1 = every picture
    // lasts 1 / fps.
    MotusRational time_base;
    // Pictures known beyond the one that is coded, 0..MOTUS_MAX_LOOKAHEAD (CRF and BITRATE). A
    // packet comes that many frames later.
    int lookahead;
    int min_keyint; // fewest pictures from an IDR picture to a scene cut's; 0 = 1
    int scenecut;   // scene cut sensitivity, 0 (off) .. 100
    MotusAqMode aq_mode;
    double aq_strength; // 0..4
    // mb-tree: lowers the QP of MBs that later pictures in the lookahead window predict from.
    int mb_tree;
    int pass; // 1 = packets carry lines of a pass log; 2 = pass_log is that log; 0 = one pass
    const char *pass_log; // log of the first pass: text, NUL-terminated

    // ---- Segments ----
    // Encoders that share no state may each code a segment of a stream, unless coded sizes set QPs
    // (see `rate`). A segment begins with an IDR picture of the whole stream and ends before
    // another one. The packets of all segments in order equal those of one encoder.
    int64_t first_picture; // pictures before this segment, 0..2^62; packets are numbered from it
    int64_t first_gop;     // IDR pictures before this segment, 0..first_picture

    int time_stages;  // 1 = packets carry stage times; pictures take a little longer
    int export_field; // 1 = packets of P pictures carry their motion field

    // CUDA devices that GOP coders are spread over: GOP coder k runs on devices[k % n_devices].
    // 0 = `device` alone; MOTUS_ALL_DEVICES = every device, in CUDA's order; else up to
    // MOTUS_MAX_GOP_CODERS, and `device` must be -1. With gop_coders 0 each device gets as many
    // as it would alone.
    int n_devices;
    const int *devices; // CUDA device numbers, all different

    // Slices, each a NAL unit. They can be decoded without one another, except for deblocking. Both
    // limits may be set.
    // Slices per picture, of whole MB rows as even as possible; 0 = 1. One more where a range of
    // intra_refresh ends.
    int slices;
    // Largest NAL unit in bytes, start code excluded; a slice ends before the MB that would exceed
    // it. An MB that alone exceeds it gets a higher QP. 0 = no limit, else MOTUS_MIN_SLICE_SIZE or
    // more. CPU only.
    int slice_max_size;

    // Memory of packet data. MOTUS_MEMORY_DEVICE (CUDA only): the device that coded the picture
    // (MotusPacket.device_data); with stream_only just sizes and statistics come to the host.
    MotusMemory packet_memory;

    MotusProfile profile;
    int cabac;         // 0 = CAVLC also in profiles that allow CABAC
    int transform_8x8; // 0 = only 4x4 transforms in profile HIGH, too

    // Most B pictures in a row, 0..MOTUS_MAX_BFRAMES. They are coded after the P picture that is
    // shown behind them. Packets then come up to bframes frames later. Not with
    // profile BASELINE.
    int bframes;
    // Quantizer step of B pictures over that of P pictures, 0.1..10. With rate control QP this is
    // that of a B picture alone between P pictures: half of the offset is between a reference and
    // the other B pictures beside it, and between two levels of a pyramid. Not used with mb_tree,
    // which lowers the QP of P pictures alone.
    double pb_ratio;
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
    // 1: B pictures weight their two references by their distances in time (implicit weights).
    // Differs from 0 where the distances do: with a pyramid, or with bframes 2, 4 and more.
    int weightb;
    // 1 or 2: P pictures have weights and offsets of their references where source pictures say
    // that it helps: in fades and flicker. 2: where only a part of the picture fades, the first
    // reference is in the list again without weights, so that each MB chooses; not with
    // intra_refresh or external_mvs. 0: none. BASELINE has none, nor have slices of at most
    // slice_max_size < 512 bytes.
    int weightp;
    // Reference pictures that decoders keep at least, 0..MOTUS_MAX_REFERENCES: one of them replaces
    // a lost picture (motus_encoder_reference_lost). Four cover a loss that is told three pictures
    // late. The SPS then allows gaps in frame_num (7.4.3), so that decoders know them as losses.
    // Memory and maybe the level grow, time does not. 0 = those that are used. Not with B pictures.
    int keep_references;
    // 1: only the first picture, and those that are asked for, are IDR pictures. Where another one
    // would follow after keyint pictures, a cycle begins: a range of intra MBs wanders over the
    // picture from the top down, an eighth of the rows in cycles of up to 26 pictures, down to a
    // seventeenth in those of 51 and more, but a row at least: in 25 pictures at most. A slice
    // ends with it. Nothing above its end is predicted from below. A decoder that joins at the
    // beginning of a cycle, which has parameter sets and a recovery point SEI message (D.1.8), is
    // exact once the range has passed. Sizes of pictures stay close to one another. One reference,
    // one GOP coder, no scene cuts; not with B pictures, keyint 0 or an HRD.
    int intra_refresh;
    // TEMPORAL: of pictures whose list 0 has the collocated picture's first reference: all without
    // a pyramid, with one and a single reference about half; the others are SPATIAL.
    MotusDirectMode direct;
} MotusEncoderConfig;

// Returns the defaults: QP 26, I offset -3, keyint 250, preset medium with its range, quarter
// samples, all partitions, deblocking, no delimiters, backend AUTO, the current device, GOP coders
// from keyint and memory, one slice, packets in host memory, profile BASELINE (CABAC above it),
// rate control QP. For CRF and BITRATE: crf 23, QPs 0..51 in steps of 4, ip_ratio 1.26, lookahead
// 40, min_keyint 0, scenecut 40, AQ off (strength 1), mb-tree on. No B pictures, pb_ratio 1.3,
// b_adapt 1, b_pyramid NORMAL, the preset's references and no others, weightp 2, no weightb, no
// intra refresh, direct AUTO.
MOTUS_API MotusEncoderConfig motus_encoder_config_default(int width, int height, MotusRational fps);

// ---- Packets ------------------------------------------------------------------------------------

// MB types, as statistics count them. B MBs count as the P types of their shape: B_Skip as P_SKIP,
// B_Direct_16x16 as P_16x16.
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

// Statistics of a coded picture.
typedef struct MotusPictureStats {
    uint32_t mb[MOTUS_MB_KINDS];
    uint32_t sub[4]; // sub-macroblocks of P_8x8 MBs: 8x8, 8x4, 4x8, 4x4; all of B_8x8 are 8x8
    // MBs of the 8x8 transform: inter MBs with luma levels; Intra8x8, which `mb` counts as I_4x4.
    uint32_t transform_8x8[2];
    // Bits of parameter sets, slice headers, start codes, emulation prevention and alignment.
    uint64_t bits_header;
    // Bits of mb_type, mb_skip_run, sub_mb_type, intra modes, coded_block_pattern, mb_qp_delta.
    uint64_t bits_mode;
    uint64_t bits_mv;                // ref_idx, mvd
    uint64_t bits_luma, bits_chroma; // residual; I_PCM samples count by component
    uint64_t ssd[3];                 // squared errors of Y, Cb, Cr: reconstruction to `source`
    uint64_t direct;                 // MBs of B_Direct_16x16, which `mb` counts as P_16x16
} MotusPictureStats;

// MV of a block as it was coded, P_Skip and B_Skip included. Luma samples of the picture. Blocks
// predicted from two references have an entry for each, list 0 first.
typedef struct MotusCodedMv {
    uint16_t x, y;         // top-left corner
    uint8_t width, height; // 4..16
    uint8_t skip;          // 1 = the MB is P_Skip or B_Skip
    uint8_t list;          // reference list, 0 or 1; 0 in P pictures
    MotusMv mv;
    int16_t distance; // pictures from this one to the reference, in display order; below 0: back
} MotusCodedMv;

// Parameters of a frame.
typedef struct MotusFrameParams {
    size_t size;           // sizeof(MotusFrameParams)
    int64_t pts, duration; // any unit; passed on to the packet
    void *opaque;          // passed on to the packet
    int force_idr;         // 1 = the picture is an IDR picture
    // QP offset of each MB in raster order, added to rate control's choice; NULL = none. Read
    // before the call returns.
    const int8_t *qp_offset;
    size_t n_qp_offset; // entries: ((width + 15) / 16) * ((height + 15) / 16)
    // External MVs, which replace the whole-sample search if the picture becomes a P picture; NULL
    // = search. Only `mv` is read, before the call returns. Whole-sample MVs are refined as
    // `subpel` says, others stay; SAD, cost and decisions are the encoder's own. 16x16 must be
    // among the modes. MVs must be no finer than `subpel`, at most 2047 samples horizontally, and
    // one sample inside the level's vertical range (table A-1).
    const MotusField *external_mvs;
    // Modes that external_mvs holds, mask of 1 << MotusMode; P pictures use no others. 0 = all.
    uint32_t external_modes;
    int external_final; // 1 = no external MV is refined
    // External MVs by reference, which replace the search of a P or B picture in all of its
    // references; 0 entries = search. Copied before the call returns. Not with external_mvs. An
    // entry is one of the 41 blocks of an MB as in MotusPacket.mvs; `distance`, not 0, tells its
    // reference; `skip` and `list` are not read. Blocks without an MV for a reference take those of
    // the entries over them, of the same distance before others, which are scaled; without any,
    // that of the MB before. MVs finer than `subpel` are rounded, those beyond the level's range
    // clipped. MOTUS_ERR_ARGUMENT beyond +-2048 samples horizontally or +-512 vertically.
    const MotusCodedMv *reference_mvs;
    size_t n_reference_mvs;
} MotusFrameParams;

// A coded picture, reference counted. It outlives later calls and the encoder. All that it points
// to is read-only and lives as long as the packet.
typedef struct MotusPacket {
    const uint8_t *data;   // access unit with start codes; NULL with MOTUS_MEMORY_DEVICE
    size_t size;           // bytes
    int64_t number;        // of the picture in the stream, in display order, from first_picture on
    int64_t pts, duration; // from MotusFrameParams; without them: number and 1
    void *opaque;
    int is_idr;
    char type;               // 'I', 'P' or 'B'
    int qp;                  // of the slices, near the mean
    const MotusFrame *recon; // deblocked, visible size; NULL with stream_only
    // The frame as encoded, visible size, host memory; NULL with stream_only. `number` is that of
    // the frame sent.
    const MotusFrame *source;
    // MVs of inter MBs in raster order; none for I pictures and with stream_only.
    const MotusCodedMv *mvs;
    size_t n_mvs;
    MotusPictureStats stats;
    double mean_qp; // of all MBs
    // Times that the picture was coded again: at a higher QP because of the VBV, or in a second
    // pass because its GOP could not make up for its size.
    int coded_again;
    // Bits in the VBV after the picture's removal; below 0 it underflowed. INT64_MAX without a VBV.
    int64_t vbv_fullness;
    // First pass: lines of the log with their ends. The lines of all packets in order and a last
    // line "end N", N pictures, make the log.
    const char *pass_log;
    // With time_stages: microseconds by the GOP coder's threads, or by the device's clock; else 0.
    float stage_us[MOTUS_STAGES];
    // With export_field, P pictures only: the field of the whole-sample search (or external MVs) in
    // the previous reconstruction; cost = SAD + lambda * bits. Sent as external_mvs and
    // external_modes with the same frames and configuration it gives the same stream, if no picture
    // was coded again, with one reference and no B pictures.
    const MotusField *field;
    uint32_t field_modes; // modes in `field`, mask of 1 << MotusMode
    int slices;           // of the picture
    // MOTUS_MEMORY_DEVICE: `size` bytes in memory of CUDA device `device`, complete, readable on
    // any stream; else NULL.
    const uint8_t *device_data;
    int device;
    // Decoding time in units of pts, at most pts, ascending if pts are in display order: the pts of
    // the frame that is shown one picture (with b_pyramid and bframes from 3 on two, from 7 on
    // three) before the place that this picture has in the stream. Before the first frame of the
    // stream, or of a segment: its pts less max(duration, 1) for each missing one. Without B
    // pictures: pts.
    int64_t dts;
} MotusPacket;

// Adds a reference and returns the packet; accepts NULL.
MOTUS_API MotusPacket *motus_packet_ref(MotusPacket *packet);

// Drops a reference and sets *packet to NULL; accepts NULL and *packet == NULL. The last reference
// frees device data: no kernel may still read it.
MOTUS_API void motus_packet_unref(MotusPacket **packet);

// The same in the order of `stream`, a cudaStream_t of the packet's device (NULL = the legacy
// default stream): what is on the stream already may still read the data. Blocks until then if
// others hold references, or if it is the last packet of a closed encoder.
MOTUS_API void motus_packet_unref_async(MotusPacket **packet, void *stream);

// ---- The encoder --------------------------------------------------------------------------------

typedef struct MotusEncoder MotusEncoder;

// Opens an encoder. Close it with motus_encoder_close. With AUTO, a device that cannot be opened
// leaves the work to the CPU: motus_encoder_backend tells, motus_encoder_error why.
// MOTUS_ERR_ARGUMENT (error->text names the setting), MOTUS_ERR_UNSUPPORTED (size beyond level 6.2;
// slice_max_size with CUDA; MOTUS_MEMORY_DEVICE without it), MOTUS_ERR_FORMAT
// (pass_log), MOTUS_ERR_MEMORY, MOTUS_ERR_NO_DEVICE, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_encoder_open(MotusEncoder **enc, const MotusEncoderConfig *config,
                                         MotusError *error);

// Sends the next frame; NULL ends the stream. params may be NULL. The frame is copied (with CUDA:
// uploaded) before the call returns. Blocks while the GOP coders of a device, or of the CPU, hold
// the lookahead's frames and a GOP each (with one GOP coder: four frames), and while twice the
// frames that all may hold have followed an uncoded one.
// MOTUS_ERR_ARGUMENT (size or parameters), MOTUS_ERR_STATE (after the end), MOTUS_ERR_MEMORY: the
// encoder is as before the call. Other errors are an earlier picture's (MOTUS_ERR_FORMAT: it is not
// the log's): no more frames are taken, and motus_encoder_receive returns the packets before that
// picture, then the same error.
MOTUS_API MotusStatus motus_encoder_send(MotusEncoder *enc, const MotusFrame *frame,
                                         const MotusFrameParams *params);

// Sends a frame in CUDA device memory (motus_frame_wrap; any stride and alignment) that was made on
// `stream`, a cudaStream_t of its device (NULL = the legacy default stream). The frame is read
// once, in stream order: work put on the stream after the call may overwrite it. With stream_only
// the call does not wait for the device. Packets equal those of motus_encoder_send, and both kinds
// of frames may alternate. A frame on another device than its GOP coder's is copied there first.
// Errors of motus_encoder_send, MOTUS_ERR_UNSUPPORTED (backend CPU, or a build without CUDA),
// MOTUS_ERR_NO_DEVICE, MOTUS_ERR_CUDA, MOTUS_ERR_ARGUMENT (a plane is not in device memory).
MOTUS_API MotusStatus motus_encoder_send_device(MotusEncoder *enc, const MotusFrame *frame,
                                                void *stream, const MotusFrameParams *params);

// Sends an image of any format (motus/image.h) and of the configured size, in host memory or in
// device memory. It is encoded as motus_image_convert converts it with config.colour: on the host
// by the calling thread, on the device on `stream`. The packet's source has number 0. NULL is no
// end here. Errors of motus_encoder_send and motus_encoder_send_device; MOTUS_ERR_ARGUMENT also for
// an image that motus_image_convert refuses.
MOTUS_API MotusStatus motus_encoder_send_image(MotusEncoder *enc, const MotusImage *image,
                                               const MotusFrameParams *params);
MOTUS_API MotusStatus motus_encoder_send_image_device(MotusEncoder *enc, const MotusImage *image,
                                                      void *stream, const MotusFrameParams *params);

// After the end: continues with the segment that begins at first_picture and first_gop (as in
// MotusEncoderConfig). GOP coders stay open and may still code the segment before. Segments may
// come in any order; packets come segment after segment as they were sent.
// MOTUS_ERR_ARGUMENT (no such segment), MOTUS_ERR_STATE (the end was not sent),
// MOTUS_ERR_UNSUPPORTED (coded sizes set QPs), and errors of earlier pictures.
MOTUS_API MotusStatus motus_encoder_next_segment(MotusEncoder *enc, int64_t first_picture,
                                                 int64_t first_gop);

// Changes bitrate and VBV from the next frame on; units of MotusEncoderConfig.
// MOTUS_ERR_UNSUPPORTED: not MOTUS_RATE_BITRATE, a second pass, an HRD, or a VBV added or removed.
// MOTUS_ERR_ARGUMENT: rates that motus_encoder_open refuses.
MOTUS_API MotusStatus motus_encoder_set_rate(MotusEncoder *enc, int64_t bitrate,
                                             int64_t vbv_maxrate, int64_t vbv_bufsize);

// Tells that the receiver has lost the picture of packet `number` (MotusPacket.number), or a part
// of it. Pictures sent from now on predict from the newest kept reference that was not lost and
// that depends on no lost one (8.2.4.3); if there is none, the next frame becomes an IDR picture.
// So it is with B pictures always. Pictures that were sent before stay as they are: with a
// lookahead some may still depend on the lost one. A picture that was told before, or that comes
// before the last IDR picture, changes nothing. For the thread that sends. MOTUS_ERR_ARGUMENT: no
// such picture has been coded. MOTUS_ERR_STATE: after the end.
MOTUS_API MotusStatus motus_encoder_reference_lost(MotusEncoder *enc, int64_t number);

// Receives the next packet, in the order of the stream: a B picture after the P picture that is
// shown behind it. Blocks up to timeout_ms milliseconds: 0 not at all, below 0 without limit.
// Release it with motus_packet_unref.
// MOTUS_AGAIN: not yet; with timeout_ms < 0 the encoder needs more frames first. MOTUS_END: all
// packets were returned. MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY, MOTUS_ERR_INTERNAL, MOTUS_ERR_FORMAT:
// the picture could not be coded, and none after it will be (see motus_encoder_send).
MOTUS_API MotusStatus motus_encoder_receive(MotusEncoder *enc, MotusPacket **packet,
                                            int timeout_ms);

// Returns SPS and PPS as an Annex B byte stream of *size bytes; valid while the encoder is open.
MOTUS_API const uint8_t *motus_encoder_headers(const MotusEncoder *enc, size_t *size);

// Returns level_idc (A.3): 10, 11, 12, 13, 20, ... 62; never 9 (level 1b).
MOTUS_API int motus_encoder_level(const MotusEncoder *enc);

// Returns why the calling thread's last call failed, with CUDA's text; before it sends a frame, why
// AUTO chose the CPU; else MOTUS_OK and no text. Wrong sizes and calls out of order leave no text.
MOTUS_API const MotusError *motus_encoder_error(const MotusEncoder *enc);

// Returns the backend that runs, never AUTO.
MOTUS_API MotusBackend motus_encoder_backend(const MotusEncoder *enc);

// Returns the largest number of GOP coders.
MOTUS_API int motus_encoder_gop_coders(const MotusEncoder *enc);

// Returns the bytes of one GOP coder without waiting frames: device memory with CUDA, else host
// memory.
MOTUS_API size_t motus_encoder_gop_coder_bytes(const MotusEncoder *enc);

// Closes the encoder, drops pending pictures and sets *enc to NULL; accepts NULL and *enc == NULL.
MOTUS_API void motus_encoder_close(MotusEncoder **enc);

#ifdef __cplusplus
}
#endif
#endif
