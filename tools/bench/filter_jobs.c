// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench/filter_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

static int round_up(int n, int unit) { return (n + unit - 1) / unit * unit; }

const char *motus_filter_job_name(MotusFilterJobKind kind) {
    static const char *const names[JOB_KINDS] = {
        "DCT + quantization", "DCT, integer",    "inverse DCT",     "DCT round trip",
        "equalization",       "CLAHE 8x8",       "key RGB24",       "key RGB24, soft",
        "key 4:2:0",          "key 4:2:0, soft", "wavelet, floats", "wavelet, int16",
        "inverse wavelet"};
    return (unsigned)kind < JOB_KINDS ? names[kind] : "?";
}

static int is_rgb(const MotusFilterJob *job) {
    return job->kind == JOB_KEY_RGB || job->kind == JOB_KEY_RGB_SOFT;
}

MotusPlane motus_filter_job_plane(const void *data, int width, int height) {
    return (MotusPlane){(uint8_t *)(uintptr_t)data, round_up(width, 16), width, height};
}

static size_t plane_bytes(int width, int height) {
    return (size_t)round_up(width, 16) * (size_t)height;
}

MotusCoefs motus_filter_job_coefs(const MotusFilterJob *job, const void *data) {
    int width = round_up(job->width, 8), height = round_up(job->height, 8);
    return (MotusCoefs){(int16_t *)(uintptr_t)data, round_up(2 * width, 16), width, height};
}

static size_t coefs_bytes(const MotusFilterJob *job) {
    MotusCoefs c = motus_filter_job_coefs(job, NULL);
    return (size_t)c.stride * (size_t)c.height;
}

static MotusFrame frame_at(const MotusFilterJob *job, const void *data) {
    MotusFrame f = {.width = job->width, .height = job->height};
    const uint8_t *p = data;
    for (int k = 0; k < 3; k++) {
        f.plane[k] = motus_filter_job_plane(p, k ? (job->width + 1) / 2 : job->width,
                                            k ? (job->height + 1) / 2 : job->height);
        p += plane_bytes(f.plane[k].width, f.plane[k].height);
    }
    return f;
}

static size_t frame_bytes(const MotusFilterJob *job) {
    return plane_bytes(job->width, job->height) +
           2 * plane_bytes((job->width + 1) / 2, (job->height + 1) / 2);
}

static double wavelet_moves(const MotusWaveletShape *shape) {
    double bytes = 0;
    for (int l = 0; l < shape->levels; l++) {
        double n = (double)shape->in_width[l] * shape->in_height[l];
        bytes += n * (l ? 8 : 5);
    }
    return bytes;
}

void motus_filter_job_init(MotusFilterJob *job, MotusFilterJobKind kind, int width, int height) {
    *job = (MotusFilterJob){.kind = kind, .width = width, .height = height};
    size_t plane = plane_bytes(width, height), rgb = plane_bytes(3 * width, height), floats = 0;
    double samples = (double)width * height;
    motus_dct8_quality(job->table, motus_jpeg_luma_table, 75);
    job->key = motus_key_config(40, 200, 60);
    if (kind == JOB_KEY_RGB_SOFT || kind == JOB_KEY_YUV_SOFT)
        job->key.soft_q8 = 96, job->key.spill_q8 = 200;
    if (kind >= JOB_WAVELET &&
        !motus_wavelet_shape(&job->shape, width, height, 3, MOTUS_WAVELET_PERIODIC))
        floats = 4 * job->shape.size;
    job->in_bytes = job->out_bytes = plane;
    switch (kind) {
    case JOB_DCT:
    case JOB_DCT_INTEGER:
        job->out_bytes = coefs_bytes(job), job->moved_bytes = 3 * samples;
        break;
    case JOB_IDCT:
        job->in_bytes = coefs_bytes(job), job->moved_bytes = 3 * samples;
        break;
    case JOB_DCT_ROUND:
        job->scratch_bytes = coefs_bytes(job), job->moved_bytes = 6 * samples;
        break;
    case JOB_KEY_RGB:
    case JOB_KEY_RGB_SOFT:
        job->in_bytes = 2 * rgb, job->out_bytes = rgb, job->moved_bytes = 9 * samples;
        break;
    case JOB_KEY_YUV:
    case JOB_KEY_YUV_SOFT:
        job->in_bytes = 2 * frame_bytes(job), job->out_bytes = frame_bytes(job),
        job->moved_bytes = 4.5 * samples;
        break;
    case JOB_WAVELET:
        job->out_bytes = floats, job->moved_bytes = wavelet_moves(&job->shape);
        break;
    case JOB_WAVELET_LEVELS:
        job->out_bytes = floats / 2, job->scratch_bytes = floats,
        job->moved_bytes = wavelet_moves(&job->shape) + 6 * samples;
        break;
    case JOB_IWAVELET:
        job->in_bytes = floats, job->moved_bytes = wavelet_moves(&job->shape);
        break;
    default:
        job->moved_bytes = 3 * samples;
        break;
    }
}

MotusEqualizeConfig motus_filter_job_equalize_config(MotusFilterJobKind kind) {
    return kind == JOB_CLAHE ? (MotusEqualizeConfig)MOTUS_EQUALIZE_CLAHE
                             : (MotusEqualizeConfig)MOTUS_EQUALIZE_PLANE;
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
    MotusEqualizeConfig config = motus_filter_job_equalize_config(job->kind);
    MotusStatus status = motus_equalizer_open(&equalizer, &config, job->width, job->height);
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
        fill_samples(in, job->in_bytes, (size_t)(is_rgb(job) ? 3 * job->width : job->width));
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

static int same_planes(const MotusPlane *a, const MotusPlane *b) {
    for (int y = 0; y < a->height; y++)
        if (memcmp(a->data + y * a->stride, b->data + y * b->stride, (size_t)a->width)) return 0;
    return 1;
}

int motus_filter_job_same(const MotusFilterJob *job, const void *a, const void *b) {
    if (job->kind == JOB_KEY_YUV || job->kind == JOB_KEY_YUV_SOFT) {
        MotusFrame f = frame_at(job, a), g = frame_at(job, b);
        return same_planes(&f.plane[0], &g.plane[0]) && same_planes(&f.plane[1], &g.plane[1]) &&
               same_planes(&f.plane[2], &g.plane[2]);
    }
    if (job->out_bytes != plane_bytes(job->width, job->height) && !is_rgb(job))
        return !memcmp(a, b, job->out_bytes);
    const int width = is_rgb(job) ? 3 * job->width : job->width;
    MotusPlane p = motus_filter_job_plane(a, width, job->height),
               q = motus_filter_job_plane(b, width, job->height);
    return same_planes(&p, &q);
}

double motus_filter_job_distance(const MotusFilterJob *job, const void *a, const void *b) {
    const int levels = job->kind == JOB_DCT || job->kind == JOB_DCT_INTEGER,
              width = is_rgb(job) ? 3 * job->width : job->width;
    const ptrdiff_t stride = levels ? motus_filter_job_coefs(job, a).stride
                                    : motus_filter_job_plane(a, width, job->height).stride;
    const uint8_t *p = a, *q = b;
    double sum = 0;
    for (int y = 0; y < job->height; y++, p += stride, q += stride)
        for (int x = 0; x < width; x++)
            sum +=
                levels ? abs(((const int16_t *)p)[x] - ((const int16_t *)q)[x]) : abs(p[x] - q[x]);
    return sum / ((double)width * job->height);
}
