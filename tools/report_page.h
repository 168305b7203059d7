// The page of motus compare: one HTML file with styles, scripts and charts in it, made from tools/report when the program is built.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_REPORT_PAGE_H
#define TOOLS_REPORT_PAGE_H

#include <stddef.h>

// Stands once in the page. The report's data (docs/compare.md) take its place, as JSON in which every '<' is written as \u003c, so that nothing in a
// name can end the script element.
#define MOTUS_REPORT_PLACEHOLDER "@MOTUS_REPORT_DATA@"

extern const unsigned char motus_report_page[]; // UTF-8, with a zero behind it that the size does not count
extern const size_t motus_report_page_size;

#endif
