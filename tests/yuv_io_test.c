// yuv/: readers and writers of files and pipes, and what they do with bad input.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "tests/harness.h"
#include "tests/two_frames.h"
#include "yuv/source.h"
#include "yuv/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "yuv_io_test.XXXXXX";

// Name of a file in the test's folder; valid until the eighth next call.
static const char *in_folder(const char *name) {
    static char names[8][128];
    static int turn;
    char *to = names[turn++ % 8];
    snprintf(to, sizeof names[0], "%s/%s", folder, name);
    return to;
}

static void put_file(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    CU_ASSERT_FATAL(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static size_t get_file(const char *path, void *data, size_t capacity) {
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    size_t size = fread(data, 1, capacity, f);
    fclose(f);
    return size;
}

static int exists(const char *path) { return !access(path, F_OK); }

// Parts in the test's folder; the last one's name in `name` (may be NULL).
static int parts(char name[128]) {
    DIR *list = opendir(folder);
    int n = 0;
    for (struct dirent *d; list && (d = readdir(list));)
        if (strstr(d->d_name, ".motus-")) {
            n++;
            if (name) snprintf(name, 128, "%s/%.100s", folder, d->d_name);
        }
    if (list) closedir(list);
    return n;
}

static MotusFrame *random_frame(int width, int height) {
    MotusFrame *f = NULL;
    CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&f, width, height), MOTUS_OK);
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < f->plane[i].height; y++)
            motus_test_fill(f->plane[i].data + y * f->plane[i].stride, (size_t)f->plane[i].width);
    return f;
}

#define FRAMES 5

// Writes frames to `path`, reads them back, all and from the middle.
static void check_round_trip(const char *path, int width, int height, int location, int range) {
    MotusSequenceInfo info = {
        .width = width, .height = height, .fps = {30000, 1001}, .frames = -1, .colour = MOTUS_COLOUR_UNKNOWN};
    info.colour.chroma_location = location;
    info.colour.full_range = range;
    info.colour.sar = (MotusRational){range + 2, 7};
    MotusFrame *frames[FRAMES], *f = NULL;
    MotusWriter *writer = NULL;
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    CU_ASSERT_EQUAL_FATAL(motus_writer_open(&writer, path, &info, &error), MOTUS_OK);
    for (int i = 0; i < FRAMES; i++) {
        frames[i] = random_frame(width, height);
        CU_ASSERT_EQUAL(motus_writer_put(writer, frames[i], &error), MOTUS_OK);
    }
    CU_ASSERT(!exists(path));
    CU_ASSERT_EQUAL(motus_writer_commit(&writer, &error), MOTUS_OK);
    CU_ASSERT(!writer && exists(path));
    MotusReaderOptions options = {.width = width, .height = height, .fps = {0, 1}, .threads = 0};
    for (int start = 0; start < FRAMES; start += FRAMES - 2) {
        CU_ASSERT_EQUAL_FATAL(motus_reader_open(&reader, path, &options, &error), MOTUS_OK);
        const MotusSequenceInfo *got = motus_reader_info(reader);
        MOTUS_CHECK(got->frames == FRAMES && got->width == width && got->height == height, "%s %dx%d", path, width, height);
        if (!strcmp(got->format, "y4m"))
            MOTUS_CHECK(!memcmp(&got->colour, &info.colour, sizeof info.colour) && got->fps.num == 30000 && got->fps.den == 1001,
                        "%s", path);
        CU_ASSERT_EQUAL(motus_reader_skip(reader, start, &error), MOTUS_OK);
        for (int i = start; i < FRAMES; i++) {
            CU_ASSERT_EQUAL_FATAL(motus_reader_next(reader, &f, &error), MOTUS_OK);
            MOTUS_CHECK(motus_test_same_frames(f, frames[i]) && f->number == i, "%s %dx%d frame %d", path, width, height, i);
            motus_frame_unref(&f);
        }
        CU_ASSERT_EQUAL(motus_reader_next(reader, &f, &error), MOTUS_END);
        motus_reader_close(&reader);
    }
    for (int i = 0; i < FRAMES; i++) motus_frame_unref(&frames[i]);
    unlink(path);
}

static void round_trips(void) {
    static const int sizes[][2] = {{1, 1}, {16, 16}, {352, 288}, {33, 17}, {2, 301}, {70001 % MOTUS_MAX_SIZE, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_round_trip(in_folder("a.y4m"), sizes[i][0], sizes[i][1], (int)i % 4 - 1, (int)i % 3 - 1);
        check_round_trip(in_folder("a.YUV"), sizes[i][0], sizes[i][1], 0, 0);
    }
    for (int i = 0; i < 20; i++) check_round_trip(in_folder("a.y4m"), motus_test_range(1, 400), motus_test_range(1, 300), -1, -1);
}

// A headerless file whose length is no multiple of the picture.
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
        CU_ASSERT_EQUAL_FATAL(motus_reader_open(&reader, in_folder("a.yuv"), &options, &error), MOTUS_OK);
        CU_ASSERT(motus_reader_info(reader)->frames == size / picture && motus_reader_info(reader)->fps.num == 24);
        MOTUS_CHECK(read_all(reader, &status, &error) == size / picture, "%d bytes", size);
        MOTUS_CHECK(status == (size % picture ? MOTUS_ERR_TRUNCATED : MOTUS_END), "%d bytes", size);
        MOTUS_CHECK(!(size % picture) || strstr(error.text, "of the 72 bytes of a 8x6 picture"), "%s", error.text);
        motus_reader_close(&reader);
        CU_ASSERT_EQUAL_FATAL(motus_reader_open(&reader, in_folder("a.yuv"), &options, &error), MOTUS_OK);
        status = motus_reader_skip(reader, INT64_MAX, &error);
        MOTUS_CHECK(status == (size % picture ? MOTUS_ERR_TRUNCATED : MOTUS_END), "%d bytes", size);
        motus_reader_close(&reader);
    }
}

// What cannot seek: a pipe, by its name under /dev/fd and as standard input.
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
            if (!(kind & 1)) CU_ASSERT_EQUAL(motus_reader_skip(reader, 1, &error), MOTUS_OK);
            MotusFrame *f = NULL;
            CU_ASSERT_EQUAL(motus_reader_next(reader, &f, &error), MOTUS_OK);
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

static void check_refused(const char *path, MotusReaderOptions options, MotusStatus want, const char *text) {
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = motus_reader_open(&reader, path, &options, &error);
    MOTUS_CHECK(status == want && !reader && error.status == want, "%s: %s", path ? path : "no path", motus_status_name(status));
    MOTUS_CHECK(strstr(error.text, text) && !strchr(error.text, '\n'), "%s: \"%s\" has no \"%s\"", path ? path : "no path",
                error.text, text);
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
    check_refused(folder, none, MOTUS_ERR_IO, "is a directory");
    check_refused(in_folder("empty.y4m"), none, MOTUS_ERR_FORMAT, "is empty");
    check_refused("/dev/null", none, MOTUS_ERR_FORMAT, "is empty");
    check_refused(in_folder("junk.y4m"), none, MOTUS_ERR_FORMAT, "does not begin with YUV4MPEG2");
    check_refused(in_folder("some.yuv"), none, MOTUS_ERR_ARGUMENT, "size WxH must be given");
    check_refused(in_folder("some.yuv"), (MotusReaderOptions){.width = 16, .height = 0, .fps = {0, 1}, .threads = 0},
                  MOTUS_ERR_ARGUMENT, "16x0");
    check_refused(in_folder("some.yuv"), (MotusReaderOptions){.width = 100000, .height = 100000, .fps = {0, 1}, .threads = 0},
                  MOTUS_ERR_ARGUMENT, "100000x100000");
    check_refused(in_folder("some.yuv"), (MotusReaderOptions){.width = 1, .height = 1, .fps = {25, 0}, .threads = 0},
                  MOTUS_ERR_ARGUMENT, "25/0");
    check_refused(in_folder("good.y4m"), (MotusReaderOptions){.width = 3, .height = 5, .fps = {0, 1}, .threads = 0},
                  MOTUS_ERR_ARGUMENT, "5x3, not 3x5");
    check_refused(NULL, none, MOTUS_ERR_ARGUMENT, "no input");
#ifdef MOTUS_HAVE_MEDIA
    check_refused(in_folder("junk.bin"), none, MOTUS_ERR_FORMAT, "Invalid data");
    check_refused(in_folder("none%03d.png"), none, MOTUS_ERR_IO, "No such file");
#else
    check_refused(in_folder("junk.bin"), none, MOTUS_ERR_UNSUPPORTED, "libavformat");
#endif
    static const char *const names[] = {"empty.y4m", "junk.y4m", "junk.bin", "some.yuv", "good.y4m"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_folder(names[i]));
}

static void outputs(void) {
    const char *path = in_folder("out.bin");
    static uint8_t data[200000], back[300000];
    motus_test_fill(data, sizeof data);
    MotusOutput *out = NULL;
    MotusError error = {MOTUS_OK, ""};
    CU_ASSERT_EQUAL_FATAL(motus_output_open(&out, path, &error), MOTUS_OK);
    size_t total = 0;
    while (total < sizeof data) { // pieces below, at and above the buffer's size
        size_t n =
            (size_t)motus_test_range(0, 3) == 0 ? (size_t)motus_test_range(60000, 70000) : (size_t)motus_test_range(0, 3000);
        if (n > sizeof data - total) n = sizeof data - total;
        CU_ASSERT_EQUAL(motus_output_write(out, data + total, n, &error), MOTUS_OK);
        total += n;
    }
    CU_ASSERT(parts(NULL) == 1 && !exists(path));
    CU_ASSERT_EQUAL(motus_output_commit(&out, &error), MOTUS_OK);
    CU_ASSERT(!out && !parts(NULL));
    CU_ASSERT(get_file(path, back, sizeof back) == sizeof data && !memcmp(back, data, sizeof data));
    // A second output that is given up leaves the first one as it was.
    CU_ASSERT_EQUAL_FATAL(motus_output_open(&out, path, &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_output_write(out, data, 10, &error), MOTUS_OK);
    motus_output_abandon(&out);
    motus_output_abandon(&out);
    motus_output_abandon(NULL);
    CU_ASSERT(!parts(NULL) && get_file(path, back, sizeof back) == sizeof data);
    unlink(path);
    // Standard output.
    int saved = dup(1), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fflush(stdout);
    dup2(fd, 1);
    CU_ASSERT_EQUAL(motus_output_open(&out, "-", &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_output_write(out, data, 1000, &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_output_commit(&out, &error), MOTUS_OK);
    dup2(saved, 1);
    close(saved);
    close(fd);
    CU_ASSERT(get_file(path, back, sizeof back) == 1000 && !memcmp(back, data, 1000));
    unlink(path);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void put_output(const char *path, const char *text) {
    MotusOutput *out = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = motus_output_open(&out, path, &error);
    if (!status) status = motus_output_write(out, text, strlen(text), &error);
    if (!status) status = motus_output_commit(&out, &error);
    MOTUS_CHECK(!status, "%s: %s", path, error.text);
}

static int holds(const char *path, const char *text) {
    char back[64] = "";
    return get_file(path, back, sizeof back - 1) == strlen(text) && !strcmp(back, text);
}

// What an output's part must not do: be somebody else's file, be shared, change permissions, replace a link.
static void output_parts(void) {
    MotusOutput *first = NULL, *second = NULL;
    MotusError error = {MOTUS_OK, ""};
    char name[128] = "";
    const char *path = in_folder("p.bin"), *link = in_folder("link"), *dangling = in_folder("dangling"), *new = in_folder("new");
    put_file(in_folder("p.bin.part"), "a stranger's", 12);
    CU_ASSERT_EQUAL_FATAL(motus_output_open(&first, path, &error), MOTUS_OK);
    CU_ASSERT(parts(name) == 1 && !strncmp(name + strlen(folder) + 1, "p.bin.motus-", 12));
    CU_ASSERT_STRING_EQUAL(motus_output_part(first), name);
    CU_ASSERT_EQUAL(motus_output_open(&second, path, &error), MOTUS_ERR_IO); // one job per name
    CU_ASSERT(!second && strstr(error.text, "p.bin: another job is writing it") && parts(NULL) == 1);
    motus_output_abandon(&first);
    put_file(name, "left by a job that was killed", 29); // whose lock is gone
    put_output(path, "1");
    CU_ASSERT(holds(path, "1") && holds(in_folder("p.bin.part"), "a stranger's") && exists(name));
    unlink(name);
    chmod(path, 0640);
    put_output(path, "2");
    CU_ASSERT(holds(path, "2") && mode_of(path) == 0640);
    CU_ASSERT_EQUAL(symlink("p.bin", link), 0);
    put_output(link, "3");
    CU_ASSERT(holds(path, "3") && readlink(link, name, sizeof name) == 5 && mode_of(path) == 0640);
    CU_ASSERT_EQUAL(symlink("new", dangling), 0);
    put_output(dangling, "4");
    CU_ASSERT(holds(new, "4") && readlink(dangling, name, sizeof name) == 3);
    unlink(link);
    CU_ASSERT_EQUAL(symlink("link", link), 0);
    CU_ASSERT_EQUAL(motus_output_open(&first, link, &error), MOTUS_ERR_IO);
    CU_ASSERT(strstr(error.text, "Too many levels of symbolic links") != NULL);
    // A name as long as names may be.
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = 0;
    char longest_path[512];
    snprintf(longest_path, sizeof longest_path, "%s/%s", folder, longest);
    put_output(longest_path, "5");
    CU_ASSERT(holds(longest_path, "5") && !parts(NULL));
    // Removed when the process gives up without a word.
    pid_t child = fork();
    if (!child) {
        motus_output_open(&first, path, &error);
        exit(first ? 5 : 6);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 5 && !parts(NULL) && holds(path, "3"));
    const char *const all[] = {path, link, dangling, new, longest_path, in_folder("p.bin.part")};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) unlink(all[i]);
}

static MotusOutput *live_output(const char *path, const char *text) {
    MotusOutput *out = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = motus_output_open_live(&out, path, &error);
    if (!status) status = motus_output_write(out, text, strlen(text), &error);
    if (!status) status = motus_output_flush(out, &error);
    MOTUS_CHECK(!status, "%s: %s", path, error.text);
    return out;
}

// A file that is of use while it is being written has its final name where nothing else has, and stays once there is something in it.
static void live_outputs(void) {
    const char *path = in_folder("live");
    MotusOutput *out = live_output(path, ""), *second = NULL;
    MotusError error = {MOTUS_OK, ""};
    CU_ASSERT(exists(path) && !parts(NULL) && !motus_output_stays(out));
    CU_ASSERT_EQUAL(motus_output_open(&second, path, &error), MOTUS_ERR_IO); // one job per name
    CU_ASSERT(!second && strstr(error.text, "live: another job is writing it"));
    CU_ASSERT_EQUAL(motus_output_open_live(&second, path, &error), MOTUS_ERR_IO);
    motus_output_abandon(&out);
    CU_ASSERT(!exists(path));
    out = live_output(path, "1");
    CU_ASSERT(holds(path, "1") && motus_output_stays(out));
    motus_output_abandon(&out);
    CU_ASSERT(holds(path, "1") && !parts(NULL));
    out = live_output(path, "2"); // beside what was there
    CU_ASSERT(holds(path, "1") && parts(NULL) == 1 && !motus_output_stays(out));
    motus_output_abandon(&out);
    CU_ASSERT(holds(path, "1") && !parts(NULL));
    unlink(path);
    out = live_output(path, "3");
    CU_ASSERT(!motus_output_commit(&out, &error) && holds(path, "3"));
    unlink(path);
    out = live_output(path, "4"); // whose name somebody takes
    unlink(path);
    put_file(path, "a stranger's", 12);
    CU_ASSERT(!motus_output_stays(out));
    CU_ASSERT_EQUAL(motus_output_commit(&out, &error), MOTUS_ERR_IO);
    CU_ASSERT(holds(path, "a stranger's"));
    for (int i = 0; i < 2; i++) { // a process that gives up without a word
        unlink(path);
        pid_t child = fork();
        static MotusOutput *volatile left; // so that nothing calls it a leak
        if (!child) exit((left = live_output(path, i ? "5" : "")) ? 5 : 6);
        int status = 0;
        waitpid(child, &status, 0);
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 5 && exists(path) == i);
    }
    unlink(path);
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
    CU_ASSERT_EQUAL_FATAL(motus_source_open(&source, "-", NULL), MOTUS_OK);
    CU_ASSERT(motus_source_read(source, back, sizeof back) == sizeof back && !memcmp(data, back, sizeof back));
    CU_ASSERT(motus_source_read(source, back, 1) == 0 && !source->error);
    motus_source_close(&source);
    int status = 0;
    waitpid(child, &status, 0);
    CU_ASSERT(WIFEXITED(status) && !WEXITSTATUS(status));
    close(fd[0]);
    dup2(input, 0);
    close(input);
}

static void check_no_output(const char *path, MotusStatus want, const char *text) {
    MotusOutput *out = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = motus_output_open(&out, path, &error);
    MOTUS_CHECK(status == want && !out && strstr(error.text, text), "%s: %s", path ? path : "no path", error.text);
}

// Writes until it fails or everything is written; the status of the first failure.
static MotusStatus write_much(const char *path, MotusError *error) {
    static const uint8_t zeros[5000];
    MotusOutput *out = NULL;
    MotusStatus status = motus_output_open(&out, path, error);
    for (int i = 0; i < 100 && !status; i++) status = motus_output_write(out, zeros, sizeof zeros, error);
    if (!status) return motus_output_commit(&out, error);
    motus_output_abandon(&out);
    return status;
}

static void bad_outputs(void) {
    MotusError error = {MOTUS_OK, ""};
    check_no_output(in_folder("none/out.bin"), MOTUS_ERR_IO, "No such file");
    check_no_output(folder, MOTUS_ERR_IO, "Is a directory");
    check_no_output("", MOTUS_ERR_ARGUMENT, "no output");
    check_no_output(NULL, MOTUS_ERR_ARGUMENT, "no output");
    if (geteuid()) { // root may write everywhere
        put_file(in_folder("fixed"), "x", 1);
        chmod(in_folder("fixed"), 0400);
        check_no_output(in_folder("fixed"), MOTUS_ERR_IO, "Permission denied");
        unlink(in_folder("fixed"));
    }
    CU_ASSERT_EQUAL(write_much("/dev/null", &error), MOTUS_OK);
    if (exists("/dev/full")) {
        CU_ASSERT_EQUAL(write_much("/dev/full", &error), MOTUS_ERR_IO);
        CU_ASSERT_STRING_EQUAL(error.text, "/dev/full: No space left on device");
        CU_ASSERT(exists("/dev/full"));
    }
    // A limit on file sizes stands in for a full disk: seen by a write in the middle, and by the one that commit does.
    struct rlimit old, low;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 100000; limit < 500000; limit += 399990) {
        low = old;
        low.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &low);
        MotusStatus status = write_much(in_folder("big"), &error);
        setrlimit(RLIMIT_FSIZE, &old);
        MOTUS_CHECK(status == MOTUS_ERR_IO && strstr(error.text, "big: File too large"), "limit %ld: %s", (long)limit,
                    error.text);
        CU_ASSERT(!exists(in_folder("big")) && !parts(NULL));
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void writer_arguments(void) {
    MotusSequenceInfo info = {.width = 16, .height = 16, .fps = {25, 1}, .frames = -1, .colour = MOTUS_COLOUR_UNKNOWN};
    MotusWriter *writer = NULL;
    MotusError error;
    CU_ASSERT_EQUAL(motus_writer_open(&writer, in_folder("w.y4m"), NULL, &error), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL_FATAL(motus_writer_open(&writer, in_folder("w.y4m"), &info, &error), MOTUS_OK);
    MotusFrame *f = random_frame(16, 18);
    CU_ASSERT_EQUAL(motus_writer_put(writer, f, &error), MOTUS_ERR_ARGUMENT);
    motus_frame_unref(&f);
    motus_writer_abandon(&writer);
    motus_writer_abandon(&writer);
    CU_ASSERT(!exists(in_folder("w.y4m")) && !parts(NULL));
    CU_ASSERT_EQUAL(motus_writer_commit(&writer, &error), MOTUS_ERR_ARGUMENT);
}

// Copies a sequence; every allocation on the way may fail.
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
    snprintf(from, sizeof from, "%s/from.y4m", folder);
    snprintf(to, sizeof to, "%s/to.y4m", folder);
    put_file(from, two_frames, sizeof two_frames - 1);
    long n = 0;
    MotusStatus status = MOTUS_ERR_MEMORY;
    for (; status && n < 100; n++) {
        motus_alloc_fail_after(n);
        status = copy_sequence(from, to);
        MOTUS_CHECK(!status || (status == MOTUS_ERR_MEMORY && !exists(to)), "allocation %ld: %s", n, motus_status_name(status));
        CU_ASSERT(!parts(NULL));
    }
    motus_alloc_fail_after(-1);
    MOTUS_CHECK(n > 8 && n < 100, "%ld allocations", n);
    unlink(from);
    unlink(to);
}

static const MotusTest tests[] = {{"round_trips", round_trips},
                                  {"raw_lengths", raw_lengths},
                                  {"pipes", pipes},
                                  {"bad_inputs", bad_inputs},
                                  {"outputs", outputs},
                                  {"output_parts", output_parts},
                                  {"live_outputs", live_outputs},
                                  {"non_blocking", non_blocking},
                                  {"bad_outputs", bad_outputs},
                                  {"writer_arguments", writer_arguments},
                                  {"failing_allocations", failing_allocations},
                                  {0}};

int main(int argc, char **argv) {
    if (!mkdtemp(folder)) return 1;
    int status = motus_test_main("yuv_io", tests, argc, argv);
    unlink(in_folder("a.yuv"));
    return rmdir(folder) ? 1 : status; // a test that leaves files behind fails
}
