// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/setup.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/cpu.h"
#include "common/device.h"

// Ranks of one machine share its devices in turn, and its processors evenly, unless they are bound to some of them.
static void share_machine(MotusEncoderConfig *c) {
    MPI_Comm here;
    int rank, n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &rank);
    MPI_Comm_size(here, &n);
    MPI_Comm_free(&here);
    const int devices = c->backend == MOTUS_BACKEND_CPU ? 0 : motus_device_count();
    if (devices > 0 && c->device < 0) c->device = rank % devices;
    if (c->threads) return;
    const int offered = motus_cpu_threads(0), all = (int)sysconf(_SC_NPROCESSORS_ONLN);
    c->threads = offered < all ? offered : all / n > 1 ? all / n : 1;
}

void motus_mpi_share(MotusMpiSetup *setup, const MotusEncodeOptions *options) {
    setup->pid = (int64_t)getpid();
    if (gethostname(setup->host, sizeof setup->host - 1)) setup->host[0] = 0;
    MPI_Bcast(setup, (int)sizeof *setup, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (setup->status >= 0) return;
    setup->config.pass_log = options->config.pass_log;
    share_machine(&setup->config);
}

int motus_mpi_rank0_is_gone(const MotusMpiSetup *setup) {
    char host[sizeof setup->host] = "";
    if (gethostname(host, sizeof host - 1) || !host[0] || strcmp(host, setup->host)) return 0;
    return kill((pid_t)setup->pid, 0) && errno == ESRCH;
}
