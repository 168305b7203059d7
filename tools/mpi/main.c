// The program motus-mpi: one stream, or many files, by many ranks.
// SPDX-License-Identifier: BSD-2-Clause
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "motus/version.h"
#include "tools/cmd.h"
#include "tools/mpi/setup.h"
#include "tools/signals.h"

static const char help[] =
    "usage: mpirun -n N motus-mpi encode INPUT -o OUTPUT [options]\n"
    "\n"
    "Encodes one stream by many processes, on one machine or on many that share a file system. Rank 0\n"
    "hands out closed GOPs as the others ask for them and writes the output; the stream is the one that\n"
    "motus encode makes with the same options (motus encode --help), whatever N is.\n"
    "\n"
    "Examples:\n"
    "  mpirun -n 8 motus-mpi encode film.y4m -o film.mp4 --crf 20\n"
    "  mpirun -n 8 motus-mpi encode film.y4m -o film.mp4 --crf 20 --resume\n"
    "                                           goes on after a rank, a machine or the power has failed\n"
    "  srun motus-mpi encode film.mkv -o film.mkv.264 --preset slow\n"
    "  decoder | mpirun -n 4 motus-mpi encode - -o film.264\n"
    "                                           a pipe is read by rank 0, which sends frames to the others\n"
    "\n"
    "Each rank codes with its share of the machine's processors, or, where there are GPUs, on the GPU\n"
    "whose number is its own on that machine (--threads, --device: for all ranks).\n"
    "\n"
    "Options of its own:\n"
    "  --resume               go on from OUTPUT.motus-journal, where finished GOPs are kept until the end\n"
    "  --discard              begin anew although there is such a journal\n"
    "  --rank0-muxes-only     rank 0 codes nothing itself; for many ranks\n"
    "Not here yet: --bitrate without --pass 2, VBV, --pass 1, --recon, --stats, --mvs, filters.\n"
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

// GNU OpenMP's idle threads would take the processors from the other ranks (see motus.c). The runtime reads its environment before main: start over.
static void sleep_when_idle(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (!setenv("OMP_WAIT_POLICY", "passive", 1)) execv("/proc/self/exe", argv);
}

// Rank 0 reads the options first: what is wrong with them is said once.
static int encode(int rank, int argc, char **argv) {
    const MotusMpiOptions own = {take_flag(&argc, argv, "--resume"), take_flag(&argc, argv, "--discard"),
                                 take_flag(&argc, argv, "--rank0-muxes-only")};
    MotusEncodeOptions o = motus_encode_options_default();
    MotusMpiSetup setup = {.status = -1};
    int status = rank ? -1 : motus_encode_options_read(&o, argc, argv);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status < 0 && rank) status = motus_encode_options_read(&o, argc, argv);
    MotusLink *link = status < 0 ? motus_link_open() : NULL;
    if (status < 0) motus_signals_catch();
    if (status < 0 && !link) MPI_Abort(MPI_COMM_WORLD, MOTUS_EXIT_FAILURE);
    if (status < 0 && !rank) {
        status = motus_mpi_encode(link, &o, &own);
    } else if (status < 0) {
        motus_mpi_share(&setup, &o);
        status = setup.status < 0 ? MOTUS_EXIT_OK : setup.status;
        const MotusMpiWorker worker = {link, &o, &setup};
        if (setup.status < 0) motus_mpi_work(&worker);
    }
    motus_link_close(&link);
    free(o.rate.log_text);
    return status;
}

int main(int argc, char **argv) {
    int rank, given;
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || (argc == 3 && !strcmp(argv[2], "--help"))) {
        fputs(help, argc < 2 ? stderr : stdout);
        return argc < 2 ? MOTUS_EXIT_USAGE : motus_flush_stdout();
    }
    if (!strcmp(argv[1], "--version")) {
        printf("motus-mpi %s\n", motus_version());
        return motus_flush_stdout();
    }
    sleep_when_idle(argv);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0); // see motus.c
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int status = MOTUS_EXIT_USAGE;
    if (!strcmp(argv[1], "encode"))
        status = encode(rank, argc - 1, argv + 1);
    else if (!rank)
        motus_warn("%s: no such command (see motus-mpi --help)", argv[1]);
    MPI_Finalize();
    return status;
}
