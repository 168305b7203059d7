// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/run.h"

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/signals.h"

static void add_picture(MotusOurStream *out, const MotusPacket *p, const MotusCompareClip *clip) {
    const MotusPictureStats *s = &p->stats;
    motus_bytes_add(&out->stream, p->data, p->size);
    out->bits.header += s->bits_header;
    out->bits.mode += s->bits_mode;
    out->bits.mv += s->bits_mv;
    out->bits.residual += s->bits_luma + s->bits_chroma;
    out->luma_ssd += s->ssd[0];
    if (p->number < clip->frames) out->frame_ssd[p->number] = s->ssd[0];
    out->ssim +=
        motus_plane_ssim(&p->source->plane[0], &p->recon->plane[0], clip->width, clip->height);
    out->frames++;
}

// Seconds on the clock and of this thread.
typedef struct Clock {
    double elapsed, thread;
} Clock;

static Clock now(void) { return (Clock){motus_seconds(), motus_thread_seconds()}; }

// Adds the time since `start`.
static void add_since(Clock *sum, Clock start) {
    const Clock end = now();
    sum->elapsed += end.elapsed - start.elapsed;
    sum->thread += end.thread - start.thread;
}

// Sends a frame (NULL: the end) and takes all packets. Adds the time in the encoder to *inside.
static MotusStatus code(MotusEncoder *encoder, const MotusFrame *frame,
                        const MotusCompareClip *clip, MotusOurStream *out, Clock *inside) {
    Clock start = now();
    MotusStatus status = motus_encoder_send(encoder, frame, NULL);
    while (!status) {
        MotusPacket *packet = NULL;
        status = motus_encoder_receive(encoder, &packet, -1);
        add_since(inside, start);
        if (!status) add_picture(out, packet, clip);
        motus_packet_unref(&packet);
        start = now();
    }
    return status > 0 ? MOTUS_OK : status;
}

static MotusStatus code_all(MotusEncoder *encoder, const MotusCompareClip *clip,
                            MotusClipFrames *frames, MotusOurProgress *progress, void *opaque,
                            MotusOurStream *out, Clock *inside, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int n = 0; !status && n <= clip->frames; n++) {
        const MotusFrame *frame = NULL;
        if (motus_signal_caught()) return motus_fail(error, MOTUS_END, "interrupted");
        if (n < clip->frames && (status = motus_clip_frames_next(frames, n, &frame, error)))
            return status;
        if ((status = code(encoder, frame, clip, out, inside)))
            motus_fail(error, status, "encoder: %s", motus_status_text(status));
        if (progress) progress(opaque, out->frames);
    }
    if (!status && out->stream.failed)
        status = motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    return status;
}

MotusStatus motus_our_encode(const MotusEncoderConfig *config, const MotusCompareClip *clip,
                             MotusOurProgress *progress, void *opaque, MotusOurStream *out,
                             MotusError *error) {
    *out = (MotusOurStream){0};
    MotusEncoder *encoder = NULL;
    MotusClipFrames frames = {0};
    MotusStatus status = motus_clip_frames_open(&frames, clip, error);
    out->frame_ssd = motus_alloc((size_t)clip->frames, sizeof *out->frame_ssd);
    if (!status && !out->frame_ssd) status = motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    const Clock start = now();
    const double processor = motus_processor_seconds();
    Clock inside = {0};
    if (!status) status = motus_encoder_open(&encoder, config, error);
    add_since(&inside, start);
    out->on_gpu = !status && motus_encoder_backend(encoder) == MOTUS_BACKEND_CUDA;
    if (!status) status = code_all(encoder, clip, &frames, progress, opaque, out, &inside, error);
    // All threads of the encoder count, but not what this thread does between calls.
    out->times =
        (MotusTimes){inside.elapsed, motus_processor_seconds() - processor -
                                         (motus_thread_seconds() - start.thread) + inside.thread};
    motus_encoder_close(&encoder);
    motus_clip_frames_close(&frames);
    return status;
}

void motus_our_stream_free(MotusOurStream *out) {
    motus_bytes_free(&out->stream);
    motus_free(out->frame_ssd);
    *out = (MotusOurStream){0};
}
