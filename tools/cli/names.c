// Tells whether an output is also an input or named twice. An input may stand for many files: a
// numbered series, or what a playlist (HLS, DASH, FFmpeg's concat list) names.
// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "yuv/io/source.h"

enum {
    FIRST_NUMBERS = 5,   // a numbered series begins with 0 to 4, as in libavformat
    MAX_WIDTH = 20,      // digits of its numbers
    MAX_TEXT = 16 << 20, // bytes read of a playlist
    MAX_DEPTH = 4,       // playlists in playlists
    MAX_NAMES = 1000000, // in all of them: they may name one another over and over
};

static int same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// ---- A numbered series: img%03d.png -------------------------------------------------------------

static int is_in_series(const char *pattern, const struct stat *file) {
    const char *percent = strchr(pattern, '%');
    size_t digits = percent ? strspn(percent + 1, "0123456789") : 0;
    if (!percent || percent[1 + digits] != 'd') return 0;
    long width = strtol(percent + 1, NULL, 10);
    int found = 1;
    for (int n = 0; n < INT_MAX && (found || n < FIRST_NUMBERS); n++) {
        char name[PATH_MAX];
        struct stat st;
        int length =
            snprintf(name, sizeof name, "%.*s%0*d%s", (int)(percent - pattern), pattern,
                     (int)(width < MAX_WIDTH ? width : MAX_WIDTH), n, percent + digits + 2);
        if (length >= (int)sizeof name) return 0;
        found = !stat(name, &st);
        if (found && same_file(&st, file)) return 1;
    }
    return 0;
}

// ---- A playlist ---------------------------------------------------------------------------------

typedef struct FileSearch {
    const struct stat *file;
    int depth;
    int *left; // of MAX_NAMES
} FileSearch;

static int leads_to(const char *path, const FileSearch *search);

static int any_of(const char *pattern, const FileSearch *search) {
    glob_t found;
    int is_it = 0;
    if (glob(pattern, GLOB_NOSORT, NULL, &found)) return 0;
    for (size_t i = 0; i < found.gl_pathc && !is_it; i++)
        is_it = leads_to(found.gl_pathv[i], search);
    globfree(&found);
    return is_it;
}

// True if `name` in the playlist `list`, relative to its folder, leads to the file.
static int names(const char *list, const char *name, size_t length, const FileSearch *search) {
    char path[PATH_MAX];
    const char *slash = strrchr(list, '/');
    if (!length) return 0;
    if (length > 5 && !strncmp(name, "file:", 5)) name += 5, length -= 5;
    int folder = slash && *name != '/' ? (int)(slash + 1 - list) : 0;
    int size = snprintf(path, sizeof path, "%.*s%.*s", folder, list, (int)length, name);
    if (!length || size >= (int)sizeof path || --*search->left < 0) return 0;
    if (leads_to(path, search)) return 1;
    char *query = strchr(path + folder, '?');
    if (query) *query = 0;
    if (query && leads_to(path, search)) return 1;
    char *dollar = strchr(path + folder, '$'), *end = dollar ? strrchr(dollar + 1, '$') : NULL;
    if (!end) return 0;
    *dollar = '*'; // DASH: chunk-$RepresentationID$-$Number%05d$.m4s
    memmove(dollar + 1, end + 1, strlen(end));
    return any_of(path, search);
}

// Undoes FFmpeg's quoting: '...' is literal, \c is c. Returns the length.
static size_t unquote(char *to, const char *from, size_t length) {
    size_t n = 0;
    int quoted = 0;
    for (size_t i = 0; i < length; i++) {
        if (from[i] == '\'')
            quoted = !quoted;
        else if (from[i] == '\\' && !quoted && i + 1 < length)
            to[n++] = from[++i];
        else
            to[n++] = from[i];
    }
    return n;
}

// Tries the names of a line: the line itself (HLS), `file NAME` (concat), or text between "" (HLS),
// '' or >< (DASH).
static int line_names(const char *list, const char *line, size_t length, const FileSearch *search) {
    char plain[PATH_MAX];
    while (length && strchr(" \t\r", line[length - 1])) length--;
    while (length && strchr(" \t", *line)) line++, length--;
    if (!length) return 0;
    if (*line != '#' && names(list, line, length, search)) return 1;
    if (length > 5 && length < sizeof plain && !strncmp(line, "file", 4) &&
        strchr(" \t", line[4])) {
        size_t skip = 5 + strspn(line + 5, " \t");
        if (skip < length && names(list, plain, unquote(plain, line + skip, length - skip), search))
            return 1;
    }
    for (const char *from = line, *end = line + length; from < end; from++) {
        int closing = *from == '"' || *from == '\'' ? *from : *from == '>' ? '<' : 0;
        const char *to = closing ? memchr(from + 1, closing, (size_t)(end - from - 1)) : NULL;
        if (to && names(list, from + 1, (size_t)(to - from - 1), search)) return 1;
    }
    return 0;
}

static int text_names(const char *list, const char *text, size_t size, const FileSearch *search) {
    for (const char *line = text, *end = text + size; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t length = next ? (size_t)(next - line) : (size_t)(end - line);
        if (line_names(list, line, length, search)) return 1;
        line += length + 1;
    }
    return 0;
}

// True if a file that begins with `text` is a playlist.
static int is_playlist(const char *text) {
    const char *begin = text + (strncmp(text, "\xEF\xBB\xBF", 3) ? 0 : 3); // a byte order mark
    return !strncmp(begin, "#EXTM3U", 7) || !strncmp(begin, "ffconcat ", 9) ||
           strstr(begin, "<MPD");
}

static int playlist_names(const char *path, const FileSearch *search) {
    char begin[1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), is_it = 0;
    ssize_t size = fd >= 0 ? read(fd, begin, sizeof begin - 1) : 0;
    begin[size > 0 ? size : 0] = 0;
    char *text = is_playlist(begin) ? motus_alloc(1, MAX_TEXT) : NULL;
    if (text && (size = pread(fd, text, MAX_TEXT - 1, 0)) > 0)
        is_it = text_names(path, text, (size_t)size, search);
    if (fd >= 0) close(fd);
    motus_free(text);
    return is_it;
}

// True if `path` is the file or a playlist that leads to it.
static int leads_to(const char *path, const FileSearch *search) {
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return 0;
    if (same_file(&st, search->file)) return 1;
    const FileSearch deeper = {search->file, search->depth + 1, search->left};
    return deeper.depth <= MAX_DEPTH && playlist_names(path, &deeper);
}

// True if `path` is the file, a pattern that includes it, or a playlist that mentions it, used or
// not.
static int input_names(const char *path, const struct stat *file) {
    struct stat st;
    int left = MAX_NAMES;
    const FileSearch search = {file, 0, &left};
    return stat(path, &st) ? is_in_series(path, file) : leads_to(path, &search);
}

// ---- Outputs ------------------------------------------------------------------------------------

int motus_is_input(const char *input, const char *output) {
    struct stat in, out;
    if (!strcmp(output, "-")) return 0;
    input = motus_plain_path(input);
    if (stat(output, &out)) return !strcmp(input, output);
    if (strcmp(input, "-")) return input_names(input, &out);
    return !fstat(0, &in) && S_ISREG(in.st_mode) && same_file(&in, &out);
}

static int same_output(const char *a, const char *b) {
    struct stat st, other;
    int is_stdout = !strcmp(a, "-");
    if (!is_stdout && !stat(a, &st) && !S_ISREG(st.st_mode)) return 0;
    if (!strcmp(a, b)) return 1;
    return !is_stdout && strcmp(b, "-") && !stat(a, &st) && !stat(b, &other) &&
           same_file(&st, &other);
}

int motus_check_names(const char *command, const MotusInputName *inputs, int n_inputs,
                      const char *const *outputs, int n_outputs) {
    for (int i = 0; i < n_outputs; i++) {
        if (!outputs[i]) continue;
        if (motus_is_url(outputs[i]))
            return motus_usage_error(command, "%s: is a URL; motus writes files and pipes",
                                     outputs[i]);
        for (int j = 0; j < n_inputs; j++)
            if (inputs[j].path && motus_is_input(inputs[j].path, outputs[i]))
                return motus_usage_error(command, "%s: is %s as well; nothing was done", outputs[i],
                                         inputs[j].what);
        for (int j = 0; j < i; j++)
            if (outputs[j] && same_output(outputs[i], outputs[j]))
                return motus_usage_error(command, "%s: is named for two outputs", outputs[i]);
    }
    return -1;
}
