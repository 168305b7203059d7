// A session of NVIDIA's NVENC API over a MotusEncoder, or over a MotusMe in motion estimation only
// mode. Every function below equals the NvEnc... function of its name in nvEncodeAPI.h.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_NVENC_SESSION_H
#define INTEROP_NVENC_SESSION_H

#include <ffnvcodec/nvEncodeAPI.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "interop/nvenc/driver.h"
#include "motus/motus.h"

enum { NVENC_HISTORY = 256 }; // pictures that can be invalidated by their timestamps

// An input: a buffer of the library in host memory, or the caller's memory on the device. A
// registered resource is its own mapping.
typedef struct Input {
    int on_device, is_pinned, mappings;
    int is_output; // registered for bitstreams or MVs
    CUarray array; // in place of data
    uint8_t *data;
    uint32_t width, height, pitch;
    NV_ENC_BUFFER_FORMAT format;
    struct Input *next; // of the session
} Input;

// An output: a bitstream buffer, or one for MVs.
typedef struct Output {
    int is_queued;    // a picture was sent for it, whose packet has not come
    int is_destroyed; // by the caller while it was queued: freed when its packet comes
    int is_locked;
    Input *memory;           // device memory that takes the bitstream; NULL: it stays in the packet
    MotusPacket *packet;     // NULL: not there yet
    uint8_t *stripped;       // the access unit without parameter sets, with disableSPSPPS
    NV_ENC_H264_MV_DATA *mv; // n_mb entries
    struct Output *next_queued, *next;
} Output;

// What a picture's output repeats.
typedef struct PictureTag {
    uint64_t timestamp, duration;
    uint32_t index;
} PictureTag;

typedef struct Session {
    // The driver's own session and functions, where the GPU has an encoder; else NULL.
    void *hardware;
    const NV_ENCODE_API_FUNCTION_LIST *hardware_api;

    const CudaDriver *cuda;
    CUcontext context;                    // the caller's, in which motus works; unused on a CPU
    int device;                           // -1: CPU
    CUstream input_stream, output_stream; // the caller's, NULL: the default stream
    CUstream own_stream;                  // of copies
    CUdeviceptr staging;                  // a frame of an array
    size_t staging_bytes;

    NV_ENC_INITIALIZE_PARAMS init; // encodeConfig is NULL
    NV_ENC_CONFIG config;
    MotusEncoderConfig settings;
    MotusEncoder *encoder;

    MotusMe *me; // motion estimation only
    MotusMeReference *reference;
    MotusMv *mv;
    uint32_t *cost;
    int n_mb;

    pthread_mutex_t lock;      // of the members below
    pthread_mutex_t receiving; // one thread at a time receives packets
    pthread_cond_t sent_more;
    Input *inputs;
    Output *outputs, *first_queued, *last_queued;
    int64_t sent, received;
    int since_idr, run; // pictures since the last IDR picture, since the last I or P picture
    int has_ended, forces_idr;
    struct {
        uint64_t timestamp;
        int64_t number;
    } history[NVENC_HISTORY];
    NV_ENC_STAT stats; // of the last picture that was locked

    char error[320];
} Session;

// Keeps the words for nvEncGetLastErrorString and returns the status. s may be NULL.
NVENCSTATUS motus_nvenc_fail(Session *s, NVENCSTATUS status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Returns the status that NVENC has for one of motus's, with the encoder's words. MOTUS_OK:
// NV_ENC_SUCCESS.
NVENCSTATUS motus_nvenc_status(Session *s, MotusStatus status, const char *what);

// Makes the session's context current for the calling thread, and the one before it again. Nothing
// on a CPU.
void motus_nvenc_enter(Session *s);
void motus_nvenc_leave(Session *s);

static inline int is_guid(GUID a, GUID b) { return !memcmp(&a, &b, sizeof a); }

// ---- caps.c -------------------------------------------------------------------------------------

NVENCSTATUS motus_nvenc_codecs(GUID *guid, uint32_t size, uint32_t *n);
NVENCSTATUS motus_nvenc_profiles(GUID *guid, uint32_t size, uint32_t *n);
NVENCSTATUS motus_nvenc_formats(NV_ENC_BUFFER_FORMAT *format, uint32_t size, uint32_t *n);
NVENCSTATUS motus_nvenc_presets(GUID *guid, uint32_t size, uint32_t *n);
NVENCSTATUS motus_nvenc_caps(Session *s, GUID codec, const NV_ENC_CAPS_PARAM *p, int *value);
NVENCSTATUS motus_nvenc_preset_config(Session *s, GUID codec, GUID preset,
                                      NV_ENC_TUNING_INFO tuning, NV_ENC_PRESET_CONFIG *out);
// Returns motus's preset; MEDIUM for an unknown GUID.
MotusPreset motus_nvenc_preset(GUID guid);

// ---- config.c -----------------------------------------------------------------------------------

// Fills in s->settings from s->init and s->config.
NVENCSTATUS motus_nvenc_settings(Session *s);
// Sets the rate control of *m alone.
void motus_nvenc_rate(const NV_ENC_CONFIG *config, MotusEncoderConfig *m);

// ---- session.c ----------------------------------------------------------------------------------

NVENCSTATUS motus_nvenc_open(const NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS *p, Session *s);
NVENCSTATUS motus_nvenc_initialize(Session *s, const NV_ENC_INITIALIZE_PARAMS *p);
NVENCSTATUS motus_nvenc_reconfigure(Session *s, const NV_ENC_RECONFIGURE_PARAMS *p);
NVENCSTATUS motus_nvenc_sequence_params(Session *s, const NV_ENC_SEQUENCE_PARAM_PAYLOAD *p);
NVENCSTATUS motus_nvenc_invalidate(Session *s, uint64_t timestamp);
void motus_nvenc_close(Session *s);

// ---- buffers.c ----------------------------------------------------------------------------------

NVENCSTATUS motus_nvenc_create_input(Session *s, NV_ENC_CREATE_INPUT_BUFFER *p);
NVENCSTATUS motus_nvenc_destroy_input(Session *s, NV_ENC_INPUT_PTR handle);
NVENCSTATUS motus_nvenc_lock_input(Session *s, NV_ENC_LOCK_INPUT_BUFFER *p);
NVENCSTATUS motus_nvenc_create_output(Session *s, NV_ENC_OUTPUT_PTR *handle, int has_mvs);
NVENCSTATUS motus_nvenc_destroy_output(Session *s, NV_ENC_OUTPUT_PTR handle);
NVENCSTATUS motus_nvenc_register(Session *s, NV_ENC_REGISTER_RESOURCE *p);
NVENCSTATUS motus_nvenc_unregister(Session *s, NV_ENC_REGISTERED_PTR handle);
NVENCSTATUS motus_nvenc_map(Session *s, NV_ENC_MAP_INPUT_RESOURCE *p);
NVENCSTATUS motus_nvenc_unmap(Session *s, NV_ENC_INPUT_PTR handle);
// Return the input or output of a handle; NULL: it is none of this session's.
Input *motus_nvenc_input(Session *s, const void *handle);
Output *motus_nvenc_output(Session *s, const void *handle);
void motus_nvenc_free_output(Session *s, Output *out);
void motus_nvenc_free_buffers(Session *s);

// ---- frames.c -----------------------------------------------------------------------------------

// Sends an input as the next frame, from where it lies.
NVENCSTATUS motus_nvenc_send(Session *s, const Input *in, const MotusFrameParams *params);
// Returns the luma plane of an input as motus may read it in the order of the input stream.
NVENCSTATUS motus_nvenc_luma(Session *s, const Input *in, MotusPlane *luma);

// ---- encode.c -----------------------------------------------------------------------------------

NVENCSTATUS motus_nvenc_encode(Session *s, NV_ENC_PIC_PARAMS *p);
NVENCSTATUS motus_nvenc_lock(Session *s, NV_ENC_LOCK_BITSTREAM *p);
NVENCSTATUS motus_nvenc_unlock(Session *s, NV_ENC_OUTPUT_PTR handle);

// ---- motion.c -----------------------------------------------------------------------------------

NVENCSTATUS motus_nvenc_open_motion(Session *s);
NVENCSTATUS motus_nvenc_motion(Session *s, const NV_ENC_MEONLY_PARAMS *p);

#endif
