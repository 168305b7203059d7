// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/compare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "tools/cli/options.h"

int motus_compare_encoders_first(const MotusCompareEncoders *encoders, int is_x264) {
    for (int i = 0; i < encoders->n; i++)
        if (encoders->encoder[i].is_x264 == is_x264) return i;
    return -1;
}

static MotusStatus cut_into_words(MotusCompareEncoder *c, MotusError *error) {
    int n = 0;
    memcpy(c->words_text, c->args, sizeof c->words_text);
    for (char *p = c->words_text; *(p += strspn(p, " \t"));) {
        if (n == MOTUS_X264_WORDS / 2)
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "%s: too many options", c->name);
        c->word[n++] = p;
        p += strcspn(p, " \t");
        if (*p) *p++ = 0;
    }
    c->word[n] = NULL;
    return MOTUS_OK;
}

// Reads the options of motus encode that a setting may have.
static MotusStatus read_ours(MotusCompareEncoder *c, MotusError *error) {
    MotusEncoderConfig *e = &c->config;
    *e = motus_encoder_config_default(2, 2, (MotusRational){25, 1});
    e->keyint = 0;
    e->references = 1; // as x264 here
    const MotusOption options[] = {
        {"preset", 0, &e->preset, motus_option_preset, 0, 0, "NAME", ""},
        {"range", 0, &e->range, motus_option_int, 1, MOTUS_MAX_RANGE, "N", ""},
        MOTUS_WORD("subpel", &e->subpel, "LEVEL", "", MOTUS_SUBPEL_WORDS),
        {"partitions", 0, &e->partitions, motus_option_partitions, 0, 0, "LIST", ""},
        {"no-deblock", 0, &e->deblock, NULL, 0, 0, NULL, ""},
        {"profile", 0, &e->profile, motus_option_profile, 0, 0, "NAME", ""},
        {"bframes", 0, &e->bframes, motus_option_int, 0, MOTUS_MAX_BFRAMES, "N", ""},
        {"no-cabac", 0, &e->cabac, NULL, 0, 0, NULL, ""},
        {"no-8x8dct", 0, &e->transform_8x8, NULL, 0, 0, NULL, ""},
        {"backend", 0, &e->backend, motus_option_backend, 0, 0, "NAME", ""},
        {0}};
    char *argv[MOTUS_X264_WORDS + 1] = {c->name};
    int argc = 1;
    for (const char **word = c->word; *word; word++) argv[argc++] = (char *)*word;
    const MotusCommand command = {c->name, "", "", options, NULL, 0};
    if (motus_options_parse(&command, argc, argv) < 0) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_ARGUMENT,
                      "%s: settings of ours are --preset, --range, --subpel, --partitions, "
                      "--no-deblock, --profile, --bframes, --no-cabac, --no-8x8dct, --backend",
                      c->name);
}

MotusStatus motus_compare_encoders_add(MotusCompareEncoders *encoders, int is_x264,
                                       const char *name, const char *args, MotusError *error) {
    if (encoders->n == MOTUS_COMPARE_ENCODERS)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "more than %d settings",
                          MOTUS_COMPARE_ENCODERS);
    MotusCompareEncoder *c = &encoders->encoder[encoders->n];
    *c = (MotusCompareEncoder){.is_x264 = is_x264};
    snprintf(c->name, sizeof c->name, "%s %s", is_x264 ? "x264" : "motus", name);
    if (strlen(args) >= sizeof c->args)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "%s: too many options", c->name);
    snprintf(c->args, sizeof c->args, "%s", args);
    MotusStatus status = cut_into_words(c, error);
    if (!status && !is_x264) status = read_ours(c, error);
    if (!status && c->config.bframes && motus_compare_encoders_first(encoders, 0) < 0)
        status =
            motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                       "%s: the first setting is compared by block, without B pictures", c->name);
    if (!status) encoders->n++;
    return status;
}

// Adds the setting of a line "x264 NAME: ARGS". Modifies the line.
static MotusStatus add_line(MotusCompareEncoders *encoders, char *line, const char *path, int row,
                            MotusError *error) {
    line[strcspn(line, "#\r\n")] = 0;
    line += strspn(line, " \t");
    if (!*line) return MOTUS_OK;
    char *colon = strchr(line, ':');
    const int is_x264 = !strncmp(line, "x264 ", 5), is_ours = !strncmp(line, "motus ", 6);
    if (!colon || !(is_x264 || is_ours))
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "%s: line %d is neither 'x264 NAME: OPTIONS' nor 'motus NAME: OPTIONS'",
                          motus_shown(path), row);
    *colon = 0;
    const char *name = line + (is_x264 ? 5 : 6);
    return motus_compare_encoders_add(encoders, is_x264, name + strspn(name, " \t"),
                                      colon + 1 + strspn(colon + 1, " \t"), error);
}

MotusStatus motus_compare_encoders_load(MotusCompareEncoders *encoders, const char *path,
                                        MotusError *error) {
    FILE *file = fopen(path, "r");
    if (!file) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path), strerror(errno));
    char line[1024];
    MotusStatus status = MOTUS_OK;
    for (int row = 1; !status && fgets(line, sizeof line, file); row++)
        status = add_line(encoders, line, path, row, error);
    if (!status && ferror(file))
        status = motus_fail(error, MOTUS_ERR_IO, "%s: cannot be read", motus_shown(path));
    fclose(file);
    return status;
}
