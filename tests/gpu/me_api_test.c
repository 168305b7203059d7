// Motion estimation by the public API: requests in flight, threads, real sequences, and devices
// that fail or have no memory left. MOTUS_SEQS names a folder of sequences.
// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

#include "common/faults.h"
#include "common/int_core.h"
#include "tests/gpu/gpu_test.h"
#include "tests/me/me_case.h"
#include "yuv/io/reader.h"

enum { FRAMES = 9 };

// A sequence with MOTUS_ME_IN_FLIGHT requests in flight equals searches of each pair.
static void requests_in_flight(void) {
    MeCase c[FRAMES];
    MotusField *want[FRAMES], *got[FRAMES];
    MotusMeReference *reference[FRAMES] = {NULL};
    for (int i = 0; i < FRAMES; i++) me_case_moved(&c[i], 500, 300, 16, MOTUS_SUBPEL_QUARTER);
    c[0].config.modes = 0x0F;
    MotusMe *cpu = me_case_open(c[0].config, MOTUS_BACKEND_CPU),
            *cuda = me_case_open(c[0].config, MOTUS_BACKEND_CUDA);
    CU_ASSERT_EQUAL(motus_me_wait(cuda, NULL, -1), MOTUS_END);
    for (int i = 0, received = 0; received < FRAMES;) {
        if (i < FRAMES && i - received < MOTUS_ME_IN_FLIGHT) {
            want[i] = me_case_search(cpu, &c[i]);
            got[i] = me_case_field(500, 300);
            const MotusMeTarget target = {.reference = reference[i] =
                                              me_case_reference(cuda, &c[i].ref),
                                          .hints = &c[i].hints,
                                          .mv = got[i]->mv[0],
                                          .sad = got[i]->sad[0],
                                          .cost = got[i]->cost[0]};
            MotusMeRequest request = motus_me_request_default(&c[i].cur, &target, 1);
            request.opaque = got[i];
            EXPECT_OK(motus_me_request(cuda, &request));
            i++;
            if (i - received == MOTUS_ME_IN_FLIGHT)
                CU_ASSERT_EQUAL(motus_me_request(cuda, &request), MOTUS_AGAIN);
            continue;
        }
        void *opaque = NULL;
        CU_ASSERT(motus_me_wait(cuda, &opaque, -1) == MOTUS_OK && opaque == got[received]);
        MOTUS_CHECK(motus_test_same_fields(want[received], got[received]), "frame %d", received);
        received++;
    }
    for (int i = 0; i < FRAMES; i++) {
        motus_me_reference_unref(&reference[i]);
        motus_field_free(&want[i]), motus_field_free(&got[i]), me_case_free(&c[i]);
    }
    motus_me_close(&cpu);
    motus_me_close(&cuda);
}

// Searches pictures, each in the one that the request before kept, with all that may be pending.
// skip: MVs far beyond the edges. Results: an entry for each picture.
static void search_kept(MotusMe *me, const MeCase *c, const MotusMv *skip, MotusField *const *field,
                        uint16_t *const *skip_sad, uint32_t *const *satd) {
    MotusMeReference *reference[MOTUS_ME_IN_FLIGHT + 1];
    const int ring = MOTUS_ME_IN_FLIGHT + 1;
    for (int i = 0; i < ring; i++) REQUIRE_OK(motus_me_reference_alloc(&reference[i], me));
    for (int i = 0, received = 0; received < FRAMES;) {
        if (i == FRAMES || i - received == MOTUS_ME_IN_FLIGHT) {
            EXPECT_OK(motus_me_wait(me, NULL, -1));
            received++;
            continue;
        }
        const MotusMeTarget target = {.reference = reference[(i + ring - 1) % ring],
                                      .skip_mv = skip,
                                      .mv = field[i]->mv[0],
                                      .sad = field[i]->sad[0],
                                      .cost = field[i]->cost[0],
                                      .satd = satd[i],
                                      .skip_sad = skip_sad[i]};
        MotusMeRequest request = motus_me_request_default(&c[i].cur, &target, i > 0);
        request.keep = reference[i++ % ring];
        EXPECT_OK(motus_me_request(me, &request));
    }
    for (int i = 0; i < ring; i++) motus_me_reference_unref(&reference[i]);
}

// Pictures that are kept give the CPU's results, with half-sample planes and without, and with
// sizes of whole and partial MBs and words.
static void kept_pictures(void) {
    static const int sizes[4][2] = {{320, 176}, {500, 300}, {333, 201}, {18, 5}};
    for (int k = 0; k < 8; k++) {
        const int width = sizes[k / 2][0], height = sizes[k / 2][1];
        const size_t n = (size_t)motus_mbs(width) * (size_t)motus_mbs(height);
        MeCase c[FRAMES];
        MotusField *field[2][FRAMES];
        uint16_t *skip_sad[2][FRAMES];
        uint32_t *satd[2][FRAMES];
        MotusMv *skip = calloc(n, sizeof *skip);
        for (size_t i = 0; i < n; i++) {
            skip[i].x = (int16_t)(4 * motus_test_range(-width, width));
            skip[i].y = (int16_t)(4 * motus_test_range(-height, height));
        }
        for (int i = 0; i < FRAMES; i++)
            me_case_moved(&c[i], width, height, 8,
                          k & 1 ? MOTUS_SUBPEL_FULL : MOTUS_SUBPEL_QUARTER);
        for (int on = 0; on < 2; on++) {
            for (int i = 0; i < FRAMES; i++) {
                field[on][i] = me_case_field(width, height);
                skip_sad[on][i] = calloc(n, sizeof **skip_sad[on]);
                satd[on][i] = calloc(MOTUS_BLOCKS * n, sizeof **satd[on]);
            }
            MotusMe *me = me_case_open(c[0].config, on ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU);
            search_kept(me, c, skip, field[on], skip_sad[on], satd[on]);
            motus_me_close(&me);
        }
        for (int i = 0; i < FRAMES; i++) {
            MOTUS_CHECK(motus_test_same_fields(field[0][i], field[1][i]) &&
                            !memcmp(skip_sad[0][i], skip_sad[1][i], n * sizeof **skip_sad[0]) &&
                            !memcmp(satd[0][i], satd[1][i], MOTUS_BLOCKS * n * sizeof **satd[0]),
                        "%dx%d frame %d, subpel %d", width, height, i, c[0].config.subpel);
            for (int on = 0; on < 2; on++) {
                motus_field_free(&field[on][i]);
                free(skip_sad[on][i]), free(satd[on][i]);
            }
            me_case_free(&c[i]);
        }
        free(skip);
    }
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
        const MotusMeRequest request = motus_me_request_default(&c->cur, NULL, 0);
        MotusStatus again = motus_me_search(me, &c->cur, &c->ref, &c->hints, got),
                    requested = motus_me_request(me, &request);
        later = *motus_me_error(me);
        MOTUS_CHECK(first == MOTUS_ERR_CUDA && again == first && requested == first,
                    "n=%ld: %d %d %d", n, first, again, requested);
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
    GPU_OK(cudaMalloc(&hog, gpu_free_bytes() - (8u << 20)));
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

static const GpuRow rows[] = {GPU_TEST(requests_in_flight), GPU_TEST(kept_pictures),
                              GPU_TEST(two_threads),        GPU_TEST(failing_device),
                              GPU_TEST(too_little_memory),  GPU_TEST(constant_memory),
                              GPU_TEST(sequences),          {0}};
const GpuSuite gpu_me_api = {"me_api", rows};
