// NVENC's configuration as settings of a MotusEncoder.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <string.h>

#include "interop/nvenc/session.h"

static int clip(int64_t value, int low, int high) {
    return value < low ? low : value > high ? high : (int)value;
}

void motus_nvenc_rate(const NV_ENC_CONFIG *config, MotusEncoderConfig *m) {
    const NV_ENC_RC_PARAMS *r = &config->rcParams;
    const NV_ENC_CONFIG_H264 *h = &config->encodeCodecConfig.h264Config;
    const int mode = r->rateControlMode;
    const int is_vbr = mode == NV_ENC_PARAMS_RC_VBR || mode == NV_ENC_PARAMS_RC_VBR_HQ;
    const double quality = r->targetQuality + r->targetQualityLSB / 256.0;
    const int64_t ceiling = r->maxBitRate;
    m->vbv_maxrate = m->vbv_bufsize = 0;
    m->hrd = MOTUS_HRD_NONE;
    if (mode == NV_ENC_PARAMS_RC_CONSTQP) {
        m->rate = MOTUS_RATE_QP;
        m->qp = clip((int32_t)r->constQP.qpInterP, 0, 51);
        m->qp_i_offset = clip((int32_t)r->constQP.qpIntra, 0, 51) - m->qp;
        // A quantizer step doubles every six QPs.
        m->pb_ratio = exp2((clip((int32_t)r->constQP.qpInterB, 0, 51) - m->qp) / 6.0);
        m->pb_ratio = fmin(10, fmax(0.1, m->pb_ratio));
    } else if (is_vbr && quality > 0) {
        m->rate = MOTUS_RATE_CRF;
        m->crf = fmin(51, quality);
        m->vbv_maxrate = ceiling;
    } else {
        m->rate = MOTUS_RATE_BITRATE;
        m->bitrate = r->averageBitRate ? r->averageBitRate : 5000000;
        if (!is_vbr)
            m->vbv_maxrate = m->bitrate;
        else if (ceiling > m->bitrate)
            m->vbv_maxrate = ceiling;
        if (!is_vbr && (h->enableFillerDataInsertion || h->outputPictureTimingSEI))
            m->hrd = MOTUS_HRD_CBR;
    }
    if (m->vbv_maxrate) m->vbv_bufsize = r->vbvBufferSize ? r->vbvBufferSize : m->vbv_maxrate;
    m->qp_min = r->enableMinQP ? clip((int32_t)r->minQP.qpInterP, 0, 51) : 0;
    m->qp_max = r->enableMaxQP ? clip((int32_t)r->maxQP.qpInterP, m->qp_min, 51) : 51;
    const int has_lookahead = r->enableLookahead && m->rate != MOTUS_RATE_QP;
    m->lookahead = has_lookahead ? clip(r->lookaheadDepth, 0, MOTUS_MAX_LOOKAHEAD) : 0;
    m->mb_tree = m->lookahead > 0;
    m->scenecut = m->lookahead > 0 && !r->disableIadapt ? 40 : 0;
    m->aq_mode = r->enableAQ ? MOTUS_AQ_AUTO : MOTUS_AQ_OFF;
    m->aq_strength = r->aqStrength ? r->aqStrength / 8.0 : 1;
}

static void set_slices(const NV_ENC_CONFIG_H264 *h, MotusEncoderConfig *m) {
    const int rows = (m->height + 15) / 16, mbs = rows * ((m->width + 15) / 16);
    const int64_t n = h->sliceModeData;
    if (!n) return;
    switch (h->sliceMode) {
    case 0:
        m->slices = clip((mbs + n - 1) / n, 1, rows);
        break; // MBs a slice
    case 1:
        m->slice_max_size = clip(n, MOTUS_MIN_SLICE_SIZE, 1 << 30);
        break;
    case 2:
        m->slices = clip((rows + n - 1) / n, 1, rows);
        break; // rows a slice
    case 3:
        m->slices = clip(n, 1, rows);
        break;
    }
}

static int greatest_common_divisor(int a, int b) {
    return b ? greatest_common_divisor(b, a % b) : a;
}

static void set_colour(const NV_ENC_INITIALIZE_PARAMS *init, const NV_ENC_CONFIG_H264 *h,
                       MotusEncoderConfig *m) {
    const NV_ENC_CONFIG_H264_VUI_PARAMETERS *v = &h->h264VUIParameters;
    if (v->videoSignalTypePresentFlag) {
        m->colour.full_range = v->videoFullRangeFlag != 0;
        if (v->colourDescriptionPresentFlag) {
            m->colour.primaries = (int)v->colourPrimaries;
            m->colour.transfer = (int)v->transferCharacteristics;
            m->colour.matrix = (int)v->colourMatrix;
        }
    }
    if (v->chromaSampleLocationFlag)
        m->colour.chroma_location = clip(v->chromaSampleLocationTop, 0, 5);
    if (init->darWidth && init->darHeight) {
        int64_t n = (int64_t)init->darWidth * m->height, d = (int64_t)init->darHeight * m->width;
        while (n > 65535 || d > 65535) n >>= 1, d >>= 1;
        const int divisor = greatest_common_divisor((int)n, (int)d);
        if (n && d) m->colour.sar = (MotusRational){(int)n / divisor, (int)d / divisor};
    }
}

NVENCSTATUS motus_nvenc_settings(Session *s) {
    const NV_ENC_INITIALIZE_PARAMS *init = &s->init;
    const NV_ENC_CONFIG *config = &s->config;
    const NV_ENC_CONFIG_H264 *h = &config->encodeCodecConfig.h264Config;
    const MotusRational fps = {
        init->frameRateNum && init->frameRateDen ? (int)init->frameRateNum : 30,
        init->frameRateNum && init->frameRateDen ? (int)init->frameRateDen : 1};
    if (h->chromaFormatIDC > 1 || h->separateColourPlaneFlag || config->monoChromeEncoding)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "only 4:2:0 is encoded");
    if (h->qpPrimeYZeroTransformBypassFlag)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "lossless coding is not there");
    if (config->frameFieldMode > NV_ENC_PARAMS_FRAME_FIELD_MODE_FRAME)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "only frames are encoded");
    if (h->enableTemporalSVC || h->enableStereoMVC || h->enableLTR)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM,
                                "SVC, MVC and long-term references are not there");
    MotusEncoderConfig m =
        motus_encoder_config_default((int)init->encodeWidth, (int)init->encodeHeight, fps);
    m.preset = motus_nvenc_preset(init->presetGUID);
    m.profile = MOTUS_PROFILE_HIGH;
    if (is_guid(config->profileGUID, NV_ENC_H264_PROFILE_BASELINE_GUID))
        m.profile = MOTUS_PROFILE_BASELINE;
    if (is_guid(config->profileGUID, NV_ENC_H264_PROFILE_MAIN_GUID)) m.profile = MOTUS_PROFILE_MAIN;
    m.cabac = h->entropyCodingMode != NV_ENC_H264_ENTROPY_CODING_MODE_CAVLC;
    m.transform_8x8 = h->adaptiveTransformMode != NV_ENC_H264_ADAPTIVE_TRANSFORM_DISABLE;
    const uint32_t period =
        h->idrPeriod && h->idrPeriod < config->gopLength ? h->idrPeriod : config->gopLength;
    m.keyint = period == NVENC_INFINITE_GOPLENGTH ? 0 : clip(period, 1, 1 << 30);
    if (config->frameIntervalP == 0) m.keyint = 1; // I pictures alone
    m.bframes = m.profile == MOTUS_PROFILE_BASELINE ? 0 : clip(config->frameIntervalP - 1, 0, 7);
    m.b_adapt = 0; // runs of a known length: callers count on it
    m.b_pyramid = h->useBFramesAsRef ? MOTUS_B_PYRAMID_NORMAL : MOTUS_B_PYRAMID_NONE;
    if (h->bdirectMode == NV_ENC_H264_BDIRECT_MODE_TEMPORAL) m.direct = MOTUS_DIRECT_TEMPORAL;
    if (h->bdirectMode == NV_ENC_H264_BDIRECT_MODE_SPATIAL) m.direct = MOTUS_DIRECT_SPATIAL;
    m.weightp = init->enableWeightedPrediction ? 2 : 0;
    m.references = clip(h->numRefL0, 0, 7);
    if (!m.bframes && h->maxNumRefFrames > 1)
        m.keep_references = clip(h->maxNumRefFrames, 0, MOTUS_MAX_REFERENCES);
    m.deblock = h->disableDeblockingFilterIDC != 1;
    m.aud = h->outputAUD;
    set_slices(h, &m);
    if (h->enableIntraRefresh && !m.bframes) {
        m.intra_refresh = 1, m.references = 1;
        m.keyint = h->intraRefreshPeriod ? clip(h->intraRefreshPeriod, 2, 1 << 30) : 60;
    }
    set_colour(init, h, &m);
    motus_nvenc_rate(config, &m);
    m.stream_only = m.no_ssd = 1;
    m.gop_coders = 1; // the caller's buffers bound the frames in flight
    m.backend = s->device < 0 ? MOTUS_BACKEND_CPU : MOTUS_BACKEND_CUDA;
    m.device = s->device;
    if (init->enableOutputInVidmem && s->device >= 0) m.packet_memory = MOTUS_MEMORY_DEVICE;
    s->settings = m;
    return NV_ENC_SUCCESS;
}
