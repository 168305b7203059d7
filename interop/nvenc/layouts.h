// Members of nvEncodeAPI.h's structures that lie elsewhere in headers newer than the one that this
// library is compiled with (11.1). A structure's version tells which header its caller has; all
// other members that are read here have not moved between 11.0 and 13.0.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_NVENC_LAYOUTS_H
#define INTEROP_NVENC_LAYOUTS_H

#include <ffnvcodec/nvEncodeAPI.h>
#include <stddef.h>

#include "motus/status.h"

// Number of a structure's layout, without the API's version.
static inline uint32_t layout_of(uint32_t version) { return version >> 16 & 0xff; }

typedef struct QpMap {
    const int8_t *delta; // NULL: none
    uint32_t size;       // bytes
} QpMap;

// Returns the QP map of a picture; it moved with 12.0 (layout 6).
static inline QpMap qp_map_of(const NV_ENC_PIC_PARAMS *p) {
    const char *at = (const char *)p +
                     (layout_of(p->version) >= 6 ? 1712 : offsetof(NV_ENC_PIC_PARAMS, qpDeltaMap));
    return (QpMap){*(const int8_t *const *)at, *(const uint32_t *)(at + sizeof(int8_t *))};
}

// Returns where a locked picture's numbers of intra and inter MBs and mean MV go (four words); they
// moved with 12.1, whose version has bit 31.
static inline uint32_t *mb_counts_of(NV_ENC_LOCK_BITSTREAM *p) {
    return (uint32_t *)((char *)p +
                        (p->version >> 31 ? 92 : offsetof(NV_ENC_LOCK_BITSTREAM, intraMBCount)));
}

enum { RESET_ENCODER = 1, FORCE_IDR = 2 };

// Returns the flags of a reconfiguration; they moved with 12.2 (layout 2), whose
// NV_ENC_INITIALIZE_PARAMS is 8 bytes shorter.
static inline uint32_t reconfigure_flags_of(const NV_ENC_RECONFIGURE_PARAMS *p) {
    const size_t end =
        offsetof(NV_ENC_RECONFIGURE_PARAMS, reInitEncodeParams) + sizeof(NV_ENC_INITIALIZE_PARAMS);
    return *(const uint32_t *)((const char *)p + end - (layout_of(p->version) >= 2 ? 8 : 0));
}

// Bytes of NV_ENC_INITIALIZE_PARAMS that every header has; the rest is reserved.
enum { INITIALIZE_BYTES = sizeof(NV_ENC_INITIALIZE_PARAMS) - 8 };

#endif
