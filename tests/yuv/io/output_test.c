// yuv/io/temp_output: files appear under their names when they are complete, or grow there;
// failures leave nothing behind.
// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/harness.h"
#include "tests/support/test_folder.h"
#include "yuv/io/writer.h"

static void outputs(void) {
    const char *path = in_folder("out.bin");
    static uint8_t data[200000], back[300000];
    motus_test_fill(data, sizeof data);
    MotusOutput *out = NULL;
    MotusError error = {MOTUS_OK, ""};
    REQUIRE_OK(motus_output_open(&out, path, &error));
    size_t total = 0;
    while (total < sizeof data) { // pieces below, at and above the buffer's size
        size_t n = (size_t)motus_test_range(0, 3) == 0 ? (size_t)motus_test_range(60000, 70000)
                                                       : (size_t)motus_test_range(0, 3000);
        if (n > sizeof data - total) n = sizeof data - total;
        EXPECT_OK(motus_output_write(out, data + total, n, &error));
        total += n;
    }
    CU_ASSERT(parts(NULL) == 1 && !exists(path));
    EXPECT_OK(motus_output_commit(&out, &error));
    CU_ASSERT(!out && !parts(NULL));
    CU_ASSERT(get_file(path, back, sizeof back) == sizeof data && !memcmp(back, data, sizeof data));
    // An abandoned second output leaves the first one unchanged.
    REQUIRE_OK(motus_output_open(&out, path, &error));
    EXPECT_OK(motus_output_write(out, data, 10, &error));
    motus_output_abandon(&out);
    motus_output_abandon(&out);
    motus_output_abandon(NULL);
    CU_ASSERT(!parts(NULL) && get_file(path, back, sizeof back) == sizeof data);
    unlink(path);
    // Standard output.
    int saved = dup(1), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fflush(stdout);
    dup2(fd, 1);
    EXPECT_OK(motus_output_open(&out, "-", &error));
    EXPECT_OK(motus_output_write(out, data, 1000, &error));
    EXPECT_OK(motus_output_commit(&out, &error));
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

// A temporary file never takes another's place, is not shared, keeps permissions, and does not
// replace a link.
static void output_parts(void) {
    MotusOutput *first = NULL, *second = NULL;
    MotusError error = {MOTUS_OK, ""};
    char name[128] = "";
    const char *path = in_folder("p.bin"), *link = in_folder("link"),
               *dangling = in_folder("dangling"), *new = in_folder("new");
    put_file(in_folder("p.bin.part"), "a stranger's", 12);
    REQUIRE_OK(motus_output_open(&first, path, &error));
    CU_ASSERT(parts(name) == 1 && !strncmp(name + strlen(test_folder()) + 1, "p.bin.motus-", 12));
    CU_ASSERT_STRING_EQUAL(motus_output_temp_name(first), name);
    CU_ASSERT_EQUAL(motus_output_open(&second, path, &error), MOTUS_ERR_IO); // one job per name
    CU_ASSERT(!second && strstr(error.text, "p.bin: another job is writing it") &&
              parts(NULL) == 1);
    motus_output_abandon(&first);
    put_file(name, "left by a job that was killed", 29); // its lock is gone
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
    // The longest file name allowed.
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = 0;
    char longest_path[512];
    snprintf(longest_path, sizeof longest_path, "%s/%s", test_folder(), longest);
    put_output(longest_path, "5");
    CU_ASSERT(holds(longest_path, "5") && !parts(NULL));
    // Removed when the process exits without closing it.
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

// A live output has its final name if that is free, and stays once it has data.
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
    out = live_output(path, "2"); // beside the existing file
    CU_ASSERT(holds(path, "1") && parts(NULL) == 1 && !motus_output_stays(out));
    motus_output_abandon(&out);
    CU_ASSERT(holds(path, "1") && !parts(NULL));
    unlink(path);
    out = live_output(path, "3");
    CU_ASSERT(!motus_output_commit(&out, &error) && holds(path, "3"));
    unlink(path);
    out = live_output(path, "4"); // its name is taken meanwhile
    unlink(path);
    put_file(path, "a stranger's", 12);
    CU_ASSERT(!motus_output_stays(out));
    CU_ASSERT_EQUAL(motus_output_commit(&out, &error), MOTUS_ERR_IO);
    CU_ASSERT(holds(path, "a stranger's"));
    for (int i = 0; i < 2; i++) { // a process that exits without closing it
        unlink(path);
        pid_t child = fork();
        static MotusOutput *volatile left; // no leak for the sanitizer
        if (!child) exit((left = live_output(path, i ? "5" : "")) ? 5 : 6);
        int status = 0;
        waitpid(child, &status, 0);
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 5 && exists(path) == i);
    }
    unlink(path);
}

static void check_no_output(const char *path, MotusStatus want, const char *text) {
    MotusOutput *out = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = motus_output_open(&out, path, &error);
    MOTUS_CHECK(status == want && !out && strstr(error.text, text), "%s: %s",
                path ? path : "no path", error.text);
}

// Writes until an error or the end; returns the first failure.
static MotusStatus write_much(const char *path, MotusError *error) {
    static const uint8_t zeros[5000];
    MotusOutput *out = NULL;
    MotusStatus status = motus_output_open(&out, path, error);
    for (int i = 0; i < 100 && !status; i++)
        status = motus_output_write(out, zeros, sizeof zeros, error);
    if (!status) return motus_output_commit(&out, error);
    motus_output_abandon(&out);
    return status;
}

// A descriptor's file is appended to where it stands, and not replaced.
static void descriptors(void) {
    const char *path = in_folder("log");
    char back[64], name[64];
    for (int i = 0; i < 2; i++) {
        put_file(path, "before", 6);
        int fd = open(path, O_WRONLY | O_APPEND);
        snprintf(name, sizeof name, "%s/fd/%d", i ? "/proc/self" : "/dev", fd);
        CU_ASSERT_EQUAL(motus_output_descriptor(name), fd);
        put_output(name, " and after");
        close(fd);
        CU_ASSERT(get_file(path, back, sizeof back) == 16 && !memcmp(back, "before and after", 16));
        check_no_output(name, MOTUS_ERR_IO, "Bad file descriptor");
    }
    unlink(path);
    CU_ASSERT_EQUAL(motus_output_descriptor("/dev/stdout"), 1);
    CU_ASSERT_EQUAL(motus_output_descriptor("/dev/stderr"), 2);
    static const char *const others[] = {"-",         "/dev/null",  "/dev/fd/",
                                         "/dev/fd/x", "/dev/fd/1x", "/dev/fd/99999999999"};
    for (int i = 0; i < 6; i++) CU_ASSERT_EQUAL(motus_output_descriptor(others[i]), -1);
}

static void bad_outputs(void) {
    MotusError error = {MOTUS_OK, ""};
    check_no_output(in_folder("none/out.bin"), MOTUS_ERR_IO, "No such file");
    check_no_output(test_folder(), MOTUS_ERR_IO, "Is a directory");
    check_no_output("", MOTUS_ERR_ARGUMENT, "no output");
    check_no_output(NULL, MOTUS_ERR_ARGUMENT, "no output");
    if (geteuid()) { // root may write everywhere
        put_file(in_folder("fixed"), "x", 1);
        chmod(in_folder("fixed"), 0400);
        check_no_output(in_folder("fixed"), MOTUS_ERR_IO, "Permission denied");
        unlink(in_folder("fixed"));
    }
    EXPECT_OK(write_much("/dev/null", &error));
    if (exists("/dev/full")) {
        CU_ASSERT_EQUAL(write_much("/dev/full", &error), MOTUS_ERR_IO);
        CU_ASSERT_STRING_EQUAL(error.text, "/dev/full: No space left on device");
        CU_ASSERT(exists("/dev/full"));
    }
    // A limit on file sizes stands in for a full disk; a write in the middle or commit's write
    // fails.
    struct rlimit old, low;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 100000; limit < 500000; limit += 399990) {
        low = old;
        low.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &low);
        MotusStatus status = write_much(in_folder("big"), &error);
        setrlimit(RLIMIT_FSIZE, &old);
        MOTUS_CHECK(status == MOTUS_ERR_IO && strstr(error.text, "big: File too large"),
                    "limit %ld: %s", (long)limit, error.text);
        CU_ASSERT(!exists(in_folder("big")) && !parts(NULL));
    }
    signal(SIGXFSZ, SIG_DFL);
}

MOTUS_SUITE_BY(motus_test_main_in_folder, "output", TEST(outputs), TEST(output_parts),
               TEST(live_outputs), TEST(descriptors), TEST(bad_outputs))
