// Buffers for frames and bitstreams, and the caller's memory.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "interop/nvenc/session.h"

enum { PITCH_ALIGNMENT = 256 };

static int is_rgb(NV_ENC_BUFFER_FORMAT format) {
    return format == NV_ENC_BUFFER_FORMAT_ARGB || format == NV_ENC_BUFFER_FORMAT_ABGR;
}

// Returns the bytes of a frame; 0 for a format that is not read.
static size_t frame_bytes(NV_ENC_BUFFER_FORMAT format, uint32_t pitch, uint32_t height) {
    const size_t rows = (height + 1) / 2, luma = (size_t)pitch * height;
    switch ((int)format) {
    case NV_ENC_BUFFER_FORMAT_NV12:
        return luma + pitch * rows;
    case NV_ENC_BUFFER_FORMAT_YV12:
    case NV_ENC_BUFFER_FORMAT_IYUV:
        return luma + pitch / 2 * rows * 2;
    case NV_ENC_BUFFER_FORMAT_ARGB:
    case NV_ENC_BUFFER_FORMAT_ABGR:
        return luma;
    default:
        return 0;
    }
}

// ---- Handles ------------------------------------------------------------------------------------

Input *motus_nvenc_input(Session *s, const void *handle) {
    Input *in;
    pthread_mutex_lock(&s->lock);
    for (in = s->inputs; in && in != handle;) in = in->next;
    pthread_mutex_unlock(&s->lock);
    return in;
}

Output *motus_nvenc_output(Session *s, const void *handle) {
    Output *out;
    pthread_mutex_lock(&s->lock);
    for (out = s->outputs; out && out != handle;) out = out->next;
    pthread_mutex_unlock(&s->lock);
    return out;
}

static void add_input(Session *s, Input *in) {
    pthread_mutex_lock(&s->lock);
    in->next = s->inputs;
    s->inputs = in;
    pthread_mutex_unlock(&s->lock);
}

static void free_input(Session *s, Input *in) {
    if (!in->on_device && in->is_pinned) {
        motus_nvenc_enter(s);
        motus_host_free(in->data);
        motus_nvenc_leave(s);
    } else if (!in->on_device) {
        free(in->data);
    }
    free(in);
}

static void remove_input(Session *s, Input *in) {
    pthread_mutex_lock(&s->lock);
    Input **at = &s->inputs;
    while (*at != in) at = &(*at)->next;
    *at = in->next;
    pthread_mutex_unlock(&s->lock);
    free_input(s, in);
}

void motus_nvenc_free_output(Session *s, Output *out) {
    if (out->packet) free(out->packet->opaque);
    motus_nvenc_enter(s);
    motus_packet_unref(&out->packet);
    motus_nvenc_leave(s);
    free(out->stripped);
    free(out->mv);
    free(out);
}

void motus_nvenc_free_buffers(Session *s) {
    for (Input *in = s->inputs, *next; in; in = next) {
        next = in->next;
        free_input(s, in);
    }
    for (Output *out = s->outputs, *next; out; out = next) {
        next = out->next;
        if (!out->is_queued) motus_nvenc_free_output(s, out);
    }
    for (Output *out = s->first_queued, *next; out; out = next) {
        next = out->next_queued;
        motus_nvenc_free_output(s, out);
    }
    s->inputs = NULL, s->outputs = s->first_queued = s->last_queued = NULL;
}

// ---- Frames in host memory ----------------------------------------------------------------------

NVENCSTATUS motus_nvenc_create_input(Session *s, NV_ENC_CREATE_INPUT_BUFFER *p) {
    const uint32_t row = p->width * (is_rgb(p->bufferFmt) ? 4 : 1);
    const uint32_t pitch = (row + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    const size_t bytes = frame_bytes(p->bufferFmt, pitch, p->height);
    if (!bytes || p->width > MOTUS_MAX_SIZE || p->height > MOTUS_MAX_SIZE)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "no buffer of format 0x%x, %ux%u",
                                p->bufferFmt, p->width, p->height);
    Input *in = calloc(1, sizeof *in);
    if (!in) return NV_ENC_ERR_OUT_OF_MEMORY;
    in->width = p->width, in->height = p->height, in->pitch = pitch, in->format = p->bufferFmt;
    if (s->device >= 0) {
        motus_nvenc_enter(s);
        in->data = motus_host_alloc(bytes);
        motus_nvenc_leave(s);
        in->is_pinned = in->data != NULL;
    } else {
        in->data = malloc(bytes);
    }
    if (!in->data) {
        free(in);
        return motus_nvenc_fail(s, NV_ENC_ERR_OUT_OF_MEMORY, "no %zu bytes for a frame", bytes);
    }
    add_input(s, in);
    p->inputBuffer = in;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_destroy_input(Session *s, NV_ENC_INPUT_PTR handle) {
    Input *in = motus_nvenc_input(s, handle);
    if (!in || in->on_device) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no such input");
    remove_input(s, in);
    return NV_ENC_SUCCESS;
}

// Frames are copied when they are sent, so a buffer is never busy.
NVENCSTATUS motus_nvenc_lock_input(Session *s, NV_ENC_LOCK_INPUT_BUFFER *p) {
    Input *in = motus_nvenc_input(s, p->inputBuffer);
    if (!in || in->on_device) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no such input");
    p->bufferDataPtr = in->data;
    p->pitch = in->pitch;
    return NV_ENC_SUCCESS;
}

// ---- Bitstreams and MVs -------------------------------------------------------------------------

NVENCSTATUS motus_nvenc_create_output(Session *s, NV_ENC_OUTPUT_PTR *handle, int has_mvs) {
    if (has_mvs && !s->me)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_CALL, "the session is not for MVs alone");
    Output *out = calloc(1, sizeof *out);
    if (out && has_mvs) out->mv = calloc((size_t)s->n_mb, sizeof *out->mv);
    if (!out || (has_mvs && !out->mv)) {
        free(out);
        return motus_nvenc_fail(s, NV_ENC_ERR_OUT_OF_MEMORY, "no memory for an output");
    }
    pthread_mutex_lock(&s->lock);
    out->next = s->outputs;
    s->outputs = out;
    pthread_mutex_unlock(&s->lock);
    *handle = out;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_destroy_output(Session *s, NV_ENC_OUTPUT_PTR handle) {
    Output *out = motus_nvenc_output(s, handle);
    if (!out) return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no such output");
    pthread_mutex_lock(&s->lock);
    Output **at = &s->outputs;
    while (*at != out) at = &(*at)->next;
    *at = out->next;
    out->is_destroyed = out->is_queued;
    const int is_free = !out->is_queued;
    pthread_mutex_unlock(&s->lock);
    if (is_free) motus_nvenc_free_output(s, out);
    return NV_ENC_SUCCESS;
}

// ---- The caller's memory on the device ----------------------------------------------------------

NVENCSTATUS motus_nvenc_register(Session *s, NV_ENC_REGISTER_RESOURCE *p) {
    const int is_array = p->resourceType == NV_ENC_INPUT_RESOURCE_TYPE_CUDAARRAY;
    const int is_output =
        p->bufferUsage == NV_ENC_OUTPUT_BITSTREAM || p->bufferUsage == NV_ENC_OUTPUT_MOTION_VECTOR;
    if (!is_array && p->resourceType != NV_ENC_INPUT_RESOURCE_TYPE_CUDADEVICEPTR)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM,
                                "only CUDA memory is registered, not resource type %d",
                                p->resourceType);
    if (!p->resourceToRegister)
        return motus_nvenc_fail(s, NV_ENC_ERR_INVALID_PARAM, "no resource was given");
    if (!is_output && !frame_bytes(p->bufferFormat, p->pitch, p->height))
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "format 0x%x is not read",
                                p->bufferFormat);
    Input *in = calloc(1, sizeof *in);
    if (!in) return NV_ENC_ERR_OUT_OF_MEMORY;
    in->on_device = 1, in->is_output = is_output;
    if (is_array)
        in->array = p->resourceToRegister;
    else
        in->data = p->resourceToRegister;
    in->width = p->width, in->height = p->height, in->pitch = p->pitch;
    in->format = p->bufferFormat;
    add_input(s, in);
    p->registeredResource = in;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_unregister(Session *s, NV_ENC_REGISTERED_PTR handle) {
    Input *in = motus_nvenc_input(s, handle);
    if (!in || !in->on_device)
        return motus_nvenc_fail(s, NV_ENC_ERR_RESOURCE_NOT_REGISTERED, "no such resource");
    remove_input(s, in);
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_map(Session *s, NV_ENC_MAP_INPUT_RESOURCE *p) {
    Input *in = motus_nvenc_input(s, p->registeredResource);
    if (!in || !in->on_device)
        return motus_nvenc_fail(s, NV_ENC_ERR_RESOURCE_NOT_REGISTERED, "no such resource");
    in->mappings++;
    p->mappedResource = in;
    p->mappedBufferFmt = in->format;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS motus_nvenc_unmap(Session *s, NV_ENC_INPUT_PTR handle) {
    Input *in = motus_nvenc_input(s, handle);
    if (!in || !in->mappings)
        return motus_nvenc_fail(s, NV_ENC_ERR_RESOURCE_NOT_MAPPED, "the resource is not mapped");
    in->mappings--;
    return NV_ENC_SUCCESS;
}
