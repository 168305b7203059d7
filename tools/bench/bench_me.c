// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "motus/me.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/cli/system.h"
#include "tools/x264/programs.h"

// Frames per second: of the median time and of the shortest.
typedef struct SearchRate {
    double median, best;
} SearchRate;

// Searches each frame in the one before, in turn.
static MotusStatus time_search(const MotusBench *b, MotusSubpel subpel, SearchRate *rate,
                               MotusError *error) {
    const MotusBenchClip *clip = b->clip;
    MotusMeConfig config = motus_me_config_default(clip->width, clip->height);
    config.range = b->range;
    config.threads = b->threads;
    config.subpel = subpel;
    config.backend = b->backend;
    MotusMe *me = NULL;
    MotusField *field = NULL;
    double *seconds = motus_alloc((size_t)clip->n, sizeof *seconds);
    MotusStatus status = seconds ? motus_me_open(&me, &config) : MOTUS_ERR_MEMORY;
    if (!status) status = motus_field_alloc(&field, clip->width, clip->height);
    for (int i = 0; !status && i < clip->n; i++) { // 0 warms up, with the last two frames
        int cur = i ? i : clip->n - 1;
        double start = motus_seconds();
        status = motus_me_search(me, &clip->frame[cur]->plane[0], &clip->frame[cur - 1]->plane[0],
                                 NULL, field);
        if (i) seconds[i - 1] = motus_seconds() - start;
    }
    if (!status) rate->median = 1 / motus_median_of(seconds, clip->n - 1); // sorts
    if (!status) rate->best = 1 / seconds[0];
    motus_field_free(&field);
    motus_me_close(&me);
    motus_free(seconds);
    return status ? motus_fail(error, status, "search: %s", motus_status_text(status)) : MOTUS_OK;
}

static void report_search(const MotusBench *b, const char *name, SearchRate rate) {
    const int points = (2 * b->range + 1) * (2 * b->range + 1);
    const double mb_points =
        (double)motus_mbs(b->clip->width) * motus_mbs(b->clip->height) * points * rate.median;
    cJSON *object = cJSON_AddObjectToObject(b->report, name);
    cJSON_AddNumberToObject(object, "fps_median", rate.median);
    cJSON_AddNumberToObject(object, "fps_best", rate.best);
    cJSON_AddNumberToObject(object, "mb_points_per_second", mb_points);
    if (b->print)
        printf("%-10s %.1f frames/s (best %.1f), %.1f M MB*points/s; R=%d, %d points, 41 blocks\n",
               name, rate.median, rate.best, 1e-6 * mb_points, b->range, points);
}

static void report_ffmpeg(const MotusBench *b, double full_fps) {
    double fps = 0;
    MotusError error = {0};
    if (motus_ffmpeg_search(b->clip->frame, motus_min(10, b->clip->n), b->range, &fps, &error)) {
        motus_warn("%s", error.text);
        return;
    }
    cJSON_AddNumberToObject(b->report, "mestimate_fps", fps);
    cJSON_AddNumberToObject(b->report, "ratio", fps > 0 ? full_fps / fps : 0);
    if (b->print && fps > 0)
        printf("%-10s %.2f frames/s of two directions each (mestimate=method=esa, 16x16 only, "
               "1 thread)\n"
               "ratio      %.1f frame for frame, %.1f field for field\n",
               "ffmpeg", fps, full_fps / fps, full_fps / fps / 2);
}

MotusStatus motus_bench_me(const MotusBench *b, int peers, int upload, MotusError *error) {
    SearchRate full = {0}, quarter = {0}, best = {0};
    MotusStatus status = time_search(b, MOTUS_SUBPEL_FULL, &full, error);
    if (!status) status = time_search(b, MOTUS_SUBPEL_QUARTER, &quarter, error);
    if (!status) status = time_search(b, MOTUS_SUBPEL_BEST, &best, error);
    if (status) return status;
    report_search(b, "full", full);
    report_search(b, "quarter", quarter);
    report_search(b, "best", best);
    fflush(stdout);
    if (peers) report_ffmpeg(b, full.median);
#ifdef MOTUS_HAVE_CUDA
    if (b->backend == MOTUS_BACKEND_CUDA) status = motus_bench_me_cuda(b, upload, error);
#else
    (void)upload;
#endif
    return status;
}
