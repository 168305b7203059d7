// The report's files.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "tools/compare/compare.h"
#include "tools/report/report_page.h"

static const char placeholder[] = "@MOTUS_DATA@";

// JSON inside HTML: a "<" might begin a tag that ends the script.
static MotusStatus write_escaped(MotusOutput *out, const char *text, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    while (*text && !status) {
        const size_t n = strcspn(text, "<");
        status = motus_output_write(out, text, n, error);
        text += n;
        if (status || !*text) break;
        status = motus_output_write(out, "\\u003c", 6, error);
        text++;
    }
    return status;
}

static MotusStatus write_page(MotusOutput *out, const char *json, MotusError *error) {
    const char *page = motus_report_page, *end = page + motus_report_page_size,
               *at = strstr(page, placeholder);
    if (!at)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "the report's page has no place for its data");
    const char *rest = at + sizeof placeholder - 1;
    MotusStatus status = motus_output_write(out, page, (size_t)(at - page), error);
    if (!status) status = write_escaped(out, json, error);
    return status ? status : motus_output_write(out, rest, (size_t)(end - rest), error);
}

// Writes `text` through `write` to a file that appears when it is complete; takes the text.
static MotusStatus write_file(const char *path, char *text,
                              MotusStatus (*write)(MotusOutput *, const char *, MotusError *),
                              MotusError *error) {
    if (!text) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    MotusOutput *out = NULL;
    MotusStatus status = motus_output_open(&out, path, error);
    if (!status) status = write(out, text, error);
    if (!status) status = motus_output_commit(&out, error);
    motus_output_abandon(&out);
    free(text);
    return status;
}

MotusStatus motus_compare_write_page(const char *folder, const cJSON *report, MotusError *error) {
    char path[4096];
    snprintf(path, sizeof path, "%s/index.html", folder);
    return write_file(path, cJSON_PrintUnformatted(report), write_page, error);
}

static MotusStatus write_plain(MotusOutput *out, const char *text, MotusError *error) {
    MotusStatus status = motus_output_write(out, text, strlen(text), error);
    return status ? status : motus_output_write(out, "\n", 1, error);
}

static cJSON *first_of(const cJSON *object, const char *name) {
    const cJSON *array = cJSON_GetObjectItem(object, name);
    return array ? array->child : NULL;
}

MotusStatus motus_compare_write_json(const char *path, cJSON *report, MotusError *error) {
    for (cJSON *s = first_of(report, "sequences"); s; s = s->next) {
        cJSON_DeleteItemFromObject(s, "pictures");
        for (const cJSON *run = first_of(s, "runs"); run; run = run->next)
            for (cJSON *frame = first_of(run, "frames"); frame; frame = frame->next)
                cJSON_DeleteItemFromObject(frame, "mbs");
    }
    return write_file(path, cJSON_Print(report), write_plain, error);
}
