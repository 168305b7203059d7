// Helpers of the GStreamer element's suites: a harness around it, pictures, and its stream as the
// encoder makes it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GST_CASE_H
#define TESTS_GST_CASE_H

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "motus/encoder.h"
#include "tests/support/harness.h"

// Starts GStreamer with its leak tracer, loads the plug-in of the build, runs the tests. A leaked
// object of GStreamer is a failure.
int motus_gst_main(const char *suite, const MotusTest *tests, int argc, char **argv);

// Opens the element on the CPU with the properties `text` ("pass=quant quantizer=30"), and a source
// that has sent `caps` if they are not NULL.
GstHarness *motus_gst_open(const char *text, const char *caps);

// Draws picture t of a moving texture; the buffer's time is 40 ms a picture, its rows have
// `padding` more bytes.
MotusFrame *motus_gst_picture(int width, int height, int t);
GstBuffer *motus_gst_buffer_of(int width, int height, int t, int padding);

// Pushes pictures first .. first + n - 1.
void motus_gst_push(GstHarness *h, int width, int height, int first, int n);

// Returns all output so far in one piece, and the number of buffers; free it with
// g_byte_array_unref.
GByteArray *motus_gst_take(GstHarness *h, int *n);

// Returns the stream of pictures 0 .. n - 1 by the library's own calls.
GByteArray *motus_gst_expected(const MotusEncoderConfig *config, int n);

gboolean motus_gst_same(const GByteArray *a, const GByteArray *b);

#endif
