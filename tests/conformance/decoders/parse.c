// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/conform.h"

const char *motus_parse(const uint8_t *data, size_t size, const int *slices, int n,
                        MotusCoverage *coverage) {
    MotusH264Reader *stream = NULL;
    MotusParsedPicture picture;
    const char *wrong = NULL;
    MotusStatus status = motus_h264_open(&stream, data, size, coverage);
    if (status) return "no memory";
    for (int i = 0; !wrong && !(status = motus_h264_next(stream, &picture)); i++)
        if (i >= n || picture.n_slices != (slices ? slices[i] : 1))
            wrong = "another number of slices than the packet says";
    if (status < 0) wrong = motus_h264_error(stream);
    motus_h264_close(&stream);
    return wrong;
}
