// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/cmd.h"

enum {
    MAX_OPTIONS = 80,
    FIRST_CODE = 256, // getopt_long returns FIRST_CODE + i for option i
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

// Prints what getopt_long refused. Returns the exit status.
static int bad_option(const MotusCommand *command, char **argv) {
    const char *given = argv[optind - 1];
    if (optopt >= FIRST_CODE) return motus_usage_error(command->name, "%s: needs a value", given);
    if (optopt && optopt < FIRST_CODE) {
        for (const MotusOption *o = command->options; o->name; o++)
            if (o->letter == optopt)
                return motus_usage_error(command->name, "-%c: needs a value", optopt);
        return motus_usage_error(command->name, "-%c: no such option", optopt);
    }
    return motus_usage_error(command->name, "%s: no such option", given);
}

// Parses the option's value. Returns -1, or the exit status after one line.
static int apply(const MotusCommand *command, const MotusOption *o, const char *text) {
    char cause[160] = "";
    if (!o->parse) {
        *(int *)o->value = o->lo;
        return -1;
    }
    if (o->parse(o, text, cause, sizeof cause)) return -1;
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
    struct option known[MAX_OPTIONS + 2] = {{"help", no_argument, NULL, 'h'}};
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
        if (code == '?' || code == ':') return bad_option(command, argv);
        if (code == 'h') {
            print_help(command);
            return motus_flush_stdout();
        }
        const MotusOption *o = command->options;
        if (code >= FIRST_CODE)
            o += code - FIRST_CODE;
        else
            while (o->letter != code) o++;
        int status = apply(command, o, optarg ? optarg : "");
        if (status >= 0) return status;
    }
    return take_operands(command, argc, argv);
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
