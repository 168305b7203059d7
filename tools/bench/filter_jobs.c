// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench/filter_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

// Contents of a buffer.
typedef enum Contents { NOTHING, SAMPLES, LEVELS, RGB, FRAME, FLOATS, HALVES } Contents;

static const struct {
    const char *name;
    Contents in, out, scratch;
    int pictures;            // in `in`
    double moved_per_sample; // bytes
} kinds[JOB_KINDS] = {
    [JOB_DCT] = {"DCT + quantization", SAMPLES, LEVELS, NOTHING, 1, 3},
    [JOB_DCT_INTEGER] = {"DCT, integer", SAMPLES, LEVELS, NOTHING, 1, 3},
    [JOB_IDCT] = {"inverse DCT", LEVELS, SAMPLES, NOTHING, 1, 3},
    [JOB_DCT_ROUND] = {"DCT round trip", SAMPLES, SAMPLES, LEVELS, 1, 6},
    [JOB_EQUALIZE] = {"equalization", SAMPLES, SAMPLES, NOTHING, 1, 3},
    [JOB_CLAHE] = {"CLAHE 8x8", SAMPLES, SAMPLES, NOTHING, 1, 3},
    [JOB_KEY_RGB] = {"key RGB24", RGB, RGB, NOTHING, 2, 9},
    [JOB_KEY_RGB_SOFT] = {"key RGB24, soft", RGB, RGB, NOTHING, 2, 9},
    [JOB_KEY_YUV] = {"key 4:2:0", FRAME, FRAME, NOTHING, 2, 4.5},
    [JOB_KEY_YUV_SOFT] = {"key 4:2:0, soft", FRAME, FRAME, NOTHING, 2, 4.5},
    [JOB_WAVELET] = {"wavelet, floats", SAMPLES, FLOATS, NOTHING, 1, 0},
    [JOB_WAVELET_LEVELS] = {"wavelet, int16", SAMPLES, HALVES, FLOATS, 1, 6},
    [JOB_IWAVELET] = {"inverse wavelet", FLOATS, SAMPLES, NOTHING, 1, 0},
};

static int round_up(int n, int unit) { return (n + unit - 1) / unit * unit; }

MotusPlane motus_filter_job_plane(const void *data, int width, int height) {
    return (MotusPlane){(uint8_t *)(uintptr_t)data, round_up(width, 16), width, height};
}

MotusCoefs motus_filter_job_coefs(const MotusFilterJob *job, const void *data) {
    int width = round_up(job->width, 8), height = round_up(job->height, 8);
    return (MotusCoefs){(int16_t *)(uintptr_t)data, round_up(2 * width, 16), width, height};
}

static MotusFrame frame_at(const MotusFilterJob *job, const void *data) {
    MotusFrame f = {.width = job->width, .height = job->height};
    const uint8_t *p = data;
    for (int k = 0; k < 3; k++) {
        f.plane[k] = motus_filter_job_plane(p, k ? (job->width + 1) / 2 : job->width,
                                            k ? (job->height + 1) / 2 : job->height);
        p += f.plane[k].stride * f.plane[k].height;
    }
    return f;
}

static size_t bytes_of(const MotusFilterJob *job, Contents contents) {
    const size_t width = (size_t)job->width, height = (size_t)job->height,
                 half = (size_t)round_up((job->width + 1) / 2, 16) * ((height + 1) / 2),
                 samples = (size_t)round_up(job->width, 16) * height;
    const MotusCoefs coefs = motus_filter_job_coefs(job, NULL);
    switch (contents) {
    case SAMPLES:
        return samples;
    case RGB:
        return (size_t)round_up((int)(3 * width), 16) * height;
    case FRAME:
        return samples + 2 * half;
    case LEVELS:
        return (size_t)coefs.stride * (size_t)coefs.height;
    case FLOATS:
        return 4 * job->shape.size;
    case HALVES:
        return 2 * job->shape.size;
    default:
        return 0;
    }
}

void motus_filter_job_init(MotusFilterJob *job, MotusFilterJobKind kind, int width, int height) {
    *job = (MotusFilterJob){.kind = kind,
                            .name = kinds[kind].name,
                            .width = width,
                            .height = height,
                            .is_rgb = kinds[kind].in == RGB,
                            .key = motus_key_config(40, 200, 60),
                            .equalize = MOTUS_EQUALIZE_PLANE,
                            .moved_bytes = kinds[kind].moved_per_sample * width * height};
    motus_dct8_quality(job->table, motus_jpeg_luma_table, 75);
    if (kind == JOB_CLAHE) job->equalize = (MotusEqualizeConfig)MOTUS_EQUALIZE_CLAHE;
    if (kind == JOB_KEY_RGB_SOFT || kind == JOB_KEY_YUV_SOFT)
        job->key.soft_q8 = 96, job->key.spill_q8 = 200;
    if (kind >= JOB_WAVELET &&
        !motus_wavelet_shape(&job->shape, width, height, 3, MOTUS_WAVELET_PERIODIC))
        for (int l = 0; l < job->shape.levels; l++)
            job->moved_bytes +=
                (double)job->shape.in_width[l] * job->shape.in_height[l] * (l ? 8 : 5);
    job->in_bytes = (size_t)kinds[kind].pictures * bytes_of(job, kinds[kind].in);
    job->out_bytes = bytes_of(job, kinds[kind].out);
    job->scratch_bytes = bytes_of(job, kinds[kind].scratch);
}

// Where a job runs, and what the calls there need.
typedef struct JobExecutor {
    int cuda;
    const MotusExec *exec;         // CPU
    MotusCudaEqualizer *equalizer; // CUDA; NULL: the job needs none
    void *stream;
    MotusError *error;
} JobExecutor;

static MotusStatus equalize(const JobExecutor *e, const MotusFilterJob *job, MotusPlane *dst,
                            const MotusPlane *src) {
    if (e->cuda) return motus_cuda_equalizer_run(e->equalizer, dst, src, e->stream, e->error);
    MotusEqualizer *equalizer;
    MotusStatus status = motus_equalizer_open(&equalizer, &job->equalize, job->width, job->height);
    if (!status) status = motus_equalizer_run(equalizer, dst, src, e->exec);
    motus_equalizer_close(&equalizer);
    return status;
}

static MotusStatus forward(const JobExecutor *e, const MotusFilterJob *job, MotusCoefs *to,
                           const MotusPlane *src) {
    const MotusDct8Kind kind = job->kind == JOB_DCT_INTEGER ? MOTUS_DCT8_INTEGER : MOTUS_DCT8_FLOAT;
    return e->cuda ? motus_cuda_dct8_forward(to, src, job->table, kind, e->stream, e->error)
                   : motus_dct8_forward(to, src, job->table, kind, e->exec);
}

static MotusStatus inverse(const JobExecutor *e, const MotusFilterJob *job, MotusPlane *dst,
                           const MotusCoefs *from) {
    const MotusDct8Kind kind = MOTUS_DCT8_FLOAT;
    return e->cuda ? motus_cuda_dct8_inverse(dst, from, job->table, kind, e->stream, e->error)
                   : motus_dct8_inverse(dst, from, job->table, kind, e->exec);
}

static MotusStatus key_rgb(const JobExecutor *e, const MotusFilterJob *job, const void *in,
                           void *out) {
    MotusPlane fg = motus_filter_job_plane(in, 3 * job->width, job->height), bg = fg,
               mix = motus_filter_job_plane(out, 3 * job->width, job->height);
    bg.data += job->in_bytes / 2;
    return e->cuda ? motus_cuda_key_rgb24(&mix, &fg, &bg, &job->key, e->stream, e->error)
                   : motus_key_rgb24(&mix, &fg, &bg, &job->key, e->exec);
}

static MotusStatus key_yuv(const JobExecutor *e, const MotusFilterJob *job, const void *in,
                           void *out) {
    MotusFrame fg = frame_at(job, in), bg = frame_at(job, (const uint8_t *)in + job->in_bytes / 2),
               mix = frame_at(job, out);
    return e->cuda ? motus_cuda_key_frame(&mix, &fg, &bg, &job->key, e->stream, e->error)
                   : motus_key_frame(&mix, &fg, &bg, &job->key, e->exec);
}

static MotusStatus wavelet(const JobExecutor *e, const MotusFilterJob *job, float *out,
                           const MotusPlane *src) {
    return e->cuda ? motus_cuda_wavelet_forward(out, src, &job->shape, e->stream, e->error)
                   : motus_wavelet_forward(out, src, &job->shape, e->exec);
}

static MotusStatus quantize(const JobExecutor *e, const MotusFilterJob *job, int16_t *out,
                            const float *in) {
    if (e->cuda)
        return motus_cuda_wavelet_quantize(out, in, &job->shape, 4.0f, e->stream, e->error);
    motus_wavelet_quantize(out, in, &job->shape, 4.0f, e->exec);
    return MOTUS_OK;
}

static MotusStatus inverse_wavelet(const JobExecutor *e, const MotusFilterJob *job, MotusPlane *dst,
                                   float *in) {
    return e->cuda ? motus_cuda_wavelet_inverse_plane(dst, in, &job->shape, e->stream, e->error)
                   : motus_wavelet_inverse_plane(dst, in, &job->shape, e->exec);
}

static MotusStatus run(const JobExecutor *e, const MotusFilterJob *job, const void *in, void *out,
                       void *scratch) {
    MotusPlane src = motus_filter_job_plane(in, job->width, job->height),
               dst = motus_filter_job_plane(out, job->width, job->height);
    MotusCoefs from = motus_filter_job_coefs(job, in), to = motus_filter_job_coefs(job, out),
               between = motus_filter_job_coefs(job, scratch);
    MotusStatus status;
    switch (job->kind) {
    case JOB_DCT:
    case JOB_DCT_INTEGER:
        return forward(e, job, &to, &src);
    case JOB_IDCT:
        return inverse(e, job, &dst, &from);
    case JOB_DCT_ROUND:
        status = forward(e, job, &between, &src);
        return status ? status : inverse(e, job, &dst, &between);
    case JOB_EQUALIZE:
    case JOB_CLAHE:
        return equalize(e, job, &dst, &src);
    case JOB_KEY_RGB:
    case JOB_KEY_RGB_SOFT:
        return key_rgb(e, job, in, out);
    case JOB_KEY_YUV:
    case JOB_KEY_YUV_SOFT:
        return key_yuv(e, job, in, out);
    case JOB_WAVELET:
        return wavelet(e, job, out, &src);
    case JOB_WAVELET_LEVELS:
        status = wavelet(e, job, scratch, &src);
        return status ? status : quantize(e, job, out, scratch);
    case JOB_IWAVELET:
        return inverse_wavelet(e, job, &dst, (float *)(uintptr_t)in);
    default:
        return MOTUS_ERR_ARGUMENT;
    }
}

MotusStatus motus_filter_job_run(const MotusFilterJob *job, const void *in, void *out,
                                 void *scratch, const MotusExec *exec) {
    return run(&(JobExecutor){.exec = exec}, job, in, out, scratch);
}

MotusStatus motus_filter_job_launch(const MotusFilterJob *job, const void *in, void *out,
                                    void *scratch, MotusCudaEqualizer *equalizer, void *stream,
                                    MotusError *error) {
    const JobExecutor e = {.cuda = 1, .equalizer = equalizer, .stream = stream, .error = error};
    return run(&e, job, in, out, scratch);
}

// Fills in smooth shapes under noise; a third of them near the key's colour if read as RGB.
static void fill_samples(uint8_t *p, size_t n, size_t row) {
    uint32_t state = 2463534242u;
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        size_t x = i % row, y = i / row;
        static const uint8_t key[3] = {40, 200, 60};
        int green = (x / 300 + y / 100) % 3 == 0,
            base = green ? key[x % 3] : (int)((x / 9 + y / 5 + x * y / 4096) & 127) + 40;
        p[i] = (uint8_t)(base + (int)(state >> 27));
    }
}

void motus_filter_job_fill(const MotusFilterJob *job, void *in) {
    if (job->kind != JOB_IDCT && job->kind != JOB_IWAVELET) {
        fill_samples(in, job->in_bytes, (size_t)(job->is_rgb ? 3 * job->width : job->width));
        return;
    }
    MotusFilterJob forward;
    motus_filter_job_init(&forward, job->kind == JOB_IDCT ? JOB_DCT : JOB_WAVELET, job->width,
                          job->height);
    uint8_t *samples = motus_alloc(forward.in_bytes, 1);
    if (samples) {
        motus_filter_job_fill(&forward, samples);
        motus_filter_job_run(&forward, samples, in, NULL, NULL);
    }
    motus_free(samples);
}

// Gets the planes of an output. Returns their number.
static int planes_of(const MotusFilterJob *job, const void *data, MotusPlane plane[3]) {
    const MotusFrame frame = frame_at(job, data);
    const MotusCoefs coefs = motus_filter_job_coefs(job, data);
    switch (kinds[job->kind].out) {
    case FRAME:
        for (int k = 0; k < 3; k++) plane[k] = frame.plane[k];
        return 3;
    case LEVELS:
        plane[0] = (MotusPlane){(uint8_t *)coefs.data, coefs.stride, 2 * coefs.width, coefs.height};
        return 1;
    case FLOATS:
    case HALVES: // one array without rows
        return 0;
    default:
        plane[0] =
            motus_filter_job_plane(data, job->is_rgb ? 3 * job->width : job->width, job->height);
        return 1;
    }
}

int motus_filter_job_same(const MotusFilterJob *job, const void *a, const void *b) {
    MotusPlane p[3], q[3];
    const int n = planes_of(job, a, p);
    planes_of(job, b, q);
    if (!n) return !memcmp(a, b, job->out_bytes);
    for (int k = 0; k < n; k++)
        for (int y = 0; y < p[k].height; y++)
            if (memcmp(p[k].data + y * p[k].stride, q[k].data + y * q[k].stride,
                       (size_t)p[k].width))
                return 0;
    return 1;
}

double motus_filter_job_distance(const MotusFilterJob *job, const void *a, const void *b) {
    const int levels = kinds[job->kind].out == LEVELS,
              width = job->is_rgb ? 3 * job->width : job->width;
    MotusPlane p[3], q[3];
    double sum = 0;
    if (!planes_of(job, a, p) || !planes_of(job, b, q)) return 0;
    for (int y = 0; y < job->height; y++) {
        const uint8_t *v = p[0].data + y * p[0].stride, *w = q[0].data + y * q[0].stride;
        for (int x = 0; x < width; x++)
            sum +=
                levels ? abs(((const int16_t *)v)[x] - ((const int16_t *)w)[x]) : abs(v[x] - w[x]);
    }
    return sum / ((double)width * job->height);
}
