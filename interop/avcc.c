// SPDX-License-Identifier: BSD-2-Clause
#include "interop/avcc.h"

#include <string.h>

enum { SPS = 7, PPS = 8, DELIMITER = 9 }; // nal_unit_type, table 7-1

// Returns the offset of the first byte after the next start code (00 00 01), or `size`.
static size_t after_start_code(const uint8_t *stream, size_t size, size_t from) {
    for (size_t i = from; i + 3 <= size; i++)
        if (!stream[i] && !stream[i + 1] && stream[i + 2] == 1) return i + 3;
    return size;
}

// Finds the next NAL unit at or after *position, which moves behind it; *size is without start
// codes and trailing zeros. Returns NULL at the end.
static const uint8_t *next_unit(const uint8_t *stream, size_t stream_size, size_t *position,
                                size_t *size) {
    size_t begin = after_start_code(stream, stream_size, *position);
    if (begin >= stream_size) return NULL;
    size_t next = after_start_code(stream, stream_size, begin),
           end = next < stream_size ? next - 3 : stream_size;
    *position = end;
    while (end > begin && !stream[end - 1]) end--;
    *size = end - begin;
    return stream + begin;
}

static uint8_t *put_unit(uint8_t *dst, const uint8_t *unit, size_t size, int length_bytes) {
    for (int i = length_bytes - 1; i >= 0; i--) *dst++ = (uint8_t)(size >> 8 * i);
    memcpy(dst, unit, size);
    return dst + size;
}

// True if the record of this profile_idc ends with chroma format and bit depths.
static int has_formats(int profile) {
    return profile == 100 || profile == 110 || profile == 122 || profile == 144;
}

size_t motus_avcc_record(uint8_t *dst, size_t capacity, const uint8_t *stream, size_t size) {
    const uint8_t *sps = NULL, *pps = NULL, *unit;
    size_t sps_size = 0, pps_size = 0, position = 0, unit_size;
    while ((unit = next_unit(stream, size, &position, &unit_size))) {
        if (unit_size && (unit[0] & 31) == SPS) sps = unit, sps_size = unit_size;
        if (unit_size && (unit[0] & 31) == PPS) pps = unit, pps_size = unit_size;
    }
    if (!sps || !pps || sps_size < 4 || 15 + sps_size + pps_size > capacity) return 0;
    // Version, profile, constraints, level, 4-byte lengths, 1 SPS.
    const uint8_t head[6] = {1, sps[1], sps[2], sps[3], 0xFF, 0xE1};
    memcpy(dst, head, sizeof head);
    uint8_t *end = put_unit(dst + sizeof head, sps, sps_size, 2);
    *end++ = 1; // number of PPS
    end = put_unit(end, pps, pps_size, 2);
    // 4:2:0, 8 bits of luma and of chroma, no extensions of the SPS.
    const uint8_t formats[4] = {0xFD, 0xF8, 0xF8, 0};
    const size_t more = has_formats(sps[1]) ? sizeof formats : 0;
    memcpy(end, formats, more);
    return (size_t)(end + more - dst);
}

size_t motus_avcc_lengths(uint8_t *dst, const uint8_t *stream, size_t size) {
    uint8_t *end = dst;
    const uint8_t *unit;
    size_t position = 0, unit_size;
    while ((unit = next_unit(stream, size, &position, &unit_size))) {
        int type = unit_size ? unit[0] & 31 : DELIMITER;
        if (type != SPS && type != PPS && type != DELIMITER)
            end = put_unit(end, unit, unit_size, 4);
    }
    return (size_t)(end - dst);
}
