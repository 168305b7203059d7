// Running other programs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_SPAWN_H
#define TOOLS_CLI_SPAWN_H

// Runs a program (found on the PATH, or where its name says) and waits for it. What it prints on
// stdout and stderr goes to the file `log` (NULL: is thrown away). Returns its exit status: 127
// where it could not be started, 126 where a signal ended it. A signal that this program has caught
// is passed on to it.
int motus_spawn(char *const argv[], const char *log);

#endif
