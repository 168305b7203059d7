// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/setup.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cpu.h"
#include "common/device.h"

MotusLocalRank motus_mpi_local_rank(void) {
    MPI_Comm host;
    MotusLocalRank local;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local.rank);
    MPI_Comm_size(host, &local.ranks);
    MPI_Comm_free(&host);
    return local;
}

void motus_mpi_share_host(MotusEncoderConfig *c, MotusLocalRank local) {
    const int listed = c->n_devices > 0;
    int devices = c->backend == MOTUS_BACKEND_CPU ? 0 : motus_device_count();
    if (listed) devices = c->n_devices;
    if (devices > 0 && c->device < 0)
        c->device = listed ? c->devices[local.rank % devices] : local.rank % devices;
    c->n_devices = 0;
    c->devices = NULL;
    if (c->threads) return;
    const int offered = motus_cpu_threads(0), all = (int)sysconf(_SC_NPROCESSORS_ONLN);
    c->threads = offered < all ? offered : all / local.ranks > 1 ? all / local.ranks : 1;
}

static void broadcast_log(MotusMpiSetup *setup) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank && !(setup->log = malloc((size_t)setup->log_size))) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t at = 0, n; at < setup->log_size; at += n) { // MPI counts bytes by an int
        n = setup->log_size - at < 1 << 30 ? setup->log_size - at : 1 << 30;
        MPI_Bcast(setup->log + at, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
}

void motus_mpi_hide_other_devices(const MotusEncodeOptions *o, MotusLocalRank local) {
    const MotusEncoderConfig *c = &o->config;
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list || c->backend == MOTUS_BACKEND_CPU || c->device >= 0 || c->n_devices ||
        strlen(list) >= 1024)
        return;
    char text[1024], *name[64], *rest = text;
    int n = 0;
    snprintf(text, sizeof text, "%s", list);
    for (char *next; n < 64 && (next = strtok_r(rest, ",", &rest)) != NULL && *next != '-';)
        name[n++] = next;
    if (n > 1) setenv("CUDA_VISIBLE_DEVICES", name[local.rank % n], 1);
}

void motus_mpi_open_device(const MotusEncodeOptions *options, MotusLocalRank local) {
    MotusEncoderConfig c = options->config;
    motus_mpi_share_host(&c, local);
    if (c.backend != MOTUS_BACKEND_CPU && c.device >= 0) motus_device_use(c.device, NULL);
}

void motus_mpi_broadcast(MotusMpiSetup *setup, const MotusEncodeOptions *options,
                         MotusLocalRank local) {
    setup->pid = (int64_t)getpid();
    if (gethostname(setup->host, sizeof setup->host - 1)) setup->host[0] = 0;
    MPI_Bcast(setup, (int)sizeof *setup, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (setup->status >= 0) return;
    if (setup->log_size) broadcast_log(setup);
    setup->config.pass_log = setup->log_size ? setup->log : options->config.pass_log;
    setup->config.devices = options->config.devices;
    motus_mpi_share_host(&setup->config, local);
}

int motus_mpi_rank0_has_exited(const MotusMpiSetup *setup) {
    char host[sizeof setup->host] = "";
    if (gethostname(host, sizeof host - 1) || !host[0] || strcmp(host, setup->host)) return 0;
    return kill((pid_t)setup->pid, 0) && errno == ESRCH;
}
