// y4m from its first byte: the input is the file.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/memory_file.h"
#include "yuv/io/reader_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    MotusSource *source = NULL;
    MotusY4mHeader header;
    if (motus_test_source(&source, data, size, NULL)) return 0;
    MotusStatus status = motus_y4m_header(source, &header, "fuzz.y4m", NULL);
    motus_source_close(&source);
    if (!status && !header.is_420) return 0; // for libavformat
    const MotusReaderOptions none = {.threads = 1};
    motus_fuzz_read(data, size, "fuzz.y4m", &none, 1000, &status);
    return 0;
}

size_t motus_fuzz_seed(int index, uint8_t *data) {
    static const struct {
        int width, height;
        const char *tags, *frame_tags;
    } seeds[] = {{16, 16, "", ""},
                 {5, 3, " F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL", ""},
                 {32, 8, " F0:0 I? A0:0 C420mpeg2 XCOLORRANGE=LIMITED", " Ixyz Xcomment"},
                 {1, 1, " F25:1 C420paldv XYSCSS=420PALDV", ""},
                 {8, 8, " It C420", ""},
                 {4, 4, " C422", ""}};
    if (index >= (int)(sizeof seeds / sizeof *seeds)) return 0;
    int n = sprintf((char *)data, MOTUS_Y4M_MAGIC " W%d H%d%s\n", seeds[index].width,
                    seeds[index].height, seeds[index].tags);
    const MotusSequenceInfo info = {.width = seeds[index].width, .height = seeds[index].height};
    for (int i = 0; i < 3; i++) {
        n += sprintf((char *)data + n, "FRAME%s\n", seeds[index].frame_tags);
        memset(data + n, 'a' + i, (size_t)motus_picture_bytes(&info));
        n += (int)motus_picture_bytes(&info);
    }
    return (size_t)n;
}
