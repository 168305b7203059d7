// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/pass_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "encoder/lookahead/b_order.h"
#include "encoder/lookahead/lookahead.h"

#define FIRST_LINE "motus pass log 1"
#define MAX_TEXT 512 // bytes of the first two lines and a picture's

MotusStatus motus_pass_log_add(MotusPassLog *log, const MotusPassPicture *picture) {
    if (log->n == log->capacity) {
        const int64_t capacity = log->capacity ? 2 * log->capacity : 256;
        MotusPassPicture *more = motus_alloc((size_t)capacity, sizeof *more);
        if (!more) return MOTUS_ERR_MEMORY;
        if (log->n) memcpy(more, log->picture, (size_t)log->n * sizeof *more);
        motus_free(log->picture);
        log->picture = more;
        log->capacity = capacity;
    }
    log->picture[log->n++] = *picture;
    return MOTUS_OK;
}

void motus_pass_log_free(MotusPassLog *log) {
    motus_free(log->picture);
    *log = (MotusPassLog){0};
}

char *motus_pass_log_text(const MotusPassPicture *p, const char *fingerprint) {
    char *text = motus_alloc(MAX_TEXT, 1);
    if (!text) return NULL;
    const int head = fingerprint ? snprintf(text, MAX_TEXT, FIRST_LINE "\n%s\n", fingerprint) : 0;
    snprintf(text + head, MAX_TEXT - (size_t)head,
             "%c %d %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 "\n", p->idr ? 'I' : "PBR"[p->b],
             p -> qp_q8, p -> bits, p -> duration, p -> cost, p -> weighted);
    return text;
}

// ---- Reading: each function takes one line, terminated by NUL -----------------------------------

// Reads a whole number at *text that ends at a space or with the line, and moves *text behind it.
// Returns 0 if there is none.
static int read_number(const char **text, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(*text, &end, 10);
    const int good = end != *text && !errno && (!*end || strchr(" \r\n", *end));
    *text = end;
    return good;
}

// Returns how many B pictures the log ends with. Those of the last mini-GOP are in stream order,
// behind their P picture.
static int last_b_pictures(const MotusPassLog *log) {
    int n = 0;
    while (n < log->n && log->picture[log->n - 1 - n].b) n++;
    return n;
}

// Puts the last mini-GOP, which is complete, into display order. With a pyramid the first of two or
// more B pictures is a reference.
static void order_mini_gop(MotusPassLog *log) {
    const int n = last_b_pictures(log);
    MotusPassPicture coded[MOTUS_MAX_BFRAMES + 1], *shown = log->picture + log->n - 1 - n;
    MotusBPlace place[MOTUS_MAX_BFRAMES];
    if (!n) return;
    memcpy(coded, shown, (size_t)(n + 1) * sizeof *coded);
    motus_b_order(place, n + 1, coded[1].b == MOTUS_B_REFERENCE ? MOTUS_B_LEVELS : 0);
    for (int i = 0; i < n; i++) shown[place[i].at] = coded[1 + i];
    shown[n] = coded[0];
}

static MotusStatus read_picture(MotusPassLog *log, const char *line, MotusError *error) {
    enum { QP, BITS, DURATION, COST, WEIGHTED, NUMBERS };
    const int64_t most = (int64_t)1 << 40;
    int64_t number[NUMBERS] = {0};
    const char *at = line + (*line != 0);
    const int is_b = (*line == 'B' || *line == 'R') && log->n && !log->picture[log->n - 1].idr &&
                     last_b_pictures(log) < MOTUS_MAX_BFRAMES,
              b = !is_b          ? MOTUS_NOT_B
                  : *line == 'B' ? MOTUS_B
                                 : MOTUS_B_REFERENCE;
    int good = *line == 'I' || (*line == 'P' && log->n) || b;
    for (int i = 0; i < NUMBERS && good; i++) good = read_number(&at, &number[i]);
    good = good && number[QP] > -65536 && number[QP] < 65536 && number[BITS] > 0 &&
           number[BITS] <= most && number[DURATION] > 0 && number[DURATION] <= most &&
           number[COST] >= 0 && number[WEIGHTED] >= 0;
    if (!good)
        return motus_fail(error, MOTUS_ERR_FORMAT, "picture %" PRId64 " is not readable", log->n);
    const MotusPassPicture p = {.idr = *line == 'I',
                                .qp_q8 = (int)number[QP],
                                .bits = number[BITS],
                                .duration = number[DURATION],
                                .cost = (uint64_t)number[COST],
                                .weighted = (uint64_t)number[WEIGHTED],
                                .b = b};
    if (!b && log->n) order_mini_gop(log);
    const MotusStatus status = motus_pass_log_add(log, &p);
    return status ? motus_fail(error, status, "out of memory") : MOTUS_AGAIN;
}

// Reads line number n. MOTUS_AGAIN: more lines belong to the log.
static MotusStatus read_line(MotusPassLog *log, int64_t n, const char *line, MotusError *error) {
    const size_t length = strcspn(line, "\r");
    if (n == 0)
        return length == strlen(FIRST_LINE) && !memcmp(line, FIRST_LINE, length)
                   ? MOTUS_AGAIN
                   : motus_fail(error, MOTUS_ERR_FORMAT, "this is no pass log (of this version)");
    if (n == 1) {
        if (length >= sizeof log->fingerprint)
            return motus_fail(error, MOTUS_ERR_FORMAT, "its second line is too long");
        memcpy(log->fingerprint, line, length);
        log->fingerprint[length] = 0;
        return MOTUS_AGAIN;
    }
    if (*line != 'e') return read_picture(log, line, error);
    const char *at = line + 3;
    int64_t pictures = 0;
    if (strncmp(line, "end", 3) || !read_number(&at, &pictures) || pictures != log->n || !pictures)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "its last line does not count its %" PRId64 " pictures", log->n);
    order_mini_gop(log);
    return MOTUS_OK;
}

MotusStatus motus_pass_log_read(MotusPassLog *log, const char *text, MotusError *error) {
    MotusStatus status = MOTUS_AGAIN;
    for (int64_t n = 0; status == MOTUS_AGAIN && *text; n++) {
        char line[MAX_TEXT];
        const size_t length = strcspn(text, "\n"),
                     kept = length < sizeof line ? length : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = 0;
        status = read_line(log, n, line, error);
        text += length + (text[length] == '\n');
    }
    return status == MOTUS_AGAIN ? motus_fail(error, MOTUS_ERR_FORMAT, "it is cut short") : status;
}
