// motus-mpi batch. Rank 0 reads the list, hands out files, the largest first, and writes the
// report; every rank codes one file at a time.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/batch.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "motus/version.h"
#include "tools/cli/cmd.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/encode/encode.h"
#include "yuv/io/writer.h"

enum { FILE_WAITS, FILE_DONE, FILE_FAILED, FILE_KEPT };

typedef struct BatchFile {
    char *input, *output;
    int64_t size, bytes; // of input and output; -1: no such file
    int state, rank;
    double seconds;
    char *line; // printed about it; NULL: none
} BatchFile;

typedef struct Run {
    const MotusBatch *batch;
    BatchFile *file;
    size_t n, capacity, next, finished, failed;
    int ranks, stopped; // stopped: ranks that are done
    double start;
} Run;

// ---- The list -----------------------------------------------------------------------------------

// Returns FOLDER/NAME with the suffix in place of the input's extension.
static char *output_name(const MotusBatch *b, const char *input) {
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input,
               *dot = strrchr(base, '.');
    const int length = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    const size_t size = strlen(b->folder) + (size_t)length + strlen(b->suffix) + 2;
    char *name = malloc(size);
    if (name) snprintf(name, size, "%s/%.*s%s", b->folder, length, base, b->suffix);
    return name;
}

static int64_t file_size(const char *path) {
    struct stat st;
    return stat(path, &st) ? -1 : (int64_t)st.st_size;
}

static int add(Run *r, const char *input) {
    if (r->n == r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 256;
        BatchFile *more = realloc(r->file, capacity * sizeof *more);
        if (!more) return 0;
        r->file = more, r->capacity = capacity;
    }
    BatchFile *f = &r->file[r->n];
    *f = (BatchFile){.input = strdup(input),
                     .output = output_name(r->batch, input),
                     .size = file_size(input),
                     .bytes = -1,
                     .rank = -1};
    r->n += f->input && f->output;
    return f->input && f->output;
}

static MotusStatus read_list(Run *r, MotusError *error) {
    const char *name = r->batch->list;
    FILE *file = strcmp(name, "-") ? fopen(name, "r") : stdin;
    char *line = NULL;
    size_t capacity = 0;
    int good = 1;
    if (!file) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(name), strerror(errno));
    for (ssize_t length; good && (length = getline(&line, &capacity, file)) > 0;) {
        while (length && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
        if (length) good = add(r, line);
    }
    const int cause = ferror(file) ? errno : 0;
    free(line);
    if (file != stdin) fclose(file);
    if (!good) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(name));
    if (cause) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(name), strerror(cause));
    return r->n ? MOTUS_OK
                : motus_fail(error, MOTUS_ERR_FORMAT, "%s: names no file", motus_shown(name));
}

static int by_output(const void *a, const void *b) {
    const BatchFile *x = a, *y = b;
    const int order = strcmp(x->output, y->output);
    return order ? order : strcmp(x->input, y->input);
}

static int by_size(const void *a, const void *b) {
    const BatchFile *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size)
                              : strcmp(x->input, y->input);
}

// ---- State of a file ----------------------------------------------------------------------------

static void finish(Run *r, BatchFile *f, int state, const char *line) {
    f->state = state;
    f->bytes = state == FILE_FAILED ? -1 : file_size(f->output);
    if (line && line[0]) f->line = strdup(line);
    r->finished++;
    r->failed += state == FILE_FAILED;
    if (line && line[0]) motus_warn("%s", line);
}

static int is_up_to_date(const BatchFile *f) {
    struct stat in, out;
    return !stat(f->input, &in) && !stat(f->output, &out) && out.st_mtime >= in.st_mtime;
}

// Fails the second of two inputs with the same output, skips files that are done with --resume, and
// sorts the list by size.
static void sort_files(Run *r) {
    char line[512];
    qsort(r->file, r->n, sizeof *r->file, by_output);
    for (size_t i = 0; i < r->n; i++) {
        BatchFile *f = &r->file[i];
        if (i && !strcmp(f->output, f[-1].output)) {
            snprintf(line, sizeof line, "%s: %s is the output of another file of the list",
                     motus_shown(f->input), motus_shown(f->output));
            finish(r, f, FILE_FAILED, line);
        } else if (r->batch->resume && is_up_to_date(f)) {
            finish(r, f, FILE_KEPT, NULL);
        }
    }
    qsort(r->file, r->n, sizeof *r->file, by_size);
}

// ---- Handing out --------------------------------------------------------------------------------

static void hand_out(Run *r, int rank) {
    while (r->next < r->n && r->file[r->next].state != FILE_WAITS) r->next++;
    BatchFile *f = r->next < r->n ? &r->file[r->next] : NULL;
    const size_t in = f ? strlen(f->input) + 1 : 0, out = f ? strlen(f->output) + 1 : 0;
    MotusMessage *m = motus_message(f ? MOTUS_MSG_FILE : MOTUS_MSG_STOP, NULL, in + out);
    if (!m) {
        MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
        return;
    }
    if (f) {
        memcpy(m->data, f->input, in);
        memcpy(m->data + in, f->output, out);
        m->number = (int64_t)r->next++;
        f->rank = rank;
    }
    r->stopped += !f;
    motus_link_send(r->batch->link, rank, m);
}

static void handle(Run *r, const MotusMessage *m) {
    if (m->kind == MOTUS_MSG_REQUEST) hand_out(r, m->rank);
    if (m->kind != MOTUS_MSG_DONE || m->number < 0 || (size_t)m->number >= r->n) return;
    BatchFile *f = &r->file[m->number];
    f->seconds = (double)m->microseconds / 1e6;
    finish(r, f, m->count ? FILE_FAILED : FILE_DONE, (const char *)m->data);
}

static void show(const Run *r, int quiet, double *shown) {
    const double now = motus_seconds();
    if (quiet || now - *shown < 0.5) return;
    *shown = now;
    fprintf(stderr, "\r%zu/%zu files, %zu failed, %d ranks\033[K", r->finished, r->n, r->failed,
            r->ranks);
    fflush(stderr);
}

// ---- The report ---------------------------------------------------------------------------------

static MotusStatus put_text(MotusOutput *out, const char *before, const char *text,
                            MotusError *error) {
    cJSON *string = cJSON_CreateString(text);
    char *json = string ? cJSON_PrintUnformatted(string) : NULL;
    MotusStatus status = json ? motus_output_write(out, before, strlen(before), error)
                              : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (json && !status) status = motus_output_write(out, json, strlen(json), error);
    cJSON_free(json);
    cJSON_Delete(string);
    return status;
}

static MotusStatus put_file(MotusOutput *out, const BatchFile *f, int last, MotusError *error) {
    static const char *const states[] = {"waiting", "done", "failed", "kept"};
    char numbers[200];
    MotusStatus status = put_text(out, "    {\"input\": ", f->input, error);
    if (!status) status = put_text(out, ", \"output\": ", f->output, error);
    if (!status && f->line) status = put_text(out, ", \"said\": ", f->line, error);
    const int n = snprintf(numbers, sizeof numbers,
                           ", \"state\": \"%s\", \"rank\": %d, \"bytes\": %" PRId64
                           ", \"seconds\": %.6f}%s\n",
                           states[f->state], f->rank, f->bytes, f->seconds, last ? "" : ",");
    return status ? status : motus_output_write(out, numbers, (size_t)n, error);
}

static MotusStatus write_report(const Run *r, MotusError *error) {
    MotusOutput *out = NULL;
    char head[300];
    if (!r->batch->report) return MOTUS_OK;
    const int n = snprintf(head, sizeof head,
                           "{\n  \"motus\": \"%s\",\n  \"ranks\": %d,\n  \"files\": %zu,\n  "
                           "\"failed\": %zu,\n  \"seconds\": "
                           "%.3f,\n  \"results\": [\n",
                           motus_version(), r->ranks, r->n, r->failed, motus_seconds() - r->start);
    MotusStatus status = motus_output_open(&out, r->batch->report, error);
    if (!status) status = motus_output_write(out, head, (size_t)n, error);
    for (size_t i = 0; i < r->n && !status; i++)
        status = put_file(out, &r->file[i], i + 1 == r->n, error);
    if (!status) status = motus_output_write(out, "  ]\n}\n", 6, error);
    if (!status) status = motus_output_commit(&out, error);
    motus_output_abandon(&out);
    return status;
}

// ---- The worker thread --------------------------------------------------------------------------

// Encodes a file; returns the exit status. `line` receives the last line it printed.
static int encode(const MotusBatch *b, char *input, char *output, char *line, size_t size) {
    static char name[] = "encode", to[] = "-o", end[] = "--", quiet[] = "--quiet", yes[] = "-y";
    MotusEncodeOptions o = motus_encode_options_default();
    char **argv = malloc(((size_t)b->argc + 9) * sizeof *argv);
    int argc = 0;
    if (!argv) return MOTUS_EXIT_FAILURE;
    argv[argc++] = name, argv[argc++] = yes; // a file's question would hold up its rank
    for (int i = 0; i < b->argc; i++) argv[argc++] = b->argv[i];
    argv[argc++] = quiet, argv[argc++] = to, argv[argc++] = output, argv[argc++] = end,
    argv[argc++] = input;
    argv[argc] = NULL;
    motus_warn_into(line, size);
    int status = motus_encode_options_read(&o, argc, argv);
    if (status < 0) {
        motus_mpi_share_host(&o.config, b->local);
        status = motus_encode_job(&o);
    }
    motus_warn_into(NULL, 0);
    motus_signals_go_on();
    free(o.rate.log_text);
    free(argv);
    return status;
}

void *motus_batch_worker(void *batch) {
    const MotusBatch *b = batch;
    char line[512];
    for (MotusMessage *m; motus_link_reply(b->link, motus_message(MOTUS_MSG_REQUEST, NULL, 0)) &&
                          (m = motus_link_wait(b->link, -1));) {
        if (m->kind == MOTUS_MSG_STOP) {
            motus_message_free(&m);
            break;
        }
        char *input = (char *)m->data, *output = input + strlen(input) + 1;
        const double start = motus_seconds();
        line[0] = 0;
        const int status = encode(b, input, output, line, sizeof line);
        MotusMessage *done = motus_message(MOTUS_MSG_DONE, line, strlen(line) + 1);
        if (done) {
            done->number = m->number;
            done->count = status;
            done->microseconds = (int64_t)((motus_seconds() - start) * 1e6);
        }
        motus_message_free(&m);
        if (!motus_link_reply(b->link, done)) break;
    }
    return NULL;
}

// ---- The run ------------------------------------------------------------------------------------

static void run(Run *r, int quiet) {
    double shown = 0;
    for (int idle = 0; r->stopped < r->ranks && !motus_signal_caught();) {
        MotusMessage *m = motus_link_receive(r->batch->link);
        if (m) {
            handle(r, m);
            motus_message_free(&m);
            idle = 0;
        } else {
            show(r, quiet, &shown);
            motus_link_sleep(r->batch->link, &idle);
        }
    }
    for (int idle = 0; !motus_signal_caught() && motus_link_pending(r->batch->link);)
        motus_link_sleep(r->batch->link, &idle);
    if (!quiet && shown > 0) fprintf(stderr, "\r\033[K");
}

int motus_batch(MotusBatch *batch) {
    Run r = {.batch = batch, .start = motus_seconds()};
    MotusError error = {0};
    pthread_t thread;
    MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
    MotusStatus status = read_list(&r, &error);
    if (!status) status = motus_folder_make(batch->folder, &error);
    int begins = !status;
    MPI_Bcast(&begins, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!status) {
        sort_files(&r);
        if (pthread_create(&thread, NULL, motus_batch_worker, batch))
            MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
        run(&r, !isatty(STDERR_FILENO));
        status = write_report(&r, &error);
        if (motus_signal_caught()) {
            motus_warn("ended by signal %d; %zu of %zu files are done: the same command with "
                       "--resume goes on",
                       motus_signal_caught(), r.finished, r.n);
            MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_SIGNAL + motus_signal_caught());
        }
        pthread_join(thread, NULL);
        fprintf(stderr, "%zu files: %zu done, %zu failed, in %.1f s by %d ranks\n", r.n,
                r.n - r.failed, r.failed, motus_seconds() - r.start, r.ranks);
    }
    if (status) motus_failure(&error);
    for (size_t i = 0; i < r.n; i++)
        free(r.file[i].input), free(r.file[i].output), free(r.file[i].line);
    free(r.file);
    return status || r.failed ? MOTUS_EXIT_FAILURE : MOTUS_EXIT_OK;
}
