// SPDX-License-Identifier: BSD-2-Clause
#include "tools/x264/x264.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "tools/cli/signals.h"
#include "yuv/io/writer.h"

// ---- Running ------------------------------------------------------------------------------------

extern char **environ;

static int start(pid_t *child, char *const argv[], const char *log) {
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files)) return 127;
    const char *out = log ? log : "/dev/null";
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    int failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    if (!failed) failed = posix_spawn_file_actions_addopen(&files, 1, out, flags, 0600);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (!failed) failed = posix_spawnp(child, argv[0], &files, 0, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return failed ? 127 : 0;
}

// Returns the processor seconds of all programs that have been waited for.
static double children_seconds(void) {
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

int motus_spawn(char *const argv[], const char *log, MotusTimes *times) {
    pid_t child;
    int status = 0, passed_on = 0;
    const MotusTimes before = {motus_seconds(), children_seconds()};
    if (start(&child, argv, log)) return 127;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return 127;
        // A terminal's Ctrl-C has reached the child already, another program's kill has not.
        if (motus_signal_caught() && !passed_on++) kill(child, SIGTERM);
    }
    if (times)
        *times =
            (MotusTimes){motus_seconds() - before.elapsed, children_seconds() - before.processor};
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

// ---- The folder ---------------------------------------------------------------------------------

MotusStatus motus_work_folder_make(MotusWorkFolder *folder, MotusError *error) {
    const char *temporary = getenv("TMPDIR");
    MotusWorkFolder f = {0};
    snprintf(f.path, sizeof f.path, "%s/motus-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(f.path))
        return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(f.path), strerror(errno));
    snprintf(f.clip, sizeof f.clip, "%s/clip.y4m", f.path);
    snprintf(f.stream, sizeof f.stream, "%s/stream.264", f.path);
    snprintf(f.log, sizeof f.log, "%s/log", f.path);
    *folder = f;
    return MOTUS_OK;
}

MotusStatus motus_work_folder_make_clip(MotusWorkFolder *folder, MotusFrame *const *frames, int n,
                                        MotusRational fps, MotusError *error) {
    const MotusSequenceInfo info = {.width = frames[0]->width,
                                    .height = frames[0]->height,
                                    .fps = fps,
                                    .colour = MOTUS_COLOUR_UNKNOWN};
    MotusWriter *writer = NULL;
    MotusStatus status = motus_work_folder_make(folder, error);
    if (status) return status;
    status = motus_writer_open(&writer, folder->clip, &info, error);
    for (int i = 0; !status && i < n; i++) status = motus_writer_put(writer, frames[i], error);
    if (!status) status = motus_writer_commit(&writer, error);
    motus_writer_abandon(&writer);
    if (status) motus_work_folder_remove(folder);
    return status;
}

void motus_work_folder_remove(MotusWorkFolder *folder) {
    if (!*folder->path) return;
    unlink(folder->clip);
    unlink(folder->stream);
    unlink(folder->log);
    rmdir(folder->path);
    *folder = (MotusWorkFolder){0};
}

// ---- ffmpeg -------------------------------------------------------------------------------------

// Times ffmpeg over the file with this filter.
static MotusStatus time_filter(const char *path, const char *filter, double *seconds,
                               MotusError *error) {
    char *const argv[] = {"ffmpeg",          "-v", "error", "-threads",   "1",
                          "-filter_threads", "1",  "-i",    (char *)path, "-vf",
                          (char *)filter,    "-f", "null",  "-",          NULL};
    double start_time = motus_seconds();
    int status = motus_spawn(argv, NULL, NULL);
    *seconds = motus_seconds() - start_time;
    if (!status) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                      status == 127 ? "ffmpeg: not found on the PATH"
                                    : "ffmpeg: failed (filter mestimate)");
}

MotusStatus motus_ffmpeg_search(MotusFrame *const *frames, int n, int range, double *fps,
                                MotusError *error) {
    char filter[64];
    MotusWorkFolder folder = {0};
    double with = 0, without = 0; // without: to start and to read the file
    snprintf(filter, sizeof filter, "mestimate=method=esa:search_param=%d", range);
    MotusStatus status =
        motus_work_folder_make_clip(&folder, frames, n, (MotusRational){25, 1}, error);
    if (!status) status = time_filter(folder.clip, "null", &without, error);
    if (!status) status = time_filter(folder.clip, filter, &with, error);
    if (!status) *fps = with > without ? n / (with - without) : 0;
    motus_work_folder_remove(&folder);
    return status;
}
