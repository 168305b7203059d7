// The program motus-mpi: one stream, or many files, by many ranks.
// SPDX-License-Identifier: BSD-2-Clause
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "motus/version.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/mpi/batch.h"
#include "tools/mpi/setup.h"

static const char help[] =
    "usage: mpirun -n N motus-mpi encode INPUT -o OUTPUT [options]\n"
    "       mpirun -n N motus-mpi batch LIST -o FOLDER [--suffix .264] [--report FILE.json] "
    "[options]\n"
    "\n"
    "Encodes one stream by many processes, on one machine or on many that share a file system. "
    "Rank 0\n"
    "hands out closed GOPs as the others ask for them and writes the output; the stream is the one "
    "that\n"
    "motus encode makes with the same options (motus encode --help), whatever N is.\n"
    "\n"
    "Examples:\n"
    "  mpirun -n 8 motus-mpi encode film.y4m -o film.mp4 --crf 20\n"
    "  mpirun -n 8 motus-mpi encode film.y4m -o film.mp4 --crf 20 --resume\n"
    "                                           goes on after a rank, a machine or the power has "
    "failed\n"
    "  srun motus-mpi encode film.mkv -o film.mkv.264 --preset slow\n"
    "  decoder | mpirun -n 4 motus-mpi encode - -o film.264\n"
    "                                           a pipe is read by rank 0, which sends frames to "
    "the others\n"
    "\n"
    "  mpirun -n 8 motus-mpi batch list.txt -o coded --suffix .mp4 --report report.json --crf 21\n"
    "                                           many files, a line each in list.txt (- is standard "
    "input),\n"
    "                                           the largest first, each as motus encode would do "
    "it\n"
    "\n"
    "Each rank codes with its share of the machine's processors, or, where there are GPUs, on the "
    "GPU\n"
    "whose number is its own on that machine (--threads, --device: for all ranks; --devices 0,2: "
    "the\n"
    "GPUs of each machine that its ranks take in turn).\n"
    "\n"
    "Options of its own:\n"
    "  --resume               go on from OUTPUT.motus-journal, where finished GOPs are kept until "
    "the end\n"
    "  --discard              begin anew although there is such a journal\n"
    "  --rank0-muxes-only     rank 0 codes nothing itself; for many ranks\n"
    "  --times FILE.csv       what each part of the stream took (for tools/scale_sim.py)\n"
    "A batch does not end with a file that fails: the others are done, the failure is told, and "
    "the exit\n"
    "status is 1. --resume leaves out files whose output is there and not older than they are.\n"
    "--bitrate takes two passes, the first at CRF 23, over an input that is a file. Not here yet, "
    "but for a\n"
    "batch: VBV, --pass 1, --recon, --stats, --mvs, filters.\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage.\n";

// Takes options of motus-mpi's own out of the arguments.
static int take_flag(int *argc, char **argv, const char *name) {
    int found = 0, kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], name))
            argv[kept++] = argv[i];
        else
            found = 1;
    }
    *argc = kept;
    argv[kept] = NULL;
    return found;
}

// The same for one that has a value; NULL: it was not given.
static const char *take_value(int *argc, char **argv, const char *name) {
    for (int i = 0; i + 1 < *argc; i++) {
        if (strcmp(argv[i], name)) continue;
        const char *value = argv[i + 1];
        for (int k = i; k + 2 <= *argc; k++) argv[k] = argv[k + 2 < *argc ? k + 2 : *argc];
        *argc -= 2;
        argv[*argc] = NULL;
        return value;
    }
    return NULL;
}

static int batch_usage(const char *what) {
    motus_warn("%s (see motus-mpi --help)", what);
    return MOTUS_EXIT_USAGE;
}

// Options of motus encode are tried once, on rank 0, before any file is.
static int check_batch(const MotusBatch *b) {
    static char name[] = "encode", to[] = "-o", null[] = "/dev/null", input[] = "input",
                format[] = "--format", h264[] = "h264";
    char *argv[64] = {name};
    int argc = 1;
    if (!b->list) return batch_usage("batch: the list is missing");
    if (!b->folder) return batch_usage("batch: the folder is missing: -o FOLDER");
    if (b->argc > 50) return batch_usage("batch: too many options");
    for (int i = 0; i < b->argc; i++) argv[argc++] = b->argv[i];
    argv[argc++] = to, argv[argc++] = null, argv[argc++] = format, argv[argc++] = h264,
    argv[argc++] = input;
    MotusEncodeOptions o = motus_encode_options_default();
    const int status = motus_encode_options_read(&o, argc, argv);
    free(o.rate.log_text);
    return status;
}

typedef struct BatchWork {
    MotusLink *link;
    const MotusBatch *batch;
} BatchWork;

static void work_on_batch(void *work) {
    const BatchWork *w = work;
    motus_batch_work(w->link, w->batch);
}

static int batch(int rank, int argc, char **argv) {
    MotusBatch b = {.resume = take_flag(&argc, argv, "--resume"),
                    .folder = take_value(&argc, argv, "-o"),
                    .suffix = take_value(&argc, argv, "--suffix"),
                    .report = take_value(&argc, argv, "--report")};
    if (!b.suffix) b.suffix = ".264";
    b.list = argc > 1 ? argv[1] : NULL;
    b.argc = argc > 2 ? argc - 2 : 0;
    b.argv = argv + 2;
    int status = rank ? -1 : check_batch(&b), begins = 0;
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status >= 0) return status;
    b.here = motus_mpi_place();
    MotusLink *link = motus_link_open();
    if (!link) MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
    motus_signals_catch();
    if (!rank) {
        status = motus_batch(link, &b);
    } else {
        BatchWork work = {link, &b};
        MPI_Bcast(&begins, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (begins && !motus_link_work(link, work_on_batch, &work))
            MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
        if (motus_signal_caught())
            MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_SIGNAL + motus_signal_caught());
        status = MOTUS_EXIT_OK;
    }
    motus_link_close(&link);
    return status;
}

// GNU OpenMP's idle threads would take the processors from the other ranks (see motus.c). The
// runtime reads its environment before main: start over.
static void sleep_when_idle(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (!setenv("OMP_WAIT_POLICY", "passive", 1)) execv("/proc/self/exe", argv);
}

// A rank that was told to end takes the others along, who would wait for it. Where rank 0 cannot
// say any more how to go on, rank 1 does.
static void give_up(int rank, const MotusEncodeOptions *o, const MotusMpiSetup *setup) {
    if (rank == 1 && motus_mpi_rank0_is_gone(setup))
        motus_warn("rank 0 is gone; what is done is kept beside %s: the same command with --resume "
                   "goes on",
                   o->outputs.stream);
    MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_SIGNAL + motus_signal_caught());
}

static void work_on_stream(void *worker) { motus_mpi_work(worker); }

// A GPU takes most of a second to open: that begins at once, beside all else that a rank does
// before it has a part.
typedef struct Opening {
    const MotusEncodeOptions *options;
    MotusMpiPlace here;
    pthread_t thread;
    int begun;
} Opening;

static void *open_device(void *opening) {
    const Opening *o = opening;
    motus_mpi_open_device(o->options, o->here);
    return NULL;
}

static void begin_opening(Opening *o, const MotusEncodeOptions *options, const MotusMpiOptions *own,
                          int rank) {
    *o = (Opening){.options = options, .here = own->here};
    if (options->config.backend == MOTUS_BACKEND_CPU || (!rank && own->rank0_muxes_only)) return;
    o->begun = !pthread_create(&o->thread, NULL, open_device, o);
}

// Rank 0 reads the options first: what is wrong with them is said once.
static int encode(int rank, int argc, char **argv) {
    MotusMpiOptions own = {take_flag(&argc, argv, "--resume"),
                           take_flag(&argc, argv, "--discard"),
                           take_flag(&argc, argv, "--rank0-muxes-only"),
                           take_value(&argc, argv, "--times"),
                           {0, 0}};
    MotusEncodeOptions o = motus_encode_options_default();
    MotusMpiSetup setup = {.status = -1};
    int status = rank ? -1 : motus_encode_options_read(&o, argc, argv);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status < 0 && rank) status = motus_encode_options_read(&o, argc, argv);
    MotusLink *link = status < 0 ? motus_link_open() : NULL;
    if (status < 0) motus_signals_catch();
    if (status < 0 && !link) MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
    Opening opening = {0};
    if (status < 0) own.here = motus_mpi_place();
    if (status < 0) motus_mpi_see_own_device(&o, own.here);
    if (status < 0) begin_opening(&opening, &o, &own, rank);
    if (status < 0 && !rank) {
        status = motus_mpi_encode(link, &o, &own);
    } else if (status < 0) {
        do {
            motus_mpi_share(&setup, &o, own.here);
            status = setup.status < 0 ? MOTUS_EXIT_OK : setup.status;
            MotusMpiWorker worker = {link, &o, &setup};
            if (setup.status < 0 && !motus_link_work(link, work_on_stream, &worker))
                MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
            if (motus_signal_caught()) give_up(rank, &o, &setup);
            free(setup.log);
            setup.log = NULL;
        } while (setup.status < 0 && setup.more);
    }
    if (opening.begun) pthread_join(opening.thread, NULL);
    motus_link_close(&link);
    free(o.rate.log_text);
    return status;
}

int main(int argc, char **argv) {
    int rank, given;
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        (argc == 3 && !strcmp(argv[2], "--help"))) {
        fputs(help, argc < 2 ? stderr : stdout);
        return argc < 2 ? MOTUS_EXIT_USAGE : motus_flush_stdout();
    }
    if (!strcmp(argv[1], "--version")) {
        printf("motus-mpi %s\n", motus_version());
        return motus_flush_stdout();
    }
    sleep_when_idle(argv);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "16", 0); // see motus.c
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int status = MOTUS_EXIT_USAGE;
    if (!strcmp(argv[1], "encode"))
        status = encode(rank, argc - 1, argv + 1);
    else if (!strcmp(argv[1], "batch"))
        status = batch(rank, argc - 1, argv + 1);
    else if (!rank)
        motus_warn("%s: no such command (see motus-mpi --help)", argv[1]);
    MPI_Finalize();
    return status;
}
