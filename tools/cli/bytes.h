// Growing byte array.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_BYTES_H
#define TOOLS_CLI_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct MotusBytes {
    uint8_t *data; // NULL: empty
    size_t n, capacity;
    int failed; // out of memory: something was not appended
} MotusBytes;

// Appends bytes, then a NUL that does not count. Sets `failed` if there is no memory.
void motus_bytes_add(MotusBytes *bytes, const void *data, size_t n);
void motus_bytes_free(MotusBytes *bytes);

#endif
