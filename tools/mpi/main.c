// The program motus-mpi: one stream, or many files, coded by many ranks.
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
#include "tools/cli/system.h"
#include "tools/mpi/batch.h"
#include "tools/mpi/setup.h"

static const char help[] =
    "usage: mpirun -n N motus-mpi encode INPUT -o OUTPUT [options]\n"
    "       mpirun -n N motus-mpi batch LIST -o FOLDER [--suffix .264] [--report FILE.json]\n"
    "                             [options]\n"
    "\n"
    "Encodes one stream by many processes, on one machine or on many that share a file system.\n"
    "Rank 0 hands out closed GOPs as the others ask for them and writes the output. The stream\n"
    "is the one that motus encode makes with the same options (motus encode --help), for any N.\n"
    "\n"
    "Examples:\n"
    "  mpirun -n 8 motus-mpi encode film.y4m -o film.mp4 --crf 20\n"
    "  mpirun -n 8 motus-mpi encode film.y4m -o film.mp4 --crf 20 --resume\n"
    "                      goes on after a rank, a machine or the power has failed\n"
    "  srun motus-mpi encode film.mkv -o film.mkv.264 --preset slow\n"
    "  decoder | mpirun -n 4 motus-mpi encode - -o film.264\n"
    "                      rank 0 reads the pipe and sends frames to the others\n"
    "  mpirun -n 8 motus-mpi batch list.txt -o coded --suffix .mp4 --report report.json --crf 21\n"
    "                      many files, one a line in list.txt (- is standard input), the\n"
    "                      largest first, each as motus encode would do it\n"
    "\n"
    "Each rank codes with its share of the machine's processors or, where there are GPUs, on\n"
    "the GPU whose number is its own on that machine (--threads, --device: for all ranks;\n"
    "--devices 0,2: the GPUs of each machine that its ranks take in turn).\n"
    "\n"
    "Options of its own:\n"
    "  --resume            go on from OUTPUT.motus-journal, which keeps finished GOPs until the\n"
    "                      end\n"
    "  --discard           begin anew although there is such a journal\n"
    "  --rank0-muxes-only  rank 0 codes nothing itself; for many ranks\n"
    "  --times FILE.csv    the time of each segment of the stream (for tools/scale_sim.py)\n"
    "A batch makes FOLDER. It does not end with a file that fails: the others are done, the "
    "failure is printed,\n"
    "and the exit status is 1. --resume leaves out files whose output is no older than they are.\n"
    "--bitrate takes two passes, the first at CRF 23, over an input that is a file. Not here\n"
    "yet, but for a batch: VBV, --pass 1, --recon, --stats, --mvs, --field, filters, times to\n"
    "--seek, and --duration. A table for --mvs-in has to be a file: each rank reads all of it.\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage.\n";

// Removes a flag of motus-mpi from the arguments; returns 1 if it was there.
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

// Removes an option and its value from the arguments; returns NULL if it was not there.
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

// Checks the options of motus encode once, on rank 0, before any file is coded.
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
    b.local = motus_mpi_local_rank();
    b.link = motus_link_open();
    if (!b.link) MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
    motus_signals_catch();
    if (!rank) {
        status = motus_batch(&b);
    } else {
        MPI_Bcast(&begins, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (begins && !motus_link_run_worker(b.link, motus_batch_worker, &b))
            MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
        if (motus_signal_caught())
            MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_SIGNAL + motus_signal_caught());
        status = MOTUS_EXIT_OK;
    }
    motus_link_close(&b.link);
    return status;
}

// Restarts the program with idle OpenMP threads asleep; spinning ones would take the processors
// from other ranks (see motus.c). The runtime reads its environment before main.
static void restart_with_passive_threads(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (!setenv("OMP_WAIT_POLICY", "passive", 1)) execv("/proc/self/exe", argv);
}

// Aborts the job after a signal, since the other ranks would wait for this one. Rank 1 prints how
// to resume if rank 0 no longer can.
static void abort_job(int rank, const MotusEncodeOptions *o, const MotusMpiSetup *setup) {
    if (rank == 1 && motus_mpi_rank0_has_exited(setup))
        motus_warn("rank 0 is gone; what is done is kept beside %s: the same command with --resume "
                   "goes on",
                   o->outputs.stream);
    MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_SIGNAL + motus_signal_caught());
}

// Opens the GPU on a thread while the rank does everything else that precedes its first segment: it
// takes most of a second.
typedef struct DeviceOpening {
    const MotusEncodeOptions *options;
    MotusLocalRank local;
    pthread_t thread;
    int begun;
} DeviceOpening;

static void *open_device(void *opening) {
    const DeviceOpening *o = opening;
    motus_mpi_open_device(o->options, o->local);
    return NULL;
}

static void begin_opening(DeviceOpening *o, const MotusEncodeOptions *options,
                          const MotusMpiOptions *own, int rank) {
    *o = (DeviceOpening){.options = options, .local = own->local};
    if (options->config.backend == MOTUS_BACKEND_CPU || (!rank && own->rank0_muxes_only)) return;
    o->begun = !pthread_create(&o->thread, NULL, open_device, o);
}

// Reads the options on rank 0 first, so that an error in them is printed once.
static int encode(int rank, int argc, char **argv) {
    MotusMpiOptions own = {take_flag(&argc, argv, "--resume"),
                           take_flag(&argc, argv, "--discard"),
                           take_flag(&argc, argv, "--rank0-muxes-only"),
                           take_value(&argc, argv, "--times"),
                           {0, 0}};
    MotusEncodeOptions o = motus_encode_options_default();
    MotusMpiSetup setup = {.status = -1};
    if (rank) o.overwrite = MOTUS_OVERWRITE_YES; // rank 0 has asked
    int status = rank ? -1 : motus_encode_options_read(&o, argc, argv);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status < 0 && rank) { // silently: rank 0 has told
        char told[MOTUS_NOTE_SIZE];
        motus_warn_into(told, sizeof told);
        status = motus_encode_options_read(&o, argc, argv);
        motus_warn_into(NULL, 0);
    }
    MotusLink *link = status < 0 ? motus_link_open() : NULL;
    if (status < 0) motus_signals_catch();
    if (status < 0 && !link) MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
    DeviceOpening opening = {0};
    if (status < 0) own.local = motus_mpi_local_rank();
    if (status < 0) motus_mpi_hide_other_devices(&o, own.local);
    if (status < 0) begin_opening(&opening, &o, &own, rank);
    if (status < 0 && !rank) {
        status = motus_mpi_encode(link, &o, &own);
    } else if (status < 0) {
        do {
            motus_mpi_broadcast(&setup, &o, own.local);
            status = setup.status < 0 ? MOTUS_EXIT_OK : setup.status;
            MotusMpiWorker worker = {link, &o, &setup};
            if (setup.status < 0 && !motus_link_run_worker(link, motus_mpi_worker, &worker))
                MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
            if (motus_signal_caught()) abort_job(rank, &o, &setup);
            free(setup.log);
            setup.log = NULL;
        } while (setup.status < 0 && setup.another_pass);
    }
    if (opening.begun) pthread_join(opening.thread, NULL);
    motus_link_close(&link);
    free(o.rate.log_text);
    return status;
}

int main(int argc, char **argv) {
    int rank, given;
    motus_standard_files_open();
    const char *command = argc < 2 ? "" : argv[1];
    if (!strcmp(command, "--help") || !strcmp(command, "-h") ||
        (argc == 3 && !strcmp(argv[2], "--help"))) {
        fputs(help, stdout);
        return motus_flush_stdout();
    }
    if (!strcmp(command, "--version")) {
        printf("motus-mpi %s\n", motus_version());
        return motus_flush_stdout();
    }
    if (motus_cpu_unknown_word()) {
        motus_warn("MOTUS_CPU=%s: must be c, avx2 or avx512", motus_cpu_unknown_word());
        return MOTUS_EXIT_USAGE;
    }
    restart_with_passive_threads(argv);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "16", 0); // see motus.c
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int status = MOTUS_EXIT_USAGE;
    if (!strcmp(command, "encode"))
        status = encode(rank, argc - 1, argv + 1);
    else if (!strcmp(command, "batch"))
        status = batch(rank, argc - 1, argv + 1);
    else if (!rank)
        motus_warn("%s%s (see motus-mpi --help)", command,
                   argc < 2 ? "a command is missing: encode or batch" : ": no such command");
    MPI_Finalize();
    return status;
}
