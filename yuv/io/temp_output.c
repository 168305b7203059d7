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
#define SHOWN                                                                                      \
    200 // bytes of the output's name that the part's name begins with: a name's limit is 255
#define MAX_LINKS 40    // symbolic links to follow, as the kernel does
#define LOCK_TRIES 1000 // of a millisecond each

// ---- Parts to remove at exit --------------------------------------------------------------------

#define SLOTS 16

// What a signal handler has to find: a process has one set of parts, so this is the process's. The
// second half is for live parts.
static _Atomic(const char *) slots[2 * SLOTS];

void motus_temp_outputs_remove(void) {
    for (int i = 0; i < 2 * SLOTS; i++) {
        const char *name = atomic_exchange(&slots[i], NULL);
        struct stat st;
        if (name && (i < SLOTS || (!stat(name, &st) && !st.st_size))) unlink(name);
    }
}

// -1: all slots are taken, then nobody removes this part after a signal.
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

static void forget(MotusTempOutput *part) {
    if (part->slot >= 0) atomic_store(&slots[part->slot], NULL);
    part->slot = -1;
}

// ---- Names --------------------------------------------------------------------------------------

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

// The path with the symbolic links of its last component followed, whether or not there is a file
// at the end. NULL: errno.
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

static uint64_t random_number(void) {
    static atomic_uint calls;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 20 ^
                 atomic_fetch_add(&calls, 1);
    x = (x ^ x >> 31) *
        0x9E3779B97F4A7C15u; // spreads the digits; O_EXCL is what makes the name unique
    return x ^ x >> 29;
}

static char *new_name(const char *target) {
    char tail[sizeof MARK + RANDOM_DIGITS + sizeof ENDING];
    snprintf(tail, sizeof tail, "%s%0*llx%s", MARK, RANDOM_DIGITS,
             (unsigned long long)(random_number() & ((1ull << 4 * RANDOM_DIGITS) - 1)), ENDING);
    size_t folder = (size_t)(base_of(target) - target), shown = strlen(target + folder);
    return join(target, folder + (shown < SHOWN ? shown : SHOWN), tail);
}

// Whether `entry` is a part's name for an output called `base`.
static int is_part_of(const char *entry, const char *base) {
    size_t shown = strlen(base) < SHOWN ? strlen(base) : SHOWN;
    return strlen(entry) == shown + strlen(MARK) + RANDOM_DIGITS + strlen(ENDING) &&
           !strncmp(entry, base, shown) && !strncmp(entry + shown, MARK, strlen(MARK)) &&
           !strcmp(entry + shown + strlen(MARK) + RANDOM_DIGITS, ENDING);
}

// ---- One job per name ---------------------------------------------------------------------------

// Whoever builds a part keeps its lock. Files that cannot be opened are taken for abandoned ones.
static int is_alive(int folder, const char *entry) {
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return 0;
    int alive = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    close(fd);
    return alive;
}

static int another_job(int folder, const char *base) {
    int fd = dup(folder), alive = 0;
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0) close(fd);
    if (!list) return 0;
    rewinddir(list); // the position is shared with `folder`
    for (struct dirent *d; !alive && (d = readdir(list));)
        alive = is_part_of(d->d_name, base) && is_alive(folder, d->d_name);
    closedir(list);
    return alive;
}

// Looking for other jobs and making the part is one step for all jobs on the folder. A file system
// without locks does without.
static void lock_folder(int folder) {
    for (int i = 0;
         folder >= 0 && i < LOCK_TRIES && flock(folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
         i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// ---- The part -----------------------------------------------------------------------------------

// The owner where we may, the permissions always; not the set-user-ID bits, which were given to
// other contents.
static void inherit(int fd, const struct stat *old) {
    if (fchown(fd, old->st_uid, old->st_gid)) errno = 0; // not ours to give away: it stays ours
    if (fchmod(fd, old->st_mode & 0777)) errno = 0;
}

// What is at the part's name now, if that is still our file.
static int look_at(const MotusTempOutput *part, struct stat *st) {
    struct stat named;
    return !fstat(part->fd, st) && !stat(part->name, &named) && named.st_dev == st->st_dev &&
           named.st_ino == st->st_ino;
}

static int make_live(MotusTempOutput *part) {
    if (!(part->name = join("", 0, part->target))) return ENOMEM;
    part->fd = open(part->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (part->fd >= 0) {
        part->live = 1;
        part->slot = remember(part->name, 1);
        return 0;
    }
    int cause = errno;
    motus_free(part->name);
    part->name = NULL;
    return cause;
}

static int make(MotusTempOutput *part) {
    for (int i = 0; i < 100; i++) {
        if (!(part->name = new_name(part->target))) return ENOMEM;
        part->slot = remember(part->name, 0);
        part->fd = open(part->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (part->fd >= 0) return 0;
        int cause = errno;
        forget(part);
        motus_free(part->name);
        part->name = NULL;
        if (cause != EEXIST) return cause;
    }
    return EEXIST;
}

static int open_folder(const char *target) {
    size_t size = (size_t)(base_of(target) - target);
    char *folder = size ? join(target, size, "") : join("", 0, ".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    motus_free(folder);
    return fd;
}

// Under the lock of the folder. 0 or errno, EBUSY for another job.
static int make_kind(MotusTempOutput *part, int live) {
    struct stat old;
    int replaces = !stat(part->target, &old), cause = 0;
    if (replaces && access(part->target, W_OK))
        return errno; // renaming would replace even a read-only file
    if (part->folder >= 0 && another_job(part->folder, base_of(part->target))) return EBUSY;
    if (replaces && is_alive(AT_FDCWD, part->target)) return EBUSY;
    if (!(live && !replaces && !make_live(part))) cause = make(part);
    if (!cause && flock(part->fd, LOCK_EX | LOCK_NB)) errno = 0; // a file system without locks
    if (!cause && replaces) inherit(part->fd, &old);
    return cause;
}

MotusStatus motus_temp_output_open(MotusTempOutput *part, const char *path, int live,
                                   MotusError *error) {
    *part = (MotusTempOutput){.fd = -1, .folder = -1, .slot = -1};
    if (!(part->target = follow_links(path)))
        return motus_fail(error, errno == ENOMEM ? MOTUS_ERR_MEMORY : MOTUS_ERR_IO, "%s: %s",
                          motus_shown(path), strerror(errno));
    part->folder = open_folder(part->target);
    lock_folder(part->folder);
    int cause = make_kind(part, live);
    if (part->folder >= 0) flock(part->folder, LOCK_UN);
    if (!cause) return MOTUS_OK;
    motus_temp_output_close(part);
    if (cause == EBUSY)
        return motus_fail(error, MOTUS_ERR_IO, "%s: another job is writing it; nothing was done",
                          motus_shown(path));
    return motus_fail(error, cause == ENOMEM ? MOTUS_ERR_MEMORY : MOTUS_ERR_IO, "%s: %s",
                      motus_shown(path), strerror(cause));
}

// 0 also where the file system has no fsync for such a file.
static int sync_to_disk(int fd) {
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS ? errno : 0;
}

int motus_temp_output_commit(MotusTempOutput *part) {
    struct stat st;
    int cause = sync_to_disk(part->fd);
    if (!cause && part->live && !look_at(part, &st))
        cause = ENOENT; // somebody has removed or replaced it meanwhile
    if (!cause && !part->live && rename(part->name, part->target)) cause = errno;
    if (!cause) {
        forget(part);
        motus_free(part->name);
        part->name = NULL;
        if (part->folder >= 0) cause = sync_to_disk(part->folder);
    }
    motus_temp_output_close(part); // its lock goes only now, when the name is taken
    return cause;
}

int motus_temp_output_stays(const MotusTempOutput *part) {
    struct stat st;
    return part->live && part->name && look_at(part, &st) && st.st_size > 0;
}

void motus_temp_output_close(MotusTempOutput *part) {
    struct stat st;
    if (part->name && (!part->live || (look_at(part, &st) && !st.st_size))) unlink(part->name);
    forget(part);
    if (part->fd >= 0) close(part->fd);
    if (part->folder >= 0) close(part->folder);
    motus_free(part->name);
    motus_free(part->target);
    *part = (MotusTempOutput){.fd = -1, .folder = -1, .slot = -1};
}
