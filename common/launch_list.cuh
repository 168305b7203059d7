// A thread's launches, collected and run as one graph of the CUDA runtime. Calls of the driver wait
// for each other, and cost up to ten times as much with eight threads as with one: here only nodes
// that have changed since the last run are set, and all are launched by one call.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_LAUNCH_LIST_CUH
#define COMMON_LAUNCH_LIST_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

constexpr int MOTUS_LISTED = 160;              // launches of a list, at most
constexpr int MOTUS_LISTED_ARGUMENTS = 8;      // of a launch, at most
constexpr size_t MOTUS_LISTED_BYTES = 1 << 18; // of all arguments, at most

typedef struct MotusListedLaunch {
    cudaKernelNodeParams params;
    void *argument[MOTUS_LISTED_ARGUMENTS]; // in MotusLaunchList.bytes
    int has_changed;                        // since the last run
    cudaGraphNode_t node;
} MotusListedLaunch;

// Zeros are an empty list that was never run.
typedef struct MotusLaunchList {
    int n, n_nodes; // launches; of the last run
    size_t end;     // of `bytes`
    MotusListedLaunch launch[MOTUS_LISTED];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    alignas(16) uint8_t bytes[MOTUS_LISTED_BYTES];
} MotusLaunchList;

// Returns the list that collects the calling thread's launches; NULL: none does.
MotusLaunchList *motus_launch_list_of_thread(void);

// Makes `list`, which it empties, collect the launches of the thread from now on; NULL: none does.
// Other calls are not collected: they come before all launches of the list.
void motus_launch_list_use(MotusLaunchList *list);

// Runs the list's launches in their order.
cudaError_t motus_launch_list_run(MotusLaunchList *list, cudaStream_t stream);

// Frees what the list holds, but not the list. No run is under way.
void motus_launch_list_close(MotusLaunchList *list);

// Adds a launch that has no arguments yet.
cudaError_t motus_launch_list_add(MotusLaunchList *list, const void *kernel, dim3 blocks,
                                  dim3 threads, size_t shared, int arguments, size_t bytes);

// Adds an argument, number k, to the newest launch.
template <class T>
static void motus_launch_list_put(MotusLaunchList *list, int k, const T &argument) {
    static_assert(alignof(T) <= 16, "arguments are aligned to 16");
    MotusListedLaunch *l = &list->launch[list->n - 1];
    uint8_t *to = list->bytes + list->end;
    l->has_changed |= l->argument[k] != to || memcmp(to, &argument, sizeof argument);
    l->argument[k] = to;
    memcpy(to, &argument, sizeof argument);
    list->end += (sizeof argument + 15) / 16 * 16;
}

#endif
