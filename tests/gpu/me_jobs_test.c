// Motion estimation by the public API: jobs in flight, device memory, threads, real sequences, and
// devices that fail or have no memory left. MOTUS_SEQS names a folder of sequences.
// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

#include "common/faults.h"
#include "tests/gpu/gpu_test.h"
#include "tests/me/me_case.h"
#include "yuv/io/reader.h"

enum { FRAMES = 9 };

// A sequence with MOTUS_ME_IN_FLIGHT jobs in flight, each picture uploaded once.
static void jobs_in_flight(void) {
    MeCase c[FRAMES];
    for (int i = 0; i < FRAMES; i++) me_case_moved(&c[i], 500, 300, 16, MOTUS_SUBPEL_QUARTER);
    c[0].config.modes = 0x0F;
    MotusMe *both[2] = {me_case_open(c[0].config, MOTUS_BACKEND_CPU),
                        me_case_open(c[0].config, MOTUS_BACKEND_CUDA)};
    MotusField *field[2][FRAMES];
    for (int k = 0; k < 2; k++) {
        int received = 0;
        MotusField *got;
        MotusMeJob job = {
            .cur = &c[0].cur, .hints = &c[0].hints, .field = field[k][0] = me_case_field(500, 300)};
        CU_ASSERT_EQUAL(motus_me_submit(both[k], &job), MOTUS_ERR_STATE);
        CU_ASSERT_EQUAL(motus_me_receive(both[k], &got), MOTUS_END);
        job.ref = &c[0].ref;
        for (int i = 0; i < FRAMES; i++) {
            if (i)
                job = (MotusMeJob){.cur = &c[i].cur,
                                   .hints = &c[i].hints,
                                   .field = field[k][i] = me_case_field(500, 300)};
            MotusStatus status = motus_me_submit(both[k], &job);
            MOTUS_CHECK(status == (i - received < MOTUS_ME_IN_FLIGHT ? MOTUS_OK : MOTUS_AGAIN),
                        "frame %d: %d", i, status);
            if (status != MOTUS_AGAIN) continue;
            CU_ASSERT_EQUAL(motus_me_receive(both[k], &got), MOTUS_OK);
            CU_ASSERT_PTR_EQUAL(got, field[k][received]);
            received++;
            CU_ASSERT_EQUAL(motus_me_submit(both[k], &job), MOTUS_OK);
        }
        while (motus_me_receive(both[k], &got) == MOTUS_OK)
            CU_ASSERT_PTR_EQUAL(got, field[k][received++]);
        CU_ASSERT_EQUAL(received, FRAMES);
    }
    for (int i = 0; i < FRAMES; i++)
        MOTUS_CHECK(motus_test_same_fields(field[0][i], field[1][i]), "frame %d", i);
    for (int i = 0; i < FRAMES; i++)
        motus_field_free(&field[0][i]), motus_field_free(&field[1][i]), me_case_free(&c[i]);
    motus_me_close(&both[0]);
    motus_me_close(&both[1]);
}

// Planes and results in device memory, on a stream of the caller's. Rows are aligned or must be
// copied.
static void device_memory(void) {
    enum { W = 333, H = 222, PLANE = 352 * H };
    MeCase c;
    me_case_moved(&c, W, H, 16, MOTUS_SUBPEL_HALF);
    MotusMe *cpu = me_case_open(c.config, MOTUS_BACKEND_CPU),
            *cuda = me_case_open(c.config, MOTUS_BACKEND_CUDA);
    MotusField *want = me_case_search(cpu, &c), *got = me_case_field(W, H);
    const size_t n = (size_t)want->n_mb * MOTUS_BLOCKS;
    cudaStream_t stream;
    uint8_t *memory = NULL;
    CU_ASSERT_FATAL(GPU_OK(cudaStreamCreate(&stream)));
    CU_ASSERT_FATAL(GPU_OK(cudaMalloc((void **)&memory, 2 * PLANE + 10 * n + 64)));
    GPU_OK(cudaMemset(memory, GPU_POISON, 2 * PLANE)); // words between rows are read, not used
    for (int stride = 352; stride > 340; stride -= 9) {
        const size_t pitch = (size_t)stride;
        MotusPlane cur = {memory, stride, W, H}, ref = {memory + stride * H, stride, W, H};
        MotusMv *mv = (MotusMv *)(void *)(memory + 2 * PLANE);
        MotusMeJob job = {.cur = &cur,
                          .ref = &ref,
                          .memory = MOTUS_MEMORY_DEVICE,
                          .stream = stream,
                          .hints = &c.hints,
                          .device_mv = mv};
        job.device_cost = (uint32_t *)(mv + n);
        job.device_sad = (uint16_t *)(job.device_cost + n);
        GPU_OK(cudaMemcpy2DAsync(cur.data, pitch, c.cur.data, W, W, H, cudaMemcpyHostToDevice,
                                 stream));
        GPU_OK(cudaMemcpy2DAsync(ref.data, pitch, c.ref.data, W, W, H, cudaMemcpyHostToDevice,
                                 stream));
        CU_ASSERT_EQUAL(motus_me_submit(cpu, &job), MOTUS_ERR_UNSUPPORTED);
        CU_ASSERT_EQUAL(motus_me_submit(cuda, &job), MOTUS_OK);
        GPU_OK(cudaMemcpyAsync(got->mv[0], mv, 4 * n, cudaMemcpyDeviceToHost, stream));
        GPU_OK(cudaMemcpyAsync(got->sad[0], job.device_sad, 2 * n, cudaMemcpyDeviceToHost, stream));
        GPU_OK(
            cudaMemcpyAsync(got->cost[0], job.device_cost, 4 * n, cudaMemcpyDeviceToHost, stream));
        GPU_OK(cudaStreamSynchronize(stream));
        MOTUS_CHECK(motus_test_same_fields(want, got), "stride %d", stride);
        CU_ASSERT_EQUAL(motus_me_receive(cuda, NULL), MOTUS_OK);
    }
    GPU_OK(cudaFree(memory));
    GPU_OK(cudaStreamDestroy(stream));
    motus_field_free(&want);
    motus_field_free(&got);
    motus_me_close(&cpu);
    motus_me_close(&cuda);
    me_case_free(&c);
}

typedef struct Worker {
    MeCase c;
    MotusField *want;
    int wrong;
} Worker;

static void *work(void *opaque) {
    Worker *w = opaque;
    MotusMe *me = NULL;
    MotusField *field = NULL;
    w->wrong = motus_me_open(&me, &w->c.config) ||
               motus_field_alloc(&field, w->c.config.width, w->c.config.height);
    for (int i = 0; i < 20 && !w->wrong; i++)
        w->wrong = motus_me_search(me, &w->c.cur, &w->c.ref, &w->c.hints, field) ||
                   !motus_test_same_fields(field, w->want);
    motus_field_free(&field);
    motus_me_close(&me);
    return NULL;
}

static void two_threads(void) {
    Worker w[2] = {0};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        me_case_moved(&w[i].c, 300 + 100 * i, 200, 16 + 8 * i, MOTUS_SUBPEL_QUARTER);
        MotusMe *cpu = me_case_open(w[i].c.config, MOTUS_BACKEND_CPU);
        w[i].want = me_case_search(cpu, &w[i].c);
        motus_me_close(&cpu);
        w[i].c.config.backend = MOTUS_BACKEND_CUDA;
    }
    for (int i = 0; i < 2; i++) CU_ASSERT_EQUAL(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        MOTUS_CHECK(!w[i].wrong, "thread %d", i);
        motus_field_free(&w[i].want);
        me_case_free(&w[i].c);
    }
}

// Searches while CUDA call n and all later ones fail, and again when they would succeed. Returns 1
// if nothing failed.
static int search_with_fault(const MeCase *c, MotusBackend backend, long n, const MotusField *want,
                             MotusField *got) {
    MotusError error = {0}, later;
    MotusMe *me = NULL;
    MotusMeConfig config = c->config;
    config.backend = backend;
    config.error = &error;
    motus_device_fail_after(n);
    MotusStatus opened = motus_me_open(&me, &config);
    MotusBackend chosen = opened ? MOTUS_BACKEND_CPU : motus_me_backend(me);
    MotusStatus first = opened ? opened : motus_me_search(me, &c->cur, &c->ref, &c->hints, got);
    motus_device_fail_after(-1);
    if (!opened) error = *motus_me_error(me);
    int failed = error.text[0] != 0;
    MOTUS_CHECK(!failed || (error.status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error")),
                "n=%ld: %d %s", n, error.status, error.text);
    if (opened) {
        MOTUS_CHECK(backend == MOTUS_BACKEND_CUDA && opened == MOTUS_ERR_CUDA && failed,
                    "n=%ld: %d", n, opened);
    } else if (chosen == MOTUS_BACKEND_CPU || !failed) { // AUTO chose while opening
        MOTUS_CHECK(!first && motus_test_same_fields(want, got) &&
                        failed == (chosen == MOTUS_BACKEND_CPU),
                    "n=%ld: %d", n, first);
        MOTUS_CHECK(chosen == MOTUS_BACKEND_CUDA || backend == MOTUS_BACKEND_AUTO, "n=%ld", n);
    } else { // the device failed later: every call says so
        MotusMeJob job = {.cur = &c->cur, .ref = &c->ref, .hints = &c->hints, .field = got};
        MotusStatus again = motus_me_search(me, &c->cur, &c->ref, &c->hints, got),
                    submitted = motus_me_submit(me, &job);
        later = *motus_me_error(me);
        MOTUS_CHECK(first == MOTUS_ERR_CUDA && again == first && submitted == first,
                    "n=%ld: %d %d %d", n, first, again, submitted);
        MOTUS_CHECK(later.status == error.status && !strcmp(later.text, error.text), "n=%ld: %s", n,
                    later.text);
    }
    MOTUS_CHECK(opened || motus_me_backend(me) == chosen, "n=%ld", n);
    motus_me_close(&me);
    return !failed;
}

// Input and results of failing_device.
typedef struct Attempt {
    MeCase c;
    MotusField *want, *got;
} Attempt;

static int attempt(void *opaque, long n) {
    Attempt *a = opaque;
    const int done_cuda = search_with_fault(&a->c, MOTUS_BACKEND_CUDA, n, a->want, a->got),
              done = search_with_fault(&a->c, MOTUS_BACKEND_AUTO, n, a->want, a->got);
    MOTUS_CHECK(done == done_cuda, "n=%ld", n);
    return !done;
}

// A failure while opening makes AUTO take the CPU; after a later one the context keeps the device's
// error.
static void failing_device(void) {
    Attempt a;
    me_case_moved(&a.c, 100, 60, 8, MOTUS_SUBPEL_QUARTER);
    MotusMe *cpu = me_case_open(a.c.config, MOTUS_BACKEND_CPU),
            *cuda = me_case_open(a.c.config, MOTUS_BACKEND_CUDA);
    a.want = me_case_search(cpu, &a.c);
    a.got = me_case_search(cuda, &a.c); // loads every kernel before memory is measured
    CU_ASSERT(gpu_fail_everywhere(attempt, &a) > 25);
    motus_field_free(&a.want);
    motus_field_free(&a.got);
    motus_me_close(&cpu);
    motus_me_close(&cuda);
    me_case_free(&a.c);
}

static void too_little_memory(void) {
    void *hog = NULL;
    MotusError error = {0};
    MotusMe *me = NULL;
    MotusMeConfig config = motus_me_config_default(4096, 2304);
    config.backend = MOTUS_BACKEND_CUDA;
    config.error = &error;
    GPU_OK(cudaMalloc(&hog, gpu_free_bytes() - (64u << 20)));
    CU_ASSERT_EQUAL(motus_me_open(&me, &config), MOTUS_ERR_MEMORY);
    MOTUS_CHECK(strstr(error.text, "out of memory") != NULL, "%s", error.text);
    GPU_OK(cudaFree(hog));
    CU_ASSERT_EQUAL(motus_me_open(&me, &config), MOTUS_OK);
    motus_me_close(&me);
}

static void constant_memory(void) {
    MeCase c;
    size_t early = 0, late = 0;
    me_case_moved(&c, 640, 360, 16, MOTUS_SUBPEL_QUARTER);
    MotusMe *me = me_case_open(c.config, MOTUS_BACKEND_CUDA);
    MotusField *field = me_case_field(640, 360);
    for (int i = 0; i < 500; i++) {
        CU_ASSERT_EQUAL(motus_me_search(me, &c.cur, &c.ref, &c.hints, field), MOTUS_OK);
        if (i == 2 || i == 499) *(i == 2 ? &early : &late) = gpu_free_bytes();
    }
    MOTUS_CHECK(early == late, "%zu bytes free after 3 pictures, %zu after 500", early, late);
    motus_field_free(&field);
    motus_me_close(&me);
    me_case_free(&c);
}

// ---- Sequences ----------------------------------------------------------------------------------

// Searches all frames of a sequence, each in the one before.
static void compare_sequence(const char *path, MotusSubpel subpel) {
    MotusReader *reader = NULL;
    MotusFrame *frame[2] = {NULL, NULL};
    MotusMe *cpu = NULL, *cuda = NULL;
    int n = 0;
    MOTUS_CHECK(!motus_reader_open(&reader, path, &(MotusReaderOptions){0}, NULL), "%s", path);
    for (; reader && !motus_reader_next(reader, &frame[1], NULL); n++) {
        MeCase c = {.config = motus_me_config_default(frame[1]->width, frame[1]->height),
                    .hints = {.lambda_q8 = 1000},
                    .cur = frame[1]->plane[0]};
        c.config.subpel = subpel, c.config.range = 32 - 8 * (int)subpel;
        if (n) {
            c.ref = frame[0]->plane[0];
            MotusField *want = me_case_search(cpu, &c), *got = me_case_search(cuda, &c);
            MOTUS_CHECK(motus_test_same_fields(want, got), "%s: picture %d, subpel %d", path, n,
                        (int)subpel);
            motus_field_free(&want);
            motus_field_free(&got);
        } else {
            cpu = me_case_open(c.config, MOTUS_BACKEND_CPU);
            cuda = me_case_open(c.config, MOTUS_BACKEND_CUDA);
        }
        motus_frame_unref(&frame[0]);
        frame[0] = frame[1], frame[1] = NULL;
    }
    MOTUS_CHECK(n > 1, "%s: %d pictures", path, n);
    motus_frame_unref(&frame[0]);
    motus_me_close(&cpu);
    motus_me_close(&cuda);
    motus_reader_close(&reader);
}

static void sequences(void) {
    const char *folder = getenv("MOTUS_SEQS");
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir) motus_test_skip("MOTUS_SEQS names no folder");
    if (!dir) return;
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        const char *end = strrchr(entry->d_name, '.');
        if (!end || (strcmp(end, ".y4m") && strcmp(end, ".mkv"))) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        for (int s = MOTUS_SUBPEL_FULL; s <= MOTUS_SUBPEL_BEST; s++)
            compare_sequence(path, (MotusSubpel)s);
        n++;
    }
    closedir(dir);
    MOTUS_CHECK(n > 0, "no sequence in %s", folder);
}

static const GpuRow rows[] = {GPU_TEST(jobs_in_flight),    GPU_TEST(device_memory),
                              GPU_TEST(two_threads),       GPU_TEST(failing_device),
                              GPU_TEST(too_little_memory), GPU_TEST(constant_memory),
                              GPU_TEST(sequences),         {0}};
const GpuSuite gpu_me_jobs = {"me_jobs", rows};
