// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/bytes.h"

#include <string.h>

#include "common/alloc.h"

void motus_bytes_add(MotusBytes *b, const void *data, size_t n) {
    if (b->n + n >= b->capacity) {
        const size_t capacity = 2 * (b->n + n) + 4096;
        uint8_t *more = motus_alloc(capacity, 1);
        if (!more) {
            b->failed = 1;
            return;
        }
        if (b->n) memcpy(more, b->data, b->n);
        motus_free(b->data);
        b->data = more;
        b->capacity = capacity;
    }
    if (n) memcpy(b->data + b->n, data, n);
    b->n += n;
    b->data[b->n] = 0;
}

void motus_bytes_free(MotusBytes *b) {
    motus_free(b->data);
    *b = (MotusBytes){0};
}
