// A fuzz target: the function that libFuzzer or replay.c calls, and its well-formed seeds.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "yuv/io/reader_ops.h"

#define FUZZ_MAX_INPUT 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Writes seed number `index` to data[FUZZ_MAX_INPUT] and returns its size; 0 behind the last.
size_t motus_fuzz_seed(int index, uint8_t *data);

// Opens `data` as a file called `name`, reads or skips up to max_frames frames and checks every
// reader's promises. Returns the number of frames; *status is the last status.
int motus_fuzz_read(const uint8_t *data, size_t size, const char *name,
                    const MotusReaderOptions *options, int max_frames, MotusStatus *status);

#endif
