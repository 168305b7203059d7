// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/signals.h"

#include <signal.h>
#include <string.h>

#include "yuv/io/temp_output.h"

static volatile sig_atomic_t caught, finishing;

// Removes the temporary output files, then dies of the signal.
static void give_up(int number) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    motus_temp_outputs_remove();
    sigaction(number, &action, NULL);
    raise(number); // comes when this handler returns
}

static void note(int number) {
    if (finishing) return;
    if (caught) give_up(number);
    caught = number;
}

static void catch_all(const int *numbers, int n, void (*handler)(int)) {
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = handler; // no SA_RESTART: a read from a silent pipe must return
    for (int i = 0; i < n; i++)
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

void motus_signals_catch(void) {
    static const int noted[] = {SIGINT, SIGTERM, SIGHUP};
    static const int deadly[] = {SIGQUIT, SIGABRT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
    static const int ignored[] = {SIGPIPE, SIGXFSZ};
    catch_all(noted, sizeof noted / sizeof *noted, note);
    catch_all(deadly, sizeof deadly / sizeof *deadly, give_up);
    catch_all(ignored, sizeof ignored / sizeof *ignored, SIG_IGN);
}

int motus_signal_caught(void) { return caught; }

void motus_signals_finish(void) { finishing = 1; }

void motus_signals_go_on(void) { finishing = 0; }
