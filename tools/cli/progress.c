// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "tools/cli/system.h"

#define INTERVAL 0.1 // seconds

MotusProgress motus_progress_begin(int64_t total, int quiet) {
    return (MotusProgress){
        .on = !quiet && isatty(STDERR_FILENO), .total = total, .start = motus_seconds()};
}

void motus_progress_show(MotusProgress *p, int64_t done, const char *more) {
    double now = motus_seconds(), spent = now - p->start;
    if (!p->on || now - p->shown < INTERVAL || spent <= 0) return;
    p->shown = now;
    double fps = (double)done / spent;
    fprintf(stderr, "\r%lld", (long long)done);
    if (p->total > 0) fprintf(stderr, "/%lld", (long long)p->total);
    fprintf(stderr, " frames  %.1f fps%s", fps, more);
    if (p->total > done && done > 0) {
        int left = (int)((double)(p->total - done) / fps + 0.5);
        fprintf(stderr, "  %d:%02d left", left / 60, left % 60);
    }
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

void motus_progress_wipe(const MotusProgress *p) {
    if (p->on && p->shown > 0) fprintf(stderr, "\r\033[K");
}

void motus_progress_end(MotusProgress *p) {
    motus_progress_wipe(p);
    p->on = 0;
}
