// Headerless sequences: four bytes of size (little endian, so that 100000x100000 is impossible and
// 0x0 is not), then the file.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "yuv/io/reader_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 5) return 0;
    const MotusReaderOptions options = {.width = data[0] | data[1] << 8,
                                        .height = data[2] | data[3] << 8,
                                        .fps = {data[4], 1},
                                        .threads = 1};
    data += 4;
    size -= 4;
    if (size >= strlen(MOTUS_Y4M_MAGIC) && !memcmp(data, MOTUS_Y4M_MAGIC, strlen(MOTUS_Y4M_MAGIC)))
        return 0; // y4m by its content
    MotusStatus status;
    int frames = motus_fuzz_read(data, size, "fuzz.yuv", &options, 100000, &status);
    if (options.width < 1 || options.width > MOTUS_MAX_SIZE || options.height < 1 ||
        options.height > MOTUS_MAX_SIZE) {
        if (status != MOTUS_ERR_ARGUMENT) abort();
        return 0;
    }
    const MotusSequenceInfo info = {.width = options.width, .height = options.height};
    size_t picture = (size_t)motus_picture_bytes(&info);
    if (frames != (int)(size / picture) ||
        status != (size % picture ? MOTUS_ERR_TRUNCATED : MOTUS_END))
        abort();
    return 0;
}

size_t motus_fuzz_seed(int index, uint8_t *data) {
    static const int sizes[][3] = {{16, 16, 768},      {1, 1, 30}, {7, 5, 130},
                                   {16384, 16384, 10}, {0, 0, 10}, {2, 3, 4}};
    if (index >= (int)(sizeof sizes / sizeof *sizes)) return 0;
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        data[n++] = (uint8_t)sizes[index][i];
        data[n++] = (uint8_t)(sizes[index][i] >> 8);
    }
    for (int i = 0; i < sizes[index][2]; i++) data[n++] = (uint8_t)(i * 37);
    return n;
}
