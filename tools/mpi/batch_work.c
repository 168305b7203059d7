// One who works on a batch: a file at a time, as motus encode does it.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/encode/encode_job.h"
#include "tools/mpi/batch.h"

// Encodes a file; the last line that was said of it goes to `line`.
static int encode(const MotusBatch *b, char *input, char *output, char *line, size_t size) {
    static char name[] = "encode", to[] = "-o", end[] = "--", quiet[] = "--quiet";
    MotusEncodeOptions o = motus_encode_options_default();
    char **argv = malloc(((size_t)b->argc + 8) * sizeof *argv);
    int argc = 0;
    if (!argv) return MOTUS_EXIT_FAILURE;
    argv[argc++] = name;
    for (int i = 0; i < b->argc; i++) argv[argc++] = b->argv[i];
    argv[argc++] = quiet, argv[argc++] = to, argv[argc++] = output, argv[argc++] = end,
    argv[argc++] = input;
    argv[argc] = NULL;
    motus_warn_into(line, size);
    int status = motus_encode_options_read(&o, argc, argv);
    if (status < 0) {
        motus_mpi_share_machine(&o.config, b->here);
        status = motus_encode_job(&o);
    }
    motus_warn_into(NULL, 0);
    motus_signals_go_on();
    free(o.rate.log_text);
    free(argv);
    return status;
}

void motus_batch_work(MotusLink *link, const MotusBatch *batch) {
    char line[512];
    for (MotusMessage *m; motus_link_say(link, motus_message(MOTUS_SAYS_ASK, NULL, 0)) &&
                          (m = motus_link_wait(link, -1));) {
        if (m->kind == MOTUS_SAYS_STOP) {
            motus_message_free(&m);
            break;
        }
        char *input = (char *)m->data, *output = input + strlen(input) + 1;
        const double start = motus_seconds();
        line[0] = 0;
        const int status = encode(batch, input, output, line, sizeof line);
        MotusMessage *done = motus_message(MOTUS_SAYS_DONE, line, strlen(line) + 1);
        if (done) {
            done->number = m->number;
            done->count = status;
            done->reserved = (int64_t)((motus_seconds() - start) * 1e6);
        }
        motus_message_free(&m);
        if (!motus_link_say(link, done)) break;
    }
}
