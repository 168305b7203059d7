// From a byte stream (Annex B) to what containers hold (ISO/IEC 14496-15): an avcC record, and NAL
// units behind their lengths.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MEDIA_AVCC_H
#define TOOLS_MEDIA_AVCC_H

#include <stddef.h>
#include <stdint.h>

// Finds the next NAL unit at or after *position; returns NULL at the end. *size is without start
// codes and trailing zeros; *position moves on.
const uint8_t *motus_avcc_next(const uint8_t *stream, size_t stream_size, size_t *position,
                               size_t *size);

// Writes the AVCDecoderConfigurationRecord of a stream with one SPS and one PPS; returns its size,
// 0 where one is missing or `dst` too small.
size_t motus_avcc_record(uint8_t *dst, size_t capacity, const uint8_t *stream, size_t size);

// Writes an access unit as four-byte lengths and NAL units, without its parameter sets and
// delimiters; dst holds size * 4 / 3 + 4 bytes.
size_t motus_avcc_lengths(uint8_t *dst, const uint8_t *stream, size_t size);

#endif
