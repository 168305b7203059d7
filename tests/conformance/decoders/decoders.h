// Two independent H.264 decoders behind one interface; all their complaints are counted.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_DECODERS_H
#define TESTS_DECODERS_DECODERS_H

#include <stddef.h>
#include <stdint.h>

#include "motus/frame.h"

// A decoder's report on a stream.
typedef struct MotusDecodeReport {
    int pictures;    // output pictures
    int complaints;  // warnings, errors, bad return codes
    char first[200]; // the first of them
} MotusDecodeReport;

// Receives each decoded picture in output order: the visible part of its three planes, valid during
// the call.
typedef void (*MotusDecodedPicture)(void *context, int number, const MotusPlane plane[3]);

// Decodes a whole byte stream (Annex B).
typedef void (*MotusDecode)(const uint8_t *data, size_t size, MotusDecodedPicture picture,
                            void *context, MotusDecodeReport *report);

void motus_decode_libavcodec(const uint8_t *data, size_t size, MotusDecodedPicture picture,
                             void *context, MotusDecodeReport *report);
void motus_decode_openh264(const uint8_t *data, size_t size, MotusDecodedPicture picture,
                           void *context, MotusDecodeReport *report);

// Decodes a stream that begins in the middle of a GOP, and hands out what libavcodec makes of it:
// the context's pictures have the numbers of their access units. Complaints are not counted.
void motus_decode_joined(const uint8_t *data, size_t size, MotusDecodedPicture picture,
                         void *context);

typedef struct MotusDecoder {
    const char *name;
    MotusDecode decode;
} MotusDecoder;
enum { MOTUS_DECODERS = 2 };
extern const MotusDecoder motus_decoders[MOTUS_DECODERS];

// Counts a complaint and keeps the text of the first (one line).
void motus_decode_complain(MotusDecodeReport *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Returns the length of the first access unit of a byte stream (7.4.1.2.3), up to the first NAL
// unit of the next picture; 0 at the end.
size_t motus_access_unit(const uint8_t *data, size_t size);

#endif
