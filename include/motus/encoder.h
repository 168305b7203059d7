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

#include "motus/encoder_config.h"
#include "motus/frame.h"
#include "motus/image.h"
#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Packets ------------------------------------------------------------------------------------

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
    uint64_t ssd[3]; // squared errors of Y, Cb, Cr: reconstruction to `source`; 0 with no_ssd
    uint64_t direct; // MBs of B_Direct_16x16, which `mb` counts as P_16x16
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

// Drops a reference in the order of `stream`, a cudaStream_t of the packet's device (NULL = the
// legacy default stream): what is on the stream already may still read the data. Blocks until then
// if others hold references, or if it is the last packet of a closed encoder.
MOTUS_API void motus_packet_unref_async(MotusPacket **packet, void *stream);

// ---- The encoder --------------------------------------------------------------------------------

typedef struct MotusEncoder MotusEncoder;

// Opens an encoder. Close it with motus_encoder_close. If the calling thread's current CUcontext is
// one that the caller made on the encoder's device, the encoder works in it: it has to outlive the
// encoder and its packets, and to be current in later calls. Otherwise it is the device's primary
// context, in which CUDA's runtime works. With AUTO, a device that cannot be opened
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
// With B pictures it always does. Pictures that were sent before stay as they are: with a
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
// In a child of fork() an inherited encoder is left alone: closing it only sets *enc to NULL, other
// calls return MOTUS_ERR_STATE. The child may open its own.
MOTUS_API void motus_encoder_close(MotusEncoder **enc);

#ifdef __cplusplus
}
#endif
#endif
