// What the suites of the GStreamer element share: a harness around it, pictures for it, and its
// stream as the encoder itself makes it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GST_CASE_H
#define TESTS_GST_CASE_H

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "motus/encoder.h"
#include "tests/support/harness.h"

// Starts GStreamer with its tracer of leaks, loads the plug-in that the build made, runs the tests.
// An object of GStreamer's that is left is a failure.
int motus_gst_main(const char *suite, const MotusTest *tests, int argc, char **argv);

// The element with the properties `text` ("pass=quant quantizer=30"), on the CPU, and a source that
// has sent `caps`.
GstHarness *motus_gst_open(const char *text, const char *caps);

// Picture t of a moving texture of that size, as a frame; and as a buffer shown 40 ms a picture,
// with rows `padding` bytes apart.
MotusFrame *motus_gst_picture(int width, int height, int t);
GstBuffer *motus_gst_buffer_of(int width, int height, int t, int padding);

// Pushes pictures first .. first + n - 1 of that size.
void motus_gst_push(GstHarness *h, int width, int height, int first, int n);

// What has come out by now, in one piece, and the number of buffers; free it with
// g_byte_array_unref.
GByteArray *motus_gst_take(GstHarness *h, int *n);

// The stream of pictures 0 .. n - 1 by the library's own calls.
GByteArray *motus_gst_expected(const MotusEncoderConfig *config, int n);

gboolean motus_gst_same(const GByteArray *a, const GByteArray *b);

#endif
