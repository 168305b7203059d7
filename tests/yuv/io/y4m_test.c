// yuv/: y4m headers and frames.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/harness.h"
#include "tests/support/memory_file.h"
#include "tests/yuv/io/two_frames.h"
#include "yuv/io/reader_ops.h"

#include <stdio.h>
#include <string.h>

static MotusStatus open_text(MotusReader **reader, const void *text, size_t size, const char *name,
                             MotusError *error) {
    static const MotusReaderOptions none = {.threads = 1};
    MotusSource *source = NULL;
    MotusStatus status = motus_test_source(&source, text, size, error);
    return status ? status : motus_reader_open_source(reader, source, name, &none, error);
}

typedef struct HeaderCase {
    const char *tags;
    int width, height, fps_num, fps_den, sar_num, sar_den, full_range, location;
} HeaderCase;

// Opens a sequence that consists of a header.
static MotusStatus open_header(MotusReader **reader, const char *tags, MotusError *error) {
    char text[300];
    int n = snprintf(text, sizeof text, "YUV4MPEG2%s\n", tags);
    return open_text(reader, text, (size_t)n, "case.y4m", error);
}

static void check_header(const HeaderCase *c) {
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = open_header(&reader, c->tags, &error);
    MOTUS_CHECK(status == MOTUS_OK, "\"%s\": %s", c->tags, error.text);
    if (status) return;
    const MotusSequenceInfo *i = motus_reader_info(reader);
    MOTUS_CHECK(i->width == c->width && i->height == c->height && i->fps.num == c->fps_num &&
                    i->fps.den == c->fps_den,
                "\"%s\"", c->tags);
    MOTUS_CHECK(i->colour.sar.num == c->sar_num && i->colour.sar.den == c->sar_den &&
                    i->colour.full_range == c->full_range &&
                    i->colour.chroma_location == c->location,
                "\"%s\"", c->tags);
    MOTUS_CHECK(i->frames == 0 && !strcmp(i->format, "y4m"), "\"%s\"", c->tags);
    motus_reader_close(&reader);
}

static void check_refused(const char *tags, MotusStatus want) {
    MotusReader *reader = NULL;
    MotusError error = {MOTUS_OK, ""};
    MotusStatus status = open_header(&reader, tags, &error);
    MOTUS_CHECK(status == want && !reader, "\"%s\": %s", tags, motus_status_name(status));
    MOTUS_CHECK(error.status == want && !strncmp(error.text, "case.y4m: ", 10), "\"%s\": %s", tags,
                error.text);
}

static void headers(void) {
    static const HeaderCase cases[] = {
        {" W16 H8", 16, 8, 25, 1, 0, 1, -1, -1},
        {"  H8   W16 ", 16, 8, 25, 1, 0, 1, -1, -1},
        {" W1 H1 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG", 1, 1, 30000, 1001, 1, 1, -1, 1},
        {" W16384 H16384 F0:0 I? A0:0 C420mpeg2 XCOLORRANGE=LIMITED", 16384, 16384, 25, 1, 0, 1, 0,
         0},
        {" W3 H5 C420paldv XCOLORRANGE=FULL Xanything at_all", 3, 5, 25, 1, 0, 1, 1, 2},
        {" W3 H5 F0:1 A128:117 C420", 3, 5, 25, 1, 128, 117, -1, -1},
        {" W3 H5 XYSCSS=420MPEG2", 3, 5, 25, 1, 0, 1, -1, 0},
        {" W3 H5 C420jpeg XYSCSS=444 XCOLORRANGE=", 3, 5, 25, 1, 0, 1, -1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_header(&cases[i]);
}

static void refused_headers(void) {
    static const char *const malformed[] = {"",
                                            " W16",
                                            " H16",
                                            "W16 H16",
                                            " W0 H0",
                                            " W16 H0",
                                            " W-16 H16",
                                            " W16x H16",
                                            " W H16",
                                            " W100000 H100000",
                                            " W16385 H16",
                                            " W4294967312 H16",
                                            " W16 H16 F25",
                                            " W16 H16 F25:",
                                            " W16 H16 F25:0",
                                            " W16 H16 F25:-1",
                                            " W16 H16 F25:1:1",
                                            " W16 H16 A1:0",
                                            " W16 H16 F99999999999:1",
                                            " W16 H16 I",
                                            " W16 H16 Iq",
                                            " W16 H16 C"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        check_refused(malformed[i], MOTUS_ERR_FORMAT);
    check_refused(" W16 H16 Im", MOTUS_ERR_UNSUPPORTED); // fields in some pictures only
#ifndef MOTUS_HAVE_DEINTERLACE
    check_refused(" W16 H16 It", MOTUS_ERR_UNSUPPORTED);
    check_refused(" W16 H16 Ib C422", MOTUS_ERR_UNSUPPORTED);
#endif
}

static void absurd_headers(void) {
    static char text[2 * MOTUS_Y4M_MAX_LINE];
    MotusReader *reader = NULL;
    MotusError error;
    memset(text, 'X', sizeof text);
    memcpy(text, "YUV4MPEG2 W16 H16 ", 18);
    CU_ASSERT_EQUAL(open_text(&reader, text, sizeof text, "x", &error),
                    MOTUS_ERR_FORMAT); // no end within the limit
    CU_ASSERT_EQUAL(open_text(&reader, text, MOTUS_Y4M_MAX_LINE - 1, "x", &error),
                    MOTUS_ERR_TRUNCATED); // ends before it
    text[MOTUS_Y4M_MAX_LINE] = '\n';
    CU_ASSERT_EQUAL(open_text(&reader, text, sizeof text, "x", &error), MOTUS_ERR_FORMAT);
    text[MOTUS_Y4M_MAX_LINE - 1] = '\n';
    EXPECT_OK(open_text(&reader, text, sizeof text, "x", &error));
    motus_reader_close(&reader);
    text[100] = '\0'; // a byte like others
    EXPECT_OK(open_text(&reader, text, sizeof text, "x", &error));
    motus_reader_close(&reader);
}

// Cut at every byte: whole frames, then the end or an error.
static void cuts(void) {
    const size_t header = 22, first = header + 6 + 27, whole = sizeof two_frames - 1;
    for (size_t size = 1; size <= whole; size++) {
        MotusReader *reader = NULL;
        MotusError error = {MOTUS_OK, ""};
        MotusStatus status = open_text(&reader, two_frames, size, "cut.y4m", &error);
        MOTUS_CHECK(status == (size < header ? MOTUS_ERR_TRUNCATED : MOTUS_OK), "%zu bytes: %s",
                    size, motus_status_name(status));
        if (status) continue;
        int frames = read_all(reader, &status, &error),
            ends_well = size == header || size == first || size == whole;
        MOTUS_CHECK(frames == (size < first   ? 0
                               : size < whole ? 1
                                              : 2),
                    "%zu bytes: %d", size, frames);
        MOTUS_CHECK(status == (ends_well ? MOTUS_END : MOTUS_ERR_TRUNCATED), "%zu bytes: %s", size,
                    motus_status_name(status));
        MOTUS_CHECK(ends_well || error.status == status, "%zu bytes", size);
        motus_reader_close(&reader);
    }
}

static void frames(void) {
    MotusReader *reader = NULL;
    MotusFrame *f = NULL;
    MotusError error;
    REQUIRE_OK(open_text(&reader, two_frames, sizeof two_frames - 1, "x", &error));
    EXPECT_OK(motus_reader_skip(reader, 1, &error));
    REQUIRE_OK(motus_reader_next(reader, &f, &error));
    CU_ASSERT_EQUAL(f->number, 1);
    CU_ASSERT(!memcmp(f->plane[0].data + f->plane[0].stride, "FGHIJ", 5) &&
              !memcmp(f->plane[2].data + f->plane[2].stride, "YZ?", 3));
    motus_frame_unref(&f);
    CU_ASSERT_EQUAL(motus_reader_next(reader, &f, &error), MOTUS_END);
    CU_ASSERT_EQUAL(motus_reader_next(reader, &f, &error), MOTUS_END);
    CU_ASSERT_EQUAL(motus_reader_skip(reader, 1, &error), MOTUS_END);
    CU_ASSERT_EQUAL(motus_reader_skip(reader, -1, &error), MOTUS_ERR_ARGUMENT);
    motus_reader_close(&reader);
    static const char junk[] = "YUV4MPEG2 W1 H1\nFRAME\nyuvFRAMES\nyuv";
    REQUIRE_OK(open_text(&reader, junk, sizeof junk - 1, "x", &error));
    MotusStatus status;
    CU_ASSERT_EQUAL(read_all(reader, &status, &error), 1);
    CU_ASSERT_EQUAL(status, MOTUS_ERR_FORMAT);
    motus_reader_close(&reader);
}

MOTUS_SUITE("y4m", TEST(headers), TEST(refused_headers), TEST(absurd_headers), TEST(cuts),
            TEST(frames))
