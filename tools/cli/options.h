// Command-line options as tables: one row declares an option, parses it and documents it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_OPTIONS_H
#define TOOLS_CLI_OPTIONS_H

#include <stddef.h>

#include "motus/encoder.h"
#include "yuv/io/reader.h"

typedef struct MotusOption MotusOption;

// Reads `text` into *option->value. On failure returns 0 with the cause, "must be ...", in `cause`.
typedef int MotusOptionParse(const MotusOption *option, const char *text, char *cause, size_t size);

struct MotusOption {
    const char *name; // without dashes
    char letter;      // its short form, 0 = none
    void *value;
    MotusOptionParse *parse; // NULL: a flag, *(int *)value = lo
    int lo, hi;              // range of numbers
    const char *argument; // as shown in the help; NULL for a flag; "[=...]": may be left out, and
                          // is "" then
    const char *help;
};

// What a subcommand takes.
typedef struct MotusCommand {
    const char *name;
    const char *usage;          // after "motus NAME "
    const char *about;          // what it does, with examples
    const MotusOption *options; // ends with a NULL name
    const char **operands;      // filled in; NULL where none was given
    int max_operands;
} MotusCommand;

// Reads the command line. Returns -1 to go on, else the exit status (help was printed, or an
// error).
int motus_options_parse(const MotusCommand *command, int argc, char **argv);

// CUDA devices as --devices names them.
typedef struct MotusDeviceList {
    int n; // 0: not given; or MOTUS_ALL_DEVICES
    int device[MOTUS_MAX_GOP_CODERS];
} MotusDeviceList;

// Parsers; *value is an int, a const char *, int[2] (width, height), MotusRational, MotusSubpel,
// MotusBackend, MotusPreset, MotusDeinterlace, MotusDeviceList, a mask of MotusMode (uint32_t).
MotusOptionParse motus_option_int;
MotusOptionParse motus_option_text;
MotusOptionParse motus_option_size;
MotusOptionParse motus_option_rate;
MotusOptionParse motus_option_subpel;
MotusOptionParse motus_option_backend;
MotusOptionParse motus_option_deinterlace;
MotusOptionParse motus_option_preset;
MotusOptionParse motus_option_presets; // a list; *value is a mask (int) of 1 << MotusPreset
MotusOptionParse motus_option_devices;
MotusOptionParse motus_option_partitions; // 16x16 is always part of it
MotusOptionParse motus_option_modes;      // at least one

// "16x16", ... of a mode; "full", "half", "quarter". Static storage.
const char *motus_mode_name(MotusMode mode);
const char *motus_subpel_name(MotusSubpel subpel);

// Whether this build and machine have the backend; the error names the option.
MotusStatus motus_backend_check(MotusBackend backend, MotusError *error);

// Writes a mask as the list that motus_option_partitions reads.
void motus_modes_text(uint32_t modes, char *text, size_t size);

// An output must be no input (a file of a numbered series neither) and no other output; files are
// told apart by device and inode, devices and pipes may be named twice. NULL names are skipped.
// Returns -1, or the exit status after one line.
int motus_check_names(const char *command, const char *const *inputs, int n_inputs,
                      const char *const *outputs, int n_outputs);

// A MotusTell (yuv/io/reader.h) that prints all, or with *(const int *)opaque (quiet) only
// warnings; opaque may be NULL.
void motus_tell(void *opaque, MotusTold kind, const char *line);

// Whether `path` ends in one of the endings (".a\0.b\0" style list, closed by an empty one),
// ignoring case.
int motus_has_ending(const char *path, const char *endings);

#endif
