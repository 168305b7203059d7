// Converts a byte stream (Annex B) to the form that containers and GStreamer take (ISO/IEC
// 14496-15): an avcC record, and NAL units with their lengths.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_AVCC_H
#define INTEROP_AVCC_H

#include <stddef.h>
#include <stdint.h>

// Writes the AVCDecoderConfigurationRecord (5.3.3.1) of a stream of 8-bit 4:2:0 with one SPS and
// one PPS. Returns its size, 0 if one is missing or `dst` is too small for both and 15 bytes.
size_t motus_avcc_record(uint8_t *dst, size_t capacity, const uint8_t *stream, size_t size);

// Writes an access unit as four-byte lengths and NAL units, without parameter sets and delimiters.
// Returns the size. dst holds size * 4 / 3 + 4 bytes.
size_t motus_avcc_lengths(uint8_t *dst, const uint8_t *stream, size_t size);

#endif
