// yuv/: readers and writers of files and pipes, and what they do with bad input.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "tests/support/harness.h"
#include "tests/support/test_folder.h"
#include "tests/yuv/io/two_frames.h"
#include "yuv/io/source.h"
#include "yuv/io/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 5

// Writes frames and reads them back: all, from the middle, and luma alone.
static void check_round_trip(const char *path, int width, int height, int location, int range) {
    MotusSequenceInfo info = {.width = width,
                              .height = height,
                              .fps = {30000, 1001},
                              .frames = -1,
                              .colour = MOTUS_COLOUR_UNKNOWN};
    info.colour.chroma_location = location;
    info.colour.full_range = range;
    info.colour.sar = (MotusRational){range + 2, 7};
    MotusFrame *frames[FRAMES], *f = NULL;
    MotusWriter *writer = NULL;
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    REQUIRE_OK(motus_writer_open(&writer, path, &info, &error));
    for (int i = 0; i < FRAMES; i++) {
        frames[i] = motus_test_frame(width, height);
        EXPECT_OK(motus_writer_put(writer, frames[i], &error));
    }
    CU_ASSERT(!exists(path));
    EXPECT_OK(motus_writer_commit(&writer, &error));
    CU_ASSERT(!writer && exists(path));
    MotusReaderOptions options = {.width = width, .height = height, .fps = {0, 1}, .threads = 0};
    for (int k = 0; k < 4; k++) {
        const int start = k % 2 * (FRAMES - 2), luma_only = options.luma_only = k / 2;
        REQUIRE_OK(motus_reader_open(&reader, path, &options, &error));
        const MotusSequenceInfo *got = motus_reader_info(reader);
        MOTUS_CHECK(got->frames == FRAMES && got->width == width && got->height == height,
                    "%s %dx%d", path, width, height);
        if (!strcmp(got->format, "y4m"))
            MOTUS_CHECK(!memcmp(&got->colour, &info.colour, sizeof info.colour) &&
                            got->fps.num == 30000 && got->fps.den == 1001,
                        "%s", path);
        EXPECT_OK(motus_reader_skip(reader, start, &error));
        for (int i = start; i < FRAMES; i++) {
            REQUIRE_OK(motus_reader_next(reader, &f, &error));
            const int same = luma_only ? motus_test_same_planes(&f->plane[0], &frames[i]->plane[0])
                                       : motus_test_same_frames(f, frames[i]);
            MOTUS_CHECK(same && f->number == i, "%s %dx%d frame %d%s", path, width, height, i,
                        luma_only ? ", luma" : "");
            motus_frame_unref(&f);
        }
        CU_ASSERT_EQUAL(motus_reader_next(reader, &f, &error), MOTUS_END);
        motus_reader_close(&reader);
    }
    for (int i = 0; i < FRAMES; i++) motus_frame_unref(&frames[i]);
    unlink(path);
}

static void round_trips(void) {
    static const int sizes[][2] = {{1, 1},   {16, 16}, {352, 288},
                                   {33, 17}, {2, 301}, {70001 % MOTUS_MAX_SIZE, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_round_trip(in_folder("a.y4m"), sizes[i][0], sizes[i][1], (int)i % 4 - 1,
                         (int)i % 3 - 1);
        check_round_trip(in_folder("a.YUV"), sizes[i][0], sizes[i][1], 0, 0);
    }
    for (int i = 0; i < 20; i++)
        check_round_trip(in_folder("a.y4m"), motus_test_range(1, 400), motus_test_range(1, 300), -1,
                         -1);
}

// A headerless file whose length is no multiple of a picture's.
static void raw_lengths(void) {
    static uint8_t data[1000];
    const int picture = 8 * 6 + 2 * 4 * 3;
    motus_test_fill(data, sizeof data);
    for (int size = 1; size < 300; size += 7) {
        put_file(in_folder("a.yuv"), data, (size_t)size);
        MotusReaderOptions options = {.width = 8, .height = 6, .fps = {24, 1}, .threads = 0};
        MotusReader *reader = NULL;
        MotusError error = {MOTUS_OK, ""};
        MotusStatus status;
        REQUIRE_OK(motus_reader_open(&reader, in_folder("a.yuv"), &options, &error));
        CU_ASSERT(motus_reader_info(reader)->frames == size / picture &&
                  motus_reader_info(reader)->fps.num == 24);
        MOTUS_CHECK(read_all(reader, &status, &error) == size / picture, "%d bytes", size);
        MOTUS_CHECK(status == (size % picture ? MOTUS_ERR_TRUNCATED : MOTUS_END), "%d bytes", size);
        MOTUS_CHECK(!(size % picture) || strstr(error.text, "of the 72 bytes of a 8x6 picture"),
                    "%s", error.text);
        motus_reader_close(&reader);
        REQUIRE_OK(motus_reader_open(&reader, in_folder("a.yuv"), &options, &error));
        status = motus_reader_skip(reader, INT64_MAX, &error);
        MOTUS_CHECK(status == (size % picture ? MOTUS_ERR_TRUNCATED : MOTUS_END), "%d bytes", size);
        motus_reader_close(&reader);
    }
    unlink(in_folder("a.yuv"));
}

// Frames of a file, located one after the other and read in another order, at any width. A missing
// frame gives an error with its number.
static void frames_apart(void) {
    static const int sizes[][2] = {{64, 48}, {33, 17}, {130, 602}};
    for (int k = 0; k < 6; k++) {
        const int width = sizes[k / 2][0], height = sizes[k / 2][1],
                  picture = width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2);
        const char *path = in_folder(k % 2 ? "a.yuv" : "a.y4m");
        MotusSequenceInfo info = {.width = width,
                                  .height = height,
                                  .fps = {25, 1},
                                  .frames = -1,
                                  .colour = MOTUS_COLOUR_UNKNOWN};
        MotusFrame *want[FRAMES], *got[FRAMES];
        int64_t at[FRAMES];
        MotusWriter *writer = NULL;
        MotusReader *reader = NULL;
        MotusError error = {0};
        REQUIRE_OK(motus_writer_open(&writer, path, &info, &error));
        for (int i = 0; i < FRAMES; i++)
            EXPECT_OK(motus_writer_put(writer, want[i] = motus_test_frame(width, height), &error));
        EXPECT_OK(motus_writer_commit(&writer, &error));
        MotusReaderOptions options = {.width = width, .height = height, .fps = {25, 1}};
        REQUIRE_OK(motus_reader_open(&reader, path, &options, &error));
        for (int i = 0; i < FRAMES; i++)
            REQUIRE_OK(motus_reader_begin(reader, &got[i], &at[i], &error));
        CU_ASSERT_EQUAL(truncate(path, at[FRAMES - 1] + picture - 7), 0);
        for (int i = FRAMES - 1; i >= 0; i--) {
            MotusStatus status = motus_reader_fill(reader, got[i], at[i], &error);
            if (i < FRAMES - 1)
                MOTUS_CHECK(!status && got[i]->number == i &&
                                motus_test_same_frames(got[i], want[i]),
                            "%s %dx%d, frame %d", path, width, height, i);
            else
                MOTUS_CHECK(status == MOTUS_ERR_TRUNCATED && strstr(error.text, "inside frame 4"),
                            "%d: %s", status, error.text);
        }
        MotusFrame *none = NULL;
        CU_ASSERT_NOT_EQUAL(motus_reader_begin(reader, &none, at, &error), MOTUS_OK);
        motus_reader_close(&reader);
        for (int i = 0; i < FRAMES; i++) motus_frame_unref(&want[i]), motus_frame_unref(&got[i]);
        unlink(path);
    }
}

// Inputs without seeking: a pipe by its name under /dev/fd and as standard input.
static void pipes(void) {
    int fd[2], input = dup(0);
    char path[32];
    MotusReaderOptions options = {.width = 5, .height = 3, .fps = {0, 1}, .threads = 0};
    for (int kind = 0; kind < 4; kind++) { // 1: headerless, 2: standard input
        CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
        const char *from = kind & 1 ? two_frames + 22 + 6 : two_frames;
        size_t size = kind & 1 ? 27 : sizeof two_frames - 1;
        CU_ASSERT_EQUAL(write(fd[1], from, size), (ssize_t)size);
        close(fd[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
        if (kind & 2) dup2(fd[0], 0);
        MotusReader *reader = NULL;
        MotusError error = {MOTUS_OK, ""};
        MotusStatus status = motus_reader_open(&reader, kind & 2 ? "-" : path, &options, &error);
        MOTUS_CHECK(!status, "kind %d: %s", kind, error.text);
        if (!status) {
            CU_ASSERT_EQUAL(motus_reader_info(reader)->frames, -1);
            if (!(kind & 1)) EXPECT_OK(motus_reader_skip(reader, 1, &error));
            MotusFrame *f = NULL;
            EXPECT_OK(motus_reader_next(reader, &f, &error));
            CU_ASSERT(f && f->plane[0].data[1] == (kind & 1 ? 'b' : 'B'));
            motus_frame_unref(&f);
            CU_ASSERT_EQUAL(motus_reader_skip(reader, 1, &error), MOTUS_END);
        }
        motus_reader_close(&reader);
        close(fd[0]);
    }
    dup2(input, 0);
    close(input);
}

// A pipe in non-blocking mode: both ends wait instead of failing.
static void non_blocking(void) {
    static uint8_t data[300000], back[sizeof data];
    int fd[2], input = dup(0);
    motus_test_fill(data, sizeof data);
    CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
    pid_t child = fork();
    if (!child) { // the writer, through an output on the pipe
        MotusOutput *out = NULL;
        close(fd[0]);
        fcntl(fd[1], F_SETFL, O_NONBLOCK);
        dup2(fd[1], 1);
        int failed = motus_output_open(&out, "-", NULL) || fcntl(1, F_GETFL) < 0;
        for (size_t at = 0; !failed && at < sizeof data; at += 100000)
            failed = motus_output_write(out, data + at, 100000, NULL) != 0;
        if (!failed) failed = motus_output_commit(&out, NULL) != 0;
        _exit(failed);
    }
    close(fd[1]);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    dup2(fd[0], 0);
    MotusSource *source = NULL;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); // the pipe is full, or still empty
    REQUIRE_OK(motus_source_open(&source, "-", NULL));
    CU_ASSERT(motus_source_read(source, back, sizeof back) == sizeof back &&
              !memcmp(data, back, sizeof back));
    CU_ASSERT(motus_source_read(source, back, 1) == 0 && !source->error);
    motus_source_close(&source);
    int status = 0;
    waitpid(child, &status, 0);
    CU_ASSERT(WIFEXITED(status) && !WEXITSTATUS(status));
    close(fd[0]);
    dup2(input, 0);
    close(input);
}

static void check_refused(const char *path, MotusReaderOptions options, MotusStatus want,
                          const char *text) {
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = motus_reader_open(&reader, path, &options, &error);
    MOTUS_CHECK(status == want && !reader && error.status == want, "%s: %s",
                path ? path : "no path", motus_status_name(status));
    MOTUS_CHECK(strstr(error.text, text) && !strchr(error.text, '\n'), "%s: \"%s\" has no \"%s\"",
                path ? path : "no path", error.text, text);
}

static void bad_inputs(void) {
    const MotusReaderOptions none = {0};
    static char longer[600];
    memset(longer, 'n', sizeof longer - 1);
    put_file(in_folder("empty.y4m"), "", 0);
    put_file(in_folder("junk.y4m"), "hello, world\n", 13);
    put_file(in_folder("junk.bin"), "hello, world\n", 13);
    put_file(in_folder("some.yuv"), "hello, world\n", 13);
    put_file(in_folder("good.y4m"), two_frames, sizeof two_frames - 1);
    check_refused(in_folder("missing.y4m"), none, MOTUS_ERR_IO, "missing.y4m: No such file");
    check_refused("two\nlines.y4m", none, MOTUS_ERR_IO, "two?lines.y4m: No such file");
    check_refused(longer, none, MOTUS_ERR_IO, "nnn: File name too long");
    check_refused(test_folder(), none, MOTUS_ERR_IO, "is a directory");
    check_refused(in_folder("empty.y4m"), none, MOTUS_ERR_FORMAT, "is empty");
    check_refused("/dev/null", none, MOTUS_ERR_FORMAT, "is empty");
    check_refused(in_folder("junk.y4m"), none, MOTUS_ERR_FORMAT, "does not begin with YUV4MPEG2");
    check_refused(in_folder("some.yuv"), none, MOTUS_ERR_ARGUMENT, "size WxH must be given");
    check_refused(in_folder("some.yuv"),
                  (MotusReaderOptions){.width = 16, .height = 0, .fps = {0, 1}, .threads = 0},
                  MOTUS_ERR_ARGUMENT, "16x0");
    check_refused(
        in_folder("some.yuv"),
        (MotusReaderOptions){.width = 100000, .height = 100000, .fps = {0, 1}, .threads = 0},
        MOTUS_ERR_ARGUMENT, "100000x100000");
    check_refused(in_folder("some.yuv"),
                  (MotusReaderOptions){.width = 1, .height = 1, .fps = {25, 0}, .threads = 0},
                  MOTUS_ERR_ARGUMENT, "25/0");
    check_refused(in_folder("good.y4m"),
                  (MotusReaderOptions){.width = 3, .height = 5, .fps = {0, 1}, .threads = 0},
                  MOTUS_ERR_ARGUMENT, "5x3, not 3x5");
    check_refused(NULL, none, MOTUS_ERR_ARGUMENT, "no input");
#ifdef MOTUS_HAVE_MEDIA
    check_refused(in_folder("junk.bin"), none, MOTUS_ERR_FORMAT, "Invalid data");
    check_refused(in_folder("none%03d.png"), none, MOTUS_ERR_IO, "No such file");
#else
    check_refused(in_folder("junk.bin"), none, MOTUS_ERR_UNSUPPORTED, "libavformat");
#endif
    static const char *const names[] = {"empty.y4m", "junk.y4m", "junk.bin", "some.yuv",
                                        "good.y4m"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_folder(names[i]));
}

static void writer_arguments(void) {
    MotusSequenceInfo info = {
        .width = 16, .height = 16, .fps = {25, 1}, .frames = -1, .colour = MOTUS_COLOUR_UNKNOWN};
    MotusWriter *writer = NULL;
    MotusError error;
    CU_ASSERT_EQUAL(motus_writer_open(&writer, in_folder("w.y4m"), NULL, &error),
                    MOTUS_ERR_ARGUMENT);
    REQUIRE_OK(motus_writer_open(&writer, in_folder("w.y4m"), &info, &error));
    MotusFrame *f = motus_test_frame(16, 18);
    CU_ASSERT_EQUAL(motus_writer_put(writer, f, &error), MOTUS_ERR_ARGUMENT);
    motus_frame_unref(&f);
    motus_writer_abandon(&writer);
    motus_writer_abandon(&writer);
    CU_ASSERT(!exists(in_folder("w.y4m")) && !parts(NULL));
    CU_ASSERT_EQUAL(motus_writer_commit(&writer, &error), MOTUS_ERR_ARGUMENT);
}

// Copies a sequence; any allocation may fail.
static MotusStatus copy_sequence(const char *from, const char *to) {
    MotusReader *reader = NULL;
    MotusWriter *writer = NULL;
    MotusFrame *f = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = motus_reader_open(&reader, from, NULL, &error);
    if (!status) status = motus_writer_open(&writer, to, motus_reader_info(reader), &error);
    while (!status && !(status = motus_reader_next(reader, &f, &error))) {
        status = motus_writer_put(writer, f, &error);
        motus_frame_unref(&f);
    }
    if (status == MOTUS_END) status = motus_writer_commit(&writer, &error);
    motus_writer_abandon(&writer);
    motus_reader_close(&reader);
    CU_ASSERT_EQUAL(error.status, status);
    return status;
}

static void failing_allocations(void) {
    char from[64], to[64];
    snprintf(from, sizeof from, "%s/from.y4m", test_folder());
    snprintf(to, sizeof to, "%s/to.y4m", test_folder());
    put_file(from, two_frames, sizeof two_frames - 1);
    long n = 0;
    MotusStatus status = MOTUS_ERR_MEMORY;
    for (; status && n < 100; n++) {
        motus_alloc_fail_after(n);
        status = copy_sequence(from, to);
        MOTUS_CHECK(!status || (status == MOTUS_ERR_MEMORY && !exists(to)), "allocation %ld: %s", n,
                    motus_status_name(status));
        CU_ASSERT(!parts(NULL));
    }
    motus_alloc_fail_after(-1);
    MOTUS_CHECK(n > 8 && n < 100, "%ld allocations", n);
    unlink(from);
    unlink(to);
}

MOTUS_SUITE_BY(motus_test_main_in_folder, "yuv_io", TEST(round_trips), TEST(raw_lengths),
               TEST(frames_apart), TEST(pipes), TEST(non_blocking), TEST(bad_inputs),
               TEST(writer_arguments), TEST(failing_allocations))
