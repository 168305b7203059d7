// Every public function with every bad argument: no crash, no hang, no exit, and the status that
// the headers promise. generate.py makes the calls from the headers and values.txt; each runs in a
// process of its own.
//   arguments_test [FIRST [LAST]]     runs calls by number
//   arguments_test --list             prints every call with its status
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

enum { HANGS = 60 }; // seconds
enum { FINE = 40 };  // the exit status of a call's process; nothing else ends with it
enum { ANY = -1000, REFUSED = -1001 };

#include "calls.inc"

typedef struct Call {
    const char *function, *what;
    int want;         // status, ANY or REFUSED
    const char *text; // part of the error's text
    int late;         // uses what prepare_late() opens
} Call;

// Runs call number n, or with `describe` only fills `call`. Returns -1000 if there is none.
// NOLINTNEXTLINE(readability-function-size): it is generated
static int run(int n, int describe, Call *call) {
    int at = 0;
#define CALL(name, what, want, text, late, expression)                                             \
    if (n == at++) {                                                                               \
        *call = (Call){name, what, want, text, late};                                              \
        return describe ? 0 : (int)(expression);                                                   \
    }
#include "calls.inc"
    return -1000;
}

// Makes call number n and returns the exit status of its process.
static int make_call(int n, Call *call, int list) {
    alarm(HANGS);
    signal(SIGABRT, SIG_DFL);
    if (call->late) prepare_late();
    int status = run(n, 0, call);
    int wanted = call->want == ANY || (call->want == REFUSED ? status < 0 : status == call->want);
    const char *text = any_error.text[0] ? any_error.text : motus_me_error(good_me)->text;
    int told = !call->text || strstr(text, call->text);
    int one_line = !strchr(text, '\n');
    if (list || !wanted || !told || !one_line)
        printf("call %d, %s, %s: %s \"%s\"\n", n, call->function, call->what,
               motus_status_name((MotusStatus)status), text);
    fflush(stdout);
    return wanted && told && one_line ? FINE : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    int list = argc > 1 && !strcmp(argv[1], "--list");
    int first = argc > 1 && !list ? atoi(argv[1]) : 0;
    int last = argc > 2 ? atoi(argv[2]) : argc > 1 && !list ? first : INT_MAX;
    int n = first, failures = 0;
    prepare();
    Call call;
    for (; n <= last && !run(n, 1, &call); n++) {
        int how = 0;
        fflush(stdout);
        pid_t child = fork();
        if (!child) _exit(make_call(n, &call, list));
        if (child < 0 || waitpid(child, &how, 0) != child) return 1;
        if (WIFEXITED(how) && WEXITSTATUS(how) == FINE) continue;
        failures++;
        printf("FAILED: call %d, %s, %s: %s %d\n", n, call.function, call.what,
               WIFSIGNALED(how) ? "signal" : "exits with",
               WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    }
    printf("%d calls, %d failures\n", n - first, failures);
    return failures != 0;
}
