// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/outputs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"

int motus_check_sequence_name(const char *command, const char *option, const char *path) {
    struct stat st;
    if (!path || !strcmp(path, "-") || motus_has_ending(path, ".y4m\0.yuv\0") ||
        (!stat(path, &st) && !S_ISREG(st.st_mode)))
        return -1;
    return motus_usage_error(command, "%s %s: must end in .y4m or .yuv", option, path);
}

MotusStatus motus_folder_make(const char *path, MotusError *error) {
    struct stat is;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &is) && S_ISDIR(is.st_mode)))
        return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path),
                      errno == EEXIST ? "is no folder" : strerror(errno));
}
