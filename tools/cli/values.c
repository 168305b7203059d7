// Option values: numbers, sizes, rates, names.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device.h"
#include "common/error.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"
#include "yuv/usable.h"
#ifdef MOTUS_HAVE_MEDIA
#include <libavutil/parseutils.h>
#endif

enum { MAX_WORDS = 8 }; // most of a row

static int refuse(char *cause, size_t size, const char *text) {
    snprintf(cause, size, "%s", text);
    return 0;
}

static int refuse_range(const MotusOption *option, char *cause, size_t size) {
    snprintf(cause, size, "must be %d..%d", option->lo, option->hi);
    return 0;
}

int motus_option_int(const MotusOption *option, const char *text, char *cause, size_t size) {
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || errno) return refuse(cause, size, "is not a whole number");
    if (value < option->lo || value > option->hi) return refuse_range(option, cause, size);
    *(int *)option->value = (int)value;
    return 1;
}

int motus_option_number(const MotusOption *option, const char *text, char *cause, size_t size) {
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(value))
        return refuse(cause, size, "is not a number");
    if (value < option->lo || value > option->hi) return refuse_range(option, cause, size);
    *(double *)option->value = value;
    return 1;
}

int motus_option_kilobits(const MotusOption *option, const char *text, char *cause, size_t size) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end != text && *end == 'M') value *= 1000;
    end += end != text && *end && strchr("kKM", *end);
    if (end == text || *end || errno || !isfinite(value))
        return refuse(cause, size, "is not a number of kilobits, like 800, 800k or 2M");
    if (value < option->lo || value > option->hi) return refuse_range(option, cause, size);
    *(double *)option->value = value;
    return 1;
}

int motus_option_ratio(const MotusOption *option, const char *text, char *cause, size_t size) {
    double value = 0;
    MotusOption number = *option;
    number.value = &value, number.lo = INT_MIN, number.hi = INT_MAX;
    if (!motus_option_number(&number, text, cause, size)) return 0;
    if (value < 0.1 || value > option->hi) {
        snprintf(cause, size, "must be 0.1..%d", option->hi);
        return 0;
    }
    *(double *)option->value = value;
    return 1;
}

int motus_option_bitrate(const MotusOption *option, const char *text, char *cause, size_t size) {
    double value = 0;
    MotusOption number = *option;
    number.value = &value;
    if (!motus_option_kilobits(&number, text, cause, size)) return 0;
    if (value < 0.001) return refuse(cause, size, "must be at least 0.001");
    *(double *)option->value = value;
    return 1;
}

// ---- Places in a sequence -----------------------------------------------------------------------

// Reads [HH:]MM:SS[.M], or a number of seconds with s, ms or no unit behind it, as FFmpeg does.
// Returns microseconds, -1: it is none.
static int64_t read_time(const char *text) {
    double part = 0, seconds = 0;
    int colons = 0;
    for (const char *at = text;; at++, colons++) {
        char *end;
        if (*at < '0' || *at > '9' || strspn(at, "0123456789.") != strcspn(at, ":ms")) return -1;
        part = strtod(at, &end);
        if (end == at || (colons && part >= 60)) return -1;
        seconds = seconds * 60 + part;
        at = end;
        if (*at == ':' && colons < 2 && part == floor(part)) continue;
        const int ms = !colons && !strcmp(at, "ms");
        if (*at && !ms && (colons || strcmp(at, "s"))) return -1;
        seconds *= ms ? 1e-3 : 1;
        return seconds < 1e9 ? llround(seconds * 1e6) : -1;
    }
}

int motus_option_position(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusPosition *position = option->value;
    const MotusOption frames = {.value = &position->frames, .hi = INT_MAX};
    position->text = text;
    position->us = 0;
    if (motus_option_int(&frames, text, cause, size)) return 1;
    position->frames = 0;
    position->us = strpbrk(text, ":s") ? read_time(text) : -1;
    if (position->us >= 0) return 1;
    return refuse(cause, size, "must be a number of frames, or a time like 00:01:30, 90s or 500ms");
}

int motus_option_duration(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusPosition *position = option->value;
    *position = (MotusPosition){.text = text, .us = read_time(text)};
    if (position->us > 0) return 1;
    return refuse(cause, size, "must be a time like 00:01:30, 90 (seconds) or 500ms");
}

int motus_option_text(const MotusOption *option, const char *text, char *cause, size_t size) {
    if (!*text) return refuse(cause, size, "must not be empty");
    *(const char **)option->value = text;
    return 1;
}

// ---- Sizes and rates ----------------------------------------------------------------------------

// Replaces a decimal rate near n * 1000 / 1001 by that: 29.97 is 30000/1001, as in Python.
static void snap_to_ntsc(MotusRational *rate) {
    static const int ntsc[] = {15, 24, 30, 48, 60, 72, 90, 96, 120, 144, 240};
    const double value = (double)rate->num / rate->den;
    for (size_t i = 0; i < sizeof ntsc / sizeof *ntsc; i++)
        if (fabs(value - ntsc[i] * 1000 / 1001.) < 0.005)
            *rate = (MotusRational){ntsc[i] * 1000, 1001};
}

// libavutil knows names (cif, hd1080, ntsc) and decimals beside plain numbers.
#ifdef MOTUS_HAVE_MEDIA
static int read_size(const char *text, int *width, int *height) {
    return av_parse_video_size(width, height, text) >= 0;
}

static int read_rate(const char *text, MotusRational *rate) {
    AVRational r;
    if (av_parse_video_rate(&r, text) < 0) return 0;
    *rate = (MotusRational){r.num, r.den};
    if (strchr(text, '.')) snap_to_ntsc(rate);
    return 1;
}
#else
// Reads a positive whole number and moves *text behind it.
static int positive(const char **text, int *value) {
    char *end;
    errno = 0;
    long number = strtol(*text, &end, 10);
    int ok = end != *text && !errno && number > 0 && number <= INT_MAX;
    *value = ok ? (int)number : 0;
    *text = end;
    return ok;
}

static int read_size(const char *text, int *width, int *height) {
    if (!positive(&text, width) || *text++ != 'x') return 0;
    return positive(&text, height) && !*text;
}

// Reads a decimal number to thousandths.
static int read_decimal(const char *text, MotusRational *rate) {
    char *end;
    const double value = strtod(text, &end);
    if (*end || strspn(text, "0123456789.") != strlen(text)) return 0;
    if (!(value >= 0.001 && value <= INT_MAX / 1000)) return 0;
    *rate = (MotusRational){(int)(value * 1000 + 0.5), 1000};
    for (int p = 2; p <= 5; p += 3)
        while (rate->num % p == 0 && rate->den % p == 0) rate->num /= p, rate->den /= p;
    snap_to_ntsc(rate);
    return 1;
}

static int read_rate(const char *text, MotusRational *rate) {
    if (strchr(text, '.')) return read_decimal(text, rate);
    rate->den = 1;
    if (!positive(&text, &rate->num)) return 0;
    if (*text == '/' || *text == ':') {
        text++;
        if (!positive(&text, &rate->den)) return 0;
    }
    return !*text;
}
#endif

int motus_option_size(const MotusOption *option, const char *text, char *cause, size_t size) {
    int *value = option->value;
    if (!read_size(text, &value[0], &value[1]))
        return refuse(cause, size, "is not a size like 352x288");
    if (value[0] < 1 || value[1] < 1 || value[0] > MOTUS_MAX_SIZE || value[1] > MOTUS_MAX_SIZE) {
        snprintf(cause, size, "width and height must be 1..%d", MOTUS_MAX_SIZE);
        return 0;
    }
    return 1;
}

int motus_option_rate(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusRational rate;
    if (!read_rate(text, &rate)) return refuse(cause, size, "is not a rate like 25 or 30000/1001");
    if (rate.num / rate.den > 1000)
        return refuse(cause, size, "must be at most 1000 pictures per second");
    if (!motus_rate_usable(rate))
        return refuse(cause, size, "must be at least one picture in a day (1/86400)");
    *(MotusRational *)option->value = rate;
    return 1;
}

// ---- Names --------------------------------------------------------------------------------------

// Writes BEFORE, then the names as "a, b or c". Returns the length, which may pass `size`.
static size_t join_names(char *to, size_t size, const char *before, const char *const *names,
                         int n) {
    size_t used = (size_t)snprintf(to, size, "%s", before);
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%s",
                                 !i          ? ""
                                 : i + 1 < n ? ", "
                                             : " or ",
                                 names[i]);
    return used;
}

// Sets *(int *)value to the index of `text` among n names.
static int take_name(void *value, const char *text, const char *const *names, int n, char *cause,
                     size_t size) {
    for (int i = 0; i < n; i++)
        if (!strcmp(text, names[i])) {
            *(int *)value = i;
            cause[0] = 0;
            return 1;
        }
    const size_t used = join_names(cause, size, "must be ", names, n);
    const char *nearest = motus_nearest_word(text, names, n);
    if (nearest && used < size) snprintf(cause + used, size - used, "; did you mean %s?", nearest);
    return 0;
}

const char *motus_word(const char *words, int i) {
    while (i--) words += strlen(words) + 1;
    return words;
}

int motus_option_word(const MotusOption *option, const char *text, char *cause, size_t size) {
    const char *names[MAX_WORDS];
    int n = 0;
    for (const char *word = option->words; *word && n < MAX_WORDS; word += strlen(word) + 1)
        names[n++] = word;
    return take_name(option->value, text, names, n, cause, size);
}

const char *motus_subpel_name(MotusSubpel subpel) {
    return motus_word(MOTUS_SUBPEL_WORDS "best\0", subpel);
}

static void list_presets(const char *names[MOTUS_PRESETS]) {
    for (int i = 0; i < MOTUS_PRESETS; i++) names[i] = motus_preset_name((MotusPreset)i);
}

const char *motus_preset_help(char *text, size_t size) {
    const char *names[MOTUS_PRESETS];
    list_presets(names);
    const size_t used = join_names(text, size, "", names, MOTUS_PRESETS);
    if (used < size) snprintf(text + used, size - used, " (medium); others of x264: the nearest");
    return text;
}

// Takes the names of x264's presets that motus has no row of its own for. Returns 0 for others.
static int take_x264_preset(const MotusOption *option, const char *text, char *cause, size_t size) {
    static const struct {
        const char *name, *why;
        MotusPreset preset;
    } others[] = {{"ultrafast", "the fastest", MOTUS_PRESET_FASTER},
                  {"superfast", "the fastest", MOTUS_PRESET_FASTER},
                  {"veryfast", "the fastest", MOTUS_PRESET_FASTER},
                  {"veryslow", "the nearest", MOTUS_PRESET_SLOWER}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(text, others[i].name)) continue;
        *(MotusPreset *)option->value = others[i].preset;
        snprintf(cause, size, "%s: taken as %s, %s preset here", text,
                 motus_preset_name(others[i].preset), others[i].why);
        return 1;
    }
    return 0;
}

int motus_option_preset(const MotusOption *option, const char *text, char *cause, size_t size) {
    const char *names[MOTUS_PRESETS];
    list_presets(names);
    if (!take_x264_preset(option, text, cause, size))
        return take_name(option->value, text, names, MOTUS_PRESETS, cause, size);
    return MOTUS_OPTION_NOTED;
}

int motus_option_profile(const MotusOption *option, const char *text, char *cause, size_t size) {
    const char *names[MOTUS_PROFILES];
    for (int i = 0; i < MOTUS_PROFILES; i++) names[i] = motus_profile_name((MotusProfile)i);
    return take_name(option->value, text, names, MOTUS_PROFILES, cause, size);
}

int motus_option_backend(const MotusOption *option, const char *text, char *cause, size_t size) {
    const char *names[MOTUS_BACKEND_CUDA + 1];
    for (int i = 0; i <= MOTUS_BACKEND_CUDA; i++) names[i] = motus_backend_name((MotusBackend)i);
    return take_name(option->value, text, names, MOTUS_BACKEND_CUDA + 1, cause, size);
}

MotusStatus motus_backend_check(MotusBackend backend, MotusError *error) {
    MotusBackend chosen;
    MotusStatus status = motus_backend_choose(backend, &chosen);
    if (!status) return MOTUS_OK;
    MotusError device;
    const char *cause = status == MOTUS_ERR_UNSUPPORTED ? "this build does not have it"
                        : motus_device_check(&device)   ? device.text
                                                        : motus_status_text(status);
    return motus_fail(error, status, "--backend %s: %s", motus_backend_name(backend), cause);
}

// ---- Lists --------------------------------------------------------------------------------------

static const char *const mode_names[MOTUS_MODES] = {"16x16", "16x8", "8x16", "8x8",
                                                    "8x4",   "4x8",  "4x4"};

const char *motus_mode_name(MotusMode mode) { return mode_names[mode]; }

// Reads names with commas between them into a mask of their indices. Returns 0 if one is unknown.
static int read_mask(const char *text, const char *const *names, int n, uint32_t *mask) {
    for (*mask = 0;;) {
        const size_t length = strcspn(text, ",");
        int i = 0;
        while (i < n && (strlen(names[i]) != length || strncmp(names[i], text, length))) i++;
        if (i == n) return 0;
        *mask |= 1u << i;
        if (!text[length]) return 1;
        text += length + 1;
    }
}

int motus_option_presets(const MotusOption *option, const char *text, char *cause, size_t size) {
    const char *names[MOTUS_PRESETS];
    uint32_t mask;
    list_presets(names);
    if (!read_mask(text, names, MOTUS_PRESETS, &mask)) {
        const size_t used = join_names(cause, size, "must be of ", names, MOTUS_PRESETS);
        if (used < size) snprintf(cause + used, size - used, ", with commas between");
        return 0;
    }
    *(int *)option->value = (int)mask;
    return 1;
}

int motus_option_partitions(const MotusOption *option, const char *text, char *cause, size_t size) {
    uint32_t modes = 0;
    if (!strcmp(text, "all"))
        modes = MOTUS_MODES_ALL;
    else if (strcmp(text, "none") && !read_mask(text, mode_names, MOTUS_MODES, &modes))
        return refuse(cause, size, "must be all, none, or of 16x16,16x8,8x16,8x8,8x4,4x8,4x4");
    *(uint32_t *)option->value = modes | 1u << MOTUS_MODE_16x16;
    return 1;
}

int motus_option_modes(const MotusOption *option, const char *text, char *cause, size_t size) {
    uint32_t modes = MOTUS_MODES_ALL;
    if (strcmp(text, "all") && !read_mask(text, mode_names, MOTUS_MODES, &modes))
        return refuse(cause, size, "must be all, or of 16x16,16x8,8x16,8x8,8x4,4x8,4x4");
    *(uint32_t *)option->value = modes;
    return 1;
}

void motus_modes_text(uint32_t modes, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int mode = 0; mode < MOTUS_MODES && used < size; mode++)
        if (modes >> mode & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "",
                                     mode_names[mode]);
}

// ---- CUDA devices -------------------------------------------------------------------------------

int motus_option_device(const MotusOption *option, const char *text, char *cause, size_t size) {
    motus_devices_show();
    return motus_option_int(option, text, cause, size);
}

int motus_option_devices(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusDeviceList *list = option->value;
    motus_devices_show();
    list->n = MOTUS_ALL_DEVICES;
    if (!strcmp(text, "all")) return 1;
    for (list->n = 0;; text++) {
        char *end;
        const long number = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
        if (number < 0 || number > 255 || list->n == MOTUS_MAX_GOP_CODERS || (*end && *end != ','))
            break;
        for (int i = 0; i < list->n; i++)
            if (list->device[i] == number) {
                snprintf(cause, size, "has device %ld twice", number);
                return 0;
            }
        list->device[list->n++] = (int)number;
        if (!*end) return 1;
        text = end;
    }
    return refuse(cause, size,
                  "must be \"all\" or numbers 0..255 with commas between, as in 0,2,3");
}
