// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/test_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/harness.h"

static char folder[] = "test_folder.XXXXXX";

const char *test_folder(void) { return folder; }

const char *in_folder(const char *name) {
    static char names[8][128];
    static int turn;
    char *to = names[turn++ % 8];
    snprintf(to, sizeof names[0], "%s/%s", folder, name);
    return to;
}

void put_file(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    CU_ASSERT_FATAL(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

size_t get_file(const char *path, void *data, size_t capacity) {
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    size_t size = fread(data, 1, capacity, f);
    fclose(f);
    return size;
}

int exists(const char *path) { return !access(path, F_OK); }

int parts(char name[128]) {
    DIR *list = opendir(folder);
    int n = 0;
    for (struct dirent *d; list && (d = readdir(list));)
        if (strstr(d->d_name, ".motus-")) {
            n++;
            if (name) snprintf(name, 128, "%s/%.100s", folder, d->d_name);
        }
    if (list) closedir(list);
    return n;
}

int motus_test_main_in_folder(const char *suite, const MotusTest *tests, int argc, char **argv) {
    if (!mkdtemp(folder)) return 1;
    int status = motus_test_main(suite, tests, argc, argv);
    return rmdir(folder) ? 1 : status;
}
