// NAL units and access units of a byte stream (Annex B); complaints.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/decoders.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/h264/h264.h"

const MotusDecoder motus_decoders[MOTUS_DECODERS] = {{"libavcodec", motus_decode_libavcodec},
                                                     {"openh264", motus_decode_openh264}};

size_t motus_access_unit(const uint8_t *data, size_t size) {
    int have_slice = 0;
    size_t start;
    for (size_t nal = motus_next_nal(data, size, 0, &start); nal < size;
         nal = motus_next_nal(data, size, nal, &start)) {
        const int type = data[nal] & 31;
        const int slice = type == 1 || type == 5;
        const int first_slice =
            slice && nal + 1 < size && (data[nal + 1] & 0x80); // first_mb_in_slice is 0
        if (have_slice && (first_slice || (type >= 6 && type <= 9))) return start;
        have_slice |= slice;
    }
    return size;
}

void motus_decode_complain(MotusDecodeReport *report, const char *format, ...) {
    if (report->complaints++) return;
    va_list args;
    va_start(args, format);
    vsnprintf(report->first, sizeof report->first, format, args);
    va_end(args);
    report->first[strcspn(report->first, "\n")] = 0;
}
