// SPDX-License-Identifier: BSD-2-Clause
#include "tools/media/mux_streams.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TOLD = 3 }; // names of tags in a message

// True for tags of the input's muxer.
static int is_own(const char *key) {
    static const char *const own[] = {
        "encoder",          "major_brand", "minor_version",    "compatible_brands", "vendor_id",
        "DURATION",         "BPS",         "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES",   "rotate",
        "_STATISTICS_TAGS", "alpha_mode",  "variant_bitrate"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strncasecmp(key, own[i], strlen(own[i]))) return 1;
    return !strncmp(key, "_STATISTICS", 11);
}

void motus_tags_copy(AVDictionary **to, const AVDictionary *from) {
    for (const AVDictionaryEntry *e = NULL; (e = av_dict_get(from, "", e, AV_DICT_IGNORE_SUFFIX));)
        if (!is_own(e->key)) av_dict_set(to, e->key, e->value, 0);
}

// True if the format has a place for a tag of the whole file. "location-eng" is a twin of
// "location".
static int holds_tag(MotusFormat format, const char *key) {
    static const char *const mp4[] = {"title",        "artist",
                                      "album_artist", "composer",
                                      "album",        "date",
                                      "comment",      "genre",
                                      "copyright",    "creation_time",
                                      "location",     "grouping",
                                      "lyrics",       "show",
                                      "description",  "synopsis",
                                      "network",      "episode_id",
                                      "track",        "disc",
                                      "media_type",   "hd_video",
                                      "episode_sort", "season_number",
                                      "keywords",     "gapless_playback",
                                      "compilation"};
    static const char *const mov[] = {"title",    "artist", "album",     "date",
                                      "comment",  "genre",  "copyright", "creation_time",
                                      "location", "author", "make",      "model"};
    const int is_mov = format == MOTUS_FORMAT_MOV;
    const size_t n = is_mov ? sizeof mov / sizeof *mov : sizeof mp4 / sizeof *mp4;
    if (format == MOTUS_FORMAT_MKV || !strncasecmp(key, "location-", 9)) return 1;
    for (size_t i = 0; i < n && (is_mov || format == MOTUS_FORMAT_MP4); i++)
        if (!strcasecmp(key, (is_mov ? mov : mp4)[i])) return 1;
    return !strcasecmp(key, "creation_time"); // not of the content: others do without a word
}

int motus_tags_left_out(MotusFormat format, const AVFormatContext *input, char *text, size_t size) {
    size_t used = 0;
    int n = 0;
    for (const AVDictionaryEntry *e = NULL;
         (e = av_dict_get(input->metadata, "", e, AV_DICT_IGNORE_SUFFIX));) {
        if (is_own(e->key) || holds_tag(format, e->key)) continue;
        if (n++ < TOLD && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s %.16s", n > 1 ? "," : "tags",
                                     e->key);
    }
    if (n > TOLD && used < size) snprintf(text + used, size - used, ", %d more", n - TOLD);
    return n;
}

int motus_tags_need_names(MotusFormat format, const AVFormatContext *input) {
    char text[64];
    return (format == MOTUS_FORMAT_MP4 || format == MOTUS_FORMAT_MOV) &&
           strstr(input->iformat->name, "mp4") &&
           motus_tags_left_out(format, input, text, sizeof text);
}
