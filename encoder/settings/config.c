// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/settings/config.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "common/error.h"

#define MAX_RATE ((int64_t)1000000000000) // bits per second, and bits

MotusEncoderConfig motus_encoder_config_default(int width, int height, MotusRational fps) {
    return (MotusEncoderConfig){.size = sizeof(MotusEncoderConfig),
                                // Picture.
                                .width = width,
                                .height = height,
                                .fps = fps,
                                .colour = MOTUS_COLOUR_UNKNOWN,
                                // Tools of the standard.
                                .profile = MOTUS_PROFILE_BASELINE,
                                .cabac = 1,
                                .transform_8x8 = 1,
                                .deblock = 1,
                                // GOP and references.
                                .keyint = 250,
                                .scenecut = 40,
                                .b_adapt = 1,
                                .b_pyramid = MOTUS_B_PYRAMID_NORMAL,
                                // Decisions.
                                .preset = MOTUS_PRESET_MEDIUM,
                                .subpel = MOTUS_SUBPEL_QUARTER,
                                .partitions = MOTUS_MODES_ALL,
                                .direct = MOTUS_DIRECT_AUTO,
                                .weightp = 2,
                                // Rate control.
                                .rate = MOTUS_RATE_QP,
                                .qp = 26,
                                .qp_i_offset = -3,
                                .crf = 23,
                                .qp_min = 0,
                                .qp_max = 51,
                                .qp_step = 4,
                                .ip_ratio = 1.26,
                                .pb_ratio = 1.3,
                                .time_base = {0, 1},
                                .lookahead = 40,
                                .aq_strength = 1,
                                .mb_tree = 1,
                                // Slices; machine.
                                .slices = 1,
                                .backend = MOTUS_BACKEND_AUTO,
                                .device = -1};
}

// ---- Checks -------------------------------------------------------------------------------------

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

// A member that is an int or an enumeration, and its range.
typedef struct Range {
    const char *name;
    size_t at;
    int least, most;
} Range;

#define AT(member) offsetof(MotusEncoderConfig, member)

static const Range ranges[] = {
    {"profile", AT(profile), 0, MOTUS_PROFILES - 1},
    {"keyint", AT(keyint), 0, INT_MAX},
    {"intra_refresh", AT(intra_refresh), 0, 1},
    {"number of B pictures in a row", AT(bframes), 0, MOTUS_MAX_BFRAMES},
    {"b_adapt", AT(b_adapt), 0, 2},
    {"B pyramid", AT(b_pyramid), 0, MOTUS_B_PYRAMID_NORMAL},
    {"number of reference pictures", AT(references), 0, MOTUS_MAX_REFERENCES},
    {"number of kept reference pictures", AT(keep_references), 0, MOTUS_MAX_REFERENCES},
    {"preset", AT(preset), 0, MOTUS_PRESETS - 1},
    {"search range", AT(range), 0, MOTUS_MAX_RANGE},
    {"sub-sample precision", AT(subpel), 0, MOTUS_SUBPEL_QUARTER},
    {"direct mode", AT(direct), 0, MOTUS_DIRECT_MODES - 1},
    {"weightp", AT(weightp), 0, 2},
    {"weightb", AT(weightb), 0, 1},
    {"rate control", AT(rate), 0, MOTUS_RATE_BITRATE},
    {"QP", AT(qp), 0, 51},
    {"I picture QP offset", AT(qp_i_offset), -51, 51},
    {"number of slices", AT(slices), 0, INT_MAX},
    {"number of threads", AT(threads), 0, INT_MAX},
    {"number of GOP coders", AT(gop_coders), 0, MOTUS_MAX_GOP_CODERS},
    {"memory of packets", AT(packet_memory), 0, MOTUS_MEMORY_DEVICE},
    {"no_ssd", AT(no_ssd), 0, 1},
};

// Not read with MOTUS_RATE_QP.
static const Range rate_ranges[] = {
    {"HRD", AT(hrd), 0, MOTUS_HRD_CBR},
    {"smallest QP", AT(qp_min), 0, 51},
    {"largest QP", AT(qp_max), 0, 51},
    {"QP step", AT(qp_step), 1, 51},
    {"lookahead", AT(lookahead), 0, MOTUS_MAX_LOOKAHEAD},
    {"min-keyint", AT(min_keyint), 0, INT_MAX},
    {"scenecut", AT(scenecut), 0, 100},
    {"AQ mode", AT(aq_mode), 0, MOTUS_AQ_AUTO},
    {"pass", AT(pass), 0, 2},
};

static MotusStatus check_ranges(const MotusEncoderConfig *c, const Range *range, size_t n,
                                MotusError *error) {
    for (size_t i = 0; i < n; i++) {
        int value;
        memcpy(&value, (const char *)c + range[i].at, sizeof value);
        if (value < range[i].least || value > range[i].most)
            REFUSE("%s %d is outside %d..%d", range[i].name, value, range[i].least, range[i].most);
    }
    return MOTUS_OK;
}

// True if low <= value <= high; false for NaN.
static int within(double value, double low, double high) { return value >= low && value <= high; }

static MotusStatus check_pictures(const MotusEncoderConfig *c, MotusError *error) {
    if (c->width < 2 || c->height < 2 || c->width > MOTUS_MAX_SIZE || c->height > MOTUS_MAX_SIZE)
        REFUSE("size %dx%d is outside 2x2 .. %dx%d", c->width, c->height, MOTUS_MAX_SIZE,
               MOTUS_MAX_SIZE);
    if (c->width % 2 || c->height % 2)
        REFUSE("size %dx%d is odd; 4:2:0 H.264 needs even sizes", c->width, c->height);
    if (c->fps.num <= 0 || c->fps.den <= 0)
        REFUSE("frame rate %d/%d is not positive", c->fps.num, c->fps.den);
    if (c->partitions & ~MOTUS_MODES_ALL)
        REFUSE("unknown partition modes in mask 0x%x", (unsigned)c->partitions);
    if (c->bframes && c->profile == MOTUS_PROFILE_BASELINE)
        REFUSE("B pictures need profile main or high");
    if (!within(c->pb_ratio, 0.1, 10))
        REFUSE("ratio %g of B and P steps is outside 0.1..10", c->pb_ratio);
    if (c->keep_references && c->bframes)
        REFUSE("kept reference pictures are for streams without B pictures");
    if (c->intra_refresh && (c->bframes || c->references > 1))
        REFUSE("intra refresh is without B pictures, with one reference");
    if (c->intra_refresh && (!c->keyint || c->hrd))
        REFUSE("intra refresh needs %s", c->hrd ? "a stream without HRD" : "a keyint: its cycle");
    if (c->slice_max_size && c->slice_max_size < MOTUS_MIN_SLICE_SIZE)
        REFUSE("slices of at most %d bytes: the least is %d", c->slice_max_size,
               MOTUS_MIN_SLICE_SIZE);
    if (!motus_config_segment_is_possible(c->first_picture, c->first_gop))
        REFUSE("a segment cannot begin at picture %lld, GOP %lld", (long long)c->first_picture,
               (long long)c->first_gop);
    return MOTUS_OK;
}

static MotusStatus check_devices(const MotusEncoderConfig *c, MotusError *error) {
    if (c->device < -1) REFUSE("CUDA device %d", c->device);
    if (c->n_devices < MOTUS_ALL_DEVICES || c->n_devices > MOTUS_MAX_GOP_CODERS)
        REFUSE("%d CUDA devices", c->n_devices);
    if (c->n_devices && c->device >= 0)
        REFUSE("CUDA device %d beside a list of devices", c->device);
    if (c->n_devices > 0 && !c->devices)
        REFUSE("%d CUDA devices, but no list of them", c->n_devices);
    for (int i = 0; i < c->n_devices; i++) {
        if (c->devices[i] < 0) REFUSE("CUDA device %d", c->devices[i]);
        for (int k = 0; k < i; k++)
            if (c->devices[k] == c->devices[i])
                REFUSE("CUDA device %d is listed twice", c->devices[i]);
    }
    return MOTUS_OK;
}

int motus_config_segment_is_possible(int64_t first_picture, int64_t first_gop) {
    return first_picture >= 0 && first_picture <= (int64_t)1 << 62 && first_gop >= 0 &&
           first_gop <= first_picture;
}

MotusStatus motus_config_check_rates(int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                                     MotusError *error) {
    if (bitrate < 0 || bitrate > MAX_RATE)
        REFUSE("bitrate %" PRId64 " is outside 0..%" PRId64 " bit/s", bitrate, MAX_RATE);
    if (vbv_rate < 0 || vbv_rate > MAX_RATE)
        REFUSE("VBV rate %" PRId64 " is outside 0..%" PRId64 " bit/s", vbv_rate, MAX_RATE);
    if (vbv_size < 0 || vbv_size > MAX_RATE)
        REFUSE("VBV size %" PRId64 " is outside 0..%" PRId64 " bits", vbv_size, MAX_RATE);
    if (vbv_rate && !vbv_size) REFUSE("a VBV rate needs a VBV size");
    if (vbv_size && !vbv_rate) REFUSE("a VBV size needs a VBV rate");
    if (vbv_rate && bitrate > vbv_rate)
        REFUSE("bitrate %" PRId64 " is above the VBV's rate, %" PRId64 " bit/s", bitrate, vbv_rate);
    return MOTUS_OK;
}

static MotusStatus check_rate(const MotusEncoderConfig *c, MotusError *error) {
    if (c->rate == MOTUS_RATE_QP) {
        if (c->vbv_maxrate || c->vbv_bufsize || c->pass || c->hrd)
            REFUSE("a fixed QP goes with no VBV, HRD and pass");
        return MOTUS_OK;
    }
    MotusStatus status =
        check_ranges(c, rate_ranges, sizeof rate_ranges / sizeof *rate_ranges, error);
    if (!status)
        status = motus_config_check_rates(c->bitrate, c->vbv_maxrate, c->vbv_bufsize, error);
    if (status) return status;
    if (c->rate == MOTUS_RATE_BITRATE && c->bitrate < 1) REFUSE("no bitrate given");
    if (c->rate == MOTUS_RATE_CRF && !within(c->crf, 0, 51))
        REFUSE("CRF %g is outside 0..51", c->crf);
    if (c->qp_min > c->qp_max) REFUSE("QPs %d..%d: none is within them", c->qp_min, c->qp_max);
    if (!within(c->ip_ratio, 0.1, 10))
        REFUSE("ratio %g of P and I steps is outside 0.1..10", c->ip_ratio);
    if (c->time_base.num < 0 || c->time_base.den <= 0)
        REFUSE("time base %d/%d", c->time_base.num, c->time_base.den);
    if (c->keyint && c->min_keyint > c->keyint)
        REFUSE("min-keyint %d is above keyint %d", c->min_keyint, c->keyint);
    if (!within(c->aq_strength, 0, 4)) REFUSE("AQ strength %g is outside 0..4", c->aq_strength);
    if (c->pass == 2 && c->rate != MOTUS_RATE_BITRATE) REFUSE("a second pass needs a bitrate");
    if (c->pass == 2 && !c->pass_log) REFUSE("a second pass needs the log of the first");
    if (!c->hrd) return MOTUS_OK;
    if (!c->vbv_maxrate) REFUSE("an HRD needs a VBV");
    if (c->time_base.num) REFUSE("an HRD needs pictures that are all shown for the same time");
    if (c->vbv_maxrate < 64 || c->vbv_bufsize < 16) REFUSE("the VBV is too small for an HRD");
    if (c->vbv_maxrate >= (int64_t)64 << 32 || c->vbv_bufsize >= (int64_t)16 << 32)
        REFUSE("the VBV is too large for an HRD");
    if (c->hrd == MOTUS_HRD_CBR && (c->rate != MOTUS_RATE_BITRATE || c->bitrate != c->vbv_maxrate))
        REFUSE("a constant rate needs bitrate and VBV rate to be equal");
    return MOTUS_OK;
}

MotusStatus motus_config_read(MotusEncoderConfig *to, const MotusEncoderConfig *from,
                              MotusError *error) {
    if (from->size < AT(colour) || from->size > sizeof *to)
        REFUSE("a configuration of %zu bytes is not of this library (%zu)", from->size, sizeof *to);
    *to = motus_encoder_config_default(from->width, from->height, from->fps);
    memcpy(to, from, from->size);
    MotusStatus status = check_ranges(to, ranges, sizeof ranges / sizeof *ranges, error);
    if (!status) status = check_pictures(to, error);
    if (!status) status = check_devices(to, error);
    return status ? status : check_rate(to, error);
}
