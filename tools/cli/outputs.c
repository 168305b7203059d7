// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/outputs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/error.h"

MotusStatus motus_folder_make(const char *path, MotusError *error) {
    struct stat is;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &is) && S_ISDIR(is.st_mode)))
        return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path),
                      errno == EEXIST ? "is no folder" : strerror(errno));
}
