// SPDX-License-Identifier: BSD-2-Clause
#include "tools/x264/x264.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "tools/cli/signals.h"
#include "yuv/io/reader.h"

#define LOG_BYTES 8192 // x264 prints some 20 lines

// Reads the last LOG_BYTES - 1 bytes of a program's output, "" if there is none.
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

static MotusStatus not_found(const char *program, MotusError *error) {
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s: not found%s%s", motus_shown(program),
                      strchr(program, '/') ? "" : " on the PATH",
                      strcmp(program, "x264") ? "" : " (package x264)");
}

MotusStatus motus_x264_version(const char *program, const char *log, char *text, size_t size,
                               MotusTimes *start, MotusError *error) {
    char *const argv[] = {(char *)program, "--version", NULL};
    char said[LOG_BYTES];
    int status = motus_spawn(argv, log, start);
    if (status == 127) return not_found(program, error);
    read_log(log, said);
    if (status || strncmp(said, "x264 ", 5))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: is not x264: does not tell its version", motus_shown(program));
    snprintf(text, size, "%.*s", (int)strcspn(said + 5, "\n"), said + 5);
    return MOTUS_OK;
}

// Parses its last line, "encoded 300 frames, 321.04 fps, 441.70 kb/s".
static MotusStatus read_seconds(const char *log, int frames, double *seconds, MotusError *error) {
    const char *line = strstr(log, "encoded ");
    char *end = NULL;
    long n = line ? strtol(line + 8, &end, 10) : 0;
    const char *comma = end ? strchr(end, ',') : NULL;
    double fps = comma ? strtod(comma + 1, NULL) : 0;
    if (n != frames || !(fps > 0))
        return motus_fail(error, MOTUS_ERR_FORMAT, "x264: did not say that it encoded %d frames",
                          frames);
    *seconds = frames / fps;
    return MOTUS_OK;
}

// Fails with its first line that has "[error]", else with its last line.
static MotusStatus encode_failure(const char *log, int exit_status, MotusError *error) {
    const char *line = strstr(log, "[error]");
    if (line) {
        line += strspn(line + 7, ": ") + 7;
    } else {
        size_t end = strlen(log);
        while (end && log[end - 1] == '\n') end--;
        size_t from = end;
        while (from && log[from - 1] != '\n' && log[from - 1] != '\r') from--;
        line = log + from;
    }
    const int length = (int)strcspn(line, "\n");
    if (exit_status == 126)
        return motus_fail(error, MOTUS_ERR_IO, "x264: ended by a signal%s%.*s", length ? ": " : "",
                          length, line);
    return motus_fail(error, MOTUS_ERR_IO, "x264: failed%s%.*s", length ? ": " : "", length, line);
}

// Makes the command line, with its numbers in `text`. Returns 0 if it has too many words.
static int make_words(const MotusX264Job *job, char *argv[MOTUS_X264_WORDS], char text[3][16]) {
    static const char *const fixed[] = {
        "--tune", "psnr", "--keyint",  "infinite", "--no-scenecut", "--profile", "baseline",
        "--ref",  "1",    "--bframes", "0",        "--weightp",     "0"};
    const int n_fixed = job->shipped ? 5 : (int)(sizeof fixed / sizeof *fixed);
    const struct {
        const char *name;
        int value;
    } number[3] = {{"--qp", job->qp}, {"--threads", job->threads}, {"--merange", job->range}};
    int n = 0;
    argv[n++] = (char *)job->program;
    argv[n++] = "--preset";
    argv[n++] = (char *)(job->preset ? job->preset : "medium");
    for (int i = 0; i < n_fixed; i++) argv[n++] = (char *)fixed[i];
    for (int i = 0; i < (job->range ? 3 : 2); i++) {
        snprintf(text[i], sizeof text[i], "%d", number[i].value);
        argv[n++] = (char *)number[i].name;
        argv[n++] = text[i];
    }
    for (const char *const *word = job->words; word && *word; word++) {
        if (n >= MOTUS_X264_WORDS - 5) return 0;
        argv[n++] = (char *)*word;
    }
    argv[n++] = "--no-progress";
    argv[n++] = "-o";
    argv[n++] = (char *)job->output;
    argv[n++] = (char *)job->input;
    argv[n] = NULL;
    return 1;
}

MotusStatus motus_x264_encode(const MotusX264Job *job, MotusX264Times *times, MotusError *error) {
    char *argv[MOTUS_X264_WORDS], text[3][16], log[LOG_BYTES];
    if (!make_words(job, argv, text))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "x264: too many options");
    const int status = motus_spawn(argv, job->log, &times->program);
    if (motus_signal_caught()) return motus_fail(error, MOTUS_END, "interrupted");
    if (status == 127) return not_found(job->program, error);
    read_log(job->log, log);
    return status ? encode_failure(log, status, error)
                  : read_seconds(log, job->frames, &times->seconds, error);
}

// Counts the bytes of an Annex B stream without SEI units (nal_unit_type 6). A unit begins with its
// start code, zero_byte included.
static MotusStatus count_bytes(const char *path, uint64_t *bytes, MotusError *error) {
    FILE *file = fopen(path, "rb");
    if (!file) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path), strerror(errno));
    uint64_t kept = 0, zeros = 0; // zeros: of this unit or of the next start code
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
    return failed ? motus_fail(error, MOTUS_ERR_IO, "%s: cannot be read", motus_shown(path))
                  : MOTUS_OK;
}

// Compares the stream's pictures with the source.
static MotusStatus compare_pictures(MotusReader *reader, int frames, MotusSourceFrame *source,
                                    void *opaque, MotusQuality *q, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (MotusFrame *frame = NULL; !status; motus_frame_unref(&frame)) {
        const MotusFrame *wanted = NULL;
        status = motus_reader_next(reader, &frame, error);
        if (!status && q->frames < frames) status = source(opaque, q->frames, &wanted, error);
        if (status) break;
        if (q->frames++ >= frames) continue;
        if (frame->width != wanted->width || frame->height != wanted->height)
            status = motus_fail(error, MOTUS_ERR_FORMAT, "x264's stream: %dx%d", frame->width,
                                frame->height);
        else
            q->luma_ssd +=
                motus_plane_ssd(&frame->plane[0], &wanted->plane[0], frame->width, frame->height);
        if (!status)
            q->ssim +=
                motus_plane_ssim(&frame->plane[0], &wanted->plane[0], frame->width, frame->height);
    }
    if (status != MOTUS_END) return status;
    if (q->frames == frames) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT, "x264's stream: %d pictures of %d", q->frames,
                      frames);
}

MotusStatus motus_stream_measure(const char *path, int frames, MotusSourceFrame *source,
                                 void *opaque, MotusQuality *quality, MotusError *error) {
    MotusReader *reader = NULL;
    *quality = (MotusQuality){0};
    MotusStatus status = count_bytes(path, &quality->bytes, error);
    if (!status) status = motus_reader_open(&reader, path, &(MotusReaderOptions){0}, error);
    if (!status) status = compare_pictures(reader, frames, source, opaque, quality, error);
    motus_reader_close(&reader);
    return status;
}
