// Codecs, profiles, formats, presets and what they mean, capabilities.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "interop/nvenc/session.h"

// Presets by speed, P1 the fastest, and the names that they had before SDK 10.
static const struct {
    const GUID *guid;
    MotusPreset preset;
    int low_latency;
} preset_row[] = {
    {&NV_ENC_PRESET_P1_GUID, MOTUS_PRESET_FASTER, 0},
    {&NV_ENC_PRESET_P2_GUID, MOTUS_PRESET_FASTER, 0},
    {&NV_ENC_PRESET_P3_GUID, MOTUS_PRESET_FAST, 0},
    {&NV_ENC_PRESET_P4_GUID, MOTUS_PRESET_MEDIUM, 0},
    {&NV_ENC_PRESET_P5_GUID, MOTUS_PRESET_MEDIUM, 0},
    {&NV_ENC_PRESET_P6_GUID, MOTUS_PRESET_SLOW, 0},
    {&NV_ENC_PRESET_P7_GUID, MOTUS_PRESET_SLOWER, 0},
    {&NV_ENC_PRESET_DEFAULT_GUID, MOTUS_PRESET_MEDIUM, 0},
    {&NV_ENC_PRESET_HP_GUID, MOTUS_PRESET_FASTER, 0},
    {&NV_ENC_PRESET_HQ_GUID, MOTUS_PRESET_SLOW, 0},
    {&NV_ENC_PRESET_BD_GUID, MOTUS_PRESET_MEDIUM, 0},
    {&NV_ENC_PRESET_LOW_LATENCY_DEFAULT_GUID, MOTUS_PRESET_MEDIUM, 1},
    {&NV_ENC_PRESET_LOW_LATENCY_HQ_GUID, MOTUS_PRESET_SLOW, 1},
    {&NV_ENC_PRESET_LOW_LATENCY_HP_GUID, MOTUS_PRESET_FASTER, 1},
};
enum { N_PRESETS = sizeof preset_row / sizeof *preset_row };

static int find_preset(GUID guid) {
    for (int i = 0; i < N_PRESETS; i++)
        if (is_guid(guid, *preset_row[i].guid)) return i;
    return -1;
}

MotusPreset motus_nvenc_preset(GUID guid) {
    const int i = find_preset(guid);
    return i < 0 ? MOTUS_PRESET_MEDIUM : preset_row[i].preset;
}

NVENCSTATUS motus_nvenc_codecs(GUID *guid, uint32_t size, uint32_t *n) {
    if (guid && size) *guid = NV_ENC_CODEC_H264_GUID;
    *n = 1;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_profiles(GUID *guid, uint32_t size, uint32_t *n) {
    const GUID list[] = {NV_ENC_CODEC_PROFILE_AUTOSELECT_GUID, NV_ENC_H264_PROFILE_BASELINE_GUID,
                         NV_ENC_H264_PROFILE_MAIN_GUID, NV_ENC_H264_PROFILE_HIGH_GUID};
    *n = sizeof list / sizeof *list;
    for (uint32_t i = 0; guid && i < size && i < *n; i++) guid[i] = list[i];
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_formats(NV_ENC_BUFFER_FORMAT *format, uint32_t size, uint32_t *n) {
    const NV_ENC_BUFFER_FORMAT list[] = {NV_ENC_BUFFER_FORMAT_NV12, NV_ENC_BUFFER_FORMAT_YV12,
                                         NV_ENC_BUFFER_FORMAT_IYUV, NV_ENC_BUFFER_FORMAT_ARGB,
                                         NV_ENC_BUFFER_FORMAT_ABGR};
    *n = sizeof list / sizeof *list;
    for (uint32_t i = 0; format && i < size && i < *n; i++) format[i] = list[i];
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_presets(GUID *guid, uint32_t size, uint32_t *n) {
    *n = N_PRESETS;
    for (uint32_t i = 0; guid && i < size && i < *n; i++) guid[i] = *preset_row[i].guid;
    return NV_ENC_SUCCESS;
}

// Capabilities that are not listed are 0: there are none.
NVENCSTATUS motus_nvenc_caps(Session *s, GUID codec, const NV_ENC_CAPS_PARAM *p, int *value) {
    if (!is_guid(codec, NV_ENC_CODEC_H264_GUID))
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "only H.264 is encoded");
    static const struct {
        NV_ENC_CAPS caps;
        int value;
    } row[] = {
        {NV_ENC_CAPS_NUM_MAX_BFRAMES, 7},
        {NV_ENC_CAPS_SUPPORTED_RATECONTROL_MODES,
         NV_ENC_PARAMS_RC_CONSTQP | NV_ENC_PARAMS_RC_VBR | NV_ENC_PARAMS_RC_CBR |
             NV_ENC_PARAMS_RC_CBR_LOWDELAY_HQ | NV_ENC_PARAMS_RC_CBR_HQ | NV_ENC_PARAMS_RC_VBR_HQ},
        {NV_ENC_CAPS_SUPPORT_QPELMV, 1},
        {NV_ENC_CAPS_SUPPORT_BDIRECT_MODE, 1},
        {NV_ENC_CAPS_SUPPORT_CABAC, 1},
        {NV_ENC_CAPS_SUPPORT_ADAPTIVE_TRANSFORM, 1},
        {NV_ENC_CAPS_SUPPORT_DYN_BITRATE_CHANGE, 1},
        {NV_ENC_CAPS_SUPPORT_DYN_FORCE_CONSTQP, 0},
        {NV_ENC_CAPS_SUPPORT_INTRA_REFRESH, 1},
        {NV_ENC_CAPS_SUPPORT_CUSTOM_VBV_BUF_SIZE, 1},
        {NV_ENC_CAPS_SUPPORT_DYNAMIC_SLICE_MODE, 1},
        {NV_ENC_CAPS_SUPPORT_REF_PIC_INVALIDATION, 1},
        {NV_ENC_CAPS_SUPPORT_LOOKAHEAD, 1},
        {NV_ENC_CAPS_SUPPORT_TEMPORAL_AQ, 1}, // mb-tree
        {NV_ENC_CAPS_SUPPORT_WEIGHTED_PREDICTION, 1},
        {NV_ENC_CAPS_SUPPORT_MULTIPLE_REF_FRAMES, 1},
        {NV_ENC_CAPS_SUPPORT_EMPHASIS_LEVEL_MAP, 1},
        {NV_ENC_CAPS_SUPPORT_MEONLY_MODE, 1},
        {NV_ENC_CAPS_NUM_ENCODER_ENGINES, 1},
        {NV_ENC_CAPS_SUPPORT_BFRAME_REF_MODE, 3}, // each, and the middle one
        {NV_ENC_CAPS_LEVEL_MIN, NV_ENC_LEVEL_H264_1},
        {NV_ENC_CAPS_LEVEL_MAX, NV_ENC_LEVEL_H264_62},
        {NV_ENC_CAPS_WIDTH_MIN, 2},
        {NV_ENC_CAPS_HEIGHT_MIN, 2},
        {NV_ENC_CAPS_WIDTH_MAX, 8192},
        {NV_ENC_CAPS_HEIGHT_MAX, 8192},
        {NV_ENC_CAPS_MB_NUM_MAX, 139264},       // level 6.2
        {NV_ENC_CAPS_MB_PER_SEC_MAX, 16711680}, // level 6.2
        {NV_ENC_CAPS_DYNAMIC_QUERY_ENCODER_CAPACITY, 100},
    };
    *value = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].caps == p->capsToQuery) *value = row[i].value;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_preset_config(Session *s, GUID codec, GUID preset,
                                      NV_ENC_TUNING_INFO tuning, NV_ENC_PRESET_CONFIG *out) {
    const int i = find_preset(preset);
    if (!is_guid(codec, NV_ENC_CODEC_H264_GUID) || i < 0)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "unknown codec or preset");
    if (tuning == NV_ENC_TUNING_INFO_LOSSLESS)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "lossless coding is not there");
    const int is_low_latency = preset_row[i].low_latency ||
                               tuning == NV_ENC_TUNING_INFO_LOW_LATENCY ||
                               tuning == NV_ENC_TUNING_INFO_ULTRA_LOW_LATENCY;
    NV_ENC_CONFIG *config = &out->presetCfg;
    const uint32_t version = config->version;
    memset(config, 0, sizeof *config);
    config->version = version;
    config->profileGUID = NV_ENC_H264_PROFILE_HIGH_GUID;
    config->gopLength = is_low_latency ? NVENC_INFINITE_GOPLENGTH : 250;
    config->frameIntervalP = is_low_latency || preset_row[i].preset == MOTUS_PRESET_FASTER ? 1 : 4;
    config->frameFieldMode = NV_ENC_PARAMS_FRAME_FIELD_MODE_FRAME;
    config->mvPrecision = NV_ENC_MV_PRECISION_QUARTER_PEL;
    config->rcParams = (NV_ENC_RC_PARAMS){
        .version = NV_ENC_RC_PARAMS_VER,
        .rateControlMode = is_low_latency ? NV_ENC_PARAMS_RC_CBR : NV_ENC_PARAMS_RC_VBR,
        .constQP = {.qpInterP = 28, .qpInterB = 31, .qpIntra = 25},
        .averageBitRate = 5000000,
        .lowDelayKeyFrameScale = 1};
    NV_ENC_CONFIG_H264 *h264 = &config->encodeCodecConfig.h264Config;
    h264->idrPeriod = config->gopLength;
    h264->entropyCodingMode = NV_ENC_H264_ENTROPY_CODING_MODE_CABAC;
    h264->adaptiveTransformMode = NV_ENC_H264_ADAPTIVE_TRANSFORM_ENABLE;
    h264->bdirectMode = NV_ENC_H264_BDIRECT_MODE_AUTOSELECT;
    h264->chromaFormatIDC = 1;
    h264->useBFramesAsRef = NV_ENC_BFRAME_REF_MODE_MIDDLE;
    h264->h264VUIParameters.videoFormat = 5; // unspecified, as the three below
    h264->h264VUIParameters.colourPrimaries = 2;
    h264->h264VUIParameters.transferCharacteristics = 2;
    h264->h264VUIParameters.colourMatrix = 2;
    return NV_ENC_SUCCESS;
}
