// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/cmd.h"

enum {
    MAX_OPTIONS = 80,
    HINT_SIZE = 96,
    HELP_CODE = 256,  // getopt_long returns this for --help,
    FIRST_CODE = 257, // and FIRST_CODE + i for option i
};

static void print_help(const MotusCommand *command) {
    printf("usage: motus %s %s\n\n%s", command->name, command->usage, command->about);
    printf("\nOptions:\n");
    for (const MotusOption *o = command->options; o->name; o++) {
        char left[64], letter[8] = "    ";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s %s", letter, o->name, o->argument ? o->argument : "");
        printf("  %-30s %s\n", left, o->help);
    }
    printf("  %-30s %s\n", "-h, --help", "this text");
}

// True for "-word", which getopt takes for a row of letters.
static int is_single_dashed(const char *word) {
    return word[0] == '-' && word[1] && word[1] != '-' && word[2];
}

static const MotusOption *find_option(const MotusCommand *command, const char *name) {
    for (const MotusOption *o = command->options; name && o->name; o++)
        if (!strcmp(o->name, name)) return o;
    return NULL;
}

// Writes "; did you mean --NAME?" or a remark for a word without its dashes, or "". With `exact`
// the word must be an option's name, ours or another program's.
static void suggest(const MotusCommand *command, const char *word, int exact,
                    char text[HINT_SIZE]) {
    const char *names[MAX_OPTIONS + 1], *nearest = NULL;
    char name[40];
    int n = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (; n < MAX_OPTIONS && command->options[n].name; n++) names[n] = command->options[n].name;
    const MotusOption *o = find_option(command, motus_foreign_option(name));
    const char *remark = find_option(command, "crf") ? motus_foreign_remark(name) : NULL;
    if (!o) o = find_option(command, name);
    names[n++] = "help";
    if (!o && !exact && !remark) nearest = motus_nearest_word(name, names, n);
    if (o) nearest = o->name;
    text[0] = 0;
    if (remark) snprintf(text, HINT_SIZE, "; %s", remark);
    if (nearest) snprintf(text, HINT_SIZE, "; did you mean --%s?", nearest);
}

// Returns the word of the option that getopt_long returned or refused.
static const char *given_word(int argc, char **argv, int letter) {
    if (optarg && optarg == argv[optind - 1]) return argv[optind - 2];
    const char *next = letter && letter < HELP_CODE && optind < argc ? argv[optind] : "";
    return is_single_dashed(next) && strchr(next, letter) ? next : argv[optind - 1];
}

// Prints what getopt_long refused by `code`, ':' for a missing value. Returns the exit status.
static int bad_option(const MotusCommand *command, int code, const char *given) {
    char hint[HINT_SIZE];
    if (optopt >= HELP_CODE)
        return motus_usage_error(command->name, "%s: %s value", given,
                                 code == ':' ? "needs a" : "takes no");
    for (const MotusOption *o = command->options; o->name; o++)
        if (optopt && o->letter == optopt)
            return motus_usage_error(command->name, "-%c: needs a value", optopt);
    suggest(command, given + strspn(given, "-"), 0, hint);
    if (optopt && !is_single_dashed(given) && given[1] != '-')
        return motus_usage_error(command->name, "-%c: no such option%s", optopt, hint);
    return motus_usage_error(command->name, "%s: no such option%s", given, hint);
}

// Parses the option's value; `given` is its word. Returns -1, or the exit status after one line.
static int apply(const MotusCommand *command, const MotusOption *o, const char *given,
                 const char *text, char note[MOTUS_NOTE_SIZE]) {
    char cause[200] = "", hint[HINT_SIZE] = "";
    if (!o->parse) {
        *(int *)o->value = o->lo;
        return -1;
    }
    const int good = o->parse(o, text, cause, sizeof cause);
    if (good == MOTUS_OPTION_NOTED)
        snprintf(note, MOTUS_NOTE_SIZE, "note: --%s %s", o->name, cause);
    if (good) return -1;
    // ffmpeg's "-threads 4" reads as "-t hreads".
    if (is_single_dashed(given)) suggest(command, given + 1, 1, hint);
    if (hint[0]) return motus_usage_error(command->name, "%s: no such option%s", given, hint);
    return motus_usage_error(command->name, "--%s %s: %s", o->name, text, cause);
}

static int take_operands(const MotusCommand *command, int argc, char **argv) {
    for (int i = 0; i < command->max_operands; i++)
        command->operands[i] = optind < argc ? argv[optind++] : NULL;
    if (optind < argc)
        return motus_usage_error(command->name, "%s: one argument too many", argv[optind]);
    return -1;
}

int motus_options_parse(const MotusCommand *command, int argc, char **argv) {
    char note[MOTUS_NOTE_SIZE];
    const int status = motus_options_parse_quietly(command, argc, argv, note);
    if (status < 0 && note[0]) motus_warn("%s", note);
    return status;
}

int motus_options_parse_quietly(const MotusCommand *command, int argc, char **argv,
                                char note[MOTUS_NOTE_SIZE]) {
    note[0] = 0;
    struct option known[MAX_OPTIONS + 2] = {{"help", no_argument, NULL, HELP_CODE}};
    char letters[2 * MAX_OPTIONS + 4] = ":h", *end = letters + 2;
    for (int i = 0; i < MAX_OPTIONS && command->options[i].name; i++) {
        const MotusOption *o = &command->options[i];
        int takes = !o->parse               ? no_argument
                    : o->argument[0] == '[' ? optional_argument
                                            : required_argument;
        known[i + 1] = (struct option){o->name, takes, NULL, FIRST_CODE + i};
        if (o->letter) *end++ = o->letter;
        if (o->letter && o->parse) *end++ = ':';
    }
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, letters, known, NULL)) != -1;) {
        const char *given = given_word(argc, argv, code == '?' ? optopt : code);
        if (code == '?' || code == ':') return bad_option(command, code, given);
        if (code == 'h' && is_single_dashed(given)) return bad_option(command, '?', given);
        if (code == 'h' || code == HELP_CODE) {
            print_help(command);
            return motus_flush_stdout();
        }
        const MotusOption *o = command->options;
        if (code >= FIRST_CODE)
            o += code - FIRST_CODE;
        else
            while (o->letter != code) o++;
        int status = apply(command, o, given, optarg ? optarg : "", note);
        if (status >= 0) return status;
    }
    return take_operands(command, argc, argv);
}

int motus_options_input(const char *command, const char *option, const char *const operands[2],
                        const char **input, const char **output) {
    *input = option ? option : operands[0];
    const char *more = option ? operands[0] : operands[1];
    if (option && !*output) {
        *output = operands[0];
        more = operands[1];
    }
    if (!more) return -1;
    return motus_usage_error(command, "%s: one argument too many; the output is -o FILE", more);
}

void motus_print_log(void *opaque, MotusLogLevel level, const char *line) {
    const int *quiet = opaque;
    if (level != MOTUS_LOG_NOTE || !quiet || !*quiet) motus_warn("%s", line);
}

int motus_has_ending(const char *path, const char *endings) {
    size_t length = strlen(path);
    for (const char *e = endings; *e; e += strlen(e) + 1)
        if (length > strlen(e) && !strcasecmp(path + length - strlen(e), e)) return 1;
    return 0;
}
