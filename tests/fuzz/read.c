// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/memory_file.h"

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) abort();                                                                 \
    } while (0)

// Checks that errors have a text of one line.
static void check_error(MotusStatus status, const MotusError *error) {
    if (status >= 0) return;
    REQUIRE(error->status == status && error->text[0] &&
            memchr(error->text, '\0', sizeof error->text));
    for (const char *c = error->text; *c; c++) REQUIRE((unsigned char)*c >= 32);
}

static void check_info(const MotusSequenceInfo *info) {
    REQUIRE(info->width >= 1 && info->width <= MOTUS_MAX_SIZE && info->height >= 1 &&
            info->height <= MOTUS_MAX_SIZE);
    REQUIRE(info->fps.num > 0 && info->fps.den > 0 && info->frames >= -1 && info->format);
    REQUIRE(info->colour.sar.num >= 0 && info->colour.sar.den > 0);
    REQUIRE(info->colour.full_range >= -1 && info->colour.full_range <= 1);
}

// Reads every sample, so that sanitizers see missing and unwritten ones.
static void check_frame(const MotusFrame *frame, const MotusSequenceInfo *info) {
    REQUIRE(frame->width == info->width && frame->height == info->height);
    unsigned sum = 0;
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < frame->plane[i].height; y++)
            for (int x = 0; x < frame->plane[i].width; x++)
                sum += frame->plane[i].data[y * frame->plane[i].stride + x];
    volatile unsigned sink = sum;
    (void)sink;
}

int motus_fuzz_read(const uint8_t *data, size_t size, const char *name,
                    const MotusReaderOptions *options, int max_frames, MotusStatus *status) {
    MotusReader *reader = NULL;
    MotusSource *source = NULL;
    MotusError error = {MOTUS_OK, ""};
    *status = motus_test_source(&source, data, size, &error);
    if (!*status) *status = motus_reader_open_source(&reader, source, name, options, &error);
    check_error(*status, &error);
    REQUIRE(!*status == (reader != NULL));
    if (*status) return 0;
    check_info(motus_reader_info(reader));
    int n = 0;
    for (; n < max_frames; n++) {
        MotusFrame *frame = NULL;
        int skip = size % 5 == 0 && n % 3 == 1; // some inputs are read with gaps
        *status =
            skip ? motus_reader_skip(reader, 1, &error) : motus_reader_next(reader, &frame, &error);
        check_error(*status, &error);
        REQUIRE((!*status && !skip) == (frame != NULL));
        if (*status) break;
        if (!skip) check_frame(frame, motus_reader_info(reader));
        motus_frame_unref(&frame);
    }
    motus_reader_close(&reader);
    return n;
}
