// SPDX-License-Identifier: BSD-2-Clause
#include "tests/lanes/lanes_picture.h"

#include <string.h>

#include "tests/support/harness.h"
#include "yuv/pad.h"

enum { MOVES = 4 }; // MVs that an MB's blocks move by

void lanes_picture_open(LanesPicture *p, int mb_width, int mb_height) {
    int width = 16 * mb_width, height = 16 * mb_height;
    *p = (LanesPicture){.mb_width = mb_width, .mb_height = mb_height};
    REQUIRE_OK(motus_picture_state_alloc(&p->pic, mb_width, mb_height, 1));
    REQUIRE_OK(motus_frame_alloc(&p->src, width, height));
    REQUIRE_OK(motus_frame_alloc(&p->rec, width, height));
    REQUIRE_OK(motus_frame_alloc(&p->ref, width, height));
    REQUIRE_OK(motus_ref_luma_alloc(&p->ref_luma, width, height));
    REQUIRE_OK(motus_ref_luma_alloc(&p->weighted_luma, width, height));
}

void lanes_picture_close(LanesPicture *p) {
    motus_picture_state_free(&p->pic);
    motus_ref_luma_free(&p->ref_luma);
    motus_ref_luma_free(&p->weighted_luma);
    motus_frame_unref(&p->src);
    motus_frame_unref(&p->rec);
    motus_frame_unref(&p->ref);
}

void lanes_draw_candidates(MotusCandidates *found, int refs) {
    int moves = motus_test_range(1, MOVES);
    found->n = (uint8_t)motus_test_range(moves, MOTUS_CANDIDATES);
    found->blocks = 1;
    for (int k = 0; k < 3; k++) found->blocks |= (uint64_t)motus_test_random() << 15 * k;
    for (int v = 0; v < found->n; v++) {
        MotusMv mv = v < MOVES ? (MotusMv){0, 0} : found->mv[motus_test_range(0, v - 1)];
        int reach = v < MOVES ? 8 : 1 << motus_test_range(0, 8), unit = v < MOVES ? 4 : 1;
        mv.x = (int16_t)motus_clip(-2000, 2000, mv.x + unit * motus_test_range(-reach, reach));
        mv.y = (int16_t)motus_clip(-600, 600, mv.y + unit * motus_test_range(-reach, reach));
        found->mv[v] = mv;
        found->ref[v] = (uint8_t)motus_test_range(0, refs - 1);
    }
}

void lanes_move_blocks(LanesPicture *p, int x, int y, const MotusCandidates *found) {
    const MotusPlane *src = &p->src->plane[0];
    int w = 4 << motus_test_range(0, 2), h = 4 << motus_test_range(0, 2), which[16];
    for (int i = 0; i < 16; i++) which[i] = motus_test_range(0, motus_min(found->n, MOVES) - 1);
    for (int i = 0; i < 256; i++) {
        int px = i & 15, py = i >> 4;
        const uint8_t *tap[2];
        const int v = which[py / h * 4 + px / w];
        const MotusReference *ref = &p->reference[found->ref[v]];
        motus_luma_taps(ref, ref->luma, 16 * x + px, 16 * y + py, found->mv[v], tap);
        src->data[(16 * y + py) * src->stride + 16 * x + px] =
            motus_clip_u8(*tap[0] + motus_test_range(-2, 2));
    }
}

static MotusWeight random_weight(int log2_denom) {
    const int one = 1 << log2_denom;
    if (!motus_test_range(0, 3)) return (MotusWeight){(int16_t)one, 0};
    if (!motus_test_range(0, 3)) // any
        return (MotusWeight){(int16_t)motus_test_range(-128, 127),
                             (int16_t)motus_test_range(-128, 127)};
    return (MotusWeight){
        (int16_t)motus_clip(-128, 127, one + motus_test_range(-one / 4 - 1, one / 4 + 1)),
        (int16_t)motus_test_range(-16, 16)};
}

// Gives a reference explicit weights. SATDs read another luma plane then.
static void weigh(const LanesPicture *p, MotusReference *ref) {
    MotusWeights weights = {.log2_denom = motus_test_range(1, 6)};
    for (int i = 0; i < 3; i++) weights.ref[1].plane[i] = random_weight(weights.log2_denom);
    weights.ref[1].has_luma = motus_test_range(0, 1) != 0;
    weights.ref[1].has_chroma = !weights.ref[1].has_luma || motus_test_range(0, 1);
    motus_reference_weigh(ref, &weights, 1, ref->luma);
    if (weights.ref[1].has_luma) ref->luma = p->weighted_luma.plane[0];
}

// Makes references of the picture: its own samples, and for further ones other fractions of them.
static void set_references(LanesPicture *p) {
    const MotusRefLuma *luma = &p->ref_luma;
    p->refs = motus_test_range(0, 1) ? 1 : motus_test_range(2, LANES_REFERENCES);
    for (int k = 0; k < p->refs; k++) {
        MotusReference *ref = &p->reference[k];
        *ref = (MotusReference){
            .width = luma->width,
            .height = luma->height,
            .luma = luma->plane[0],
            .chroma = {p->ref->plane[1 + k % 2].data, p->ref->plane[2 - k % 2].data},
            .luma_stride = luma->stride,
            .chroma_stride = p->ref->plane[1].stride};
        for (int i = 0; i < 16; i++) memcpy(ref->tap[i], luma->tap[i ^ k], sizeof ref->tap[i]);
        if (!motus_test_range(0, 3)) weigh(p, ref);
    }
}

void lanes_picture_refer(LanesPicture *p) {
    for (int k = 0; k < 3; k++) motus_plane_copy_padded(&p->ref->plane[k], &p->src->plane[k]);
    motus_ref_luma_build(&p->ref_luma, &p->ref->plane[0], 1, 1);
    for (size_t i = 0; i < motus_ref_luma_bytes(16 * p->mb_width, 16 * p->mb_height); i++)
        p->weighted_luma.memory[i] = (uint8_t)motus_max(0, p->ref_luma.memory[i] - 3);
    set_references(p);
}

void lanes_draw_plane(const MotusPlane *plane, int strength) {
    for (int y = 0; y < plane->height; y += 4)
        for (int x = 0; x < plane->width; x += 4) {
            int kind = motus_test_range(0, 4), base = motus_test_range(0, 255),
                slope = motus_test_range(-8, 8);
            for (int i = 0; i < 16; i++) {
                int px = i & 3, py = i >> 2, noise = motus_test_range(-strength, strength);
                int v = kind == 0   ? base
                        : kind == 1 ? (motus_test_random() & 64 ? 255 : 0)
                        : kind == 2 ? base + slope * px + noise
                        : kind == 3 ? base + slope * py + noise
                                    : base + slope * (px + py) + noise;
                plane->data[(y + py) * plane->stride + x + px] = motus_clip_u8(v);
            }
        }
}
