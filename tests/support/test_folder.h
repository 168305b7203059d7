// A folder for the files of a suite, made in the working directory, and what tests ask of files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_TEST_FOLDER_H
#define TESTS_TEST_FOLDER_H

#include <stddef.h>

#include "tests/support/harness.h"

// Runs the suite with a folder of its own, for main: a suite that leaves files in it fails.
int motus_test_main_in_folder(const char *suite, const MotusTest *tests, int argc, char **argv);

const char *test_folder(void);

// Name of a file in the folder; valid until the eighth next call.
const char *in_folder(const char *name);

void put_file(const char *path, const void *data, size_t size);

// Bytes read, at most capacity; 0 where there is no such file.
size_t get_file(const char *path, void *data, size_t capacity);

int exists(const char *path);

// Unfinished outputs (*.motus-*) in the folder; the last one's name in `name` (may be NULL).
int parts(char name[128]);

#endif
