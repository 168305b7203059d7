// Names of inputs and outputs that must not meet.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cmd.h"
#include "tools/options.h"

#define FIRST_NUMBERS 5 // a numbered series begins with 0 to 4, as libavformat has it

static int same_inode(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

// Whether `output` is a file of the series img%03d.png.
static int is_in_series(const char *pattern, const struct stat *output) {
    const char *percent = strchr(pattern, '%');
    size_t digits = percent ? strspn(percent + 1, "0123456789") : 0;
    if (!percent || percent[1 + digits] != 'd') return 0;
    int width = atoi(percent + 1), found = 1;
    for (int n = 0; n < INT_MAX && (found || n < FIRST_NUMBERS); n++) {
        char name[PATH_MAX];
        struct stat st;
        int length = snprintf(name, sizeof name, "%.*s%0*d%s", (int)(percent - pattern), pattern, width < 20 ? width : 20, n,
                              percent + digits + 2);
        if (length >= (int)sizeof name) return 0;
        found = !stat(name, &st);
        if (found && same_inode(&st, output)) return 1;
    }
    return 0;
}

static int is_input(const char *input, const char *output) {
    struct stat in, out;
    if (!strcmp(output, "-")) return 0;
    int exists = !stat(output, &out);
    if (strcmp(input, "-") ? stat(input, &in) : fstat(0, &in))
        return !strcmp(input, output) || (exists && is_in_series(input, &out));
    return exists && S_ISREG(in.st_mode) && same_inode(&in, &out);
}

static int same_output(const char *a, const char *b) {
    struct stat st, other;
    int is_stdout = !strcmp(a, "-");
    if (!is_stdout && !stat(a, &st) && !S_ISREG(st.st_mode)) return 0;
    if (!strcmp(a, b)) return 1;
    return !is_stdout && strcmp(b, "-") && !stat(a, &st) && !stat(b, &other) && same_inode(&st, &other);
}

int motus_check_names(const char *command, const char *const *inputs, int n_inputs, const char *const *outputs, int n_outputs) {
    for (int i = 0; i < n_outputs; i++) {
        if (!outputs[i]) continue;
        for (int j = 0; j < n_inputs; j++)
            if (inputs[j] && is_input(inputs[j], outputs[i]))
                return motus_usage_error(command, "%s: is %s as well; nothing was done", outputs[i],
                                         j ? "the background, an input" : "the input");
        for (int j = 0; j < i; j++)
            if (outputs[j] && same_output(outputs[i], outputs[j]))
                return motus_usage_error(command, "%s: is named for two outputs", outputs[i]);
    }
    return -1;
}
