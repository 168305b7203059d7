// A small file for the readers' suites, and reading to its end.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_TWO_FRAMES_H
#define TESTS_TWO_FRAMES_H

#include "tests/support/harness.h"
#include "yuv/io/reader.h"

static const char two_frames[] = "YUV4MPEG2 W5 H3 F10:1\nFRAME\n" // 15 + 2 * 6 bytes a picture
                                 "abcdefghijklmnopqrstuvwxyz!"
                                 "FRAME Ixyz Xcomment\n"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ?";

// Reads all frames and returns their number; *status is the last status.
static inline int read_all(MotusReader *reader, MotusStatus *status, MotusError *error) {
    int n = 0;
    MotusFrame *f = NULL;
    while (!(*status = motus_reader_next(reader, &f, error))) {
        MOTUS_CHECK(f->number == n, "%lld is not %d", (long long)f->number, n);
        motus_frame_unref(&f);
        n++;
    }
    return n;
}

#endif
