// SPDX-License-Identifier: BSD-2-Clause
#include "tools/search/field_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "interop/field.h"
#include "tools/cli/options.h"
#include "tools/search/export.h"
#include "yuv/io/writer.h"

enum { FLOW_HEADER_SIZE = 128, LONGEST_NAME = 4096 };

struct MotusFieldOut {
    MotusOutput *file; // NULL between the files of a pattern
    const char *path;
    MotusFieldFormat format;
    int width, height;
    uint64_t pictures, rows;
    void *memory;      // a picture in one of the shapes
    MotusError *error; // of the current call
};

int motus_field_format_of(const char *path) {
    if (!strcmp(path, "-") || motus_has_ending(path, ".csv\0")) return MOTUS_FIELD_CSV;
    return motus_has_ending(path, ".npy\0")   ? MOTUS_FIELD_NPY
           : motus_has_ending(path, ".flo\0") ? MOTUS_FIELD_FLO
                                              : -1;
}

// ---- Headers ------------------------------------------------------------------------------------

static void flow_header(char header[FLOW_HEADER_SIZE], const MotusFieldOut *o) {
    char shape[64];
    snprintf(shape, sizeof shape, "(%" PRIu64 ", %d, %d, 2)", o->pictures, o->height, o->width);
    motus_npy_header(header, FLOW_HEADER_SIZE, "'<f4'", shape);
}

// Writes the header with the counts so far. Returns its size.
static size_t make_header(char header[MOTUS_FIELD_NPY_HEADER_SIZE], const MotusFieldOut *o) {
    switch (o->format) {
    case MOTUS_FIELD_CSV:
        memcpy(header, MOTUS_FIELD_CSV_HEADER, sizeof MOTUS_FIELD_CSV_HEADER);
        return sizeof MOTUS_FIELD_CSV_HEADER - 1;
    case MOTUS_FIELD_NPY:
        motus_field_npy_header(header, o->rows);
        return MOTUS_FIELD_NPY_HEADER_SIZE;
    case MOTUS_FIELD_FLOW:
        flow_header(header, o);
        return FLOW_HEADER_SIZE;
    default:
        return 0;
    }
}

// ---- Names --------------------------------------------------------------------------------------

// Finds %d, %4d or %04d in a path: its width in digits and its length. NULL: there is none.
static const char *pattern_of(const char *path, int *width, size_t *length) {
    for (const char *at = strchr(path, '%'); at; at = strchr(at + 1, '%')) {
        const size_t digits = strspn(at + 1, "0123456789");
        if (at[1 + digits] != 'd' || digits > 2) continue;
        *width = 0;
        for (size_t i = 1; i <= digits; i++) *width = 10 * *width + at[i] - '0';
        *length = digits + 2;
        return at;
    }
    return NULL;
}

static int is_pattern(const MotusFieldOut *o) {
    int width;
    size_t length;
    return o->format == MOTUS_FIELD_FLO && pattern_of(o->path, &width, &length);
}

static MotusStatus open_numbered(MotusFieldOut *o, int64_t number, MotusError *error) {
    char name[LONGEST_NAME];
    int width = 0;
    size_t length = 0;
    const char *at = pattern_of(o->path, &width, &length);
    const int size = snprintf(name, sizeof name, "%.*s%0*lld%s", (int)(at - o->path), o->path,
                              width, (long long)number, at + length);
    if (size < 0 || (size_t)size >= sizeof name)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "%s: is too long", motus_shown(o->path));
    return motus_output_open(&o->file, name, error);
}

// ---- Pictures -----------------------------------------------------------------------------------

static MotusStatus sink(void *opaque, const void *data, size_t size) {
    const MotusFieldOut *o = opaque;
    return motus_output_write(o->file, data, size, o->error);
}

// Returns the size in bytes of the largest shape.
static size_t memory_of(const MotusFieldOut *o) {
    const size_t n_mb = (size_t)((o->width + 15) / 16) * (size_t)((o->height + 15) / 16);
    const size_t flow = 2 * sizeof(float) * (size_t)o->width * (size_t)o->height,
                 fei = n_mb * sizeof(MotusFeiMb);
    return flow > fei ? flow : fei;
}

// Makes the shape, little-endian as the machines that motus runs on. Returns its size in bytes.
static size_t make_shape(const MotusFieldOut *o, const MotusField *field, uint32_t modes) {
    const size_t n = (size_t)field->n_mb;
    switch (o->format) {
    case MOTUS_FIELD_NVENC:
        motus_field_to_nvenc(field, modes, o->memory);
        return n * sizeof(MotusNvencMb);
    case MOTUS_FIELD_NVENC_HINTS:
        motus_field_to_nvenc_hints(field, modes, o->memory);
        return n * sizeof(uint32_t) * (size_t)motus_nvenc_hints(modes);
    case MOTUS_FIELD_FEI:
        motus_field_to_fei(field, modes, o->memory);
        return n * sizeof(MotusFeiMb);
    default:
        motus_field_to_flow(field, modes, o->width, o->height, o->memory);
        return 2 * sizeof(float) * (size_t)o->width * (size_t)o->height;
    }
}

// Writes a .flo file: "PIEH" (202021.25 as a float), width, height, u and v of each sample.
static MotusStatus put_flo(MotusFieldOut *o, int64_t number, const MotusField *field,
                           uint32_t modes, MotusError *error) {
    const int32_t size[2] = {o->width, o->height};
    if (o->pictures && !is_pattern(o))
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "%s: a .flo file holds one field; --frames 2, or a name with %%04d in it",
                          motus_shown(o->path));
    MotusStatus status = is_pattern(o) ? open_numbered(o, number, error) : MOTUS_OK;
    if (!status) status = motus_output_write(o->file, "PIEH", 4, error);
    if (!status) status = motus_output_write(o->file, size, sizeof size, error);
    if (!status)
        status = motus_output_write(o->file, o->memory, make_shape(o, field, modes), error);
    return !status && is_pattern(o) ? motus_output_commit(&o->file, error) : status;
}

MotusStatus motus_field_out_picture(MotusFieldOut *o, int64_t number, const MotusField *field,
                                    uint32_t modes, MotusError *error) {
    MotusStatus status;
    o->error = error;
    if (o->format == MOTUS_FIELD_FLO)
        status = put_flo(o, number, field, modes, error);
    else if (o->memory)
        status = motus_output_write(o->file, o->memory, make_shape(o, field, modes), error);
    else
        status = (o->format == MOTUS_FIELD_NPY ? motus_field_npy : motus_field_csv)(field, number,
                                                                                    modes, sink, o);
    o->rows += motus_field_rows(field, modes);
    o->pictures++;
    return status;
}

// ---- Files --------------------------------------------------------------------------------------

MotusStatus motus_field_out_open(MotusFieldOut **out, const char *path, MotusFieldFormat format,
                                 int width, int height, MotusError *error) {
    char header[MOTUS_FIELD_NPY_HEADER_SIZE];
    MotusFieldOut *o = *out = motus_alloc(1, sizeof *o);
    if (!o) return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    o->path = path, o->format = format, o->width = width, o->height = height;
    MotusStatus status = MOTUS_OK;
    if (format > MOTUS_FIELD_NPY && !(o->memory = motus_alloc(memory_of(o), 1)))
        status = motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    if (!status && !is_pattern(o)) status = motus_output_open(&o->file, path, error);
    const size_t size = make_header(header, o);
    if (!status && size) status = motus_output_write(o->file, header, size, error);
    if (status) motus_field_out_abandon(out);
    return status;
}

MotusStatus motus_field_out_commit(MotusFieldOut **out, MotusError *error) {
    char header[MOTUS_FIELD_NPY_HEADER_SIZE];
    MotusFieldOut *o = *out;
    const size_t size = make_header(header, o);
    const int counts =
        o->format == MOTUS_FIELD_NPY || o->format == MOTUS_FIELD_FLOW; // in the header
    MotusStatus status = counts ? motus_output_rewrite(o->file, header, size, error) : MOTUS_OK;
    if (!status && o->file) status = motus_output_commit(&o->file, error);
    motus_field_out_abandon(out);
    return status;
}

void motus_field_out_abandon(MotusFieldOut **out) {
    if (!out || !*out) return;
    motus_output_abandon(&(*out)->file);
    motus_free((*out)->memory);
    motus_free(*out);
    *out = NULL;
}
