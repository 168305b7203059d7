// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tools/cli/signals.h"

extern char **environ;

static int start(pid_t *child, char *const argv[], const char *log) {
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files)) return 127;
    const char *out = log ? log : "/dev/null";
    int failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    if (!failed)
        failed =
            posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (!failed) failed = posix_spawnp(child, argv[0], &files, 0, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return failed ? 127 : 0;
}

int motus_spawn(char *const argv[], const char *log) {
    pid_t child;
    int status = 0, told = 0;
    if (start(&child, argv, log)) return 127;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return 127;
        if (motus_signal_caught() && !told++)
            kill(child, SIGTERM); // a terminal's Ctrl-C has reached it already, another program's
                                  // kill has not
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
