// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/io/temp_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"

#define MARK ".motus-" // between the output's name and the random digits
#define ENDING ".part"
#define RANDOM_DIGITS 12
#define PREFIX 200      // most bytes of the output's name: a file name may have 255
#define MAX_LINKS 40    // symbolic links to follow, as the kernel does
#define LOCK_TRIES 1000 // of a millisecond each

// ---- Files to remove at exit --------------------------------------------------------------------

#define SLOTS 16

// The temporary files of the process, for signal handlers. The second half is for live ones.
static _Atomic(const char *) slots[2 * SLOTS];

void motus_temp_outputs_remove(void) {
    for (int i = 0; i < 2 * SLOTS; i++) {
        const char *name = atomic_exchange(&slots[i], NULL);
        struct stat st;
        if (name && (i < SLOTS || (!stat(name, &st) && !st.st_size))) unlink(name);
    }
}

// Returns a slot, -1: all are taken, and nothing removes this file after a signal.
static int remember(const char *name, int live) {
    static atomic_flag at_exit = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&at_exit))
        atexit(motus_temp_outputs_remove); // libraries that give up (out of threads) call exit
    for (int i = live * SLOTS; i < (live + 1) * SLOTS; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&slots[i], &none, name)) return i;
    }
    return -1;
}

static void forget(MotusTempOutput *temp) {
    if (temp->slot >= 0) atomic_store(&slots[temp->slot], NULL);
    temp->slot = -1;
}

// ---- Names --------------------------------------------------------------------------------------

// Returns the name behind the last slash.
static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *join(const char *folder, size_t folder_size, const char *name) {
    size_t size = folder_size + strlen(name) + 1;
    char *path = motus_alloc(1, size);
    if (path) snprintf(path, size, "%.*s%s", (int)folder_size, folder, name);
    return path;
}

// Follows the symbolic links of the path's last component, also if no file is at the end. NULL:
// errno.
static char *follow_links(const char *path) {
    char link[4096];
    char *at = join("", 0, path);
    for (int i = 0; at; i++) {
        struct stat st;
        if (lstat(at, &st) || !S_ISLNK(st.st_mode)) return at;
        ssize_t size = i < MAX_LINKS ? readlink(at, link, sizeof link - 1) : -1;
        if (size < 0) {
            errno = i < MAX_LINKS ? errno : ELOOP;
            motus_free(at);
            return NULL;
        }
        link[size] = 0;
        char *next = join(at, link[0] == '/' ? 0 : (size_t)(base_of(at) - at), link);
        motus_free(at);
        at = next;
    }
    errno = ENOMEM;
    return NULL;
}

// ---- One job per name ---------------------------------------------------------------------------

// True if another job holds the lock of this file, and so is building it.
static int is_alive(int folder, const char *entry) {
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return 0;
    int alive = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    close(fd);
    return alive;
}

// True if another job is building a file for the name `base`.
static int another_job(int folder, const char *base) {
    int fd = dup(folder), alive = 0;
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0) close(fd);
    if (!list) return 0;
    rewinddir(list); // the position is shared with `folder`
    const size_t prefix = strlen(base) < PREFIX ? strlen(base) : PREFIX, mark = strlen(MARK);
    for (struct dirent *d; !alive && (d = readdir(list));) {
        const char *name = d->d_name; // of a temporary file for this output?
        alive = strlen(name) == prefix + mark + RANDOM_DIGITS + strlen(ENDING) &&
                !strncmp(name, base, prefix) && !strncmp(name + prefix, MARK, mark) &&
                !strcmp(name + prefix + mark + RANDOM_DIGITS, ENDING) && is_alive(folder, name);
    }
    closedir(list);
    return alive;
}

// ---- The temporary file -------------------------------------------------------------------------

// True if the file at temp->name is still ours; *st gets its state.
static int is_ours(const MotusTempOutput *temp, struct stat *st) {
    struct stat named;
    return !fstat(temp->fd, st) && !stat(temp->name, &named) && named.st_dev == st->st_dev &&
           named.st_ino == st->st_ino;
}

// Creates the file under its final name. Returns 0 or errno.
static int make_live(MotusTempOutput *temp) {
    if (!(temp->name = join("", 0, temp->target))) return ENOMEM;
    temp->fd = open(temp->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (temp->fd >= 0) {
        temp->live = 1;
        temp->slot = remember(temp->name, 1);
        return 0;
    }
    int cause = errno;
    motus_free(temp->name);
    temp->name = NULL;
    return cause;
}

// Creates the file under a name of its own. Returns 0 or errno.
static int make(MotusTempOutput *temp) {
    static atomic_uint calls;
    const size_t folder = (size_t)(base_of(temp->target) - temp->target),
                 length = strlen(temp->target + folder);
    for (int i = 0; i < 100; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 20 ^
                     atomic_fetch_add(&calls, 1);
        x = (x ^ x >> 31) *
            0x9E3779B97F4A7C15u; // only spreads the digits: O_EXCL makes names unique
        x ^= x >> 29;
        char tail[sizeof MARK + RANDOM_DIGITS + sizeof ENDING];
        snprintf(tail, sizeof tail, "%s%0*llx%s", MARK, RANDOM_DIGITS,
                 (unsigned long long)(x & ((1ull << 4 * RANDOM_DIGITS) - 1)), ENDING);
        temp->name = join(temp->target, folder + (length < PREFIX ? length : PREFIX), tail);
        if (!temp->name) return ENOMEM;
        temp->slot = remember(temp->name, 0);
        temp->fd = open(temp->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (temp->fd >= 0) return 0;
        int cause = errno;
        forget(temp);
        motus_free(temp->name);
        temp->name = NULL;
        if (cause != EEXIST) return cause;
    }
    return EEXIST;
}

// Creates the file, under the folder's lock. Returns 0 or errno, EBUSY for another job.
static int make_kind(MotusTempOutput *temp, int live) {
    struct stat old;
    int replaces = !stat(temp->target, &old), cause = 0;
    if (replaces && access(temp->target, W_OK)) return errno; // a rename would ignore that
    if (temp->folder >= 0 && another_job(temp->folder, base_of(temp->target))) return EBUSY;
    if (replaces && is_alive(AT_FDCWD, temp->target)) return EBUSY;
    if (!(live && !replaces && !make_live(temp))) cause = make(temp);
    if (!cause && flock(temp->fd, LOCK_EX | LOCK_NB)) errno = 0; // a file system without locks
    // Takes over the owner, if allowed, and the permissions, without the set-user-ID bits.
    if (!cause && replaces && fchown(temp->fd, old.st_uid, old.st_gid)) errno = 0;
    if (!cause && replaces && fchmod(temp->fd, old.st_mode & 0777)) errno = 0;
    return cause;
}

MotusStatus motus_temp_output_open(MotusTempOutput *temp, const char *path, int live,
                                   MotusError *error) {
    *temp = (MotusTempOutput){.fd = -1, .folder = -1, .slot = -1};
    if (!(temp->target = follow_links(path)))
        return motus_fail(error, errno == ENOMEM ? MOTUS_ERR_MEMORY : MOTUS_ERR_IO, "%s: %s",
                          motus_shown(path), strerror(errno));
    const size_t size = (size_t)(base_of(temp->target) - temp->target);
    char *folder = size ? join(temp->target, size, "") : join("", 0, ".");
    temp->folder = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    motus_free(folder);
    // The lock lets jobs look for each other and create their file one at a time. File systems
    // without locks do without.
    for (int i = 0; temp->folder >= 0 && i < LOCK_TRIES && flock(temp->folder, LOCK_EX | LOCK_NB) &&
                    errno == EWOULDBLOCK;
         i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int cause = make_kind(temp, live);
    if (temp->folder >= 0) flock(temp->folder, LOCK_UN);
    if (!cause) return MOTUS_OK;
    motus_temp_output_close(temp);
    if (cause == EBUSY)
        return motus_fail(error, MOTUS_ERR_IO, "%s: another job is writing it; nothing was done",
                          motus_shown(path));
    return motus_fail(error, cause == ENOMEM ? MOTUS_ERR_MEMORY : MOTUS_ERR_IO, "%s: %s",
                      motus_shown(path), strerror(cause));
}

// Returns 0 or errno; 0 also if the file system has no fsync for such a file.
static int sync_to_disk(int fd) {
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS ? errno : 0;
}

int motus_temp_output_commit(MotusTempOutput *temp) {
    struct stat st;
    int cause = sync_to_disk(temp->fd);
    if (!cause && temp->live && !is_ours(temp, &st)) cause = ENOENT; // removed or replaced
    if (!cause && !temp->live && rename(temp->name, temp->target)) cause = errno;
    if (!cause) {
        forget(temp);
        motus_free(temp->name);
        temp->name = NULL;
        if (temp->folder >= 0) cause = sync_to_disk(temp->folder);
    }
    motus_temp_output_close(temp); // drops its lock only now that the name is taken
    return cause;
}

int motus_temp_output_stays(const MotusTempOutput *temp) {
    struct stat st;
    return temp->live && temp->name && is_ours(temp, &st) && st.st_size > 0;
}

void motus_temp_output_close(MotusTempOutput *temp) {
    struct stat st;
    if (temp->name && (!temp->live || (is_ours(temp, &st) && !st.st_size))) unlink(temp->name);
    forget(temp);
    if (temp->fd >= 0) close(temp->fd);
    if (temp->folder >= 0) close(temp->folder);
    motus_free(temp->name);
    motus_free(temp->target);
    *temp = (MotusTempOutput){.fd = -1, .folder = -1, .slot = -1};
}
