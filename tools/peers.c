// SPDX-License-Identifier: BSD-2-Clause
#include "tools/peers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "tools/system.h"
#include "yuv/writer.h"

// Runs a program, its output thrown away; returns its exit status, 127 where it could not be started.
static int run_program(char *const argv[]) {
    pid_t child = fork();
    if (child < 0) return 127;
    if (!child) {
        int nowhere = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++) dup2(nowhere, fd);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

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

// Seconds that ffmpeg takes over the file with this filter.
static MotusStatus time_filter(const char *path, const char *filter, double *seconds, MotusError *error) {
    char *const argv[] = {"ffmpeg",       "-v", "error", "-threads", "1", "-filter_threads", "1", "-i", (char *)path, "-vf",
                          (char *)filter, "-f", "null",  "-",        NULL};
    double start = motus_seconds();
    int status = run_program(argv);
    *seconds = motus_seconds() - start;
    if (!status) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      status == 127 ? "ffmpeg: not found on the PATH" : "ffmpeg: failed (filter mestimate)");
}

MotusStatus motus_peer_mestimate(const MotusClip *clip, int frames, int range, double *fps, MotusError *error) {
    char folder[512], path[600], filter[64];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/motus-bench-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(folder), strerror(errno));
    snprintf(path, sizeof path, "%s/clip.y4m", folder);
    snprintf(filter, sizeof filter, "mestimate=method=esa:search_param=%d", range);
    if (frames > clip->n) frames = clip->n;
    double with = 0, without = 0; // the time to start and to read the file is taken off
    MotusStatus status = write_clip(clip, frames, path, error);
    if (!status) status = time_filter(path, "null", &without, error);
    if (!status) status = time_filter(path, filter, &with, error);
    if (!status) *fps = with > without ? frames / (with - without) : 0;
    unlink(path);
    rmdir(folder);
    return status;
}
