// Command-line options as tables: one row declares an option, parses it and documents it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_OPTIONS_H
#define TOOLS_CLI_OPTIONS_H

#include <stddef.h>

#include "motus/encoder.h"
#include "yuv/io/reader.h"

// "Did you mean": the known word that a given one is probably meant for.

// Returns the number of letters to change, insert, drop or swap with their neighbour.
int motus_word_distance(const char *a, const char *b);

// Returns the nearest of n names, NULL if none is near: a letter in three may differ.
const char *motus_nearest_word(const char *word, const char *const *names, int n);

// Returns our name of an option that x264 or ffmpeg calls otherwise (without dashes), NULL: none.
const char *motus_foreign_option(const char *name);

// Returns why motus encode has no option like this one of x264 or ffmpeg, NULL: not known.
const char *motus_foreign_remark(const char *name);

typedef struct MotusOption MotusOption;

// Parses `text` into *option->value. Returns 0 on failure, with "must be ..." in `cause`, 1, or
// MOTUS_OPTION_NOTED with a note in `cause`.
typedef int MotusOptionParse(const MotusOption *option, const char *text, char *cause, size_t size);

enum { MOTUS_OPTION_NOTED = 2 };

struct MotusOption {
    const char *name; // without dashes
    char letter;      // short form, 0 = none
    void *value;
    MotusOptionParse *parse; // NULL: a flag, *(int *)value = lo
    int lo, hi;              // range of numbers
    const char *argument;    // as the help shows it, NULL for a flag; "[=...]" is optional, "" then
    const char *help;
    const char *words; // for motus_option_word: "a\0b\0", closed by an empty one
};

// A subcommand's command line.
typedef struct MotusCommand {
    const char *name;
    const char *usage;          // after "motus NAME "
    const char *about;          // text of --help, with examples
    const MotusOption *options; // ends with a NULL name
    const char **operands;      // filled in; NULL for missing ones
    int max_operands;
} MotusCommand;

// Parses the command line. Returns -1 to go on, else the exit status: help was printed, or an
// error.
int motus_options_parse(const MotusCommand *command, int argc, char **argv);

// Does the same and hands out the last note on a value, or "", instead of printing it.
#define MOTUS_NOTE_SIZE 240
int motus_options_parse_quietly(const MotusCommand *command, int argc, char **argv,
                                char note[MOTUS_NOTE_SIZE]);

// Finds the input, which -i FILE (`option`) or the first of two operands names. The next operand
// after -i is the output if -o has not named one. Returns -1, else the exit status.
int motus_options_input(const char *command, const char *option, const char *const operands[2],
                        const char **input, const char **output);
#define MOTUS_OPTION_INPUT(value) MOTUS_TEXT("input", 'i', value, "FILE", "input, as without -i")

// A place in a sequence: a number of frames, or a time.
typedef struct MotusPosition {
    int frames;
    int64_t us;       // microseconds; 0: not by time
    const char *text; // as it was given; NULL: not at all
} MotusPosition;

// CUDA devices as --devices lists them.
typedef struct MotusDeviceList {
    int n; // 0: not given; or MOTUS_ALL_DEVICES
    int device[MOTUS_MAX_GOP_CODERS];
} MotusDeviceList;

// Parsers, and the types that *value has.
MotusOptionParse motus_option_int;        // int in lo..hi
MotusOptionParse motus_option_number;     // double in lo..hi
MotusOptionParse motus_option_ratio;      // double in 0.1..hi
MotusOptionParse motus_option_bitrate;    // as motus_option_kilobits, at least 0.001
MotusOptionParse motus_option_kilobits;   // double in lo..hi, k: 800, 800k, 0.8M
MotusOptionParse motus_option_position;   // MotusPosition: 100 (frames), 00:01:30, 90s, 500ms
MotusOptionParse motus_option_duration;   // MotusPosition by time: 00:01:30, 90, 90s, 500ms
MotusOptionParse motus_option_text;       // const char *, not empty
MotusOptionParse motus_option_size;       // int[2]: width, height
MotusOptionParse motus_option_rate;       // MotusRational
MotusOptionParse motus_option_word;       // int or enum: index among the row's words
MotusOptionParse motus_option_backend;    // MotusBackend
MotusOptionParse motus_option_preset;     // MotusPreset; x264's names are taken with a note
MotusOptionParse motus_option_profile;    // MotusProfile
MotusOptionParse motus_option_presets;    // int: a mask of 1 << MotusPreset
MotusOptionParse motus_option_device;     // int; shows the CUDA devices (motus_devices_show)
MotusOptionParse motus_option_devices;    // MotusDeviceList; shows them, too
MotusOptionParse motus_option_partitions; // uint32_t: a mask of 1 << MotusMode, always with 16x16
MotusOptionParse motus_option_modes;      // uint32_t: a mask of 1 << MotusMode, at least one

// Writes the help of --preset: all names, and the default. Returns text.
const char *motus_preset_help(char *text, size_t size);

// Rows of flags, whole numbers, texts and words, and rows that several commands have.
#define MOTUS_FLAG(name, value, help)                                                              \
    { name, 0, value, NULL, 1, 0, NULL, help }
#define MOTUS_INT(name, letter, value, lo, hi, help)                                               \
    { name, letter, value, motus_option_int, lo, hi, "N", help }
#define MOTUS_TEXT(name, letter, value, argument, help)                                            \
    { name, letter, value, motus_option_text, 0, 0, argument, help }
#define MOTUS_WORD(name, value, argument, help, words)                                             \
    { name, 0, value, motus_option_word, 0, 0, argument, help, words }
#define MOTUS_OPTION_DEINTERLACE(value, help)                                                      \
    MOTUS_WORD("deinterlace", value, "WHEN", help, "auto\0off\0on\0") // by MotusDeinterlace
// By MotusSubpel, whose last one no encoder takes.
#define MOTUS_SUBPEL_WORDS "full\0half\0quarter\0"
#define MOTUS_OPTION_SIZE(value)                                                                   \
    { "size", 's', value, motus_option_size, 0, 0, "WxH", "size of headerless input" }
#define MOTUS_OPTION_THREADS(value, help) MOTUS_INT("threads", 't', value, 0, 256, help)
#define MOTUS_OPTION_BACKEND(value)                                                                \
    { "backend", 0, value, motus_option_backend, 0, 0, "NAME", "auto, cpu or cuda (auto)" }

// Returns word i of "a\0b\0", which an empty one ends.
const char *motus_word(const char *words, int i);

// Return "16x16", ... of a mode; "full", "half", "quarter", "best". Static storage.
const char *motus_mode_name(MotusMode mode);
const char *motus_subpel_name(MotusSubpel subpel);

// Writes a mask of modes as motus_option_partitions reads it.
void motus_modes_text(uint32_t modes, char *text, size_t size);

// MOTUS_OK if this build and machine have the backend; else *error names the option.
MotusStatus motus_backend_check(MotusBackend backend, MotusError *error);

// A file that a command reads, with the words for it in "is WHAT as well".
typedef struct MotusInputName {
    const char *path, *what;
} MotusInputName;

// True if `output` is the input, or one of the files that the input stands for.
int motus_is_input(const char *input, const char *output);

// Returns -1 if no output is an input, too, or named twice; else the exit status after one line.
// Inputs include the files of a numbered series and of playlists. Files are compared by device and
// inode; devices and pipes may be named twice. NULL names are skipped.
int motus_check_names(const char *command, const MotusInputName *inputs, int n_inputs,
                      const char *const *outputs, int n_outputs);

// True if `path` ends in one of the endings, ignoring case: ".a\0.b\0", closed by an empty one.
int motus_has_ending(const char *path, const char *endings);

// A MotusLogCallback that prints every line, or with *(const int *)opaque (quiet) no notes; opaque
// may be NULL.
void motus_print_log(void *opaque, MotusLogLevel level, const char *line);

#endif
