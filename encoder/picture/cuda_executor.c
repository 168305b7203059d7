// The CUDA executor: its devices, and the table.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_executor.h"

#include "common/device.h"
#include "common/int_core.h"

// Every device has to be usable, not only those whose coders get a GOP.
static MotusStatus find_devices(const MotusEncoderConfig *c, int device[MOTUS_MAX_GOP_CODERS],
                                int *n, MotusError *error) {
    const int all = motus_min(motus_device_count(), MOTUS_MAX_GOP_CODERS);
    MotusStatus status = MOTUS_OK;
    *n = motus_max(1, c->n_devices == MOTUS_ALL_DEVICES ? all : c->n_devices);
    for (int i = 0; i < *n && !status; i++) {
        const int wanted = !c->n_devices ? c->device : c->n_devices > 0 ? c->devices[i] : i;
        status = motus_device_choose(wanted, &device[i], error);
    }
    return status;
}

const MotusExecutorOps motus_executor_ops_cuda = {.backend = MOTUS_BACKEND_CUDA,
                                                  .any_thread = 1,
                                                  .best_coders = motus_cuda_coder_best,
                                                  .coder_bytes = motus_cuda_coder_bytes,
                                                  .open = motus_cuda_coder_open,
                                                  .close = motus_cuda_coder_close,
                                                  .measure = motus_frame_slot_measure,
                                                  .begin = motus_cuda_coder_begin,
                                                  .wait = motus_cuda_coder_wait,
                                                  .finish = motus_cuda_coder_finish,
                                                  .find_devices = find_devices,
                                                  .depth = motus_cuda_coder_depth,
                                                  .open_device = motus_copy_streams_open,
                                                  .close_device = motus_copy_streams_close,
                                                  .open_slots = motus_frame_slots_open,
                                                  .close_slots = motus_frame_slots_close,
                                                  .fill_slot = motus_frame_slot_fill,
                                                  .wait_filled = motus_frame_slot_wait,
                                                  .store = motus_cuda_coder_store};
