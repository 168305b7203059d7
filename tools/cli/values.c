// Option values: numbers, sizes, rates, names.
// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "tools/cli/options.h"
#ifdef MOTUS_HAVE_MEDIA
#include <libavutil/parseutils.h>
#endif

static int refuse(char *cause, size_t size, const char *text) {
    snprintf(cause, size, "%s", text);
    return 0;
}

// A whole number that takes up all of `text`.
static int whole_number(const char *text, long *value) {
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && !*end && !errno;
}

int motus_option_int(const MotusOption *option, const char *text, char *cause, size_t size) {
    long value;
    if (!whole_number(text, &value)) return refuse(cause, size, "is not a whole number");
    if (value < option->lo || value > option->hi) {
        snprintf(cause, size, "must be %d..%d", option->lo, option->hi);
        return 0;
    }
    *(int *)option->value = (int)value;
    return 1;
}

int motus_option_text(const MotusOption *option, const char *text, char *cause, size_t size) {
    if (!*text) return refuse(cause, size, "must not be empty");
    *(const char **)option->value = text;
    return 1;
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
    return 1;
}
#else
// A positive whole number at *text, which moves behind it.
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

static int read_rate(const char *text, MotusRational *rate) {
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
    *(MotusRational *)option->value = rate;
    return 1;
}

static const char *const subpel_names[] = {"full", "half", "quarter"};
static const char *const mode_names[MOTUS_MODES] = {"16x16", "16x8", "8x16", "8x8",
                                                    "8x4",   "4x8",  "4x4"};

const char *motus_mode_name(MotusMode mode) { return mode_names[mode]; }
const char *motus_subpel_name(MotusSubpel subpel) { return subpel_names[subpel]; }

int motus_option_subpel(const MotusOption *option, const char *text, char *cause, size_t size) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, subpel_names[i])) {
            *(MotusSubpel *)option->value = (MotusSubpel)i;
            return 1;
        }
    return refuse(cause, size, "must be full, half or quarter");
}

int motus_option_preset(const MotusOption *option, const char *text, char *cause, size_t size) {
    for (int i = 0; i < MOTUS_PRESETS; i++)
        if (!strcmp(text, motus_preset_name((MotusPreset)i))) {
            *(MotusPreset *)option->value = (MotusPreset)i;
            return 1;
        }
    return refuse(cause, size, "must be slow, medium, fast or faster");
}

int motus_option_presets(const MotusOption *option, const char *text, char *cause, size_t size) {
    int mask = 0;
    for (const char *end; text; text = *end ? end + 1 : NULL) {
        int found = 0;
        end = text + strcspn(text, ",");
        for (int i = 0; i < MOTUS_PRESETS; i++) {
            const char *name = motus_preset_name((MotusPreset)i);
            if (strlen(name) == (size_t)(end - text) && !strncmp(text, name, strlen(name)))
                found = 1 << i;
        }
        if (!found) return refuse(cause, size, "must be of slow,medium,fast,faster");
        mask |= found;
    }
    *(int *)option->value = mask;
    return 1;
}

int motus_option_devices(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusDeviceList *list = option->value;
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

int motus_option_backend(const MotusOption *option, const char *text, char *cause, size_t size) {
    for (int i = MOTUS_BACKEND_AUTO; i <= MOTUS_BACKEND_CUDA; i++)
        if (!strcmp(text, motus_backend_name((MotusBackend)i))) {
            *(MotusBackend *)option->value = (MotusBackend)i;
            return 1;
        }
    return refuse(cause, size, "must be auto, cpu or cuda");
}

int motus_option_deinterlace(const MotusOption *option, const char *text, char *cause,
                             size_t size) {
    static const char *const names[] = {"auto", "off", "on"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            *(MotusDeinterlace *)option->value = (MotusDeinterlace)i;
            return 1;
        }
    return refuse(cause, size, "must be auto, off or on");
}

MotusStatus motus_backend_check(MotusBackend backend, MotusError *error) {
    MotusBackend chosen;
    MotusStatus status = motus_backend_choose(backend, &chosen);
    if (!status) return MOTUS_OK;
    const char *cause =
        status == MOTUS_ERR_UNSUPPORTED ? "this build does not have it" : motus_status_text(status);
    return motus_fail(error, status, "--backend %s: %s", motus_backend_name(backend), cause);
}

static int read_modes(const char *text, uint32_t *modes) {
    *modes = 0;
    if (!strcmp(text, "none")) return 1;
    if (!strcmp(text, "all")) {
        *modes = MOTUS_MODES_ALL;
        return 1;
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        int mode = 0;
        while (mode < MOTUS_MODES &&
               (strlen(mode_names[mode]) != length || strncmp(mode_names[mode], text, length)))
            mode++;
        if (mode == MOTUS_MODES) return 0;
        *modes |= 1u << mode;
        if (!text[length]) return 1;
        text += length + 1;
    }
}

int motus_option_partitions(const MotusOption *option, const char *text, char *cause, size_t size) {
    uint32_t modes;
    if (!read_modes(text, &modes))
        return refuse(cause, size, "must be all, none, or of 16x16,16x8,8x16,8x8,8x4,4x8,4x4");
    *(uint32_t *)option->value = modes | 1u << MOTUS_MODE_16x16;
    return 1;
}

int motus_option_modes(const MotusOption *option, const char *text, char *cause, size_t size) {
    uint32_t modes;
    if (!read_modes(text, &modes) || !modes)
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
