// A build without the CUDA backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/me_cuda.h"

#include "common/alloc.h"
#include "common/error.h"

MotusStatus motus_me_cuda_open(MotusMeCuda **cuda, const MotusMeConfig *config, MotusError *error) {
    (void)config;
    *cuda = NULL;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

void motus_me_cuda_close(MotusMeCuda **cuda) { (void)cuda; }

MotusStatus motus_me_cuda_submit(MotusMeCuda *cuda, const MotusMeJob *job, MotusMemory ref_memory, MotusError *error) {
    (void)cuda, (void)job, (void)ref_memory, (void)error;
    return MOTUS_ERR_UNSUPPORTED;
}

MotusStatus motus_me_cuda_receive(MotusMeCuda *cuda, MotusField **field, MotusError *error) {
    (void)cuda, (void)field, (void)error;
    return MOTUS_ERR_UNSUPPORTED;
}

void *motus_host_alloc(size_t size) { return motus_alloc(size, 1); }

void motus_host_free(void *memory) { motus_free(memory); }
