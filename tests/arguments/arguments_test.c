// Every public function with every bad argument (generate.py makes the calls from the headers): no
// crash, no hang, no exit, and no success where something that is needed is not there. Each call
// runs in a process of its own.
//   arguments_test [FIRST [LAST]]     runs calls by number
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/arguments/values.h"

enum { HANGS = 20 }; // seconds
enum {
    FINE = 40,
    ACCEPTED = 41
}; // exit statuses of a call's process: some numbers that nothing else ends with

typedef struct Call {
    const char *function, *what;
    int is_status;
} Call;

// Runs call number n, or with `describe` only tells what it is. Returns -1000: there is none.
// NOLINTNEXTLINE(readability-function-size): it is generated
static int run(int n, int describe, Call *call) {
    int at = 0;
#define CALL(name, text, status, expression)                                                       \
    if (n == at++) {                                                                               \
        *call = (Call){name, text, status};                                                        \
        return describe ? 0 : (expression);                                                        \
    }
#include "calls.inc"
    return -1000;
}

static int run_alone(int n, int *how) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        Call call;
        alarm(HANGS);
        signal(SIGABRT, SIG_DFL);
        prepare_encoder();
        _exit(run(n, 0, &call) == MOTUS_OK ? ACCEPTED : FINE);
    }
    return child > 0 && waitpid(child, how, 0) == child;
}

// A missing thing that the function needs: NULL where NULL is not one of the documented values.
static int is_refusable(const Call *call) {
    static const char *const optional[] = {"error",   "exec",   "hints",    "stream",      "params",
                                           "release", "opaque", "all NULL", "frame = NULL"};
    if (!call->is_status || !strstr(call->what, "NULL")) return 0;
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (!strncmp(call->what, optional[i], strlen(optional[i]))) return 0;
    return strcmp(call->function, "motus_me_receive") != 0; // whose field may be NULL
}

int main(int argc, char **argv) {
    int first = argc > 1 ? atoi(argv[1]) : 0,
        last = argc > 2   ? atoi(argv[2])
               : argc > 1 ? first
                          : INT_MAX,
        n = first, failures = 0;
    prepare();
    Call call;
    for (; n <= last && !run(n, 1, &call); n++) {
        int how = 0;
        if (!run_alone(n, &how)) return 1;
        int exited = WIFEXITED(how) && (WEXITSTATUS(how) == FINE || WEXITSTATUS(how) == ACCEPTED);
        int wrong = exited && is_refusable(&call) && WEXITSTATUS(how) == ACCEPTED;
        if (exited && !wrong) continue;
        failures++;
        printf("FAILED: call %d, %s, %s: %s %d\n", n, call.function, call.what,
               wrong              ? "is accepted,"
               : WIFSIGNALED(how) ? "signal"
                                  : "exits with",
               WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    }
    printf("%d calls, %d failures\n", n - first, failures);
    return failures != 0;
}
