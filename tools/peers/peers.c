// SPDX-License-Identifier: BSD-2-Clause
#include "tools/peers/peers.h"

#include <stdio.h>

#include "common/error.h"
#include "tools/cli/spawn.h"
#include "tools/cli/system.h"
#include "yuv/io/writer.h"

static MotusStatus write_clip(const MotusBenchClip *clip, int frames, const char *path,
                              MotusError *error) {
    const MotusSequenceInfo info = {.width = clip->width,
                                    .height = clip->height,
                                    .fps = clip->fps,
                                    .colour = MOTUS_COLOUR_UNKNOWN};
    MotusWriter *writer = NULL;
    MotusStatus status = motus_writer_open(&writer, path, &info, error);
    for (int i = 0; !status && i < frames; i++)
        status = motus_writer_put(writer, clip->frame[i], error);
    if (!status) status = motus_writer_commit(&writer, error);
    motus_writer_abandon(&writer);
    return status;
}

MotusStatus motus_peer_folder_make(MotusWorkFolder *folder, const MotusBenchClip *clip, int frames,
                                   MotusError *error) {
    MotusStatus status = motus_work_folder_make(folder, error);
    if (!status) status = write_clip(clip, frames, folder->clip, error);
    if (status) motus_work_folder_remove(folder);
    return status;
}

// Seconds that ffmpeg takes over the file with this filter.
static MotusStatus time_filter(const char *path, const char *filter, double *seconds,
                               MotusError *error) {
    char *const argv[] = {"ffmpeg",          "-v", "error", "-threads",   "1",
                          "-filter_threads", "1",  "-i",    (char *)path, "-vf",
                          (char *)filter,    "-f", "null",  "-",          NULL};
    double start = motus_seconds();
    int status = motus_spawn(argv, NULL);
    *seconds = motus_seconds() - start;
    if (!status) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      status == 127 ? "ffmpeg: not found on the PATH"
                                    : "ffmpeg: failed (filter mestimate)");
}

MotusStatus motus_peer_mestimate(const MotusBenchClip *clip, int frames, int range, double *fps,
                                 MotusError *error) {
    char filter[64];
    MotusWorkFolder folder = {0};
    snprintf(filter, sizeof filter, "mestimate=method=esa:search_param=%d", range);
    if (frames > clip->n) frames = clip->n;
    double with = 0, without = 0; // the time to start and to read the file is taken off
    MotusStatus status = motus_peer_folder_make(&folder, clip, frames, error);
    if (!status) status = time_filter(folder.clip, "null", &without, error);
    if (!status) status = time_filter(folder.clip, filter, &with, error);
    if (!status) *fps = with > without ? frames / (with - without) : 0;
    motus_work_folder_remove(&folder);
    return status;
}
