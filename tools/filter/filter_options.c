// Parses filters on the command line.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cmd.h"
#include "tools/filter/filters.h"

const char motus_filters_help[] =
    "Filters run in the order in which they are given:\n"
    "  --equalize[=rgb][,clahe][,tiles=WxH][,clip=X][,smooth=N]\n"
    "                spread the luma's histogram; rgb: those of red, green and blue; clahe: of "
    "8x8\n"
    "                tiles with clip limit 2; smooth: N/256 of the previous frame's curve, "
    "0..255,\n"
    "                against flicker (224)\n"
    "  --denoise STRENGTH[,levels=N]\n"
    "                soft-threshold wavelet details; 0..255 sample values\n"
    "  --key COLOUR[,hue=D][,sat=X][,value=X][,soft=X][,spill=X][,plain]\n"
    "                show --background where the colour is near COLOUR (green, blue, red,\n"
    "                #RRGGBB): hue within D degrees (30), saturation and value within X (0.5,\n"
    "                0.6); soft: width of the soft edge in thresholds (0.25); spill: 0..1 (0.8);\n"
    "                plain: |H - Hkey| as it is, not the shorter way round the circle\n";

// One word of a comma list. `value` points behind its '=' or is NULL.
typedef struct Word {
    char name[32];
    const char *value;
    char text[64];
} Word;

// Takes the next word off *list. Returns 0 at the end or if a word is too long.
static int next_word(Word *word, const char **list) {
    size_t length = strcspn(*list, ",");
    if (!length || length >= sizeof word->text) return 0;
    memcpy(word->text, *list, length);
    word->text[length] = 0;
    *list += length + ((*list)[length] == ',');
    size_t name = strcspn(word->text, "=");
    if (name >= sizeof word->name) return 0;
    memcpy(word->name, word->text, name);
    word->name[name] = 0;
    word->value = word->text[name] ? word->text + name + 1 : NULL;
    return 1;
}

// Parses the word's value, in lo..hi, and multiplies it by `scale`, rounded.
static int number(const Word *word, double lo, double hi, double scale, int *out, char *cause,
                  size_t size) {
    char *end = NULL;
    double v = word->value ? strtod(word->value, &end) : 0;
    if (!word->value || end == word->value || *end || !(v >= lo && v <= hi)) {
        snprintf(cause, size, "%s must be a number from %g to %g", word->name, lo, hi);
        return 0;
    }
    *out = (int)(v * scale + 0.5);
    return 1;
}

static MotusFilterStep *append(const MotusOption *option, MotusFilterKind kind, char *cause,
                               size_t size) {
    MotusFilterList *list = option->value;
    if (list->n == MOTUS_MAX_FILTERS) {
        snprintf(cause, size, "more than %d filters", MOTUS_MAX_FILTERS);
        return NULL;
    }
    MotusFilterStep *step = &list->step[list->n++];
    *step = (MotusFilterStep){.kind = kind};
    return step;
}

// Parses "WxH", each 1..MOTUS_EQUALIZE_MAX_TILES.
static int tiles(const char *text, int *x, int *y) {
    char *end;
    long w = strtol(text, &end, 10), h = 0;
    if (*end == 'x') h = strtol(end + 1, &end, 10);
    if (*end || w < 1 || h < 1 || w > MOTUS_EQUALIZE_MAX_TILES || h > MOTUS_EQUALIZE_MAX_TILES)
        return 0;
    *x = (int)w, *y = (int)h;
    return 1;
}

static int equalize_word(MotusFilterStep *step, const Word *w, char *cause, size_t size) {
    MotusEqualizeConfig *c = &step->equalize;
    if (!strcmp(w->name, "rgb") && !w->value) {
        step->kind = MOTUS_FILTER_EQUALIZE_RGB;
        return 1;
    }
    if (!strcmp(w->name, "clahe") && !w->value) {
        int smooth = c->smooth_q8;
        *c = (MotusEqualizeConfig)MOTUS_EQUALIZE_CLAHE;
        c->smooth_q8 = smooth;
        return 1;
    }
    if (!strcmp(w->name, "clip")) return number(w, 0, 256, 256, &c->clip_q8, cause, size);
    if (!strcmp(w->name, "smooth")) return number(w, 0, 255, 1, &c->smooth_q8, cause, size);
    if (!strcmp(w->name, "tiles") && w->value && tiles(w->value, &c->tiles_x, &c->tiles_y))
        return 1;
    snprintf(cause, size, "must be a list of rgb, clahe, tiles=WxH (1..%d each), clip=X, smooth=N",
             MOTUS_EQUALIZE_MAX_TILES);
    return 0;
}

int motus_option_equalize(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusFilterStep *step = append(option, MOTUS_FILTER_EQUALIZE, cause, size);
    Word word;
    if (!step) return 0;
    step->equalize = (MotusEqualizeConfig)MOTUS_EQUALIZE_PLANE;
    step->equalize.smooth_q8 = 224;
    while (*text)
        if (!next_word(&word, &text) || !equalize_word(step, &word, cause, size)) {
            if (!*cause) snprintf(cause, size, "is not a list of settings");
            return 0;
        }
    return 1;
}

int motus_option_denoise(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusFilterStep *step = append(option, MOTUS_FILTER_DENOISE, cause, size);
    Word word;
    if (!step) return 0;
    char *end;
    double strength = strtod(text, &end);
    if (end == text || (*end && *end != ',') || !(strength >= 0 && strength <= 255)) {
        snprintf(cause, size, "must begin with a strength from 0 to 255");
        return 0;
    }
    step->strength = (float)strength;
    text = *end ? end + 1 : end;
    while (*text)
        if (!next_word(&word, &text) || strcmp(word.name, "levels") ||
            !number(&word, 1, MOTUS_WAVELET_MAX_LEVELS, 1, &step->levels, cause, size)) {
            if (!*cause) snprintf(cause, size, "knows levels=N only");
            return 0;
        }
    return 1;
}

static int colour(const Word *w, MotusKeyConfig *key) {
    static const struct {
        const char *name;
        uint8_t rgb[3];
    } named[] = {{"green", {90, 200, 70}}, {"blue", {20, 60, 220}}, {"red", {220, 30, 30}}};
    for (unsigned i = 0; i < sizeof named / sizeof *named; i++)
        if (!strcmp(w->text, named[i].name)) {
            *key = motus_key_config(named[i].rgb[0], named[i].rgb[1], named[i].rgb[2]);
            return 1;
        }
    if (w->text[0] != '#' || strspn(w->text + 1, "0123456789abcdefABCDEF") != 6 || w->text[7])
        return 0;
    unsigned long v = strtoul(w->text + 1, NULL, 16);
    *key = motus_key_config((uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v);
    return 1;
}

static int key_word(MotusKeyConfig *k, const Word *w, char *cause, size_t size) {
    if (!strcmp(w->name, "plain") && !w->value) return k->plain_hue = 1;
    if (!strcmp(w->name, "hue")) return number(w, 1, 360, 16, &k->hue_range, cause, size);
    if (!strcmp(w->name, "sat")) return number(w, 0.001, 2, 1024, &k->sat_range, cause, size);
    if (!strcmp(w->name, "value")) return number(w, 0.001, 2, 1024, &k->value_range, cause, size);
    if (!strcmp(w->name, "soft")) return number(w, 0, 4, 256, &k->soft_q8, cause, size);
    if (!strcmp(w->name, "spill")) return number(w, 0, 1, 256, &k->spill_q8, cause, size);
    snprintf(cause, size, "knows hue, sat, value, soft, spill (=X) and plain, not %.30s", w->name);
    return 0;
}

int motus_option_key(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusFilterStep *step = append(option, MOTUS_FILTER_KEY, cause, size);
    Word word;
    if (!step) return 0;
    if (!next_word(&word, &text) || !colour(&word, &step->key)) {
        snprintf(cause, size, "must begin with green, blue, red or #RRGGBB");
        return 0;
    }
    step->key.soft_q8 = 64, step->key.spill_q8 = 205;
    while (*text)
        if (!next_word(&word, &text) || !key_word(&step->key, &word, cause, size)) {
            if (!*cause) snprintf(cause, size, "is not a list of settings");
            return 0;
        }
    return 1;
}

int motus_filters_check(const char *command, const MotusFilterList *list) {
    int has_key = 0;
    for (int i = 0; i < list->n; i++) has_key |= list->step[i].kind == MOTUS_FILTER_KEY;
    if (has_key && !list->background)
        return motus_usage_error(command, "--key: needs --background FILE");
    if (!has_key && (list->background || list->loop || list->scale))
        return motus_usage_error(command, "--background, --loop and --scale: go with --key");
    return -1;
}
