// SPDX-License-Identifier: BSD-2-Clause
#include "common/launch_list.cuh"

static thread_local MotusLaunchList *list_of_thread; // as the runtime keeps a thread's device

MotusLaunchList *motus_launch_list_of_thread(void) { return list_of_thread; }

void motus_launch_list_use(MotusLaunchList *list) {
    list_of_thread = list;
    if (list) list->n = 0, list->end = 0;
}

cudaError_t motus_launch_list_add(MotusLaunchList *list, const void *kernel, dim3 blocks,
                                  dim3 threads, size_t shared, int arguments, size_t bytes) {
    if (list->n == MOTUS_LISTED || arguments > MOTUS_LISTED_ARGUMENTS ||
        bytes + 16 * (size_t)arguments > MOTUS_LISTED_BYTES - list->end)
        return cudaErrorInvalidValue;
    MotusListedLaunch *l = &list->launch[list->n++];
    cudaKernelNodeParams *p = &l->params;
    l->has_changed |= p->func != kernel || memcmp(&p->gridDim, &blocks, sizeof blocks) ||
                      memcmp(&p->blockDim, &threads, sizeof threads) || p->sharedMemBytes != shared;
    p->func = (void *)kernel;
    p->gridDim = blocks, p->blockDim = threads, p->sharedMemBytes = (unsigned)shared;
    p->kernelParams = l->argument;
    return cudaSuccess;
}

static void destroy_graph(MotusLaunchList *list) {
    if (list->exec) cudaGraphExecDestroy(list->exec);
    if (list->graph) cudaGraphDestroy(list->graph);
    list->exec = NULL;
    list->graph = NULL;
    list->n_nodes = 0;
}

cudaError_t motus_launch_list_run(MotusLaunchList *list, cudaStream_t stream) {
    cudaError_t status = cudaErrorGraphExecUpdateFailure;
    if (list->n == list->n_nodes) { // sets the nodes that have changed
        status = cudaSuccess;
        for (int k = 0; k < list->n && status == cudaSuccess; k++)
            if (list->launch[k].has_changed)
                status = cudaGraphExecKernelNodeSetParams(list->exec, list->launch[k].node,
                                                          &list->launch[k].params);
    }
    if (status != cudaSuccess) { // makes a graph anew, a chain
        (void)cudaGetLastError();
        destroy_graph(list);
        status = cudaGraphCreate(&list->graph, 0);
        for (int k = 0; k < list->n && status == cudaSuccess; k++)
            status = cudaGraphAddKernelNode(&list->launch[k].node, list->graph,
                                            k ? &list->launch[k - 1].node : NULL, k > 0,
                                            &list->launch[k].params);
        if (status == cudaSuccess) status = cudaGraphInstantiate(&list->exec, list->graph, 0);
        if (status == cudaSuccess) list->n_nodes = list->n;
    }
    if (status == cudaSuccess) status = cudaGraphLaunch(list->exec, stream);
    for (int k = 0; k < list->n; k++) list->launch[k].has_changed = 0;
    return status;
}

void motus_launch_list_close(MotusLaunchList *list) {
    if (list) destroy_graph(list);
}
