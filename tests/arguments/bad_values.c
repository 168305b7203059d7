// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "tests/arguments/values.h"

MotusPlane *bad_plane(int n) {
    static MotusPlane p;
    p = *good_out_plane;
    switch (n) {
    case 0:
        p.data = NULL;
        break;
    case 1:
        p.width = 0;
        break;
    case 2:
        p.width = -1;
        break;
    case 3:
        p.height = 0;
        break;
    case 4:
        p.height = -7;
        break;
    case 5:
        p.width = INT_MAX;
        break;
    case 6:
        p.height = INT_MAX;
        break;
    case 7:
        p.stride = 0;
        break;
    case 8:
        p.stride = 1;
        break;
    default:
        p.stride = -64;
    }
    return &p;
}

MotusPlane *bad_planes(int n) {
    static MotusPlane p[3];
    memcpy(p, good_out_planes, sizeof p);
    p[n].data = NULL;
    return p;
}

MotusFrame *bad_frame(int n) {
    static MotusFrame f;
    f = *good_out_frame;
    switch (n) {
    case 0:
    case 1:
    case 2:
        f.plane[n].data = NULL;
        break;
    case 3:
        f.width = f.plane[0].width = 0;
        break;
    case 4:
        f.height = -1;
        break;
    case 5:
        f.width = f.plane[0].width = INT_MAX;
        break;
    case 6:
        f.height = f.plane[0].height = INT_MAX;
        break;
    case 7:
        f.plane[0].stride = 1;
        break;
    case 8:
        f.plane[1].stride = -32;
        break;
    case 9:
        f.plane[1].width = INT_MAX;
        break;
    case 10:
        f.plane[2].height = 100000;
        break;
    default:
        f.plane[0].height = 1 << 20;
    }
    return &f;
}

const MotusImage *bad_image(int n) {
    static MotusImage i;
    i = image;
    switch (n) {
    case 0:
    case 1:
    case 2:
        i.data[n] = NULL;
        break;
    case 3:
        i.size = 0;
        break;
    case 4:
        i.size = 1000;
        break;
    case 5:
        i.width = 0;
        break;
    case 6:
        i.height = INT_MAX;
        break;
    case 7:
        i.samples = (MotusSamples)-1;
        break;
    case 8:
        i.samples = MOTUS_SAMPLES_RGB_FLOAT;
        i.pixel[1] = 3;
        break;
    default:
        i.width = WIDTH - 2;
    }
    return &i;
}

const MotusColour *bad_colour(int n) {
    static const MotusColour bad[] = {MOTUS_COLOUR_UNKNOWN, {{1, 1}, 7, 1, 1, -3, 99}};
    return &bad[n];
}

const MotusExec *bad_exec(int n) {
    static const MotusExec bad[] = {{-5, 0}, {INT_MAX, 0}, {INT_MIN, -1}};
    return &bad[n];
}

const MotusEncoderConfig *bad_encoder_config(int n) {
    static MotusEncoderConfig c;
    c = encoder_config;
    switch (n) {
    case 0:
        c.width = 0;
        break;
    case 1:
        c.height = INT_MAX;
        break;
    case 2:
        c.width = 63;
        break;
    case 3:
        c.fps = (MotusRational){0, 0};
        break;
    case 4:
        c.fps = (MotusRational){INT_MAX, 1};
        break;
    case 5:
        c.fps = (MotusRational){1, -1};
        break;
    case 6:
        c.qp = 52;
        break;
    case 7:
        c.qp_i_offset = INT_MIN;
        break;
    case 8:
        c.keyint = -1;
        break;
    case 9:
        c.range = 129;
        break;
    case 10:
        c.subpel = (MotusSubpel)99;
        break;
    case 11:
        c.partitions = UINT32_MAX;
        break;
    case 12:
        c.preset = (MotusPreset)INT_MAX;
        break;
    case 13:
        c.threads = INT_MAX;
        break;
    case 14:
        c.threads = -1;
        break;
    case 15:
        c.backend = (MotusBackend)99;
        break;
    case 16:
        c.colour.sar = (MotusRational){1, 0};
        break;
    case 17:
        c.colour.sar = (MotusRational){-5, -7};
        break;
    case 18:
        c.colour.primaries = -1;
        break;
    case 19:
        c.colour.matrix = INT_MAX;
        break;
    case 20:
        c.colour.chroma_location = 99;
        break;
    case 21:
        c.colour.full_range = INT_MIN;
        break;
    case 22:
        c.deblock = c.aud = INT_MIN;
        break;
    default:
        memset(&c, 0xFF, sizeof c);
    }
    return &c;
}

const MotusFrameParams *bad_params(int n) {
    static MotusFrameParams p;
    p = params;
    if (n == 0) p.size = 0;
    if (n == 1) p.size = SIZE_MAX;
    if (n == 2) p.pts = p.duration = INT64_MIN, p.force_idr = INT_MIN;
    return &p;
}

const MotusMeConfig *bad_me_config(int n) {
    static MotusMeConfig c;
    c = me_config;
    switch (n) {
    case 0:
        c.width = 0;
        break;
    case 1:
        c.height = INT_MAX;
        break;
    case 2:
        c.width = -16;
        break;
    case 3:
        c.range = 0;
        break;
    case 4:
        c.range = INT_MAX;
        break;
    case 5:
        c.subpel = (MotusSubpel)-1;
        break;
    case 6:
        c.modes = 0;
        break;
    case 7:
        c.modes = UINT32_MAX;
        break;
    case 8:
        c.threads = -1;
        break;
    case 9:
        c.threads = INT_MAX;
        break;
    case 10:
        c.backend = (MotusBackend)-1;
        break;
    default:
        memset(&c, 0xFF, sizeof c), c.error = NULL;
    }
    return &c;
}

const MotusEqualizeConfig *bad_equalize(int n) {
    static MotusEqualizeConfig c;
    static const int bad[] = {0, -1, INT_MAX, INT_MIN};
    c = equalize_config;
    (n < 4 ? &c.tiles_x : &c.clip_q8)[0] = bad[n % 4];
    if (n == 4) c.smooth_q8 = INT_MAX;
    return &c;
}

const MotusKeyConfig *bad_key(int n) {
    static MotusKeyConfig c;
    c = key_config;
    int *const field[] = {&c.hue,       &c.saturation,  &c.value,   &c.hue_range,
                          &c.sat_range, &c.value_range, &c.soft_q8, &c.spill_q8};
    if (n < 8)
        *field[n] = n % 2 ? INT_MAX : INT_MIN;
    else
        memset(&c, n == 8 ? 0 : 0x7F, sizeof c);
    return &c;
}

const MotusWaveletShape *bad_shape(int n) {
    static MotusWaveletShape s;
    s = shape;
    switch (n) {
    case 0:
        s.levels = 99;
        break;
    case 1:
        s.levels = 0;
        break;
    case 2:
        s.width = INT_MAX;
        break;
    case 3:
        s.height = -1;
        break;
    case 4:
        s.edge = (MotusWaveletEdge)99;
        break;
    case 5:
        s.band[0][1].offset = SIZE_MAX / 8;
        break;
    case 6:
        memset(&s, 0, sizeof s);
        break;
    default:
        memset(&s, 0x7F, sizeof s);
    }
    return &s;
}

MotusCoefs *bad_coefs(int n) {
    static MotusCoefs c;
    c = out_coefs;
    switch (n) {
    case 0:
        c.data = NULL;
        break;
    case 1:
        c.width = 0;
        break;
    case 2:
        c.height = -8;
        break;
    case 3:
        c.width = INT_MAX;
        break;
    case 4:
        c.height = 1 << 20;
        break;
    case 5:
        c.stride = 0;
        break;
    case 6:
        c.stride = -128;
        break;
    default:
        c.width = 63;
    }
    return &c;
}

MotusField *bad_field(int n) {
    static MotusField f;
    f = *good_field;
    switch (n) {
    case 0:
        memset(&f, 0, sizeof f);
        break;
    case 1:
        f.mv[7] = NULL;
        break;
    case 2:
        f.mb_width = 100000;
        break;
    default:
        f.n_mb = INT_MAX;
    }
    return &f;
}

const ptrdiff_t *bad_strides(int n) {
    static ptrdiff_t s[3];
    for (int i = 0; i < 3; i++) s[i] = n == 0 ? 0 : n == 1 ? -64 : 1;
    return s;
}
