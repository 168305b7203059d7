// Names of inputs and outputs that must not meet.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include <sys/stat.h>

#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/media/playlist.h"

static int is_input(const char *input, const char *output) {
    struct stat in, out;
    if (!strcmp(output, "-")) return 0;
    if (stat(output, &out)) return !strcmp(input, output);
    if (strcmp(input, "-")) return motus_playlist_names(input, &out);
    return !fstat(0, &in) && S_ISREG(in.st_mode) && motus_same_file(&in, &out);
}

static int same_output(const char *a, const char *b) {
    struct stat st, other;
    int is_stdout = !strcmp(a, "-");
    if (!is_stdout && !stat(a, &st) && !S_ISREG(st.st_mode)) return 0;
    if (!strcmp(a, b)) return 1;
    return !is_stdout && strcmp(b, "-") && !stat(a, &st) && !stat(b, &other) &&
           motus_same_file(&st, &other);
}

int motus_check_names(const char *command, const char *const *inputs, int n_inputs,
                      const char *const *outputs, int n_outputs) {
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
