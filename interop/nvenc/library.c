// libnvidia-encode.so.1: NVIDIA's NVENC API (nvEncodeAPI.h) for GPUs without an encoder. Exports
// what the driver's library exports, and hands each session either to that library, where the GPU
// has an encoder, or to motus.
//
// MOTUS_NVENC=auto|always|never: the driver first, motus alone, the driver alone.
// MOTUS_NVENC_DRIVER=FILE: the driver's library. MOTUS_NVENC_BACKEND=cpu: motus without a GPU.
// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/nvenc/layouts.h"
#include "interop/nvenc/session.h"

#define EXPORT __attribute__((visibility("default")))

enum { NEWEST_MAJOR = 13, OLDEST_MAJOR = 11 };

// ---- The driver's own library -------------------------------------------------------------------

static struct {
    pthread_once_t once;
    NVENCSTATUS(NVENCAPI *create)(NV_ENCODE_API_FUNCTION_LIST *list);
    NVENCSTATUS(NVENCAPI *newest)(uint32_t *version);
} hardware = {.once = PTHREAD_ONCE_INIT};

static void load_hardware(void) {
    static const char *const place[] = {
        "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
        "/usr/local/nvidia/lib64",   "/usr/lib/wsl/lib",           "/usr/lib"};
    const char *mode = getenv("MOTUS_NVENC"), *given = getenv("MOTUS_NVENC_DRIVER");
    if (mode && !strcmp(mode, "always")) return;
    void *library = given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t i = 0; i < sizeof place / sizeof *place && !library && !given; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/libnvidia-encode.so.1", place[i]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) return;
    void *create = dlsym(library, "NvEncodeAPICreateInstance");
    void *newest = dlsym(library, "NvEncodeAPIGetMaxSupportedVersion");
    if (create == (void *)NvEncodeAPICreateInstance) return; // this library stands in that place
    memcpy(&hardware.create, &create, sizeof create);
    memcpy(&hardware.newest, &newest, sizeof newest);
}

// The driver's functions for a caller's version of the API; NULL: there are none.
static const NV_ENCODE_API_FUNCTION_LIST *hardware_functions(uint32_t version) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static NV_ENCODE_API_FUNCTION_LIST list;
    pthread_once(&hardware.once, load_hardware);
    if (!hardware.create) return NULL;
    pthread_mutex_lock(&lock);
    if (!list.nvEncOpenEncodeSessionEx) {
        list.version = version;
        if (hardware.create(&list)) list.nvEncOpenEncodeSessionEx = NULL;
    }
    pthread_mutex_unlock(&lock);
    return list.nvEncOpenEncodeSessionEx ? &list : NULL;
}

// ---- Sessions -----------------------------------------------------------------------------------

static NVENCSTATUS NVENCAPI open_session_ex(NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS *p,
                                            void **encoder) {
    if (!p || !encoder) return NV_ENC_ERR_INVALID_PTR;
    *encoder = NULL;
    Session *s = calloc(1, sizeof *s);
    if (!s) return NV_ENC_ERR_OUT_OF_MEMORY;
    const char *mode = getenv("MOTUS_NVENC");
    NVENCSTATUS status = NV_ENC_ERR_UNSUPPORTED_DEVICE;
    s->hardware_api = hardware_functions(NV_ENCODE_API_FUNCTION_LIST_VER);
    if (s->hardware_api) status = s->hardware_api->nvEncOpenEncodeSessionEx(p, &s->hardware);
    if (status && !(mode && !strcmp(mode, "never"))) {
        s->hardware = NULL, s->hardware_api = NULL;
        status = motus_nvenc_open(p, s);
    }
    if (status)
        free(s);
    else
        *encoder = s;
    return status;
}

static NVENCSTATUS NVENCAPI open_session(void *device, uint32_t type, void **encoder) {
    NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS p = {.version = NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS_VER,
                                              .deviceType = (NV_ENC_DEVICE_TYPE)type,
                                              .device = device,
                                              .apiVersion = NVENCAPI_VERSION};
    return open_session_ex(&p, encoder);
}

static NVENCSTATUS NVENCAPI destroy(void *e) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    NVENCSTATUS status = NV_ENC_SUCCESS;
    if (s->hardware)
        status = s->hardware_api->nvEncDestroyEncoder(s->hardware);
    else
        motus_nvenc_close(s);
    free(s);
    return status;
}

static const char *NVENCAPI last_error(void *e) {
    Session *s = e;
    if (!s) return "";
    return s->hardware ? s->hardware_api->nvEncGetLastErrorString(s->hardware) : s->error;
}

// ---- Functions of a session: the driver's, or ours
// -----------------------------------------------

static NVENCSTATUS NVENCAPI codec_count(void *e, uint32_t *n) {
    Session *s = e;
    if (!s || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetEncodeGUIDCount(s->hardware, n)
                       : motus_nvenc_codecs(NULL, 0, n);
}

static NVENCSTATUS NVENCAPI codecs(void *e, GUID *guid, uint32_t size, uint32_t *n) {
    Session *s = e;
    if (!s || !guid || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetEncodeGUIDs(s->hardware, guid, size, n)
                       : motus_nvenc_codecs(guid, size, n);
}

static NVENCSTATUS NVENCAPI profile_count(void *e, GUID codec, uint32_t *n) {
    Session *s = e;
    if (!s || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetEncodeProfileGUIDCount(s->hardware, codec, n)
                       : motus_nvenc_profiles(NULL, 0, n);
}

static NVENCSTATUS NVENCAPI profiles(void *e, GUID codec, GUID *guid, uint32_t size, uint32_t *n) {
    Session *s = e;
    if (!s || !guid || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware
               ? s->hardware_api->nvEncGetEncodeProfileGUIDs(s->hardware, codec, guid, size, n)
               : motus_nvenc_profiles(guid, size, n);
}

static NVENCSTATUS NVENCAPI format_count(void *e, GUID codec, uint32_t *n) {
    Session *s = e;
    if (!s || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetInputFormatCount(s->hardware, codec, n)
                       : motus_nvenc_formats(NULL, 0, n);
}

static NVENCSTATUS NVENCAPI formats(void *e, GUID codec, NV_ENC_BUFFER_FORMAT *format,
                                    uint32_t size, uint32_t *n) {
    Session *s = e;
    if (!s || !format || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetInputFormats(s->hardware, codec, format, size, n)
                       : motus_nvenc_formats(format, size, n);
}

static NVENCSTATUS NVENCAPI caps(void *e, GUID codec, NV_ENC_CAPS_PARAM *p, int *value) {
    Session *s = e;
    if (!s || !p || !value) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetEncodeCaps(s->hardware, codec, p, value)
                       : motus_nvenc_caps(s, codec, p, value);
}

static NVENCSTATUS NVENCAPI preset_count(void *e, GUID codec, uint32_t *n) {
    Session *s = e;
    if (!s || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetEncodePresetCount(s->hardware, codec, n)
                       : motus_nvenc_presets(NULL, 0, n);
}

static NVENCSTATUS NVENCAPI presets(void *e, GUID codec, GUID *guid, uint32_t size, uint32_t *n) {
    Session *s = e;
    if (!s || !guid || !n) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware
               ? s->hardware_api->nvEncGetEncodePresetGUIDs(s->hardware, codec, guid, size, n)
               : motus_nvenc_presets(guid, size, n);
}

static NVENCSTATUS NVENCAPI preset_config_ex(void *e, GUID codec, GUID preset,
                                             NV_ENC_TUNING_INFO tuning, NV_ENC_PRESET_CONFIG *out) {
    Session *s = e;
    if (!s || !out) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetEncodePresetConfigEx(s->hardware, codec, preset,
                                                                       tuning, out)
                       : motus_nvenc_preset_config(s, codec, preset, tuning, out);
}

static NVENCSTATUS NVENCAPI preset_config(void *e, GUID codec, GUID preset,
                                          NV_ENC_PRESET_CONFIG *out) {
    Session *s = e;
    if (!s || !out) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware
               ? s->hardware_api->nvEncGetEncodePresetConfig(s->hardware, codec, preset, out)
               : motus_nvenc_preset_config(s, codec, preset, NV_ENC_TUNING_INFO_HIGH_QUALITY, out);
}

static NVENCSTATUS NVENCAPI initialize(void *e, NV_ENC_INITIALIZE_PARAMS *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncInitializeEncoder(s->hardware, p)
                       : motus_nvenc_initialize(s, p);
}

static NVENCSTATUS NVENCAPI reconfigure(void *e, NV_ENC_RECONFIGURE_PARAMS *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncReconfigureEncoder(s->hardware, p)
                       : motus_nvenc_reconfigure(s, p);
}

static NVENCSTATUS NVENCAPI create_input(void *e, NV_ENC_CREATE_INPUT_BUFFER *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncCreateInputBuffer(s->hardware, p)
                       : motus_nvenc_create_input(s, p);
}

static NVENCSTATUS NVENCAPI destroy_input(void *e, NV_ENC_INPUT_PTR in) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncDestroyInputBuffer(s->hardware, in)
                       : motus_nvenc_destroy_input(s, in);
}

static NVENCSTATUS NVENCAPI lock_input(void *e, NV_ENC_LOCK_INPUT_BUFFER *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncLockInputBuffer(s->hardware, p)
                       : motus_nvenc_lock_input(s, p);
}

static NVENCSTATUS NVENCAPI unlock_input(void *e, NV_ENC_INPUT_PTR in) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    if (s->hardware) return s->hardware_api->nvEncUnlockInputBuffer(s->hardware, in);
    return motus_nvenc_input(s, in) ? NV_ENC_SUCCESS : NV_ENC_ERR_INVALID_PARAM;
}

static NVENCSTATUS NVENCAPI create_bitstream(void *e, NV_ENC_CREATE_BITSTREAM_BUFFER *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncCreateBitstreamBuffer(s->hardware, p)
                       : motus_nvenc_create_output(s, &p->bitstreamBuffer, 0);
}

static NVENCSTATUS NVENCAPI destroy_bitstream(void *e, NV_ENC_OUTPUT_PTR out) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncDestroyBitstreamBuffer(s->hardware, out)
                       : motus_nvenc_destroy_output(s, out);
}

static NVENCSTATUS NVENCAPI encode(void *e, NV_ENC_PIC_PARAMS *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncEncodePicture(s->hardware, p)
                       : motus_nvenc_encode(s, p);
}

static NVENCSTATUS NVENCAPI lock_bitstream(void *e, NV_ENC_LOCK_BITSTREAM *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncLockBitstream(s->hardware, p)
                       : motus_nvenc_lock(s, p);
}

static NVENCSTATUS NVENCAPI unlock_bitstream(void *e, NV_ENC_OUTPUT_PTR out) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncUnlockBitstream(s->hardware, out)
                       : motus_nvenc_unlock(s, out);
}

static NVENCSTATUS NVENCAPI statistics(void *e, NV_ENC_STAT *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    if (s->hardware) return s->hardware_api->nvEncGetEncodeStats(s->hardware, p);
    const uint32_t version = p->version;
    *p = s->stats;
    p->version = version;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI sequence_params(void *e, NV_ENC_SEQUENCE_PARAM_PAYLOAD *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetSequenceParams(s->hardware, p)
                       : motus_nvenc_sequence_params(s, p);
}

static NVENCSTATUS NVENCAPI sequence_params_ex(void *e, NV_ENC_INITIALIZE_PARAMS *init,
                                               NV_ENC_SEQUENCE_PARAM_PAYLOAD *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncGetSequenceParamEx(s->hardware, init, p)
                       : motus_nvenc_sequence_params(s, p);
}

static NVENCSTATUS NVENCAPI event(void *e, NV_ENC_EVENT_PARAMS *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncRegisterAsyncEvent(s->hardware, p)
                       : motus_nvenc_fail(s, NV_ENC_ERR_UNIMPLEMENTED, "events are for Windows");
}

static NVENCSTATUS NVENCAPI no_event(void *e, NV_ENC_EVENT_PARAMS *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncUnregisterAsyncEvent(s->hardware, p)
                       : motus_nvenc_fail(s, NV_ENC_ERR_UNIMPLEMENTED, "events are for Windows");
}

static NVENCSTATUS NVENCAPI map(void *e, NV_ENC_MAP_INPUT_RESOURCE *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncMapInputResource(s->hardware, p)
                       : motus_nvenc_map(s, p);
}

static NVENCSTATUS NVENCAPI unmap(void *e, NV_ENC_INPUT_PTR in) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncUnmapInputResource(s->hardware, in)
                       : motus_nvenc_unmap(s, in);
}

static NVENCSTATUS NVENCAPI invalidate(void *e, uint64_t timestamp) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncInvalidateRefFrames(s->hardware, timestamp)
                       : motus_nvenc_invalidate(s, timestamp);
}

static NVENCSTATUS NVENCAPI register_resource(void *e, NV_ENC_REGISTER_RESOURCE *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncRegisterResource(s->hardware, p)
                       : motus_nvenc_register(s, p);
}

static NVENCSTATUS NVENCAPI unregister_resource(void *e, NV_ENC_REGISTERED_PTR resource) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncUnregisterResource(s->hardware, resource)
                       : motus_nvenc_unregister(s, resource);
}

static NVENCSTATUS NVENCAPI create_mv_buffer(void *e, NV_ENC_CREATE_MV_BUFFER *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncCreateMVBuffer(s->hardware, p)
                       : motus_nvenc_create_output(s, &p->mvBuffer, 1);
}

static NVENCSTATUS NVENCAPI destroy_mv_buffer(void *e, NV_ENC_OUTPUT_PTR out) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncDestroyMVBuffer(s->hardware, out)
                       : motus_nvenc_destroy_output(s, out);
}

static NVENCSTATUS NVENCAPI motion(void *e, NV_ENC_MEONLY_PARAMS *p) {
    Session *s = e;
    if (!s || !p) return NV_ENC_ERR_INVALID_PTR;
    return s->hardware ? s->hardware_api->nvEncRunMotionEstimationOnly(s->hardware, p)
                       : motus_nvenc_motion(s, p);
}

// Both are pointers to a CUstream of the caller's context.
static NVENCSTATUS NVENCAPI set_streams(void *e, NV_ENC_CUSTREAM_PTR in, NV_ENC_CUSTREAM_PTR out) {
    Session *s = e;
    if (!s) return NV_ENC_ERR_INVALID_PTR;
    if (s->hardware) return s->hardware_api->nvEncSetIOCudaStreams(s->hardware, in, out);
    s->input_stream = in ? *(CUstream *)in : NULL;
    s->output_stream = out ? *(CUstream *)out : NULL;
    return NV_ENC_SUCCESS;
}

// ---- What is exported ---------------------------------------------------------------------------

EXPORT NVENCSTATUS NVENCAPI NvEncodeAPIGetMaxSupportedVersion(uint32_t *version) {
    if (!version) return NV_ENC_ERR_INVALID_PTR;
    pthread_once(&hardware.once, load_hardware);
    uint32_t newest = NEWEST_MAJOR << 4;
    // A session of the driver cannot be newer than the driver.
    if (hardware.newest && !hardware.newest(version) && *version < newest) newest = *version;
    *version = newest;
    return NV_ENC_SUCCESS;
}

EXPORT NVENCSTATUS NVENCAPI NvEncodeAPICreateInstance(NV_ENCODE_API_FUNCTION_LIST *list) {
    if (!list) return NV_ENC_ERR_INVALID_PTR;
    const uint32_t major = list->version & 0xff;
    if (major < OLDEST_MAJOR || major > NEWEST_MAJOR) return NV_ENC_ERR_INVALID_VERSION;
    hardware_functions(list->version);
    list->nvEncOpenEncodeSession = open_session;
    list->nvEncOpenEncodeSessionEx = open_session_ex;
    list->nvEncDestroyEncoder = destroy;
    list->nvEncGetLastErrorString = last_error;
    list->nvEncGetEncodeGUIDCount = codec_count;
    list->nvEncGetEncodeGUIDs = codecs;
    list->nvEncGetEncodeProfileGUIDCount = profile_count;
    list->nvEncGetEncodeProfileGUIDs = profiles;
    list->nvEncGetInputFormatCount = format_count;
    list->nvEncGetInputFormats = formats;
    list->nvEncGetEncodeCaps = caps;
    list->nvEncGetEncodePresetCount = preset_count;
    list->nvEncGetEncodePresetGUIDs = presets;
    list->nvEncGetEncodePresetConfig = preset_config;
    list->nvEncGetEncodePresetConfigEx = preset_config_ex;
    list->nvEncInitializeEncoder = initialize;
    list->nvEncReconfigureEncoder = reconfigure;
    list->nvEncGetSequenceParams = sequence_params;
    list->nvEncGetSequenceParamEx = sequence_params_ex;
    list->nvEncCreateInputBuffer = create_input;
    list->nvEncDestroyInputBuffer = destroy_input;
    list->nvEncLockInputBuffer = lock_input;
    list->nvEncUnlockInputBuffer = unlock_input;
    list->nvEncRegisterResource = register_resource;
    list->nvEncUnregisterResource = unregister_resource;
    list->nvEncMapInputResource = map;
    list->nvEncUnmapInputResource = unmap;
    list->nvEncSetIOCudaStreams = set_streams;
    list->nvEncCreateBitstreamBuffer = create_bitstream;
    list->nvEncDestroyBitstreamBuffer = destroy_bitstream;
    list->nvEncEncodePicture = encode;
    list->nvEncLockBitstream = lock_bitstream;
    list->nvEncUnlockBitstream = unlock_bitstream;
    list->nvEncGetEncodeStats = statistics;
    list->nvEncInvalidateRefFrames = invalidate;
    list->nvEncRegisterAsyncEvent = event;
    list->nvEncUnregisterAsyncEvent = no_event;
    list->nvEncCreateMVBuffer = create_mv_buffer;
    list->nvEncDestroyMVBuffer = destroy_mv_buffer;
    list->nvEncRunMotionEstimationOnly = motion;
    return NV_ENC_SUCCESS;
}
