// libnvidia-encode.so.1 by its interface, on the CPU: access units are those of a MotusEncoder with
// the same settings, outputs come as NVENC's callers expect, wrong calls fail in words.
// SPDX-License-Identifier: BSD-2-Clause
#include <ffnvcodec/nvEncodeAPI.h>
#include <stdlib.h>
#include <string.h>

#include "motus/motus.h"
#include "tests/support/harness.h"

enum { WIDTH = 144, HEIGHT = 112, MBS = WIDTH / 16 * HEIGHT / 16, FRAMES = 14, SURFACES = 64 };

typedef struct Case {
    NV_ENCODE_API_FUNCTION_LIST api;
    void *session;
    NV_ENC_PRESET_CONFIG preset;
    NV_ENC_INITIALIZE_PARAMS init;
    void *in, *out[SURFACES];
} Case;

#define ACCEPTED(call) CU_ASSERT_EQUAL_FATAL(call, NV_ENC_SUCCESS)

static const char *words(Case *c) { return c->api.nvEncGetLastErrorString(c->session); }

static void open_case(Case *c, GUID preset, NV_ENC_TUNING_INFO tuning) {
    setenv("MOTUS_NVENC_BACKEND", "cpu", 1);
    setenv("MOTUS_NVENC", "always", 1);
    memset(c, 0, sizeof *c);
    c->api.version = NV_ENCODE_API_FUNCTION_LIST_VER;
    ACCEPTED(NvEncodeAPICreateInstance(&c->api));
    NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS open = {.version =
                                                     NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS_VER,
                                                 .deviceType = NV_ENC_DEVICE_TYPE_CUDA,
                                                 .apiVersion = NVENCAPI_VERSION};
    ACCEPTED(c->api.nvEncOpenEncodeSessionEx(&open, &c->session));
    c->preset.version = NV_ENC_PRESET_CONFIG_VER;
    c->preset.presetCfg.version = NV_ENC_CONFIG_VER;
    ACCEPTED(c->api.nvEncGetEncodePresetConfigEx(c->session, NV_ENC_CODEC_H264_GUID, preset, tuning,
                                                 &c->preset));
    c->init = (NV_ENC_INITIALIZE_PARAMS){.version = NV_ENC_INITIALIZE_PARAMS_VER,
                                         .encodeGUID = NV_ENC_CODEC_H264_GUID,
                                         .presetGUID = preset,
                                         .encodeWidth = WIDTH,
                                         .encodeHeight = HEIGHT,
                                         .frameRateNum = 30,
                                         .frameRateDen = 1,
                                         .enablePTD = 1,
                                         .encodeConfig = &c->preset.presetCfg,
                                         .tuningInfo = tuning};
}

static void make_buffers(Case *c, NV_ENC_BUFFER_FORMAT format) {
    NV_ENC_CREATE_INPUT_BUFFER in = {.version = NV_ENC_CREATE_INPUT_BUFFER_VER,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .bufferFmt = format};
    ACCEPTED(c->api.nvEncCreateInputBuffer(c->session, &in));
    c->in = in.inputBuffer;
    for (int i = 0; i < SURFACES; i++) {
        NV_ENC_CREATE_BITSTREAM_BUFFER out = {.version = NV_ENC_CREATE_BITSTREAM_BUFFER_VER};
        ACCEPTED(c->api.nvEncCreateBitstreamBuffer(c->session, &out));
        c->out[i] = out.bitstreamBuffer;
    }
}

// Initializes the encoder with fixed QPs, `b` B pictures, and makes its buffers.
static void start(Case *c, int b, NV_ENC_BUFFER_FORMAT format) {
    NV_ENC_CONFIG *config = &c->preset.presetCfg;
    config->frameIntervalP = b + 1;
    config->rcParams.rateControlMode = NV_ENC_PARAMS_RC_CONSTQP;
    config->rcParams.constQP = (NV_ENC_QP){.qpInterP = 30, .qpInterB = 33, .qpIntra = 27};
    ACCEPTED(c->api.nvEncInitializeEncoder(c->session, &c->init));
    make_buffers(c, format);
}

static void close_case(Case *c) { ACCEPTED(c->api.nvEncDestroyEncoder(c->session)); }

// Sample of frame n: texture that moves, so that pictures have all types.
static uint8_t sample(int plane, int x, int y, int n) {
    const unsigned u = (unsigned)(x + 3 * n + 16 * plane), v = (unsigned)(y + 2 * n);
    return (uint8_t)(((u * u / 5) ^ (v * 7)) + u * v / 11);
}

// Writes frame n into a buffer of one of the 4:2:0 formats.
static void draw(uint8_t *data, size_t pitch, NV_ENC_BUFFER_FORMAT format, int n) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) data[y * pitch + x] = sample(0, x, y, n);
    uint8_t *chroma = data + pitch * HEIGHT;
    for (int k = 1; k < 3; k++)
        for (int y = 0; y < HEIGHT / 2; y++)
            for (int x = 0; x < WIDTH / 2; x++) {
                const uint8_t value = sample(k, x, y, n);
                const int at = format == NV_ENC_BUFFER_FORMAT_YV12 ? 2 - k : k - 1;
                if (format == NV_ENC_BUFFER_FORMAT_NV12)
                    chroma[y * pitch + 2 * x + k - 1] = value;
                else
                    chroma[(at * (HEIGHT / 2) + y) * (pitch / 2) + x] = value;
            }
}

// Sends frame n; *more gets 1 if NVENC's answer is that it needs more input.
static void send(Case *c, int n, NV_ENC_PIC_PARAMS p, NV_ENC_BUFFER_FORMAT format, int *more) {
    NV_ENC_LOCK_INPUT_BUFFER lock = {.version = NV_ENC_LOCK_INPUT_BUFFER_VER, .inputBuffer = c->in};
    ACCEPTED(c->api.nvEncLockInputBuffer(c->session, &lock));
    draw(lock.bufferDataPtr, lock.pitch, format, n);
    ACCEPTED(c->api.nvEncUnlockInputBuffer(c->session, c->in));
    p.version = NV_ENC_PIC_PARAMS_VER;
    p.inputWidth = WIDTH, p.inputHeight = HEIGHT, p.inputPitch = lock.pitch;
    p.inputBuffer = c->in, p.outputBitstream = c->out[n % SURFACES];
    p.bufferFmt = format, p.pictureStruct = NV_ENC_PIC_STRUCT_FRAME;
    p.inputTimeStamp = 1000 + 7 * (uint64_t)n, p.inputDuration = 7, p.frameIdx = (uint32_t)n;
    const NVENCSTATUS status = c->api.nvEncEncodePicture(c->session, &p);
    CU_ASSERT_FATAL(status == NV_ENC_SUCCESS || status == NV_ENC_ERR_NEED_MORE_INPUT);
    *more = status == NV_ENC_ERR_NEED_MORE_INPUT;
}

static void end(Case *c) {
    NV_ENC_PIC_PARAMS p = {.version = NV_ENC_PIC_PARAMS_VER, .encodePicFlags = NV_ENC_PIC_FLAG_EOS};
    ACCEPTED(c->api.nvEncEncodePicture(c->session, &p));
    ACCEPTED(c->api.nvEncEncodePicture(c->session, &p)); // callers repeat it
}

static NV_ENC_LOCK_BITSTREAM lock_output(Case *c, int i) {
    NV_ENC_LOCK_BITSTREAM lock = {.version = NV_ENC_LOCK_BITSTREAM_VER,
                                  .outputBitstream = c->out[i % SURFACES]};
    ACCEPTED(c->api.nvEncLockBitstream(c->session, &lock));
    return lock;
}

static void unlock_output(Case *c, int i) {
    ACCEPTED(c->api.nvEncUnlockBitstream(c->session, c->out[i % SURFACES]));
}

// The reference: the same frames by a MotusEncoder.
static MotusEncoder *open_reference(MotusPreset preset, int b) {
    MotusEncoderConfig m = motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){30, 1});
    MotusEncoder *encoder;
    m.preset = preset, m.profile = MOTUS_PROFILE_HIGH;
    m.qp = 30, m.qp_i_offset = -3, m.pb_ratio = 1.4142135623730951;
    m.keyint = 250, m.bframes = b, m.b_adapt = 0, m.weightp = 0;
    m.stream_only = m.no_ssd = 1, m.gop_coders = 1;
    m.backend = MOTUS_BACKEND_CPU;
    REQUIRE_OK(motus_encoder_open(&encoder, &m, NULL));
    MotusFrame *frame;
    REQUIRE_OK(motus_frame_alloc(&frame, WIDTH, HEIGHT));
    for (int n = 0; n < FRAMES; n++) {
        for (int k = 0; k < 3; k++)
            for (int y = 0; y < frame->plane[k].height; y++)
                for (int x = 0; x < frame->plane[k].width; x++)
                    frame->plane[k].data[y * frame->plane[k].stride + x] = sample(k, x, y, n);
        REQUIRE_OK(motus_encoder_send(encoder, frame, NULL));
    }
    motus_frame_unref(&frame);
    REQUIRE_OK(motus_encoder_send(encoder, NULL, NULL));
    return encoder;
}

// Every format of 4:2:0, without and with B pictures: the same bytes, timestamps of the pictures
// that were sent, NEED_MORE_INPUT exactly while a B picture waits.
static void streams_equal(void) {
    static const NV_ENC_BUFFER_FORMAT format[] = {
        NV_ENC_BUFFER_FORMAT_NV12, NV_ENC_BUFFER_FORMAT_IYUV, NV_ENC_BUFFER_FORMAT_YV12};
    for (int k = 0; k < 4; k++) {
        const int b = k == 3 ? 3 : 0;
        Case c;
        int more, locked = 0;
        open_case(&c, NV_ENC_PRESET_P1_GUID, NV_ENC_TUNING_INFO_HIGH_QUALITY);
        start(&c, b, format[k % 3]);
        MotusEncoder *reference = open_reference(MOTUS_PRESET_FASTER, b);
        for (int n = 0; n <= FRAMES; n++) {
            if (n == FRAMES)
                end(&c), more = 0;
            else
                send(&c, n, (NV_ENC_PIC_PARAMS){0}, format[k % 3], &more);
            MOTUS_CHECK(n == FRAMES || more == (n % (b + 1) != 0), "%d B, frame %d", b, n);
            for (; !more && locked < n + (n < FRAMES); locked++) {
                MotusPacket *packet;
                const NV_ENC_LOCK_BITSTREAM out = lock_output(&c, locked);
                REQUIRE_OK(motus_encoder_receive(reference, &packet, -1));
                MOTUS_CHECK(out.bitstreamSizeInBytes == packet->size &&
                                !memcmp(out.bitstreamBufferPtr, packet->data, packet->size),
                            "format %d, %d B, packet %d", k % 3, b, locked);
                CU_ASSERT_EQUAL(out.outputTimeStamp, 1000 + 7 * (uint64_t)packet->number);
                CU_ASSERT_EQUAL(out.frameIdx, (uint32_t)packet->number);
                CU_ASSERT_EQUAL(out.intraMBCount + out.interMBCount, MBS);
                CU_ASSERT_EQUAL(out.pictureType, packet->is_idr        ? NV_ENC_PIC_TYPE_IDR
                                                 : packet->type == 'P' ? NV_ENC_PIC_TYPE_P
                                                                       : NV_ENC_PIC_TYPE_B);
                unlock_output(&c, locked);
                motus_packet_unref(&packet);
            }
        }
        CU_ASSERT_EQUAL(locked, FRAMES);
        motus_encoder_close(&reference);
        close_case(&c);
    }
}

// With a lookahead an output may be locked once as many frames as the lookahead and the run of B
// pictures have followed.
static void a_lookahead_keeps_its_delay(void) {
    Case c;
    int more, locked = 0;
    open_case(&c, NV_ENC_PRESET_P3_GUID, NV_ENC_TUNING_INFO_HIGH_QUALITY);
    NV_ENC_CONFIG *config = &c.preset.presetCfg;
    config->rcParams.enableLookahead = 1, config->rcParams.lookaheadDepth = 5;
    config->rcParams.averageBitRate = 400000;
    config->frameIntervalP = 3;
    ACCEPTED(c.api.nvEncInitializeEncoder(c.session, &c.init));
    make_buffers(&c, NV_ENC_BUFFER_FORMAT_NV12);
    for (int n = 0; n < 3 * FRAMES; n++) {
        send(&c, n, (NV_ENC_PIC_PARAMS){0}, NV_ENC_BUFFER_FORMAT_NV12, &more);
        MOTUS_CHECK(more == (n < 7), "frame %d", n);
        if (n >= 7) lock_output(&c, locked), unlock_output(&c, locked), locked++;
    }
    end(&c);
    for (; locked < 3 * FRAMES; locked++) lock_output(&c, locked), unlock_output(&c, locked);
    close_case(&c);
}

// IDR pictures on demand, QP maps of both kinds and of both layouts, a lost reference, new rates.
static void pictures_take_parameters(void) {
    static int8_t map[MBS];
    Case c;
    int more;
    open_case(&c, NV_ENC_PRESET_P1_GUID, NV_ENC_TUNING_INFO_ULTRA_LOW_LATENCY);
    NV_ENC_CONFIG *config = &c.preset.presetCfg;
    config->rcParams.qpMapMode = NV_ENC_QP_MAP_DELTA;
    config->encodeCodecConfig.h264Config.maxNumRefFrames = 4;
    config->encodeCodecConfig.h264Config.numRefL0 = NV_ENC_NUM_REF_FRAMES_1;
    start(&c, 0, NV_ENC_BUFFER_FORMAT_NV12);
    uint32_t qp[6];
    for (int n = 0; n < 6; n++) {
        NV_ENC_PIC_PARAMS p = {0};
        memset(map, n == 2 ? 6 : 0, sizeof map);
        p.qpDeltaMap = map, p.qpDeltaMapSize = sizeof map;
        if (n == 4) p.encodePicFlags = NV_ENC_PIC_FLAG_FORCEIDR;
        if (n == 3) ACCEPTED(c.api.nvEncInvalidateRefFrames(c.session, 1000 + 7 * 2));
        send(&c, n, p, NV_ENC_BUFFER_FORMAT_NV12, &more);
        const NV_ENC_LOCK_BITSTREAM out = lock_output(&c, n);
        qp[n] = out.frameAvgQP;
        CU_ASSERT_EQUAL(out.pictureType == NV_ENC_PIC_TYPE_IDR, n == 0 || n == 4);
        unlock_output(&c, n);
    }
    CU_ASSERT(qp[0] == 27 && qp[1] == 30 && qp[2] == 36 && qp[3] == 30);
    CU_ASSERT_EQUAL(c.api.nvEncInvalidateRefFrames(c.session, 5), NV_ENC_ERR_INVALID_PARAM);
    CU_ASSERT_PTR_NOT_NULL(strstr(words(&c), "timestamp 5"));
    close_case(&c);
}

// Parameter sets by themselves, access units without them, offsets of slices.
static void slices_and_parameter_sets(void) {
    Case c;
    int more;
    uint8_t head[256];
    uint32_t size = 0, offset[8] = {0};
    open_case(&c, NV_ENC_PRESET_P1_GUID, NV_ENC_TUNING_INFO_HIGH_QUALITY);
    NV_ENC_CONFIG_H264 *h264 = &c.preset.presetCfg.encodeCodecConfig.h264Config;
    h264->disableSPSPPS = 1, h264->sliceMode = 3, h264->sliceModeData = 3;
    c.init.reportSliceOffsets = 1;
    start(&c, 0, NV_ENC_BUFFER_FORMAT_NV12);
    NV_ENC_SEQUENCE_PARAM_PAYLOAD payload = {.version = NV_ENC_SEQUENCE_PARAM_PAYLOAD_VER,
                                             .inBufferSize = sizeof head,
                                             .spsppsBuffer = head,
                                             .outSPSPPSPayloadSize = &size};
    ACCEPTED(c.api.nvEncGetSequenceParams(c.session, &payload));
    CU_ASSERT(size > 8 && head[4] == 0x67);
    payload.inBufferSize = 4;
    CU_ASSERT_EQUAL(c.api.nvEncGetSequenceParams(c.session, &payload),
                    NV_ENC_ERR_NOT_ENOUGH_BUFFER);
    send(&c, 0, (NV_ENC_PIC_PARAMS){0}, NV_ENC_BUFFER_FORMAT_NV12, &more);
    NV_ENC_LOCK_BITSTREAM lock = {
        .version = NV_ENC_LOCK_BITSTREAM_VER, .outputBitstream = c.out[0], .sliceOffsets = offset};
    ACCEPTED(c.api.nvEncLockBitstream(c.session, &lock));
    const uint8_t *data = lock.bitstreamBufferPtr;
    CU_ASSERT_EQUAL(lock.numSlices, 3);
    CU_ASSERT_EQUAL(offset[0], 0);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT(offset[i] + 5 < lock.bitstreamSizeInBytes);
        CU_ASSERT(!memcmp(data + offset[i], "\0\0\0\1", 4) && (data[offset[i] + 4] & 31) == 5);
    }
    unlock_output(&c, 0);
    close_case(&c);
}

// Every MB has the displacement of the whole picture; a hint moves the window to a far one.
static void motion_only(void) {
    static NVENC_EXTERNAL_ME_HINT hint[MBS];
    for (int far = 0; far < 2; far++) {
        const int dx = far ? 60 : 5, dy = -3;
        Case c;
        void *in[2];
        open_case(&c, NV_ENC_PRESET_P1_GUID, NV_ENC_TUNING_INFO_HIGH_QUALITY);
        c.init.enableMEOnlyMode = 1, c.init.enableExternalMEHints = (uint32_t)far;
        ACCEPTED(c.api.nvEncInitializeEncoder(c.session, &c.init));
        NV_ENC_CREATE_MV_BUFFER mvs = {.version = NV_ENC_CREATE_MV_BUFFER_VER};
        ACCEPTED(c.api.nvEncCreateMVBuffer(c.session, &mvs));
        for (int k = 0; k < 2; k++) {
            NV_ENC_CREATE_INPUT_BUFFER buffer = {.version = NV_ENC_CREATE_INPUT_BUFFER_VER,
                                                 .width = WIDTH,
                                                 .height = HEIGHT,
                                                 .bufferFmt = NV_ENC_BUFFER_FORMAT_NV12};
            ACCEPTED(c.api.nvEncCreateInputBuffer(c.session, &buffer));
            in[k] = buffer.inputBuffer;
            NV_ENC_LOCK_INPUT_BUFFER lock = {.version = NV_ENC_LOCK_INPUT_BUFFER_VER,
                                             .inputBuffer = in[k]};
            ACCEPTED(c.api.nvEncLockInputBuffer(c.session, &lock));
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++) {
                    const unsigned u = (unsigned)(x + (k ? dx : 0)),
                                   v = (unsigned)(y + (k ? dy : 0));
                    ((uint8_t *)lock.bufferDataPtr)[(size_t)y * lock.pitch + (size_t)x] =
                        (uint8_t)(((u * 2654435761u ^ v * 40503u) * 2246822519u) >> 24);
                }
        }
        for (int mb = 0; mb < MBS; mb++)
            hint[mb] = (NVENC_EXTERNAL_ME_HINT){.mvx = dx, .mvy = dy, .lastOfMB = 1};
        NV_ENC_MEONLY_PARAMS p = {.version = NV_ENC_MEONLY_PARAMS_VER,
                                  .inputWidth = WIDTH,
                                  .inputHeight = HEIGHT,
                                  .inputBuffer = in[1],
                                  .referenceFrame = in[0],
                                  .mvBuffer = mvs.mvBuffer,
                                  .meExternalHints = far ? hint : NULL};
        p.meHintCountsPerBlock[0].numCandsPerBlk16x16 = (uint32_t)far;
        ACCEPTED(c.api.nvEncRunMotionEstimationOnly(c.session, &p));
        NV_ENC_LOCK_BITSTREAM lock = {.version = NV_ENC_LOCK_BITSTREAM_VER,
                                      .outputBitstream = mvs.mvBuffer};
        ACCEPTED(c.api.nvEncLockBitstream(c.session, &lock));
        const NV_ENC_H264_MV_DATA *mv = lock.bitstreamBufferPtr;
        CU_ASSERT_EQUAL(lock.bitstreamSizeInBytes, MBS * sizeof *mv);
        int right = 0, inside = 0;
        for (int mb = 0; mb < MBS; mb++) { // MBs whose match lies in the picture
            const int x = mb % (WIDTH / 16) * 16, y = mb / (WIDTH / 16) * 16;
            if (x + dx + 16 > WIDTH || y + dy < 0) continue;
            inside++;
            right += mv[mb].mv[0].mvx == 4 * dx && mv[mb].mv[0].mvy == 4 * dy &&
                     mv[mb].partitionType == 0;
        }
        CU_ASSERT(inside > MBS / 4);
        CU_ASSERT_EQUAL(right, inside);
        ACCEPTED(c.api.nvEncUnlockBitstream(c.session, mvs.mvBuffer));
        ACCEPTED(c.api.nvEncDestroyMVBuffer(c.session, mvs.mvBuffer));
        close_case(&c);
    }
}

// What callers ask before they open, and what is refused.
static void capabilities(void) {
    Case c;
    uint32_t n, version;
    int value;
    GUID guid[32];
    open_case(&c, NV_ENC_PRESET_P4_GUID, NV_ENC_TUNING_INFO_HIGH_QUALITY);
    ACCEPTED(NvEncodeAPIGetMaxSupportedVersion(&version));
    CU_ASSERT(version >= (NVENCAPI_MAJOR_VERSION << 4 | NVENCAPI_MINOR_VERSION));
    ACCEPTED(c.api.nvEncGetEncodeGUIDs(c.session, guid, 32, &n));
    CU_ASSERT(n == 1 && !memcmp(guid, &NV_ENC_CODEC_H264_GUID, sizeof *guid));
    ACCEPTED(c.api.nvEncGetEncodePresetGUIDs(c.session, NV_ENC_CODEC_H264_GUID, guid, 32, &n));
    for (uint32_t i = 0; i < n; i++)
        ACCEPTED(c.api.nvEncGetEncodePresetConfigEx(c.session, NV_ENC_CODEC_H264_GUID, guid[i],
                                                    NV_ENC_TUNING_INFO_LOW_LATENCY, &c.preset));
    NV_ENC_CAPS_PARAM caps = {.version = NV_ENC_CAPS_PARAM_VER};
    for (int i = 0; i < NV_ENC_CAPS_EXPOSED_COUNT; i++) {
        caps.capsToQuery = (NV_ENC_CAPS)i;
        ACCEPTED(c.api.nvEncGetEncodeCaps(c.session, NV_ENC_CODEC_H264_GUID, &caps, &value));
        CU_ASSERT(value >= 0);
    }
    CU_ASSERT(c.api.nvEncGetEncodeCaps(c.session, NV_ENC_CODEC_HEVC_GUID, &caps, &value) != 0);
    CU_ASSERT_EQUAL(c.api.nvEncGetEncodePresetConfigEx(c.session, NV_ENC_CODEC_HEVC_GUID, guid[0],
                                                       NV_ENC_TUNING_INFO_LOW_LATENCY, &c.preset),
                    NV_ENC_ERR_UNSUPPORTED_PARAM);
    close_case(&c);
}

static void wrong_calls_fail_in_words(void) {
    Case c;
    int other;
    open_case(&c, NV_ENC_PRESET_P1_GUID, NV_ENC_TUNING_INFO_HIGH_QUALITY);
    NV_ENC_PIC_PARAMS p = {.version = NV_ENC_PIC_PARAMS_VER};
    CU_ASSERT_EQUAL(c.api.nvEncEncodePicture(c.session, &p), NV_ENC_ERR_ENCODER_NOT_INITIALIZED);
    c.init.encodeGUID = NV_ENC_CODEC_HEVC_GUID;
    CU_ASSERT_EQUAL(c.api.nvEncInitializeEncoder(c.session, &c.init), NV_ENC_ERR_UNSUPPORTED_PARAM);
    CU_ASSERT_PTR_NOT_NULL(strstr(words(&c), "H.264"));
    c.init.encodeGUID = NV_ENC_CODEC_H264_GUID;
    c.init.encodeWidth = 3;
    CU_ASSERT(c.api.nvEncInitializeEncoder(c.session, &c.init) != NV_ENC_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(words(&c), "3x112"));
    c.init.encodeWidth = WIDTH;
    start(&c, 0, NV_ENC_BUFFER_FORMAT_NV12);
    CU_ASSERT_EQUAL(c.api.nvEncInitializeEncoder(c.session, &c.init), NV_ENC_ERR_INVALID_CALL);
    p.inputBuffer = &other, p.outputBitstream = c.out[0];
    CU_ASSERT_EQUAL(c.api.nvEncEncodePicture(c.session, &p), NV_ENC_ERR_INVALID_PARAM);
    NV_ENC_LOCK_BITSTREAM lock = {.version = NV_ENC_LOCK_BITSTREAM_VER,
                                  .outputBitstream = c.out[0]};
    CU_ASSERT_EQUAL(c.api.nvEncLockBitstream(c.session, &lock), NV_ENC_ERR_INVALID_CALL);
    lock.outputBitstream = &other;
    CU_ASSERT_EQUAL(c.api.nvEncLockBitstream(c.session, &lock), NV_ENC_ERR_INVALID_PARAM);
    CU_ASSERT_EQUAL(c.api.nvEncUnlockBitstream(c.session, c.out[0]), NV_ENC_ERR_INVALID_CALL);
    CU_ASSERT_EQUAL(c.api.nvEncUnregisterResource(c.session, &other),
                    NV_ENC_ERR_RESOURCE_NOT_REGISTERED);
    NV_ENC_CREATE_INPUT_BUFFER in = {.version = NV_ENC_CREATE_INPUT_BUFFER_VER,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .bufferFmt = NV_ENC_BUFFER_FORMAT_YUV444};
    CU_ASSERT_EQUAL(c.api.nvEncCreateInputBuffer(c.session, &in), NV_ENC_ERR_UNSUPPORTED_PARAM);
    int more; // an output that is destroyed while it is queued, and a session closed in the middle
    send(&c, 0, (NV_ENC_PIC_PARAMS){0}, NV_ENC_BUFFER_FORMAT_NV12, &more);
    send(&c, 1, (NV_ENC_PIC_PARAMS){0}, NV_ENC_BUFFER_FORMAT_NV12, &more);
    ACCEPTED(c.api.nvEncDestroyBitstreamBuffer(c.session, c.out[0]));
    lock_output(&c, 1);
    close_case(&c);
}

MOTUS_SUITE("nvenc", TEST(streams_equal), TEST(a_lookahead_keeps_its_delay),
            TEST(pictures_take_parameters), TEST(slices_and_parameter_sets), TEST(motion_only),
            TEST(capabilities), TEST(wrong_calls_fail_in_words))
