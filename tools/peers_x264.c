// SPDX-License-Identifier: BSD-2-Clause
#include "tools/peers_x264.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "yuv/reader.h"

#define LOG_BYTES 8192 // x264 prints some 20 lines

// The last LOG_BYTES - 1 bytes of what a program printed; empty where there is nothing to read.
static void read_log(const char *path, char text[LOG_BYTES]) {
    FILE *file = fopen(path, "rb");
    size_t n = 0;
    if (file) {
        if (fseek(file, 1 - LOG_BYTES, SEEK_END)) rewind(file); // it is shorter
        n = fread(text, 1, LOG_BYTES - 1, file);
        fclose(file);
    }
    text[n] = 0;
}

MotusStatus motus_x264_version(const MotusPeerFolder *folder, char *text, size_t size, MotusError *error) {
    char *const argv[] = {"x264", "--version", NULL};
    char log[LOG_BYTES];
    int status = motus_peer_run(argv, folder->log);
    if (status == 127) return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "x264: not found on the PATH");
    read_log(folder->log, log);
    if (status || strncmp(log, "x264 ", 5)) return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "x264: does not tell its version");
    snprintf(text, size, "%.*s", (int)strcspn(log + 5, "\n"), log + 5);
    return MOTUS_OK;
}

// "encoded 300 frames, 321.04 fps, 441.70 kb/s" is its last word.
static MotusStatus read_seconds(const char *log, int frames, double *seconds, MotusError *error) {
    const char *line = strstr(log, "encoded ");
    char *end = NULL;
    long n = line ? strtol(line + 8, &end, 10) : 0;
    const char *comma = end ? strchr(end, ',') : NULL;
    double fps = comma ? strtod(comma + 1, NULL) : 0;
    if (n != frames || !(fps > 0))
        return motus_fail(error, MOTUS_ERR_FORMAT, "x264: did not say that it encoded %d frames", frames);
    *seconds = frames / fps;
    return MOTUS_OK;
}

MotusStatus motus_x264_encode(const MotusPeerFolder *folder, int frames, const char *preset, int qp, int threads, double *seconds,
                              MotusError *error) {
    char qp_text[16], threads_text[16], log[LOG_BYTES];
    snprintf(qp_text, sizeof qp_text, "%d", qp);
    snprintf(threads_text, sizeof threads_text, "%d", threads);
    char *const argv[] = {"x264",
                          "--profile",
                          "baseline",
                          "--preset",
                          (char *)preset,
                          "--tune",
                          "psnr",
                          "--ref",
                          "1",
                          "--bframes",
                          "0",
                          "--keyint",
                          "infinite",
                          "--no-scenecut",
                          "--threads",
                          threads_text,
                          "--qp",
                          qp_text,
                          "--no-progress",
                          "-o",
                          (char *)folder->out,
                          (char *)folder->clip,
                          NULL};
    int status = motus_peer_run(argv, folder->log);
    if (status == 127) return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "x264: not found on the PATH");
    read_log(folder->log, log);
    if (!status) return read_seconds(log, frames, seconds, error);
    const char *cause = strstr(log, "[error]");
    return motus_fail(error, MOTUS_ERR_IO, "x264: failed%s%.*s", cause ? ": " : "", cause ? (int)strcspn(cause, "\n") : 0,
                      cause ? cause : "");
}

// Bytes of an Annex B stream without its SEI units (nal_unit_type 6). A unit begins with its start code, zero_byte included.
static MotusStatus count_bytes(const char *path, uint64_t *bytes, MotusError *error) {
    FILE *file = fopen(path, "rb");
    if (!file) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path), strerror(errno));
    uint64_t kept = 0, zeros = 0; // zeros just read: of this unit or of the next one's start code
    int sei = 0;
    for (int c; (c = getc(file)) != EOF;) {
        if (!c) {
            zeros++;
            continue;
        }
        int begins = c == 1 && zeros >= 2;
        if (begins) sei = ((c = getc(file)) & 31) == 6;
        if (!sei) kept += zeros + 1 + (uint64_t)begins;
        zeros = 0;
    }
    int failed = ferror(file);
    fclose(file);
    *bytes = kept;
    return failed ? motus_fail(error, MOTUS_ERR_IO, "%s: cannot be read", motus_shown(path)) : MOTUS_OK;
}

static MotusStatus add_pictures(MotusReader *reader, const MotusClip *clip, uint64_t *luma_ssd, MotusError *error) {
    const MotusSequenceInfo *info = motus_reader_info(reader);
    if (info->width != clip->width || info->height != clip->height)
        return motus_fail(error, MOTUS_ERR_FORMAT, "x264's stream: %dx%d", info->width, info->height);
    MotusStatus status = MOTUS_OK;
    int n = 0;
    for (MotusFrame *frame = NULL; !status; n++) {
        status = motus_reader_next(reader, &frame, error);
        if (status) break;
        if (n < clip->n) *luma_ssd += motus_plane_ssd(&frame->plane[0], &clip->frame[n]->plane[0], clip->width, clip->height);
        motus_frame_unref(&frame);
    }
    if (status != MOTUS_END) return status;
    return n == clip->n ? MOTUS_OK : motus_fail(error, MOTUS_ERR_FORMAT, "x264's stream: %d pictures of %d", n, clip->n);
}

MotusStatus motus_x264_measure(const MotusPeerFolder *folder, const MotusClip *clip, uint64_t *bytes, uint64_t *luma_ssd,
                               MotusError *error) {
    MotusReader *reader = NULL;
    *luma_ssd = 0;
    MotusStatus status = count_bytes(folder->out, bytes, error);
    if (!status) status = motus_reader_open(&reader, folder->out, &(MotusReaderOptions){0}, error);
    if (!status) status = add_pictures(reader, clip, luma_ssd, error);
    motus_reader_close(&reader);
    return status;
}
