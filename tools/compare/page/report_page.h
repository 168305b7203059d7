// The page of motus compare: HTML with the text @MOTUS_DATA@ in the place of its data
// (docs/compare.md).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_PAGE_REPORT_PAGE_H
#define TOOLS_COMPARE_PAGE_REPORT_PAGE_H

#include <stddef.h>

extern const char motus_report_page[];
extern const size_t motus_report_page_size; // bytes

#endif
