// SPDX-License-Identifier: BSD-2-Clause
#include "tests/decoders/parse.h"

const char *motus_parse(const uint8_t *data, size_t size, MotusCoverage *coverage) {
    MotusBaseline *stream = NULL;
    MotusReadPicture picture;
    const char *wrong = NULL;
    MotusStatus status = motus_baseline_open(&stream, data, size, coverage);
    if (status) return "no memory";
    while (!wrong && !(status = motus_baseline_next(stream, &picture)))
        if (picture.n_slices != 1) wrong = "more than one slice";
    if (status < 0) wrong = motus_baseline_wrong(stream);
    motus_baseline_close(&stream);
    return wrong;
}
