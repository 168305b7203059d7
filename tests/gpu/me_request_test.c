// Requests, references and predicted centres: the oracle's results in host and in device memory,
// several pending requests, and failures. MOTUS_CASES sets the number of random cases.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "common/int_core.h"
#include "tests/gpu/sequence.h"
#include "tests/me/request_case.h"

// ---- Results in host memory ---------------------------------------------------------------------

static void random_cases(void) {
    for (int i = 0, n = motus_test_cases(60); i < n; i++) {
        RequestCase c;
        request_case_random(&c, i);
        MotusMe *me = me_case_open(c.me[0].config, MOTUS_BACKEND_CUDA);
        MotusMeReference *reference[REQUEST_TARGETS] = {NULL};
        RequestResults results[2];
        for (int k = 0; k < c.n_targets; k++) reference[k] = me_case_reference(me, &c.me[k].ref);
        for (int run = 0; run < 2; run++) { // both are pending at once
            request_results_alloc(&c, &results[run]);
            for (int k = 0; k < c.n_targets; k++) results[run].target[k].reference = reference[k];
            MotusMeRequest request = request_of(&c, &results[run]);
            request.opaque = &results[run];
            MOTUS_CHECK(motus_me_request(me, &request) == MOTUS_OK, "case %d: %s", i,
                        motus_me_error(me)->text);
        }
        if (c.n_targets)
            MOTUS_CHECK(motus_me_reference_fill(reference[0], me, &c.me[0].ref, MOTUS_MEMORY_HOST,
                                                NULL) == MOTUS_ERR_STATE,
                        "case %d: filled while it is searched", i);
        for (int k = 0; k < c.n_targets; k++) motus_me_reference_unref(&reference[k]);
        for (int run = 0; run < 2; run++) {
            void *opaque = NULL;
            MotusStatus status = MOTUS_AGAIN;
            for (int tries = 0; status == MOTUS_AGAIN && tries < 100; tries++)
                status = motus_me_wait(me, &opaque, run ? 100 : 0);
            if (status == MOTUS_AGAIN) status = motus_me_wait(me, &opaque, -1);
            MOTUS_CHECK(status == MOTUS_OK && opaque == &results[run], "case %d: %s", i,
                        motus_me_error(me)->text);
            request_case_check(&c, &results[run], "cuda", i);
            request_results_free(&results[run]);
        }
        MOTUS_CHECK(motus_me_wait(me, NULL, -1) == MOTUS_END, "case %d", i);
        motus_me_close(&me);
        request_case_free(&c);
    }
}

// ---- Device memory ------------------------------------------------------------------------------

enum { MOST_BLOCKS = 64 };

typedef struct Memory {
    void *block[MOST_BLOCKS];
    int n;
    cudaStream_t stream;
} Memory;

static Memory open_memory(void) {
    Memory m = {.n = 0};
    m.stream = open_stream();
    return m;
}

static void close_memory(Memory *m) {
    while (m->n) GPU_OK(cudaFree(m->block[--m->n]));
    GPU_OK(cudaStreamDestroy(m->stream));
}

// Returns device memory with a copy of `from`, or poison.
static void *on_device(Memory *m, const void *from, size_t bytes) {
    void *p = NULL;
    CU_ASSERT_FATAL(m->n < MOST_BLOCKS && GPU_OK(cudaMalloc(&p, bytes + 64)));
    m->block[m->n++] = p;
    GPU_OK(cudaMemsetAsync(p, GPU_POISON, bytes + 64, m->stream));
    if (from) GPU_OK(cudaMemcpyAsync(p, from, bytes, cudaMemcpyHostToDevice, m->stream));
    return p;
}

// Moves a target's hints and results to device memory.
static void target_to_device(Memory *m, const RequestCase *c, MotusMeTarget *t,
                             MotusMeHints *hints) {
    const size_t n = (size_t)c->n_mb;
    *hints = *t->hints;
    if (hints->centre) hints->centre = on_device(m, hints->centre, n * sizeof(MotusMv));
    if (hints->predictor) hints->predictor = on_device(m, hints->predictor, n * sizeof(MotusMv));
    if (hints->lambda) hints->lambda = on_device(m, hints->lambda, n * sizeof(uint16_t));
    t->hints = hints;
    if (t->skip_mv) t->skip_mv = on_device(m, t->skip_mv, n * sizeof(MotusMv));
    for (int i = 0; i < REQUEST_RESULTS; i++)
        if (*request_result(t, i))
            *request_result(t, i) = on_device(m, NULL, request_result_bytes(c, i));
}

static void back(const Memory *m, void *to, const void *from, size_t bytes) {
    if (to) GPU_OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, m->stream));
}

static MotusPlane plane_on_device(Memory *m, const MotusPlane *plane) {
    return (MotusPlane){
        on_device(m, plane->data, (size_t)(plane->stride * (plane->height - 1) + plane->width)),
        plane->stride, plane->width, plane->height};
}

// Pictures, references, hints and results in device memory, all on the caller's stream. Nothing
// blocks before the event.
static void device_memory(void) {
    for (int i = 0, n = motus_test_cases(40); i < n; i++) {
        RequestCase c;
        Memory m = open_memory();
        cudaEvent_t event;
        GPU_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        request_case_random(&c, i);
        MotusMe *me = me_case_open(c.me[0].config, MOTUS_BACKEND_CUDA);
        RequestResults results, device;
        MotusMeReference *reference[REQUEST_TARGETS] = {NULL};
        MotusMeHints hints[REQUEST_TARGETS];
        request_results_alloc(&c, &results);
        device = results;
        MotusMeRequest request = request_of(&c, &device);
        const MotusPlane cur = plane_on_device(&m, request.cur);
        request.cur = &cur;
        for (int k = 0; k < c.n_targets; k++) {
            const MotusPlane ref = plane_on_device(&m, &c.me[k].ref);
            if (!(i & 1)) GPU_OK(cudaStreamSynchronize(m.stream)); // no stream: the plane is ready
            MOTUS_CHECK(motus_me_reference_alloc(&reference[k], me) == MOTUS_OK &&
                            motus_me_reference_fill(reference[k], me, &ref, MOTUS_MEMORY_DEVICE,
                                                    i & 1 ? m.stream : NULL) == MOTUS_OK,
                        "case %d: %s", i, motus_me_error(me)->text);
            device.target[k].reference = reference[k];
            target_to_device(&m, &c, &device.target[k], &hints[k]);
        }
        if (c.modes) request.modes = on_device(&m, c.modes, (size_t)c.n_mb);
        if (request.stats)
            request.stats = on_device(&m, NULL, (size_t)c.n_mb * sizeof *request.stats);
        request.memory = request.hints_memory = request.results_memory = MOTUS_MEMORY_DEVICE;
        request.stream = m.stream, request.event = event;
        MOTUS_CHECK(motus_me_request(me, &request) == MOTUS_OK, "case %d: %s", i,
                    motus_me_error(me)->text);
        back(&m, results.stats, request.stats, (size_t)c.n_mb * sizeof *request.stats);
        for (int k = 0; k < REQUEST_RESULTS * c.n_targets; k++) {
            const int t = k / REQUEST_RESULTS, which = k % REQUEST_RESULTS;
            back(&m, *request_result(&results.target[t], which),
                 *request_result(&device.target[t], which), request_result_bytes(&c, which));
        }
        GPU_OK(cudaEventSynchronize(event));
        CU_ASSERT_EQUAL(motus_me_wait(me, NULL, 0), MOTUS_OK); // the event has fired
        GPU_OK(cudaStreamSynchronize(m.stream));
        request_case_check(&c, &results, "device memory", i);
        for (int k = 0; k < c.n_targets; k++) motus_me_reference_unref(&reference[k]);
        GPU_OK(cudaEventDestroy(event));
        close_memory(&m);
        request_results_free(&results);
        motus_me_close(&me);
        request_case_free(&c);
    }
}

// Hints in device memory cannot be checked: they are clipped into their ranges.
static void clipped_hints(void) {
    enum { W = 40, H = 20, N = 6 };
    static uint8_t samples[2][W * H];
    motus_test_fill(samples, sizeof samples);
    const MotusPlane cur = {samples[0], W, W, H}, ref = {samples[1], W, W, H};
    MotusMv wild[N], centre[N], predictor[N], found[2][N];
    for (int i = 0; i < N; i++) {
        wild[i] =
            (MotusMv){(int16_t)motus_test_random(), (int16_t)(i ? motus_test_random() : INT16_MIN)};
        centre[i].x = (int16_t)(motus_clip(-MOTUS_MAX_CENTRE, MOTUS_MAX_CENTRE, wild[i].x) & ~3);
        centre[i].y = (int16_t)(motus_clip(-MOTUS_MAX_CENTRE, MOTUS_MAX_CENTRE, wild[i].y) & ~3);
        predictor[i].x = (int16_t)motus_clip(-8191, 8191, wild[i].x);
        predictor[i].y = (int16_t)motus_clip(-8191, 8191, wild[i].y);
    }
    Memory m = open_memory();
    const MotusMv *vectors = on_device(&m, wild, sizeof wild);
    for (int k = 0; k < 2; k++) {
        MotusMeConfig config = motus_me_config_default(W, H);
        config.modes = 1u << MOTUS_MODE_16x16;
        MotusMe *me = me_case_open(config, k ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU);
        MotusMeReference *reference = me_case_reference(me, &ref);
        const MotusMeHints hints = {.centre = k ? vectors : centre,
                                    .predictor = k ? vectors : predictor,
                                    .lambda_q8 = 5000};
        const MotusMeTarget target = {.reference = reference, .hints = &hints, .mv = found[k]};
        const MotusMeRequest request = {.size = sizeof request,
                                        .target_size = sizeof target,
                                        .cur = &cur,
                                        .target = &target,
                                        .n_targets = 1,
                                        .hints_memory = k ? MOTUS_MEMORY_DEVICE : MOTUS_MEMORY_HOST,
                                        .stream = k ? m.stream : NULL};
        CU_ASSERT_EQUAL(motus_me_request(me, &request), MOTUS_OK);
        CU_ASSERT_EQUAL(motus_me_wait(me, NULL, -1), MOTUS_OK);
        motus_me_reference_unref(&reference);
        motus_me_close(&me);
    }
    CU_ASSERT(!memcmp(found[0], found[1], sizeof found[0]));
    close_memory(&m);
}

// ---- Centres ------------------------------------------------------------------------------------

static void centres(void) {
    for (int i = 0, cases = motus_test_cases(24); i < cases; i++) {
        const int w = motus_test_range(33, 400), h = motus_test_range(17, 200),
                  n = motus_mbs(w) * motus_mbs(h);
        MotusPlane ref = {malloc((size_t)(w * h)), w, w, h},
                   cur = {malloc((size_t)(w * h)), w, w, h};
        MotusMv *previous = malloc((size_t)n * sizeof *previous), *centre[3];
        for (int k = 0; k < 3; k++) centre[k] = calloc((size_t)n, sizeof **centre);
        motus_test_fill(ref.data, (size_t)(w * h));
        motus_test_fill(cur.data, (size_t)(w * h));
        memcpy(cur.data, ref.data + w * 9 + 7, (size_t)(w * (h - 10)));
        for (int k = 0; k < n; k++)
            previous[k] = (MotusMv){(int16_t)motus_test_range(-200, 200),
                                    (int16_t)motus_test_range(-200, 200)};
        MotusMe *me[2] = {me_case_open(motus_me_config_default(w, h), MOTUS_BACKEND_CPU),
                          me_case_open(motus_me_config_default(w, h), MOTUS_BACKEND_CUDA)};
        MotusMeReference *reference[2] = {me_case_reference(me[0], &ref),
                                          me_case_reference(me[1], &ref)};
        MotusMeCentres p = {.size = sizeof p, .cur = &cur, .lambda_q8 = 256};
        p.previous = i & 1 ? previous : NULL;
        if (i & 2) p.reach = 4 * motus_test_range(1, 16), p.limit_x = 100, p.limit_y = 77;
        for (int k = 0; k < 2; k++) {
            p.reference = reference[k], p.centre = centre[k];
            MOTUS_CHECK(motus_me_centres(me[k], &p) == MOTUS_OK, "%s", motus_me_error(me[k])->text);
        }
        Memory m = open_memory();
        const MotusPlane device_cur = plane_on_device(&m, &cur);
        p.cur = &device_cur, p.memory = p.mvs_memory = MOTUS_MEMORY_DEVICE, p.stream = m.stream;
        p.previous = i & 1 ? on_device(&m, previous, (size_t)n * sizeof *previous) : NULL;
        p.centre = on_device(&m, NULL, (size_t)n * sizeof *p.centre);
        CU_ASSERT_EQUAL(motus_me_centres(me[0], &p),
                        MOTUS_ERR_ARGUMENT); // another backend's reference
        CU_ASSERT_EQUAL(motus_me_centres(me[1], &p), MOTUS_OK);
        back(&m, centre[2], p.centre, (size_t)n * sizeof *p.centre);
        GPU_OK(cudaStreamSynchronize(m.stream));
        MOTUS_CHECK(!memcmp(centre[0], centre[1], (size_t)n * sizeof(MotusMv)),
                    "%dx%d, %d: host memory", w, h, i);
        MOTUS_CHECK(!memcmp(centre[0], centre[2], (size_t)n * sizeof(MotusMv)),
                    "%dx%d, %d: device memory", w, h, i);
        close_memory(&m);
        for (int k = 0; k < 2; k++) motus_me_reference_unref(&reference[k]), motus_me_close(&me[k]);
        for (int k = 0; k < 3; k++) free(centre[k]);
        free(previous);
        free(ref.data);
        free(cur.data);
    }
}

// ---- Failures -----------------------------------------------------------------------------------

// Makes every kind of call while CUDA call n and all later ones fail. Returns 1 if nothing failed.
static int with_fault(long n) {
    enum { W = 64, H = 48, N = 12 };
    static uint8_t samples[W * H];
    const MotusPlane plane = {samples, W, W, H};
    MotusMv mv[N], centre[N] = {{0}};
    MotusMbStats stats[N];
    uint16_t sad[N];
    MotusMeConfig config = motus_me_config_default(W, H);
    config.modes = 1u << MOTUS_MODE_16x16;
    MotusMe *me = me_case_open(config, MOTUS_BACKEND_CUDA);
    MotusMeReference *reference = NULL;
    motus_device_fail_after(n);
    MotusStatus status = motus_me_reference_alloc(&reference, me);
    if (!status) status = motus_me_reference_fill(reference, me, &plane, MOTUS_MEMORY_HOST, NULL);
    const MotusMeCentres p = {
        .size = sizeof p, .cur = &plane, .reference = reference, .centre = centre};
    if (!status) status = motus_me_centres(me, &p);
    const MotusMeHints hints = {.centre = centre};
    const MotusMeTarget target = {
        .reference = reference, .hints = &hints, .mv = mv, .zero_sad = sad};
    const MotusMeRequest request = {.size = sizeof request,
                                    .target_size = sizeof target,
                                    .cur = &plane,
                                    .target = &target,
                                    .n_targets = 1,
                                    .region = {1, 1, 2, 2},
                                    .stats = stats};
    if (!status) status = motus_me_request(me, &request);
    if (!status) status = motus_me_wait(me, NULL, n & 1 ? 1000 : -1);
    motus_device_fail_after(-1);
    const MotusError error = *motus_me_error(me);
    MOTUS_CHECK(status == (error.text[0] ? MOTUS_ERR_CUDA : MOTUS_OK) && error.status == status,
                "n=%ld: %d %s", n, status, error.text);
    if (status) { // the failure stays
        MotusMeReference *other = NULL;
        MOTUS_CHECK(motus_me_request(me, &request) == MOTUS_ERR_CUDA || !reference, "n=%ld", n);
        MOTUS_CHECK(motus_me_reference_alloc(&other, me) == MOTUS_ERR_CUDA && !other, "n=%ld", n);
    }
    motus_me_reference_unref(&reference);
    motus_me_close(&me);
    return !status;
}

static int attempt(void *unused, long n) {
    (void)unused;
    return !with_fault(n);
}

static void failing_device(void) {
    with_fault(1000); // loads every kernel
    CU_ASSERT(gpu_fail_everywhere(attempt, NULL) >= 25);
}

// Each device by its number, then one that is not there.
static void devices(void) {
    int n = 0;
    GPU_OK(cudaGetDeviceCount(&n));
    for (int device = 0; device <= n; device++) {
        MotusError error = {0};
        MotusMe *me = NULL;
        MotusMeConfig config = motus_me_config_default(64, 48);
        config.backend = MOTUS_BACKEND_CUDA, config.device = device, config.error = &error;
        CU_ASSERT_EQUAL(motus_me_open(&me, &config), device < n ? MOTUS_OK : MOTUS_ERR_NO_DEVICE);
        MOTUS_CHECK(device < n || strstr(error.text, "no CUDA device"), "%s", error.text);
        int now = -1;
        CU_ASSERT(cudaGetDevice(&now) == cudaSuccess && now == 0); // the caller's is as it was
        motus_me_close(&me);
    }
}

static const GpuRow rows[] = {GPU_TEST(random_cases),
                              GPU_TEST(device_memory),
                              GPU_TEST(clipped_hints),
                              GPU_TEST(centres),
                              GPU_TEST(failing_device),
                              GPU_TEST(devices),
                              {0}};
const GpuSuite gpu_me_request = {"me_request", rows};
