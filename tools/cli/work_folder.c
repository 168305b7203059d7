// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/work_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void motus_work_folder_remove(MotusWorkFolder *folder) {
    if (!*folder->path) return;
    unlink(folder->clip);
    unlink(folder->stream);
    unlink(folder->log);
    rmdir(folder->path);
    *folder = (MotusWorkFolder){0};
}
