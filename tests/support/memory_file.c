// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE // memfd_create
#include "tests/support/memory_file.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

MotusStatus motus_test_source(MotusSource **source, const void *data, size_t size,
                              MotusError *error) {
    const int fd = memfd_create("test", MFD_CLOEXEC);
    char path[32];
    MotusStatus status =
        fd >= 0 && write(fd, data, size) == (ssize_t)size ? MOTUS_OK : MOTUS_ERR_IO;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!status) status = motus_source_open(source, path, error);
    if (fd >= 0) close(fd);
    return status;
}
