// SPDX-License-Identifier: BSD-2-Clause
#include "interop/nvenc/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/nvenc/layouts.h"

NVENCSTATUS motus_nvenc_fail(Session *s, NVENCSTATUS status, const char *format, ...) {
    if (!s) return status;
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(s->error, sizeof s->error, "motus: %s", text);
    return status;
}

NVENCSTATUS motus_nvenc_status(Session *s, MotusStatus status, const char *what) {
    if (!status) return NV_ENC_SUCCESS;
    const MotusError *error = s->encoder ? motus_encoder_error(s->encoder) : NULL;
    const char *text = error && *error->text ? error->text : motus_status_text(status);
    const NVENCSTATUS same = status == MOTUS_ERR_MEMORY        ? NV_ENC_ERR_OUT_OF_MEMORY
                             : status == MOTUS_ERR_ARGUMENT    ? NV_ENC_ERR_INVALID_PARAM
                             : status == MOTUS_ERR_UNSUPPORTED ? NV_ENC_ERR_UNSUPPORTED_PARAM
                             : status == MOTUS_ERR_NO_DEVICE   ? NV_ENC_ERR_NO_ENCODE_DEVICE
                             : status == MOTUS_ERR_STATE       ? NV_ENC_ERR_INVALID_CALL
                                                               : NV_ENC_ERR_GENERIC;
    return motus_nvenc_fail(s, same, "%s: %s", what, text);
}

void motus_nvenc_enter(Session *s) {
    if (s->device >= 0) s->cuda->push(s->context);
}

void motus_nvenc_leave(Session *s) {
    CUcontext popped;
    if (s->device >= 0) s->cuda->pop(&popped);
}

// Finds the device of the caller's context.
static NVENCSTATUS open_device(Session *s) {
    CUcontext popped;
    CUdevice device;
    if (!s->cuda->is_loaded)
        return motus_nvenc_fail(s, NV_ENC_ERR_NO_ENCODE_DEVICE, "libcuda.so.1 was not loaded");
    if (!s->context || s->cuda->push(s->context))
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_ENCODERDEVICE, "no CUDA context was given");
    const CUresult status = s->cuda->device(&device);
    s->cuda->pop(&popped);
    if (status)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_ENCODERDEVICE,
                                "the context's device cannot be used: CUDA error %d", status);
    s->device = device;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_open(const NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS *p, Session *s) {
    const char *backend = getenv("MOTUS_NVENC_BACKEND");
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->receiving, NULL);
    pthread_cond_init(&s->sent_more, NULL);
    s->cuda = motus_nvenc_cuda();
    s->context = p->device;
    s->device = -1;
    if (p->deviceType != NV_ENC_DEVICE_TYPE_CUDA)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_DEVICE, "only CUDA devices are served");
    return backend && !strcmp(backend, "cpu") ? NV_ENC_SUCCESS : open_device(s);
}

NVENCSTATUS motus_nvenc_initialize(Session *s, const NV_ENC_INITIALIZE_PARAMS *p) {
    if (s->encoder || s->me)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_CALL, "the session is initialized already");
    if (!is_guid(p->encodeGUID, NV_ENC_CODEC_H264_GUID))
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "only H.264 is encoded");
    if (p->enableEncodeAsync)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "events are for Windows");
    memcpy(&s->init, p, INITIALIZE_BYTES);
    s->init.encodeConfig = NULL;
    if (p->enableMEOnlyMode) return motus_nvenc_open_motion(s);
    if (!p->enablePTD)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM,
                                "enablePTD = 0: picture types cannot be the caller's");
    NV_ENC_PRESET_CONFIG preset = {.presetCfg = {.version = NV_ENC_CONFIG_VER}};
    NVENCSTATUS status = NV_ENC_SUCCESS;
    if (p->encodeConfig)
        preset.presetCfg = *p->encodeConfig;
    else
        status = motus_nvenc_preset_config(s, p->encodeGUID, p->presetGUID, p->tuningInfo, &preset);
    if (status) return status;
    s->config = preset.presetCfg;
    if ((status = motus_nvenc_settings(s)) != NV_ENC_SUCCESS) return status;
    MotusError error = {MOTUS_OK, ""};
    motus_nvenc_enter(s);
    MotusStatus opened = motus_encoder_open(&s->encoder, &s->settings, &error);
    if (!opened && s->device >= 0 && s->cuda->stream_create(&s->own_stream, CU_STREAM_NON_BLOCKING))
        opened = MOTUS_ERR_CUDA;
    motus_nvenc_leave(s);
    if (!opened) return NV_ENC_SUCCESS;
    if (*error.text) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "%s", error.text);
    return motus_nvenc_status(s, opened, "opening");
}

// Rates, the VBV and IDR pictures change in flight; sizes and what decisions depend on do not.
NVENCSTATUS motus_nvenc_reconfigure(Session *s, const NV_ENC_RECONFIGURE_PARAMS *p) {
    const NV_ENC_INITIALIZE_PARAMS *init = &p->reInitEncodeParams;
    if (!s->encoder) return motus_nvenc_fail(s, NV_ENC_ERR_ENCODER_NOT_INITIALIZED, "no encoder");
    if (init->encodeWidth != s->init.encodeWidth || init->encodeHeight != s->init.encodeHeight)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM,
                                "another size needs another session");
    if (reconfigure_flags_of(p) & (RESET_ENCODER | FORCE_IDR)) s->forces_idr = 1;
    if (!init->encodeConfig) return NV_ENC_SUCCESS;
    MotusEncoderConfig settings = s->settings;
    motus_nvenc_rate(init->encodeConfig, &settings);
    if (settings.rate != s->settings.rate)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM,
                                "the mode of rate control cannot change");
    if (settings.rate != MOTUS_RATE_BITRATE) return NV_ENC_SUCCESS;
    motus_nvenc_enter(s);
    const MotusStatus status = motus_encoder_set_rate(s->encoder, settings.bitrate,
                                                      settings.vbv_maxrate, settings.vbv_bufsize);
    motus_nvenc_leave(s);
    if (!status) s->config.rcParams = init->encodeConfig->rcParams;
    return motus_nvenc_status(s, status, "new rates");
}

NVENCSTATUS motus_nvenc_sequence_params(Session *s, const NV_ENC_SEQUENCE_PARAM_PAYLOAD *p) {
    if (!s->encoder) return motus_nvenc_fail(s, NV_ENC_ERR_ENCODER_NOT_INITIALIZED, "no encoder");
    if (!p->spsppsBuffer || !p->outSPSPPSPayloadSize)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PTR, "no buffer for the parameter sets");
    size_t size;
    const uint8_t *data = motus_encoder_headers(s->encoder, &size);
    if (size > p->inBufferSize)
        return motus_nvenc_fail(s, NV_ENC_ERR_NOT_ENOUGH_BUFFER, "parameter sets take %zu bytes",
                                size);
    memcpy(p->spsppsBuffer, data, size);
    *p->outSPSPPSPayloadSize = (uint32_t)size;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_invalidate(Session *s, uint64_t timestamp) {
    int64_t number = -1;
    if (!s->encoder) return motus_nvenc_fail(s, NV_ENC_ERR_ENCODER_NOT_INITIALIZED, "no encoder");
    pthread_mutex_lock(&s->lock);
    for (int64_t i = s->received - 1; i >= 0 && i >= s->received - NVENC_HISTORY && number < 0; i--)
        if (s->history[i % NVENC_HISTORY].timestamp == timestamp)
            number = s->history[i % NVENC_HISTORY].number;
    pthread_mutex_unlock(&s->lock);
    if (number < 0)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no picture has the timestamp %llu",
                                (unsigned long long)timestamp);
    motus_nvenc_enter(s);
    const MotusStatus status = motus_encoder_reference_lost(s->encoder, number);
    motus_nvenc_leave(s);
    return motus_nvenc_status(s, status, "a lost reference");
}

void motus_nvenc_close(Session *s) {
    motus_nvenc_enter(s);
    motus_encoder_close(&s->encoder);
    motus_nvenc_free_buffers(s);
    motus_me_reference_unref(&s->reference);
    motus_me_close(&s->me);
    if (s->staging) s->cuda->free(s->staging);
    if (s->own_stream) s->cuda->stream_destroy(s->own_stream);
    motus_nvenc_leave(s);
    free(s->mv);
    free(s->cost);
    pthread_cond_destroy(&s->sent_more);
    pthread_mutex_destroy(&s->receiving);
    pthread_mutex_destroy(&s->lock);
}
