// The summary of a comparison, on standard output.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_PRINT_H
#define TOOLS_COMPARE_PRINT_H

#include <cjson/cJSON.h>

void motus_compare_print(const cJSON *report);

#endif
