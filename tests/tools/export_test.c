// Motion fields as CSV and .npy.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/harness.h"
#include "tools/search/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Buffer {
    char *data;
    size_t size, limit; // the sink is full beyond `limit` bytes
} Buffer;

static MotusStatus collect(void *opaque, const void *data, size_t size) {
    Buffer *b = opaque;
    if (b->limit && b->size + size > b->limit) return MOTUS_ERR_IO;
    b->data = realloc(b->data, b->size + size + 1);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    b->data[b->size] = 0;
    return MOTUS_OK;
}

static MotusField *random_field(void) {
    MotusField *field = NULL;
    REQUIRE_OK(motus_field_alloc(&field, 40, 17)); // 3x2 MBs
    motus_test_fill(field->mv[0], (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(MotusMv));
    motus_test_fill(field->sad[0], (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(uint16_t));
    motus_test_fill(field->cost[0], (size_t)field->n_mb * MOTUS_BLOCKS * sizeof(uint32_t));
    field->mv[40][5] = (MotusMv){INT16_MIN, INT16_MIN};
    field->cost[40][5] = UINT32_MAX;
    return field;
}

// Compares a row's eleven numbers with the field.
static void check_row(const MotusField *field, const long long *v, int mb, int b,
                      const char *what) {
    const MotusBlock *block = &motus_blocks[b];
    long long want[11] = {123456,
                          mb,
                          b,
                          block->width,
                          block->height,
                          mb % 3 * 16 + block->x,
                          mb / 3 * 16 + block->y,
                          field->mv[b][mb].x,
                          field->mv[b][mb].y,
                          field->sad[b][mb],
                          field->cost[b][mb]};
    for (int i = 0; i < 11; i++)
        MOTUS_CHECK(v[i] == want[i], "%s mb %d block %d column %d: %lld, want %lld", what, mb, b, i,
                    v[i], want[i]);
}

static void csv(void) {
    MotusField *field = random_field();
    uint32_t modes[] = {MOTUS_MODES_ALL, 1u << MOTUS_MODE_8x8 | 1u << MOTUS_MODE_4x4};
    for (int m = 0; m < 2; m++) {
        Buffer buffer = {NULL, 0, 0};
        EXPECT_OK(motus_field_csv(field, 123456, modes[m], collect, &buffer));
        char *line = buffer.data;
        for (int i = 0; i < field->n_mb * MOTUS_BLOCKS; i++) {
            int b = i % MOTUS_BLOCKS;
            if (!(modes[m] >> motus_blocks[b].mode & 1)) continue;
            long long v[11];
            for (int k = 0; k < 11; k++)
                v[k] = strtoll(line, &line, 10), line += k < 10 ? *line == ',' : *line == '\n';
            check_row(field, v, i / MOTUS_BLOCKS, b, "csv");
        }
        CU_ASSERT_EQUAL(*line, 0);
        free(buffer.data);
    }
    motus_field_free(&field);
}

static long long number(const uint8_t **p, int bytes, int is_signed) {
    unsigned long long v = 0;
    for (int i = 0; i < bytes; i++) v |= (unsigned long long)*(*p)++ << 8 * i;
    return is_signed && v >> (8 * bytes - 1) ? (long long)v - (1ll << 8 * bytes) : (long long)v;
}

static void npy(void) {
    static const int bytes[11] = {4, 4, 1, 1, 1, 2, 2, 2, 2, 2, 4};
    MotusField *field = random_field();
    Buffer buffer = {NULL, 0, 0};
    EXPECT_OK(motus_field_npy(field, 123456, MOTUS_MODES_ALL, collect, &buffer));
    CU_ASSERT_EQUAL_FATAL(buffer.size,
                          motus_field_rows(field, MOTUS_MODES_ALL) * MOTUS_FIELD_NPY_ROW_SIZE);
    const uint8_t *p = (const uint8_t *)buffer.data;
    for (int i = 0; i < field->n_mb * MOTUS_BLOCKS; i++) {
        long long v[11];
        for (int k = 0; k < 11; k++)
            v[k] = number(&p, bytes[k], k == 0 || k == 1 || k == 7 || k == 8);
        check_row(field, v, i / MOTUS_BLOCKS, i % MOTUS_BLOCKS, "npy");
    }
    free(buffer.data);
    motus_field_free(&field);
}

static void npy_header(void) {
    static const uint64_t rows[] = {0, 1, 246, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        char h[MOTUS_FIELD_NPY_HEADER_SIZE + 1], shape[64];
        memset(h, 0x55, sizeof h);
        motus_field_npy_header(h, rows[i]);
        snprintf(shape, sizeof shape, "'shape': (%llu,), }", (unsigned long long)rows[i]);
        CU_ASSERT_EQUAL(h[MOTUS_FIELD_NPY_HEADER_SIZE], 0x55);
        h[MOTUS_FIELD_NPY_HEADER_SIZE] = 0;
        CU_ASSERT_EQUAL(memcmp(h, "\x93NUMPY\x01\x00", 8), 0);
        CU_ASSERT_EQUAL((uint8_t)h[8] + 256 * (uint8_t)h[9] + 10, MOTUS_FIELD_NPY_HEADER_SIZE);
        CU_ASSERT_EQUAL(MOTUS_FIELD_NPY_HEADER_SIZE % 64, 0);
        CU_ASSERT_EQUAL(h[MOTUS_FIELD_NPY_HEADER_SIZE - 1], '\n');
        CU_ASSERT_EQUAL(strlen(h + 10), MOTUS_FIELD_NPY_HEADER_SIZE - 10);
        CU_ASSERT_PTR_NOT_NULL(strstr(h + 10, shape));
    }
}

// A failing sink ends the export with its status.
static void full_sink(void) {
    MotusField *field = random_field();
    Buffer buffer = {NULL, 0, 3000};
    CU_ASSERT_EQUAL(motus_field_csv(field, 0, MOTUS_MODES_ALL, collect, &buffer), MOTUS_ERR_IO);
    CU_ASSERT(buffer.size <= 3000);
    free(buffer.data);
    motus_field_free(&field);
}

MOTUS_SUITE("export", TEST(csv), TEST(npy), TEST(npy_header), TEST(full_sink))
