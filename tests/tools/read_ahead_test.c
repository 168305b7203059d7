// Reading ahead with several threads: the same frames in the same order, for any input.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/harness.h"
#include "tests/support/test_folder.h"
#include "tools/cli/input.h"
#include "yuv/io/writer.h"

enum { FRAMES = 41, WIDTH = 34, HEIGHT = 18, PICTURE = WIDTH * HEIGHT * 3 / 2 };

static void write_frames(const char *path) {
    const MotusSequenceInfo info = {.width = WIDTH,
                                    .height = HEIGHT,
                                    .fps = {25, 1},
                                    .frames = -1,
                                    .colour = MOTUS_COLOUR_UNKNOWN};
    MotusWriter *writer = NULL;
    MotusFrame *f = NULL;
    REQUIRE_OK(motus_writer_open(&writer, path, &info, NULL));
    REQUIRE_OK(motus_frame_alloc(&f, WIDTH, HEIGHT));
    for (int i = 0; i < FRAMES; i++) {
        for (int p = 0; p < 3; p++)
            for (int y = 0; y < f->plane[p].height; y++)
                memset(f->plane[p].data + y * f->plane[p].stride, 5 * i + p,
                       (size_t)f->plane[p].width);
        EXPECT_OK(motus_writer_put(writer, f, NULL));
    }
    EXPECT_OK(motus_writer_commit(&writer, NULL));
    motus_frame_unref(&f);
}

static int is_frame(const MotusFrame *f, int number) {
    int good = f->number == number;
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < f->plane[p].height; y++)
            for (int x = 0; x < f->plane[p].width; x++)
                good &= f->plane[p].data[y * f->plane[p].stride + x] == 5 * number + p;
    return good;
}

// Reads all frames and returns their number; *status is the last status, which stays.
static int read_all(MotusInput *in, int threads, MotusStatus *status, MotusError *error) {
    MotusFrame *held[3] = {NULL}; // as an encoder holds some
    MotusReadAhead *ahead = motus_read_ahead_open(in, threads, -1);
    int n = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(ahead);
    for (MotusFrame *f; !(*status = motus_read_ahead_next(ahead, &f, error)); n++) {
        MOTUS_CHECK(is_frame(f, n), "%d threads, frame %d", threads, n);
        motus_frame_unref(&held[n % 3]);
        held[n % 3] = f;
    }
    CU_ASSERT_EQUAL(motus_read_ahead_next(ahead, &held[0], error), *status);
    for (int i = 0; i < 3; i++) motus_frame_unref(&held[i]);
    motus_read_ahead_close(&ahead);
    return n;
}

static void in_order(void) {
    const MotusReaderOptions options = {.width = WIDTH, .height = HEIGHT};
    for (int k = 0; k < 6; k++) {
        const char *path = in_folder(k % 2 ? "a.yuv" : "a.y4m");
        MotusInput in = {.limit = k / 2 == 2 ? 17 : 0};
        MotusError error = {0};
        MotusStatus status;
        write_frames(path);
        REQUIRE_OK(motus_reader_open(&in.reader, path, &options, &error));
        const int n = read_all(&in, k / 2 == 0 ? 1 : 4, &status, &error),
                  want = in.limit ? (int)in.limit : FRAMES;
        MOTUS_CHECK(n == want && in.read == want && in.begun == want && status == MOTUS_END &&
                        !in.cut,
                    "%d: %d frames, %d", k, n, status);
        motus_reader_close(&in.reader);
        unlink(path);
    }
}

// A file that ends inside a frame, or is cut while open: whole frames, then the end with a warning;
// an error if there is no whole frame.
static void cut_files(void) {
    const MotusReaderOptions options = {.width = WIDTH, .height = HEIGHT};
    static const int whole[] = {0, 1, 7, 40};
    for (int k = 0; k < 16; k++) {
        const char *path = in_folder("a.yuv");
        const int late = k / 4 % 2, threads = k / 8 ? 4 : 1;
        MotusInput in = {0};
        MotusError error = {0};
        MotusStatus status;
        write_frames(path);
        if (!late) CU_ASSERT_EQUAL(truncate(path, whole[k % 4] * PICTURE + 100), 0);
        REQUIRE_OK(motus_reader_open(&in.reader, path, &options, &error));
        if (late) CU_ASSERT_EQUAL(truncate(path, whole[k % 4] * PICTURE + 100), 0);
        char text[40];
        snprintf(text, sizeof text, "inside frame %d, after 100 of", whole[k % 4]);
        const int n = read_all(&in, threads, &status, &error);
        MOTUS_CHECK(n == whole[k % 4] && in.read == n, "%d: %d frames", k, n);
        MOTUS_CHECK(n ? status == MOTUS_END && in.cut && strstr(in.warning.text, text)
                      : status == MOTUS_ERR_TRUNCATED && strstr(error.text, text),
                    "%d: %d %s %s", k, status, error.text, in.warning.text);
        motus_reader_close(&in.reader);
        unlink(path);
    }
}

// Closed while frames are pending; a pipe is not read ahead.
static void closed_early(void) {
    const char *path = in_folder("a.y4m");
    MotusFrame *f;
    write_frames(path);
    for (int n = 0; n < 20; n++) {
        MotusInput in = {0};
        REQUIRE_OK(motus_reader_open(&in.reader, path, NULL, NULL));
        MotusReadAhead *ahead = motus_read_ahead_open(&in, 1 + n % 5, -1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(ahead);
        for (int i = 0; i < n; i++) {
            REQUIRE_OK(motus_read_ahead_next(ahead, &f, NULL));
            CU_ASSERT(is_frame(f, i));
            motus_frame_unref(&f);
        }
        motus_read_ahead_close(&ahead);
        CU_ASSERT(!ahead && in.read == n && in.begun >= n);
        motus_read_ahead_close(&ahead);
        motus_reader_close(&in.reader);
    }
    unlink(path);
    int ends[2];
    char name[40];
    MotusInput in = {0};
    static const char one[] = "YUV4MPEG2 W2 H2 F1:1\nFRAME\nabcdef";
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL(write(ends[1], one, sizeof one - 1), (ssize_t)sizeof one - 1);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    REQUIRE_OK(motus_reader_open(&in.reader, name, NULL, NULL));
    CU_ASSERT_PTR_NULL(motus_read_ahead_open(&in, 4, -1));
    REQUIRE_OK(motus_input_next(&in, &f, NULL));
    motus_frame_unref(&f);
    motus_reader_close(&in.reader);
    close(ends[0]);
}

MOTUS_SUITE_BY(motus_test_main_in_folder, "read_ahead", TEST(in_order), TEST(cut_files),
               TEST(closed_early))
