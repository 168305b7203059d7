// json_check FILE PATH...: parses a JSON file and prints the value at each path (names and array
// indices with dots between, "per_frame.0.type"; "per_frame.#" is the array's length). Exit status
// 1 where the file is no JSON or a path is missing.
// SPDX-License-Identifier: BSD-2-Clause
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = NULL;
    size_t used = 0, capacity = 0;
    for (int c; (c = fgetc(file)) != EOF;) {
        if (used + 2 > capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            text = realloc(text, capacity);
            if (!text) abort();
        }
        text[used++] = (char)c;
    }
    if (text) text[used] = 0;
    fclose(file);
    return text;
}

static const cJSON *step(const cJSON *node, const char *name) {
    if (cJSON_IsArray(node)) return cJSON_GetArrayItem(node, (int)strtol(name, NULL, 10));
    return cJSON_GetObjectItemCaseSensitive(node, name);
}

static int print_path(const cJSON *node, const char *path) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *name = strtok(copy, "."); name && node; name = strtok(NULL, ".")) {
        if (!strcmp(name, "#")) return printf("%d\n", cJSON_GetArraySize(node)) > 0;
        node = step(node, name);
    }
    if (!node) return 0;
    char *text = cJSON_IsString(node) ? NULL : cJSON_PrintUnformatted(node);
    printf("%s\n", text ? text : node->valuestring);
    cJSON_free(text);
    return 1;
}

int main(int argc, char **argv) {
    char *text = argc > 1 ? load(argv[1]) : NULL;
    const char *end = NULL;
    cJSON *root = text ? cJSON_ParseWithOpts(text, &end, 1) : NULL;
    int ok = root != NULL;
    if (!ok) fprintf(stderr, "json_check: %s is no JSON\n", argc > 1 ? argv[1] : "(no file)");
    for (int i = 2; ok && i < argc; i++) {
        ok = print_path(root, argv[i]);
        if (!ok) fprintf(stderr, "json_check: %s: no %s\n", argv[1], argv[i]);
    }
    cJSON_Delete(root);
    free(text);
    return !ok;
}
