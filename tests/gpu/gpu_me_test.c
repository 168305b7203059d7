// Motion estimation on a CUDA device equals the CPU's, bit for bit; jobs in flight, device memory,
// and what happens when the device fails. MOTUS_CASES sets the number of random cases; MOTUS_SEQS
// names a folder of .y4m sequences.
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

#include "common/faults.h"
#include "tests/gpu/gpu.h"
#include "tests/me/me_case.h"
#include "yuv/io/reader.h"

#define POISON 0xA5

static MotusField *poisoned_field(int width, int height) {
    MotusField *field = NULL;
    MOTUS_CHECK(motus_field_alloc(&field, width, height) == MOTUS_OK, "%dx%d", width, height);
    memset(field->mv[0], POISON, (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(MotusMv));
    memset(field->sad[0], POISON, (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(uint16_t));
    memset(field->cost[0], POISON, (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(uint32_t));
    return field;
}

static MotusMe *open_me(MotusMeConfig config, MotusBackend backend) {
    MotusMe *me = NULL;
    config.backend = backend;
    MOTUS_CHECK(motus_me_open(&me, &config) == MOTUS_OK, "%dx%d R=%d", config.width, config.height,
                config.range);
    MOTUS_CHECK(me && motus_me_backend(me) == backend, "%s", motus_backend_name(backend));
    return me;
}

static MotusField *search(MotusMe *me, const MeCase *c) {
    MotusField *field = poisoned_field(c->config.width, c->config.height);
    MOTUS_CHECK(motus_me_search(me, &c->cur, &c->ref, &c->hints, field) == MOTUS_OK, "%s",
                motus_me_error(me)->text);
    return field;
}

// The same case on both backends, twice in the same context on the device.
static void compare(const MeCase *c, int number) {
    MotusMe *cpu = open_me(c->config, MOTUS_BACKEND_CPU),
            *cuda = open_me(c->config, MOTUS_BACKEND_CUDA);
    MotusField *want = search(cpu, c), *got = search(cuda, c), *again = search(cuda, c);
    MOTUS_CHECK(
        motus_test_same_fields(want, got) && motus_test_same_fields(want, again),
        "case %d: %dx%d R=%d subpel %d modes %x content %d lambda %u centre %d predictor %d",
        number, c->config.width, c->config.height, c->config.range, c->config.subpel,
        c->config.modes, c->content, c->hints.lambda_q8, c->hints.centre != NULL,
        c->hints.predictor != NULL);
    motus_field_free(&want);
    motus_field_free(&got);
    motus_field_free(&again);
    motus_me_close(&cpu);
    motus_me_close(&cuda);
}

static void random_cases(void) {
    static const int ranges[] = {1,  2,  3,  7,  8,  15, 16, 16,  17, 24,
                                 31, 32, 33, 48, 64, 90, 91, 127, 128};
    if (!motus_test_has_gpu()) return;
    for (int i = 0, n = motus_test_cases(100); i < n; i++) {
        MeCase c;
        int range = i & 1 ? ranges[motus_test_range(0, 18)] : motus_test_range(1, 40);
        me_case_random(&c, range, (MotusSubpel)motus_test_range(0, 2));
        compare(&c, i);
        me_case_free(&c);
    }
}

static void fill_planes(MeCase *c, int width, int height, int range, MotusSubpel subpel) {
    memset(c, 0, sizeof *c);
    c->config = motus_me_config_default(width, height);
    c->config.range = range;
    c->config.subpel = subpel;
    c->hints.lambda_q8 = 900;
    c->cur = (MotusPlane){malloc((size_t)width * (size_t)height), width, width, height};
    c->ref = (MotusPlane){malloc((size_t)width * (size_t)height), width, width, height};
    me_case_fill(c, ME_MOVED);
}

static void large_pictures(void) {
    static const struct {
        int width, height, range;
    } sizes[] = {{1920, 1080, 16}, {1281, 719, 32}, {4096, 2304, 8},
                 {16, 4096, 16},   {4093, 16, 20},  {352, 288, 128}};
    if (!motus_test_has_gpu()) return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MeCase c;
        fill_planes(&c, sizes[i].width, sizes[i].height, sizes[i].range,
                    i % 2 ? MOTUS_SUBPEL_FULL : MOTUS_SUBPEL_QUARTER);
        compare(&c, (int)i);
        me_case_free(&c);
    }
}

#define FRAMES 9

// A sequence with MOTUS_ME_IN_FLIGHT jobs in flight, each picture uploaded once.
static void jobs_in_flight(void) {
    if (!motus_test_has_gpu()) return;
    MeCase c[FRAMES];
    for (int i = 0; i < FRAMES; i++) fill_planes(&c[i], 500, 300, 16, MOTUS_SUBPEL_QUARTER);
    c[0].config.modes = 0x0F;
    MotusMe *both[2] = {open_me(c[0].config, MOTUS_BACKEND_CPU),
                        open_me(c[0].config, MOTUS_BACKEND_CUDA)};
    MotusField *field[2][FRAMES];
    for (int k = 0; k < 2; k++) {
        int received = 0;
        MotusField *got;
        MotusMeJob job = {.cur = &c[0].cur,
                          .hints = &c[0].hints,
                          .field = field[k][0] = poisoned_field(500, 300)};
        CU_ASSERT_EQUAL(motus_me_submit(both[k], &job), MOTUS_ERR_STATE);
        CU_ASSERT_EQUAL(motus_me_receive(both[k], &got), MOTUS_END);
        job.ref = &c[0].ref;
        for (int i = 0; i < FRAMES; i++) {
            if (i)
                job = (MotusMeJob){.cur = &c[i].cur,
                                   .hints = &c[i].hints,
                                   .field = field[k][i] = poisoned_field(500, 300)};
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

// Planes and results in device memory, on a stream of the caller's; aligned rows and rows that must
// be copied.
static void device_memory(void) {
    if (!motus_test_has_gpu()) return;
    MeCase c;
    fill_planes(&c, 333, 222, 16, MOTUS_SUBPEL_HALF);
    MotusMe *cpu = open_me(c.config, MOTUS_BACKEND_CPU),
            *cuda = open_me(c.config, MOTUS_BACKEND_CUDA);
    MotusField *want = search(cpu, &c), *got = poisoned_field(333, 222);
    size_t n = (size_t)want->n_mb * MOTUS_BLOCKS;
    cudaStream_t stream;
    uint8_t *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreate(&stream), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(cudaMalloc((void **)&memory, 2 * 352 * 222 + 10 * n + 64), cudaSuccess);
    cudaMemset(memory, POISON,
               2 * 352 *
                   222); // between a row's end and the next row, where words are read but not used
    for (int stride = 352; stride > 340; stride -= 9) {
        MotusPlane cur = {memory, stride, 333, 222},
                   ref = {memory + stride * 222, stride, 333, 222};
        MotusMv *mv = (MotusMv *)(memory + 2 * 352 * 222);
        MotusMeJob job = {.cur = &cur,
                          .ref = &ref,
                          .memory = MOTUS_MEMORY_DEVICE,
                          .stream = stream,
                          .hints = &c.hints,
                          .device_mv = mv};
        job.device_cost = (uint32_t *)(mv + n);
        job.device_sad = (uint16_t *)(job.device_cost + n);
        cudaMemcpy2DAsync(cur.data, (size_t)stride, c.cur.data, 333, 333, 222,
                          cudaMemcpyHostToDevice, stream);
        cudaMemcpy2DAsync(ref.data, (size_t)stride, c.ref.data, 333, 333, 222,
                          cudaMemcpyHostToDevice, stream);
        CU_ASSERT_EQUAL(motus_me_submit(cpu, &job), MOTUS_ERR_UNSUPPORTED);
        CU_ASSERT_EQUAL(motus_me_submit(cuda, &job), MOTUS_OK);
        cudaMemcpyAsync(got->mv[0], job.device_mv, n * sizeof(MotusMv), cudaMemcpyDeviceToHost,
                        stream);
        cudaMemcpyAsync(got->sad[0], job.device_sad, n * sizeof(uint16_t), cudaMemcpyDeviceToHost,
                        stream);
        cudaMemcpyAsync(got->cost[0], job.device_cost, n * sizeof(uint32_t), cudaMemcpyDeviceToHost,
                        stream);
        CU_ASSERT_EQUAL(cudaStreamSynchronize(stream), cudaSuccess);
        MOTUS_CHECK(motus_test_same_fields(want, got), "stride %d", stride);
        CU_ASSERT_EQUAL(motus_me_receive(cuda, NULL), MOTUS_OK);
    }
    cudaFree(memory);
    cudaStreamDestroy(stream);
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
    if (!motus_test_has_gpu()) return;
    Worker w[2] = {0};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        fill_planes(&w[i].c, 300 + 100 * i, 200, 16 + 8 * i, MOTUS_SUBPEL_QUARTER);
        MotusMe *cpu = open_me(w[i].c.config, MOTUS_BACKEND_CPU);
        w[i].want = search(cpu, &w[i].c);
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

// A search while CUDA call n fails, and the ones after it; again when they would succeed. Returns 1
// when nothing failed.
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
    } else if (chosen == MOTUS_BACKEND_CPU || !failed) { // AUTO chose at the opening
        MOTUS_CHECK(!first && motus_test_same_fields(want, got) &&
                        failed == (chosen == MOTUS_BACKEND_CPU),
                    "n=%ld: %d", n, first);
        MOTUS_CHECK(chosen == MOTUS_BACKEND_CUDA || backend == MOTUS_BACKEND_AUTO, "n=%ld", n);
    } else { // the device failed later: whatever is called says so
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

// Lets the n-th CUDA call fail, for every n up to success: at the opening AUTO takes the CPU, later
// the device's words stay; and no memory is lost.
static void failing_device(void) {
    if (!motus_test_has_gpu()) return;
    MeCase c;
    fill_planes(&c, 100, 60, 8, MOTUS_SUBPEL_QUARTER);
    MotusMe *cpu = open_me(c.config, MOTUS_BACKEND_CPU),
            *cuda = open_me(c.config, MOTUS_BACKEND_CUDA);
    MotusField *want = search(cpu, &c),
               *got = search(cuda, &c); // and so every kernel is loaded when memory is measured
    size_t before = 0, after = 0, total, failures = 0;
    for (long n = 0, done = 0; !done; n++) {
        int done_cuda = search_with_fault(&c, MOTUS_BACKEND_CUDA, n, want, got);
        done = search_with_fault(&c, MOTUS_BACKEND_AUTO, n, want, got);
        MOTUS_CHECK(done == done_cuda, "n=%ld", n);
        failures += !done;
        cudaMemGetInfo(n < 2 ? &before : &after, &total);
    }
    MOTUS_CHECK(before == after && failures > 25, "%zu bytes free, then %zu; %zu failures", before,
                after, failures);
    motus_field_free(&want);
    motus_field_free(&got);
    motus_me_close(&cpu);
    motus_me_close(&cuda);
    me_case_free(&c);
}

static void too_little_memory(void) {
    if (!motus_test_has_gpu()) return;
    size_t most, total;
    void *hog = NULL;
    MotusError error = {0};
    MotusMe *me = NULL;
    MotusMeConfig config = motus_me_config_default(4096, 2304);
    config.backend = MOTUS_BACKEND_CUDA;
    config.error = &error;
    cudaMemGetInfo(&most, &total);
    CU_ASSERT_EQUAL(cudaMalloc(&hog, most - (64u << 20)), cudaSuccess);
    CU_ASSERT_EQUAL(motus_me_open(&me, &config), MOTUS_ERR_MEMORY);
    MOTUS_CHECK(strstr(error.text, "out of memory") != NULL, "%s", error.text);
    cudaFree(hog);
    CU_ASSERT_EQUAL(motus_me_open(&me, &config), MOTUS_OK);
    motus_me_close(&me);
}

static void constant_memory(void) {
    if (!motus_test_has_gpu()) return;
    MeCase c;
    size_t early = 0, late = 0, total;
    fill_planes(&c, 640, 360, 16, MOTUS_SUBPEL_QUARTER);
    MotusMe *me = open_me(c.config, MOTUS_BACKEND_CUDA);
    MotusField *field = poisoned_field(640, 360);
    for (int i = 0; i < 500; i++) {
        CU_ASSERT_EQUAL(motus_me_search(me, &c.cur, &c.ref, &c.hints, field), MOTUS_OK);
        if (i == 2 || i == 499) cudaMemGetInfo(i == 2 ? &early : &late, &total);
    }
    MOTUS_CHECK(early == late, "%zu bytes free after 3 pictures, %zu after 500", early, late);
    motus_field_free(&field);
    motus_me_close(&me);
    me_case_free(&c);
}

// The backends side by side, one pair for each subpel level, each with another range.
typedef struct Pairs {
    MotusMeConfig config[3];
    MotusMe *cpu[3], *cuda[3];
} Pairs;

static Pairs open_pairs(const MotusFrame *frame) {
    Pairs p = {0};
    for (int s = MOTUS_SUBPEL_FULL; s <= MOTUS_SUBPEL_QUARTER; s++) {
        p.config[s] = motus_me_config_default(frame->width, frame->height);
        p.config[s].subpel = (MotusSubpel)s;
        p.config[s].range = 32 - 8 * s;
        p.cpu[s] = open_me(p.config[s], MOTUS_BACKEND_CPU);
        p.cuda[s] = open_me(p.config[s], MOTUS_BACKEND_CUDA);
    }
    return p;
}

static void close_pairs(Pairs *p) {
    for (int s = 0; s < 3; s++) {
        motus_me_close(&p->cpu[s]);
        motus_me_close(&p->cuda[s]);
    }
}

static void compare_frames(const Pairs *p, const MotusFrame *ref, const MotusFrame *cur,
                           const char *path, int number) {
    for (int s = 0; s < 3; s++) {
        MeCase c = {.config = p->config[s],
                    .hints = {.lambda_q8 = 1000},
                    .cur = cur->plane[0],
                    .ref = ref->plane[0]};
        MotusField *want = search(p->cpu[s], &c), *got = search(p->cuda[s], &c);
        MOTUS_CHECK(motus_test_same_fields(want, got), "%s: picture %d, subpel %d", path, number,
                    s);
        motus_field_free(&want);
        motus_field_free(&got);
    }
}

// All frames of one sequence, each in the one before, at every subpel level.
static void compare_sequence(const char *path) {
    MotusReader *reader = NULL;
    MotusReaderOptions options = {0};
    MotusFrame *frame[2] = {NULL, NULL};
    Pairs pairs = {0};
    int n = 0;
    MOTUS_CHECK(motus_reader_open(&reader, path, &options, NULL) == MOTUS_OK, "%s", path);
    for (; reader && motus_reader_next(reader, &frame[1], NULL) == MOTUS_OK; n++) {
        if (!n) pairs = open_pairs(frame[1]);
        if (n) compare_frames(&pairs, frame[0], frame[1], path, n);
        motus_frame_unref(&frame[0]);
        frame[0] = frame[1];
        frame[1] = NULL;
    }
    MOTUS_CHECK(n > 1, "%s: %d pictures", path, n);
    printf("  %s: %d pictures\n", path, n);
    close_pairs(&pairs);
    motus_frame_unref(&frame[0]);
    motus_reader_close(&reader);
}

static void sequences(void) {
    const char *folder = getenv("MOTUS_SEQS");
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!motus_test_has_gpu()) return;
    if (!dir) {
        motus_test_skip("MOTUS_SEQS names no folder");
        return;
    }
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        size_t length = strlen(entry->d_name);
        if (length < 5 || (strcmp(entry->d_name + length - 4, ".y4m") &&
                           strcmp(entry->d_name + length - 4, ".mkv")))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        compare_sequence(path);
        n++;
    }
    closedir(dir);
    MOTUS_CHECK(n > 0, "no sequence in %s", folder);
}

static const MotusTest tests[] = {{"random_cases", random_cases},
                                  {"large_pictures", large_pictures},
                                  {"jobs_in_flight", jobs_in_flight},
                                  {"device_memory", device_memory},
                                  {"two_threads", two_threads},
                                  {"failing_device", failing_device},
                                  {"too_little_memory", too_little_memory},
                                  {"constant_memory", constant_memory},
                                  {"sequences", sequences},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_me", tests, argc, argv); }
