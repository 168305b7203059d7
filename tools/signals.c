// SPDX-License-Identifier: BSD-2-Clause
#include "tools/signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void note(int number) { caught = number; }

void motus_signals_catch(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = note;
    action.sa_flags = (int)SA_RESETHAND; // no SA_RESTART: a read from a silent pipe must return
    const int noted[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction before;
        if (!sigaction(noted[i], NULL, &before) && before.sa_handler != SIG_IGN) sigaction(noted[i], &action, NULL);
    }
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

int motus_signal_caught(void) { return caught; }
