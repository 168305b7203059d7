// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/conform_case.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/harness.h"

ConformCase conform_case(MotusMaterial material, int width, int height, int frames, int qp) {
    ConformCase c = {material, frames, 0, MOTUS_MAPS_NONE,
                     motus_encoder_config_default(width, height, (MotusRational){25, 1})};
    c.config.scenecut = 0;
    c.config.qp = qp;
    c.config.backend = MOTUS_BACKEND_CPU;
    c.config.threads = 1;
    return c;
}

static MotusFrame *make_frame(const ConformCase *c, int number) {
    MotusFrame *frame =
        motus_material_frame(c->material, c->config.width, c->config.height, number);
    for (int i = 1; i < 3 && c->grey; i++)
        for (int y = 0; y < frame->plane[i].height; y++)
            memset(frame->plane[i].data + y * frame->plane[i].stride, 128,
                   (size_t)frame->plane[i].width);
    return frame;
}

void conform_case_encode(MotusCoded *coded, const ConformCase *c) {
    MotusFrame *frames[CONFORM_CASE_FRAMES];
    for (int i = 0; i < c->frames; i++) frames[i] = make_frame(c, i);
    motus_conform_encode(coded, &c->config, frames, c->frames, c->maps);
    for (int i = 0; i < c->frames; i++) motus_frame_unref(&frames[i]);
}

static void describe(char text[360], const ConformCase *c) {
    const MotusEncoderConfig *e = &c->config;
    snprintf(text, 360,
             "%s%s %dx%d frames=%d qp=%d%+d keyint=%d range=%d subpel=%d partitions=%02x "
             "deblock=%d aud=%d preset=%d threads=%d rate=%d slices=%d size=%d maps=%d "
             "profile=%s cabac=%d bframes=%d b_adapt=%d b_pyramid=%d refs=%d weights=%d,%d "
             "direct=%d",
             motus_material_name(c->material), c->grey ? "-grey" : "", e->width, e->height,
             c->frames, e->qp, e->qp_i_offset, e->keyint, e->range, (int)e->subpel, e->partitions,
             e->deblock, e->aud, (int)e->preset, e->threads, (int)e->rate, e->slices,
             e->slice_max_size, (int)c->maps, motus_profile_name(e->profile), e->cabac, e->bframes,
             e->b_adapt, (int)e->b_pyramid, e->references, e->weightp, e->weightb, (int)e->direct);
}

int conform_case_run(const ConformCase *c, MotusCoverage *coverage, MotusPictureStats *stats) {
    MotusCoded coded;
    char text[360];
    int slices = 0;
    describe(text, c);
    conform_case_encode(&coded, c);
    motus_conform_judge(&coded, coverage);
    MOTUS_CHECK(!coded.failure[0], "%s: %s", text, coded.failure);
    for (int i = 0; i < coded.pictures; i++) slices += coded.slices[i];
    if (stats) *stats = coded.stats;
    motus_coded_free(&coded);
    return slices;
}

void conform_case_same(const ConformCase *a, const ConformCase *b, const char *cpu,
                       const char *what) {
    MotusCoded one, other;
    char text[460], settings[360];
    describe(settings, b);
    snprintf(text, sizeof text, "%s, %s", what, settings);
    conform_case_encode(&one, a);
    if (cpu) motus_test_cpu(cpu);
    conform_case_encode(&other, b);
    motus_test_cpu(NULL);
    motus_conform_same(&one, &other, text);
    motus_coded_free(&one);
    motus_coded_free(&other);
}
