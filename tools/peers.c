// SPDX-License-Identifier: BSD-2-Clause
#include "tools/peers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "tools/spawn.h"
#include "tools/system.h"
#include "yuv/writer.h"

static MotusStatus write_clip(const MotusClip *clip, int frames, const char *path, MotusError *error) {
    const MotusSequenceInfo info = {
        .width = clip->width, .height = clip->height, .fps = clip->fps, .colour = MOTUS_COLOUR_UNKNOWN};
    MotusWriter *writer = NULL;
    MotusStatus status = motus_writer_open(&writer, path, &info, error);
    for (int i = 0; !status && i < frames; i++) status = motus_writer_put(writer, clip->frame[i], error);
    if (!status) status = motus_writer_commit(&writer, error);
    motus_writer_abandon(&writer);
    return status;
}

MotusStatus motus_peer_folder_make(MotusPeerFolder *folder, const MotusClip *clip, int frames, MotusError *error) {
    const char *temporary = getenv("TMPDIR");
    MotusPeerFolder f = {0};
    snprintf(f.path, sizeof f.path, "%s/motus-bench-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(f.path)) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(f.path), strerror(errno));
    snprintf(f.clip, sizeof f.clip, "%s/clip.y4m", f.path);
    snprintf(f.out, sizeof f.out, "%s/out.264", f.path);
    snprintf(f.log, sizeof f.log, "%s/log", f.path);
    MotusStatus status = write_clip(clip, frames, f.clip, error);
    if (status) motus_peer_folder_remove(&f);
    *folder = f;
    return status;
}

void motus_peer_folder_remove(MotusPeerFolder *folder) {
    if (!*folder->path) return;
    unlink(folder->clip);
    unlink(folder->out);
    unlink(folder->log);
    rmdir(folder->path);
    *folder = (MotusPeerFolder){0};
}

// Seconds that ffmpeg takes over the file with this filter.
static MotusStatus time_filter(const char *path, const char *filter, double *seconds, MotusError *error) {
    char *const argv[] = {"ffmpeg",       "-v", "error", "-threads", "1", "-filter_threads", "1", "-i", (char *)path, "-vf",
                          (char *)filter, "-f", "null",  "-",        NULL};
    double start = motus_seconds();
    int status = motus_spawn(argv, NULL);
    *seconds = motus_seconds() - start;
    if (!status) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      status == 127 ? "ffmpeg: not found on the PATH" : "ffmpeg: failed (filter mestimate)");
}

MotusStatus motus_peer_mestimate(const MotusClip *clip, int frames, int range, double *fps, MotusError *error) {
    char filter[64];
    MotusPeerFolder folder = {0};
    snprintf(filter, sizeof filter, "mestimate=method=esa:search_param=%d", range);
    if (frames > clip->n) frames = clip->n;
    double with = 0, without = 0; // the time to start and to read the file is taken off
    MotusStatus status = motus_peer_folder_make(&folder, clip, frames, error);
    if (!status) status = time_filter(folder.clip, "null", &without, error);
    if (!status) status = time_filter(folder.clip, filter, &with, error);
    if (!status) *fps = with > without ? frames / (with - without) : 0;
    motus_peer_folder_remove(&folder);
    return status;
}
