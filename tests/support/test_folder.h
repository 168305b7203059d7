// A temporary folder for the files of a suite, in the working directory, and file helpers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_TEST_FOLDER_H
#define TESTS_TEST_FOLDER_H

#include <stddef.h>

#include "tests/support/harness.h"

// Runs the suite with a folder of its own, for main. Files left in the folder are a failure.
int motus_test_main_in_folder(const char *suite, const MotusTest *tests, int argc, char **argv);

const char *test_folder(void);

// Returns a name in the folder, valid until the eighth next call.
const char *in_folder(const char *name);

void put_file(const char *path, const void *data, size_t size);

// Returns the bytes read, at most capacity; 0 if there is no such file.
size_t get_file(const char *path, void *data, size_t capacity);

int exists(const char *path);

// Counts temporary outputs (*.motus-*) in the folder; stores the last one's name if `name` is not
// NULL.
int parts(char name[128]);

#endif
