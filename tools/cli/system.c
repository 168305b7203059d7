// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/cpu.h"

double motus_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double motus_processor_seconds(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

double motus_thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int motus_cpu_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

double motus_cpu_load(void) {
    char line[64], *end = line;
    FILE *file = fopen("/proc/loadavg", "r");
    if (!file) return -1;
    const double load = fgets(line, sizeof line, file) ? strtod(line, &end) : -1;
    fclose(file);
    return end > line ? load : -1;
}

void motus_cpu_name(char *text, size_t size) {
    snprintf(text, size, "unknown CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(text, size, "%s", colon + 1 + (colon[1] == ' '));
        break;
    }
    fclose(file);
}

const char *motus_cpu_instructions(void) {
    unsigned flags = motus_cpu_flags();
    return flags & MOTUS_CPU_AVX512 ? "avx512" : flags & MOTUS_CPU_AVX2 ? "avx2" : "c";
}

const char *motus_cpu_unknown_word(void) {
    const char *word = getenv("MOTUS_CPU");
    const int known =
        !word || !*word || !strcmp(word, "c") || !strcmp(word, "avx2") || !strcmp(word, "avx512");
    return known ? NULL : word;
}

void motus_standard_files_open(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return;
}

static const char visible[] = "CUDA_VISIBLE_DEVICES";
static int hidden; // `visible` was set here

void motus_devices_hide(void) { hidden = !getenv(visible) && !setenv(visible, "0", 0); }

void motus_devices_show(void) {
    if (hidden) unsetenv(visible);
    hidden = 0;
}
