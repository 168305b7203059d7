// The CUDA devices that this process sees, by its options.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/harness.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"

// Parses the arguments of a command with such options. Returns the exit status, -1: good.
static int parse(const char *first, const char *second, MotusDeviceList *list) {
    int device = -1;
    const MotusOption options[] = {
        {"devices", 0, list, motus_option_devices, 0, 0, "LIST", ""},
        MOTUS_INT("number", 'n', &device, 1, 5, ""),
        {"gpu", 0, &device, motus_option_device, 0, 255, "N", ""},
        {0},
    };
    const MotusCommand command = {"test", "", "", options, NULL, 0};
    char name[] = "test", argument[2][16] = {"", ""}, *argv[] = {name, argument[0], argument[1], 0};
    snprintf(argument[0], sizeof argument[0], "%s", first);
    if (second) snprintf(argument[1], sizeof argument[1], "%s", second);
    return motus_options_parse(&command, second ? 3 : 2, argv);
}

// True if CUDA_VISIBLE_DEVICES is `text`; NULL: not set.
static int sees(const char *text) {
    const char *value = getenv("CUDA_VISIBLE_DEVICES");
    return text && value ? !strcmp(value, text) : !text && !value;
}

// One device is visible unless an option names devices, also by a shortened name.
static void devices(void) {
    static const char *const cases[][2] = {
        {"--devices", "1,0"}, {"--d", "1,0"}, {"--dev=1,0", NULL}, {"--gpu", "7"}};
    MotusDeviceList list;
    char line[128] = "";
    motus_warn_into(line, sizeof line);
    for (int i = 0; i < 4; i++) {
        unsetenv("CUDA_VISIBLE_DEVICES");
        motus_devices_hide();
        CU_ASSERT(sees("0"));
        CU_ASSERT_EQUAL(parse("-n", "3", &list), -1);
        CU_ASSERT(sees("0"));
        list = (MotusDeviceList){0};
        MOTUS_CHECK(parse(cases[i][0], cases[i][1], &list) == -1, "%s: %s", cases[i][0], line);
        MOTUS_CHECK(sees(NULL), "%s", cases[i][0]);
        CU_ASSERT(list.n == (i < 3 ? 2 : 0) && list.device[0] == (i < 3) && !list.device[1]);
    }
    setenv("CUDA_VISIBLE_DEVICES", "3,4", 1);
    motus_devices_hide();
    CU_ASSERT_EQUAL(parse("--devices", "all", &list), -1);
    CU_ASSERT(sees("3,4"));
    line[0] = 0;
    CU_ASSERT_EQUAL(parse("--devices", "1,1", &list), MOTUS_EXIT_USAGE);
    CU_ASSERT_STRING_EQUAL(line, "--devices 1,1: has device 1 twice (see motus test --help)");
    motus_warn_into(NULL, 0);
}

// The word that was meant, and none for a word that is far from all.
static void suggestions(void) {
    static const char *const names[] = {"bitrate", "crf", "preset", "profile", "qp"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {{"bitrte", "bitrate"},
                 {"bit-rate", "bitrate"},
                 {"rcf", "crf"},
                 {"crff", "crf"},
                 {"prest", "preset"},
                 {"proflie", "profile"},
                 {"zap", NULL},
                 {"q", "qp"},
                 {"", NULL},
                 {"frobnicate", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = motus_nearest_word(cases[i].word, names, 5);
        MOTUS_CHECK(found == cases[i].nearest ||
                        (found && cases[i].nearest && !strcmp(found, cases[i].nearest)),
                    "%s: %s", cases[i].word, found ? found : "none");
    }
    CU_ASSERT_EQUAL(motus_word_distance("abcd", "acbd"), 1); // a swap
    CU_ASSERT_EQUAL(motus_word_distance("", "abc"), 3);
}

int main(int argc, char **argv) {
    static const MotusTest tests[] = {{"devices", devices}, {"suggestions", suggestions}, {0}};
    return motus_test_main("options", tests, argc, argv);
}
