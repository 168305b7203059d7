// H.264 encoder: frames in, byte-stream pictures (Annex B access units) out. Constrained Baseline:
// I and P pictures, CAVLC, one reference, closed GOPs.
//
//     MotusEncoderConfig config = motus_encoder_config_default(352, 288, (MotusRational){30000,
//     1001}); MotusEncoder *enc; MotusPacket *packet; motus_encoder_open(&enc, &config, NULL);
//     while (have frame) {
//         motus_encoder_send(enc, frame, NULL);
//         while (motus_encoder_receive(enc, &packet, 0) == MOTUS_OK) write(packet->data,
//         packet->size), motus_packet_unref(&packet);
//     }
//     motus_encoder_send(enc, NULL, NULL);
//     while (motus_encoder_receive(enc, &packet, -1) == MOTUS_OK) write(packet->data,
//     packet->size), motus_packet_unref(&packet); motus_encoder_close(&enc);
//
// Pictures are coded by threads of the encoder's own: in several lanes, each of which codes one
// closed GOP at a time. Lanes know nothing of one another, and the stream is the same for any
// number of them. One thread at a time may send, and one receive.
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

// How much work goes into decisions: from the fewest bits to the most pictures a second. A preset
// chooses the search range, which blocks are refined, how many ways to code a macroblock are
// evaluated to the last bit, and how levels are chosen; the stream of a preset is the same on every
// backend.
typedef enum MotusPreset {
    MOTUS_PRESET_SLOW,
    MOTUS_PRESET_MEDIUM,
    MOTUS_PRESET_FAST,
    MOTUS_PRESET_FASTER,
    MOTUS_PRESETS,
} MotusPreset;

// "slow", "medium", "fast", "faster"; "unknown" for other values. Static storage.
MOTUS_API const char *motus_preset_name(MotusPreset preset);

enum {
    MOTUS_MAX_GOP_CODERS = 64,
    MOTUS_MAX_LOOKAHEAD = 250,
    MOTUS_ALL_DEVICES = -1,
    MOTUS_MIN_SLICE_SIZE = 128
};

// What decides about QP.
typedef enum MotusRateControl {
    MOTUS_RATE_QP,      // `qp` for every picture: no look-ahead, no adaptive quantization
    MOTUS_RATE_CRF,     // `crf`: one quality for all pictures, whatever rate that takes; lower is
                        // better, about as QPs count
    MOTUS_RATE_BITRATE, // `bitrate` on average
} MotusRateControl;

// What QPs are moved for between macroblocks.
typedef enum MotusAqMode {
    MOTUS_AQ_OFF,
    MOTUS_AQ_VARIANCE, // flat MBs get finer steps, busy ones coarser, against a fixed measure
    MOTUS_AQ_AUTO,     // against the picture's own mean: QPs move between MBs and the mean stays
} MotusAqMode;

// hrd: what the stream says of the decoder's buffer (Annex E): nothing; a channel that pauses while
// the buffer is full; one that never does, for which filler data are inserted.
typedef enum MotusHrd { MOTUS_HRD_NONE, MOTUS_HRD_VBR, MOTUS_HRD_CBR } MotusHrd;

// What a picture goes through, in this order; I pictures begin with intra coding.
typedef enum MotusStage {
    MOTUS_STAGE_REFERENCE,  // half-sample planes of the reference, search centres
    MOTUS_STAGE_SEARCH,     // whole samples, all 41 blocks
    MOTUS_STAGE_CANDIDATES, // refinement of the blocks that have a chance; their vectors are
                            // measured
    MOTUS_STAGE_DECIDE,     // rounds of decisions, intra estimates
    MOTUS_STAGE_INTRA,      // intra MBs
    MOTUS_STAGE_ENTROPY, // CAVLC; on a GPU what deblocking waits for, the rest runs beside it and
                         // what follows
    MOTUS_STAGE_DEBLOCK, // deblocking, squared errors; on a GPU these run beside the next picture
    MOTUS_STAGES,
} MotusStage;

// "reference", "search", ...; "unknown" for other values. Static storage.
MOTUS_API const char *motus_stage_name(MotusStage stage);

typedef struct MotusEncoderConfig {
    size_t size; // sizeof(MotusEncoderConfig): later versions add members at the end
    // Luma samples, even, 2..MOTUS_MAX_SIZE; padded to whole MBs inside and cropped in the SPS
    // (4:2:0 crops in twos).
    int width, height;
    MotusRational fps; // pictures per second, > 0
    int qp;            // of P pictures, 0..51
    int qp_i_offset;   // added to qp for I pictures, result clipped to 0..51; -3 by default
    int keyint;        // an IDR picture every keyint pictures; 0 = only the first one
    MotusPreset preset;
    int range; // R of the whole-sample search, 1..128; 0 = the preset's
    MotusSubpel subpel;
    uint32_t partitions; // mask of 1 << MotusMode that P MBs may use, of those that the preset
                         // considers; 16x16 is always allowed
    int deblock;         // 0 = disable_deblocking_filter_idc 1
    int aud;             // 1 = begin each access unit with a delimiter
    int threads;         // 0 = as many as OpenMP offers; the stream does not depend on it
    int stream_only; // 1: packets have no recon, source and mvs: with CUDA nothing but the stream
                     // leaves the device
    MotusBackend backend;
    MotusColour colour; // goes into the VUI
    int gop_coders; // GOPs that may be coded at the same time, 1..MOTUS_MAX_GOP_CODERS; 0: chosen
                    // by keyint and memory. Lanes are opened as GOPs come
    int device;     // CUDA's number of the device; -1: the current one

    // Rate control. Sizes of coded pictures decide about QPs with MOTUS_RATE_BITRATE (but for the
    // second of two passes) and where there is a VBV: then there is one lane, and each picture's QP
    // is chosen when all before it have been coded.
    MotusRateControl rate;
    double crf;          // 0..51, in steps of 1/256
    int64_t bitrate;     // bits a second
    int64_t vbv_maxrate; // bits a second that arrive at the decoder's buffer (VBV); 0: none
    int64_t vbv_bufsize; // of that buffer, bits
    int qp_min, qp_max;  // of macroblocks with CRF and BITRATE, 0..51
    int qp_step;         // most QPs from a P picture to the next with BITRATE, 1..51
    double ip_ratio;     // quantizer steps of P pictures against those of I pictures, 0.1..10
    MotusHrd hrd;        // needs a VBV; CBR needs maxrate = bitrate
    // Seconds in a unit of MotusFrameParams.duration, for rates of pictures that are shown for
    // different times; 0/1: all are 1 / fps.
    MotusRational time_base;
    // Look-ahead (CRF, BITRATE).
    int lookahead;  // pictures known beyond the one that is coded, 0..MOTUS_MAX_LOOKAHEAD: each
                    // packet comes that many frames later
    int min_keyint; // least pictures from an IDR picture to the next scene cut's; 0: as 1
    int scenecut;   // how readily a cut is seen, 0 (never) .. 100
    MotusAqMode aq_mode;
    double aq_strength; // 0..4
    int mb_tree;        // 1: MBs that later pictures lean on get finer steps, as far as is looked
                        // ahead
    int pass; // 1: packets carry lines of a log; 2: pass_log is that of the first pass; 0: one pass
    const char *pass_log; // text, NUL-terminated; read at the opening

    // A stream may be coded in parts, by encoders that know nothing of one another, where no sizes
    // decide about QPs (see `rate`). The first picture that is sent has to be one where the whole
    // stream has an IDR picture; the last one of a part is the last before another such picture.
    // The packets of all parts in order are those that one encoder makes of the whole.
    int64_t first_picture; // pictures of the stream before this part; packets and the pass log are
                           // numbered so. 0..2^62
    int64_t first_gop;     // IDR pictures of the stream before this part, 0..first_picture
    int time_stages;  // 1: packets say how long each stage took, and pictures take a little longer
                      // for it
    int export_field; // 1: packets of P pictures carry their motion field

    // CUDA devices of this machine that lanes are spread over: the GOPs of lane k are coded on
    // devices[k % n_devices], and with lanes 0 each device gets as many lanes as one alone would.
    // 0: `device` is the only one. MOTUS_ALL_DEVICES: all that CUDA shows, in its order. Up to
    // MOTUS_MAX_GOP_CODERS; `device` has to be -1 beside them.
    int n_devices;
    const int *devices; // CUDA's numbers, no two the same; read at the opening

    // Slices: parts of a picture that are decoded without one another (but for deblocking, which
    // goes across), each a NAL unit of its own. They cost bits, since nothing is predicted across
    // their borders. Both may be given.
    int slices; // of a picture: whole rows of MBs, as even as possible; 0 and 1: one slice; more
                // than there are rows: a slice a row
    int slice_max_size; // bytes that no NAL unit passes, from its header byte to its end, emulation
                        // prevention counted and the start code not: a slice ends where the next MB
                        // would pass it. 0: any size; else MOTUS_MIN_SLICE_SIZE or more. An MB that
                        // does not fit alone is coded coarser. Not with CUDA

    // Where packets have their bytes. MOTUS_MEMORY_DEVICE, with CUDA alone: on the device whose
    // lane coded the picture (MotusPacket.device_data), and with stream_only no more than sizes and
    // statistics comes to the host.
    MotusMemory packet_memory;
} MotusEncoderConfig;

// qp 26, I offset -3, keyint 250, preset medium and its range, quarter samples, all partitions,
// deblocking on, no delimiters, backend AUTO, lanes chosen, the current device alone, one slice of
// any size, packets in host memory. Rate control QP; for the others: crf 23, QPs 0..51 in steps of
// 4, ip_ratio 1.26, look-ahead 40, min_keyint 0, scenecut 40, AQ MOTUS_AQ_OFF of strength 1,
// mb-tree on.
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
    uint32_t sub[4]; // sub-macroblocks of P_8x8 MBs: coded 8x8, 8x4, 4x8, 4x4
    uint64_t
        bits_header; // parameter sets, slice header, start codes, emulation prevention, alignment
    uint64_t
        bits_mode; // mb_type, skip runs, sub types, intra modes, coded_block_pattern, mb_qp_delta
    uint64_t bits_mv;                // vector differences
    uint64_t bits_luma, bits_chroma; // coefficients (I_PCM samples count by component)
    uint64_t ssd[3];                 // reconstruction against `source`
} MotusPictureStats;

// One vector of the coded picture: a block as it was really coded (P_Skip included), in luma
// samples of the picture.
typedef struct MotusCodedMv {
    uint16_t x, y;         // top-left corner
    uint8_t width, height; // 16x16 .. 4x4
    uint8_t skip;          // 1: part of a P_Skip MB
    MotusMv mv;
} MotusCodedMv;

// What goes with a frame.
typedef struct MotusFrameParams {
    size_t size;           // sizeof(MotusFrameParams)
    int64_t pts, duration; // in any unit: handed on to the packet
    void *opaque;          // handed on to the packet
    int force_idr;         // 1: a GOP begins here
    // Per macroblock in raster order, whole QPs added to what rate control chose; NULL: none. Read
    // before the call returns.
    const int8_t *qp_offset;
    size_t n_qp_offset; // entries of qp_offset: those of the picture, (width + 15) / 16 * ((height
                        // + 15) / 16)
    // Vectors from elsewhere, which take the place of the whole-sample search should this become a
    // P picture; NULL: search. Only `mv` is read, before the call returns. From there on all is as
    // ever: what each vector costs (SAD, and bits against the predicted centre) is measured here,
    // costs choose the blocks and types that have a chance, their vectors of whole samples are
    // refined as far as `subpel` says, and decisions may also take P_Skip's vector, zero, and what
    // the neighbours have. A vector with a fraction stays as it is. The first motus_blocks entry,
    // 16x16, must be there. A vector must lead at most 2047 samples to the left or right, and
    // vertically stay a sample within the range of the stream's level (table A-1); it must be no
    // finer than `subpel`.
    const MotusField *external_mvs;
    uint32_t external_modes; // mask of 1 << MotusMode: those that the field has; P pictures use no
                             // other partitions. 0: all seven
    int external_final;      // 1: nothing is refined, vectors of whole samples neither
} MotusFrameParams;

// A coded picture, counted: it lives on after later calls and after the encoder, until
// motus_packet_unref. What it points to is read only.
typedef struct MotusPacket {
    const uint8_t *data; // whole access unit with start codes; NULL where it was left on a device
    size_t size;
    int64_t number; // counts pictures from 0, in order
    int64_t pts,
        duration; // of the frame's parameters; without them the number of the picture and 1
    void *opaque;
    int is_idr;
    char type; // 'I' or 'P'
    int qp;    // of the slice: near the mean
    // The reconstruction after deblocking, the visible size; with stream_only NULL, as is source,
    // and n_mvs is 0.
    const MotusFrame *recon;
    const MotusFrame *source; // the frame as it was encoded, the visible size, in host memory;
                              // `number` is that of the frame sent
    const MotusCodedMv
        *mvs; // n_mvs vectors, MBs in raster order; none for I pictures and intra MBs
    size_t n_mvs;
    MotusPictureStats stats;
    double mean_qp;       // of all MBs
    int coded_again;      // how often it was coded again, because it would have broken the VBV
    int64_t vbv_fullness; // bits in the VBV once the picture has left; below 0 it came too late.
                          // INT64_MAX without a VBV
    // First pass: lines of the log, with their ends. The log is those of all packets in order, and
    // at last a line "end N", N pictures.
    const char *pass_log;
    float stage_us[MOTUS_STAGES]; // with time_stages: microseconds on the lane's threads, or on the
                                  // device's clock; else 0
    // With export_field, of P pictures: what the whole-sample search found (or was given instead)
    // in the reconstruction of the picture before, and what decisions began with: SAD, and cost =
    // SAD
    // + lambda * bits. Of the modes in field_modes. Fed back through MotusFrameParams
    // (external_mvs, external_modes), with the same frames and configuration, it gives the same
    // stream, unless a picture was coded `again`: then the field is that of the last attempt.
    const MotusField *field;
    uint32_t field_modes;
    int slices; // of the picture
    // Where packets are left on the device: `size` bytes in memory of CUDA's device number
    // `device`, else NULL. They are complete when the packet has been received: any stream may read
    // them.
    const uint8_t *device_data;
    int device;
} MotusPacket;

// Adds a reference and returns the same packet; accepts NULL.
MOTUS_API MotusPacket *motus_packet_ref(MotusPacket *packet);

// Drops a reference and sets *packet to NULL; accepts NULL and *packet == NULL. Bytes on a device
// go with the last reference: no work that reads them may be under way then.
MOTUS_API void motus_packet_unref(MotusPacket **packet);

// The same in the order of `stream`, a cudaStream_t of the packet's device (NULL: the legacy
// default stream): what it has been given before may still read the bytes. Waits for it only where
// others hold references, too, and with the last packet of an encoder that has been closed. Without
// bytes on a device it is motus_packet_unref.
MOTUS_API void motus_packet_unref_async(MotusPacket **packet, void *stream);

typedef struct MotusEncoder MotusEncoder;

// Opens an encoder. MOTUS_ERR_ARGUMENT (error->text says which setting), _UNSUPPORTED (size beyond
// the highest level; slice_max_size with CUDA; packets in device memory without it, AUTO or not),
// _MEMORY, _NO_DEVICE, _CUDA. With AUTO a device that cannot be opened leaves the search to the CPU
// for good: motus_encoder_backend tells, and motus_encoder_error why.
MOTUS_API MotusStatus motus_encoder_open(MotusEncoder **enc, const MotusEncoderConfig *config,
                                         MotusError *error);

// Gives the next frame, which is only read and not needed any more when the call returns; NULL ends
// the sequence. params may be NULL. Returns once the frame has been copied (with CUDA: uploaded);
// waits only where the lanes of its device, or of the CPU, together hold as many frames as they may
// (for each of them a GOP, or four where there is one lane), or where twice as many as all lanes
// may hold have come since one that is not coded yet. MOTUS_ERR_ARGUMENT: wrong size or parameters
// (motus_encoder_error says what is wrong with a field). MOTUS_ERR_STATE: after the end.
// MOTUS_ERR_MEMORY: no memory for the frame. After these the encoder is as it was before the call.
// MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY or MOTUS_ERR_INTERNAL of a picture before, and MOTUS_ERR_FORMAT
// in a second pass (a picture is not the one that the log tells of): no more frames are taken;
// motus_encoder_error has the words, and motus_encoder_receive still hands out the packets before
// that picture, then the same error.
MOTUS_API MotusStatus motus_encoder_send(MotusEncoder *enc, const MotusFrame *frame,
                                         const MotusFrameParams *params);

// The same for a frame in CUDA device memory (motus_frame_wrap makes a MotusFrame of device
// pointers; any strides and alignment), made on `stream`, a cudaStream_t (NULL: the legacy default
// stream) of the device that it lies on. The encoder reads it on that stream, once: after what the
// caller has put there before, and before what comes later, which may be put there as soon as the
// call returns. It is encoded where it is; with stream_only nothing but the stream comes to the
// host, and the call does not wait for the device. The stream of pictures is the one that
// motus_encoder_send gives, and frames of both kinds may alternate. A frame that lies on another
// device than its lane's is copied over there, for which the call waits. Where AUTO took the CPU at
// the opening, frames still come down from a device that can do that. Beside the errors above:
// MOTUS_ERR_UNSUPPORTED (the encoder was told to use the CPU, or this build has no CUDA),
// MOTUS_ERR_NO_DEVICE, MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA, MOTUS_ERR_ARGUMENT (a plane that is not in
// device memory): motus_encoder_error has the words.
MOTUS_API MotusStatus motus_encoder_send_device(MotusEncoder *enc, const MotusFrame *frame,
                                                void *stream, const MotusFrameParams *params);

// The same two for an image of any format (motus/image.h), in host memory or in device memory, of
// the configured size: it is encoded as the frame that motus_image_convert makes of it with the
// configuration's `colour`, which goes into the VUI. On the host that is done by the calling
// thread, before the call returns; on the device on `stream`. MOTUS_ERR_ARGUMENT: also an image
// that motus_image_convert refuses; motus_encoder_error has the words where it is the colour's
// matrix. `number` of the packet's source is 0. Not for NULL: motus_encoder_send ends the sequence.
MOTUS_API MotusStatus motus_encoder_send_image(MotusEncoder *enc, const MotusImage *image,
                                               const MotusFrameParams *params);
MOTUS_API MotusStatus motus_encoder_send_image_device(MotusEncoder *enc, const MotusImage *image,
                                                      void *stream, const MotusFrameParams *params);

// After the end: goes on with another part of the stream, that begins there (see `first_picture` in
// the configuration), as an encoder would that was opened for it; lanes stay open, and may still
// code pictures of the part before. Parts may come in any order; packets come in the order of the
// frames. MOTUS_ERR_ARGUMENT: no stream has such a part. MOTUS_ERR_STATE: the end (a frame NULL)
// was not sent. MOTUS_ERR_UNSUPPORTED: sizes decide about QPs. Beside them as motus_encoder_send.
MOTUS_API MotusStatus motus_encoder_next_segment(MotusEncoder *enc, int64_t first_picture,
                                                 int64_t first_gop);

// Another rate from the next frame on, for senders whose channel changes: bitrate and VBV as in the
// configuration. Only with MOTUS_RATE_BITRATE, without a second pass and without hrd, and not from
// none to some VBV or back: MOTUS_ERR_UNSUPPORTED. MOTUS_ERR_ARGUMENT: rates that
// motus_encoder_open would refuse.
MOTUS_API MotusStatus motus_encoder_set_rate(MotusEncoder *enc, int64_t bitrate,
                                             int64_t vbv_maxrate, int64_t vbv_bufsize);

// Takes the next packet, in the order of the frames. Waits for it up to timeout_ms milliseconds: 0
// asks only, a negative one waits as long as it takes. MOTUS_AGAIN: it is not there, and where the
// call was to wait as long as it takes, it needs frames that have not come: send more. MOTUS_END:
// all packets have been handed out. MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY, MOTUS_ERR_INTERNAL: the
// picture could not be coded, and none after it will be; MOTUS_ERR_FORMAT: nor could it be planned,
// see motus_encoder_send. motus_encoder_error has the words.
MOTUS_API MotusStatus motus_encoder_receive(MotusEncoder *enc, MotusPacket **packet,
                                            int timeout_ms);

// SPS and PPS as an Annex B byte stream (for containers); valid while the encoder is open.
MOTUS_API const uint8_t *motus_encoder_headers(const MotusEncoder *enc, size_t *size);

// level_idc of the stream: 10, 11, 12, 13, 20, ... 62 (9 = 1b is never used).
MOTUS_API int motus_encoder_level(const MotusEncoder *enc);

// Why the last call failed, in CUDA's own words where it was CUDA (wrong sizes and calls out of
// order leave none), else why AUTO took the CPU at the opening. status is MOTUS_OK and text empty
// if there was neither. To be read by the thread whose call failed.
MOTUS_API const MotusError *motus_encoder_error(const MotusEncoder *enc);

// The backend that runs (never AUTO).
MOTUS_API MotusBackend motus_encoder_backend(const MotusEncoder *enc);

// How many lanes there may be, and the memory of one, bytes: on the device where the backend is
// CUDA, else on the host, without the frames that wait.
MOTUS_API int motus_encoder_gop_coders(const MotusEncoder *enc);
MOTUS_API size_t motus_encoder_gop_coder_bytes(const MotusEncoder *enc);

// Closes and sets *enc to NULL, dropping pictures that are under way; accepts NULL and *enc ==
// NULL.
MOTUS_API void motus_encoder_close(MotusEncoder **enc);

#ifdef __cplusplus
}
#endif
#endif
