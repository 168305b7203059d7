// Every public function with every bad argument (generate.py makes the calls from the headers): no crash, no hang, no exit, and no success where
// something that is needed is not there. Each call runs in a process of its own.
//   arguments_test [FIRST [LAST]]     runs calls by number
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "motus/motus.h"

enum { WIDTH = 64, HEIGHT = 48, HANGS = 20 }; // seconds
enum { FINE = 40, ACCEPTED = 41 };            // exit statuses of a call's process: some numbers that nothing else ends with

// ---- Good values ----------------------------------------------------------------------------------------------------------------------------

static const size_t good_size = 64;
static const MotusExec good_exec_value = {1, 0}, *good_exec = &good_exec_value;
static MotusFrame *good_frame, *good_out_frame, *any_frame;
static const MotusPlane *good_plane;
static MotusPlane *good_out_plane;
static MotusPlane good_planes[3], good_out_planes[3];
static MotusEncoderConfig encoder_config;
static const MotusEncoderConfig *good_encoder_config = &encoder_config;
static MotusMeConfig me_config;
static const MotusMeConfig *good_me_config = &me_config;
static MotusEqualizeConfig equalize_config;
static const MotusEqualizeConfig *good_equalize = &equalize_config;
static MotusKeyConfig key_config;
static const MotusKeyConfig *good_key = &key_config;
static MotusWaveletShape shape, any_shape;
static const MotusWaveletShape *good_shape = &shape;
static MotusCoefs coefs, out_coefs;
static const MotusCoefs *good_coefs = &coefs;
static MotusCoefs *good_out_coefs = &out_coefs;
static MotusField *good_field, *any_field;
static const MotusMeHints hints, *good_hints = &hints;
static MotusMeJob job;
static const MotusMeJob *good_job = &job;
static MotusEncoder *good_encoder, *any_encoder;
static MotusPacket *any_packet;
static const MotusFrameParams params = {.size = sizeof params}, *good_params = &params;
static MotusMe *good_me, *any_me;
static MotusEqualizer *good_equalizer, *any_equalizer;
static MotusRgbEqualizer *good_rgb_equalizer, *any_rgb_equalizer;
static MotusCudaEqualizer *any_cuda_equalizer;
static MotusCudaRgbEqualizer *any_cuda_rgb_equalizer;
static MotusCudaRing *any_ring;
static MotusError any_error;
static MotusBackend any_backend;
static int any_int;
static size_t any_size;
static void *any_pointer;
static const void *any_const_pointer;
static float *good_floats;
static int16_t *good_levels;
static uint8_t good_curves[1][256], good_bytes[256];
static uint16_t good_table[64], zero_table[64];
static uint32_t good_counts[256];
static uint8_t *good_data[3], *bad_data[3];
static ptrdiff_t good_strides[3];

static void need(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "cannot prepare %s\n", what);
    exit(1);
}

static void *memory(size_t size) {
    void *p = calloc(1, size);
    need(p != NULL, "memory");
    return p;
}

// Everything on one thread: OpenMP's threads would not live on in the processes of the calls.
static void prepare(void) {
    need(!motus_frame_alloc(&good_frame, WIDTH, HEIGHT) && !motus_frame_alloc(&good_out_frame, WIDTH, HEIGHT), "frames");
    for (int i = 0; i < 3; i++) {
        memset(good_frame->plane[i].data, 100, (size_t)(good_frame->plane[i].stride * good_frame->plane[i].height));
        good_planes[i] = good_frame->plane[0];
        good_out_planes[i] = good_out_frame->plane[0];
        good_data[i] = good_frame->plane[i].data;
        good_strides[i] = good_frame->plane[i].stride;
    }
    good_plane = &good_frame->plane[0];
    good_out_plane = &good_out_frame->plane[0];
    encoder_config = motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){25, 1});
    encoder_config.threads = 1;
    encoder_config.backend = MOTUS_BACKEND_CPU;
    me_config = motus_me_config_default(WIDTH, HEIGHT);
    me_config.threads = 1;
    me_config.range = 4;
    me_config.backend = MOTUS_BACKEND_CPU;
    equalize_config = motus_equalize_config_clahe();
    key_config = motus_key_config(0, 255, 0);
    need(!motus_wavelet_shape(&shape, WIDTH, HEIGHT, 2, MOTUS_WAVELET_SYMMETRIC), "shape");
    need(!motus_me_open(&good_me, &me_config) && !motus_field_alloc(&good_field, WIDTH, HEIGHT), "motion estimator");
    need(!motus_equalizer_open(&good_equalizer, &equalize_config, WIDTH, HEIGHT), "equalizer");
    need(!motus_rgb_equalizer_open(&good_rgb_equalizer, &equalize_config, WIDTH, HEIGHT, 0, 0), "RGB equalizer");
    job = (MotusMeJob){.cur = good_plane, .ref = good_plane, .field = good_field};
    coefs = (MotusCoefs){memory(2 * WIDTH * HEIGHT), 2 * WIDTH, WIDTH, HEIGHT};
    out_coefs = (MotusCoefs){memory(2 * WIDTH * HEIGHT), 2 * WIDTH, WIDTH, HEIGHT};
    good_floats = memory((shape.size + WIDTH * HEIGHT) * sizeof *good_floats);
    good_levels = memory((shape.size + WIDTH * HEIGHT) * sizeof *good_levels);
    for (int i = 0; i < 64; i++) good_table[i] = 16;
}

// In the call's own process: an encoder has threads, which would not live on in it.
static void prepare_encoder(void) { need(!motus_encoder_open(&good_encoder, &encoder_config, NULL), "encoder"); }

// ---- Bad values -----------------------------------------------------------------------------------------------------------------------------

static MotusPlane *bad_plane(int n) {
    static MotusPlane p;
    p = *good_out_plane;
    switch (n) {
    case 0:
        p.data = NULL;
        break;
    case 1:
        p.width = 0;
        break;
    case 2:
        p.width = -1;
        break;
    case 3:
        p.height = 0;
        break;
    case 4:
        p.height = -7;
        break;
    case 5:
        p.width = INT_MAX;
        break;
    case 6:
        p.height = INT_MAX;
        break;
    case 7:
        p.stride = 0;
        break;
    case 8:
        p.stride = 1;
        break;
    default:
        p.stride = -64;
    }
    return &p;
}

static MotusPlane *bad_planes(int n) {
    static MotusPlane p[3];
    memcpy(p, good_out_planes, sizeof p);
    p[n].data = NULL;
    return p;
}

static MotusFrame *bad_frame(int n) {
    static MotusFrame f;
    f = *good_out_frame;
    switch (n) {
    case 0:
    case 1:
    case 2:
        f.plane[n].data = NULL;
        break;
    case 3:
        f.width = f.plane[0].width = 0;
        break;
    case 4:
        f.height = -1;
        break;
    case 5:
        f.width = f.plane[0].width = INT_MAX;
        break;
    case 6:
        f.height = f.plane[0].height = INT_MAX;
        break;
    case 7:
        f.plane[0].stride = 1;
        break;
    case 8:
        f.plane[1].stride = -32;
        break;
    case 9:
        f.plane[1].width = INT_MAX;
        break;
    case 10:
        f.plane[2].height = 100000;
        break;
    default:
        f.plane[0].height = 1 << 20;
    }
    return &f;
}

static const MotusExec *bad_exec(int n) {
    static const MotusExec bad[] = {{-5, 0}, {INT_MAX, 0}, {INT_MIN, -1}};
    return &bad[n];
}

static const MotusEncoderConfig *bad_encoder_config(int n) {
    static MotusEncoderConfig c;
    c = encoder_config;
    switch (n) {
    case 0:
        c.width = 0;
        break;
    case 1:
        c.height = INT_MAX;
        break;
    case 2:
        c.width = 63;
        break;
    case 3:
        c.fps = (MotusRational){0, 0};
        break;
    case 4:
        c.fps = (MotusRational){INT_MAX, 1};
        break;
    case 5:
        c.fps = (MotusRational){1, -1};
        break;
    case 6:
        c.qp = 52;
        break;
    case 7:
        c.qp_i_offset = INT_MIN;
        break;
    case 8:
        c.keyint = -1;
        break;
    case 9:
        c.range = 129;
        break;
    case 10:
        c.subpel = (MotusSubpel)99;
        break;
    case 11:
        c.partitions = UINT32_MAX;
        break;
    case 12:
        c.preset = (MotusPreset)INT_MAX;
        break;
    case 13:
        c.threads = INT_MAX;
        break;
    case 14:
        c.threads = -1;
        break;
    case 15:
        c.backend = (MotusBackend)99;
        break;
    case 16:
        c.colour.sar = (MotusRational){1, 0};
        break;
    case 17:
        c.colour.sar = (MotusRational){-5, -7};
        break;
    case 18:
        c.colour.primaries = -1;
        break;
    case 19:
        c.colour.matrix = INT_MAX;
        break;
    case 20:
        c.colour.chroma_location = 99;
        break;
    case 21:
        c.colour.full_range = INT_MIN;
        break;
    case 22:
        c.deblock = c.aud = INT_MIN;
        break;
    default:
        memset(&c, 0xFF, sizeof c);
    }
    return &c;
}

static const MotusFrameParams *bad_params(int n) {
    static MotusFrameParams p;
    p = params;
    if (n == 0) p.size = 0;
    if (n == 1) p.size = SIZE_MAX;
    if (n == 2) p.pts = p.duration = INT64_MIN, p.force_idr = INT_MIN;
    return &p;
}

static const MotusMeConfig *bad_me_config(int n) {
    static MotusMeConfig c;
    c = me_config;
    switch (n) {
    case 0:
        c.width = 0;
        break;
    case 1:
        c.height = INT_MAX;
        break;
    case 2:
        c.width = -16;
        break;
    case 3:
        c.range = 0;
        break;
    case 4:
        c.range = INT_MAX;
        break;
    case 5:
        c.subpel = (MotusSubpel)-1;
        break;
    case 6:
        c.modes = 0;
        break;
    case 7:
        c.modes = UINT32_MAX;
        break;
    case 8:
        c.threads = -1;
        break;
    case 9:
        c.threads = INT_MAX;
        break;
    case 10:
        c.backend = (MotusBackend)-1;
        break;
    default:
        memset(&c, 0xFF, sizeof c), c.error = NULL;
    }
    return &c;
}

static const MotusEqualizeConfig *bad_equalize(int n) {
    static MotusEqualizeConfig c;
    static const int bad[] = {0, -1, INT_MAX, INT_MIN};
    c = equalize_config;
    (n < 4 ? &c.tiles_x : &c.clip_q8)[0] = bad[n % 4];
    if (n == 4) c.smooth_q8 = INT_MAX;
    return &c;
}

static const MotusKeyConfig *bad_key(int n) {
    static MotusKeyConfig c;
    c = key_config;
    int *const field[] = {&c.hue, &c.saturation, &c.value, &c.hue_range, &c.sat_range, &c.value_range, &c.soft_q8, &c.spill_q8};
    if (n < 8)
        *field[n] = n % 2 ? INT_MAX : INT_MIN;
    else
        memset(&c, n == 8 ? 0 : 0x7F, sizeof c);
    return &c;
}

static const MotusWaveletShape *bad_shape(int n) {
    static MotusWaveletShape s;
    s = shape;
    switch (n) {
    case 0:
        s.levels = 99;
        break;
    case 1:
        s.levels = 0;
        break;
    case 2:
        s.width = INT_MAX;
        break;
    case 3:
        s.height = -1;
        break;
    case 4:
        s.edge = (MotusWaveletEdge)99;
        break;
    case 5:
        s.band[0][1].offset = SIZE_MAX / 8;
        break;
    case 6:
        memset(&s, 0, sizeof s);
        break;
    default:
        memset(&s, 0x7F, sizeof s);
    }
    return &s;
}

static MotusCoefs *bad_coefs(int n) {
    static MotusCoefs c;
    c = out_coefs;
    switch (n) {
    case 0:
        c.data = NULL;
        break;
    case 1:
        c.width = 0;
        break;
    case 2:
        c.height = -8;
        break;
    case 3:
        c.width = INT_MAX;
        break;
    case 4:
        c.height = 1 << 20;
        break;
    case 5:
        c.stride = 0;
        break;
    case 6:
        c.stride = -128;
        break;
    default:
        c.width = 63;
    }
    return &c;
}

static MotusField *bad_field(int n) {
    static MotusField f;
    f = *good_field;
    switch (n) {
    case 0:
        memset(&f, 0, sizeof f);
        break;
    case 1:
        f.mv[7] = NULL;
        break;
    case 2:
        f.mb_width = 100000;
        break;
    default:
        f.n_mb = INT_MAX;
    }
    return &f;
}

static const MotusMeHints *bad_hints(int n) {
    static MotusMeHints h;
    static MotusMv wild[12];
    h = (MotusMeHints){0};
    for (int i = 0; i < 12; i++) wild[i] = (MotusMv){INT16_MIN, INT16_MAX};
    if (n == 0) h.lambda_q8 = UINT32_MAX;
    if (n == 1) h.centre = wild;
    if (n == 2) h.predictor = wild;
    if (n == 3) h.centre = h.predictor = wild, h.lambda_q8 = UINT32_MAX;
    return &h;
}

static const MotusMeJob *bad_job(int n) {
    static MotusMeJob j;
    j = job;
    switch (n) {
    case 0:
        j.cur = NULL;
        break;
    case 1:
        j.ref = NULL;
        break;
    case 2:
        j.cur = bad_plane(0);
        break;
    case 3:
        j.ref = bad_plane(5);
        break;
    case 4:
        j.memory = (MotusMemory)99;
        break;
    case 5:
        j.memory = MOTUS_MEMORY_DEVICE;
        break;
    case 6:
        j.field = NULL;
        break;
    default:
        j.hints = bad_hints(3);
    }
    return &j;
}

static const ptrdiff_t *bad_strides(int n) {
    static ptrdiff_t s[3];
    for (int i = 0; i < 3; i++) s[i] = n == 0 ? 0 : n == 1 ? -64 : 1;
    return s;
}

// ---- The calls ------------------------------------------------------------------------------------------------------------------------------

typedef struct Call {
    const char *function, *what;
    int is_status;
} Call;

// Runs call number n, or with `describe` only tells what it is. Returns -1000: there is none.
static int run(int n, int describe, Call *call) {
    int at = 0;
#define CALL(name, text, status, expression)                                                                                     \
    if (n == at++) {                                                                                                             \
        *call = (Call){name, text, status};                                                                                      \
        return describe ? 0 : expression;                                                                                        \
    }
#include "calls.inc"
    return -1000;
}

static int run_alone(int n, int *how) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        Call call;
        alarm(HANGS);
        signal(SIGABRT, SIG_DFL);
        prepare_encoder();
        _exit(run(n, 0, &call) == MOTUS_OK ? ACCEPTED : FINE);
    }
    return child > 0 && waitpid(child, how, 0) == child;
}

// A missing thing that the function needs: NULL where NULL is not one of the documented values.
static int is_refusable(const Call *call) {
    static const char *const optional[] = {"error",   "exec",   "hints",    "stream",      "params",
                                           "release", "opaque", "all NULL", "frame = NULL"};
    if (!call->is_status || !strstr(call->what, "NULL")) return 0;
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (!strncmp(call->what, optional[i], strlen(optional[i]))) return 0;
    return strcmp(call->function, "motus_me_receive") != 0; // whose field may be NULL
}

int main(int argc, char **argv) {
    int first = argc > 1 ? atoi(argv[1]) : 0,
        last = argc > 2   ? atoi(argv[2])
               : argc > 1 ? first
                          : INT_MAX,
        n = first, failures = 0;
    prepare();
    Call call;
    for (; n <= last && !run(n, 1, &call); n++) {
        int how = 0;
        if (!run_alone(n, &how)) return 1;
        int exited = WIFEXITED(how) && (WEXITSTATUS(how) == FINE || WEXITSTATUS(how) == ACCEPTED);
        int wrong = exited && is_refusable(&call) && WEXITSTATUS(how) == ACCEPTED;
        if (exited && !wrong) continue;
        failures++;
        printf("FAILED: call %d, %s, %s: %s %d\n", n, call.function, call.what,
               wrong              ? "is accepted,"
               : WIFSIGNALED(how) ? "signal"
                                  : "exits with",
               WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    }
    printf("%d calls, %d failures\n", n - first, failures);
    return failures != 0;
}
