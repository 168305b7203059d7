// NAL units in the byte stream format (7.3.1, 7.4.1.1, Annex B).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/headers.h"

size_t motus_nal_bound(size_t size) { return 4 + 1 + size + size / 2 + 1; }

size_t motus_nal_write(uint8_t *dst, int nal_ref_idc, int nal_unit_type, const uint8_t *rbsp, size_t size) {
    uint8_t *p = dst;
    *p++ = 0;
    *p++ = 0;
    *p++ = 0;
    *p++ = 1;
    *p++ = (uint8_t)(nal_ref_idc << 5 | nal_unit_type);
    int zeros = 0; // zero bytes just before p
    for (size_t i = 0; i < size; i++) {
        if (zeros == 2 && rbsp[i] <= 3) {
            *p++ = 3; // emulation_prevention_three_byte
            zeros = 0;
        }
        *p++ = rbsp[i];
        zeros = rbsp[i] ? 0 : zeros + 1;
    }
    if (zeros) *p++ = 3; // a NAL unit never ends with a zero byte
    return (size_t)(p - dst);
}
