// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/pass_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"

#define FIRST_LINE "motus pass log 1"

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

int motus_pass_log_line(const MotusPassLog *log, int64_t line, char *text, size_t size) {
    if (line == -2) return snprintf(text, size, FIRST_LINE "\n");
    if (line == -1) return snprintf(text, size, "%s\n", log->fingerprint);
    if (line >= log->n) return snprintf(text, size, "end %" PRId64 "\n", log->n);
    const MotusPassPicture *p = &log->picture[line];
    return snprintf(text, size, "%c %d %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 "\n",
                    p->idr ? 'I' : 'P', p->qp_q8, p->bits, p->duration, p->cost, p->weighted);
}

// A whole number at *text, behind which a space or the end of the line stands; *text moves behind
// it. Returns whether there is one.
static int take_number(const char **text, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(*text, &end, 10);
    const int good = end != *text && !errno && (!*end || strchr(" \r\n", *end));
    *text = end;
    return good;
}

static MotusStatus take_end(const MotusPassLog *log, const char *text, MotusError *error) {
    const char *at = text + 3;
    int64_t n = 0;
    if (strncmp(text, "end", 3) || !take_number(&at, &n) || n != log->n || !n)
        return motus_fail(error, MOTUS_ERR_FORMAT,
                          "its last line does not count its %" PRId64 " pictures", log->n);
    return MOTUS_OK;
}

static MotusStatus take_picture(MotusPassLog *log, int64_t line, const char *text,
                                MotusError *error) {
    enum { QP, BITS, DURATION, COST, WEIGHTED, NUMBERS };
    const int64_t most = (int64_t)1 << 40;
    int64_t number[NUMBERS] = {0};
    const char *at = text + (*text != 0);
    int good = *text == 'I' || (*text == 'P' && line);
    for (int i = 0; i < NUMBERS && good; i++) good = take_number(&at, &number[i]);
    good = good && number[QP] > -65536 && number[QP] < 65536 && number[BITS] > 0 &&
           number[BITS] <= most && number[DURATION] > 0 && number[DURATION] <= most &&
           number[COST] >= 0 && number[WEIGHTED] >= 0;
    if (!good)
        return motus_fail(error, MOTUS_ERR_FORMAT, "picture %" PRId64 " is not readable", line);
    const MotusPassPicture p = {.idr = *text == 'I',
                                .qp_q8 = (int)number[QP],
                                .bits = number[BITS],
                                .duration = number[DURATION],
                                .cost = (uint64_t)number[COST],
                                .weighted = (uint64_t)number[WEIGHTED]};
    const MotusStatus status = motus_pass_log_add(log, &p);
    return status ? motus_fail(error, status, "out of memory") : MOTUS_AGAIN;
}

MotusStatus motus_pass_log_read_line(MotusPassLog *log, int64_t line, const char *text,
                                     MotusError *error) {
    const size_t length = strcspn(text, "\r\n");
    if (line == -2) {
        if (length != strlen(FIRST_LINE) || memcmp(text, FIRST_LINE, length))
            return motus_fail(error, MOTUS_ERR_FORMAT, "this is no pass log (of this version)");
        return MOTUS_AGAIN;
    }
    if (line == -1) {
        if (length >= sizeof log->fingerprint)
            return motus_fail(error, MOTUS_ERR_FORMAT, "its second line is too long");
        memcpy(log->fingerprint, text, length);
        log->fingerprint[length] = 0;
        return MOTUS_AGAIN;
    }
    return text[0] == 'e' ? take_end(log, text, error) : take_picture(log, line, text, error);
}
