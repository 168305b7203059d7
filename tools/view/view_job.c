// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/view.h"

#include "common/error.h"
#include "motus/encoder.h"
#include "motus/image.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"
#include "tools/media/mux.h"
#include "tools/media/png.h"

// Pictures that decide about the scale of a video.
enum { FIRST = 16 };

typedef struct Panes {
    const MotusViewJob *job;
    MotusViewInput *input[MOTUS_VIEW_PANES];
    int damaged[MOTUS_VIEW_PANES], last_damaged[MOTUS_VIEW_PANES]; // pictures; number of the last
} Panes;

// ---- Reading ------------------------------------------------------------------------------------

static MotusStatus open_panes(Panes *p, const MotusViewJob *job, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    *p = (Panes){.job = job};
    for (int i = 0; i < job->n && !status; i++)
        status = motus_view_open(&p->input[i], &job->source[i], error);
    return status;
}

// Warns of what is not drawn, and closes the sources.
static void close_panes(Panes *p, MotusStatus status) {
    for (int i = 0; i < MOTUS_VIEW_PANES; i++) {
        const char *path = p->job->source[i].path;
        if (!status && p->damaged[i] == 1)
            motus_warn("%s: picture %d is damaged; its vectors may be wrong", motus_shown(path),
                       p->last_damaged[i]);
        if (!status && p->damaged[i] > 1)
            motus_warn("%s: %d pictures are damaged; their vectors may be wrong", motus_shown(path),
                       p->damaged[i]);
        motus_view_close(&p->input[i]);
    }
}

static void free_views(MotusView *views, int n) {
    for (int i = 0; i < n; i++) motus_view_free(&views[i]);
}

// Reads picture `frame` of all sources, with the values that the style needs. Free the views in
// every case.
static MotusStatus read_views(Panes *p, int frame, MotusView *views, MotusError *error) {
    const MotusViewJob *job = p->job;
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < job->n; i++) views[i] = (MotusView){0};
    for (int i = 0; i < job->n && !status; i++) {
        MotusView *view = &views[i];
        status = motus_view_read(p->input[i], frame, view, error);
        p->damaged[i] += view->damaged;
        if (view->damaged) p->last_damaged[i] = frame;
        if (!status && !i && job->needs_stream && !view->is_stream)
            status = motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: --both: has no H.264 in it",
                                motus_shown(job->source[i].path));
        const int has_values = view->n || !job->source[i].all; // I pictures have none
        if (!status && has_values && job->style == MOTUS_VIEW_COST)
            status = motus_view_costs(view, error);
        if (!status && has_values && job->style == MOTUS_VIEW_BITS)
            status = motus_view_bits(view, error);
    }
    return status;
}

// ---- One picture --------------------------------------------------------------------------------

MotusStatus motus_view_png(const MotusViewJob *job, MotusError *error) {
    Panes panes;
    MotusView views[MOTUS_VIEW_PANES] = {{0}};
    MotusViewLayout layout;
    MotusCanvas canvas = {0};
    MotusStatus status = open_panes(&panes, job, error);
    if (!status) status = read_views(&panes, job->frame, views, error);
    if (!status)
        status = motus_view_layout(&layout, views, job->n, 1, job->style, job->zoom, job->stretch,
                                   error);
    if (!status) status = motus_view_draw(&canvas, &layout, views, error);
    if (!status) status = motus_png_write(job->output, &canvas.rgb, 3, error);
    motus_canvas_free(&canvas);
    free_views(views, MOTUS_VIEW_PANES);
    close_panes(&panes, status);
    return status;
}

// ---- A video ------------------------------------------------------------------------------------

typedef struct Video {
    const MotusViewJob *job;
    MotusViewLayout layout;
    MotusEncoder *encoder;
    MotusMux *mux;
    MotusProgress progress;
    int64_t sent;
} Video;

static MotusStatus open_video(Video *v, const Panes *panes, int format, MotusError *error) {
    v->layout.width += v->layout.width & 1;
    v->layout.height += v->layout.height & 1;
    MotusEncoderConfig config = motus_encoder_config_default(v->layout.width, v->layout.height,
                                                             motus_view_rate(panes->input[0]));
    config.rate = MOTUS_RATE_CRF;
    config.crf = 20;
    config.preset = MOTUS_PRESET_FASTER;
    config.threads = v->job->threads;
    config.stream_only = 1;
    config.colour = (MotusColour)MOTUS_COLOUR_UNKNOWN;
    config.colour.full_range = 0;
    config.colour.primaries = config.colour.transfer = config.colour.matrix = 1; // BT.709
    MotusError cause = {0};
    MotusStatus status = motus_encoder_open(&v->encoder, &config, &cause);
    if (status) return motus_fail(error, status, "%s: %s", motus_shown(v->job->output), cause.text);
    const MotusMuxSettings settings = {
        .format = (MotusFormat)format, .log = motus_print_log, .opaque = (void *)&v->job->quiet};
    size_t size;
    const uint8_t *headers = motus_encoder_headers(v->encoder, &size);
    return motus_mux_open(&v->mux, v->job->output, &settings, &config, headers, size, error);
}

// Writes the packets that are ready, or all at the end.
static MotusStatus receive(Video *v, int timeout, MotusError *error) {
    for (;;) {
        MotusPacket *packet = NULL;
        MotusStatus status = motus_encoder_receive(v->encoder, &packet, timeout);
        if (status > 0) return MOTUS_OK;
        if (status) return motus_fail(error, status, "encoder: %s", motus_status_text(status));
        status = motus_mux_picture(v->mux, packet, (MotusTime){packet->number, 1}, error);
        motus_packet_unref(&packet);
        if (status) return status;
    }
}

// Gives views of tables without pictures the video's size. MOTUS_ERR_UNSUPPORTED: a picture has
// another one.
static MotusStatus fit(const Video *v, MotusView *views, MotusError *error) {
    const MotusViewLayout *l = &v->layout;
    for (int i = 0; i < l->n; i++) {
        MotusView *view = &views[i];
        const int width = l->pane_width[i] / l->zoom, height = l->sample_height[i];
        if (view->picture.data && (view->width != width || view->height != height))
            return motus_fail(
                error, MOTUS_ERR_UNSUPPORTED, "%s: picture %d has another size, %dx%d",
                motus_shown(v->job->source[i].path), view->frame, view->width, view->height);
        view->width = width;
        view->height = height;
    }
    return MOTUS_OK;
}

static MotusStatus send(Video *v, MotusView *views, MotusError *error) {
    MotusCanvas canvas = {0};
    MotusFrame *frame = NULL;
    MotusStatus status = fit(v, views, error);
    if (!status) status = motus_view_draw(&canvas, &v->layout, views, error);
    if (status) return status;
    status = motus_frame_alloc(&frame, v->layout.width, v->layout.height);
    const MotusColour colour = MOTUS_COLOUR_BT709;
    MotusImage image;
    if (!status)
        status = motus_image_describe(&image, MOTUS_IMAGE_RGB24, v->layout.width, v->layout.height,
                                      (const void *const[3]){canvas.rgb.data},
                                      (const ptrdiff_t[3]){canvas.rgb.stride});
    if (!status) status = motus_image_convert(frame, &image, &colour, NULL);
    if (!status) status = motus_encoder_send(v->encoder, frame, NULL);
    motus_frame_unref(&frame);
    motus_canvas_free(&canvas);
    if (status) return motus_fail(error, status, "encoder: %s", motus_status_text(status));
    motus_progress_show(&v->progress, ++v->sent, "");
    return receive(v, 0, error);
}

// Sends the first pictures, and then the others as they are read.
static MotusStatus send_all(Video *v, Panes *panes, MotusView *first, int n_first,
                            MotusError *error) {
    const MotusViewJob *job = v->job;
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < n_first && !status; i++) status = send(v, first + i * job->n, error);
    while (!status && n_first == FIRST && !motus_signal_caught() &&
           (!job->frames || v->sent < job->frames)) {
        MotusView views[MOTUS_VIEW_PANES];
        status = read_views(panes, job->frame + (int)v->sent, views, error);
        if (!status) status = send(v, views, error);
        free_views(views, job->n);
    }
    if (status < 0) return status;
    motus_signals_finish();
    status = motus_encoder_send(v->encoder, NULL, NULL);
    return status ? motus_fail(error, status, "encoder: %s", motus_status_text(status))
                  : receive(v, -1, error);
}

// Reads the first pictures, which decide about the scale. Returns their number.
static int read_first(Panes *panes, MotusView *first, MotusStatus *status, MotusError *error) {
    const MotusViewJob *job = panes->job;
    int n = 0;
    const int most = job->frames && job->frames < FIRST ? job->frames : FIRST;
    for (; n < most && !motus_signal_caught(); n++) {
        *status = read_views(panes, job->frame + n, first + n * job->n, error);
        if (*status) break;
    }
    if (*status == MOTUS_END && n) *status = MOTUS_OK; // a short video
    return n;
}

MotusStatus motus_view_video(const MotusViewJob *job, int format, MotusError *error) {
    Panes panes;
    MotusView first[MOTUS_VIEW_PANES * (FIRST + 1)] = {{0}};
    Video v = {.job = job,
               .progress = motus_progress_begin(job->frames ? job->frames : -1, job->quiet)};
    int n = 0;
    MotusStatus status = open_panes(&panes, job, error);
    if (!status) n = read_first(&panes, first, &status, error);
    if (!status && !n)
        status = motus_fail(error, MOTUS_END, "interrupted before the first picture");
    if (!status)
        status = motus_view_layout(&v.layout, first, job->n, n, job->style, job->zoom, job->stretch,
                                   error);
    if (!status) status = open_video(&v, &panes, format, error);
    if (!status) status = send_all(&v, &panes, first, n, error);
    motus_progress_end(&v.progress);
    if (!status) status = motus_mux_commit(&v.mux, 0, error);
    motus_mux_abandon(&v.mux);
    motus_encoder_close(&v.encoder);
    free_views(first, MOTUS_VIEW_PANES * (FIRST + 1));
    close_panes(&panes, status);
    return status;
}
