// Ctrl-C and its like end a job after the picture at hand; a closed pipe or a size limit is an
// error of the write, not a death.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_SIGNALS_H
#define TOOLS_CLI_SIGNALS_H

// From now on SIGINT, SIGTERM and SIGHUP are noted (a second one of them kills) unless the parent
// had them ignored (nohup, a shell's background job); SIGPIPE and SIGXFSZ are ignored. What kills
// removes the parts of outputs first, SIGQUIT and its like too.
void motus_signals_catch(void);

// The number of the signal that came, 0 = none.
int motus_signal_caught(void);

// The last frame is done and outputs get their names: a signal that comes now comes too late, so
// that names and exit status agree.
void motus_signals_finish(void);

// There is more to do after all: signals count again.
void motus_signals_go_on(void);

#endif
