// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "yuv/io/writer.h"

int motus_check_sequence_name(const char *command, const char *option, const char *path) {
    struct stat st;
    if (!path || !strcmp(path, "-") || motus_output_descriptor(path) >= 0 ||
        motus_has_ending(path, ".y4m\0.yuv\0") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
        return -1;
    return motus_usage_error(command, "%s %s: must end in .y4m or .yuv", option, path);
}

// Reads a line from the terminal. True if it begins with y or Y.
static int says_yes(void) {
    char first = 0, c;
    for (ssize_t n; (n = read(STDIN_FILENO, &c, 1)) == 1 && c != '\n';)
        if (!first) first = c;
    return first == 'y' || first == 'Y';
}

int motus_may_overwrite(MotusOverwrite overwrite, const char *const *outputs, int n) {
    struct stat st;
    char names[400];
    size_t used = 0;
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (!outputs[i] || !strcmp(outputs[i], "-") || motus_output_descriptor(outputs[i]) >= 0 ||
            stat(outputs[i], &st) || !S_ISREG(st.st_mode))
            continue;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", found ? ", " : "",
                                     motus_shown(outputs[i]));
        found++;
    }
    if (!found || overwrite == MOTUS_OVERWRITE_YES) return -1;
    if (overwrite == MOTUS_OVERWRITE_ASK) {
        if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) return -1;
        fprintf(stderr, "motus: %s: %s already. Replace %s? [y/N] ", names,
                found > 1 ? "exist" : "exists", found > 1 ? "them" : "it");
        fflush(stderr);
        if (says_yes()) return -1;
    }
    motus_warn("%s: %s already; nothing was done", names, found > 1 ? "exist" : "exists");
    return MOTUS_EXIT_FAILURE;
}

int motus_output_beside(const char *input, const char *ending, char *name, size_t size) {
    struct stat st;
    if (!strcmp(input, "-") || stat(input, &st) || !S_ISREG(st.st_mode)) return 0;
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input,
               *dot = strrchr(base, '.');
    const int length = (int)(dot && dot > base ? dot - input : (long)strlen(input));
    if (snprintf(name, size, "%.*s%s", length, input, ending) >= (int)size) return 0;
    return !motus_is_input(input, name) ||
           snprintf(name, size, "%.*s.h264%s", length, input, ending) < (int)size;
}

MotusStatus motus_folder_make(const char *path, MotusError *error) {
    struct stat is;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &is) && S_ISDIR(is.st_mode)))
        return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path),
                      errno == EEXIST ? "is no folder" : strerror(errno));
}
