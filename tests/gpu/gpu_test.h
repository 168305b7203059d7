// The GPU tests: one program. A suite has rows: kernels and passes whose CUDA version must leave
// the bytes that the CPU version leaves, and tests of behaviour. kernel_test.c runs and times
// kernels; gpu_test.c lists and chooses rows.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GPU_TEST_H
#define TESTS_GPU_TEST_H

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "motus/frame.h"
#include "tests/support/harness.h"

enum { GPU_POISON = MOTUS_TEST_POISON };

typedef struct GpuRow GpuRow;

typedef struct GpuSuite {
    const char *name;   // of the test gpu_NAME
    const GpuRow *rows; // ends with a NULL name
} GpuSuite;

// Checks that a CUDA call succeeded, and returns 1 if so.
#define GPU_OK(call) gpu_ok(call, #call, __FILE__, __LINE__)
int gpu_ok(cudaError_t status, const char *call, const char *file, int line);

size_t gpu_free_bytes(void); // of device memory

// Calls attempt(opaque, n), which lets CUDA call n and all later ones fail, for n = 0, 1, ... until
// it returns 0: nothing failed. Checks that no device memory is lost, and returns that n.
long gpu_fail_everywhere(int (*attempt)(void *opaque, long n), void *opaque);

// ---- Memory of a row's case ---------------------------------------------------------------------

enum { GPU_FILLED = 1, GPU_WRITTEN = 2, GPU_COMPARED = 4, GPU_DEVICE_ONLY = 8, GPU_LEFT = 16 };

typedef enum GpuUse {
    GPU_INPUT = GPU_FILLED,                      // must be unchanged afterwards
    GPU_OUTPUT = GPU_WRITTEN | GPU_COMPARED,     // poisoned before, equal afterwards
    GPU_IN_OUT = GPU_FILLED | GPU_OUTPUT,        // changed in place, equal afterwards
    GPU_RESULT = GPU_WRITTEN,                    // poisoned before; the row's check() compares
    GPU_STATE = GPU_FILLED | GPU_WRITTEN,        // changed in place; the row's check() compares
    GPU_SCRATCH = GPU_WRITTEN | GPU_DEVICE_ONLY, // poisoned before every round
    GPU_KEPT = GPU_SCRATCH | GPU_LEFT,           // poisoned when it is added
} GpuUse;

enum { ON_CPU, ON_CUDA }; // versions of a kernel; index of their memory

// Memory of both versions. What is written has guard bands on both sides.
typedef struct GpuBuffer {
    const char *name;
    GpuUse use;
    size_t bytes;
    void *at[2], *got; // got: a copy of the CUDA version's, in host memory
    // `width` bytes of each row are compared. The bytes up to the next multiple of `align` may be
    // overwritten, the others must be untouched. Memory that is no plane is one row.
    int width, height, align;
    ptrdiff_t stride;
} GpuBuffer;

typedef struct GpuPlane {
    MotusPlane at[2];
} GpuPlane;

typedef struct GpuFrame {
    MotusFrame at[2];
} GpuFrame;

// ---- Rows ---------------------------------------------------------------------------------------

typedef enum GpuContent {
    GPU_RANDOM,
    GPU_EXTREMES, // 0 or 255
    GPU_FLAT,     // one value
    GPU_SLOPE,    // with some noise
    GPU_NEARLY_FLAT,
    GPU_MINIMUM, // 0
    GPU_MAXIMUM, // 255
    GPU_CONTENTS
} GpuContent;

typedef struct GpuSize {
    int width, height, rounds;
} GpuSize;

enum { GPU_MAX_BUFFERS = 48 };

// A row at one size. A round is one content of it.
typedef struct GpuCase {
    const GpuRow *row;
    int number, round, rounds; // `rounds` may be changed by open()
    int width, height;         // may be changed by open()
    GpuContent content;
    void *state;        // kernel->state zeroed bytes
    char what[128];     // parameters, for messages
    MotusError error;   // of the CUDA version
    cudaError_t failed; // by this call of a step
    const char *failed_call;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    GpuBuffer buffer[GPU_MAX_BUFFERS];
    int n_buffers;
} GpuCase;

// Both versions of a kernel or a pass. All but `open` and `run` may be NULL.
typedef struct GpuKernel {
    size_t state;
    void (*open)(GpuCase *c); // draws parameters, adds memory
    void (*fill)(GpuCase *c); // fills it; NULL: inputs get c->content
    // Runs version `on`. The CUDA version launches on c->stream.
    MotusStatus (*run)(GpuCase *c, int on);
    void (*check)(GpuCase *c); // beside the comparison of buffers
    void (*close)(GpuCase *c);
} GpuKernel;

// A kernel or pass with its input, or a test.
struct GpuRow {
    const char *name;
    void (*test)(void); // a test; NULL: a kernel
    const GpuKernel *kernel;
    int variant;  // read by the kernel's functions
    int rounds;   // contents of each size; 0: 1
    GpuSize most; // random sizes up to this one, `cases` of them; or
    int cases;
    const GpuSize *sizes; // these, up to a width of 0
    int together;         // all sizes are in flight at once, each on a stream of its own
    int launches;         // of each round, 0: 1
    int graph;            // launches replay what was captured in the first round
    GpuSize bench;        // size that --bench measures; width 0: none
};

// A row that is a test.
#define GPU_TEST(function)                                                                         \
    { .name = #function, .test = function }

// Adds memory to the case. It lives until the case is closed.
GpuBuffer *gpu_buffer(GpuCase *c, const char *name, GpuUse use, size_t bytes);
GpuPlane gpu_plane(GpuCase *c, const char *name, GpuUse use, int width, int height,
                   ptrdiff_t stride, int align);
// Adds three planes, with strides of whole 16 bytes. align: as in GpuBuffer.
GpuFrame gpu_frame(GpuCase *c, const char *name, GpuUse use, int width, int height, int align);

void gpu_copy_plane(const MotusPlane *to, const MotusPlane *from); // of one size
void gpu_fill(void *data, size_t bytes, GpuContent content);

// Draws a size up to width x height, often a small one.
void gpu_random_size(int *width, int *height, int most_width, int most_height);

// Copies `bytes` bytes of device memory.
void gpu_download(GpuCase *c, void *to, const void *from, size_t bytes);

// Turns the status of a launcher into a MotusStatus, with CUDA's text in c->error.
MotusStatus gpu_launched(GpuCase *c, cudaError_t status);

// Like MOTUS_CHECK; the message begins with the case.
void gpu_expect(GpuCase *c, int ok, const char *format, ...) __attribute__((format(printf, 3, 4)));

static inline int gpu_round16(int n) { return (n + 15) & ~15; }

void gpu_row_run(const char *suite, const GpuRow *row);
void gpu_row_bench(const char *suite, const GpuRow *row);

// Runs a row on host memory: both its versions are CPU functions. Returns the number of failed
// expectations, which are not reported.
int gpu_row_failures(const GpuRow *row);

// The program's seed; and that of a case, from the program's, the names and the number.
extern uint32_t gpu_seed;
uint32_t gpu_seed_of(const char *suite, const char *name, int number);

#endif
