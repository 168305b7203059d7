// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/threads.h"
#include "tools/cli/system.h"

#define MAGIC "motus journal 4\n"
#define SYNC_SECONDS 1
#define MAX_HEADER_BYTES 8192

typedef struct Entry {
    MotusRecord record;
    int64_t at; // of the data in the file
} Entry;

struct MotusJournal {
    int fd;
    char *name;
    Entry *entry;
    size_t n, capacity;
    int64_t end, pictures;
    int ours; // opened, and no other job has it
    // A thread syncs the file; `lock` guards these.
    pthread_t thread;
    int has_thread, closing;
    int written; // since the last sync
    int failure; // errno of the last sync
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

// Folds the high bits down: multiplication only carries upwards, and changes of the same bit in two
// words would cancel out.
static uint64_t add_word(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 1099511628211u;
    return sum ^ sum >> 32;
}

uint64_t motus_checksum(uint64_t sum, const void *data, size_t size) {
    const uint8_t *p = data;
    for (uint64_t word; size >= sizeof word; p += sizeof word, size -= sizeof word) {
        memcpy(&word, p, sizeof word);
        sum = add_word(sum, word);
    }
    for (; size; p++, size--) sum = add_word(sum, *p);
    return sum;
}

static MotusStatus failed(const MotusJournal *j, int cause, MotusError *error) {
    return motus_fail(error, cause == ENOMEM ? MOTUS_ERR_MEMORY : MOTUS_ERR_IO, "%s: %s",
                      motus_shown(j->name), strerror(cause));
}

static int write_all(int fd, const void *data, size_t size) {
    for (const uint8_t *p = data; size;) {
        const ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        p += n, size -= (size_t)n;
    }
    return 0;
}

// Returns 1 if all bytes could be read, 0 if the file ends before, -1 and errno for another
// failure.
static int read_at(int fd, int64_t at, void *data, size_t size) {
    for (uint8_t *p = data; size;) {
        const ssize_t n = pread(fd, p, size, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return (int)n;
        p += n, size -= (size_t)n, at += n;
    }
    return 1;
}

static int add_entry(MotusJournal *j, const MotusRecord *record, int64_t at) {
    if (j->n == j->capacity) {
        const size_t capacity = j->capacity ? 2 * j->capacity : 64;
        Entry *more = realloc(j->entry, capacity * sizeof *more);
        if (!more) return 0;
        j->entry = more, j->capacity = capacity;
    }
    j->entry[j->n++] = (Entry){*record, at};
    j->pictures += record->count;
    return 1;
}

static uint64_t record_checksum(const MotusRecord *r) {
    return motus_checksum(MOTUS_CHECKSUM_START, r, offsetof(MotusRecord, checksum));
}

// Reads the complete records from j->end on and truncates the file after them.
static MotusStatus read_records(MotusJournal *j, MotusError *error) {
    const int64_t size = lseek(j->fd, 0, SEEK_END);
    int got;
    for (MotusRecord r; (got = read_at(j->fd, j->end, &r, sizeof r)) > 0;) {
        const int64_t at = j->end + (int64_t)sizeof r;
        if (r.size < 0 || r.size > size - at || r.count < 1 || r.first < 0) break;
        uint8_t *data = motus_alloc(1, (size_t)r.size + 1);
        if (!data) return failed(j, ENOMEM, error);
        got = read_at(j->fd, at, data, (size_t)r.size);
        const int good =
            got > 0 && motus_checksum(record_checksum(&r), data, (size_t)r.size) == r.checksum;
        motus_free(data);
        if (!good) break;
        if (!add_entry(j, &r, at)) return failed(j, ENOMEM, error);
        j->end = at + r.size;
    }
    return got < 0 || ftruncate(j->fd, j->end) ? failed(j, errno, error) : MOTUS_OK;
}

static MotusStatus write_header(MotusJournal *j, const char *settings, const char *input,
                                MotusError *error) {
    int cause = ftruncate(j->fd, 0) || lseek(j->fd, 0, SEEK_SET) < 0 ? errno : 0;
    const char *const piece[] = {MAGIC, settings, "\n", input, "\n"};
    for (int i = 0; i < 5 && !cause; i++) {
        cause = write_all(j->fd, piece[i], strlen(piece[i]));
        j->end += (int64_t)strlen(piece[i]);
    }
    return cause ? failed(j, cause, error) : MOTUS_OK;
}

// True if a crash left these first `n` bytes: a header that ends early, or zeros that were never
// written over. No record follows either.
static int is_torn(const char *text, size_t n) {
    const size_t magic = strlen(MAGIC);
    size_t lines = 0, zeros = 0;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n', zeros += !text[i];
    return zeros == n || (lines < 3 && !zeros && !strncmp(text, MAGIC, n < magic ? n : magic));
}

// Compares the header's three lines with those of this job. Begins anew if a crash cut them off.
static MotusStatus check_header(MotusJournal *j, const char *settings, const char *input,
                                MotusError *error) {
    char *text = motus_alloc(1, MAX_HEADER_BYTES);
    if (!text) return failed(j, ENOMEM, error);
    const ssize_t n = pread(j->fd, text, MAX_HEADER_BYTES - 1, 0);
    if (n < 0 || is_torn(text, (size_t)n)) {
        const int cause = n < 0 ? errno : 0;
        motus_free(text);
        return cause ? failed(j, cause, error) : write_header(j, settings, input, error);
    }
    char *line[3] = {text, NULL, NULL}, *end = text;
    for (int i = 0; i < 3 && end; i++) {
        line[i] = end;
        if ((end = strchr(end, '\n'))) *end++ = 0;
    }
    const int ours = end && !strncmp(line[0], MAGIC, strlen(MAGIC) - 1);
    const char *other = !ours                       ? "is no journal of motus-mpi"
                        : strcmp(line[1], settings) ? "is of a job with other settings"
                        : strcmp(line[2], input) ? "is of another input, or of one that has changed"
                                                 : NULL;
    j->end = ours ? end - text : 0;
    motus_free(text);
    if (!other) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT, "%s: %s; --discard begins anew",
                      motus_shown(j->name), other);
}

static MotusStatus open_file(MotusJournal *j, MotusJournalUse use, MotusError *error) {
    struct stat st;
    j->fd = open(j->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (j->fd < 0) return failed(j, errno, error);
    if (flock(j->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return motus_fail(error, MOTUS_ERR_IO, "%s: another job has it; nothing was done",
                          motus_shown(j->name));
    if (fstat(j->fd, &st)) return failed(j, errno, error);
    if (use == MOTUS_JOURNAL_NEW && st.st_size)
        return motus_fail(error, MOTUS_ERR_IO,
                          "%s: is left of a job that did not end; --resume goes on with it, "
                          "--discard begins anew",
                          motus_shown(j->name));
    return MOTUS_OK;
}

// ---- Syncing ------------------------------------------------------------------------------------

static int sync_now(MotusJournal *j) {
    j->written = 0;
    pthread_mutex_unlock(&j->lock);
    const int cause = fdatasync(j->fd) ? errno : 0;
    pthread_mutex_lock(&j->lock);
    return cause;
}

static void *sync_thread(void *journal) {
    MotusJournal *j = journal;
    pthread_mutex_lock(&j->lock);
    while (!j->closing) {
        if (!j->written) {
            pthread_cond_wait(&j->changed, &j->lock);
            continue;
        }
        const int cause = sync_now(j);
        if (cause) j->failure = cause;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += SYNC_SECONDS;
        while (!j->closing && pthread_cond_timedwait(&j->changed, &j->lock, &until) != ETIMEDOUT) {}
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

static void start_sync_thread(MotusJournal *j) {
    pthread_mutex_init(&j->lock, NULL);
    motus_cond_open(&j->changed);
    j->has_thread = !pthread_create(&j->thread, NULL, sync_thread, j);
}

static void stop_sync_thread(MotusJournal *j) {
    pthread_mutex_lock(&j->lock);
    j->closing = 1;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    if (j->has_thread) pthread_join(j->thread, NULL);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
}

// Asks for a sync; returns the errno of an earlier one. Without a thread it syncs here.
static int request_sync(MotusJournal *j) {
    pthread_mutex_lock(&j->lock);
    j->written = 1;
    if (!j->has_thread) j->failure = sync_now(j);
    pthread_cond_broadcast(&j->changed);
    const int cause = j->failure;
    pthread_mutex_unlock(&j->lock);
    return cause;
}

// ---- The journal --------------------------------------------------------------------------------

void motus_journal_name(char *name, const char *output, const char *kind) {
    snprintf(name, PATH_MAX, "%s.motus-%s", output, kind);
}

MotusStatus motus_journal_open(MotusJournal **out, const char *name, const char *settings,
                               const char *input, MotusJournalUse use, MotusError *error) {
    MotusJournal *j = *out = motus_alloc(1, sizeof *j);
    if (!j) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    j->fd = -1;
    start_sync_thread(j);
    if (!(j->name = motus_alloc(1, strlen(name) + 1)))
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    memcpy(j->name, name, strlen(name) + 1);
    MotusStatus status = open_file(j, use, error);
    const int resumes = !status && use == MOTUS_JOURNAL_RESUME && lseek(j->fd, 0, SEEK_END) > 0;
    if (!status)
        status = resumes ? check_header(j, settings, input, error)
                         : write_header(j, settings, input, error);
    if (!status && resumes) status = read_records(j, error);
    j->ours = !status;
    if (status) motus_journal_close(out, 0);
    return status;
}

const MotusRecord *motus_journal_find(const MotusJournal *j, int64_t first) {
    for (size_t i = 0; j && i < j->n; i++)
        if (j->entry[i].record.first == first) return &j->entry[i].record;
    return NULL;
}

int64_t motus_journal_pictures(const MotusJournal *j) { return j ? j->pictures : 0; }

MotusStatus motus_journal_read(MotusJournal *j, const MotusRecord *record, uint8_t **data,
                               MotusError *error) {
    for (size_t i = 0; i < j->n; i++) {
        if (j->entry[i].record.first != record->first) continue;
        if (!(*data = motus_alloc(1, (size_t)record->size + 1))) return failed(j, ENOMEM, error);
        if (read_at(j->fd, j->entry[i].at, *data, (size_t)record->size) > 0) return MOTUS_OK;
        motus_free(*data);
        *data = NULL;
        return failed(j, EIO, error);
    }
    return motus_fail(error, MOTUS_ERR_INTERNAL, "%s: no such segment", motus_shown(j->name));
}

MotusStatus motus_journal_add(MotusJournal *j, MotusRecord r, const uint8_t *data,
                              MotusError *error) {
    r.checksum = motus_checksum(record_checksum(&r), data, (size_t)r.size);
    int cause = lseek(j->fd, j->end, SEEK_SET) < 0 ? errno : write_all(j->fd, &r, sizeof r);
    if (!cause) cause = write_all(j->fd, data, (size_t)r.size);
    if (!cause) cause = request_sync(j);
    if (cause) return failed(j, cause, error);
    if (!add_entry(j, &r, j->end + (int64_t)sizeof r)) return failed(j, ENOMEM, error);
    j->end += (int64_t)sizeof r + r.size;
    return MOTUS_OK;
}

void motus_journal_close(MotusJournal **out, int done) {
    if (!out || !*out) return;
    MotusJournal *j = *out;
    stop_sync_thread(j);
    if (j->ours && (done || !j->n)) // a journal without records is of no use
        unlink(j->name);
    else if (j->fd >= 0)
        fdatasync(j->fd);
    if (j->fd >= 0) close(j->fd);
    free(j->entry);
    motus_free(j->name);
    motus_free(j);
    *out = NULL;
}
