// motus info: version, CPU features, OpenMP, libraries found, backends.
// SPDX-License-Identifier: BSD-2-Clause
#include <cjson/cJSON.h>
#include <stdio.h>

#include "common/cpu.h"
#include "common/device.h"
#include "motus/backend.h"
#include "motus/version.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"
#ifdef MOTUS_HAVE_MEDIA
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#endif
#ifdef MOTUS_HAVE_DEINTERLACE
#include <libavfilter/avfilter.h>
#endif

static void print_libraries(void) {
#ifdef MOTUS_HAVE_MEDIA
    unsigned format = avformat_version(), codec = avcodec_version();
    printf("libavformat   %u.%u.%u: reads other files, writes .mp4, .mov, .mkv, .ts\n",
           format >> 16, format >> 8 & 255, format & 255);
    printf("libavcodec    %u.%u.%u\n", codec >> 16, codec >> 8 & 255, codec & 255);
#else
    printf("libavformat   not in this build: .y4m and .yuv in, .264 out\n");
#endif
#ifdef MOTUS_HAVE_DEINTERLACE
    unsigned filter = avfilter_version();
    printf("libavfilter   %u.%u.%u: deinterlaces\n", filter >> 16, filter >> 8 & 255, filter & 255);
#else
    printf("libavfilter   not in this build: interlaced input is refused\n");
#endif
    printf("cJSON         %s\n", cJSON_Version());
}

static void print_backend(MotusBackend backend) {
    MotusBackend chosen;
    MotusError error;
    MotusStatus status = motus_backend_choose(backend, &chosen);
    const int unusable = status == MOTUS_ERR_NO_DEVICE && motus_device_check(&error);
    printf("backend %-5s %s\n", motus_backend_name(backend),
           unusable                        ? error.text
           : status                        ? motus_status_text(status)
           : backend == MOTUS_BACKEND_AUTO ? motus_backend_name(chosen)
                                           : "usable");
}

static void print_devices(void) {
    for (int i = 0; i < motus_device_count(); i++) {
        char text[400];
        motus_device_describe(i, text, sizeof text);
        printf("device %-6d %s\n", i, text);
    }
}

int motus_cmd_info(int argc, char **argv) {
    static const MotusOption options[] = {{0}};
    const MotusCommand command = {
        "info",  "",   "Prints version, CPU features, threads, libraries and backends.\n",
        options, NULL, 0};
    int status = motus_options_parse(&command, argc, argv);
    if (status >= 0) return status;
    motus_devices_show();
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    printf("motus         %s\n", motus_version());
    printf("cpu           %s\n", cpu);
    printf("instructions  %s\n", motus_cpu_instructions());
#ifdef _OPENMP
    printf("threads       %d (OpenMP %d)\n", motus_cpu_threads(0), _OPENMP);
#else
    printf("threads       1 (no OpenMP in this build)\n");
#endif
    print_libraries();
    if (*motus_device_code()) printf("CUDA code     %s\n", motus_device_code());
    print_backend(MOTUS_BACKEND_CPU);
    print_backend(MOTUS_BACKEND_CUDA);
    print_backend(MOTUS_BACKEND_AUTO);
    print_devices();
    return motus_flush_stdout();
}
