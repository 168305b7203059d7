// Ctrl-C and its like end a job after the current picture; a closed pipe or a size limit is an
// error of the write.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_SIGNALS_H
#define TOOLS_CLI_SIGNALS_H

// Notes SIGINT, SIGTERM and SIGHUP from now on; a second one kills. Those that the parent had
// ignored (nohup, a background job) stay ignored, and SIGPIPE and SIGXFSZ become so. Whatever
// signal kills, SIGQUIT and its like included, removes the temporary output files first.
void motus_signals_catch(void);

// Returns the number of the signal that came, 0 = none.
int motus_signal_caught(void);

// Ignores signals from now on: the last frame is done, and outputs get their names. So names and
// exit status agree.
void motus_signals_finish(void);

// Notes signals again: there is more to do.
void motus_signals_go_on(void);

#endif
