// External MVs: the encoder's own fields, fed back, give the same stream; any other field, and any
// MVs by reference, give a stream that independent decoders follow.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "motus/encoder.h"
#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/decoders/material.h"
#include "tests/support/harness.h"

enum { PICTURES = 9 };

// A sequence with a field or MVs by reference per picture, and its stream. Pictures and packets are
// in display order.
typedef struct Sequence {
    MotusFrame *frame[PICTURES];
    MotusField *field[PICTURES]; // NULL: search
    uint32_t modes;
    MotusCodedMv *entry[PICTURES]; // n_entries[i] of them; 0: search
    size_t n_entries[PICTURES];
    int final;
    MotusCoded coded;
    MotusPacket *packet[PICTURES];
} Sequence;

static MotusEncoderConfig config_of(int i) {
    static const int sizes[][2] = {{64, 48}, {82, 50}, {176, 32}, {16, 16}};
    MotusEncoderConfig c =
        motus_encoder_config_default(sizes[i % 4][0], sizes[i % 4][1], (MotusRational){25, 1});
    c.backend = MOTUS_BACKEND_CPU;
    c.preset = (MotusPreset)(i % MOTUS_PRESETS);
    c.subpel = (MotusSubpel)(i / 4 % 3);
    c.qp = motus_test_range(18, 38);
    c.range = motus_test_range(0, 1) ? motus_test_range(1, 9) : 0;
    c.keyint = motus_test_range(0, 1) ? 3 : 0;
    c.partitions = (uint32_t)motus_test_range(0, 127);
    c.threads = motus_test_range(1, 2);
    c.gop_coders = motus_test_range(1, 2);
    c.slices = motus_test_range(1, 3);
    c.export_field = c.references = 1;
    return c;
}

static void open_sequence(Sequence *s, MotusMaterial material, const MotusEncoderConfig *c) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < PICTURES; i++)
        s->frame[i] = motus_material_frame(material, c->width, c->height, i);
}

static void forget(Sequence *s) {
    for (int i = 0; i < PICTURES; i++) motus_packet_unref(&s->packet[i]);
    motus_coded_free(&s->coded);
    s->coded = (MotusCoded){0};
}

static void drop_sequence(Sequence *s) {
    forget(s);
    for (int i = 0; i < PICTURES; i++) {
        motus_frame_unref(&s->frame[i]);
        motus_field_free(&s->field[i]);
        free(s->entry[i]);
    }
}

static void keep(Sequence *s, MotusPacket *packet) {
    MotusCoded *coded = &s->coded;
    s->packet[packet->number] = packet;
    coded->data = realloc(coded->data, coded->size + packet->size);
    memcpy(coded->data + coded->size, packet->data, packet->size);
    coded->size += packet->size;
    coded->slices[coded->pictures++] = packet->slices;
    coded->b_pictures += packet->type == 'B';
    for (int i = 0; i < 2; i++) coded->stats.transform_8x8[i] += packet->stats.transform_8x8[i];
    coded->recon[packet->number] = motus_frame_ref(packet->recon);
}

static void encode(Sequence *s, const MotusEncoderConfig *c) {
    MotusEncoder *enc = NULL;
    forget(s);
    s->coded.recon = calloc(PICTURES, sizeof *s->coded.recon);
    s->coded.slices = calloc(PICTURES, sizeof *s->coded.slices);
    REQUIRE_OK(motus_encoder_open(&enc, c, NULL));
    s->coded.level = motus_encoder_level(enc);
    for (int i = 0; i < PICTURES; i++) {
        const MotusFrameParams params = {.size = sizeof params,
                                         .duration = 1,
                                         .external_mvs = s->field[i],
                                         .external_modes = s->modes,
                                         .external_final = s->final,
                                         .reference_mvs = s->entry[i],
                                         .n_reference_mvs = s->n_entries[i]};
        MotusStatus status = motus_encoder_send(enc, s->frame[i], &params);
        MOTUS_CHECK(!status, "picture %d: %s", i, motus_encoder_error(enc)->text);
    }
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    MotusPacket *packet;
    for (int i = 0; i < PICTURES && !motus_encoder_receive(enc, &packet, -1); i++) keep(s, packet);
    CU_ASSERT_EQUAL(s->coded.pictures, PICTURES);
    motus_encoder_close(&enc);
}

static void copy_fields(MotusField *to[PICTURES], const Sequence *s, const MotusEncoderConfig *c) {
    for (int i = 0; i < PICTURES; i++) {
        const MotusField *from = s->packet[i]->field;
        MOTUS_CHECK(!from == (s->packet[i]->type == 'I'), "picture %d, type %c", i,
                    s->packet[i]->type);
        if (!from) continue;
        REQUIRE_OK(motus_field_alloc(&to[i], c->width, c->height));
        const size_t n = (size_t)from->n_mb * MOTUS_BLOCKS;
        memcpy(to[i]->mv[0], from->mv[0], n * sizeof(MotusMv));
        memcpy(to[i]->sad[0], from->sad[0], n * sizeof(uint16_t));
        memcpy(to[i]->cost[0], from->cost[0], n * sizeof(uint32_t));
    }
}

static int same_fields(const MotusField *a, const MotusField *b, uint32_t modes) {
    int same = 1;
    for (int k = 0; k < MOTUS_BLOCKS; k++)
        if (modes >> motus_blocks[k].mode & 1)
            same = same && !memcmp(a->mv[k], b->mv[k], (size_t)a->n_mb * sizeof(MotusMv)) &&
                   !memcmp(a->sad[k], b->sad[k], (size_t)a->n_mb * sizeof(uint16_t)) &&
                   !memcmp(a->cost[k], b->cost[k], (size_t)a->n_mb * sizeof(uint32_t));
    return same;
}

// Encodes twice, the second time with the fields of the first.
static void feed_back(int number, MotusMaterial material, const MotusEncoderConfig *c) {
    Sequence s;
    open_sequence(&s, material, c);
    encode(&s, c);
    const size_t size = s.coded.size;
    uint8_t *first = malloc(size);
    memcpy(first, s.coded.data, size);
    copy_fields(s.field, &s, c);
    for (int i = 0; i < PICTURES; i++) s.modes |= s.packet[i]->field_modes;
    encode(&s, c);
    MOTUS_CHECK(s.coded.size == size && !memcmp(first, s.coded.data, size),
                "case %d: %zu and %zu bytes", number, size, s.coded.size);
    for (int i = 0; i < PICTURES; i++)
        MOTUS_CHECK(!s.field[i] || same_fields(s.packet[i]->field, s.field[i], s.modes),
                    "case %d picture %d: measured anew", number, i);
    free(first);
    drop_sequence(&s);
}

static void own_fields_give_the_same_stream(void) {
    for (int i = 0; i < 24; i++) {
        MotusEncoderConfig c = config_of(i);
        feed_back(i, (MotusMaterial)(i % MOTUS_MATERIALS), &c);
    }
}

static void so_they_do_with_rate_control(void) {
    for (int i = 0; i < 12; i++) {
        MotusEncoderConfig c = config_of(i);
        c.rate = i % 2 ? MOTUS_RATE_CRF : MOTUS_RATE_BITRATE;
        c.bitrate = 60000;
        c.lookahead = i % 3;
        c.aq_mode = (MotusAqMode)(i % 3);
        feed_back(i, (MotusMaterial)(i % MOTUS_MATERIALS), &c);
    }
}

// Returns an MV component up to `most`, at times the limit itself, with or without a fraction.
static int16_t component(int most, int unit, int whole) {
    const int v = motus_test_range(0, 9)   ? motus_test_range(-60, 60)
                  : motus_test_range(0, 1) ? most
                                           : motus_test_range(-most, most);
    const int step = whole ? 4 : unit, clipped = v > most ? most : v < -most ? -most : v;
    return (int16_t)(clipped / step * step);
}

static void fill_field(MotusField *field, int most_y, int unit) {
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        for (int mb = 0; mb < field->n_mb; mb++) {
            const int whole = motus_test_range(0, 1);
            field->mv[b][mb] =
                (MotusMv){component(4 * 2047, unit, whole), component(most_y, unit, whole)};
        }
}

static void any_field_gives_a_stream(void) {
    MotusCoverage coverage = {0};
    size_t searched = 0, random = 0;
    for (int i = 0; i < 20; i++) {
        MotusEncoderConfig c = config_of(i);
        Sequence s;
        const MotusMaterial material = (MotusMaterial)(i % MOTUS_MATERIALS);
        open_sequence(&s, material, &c);
        encode(&s, &c);
        searched += s.coded.size;
        s.modes = (uint32_t)motus_test_range(0, 63) << 1 | 1;
        s.final = i & 1;
        for (int k = 0; k < PICTURES; k++) {
            REQUIRE_OK(motus_field_alloc(&s.field[k], c.width, c.height));
            fill_field(s.field[k], 252, 4 >> c.subpel); // level 1.0 has +-64 samples
        }
        encode(&s, &c);
        random += s.coded.size;
        for (int k = 0; k < PICTURES; k++) {
            const MotusField *field = s.packet[k]->field;
            MOTUS_CHECK(!field || !memcmp(field->mv[0], s.field[k]->mv[0],
                                          (size_t)field->n_mb * sizeof(MotusMv)),
                        "case %d picture %d: other vectors", i, k);
            MOTUS_CHECK(!(s.packet[k]->field_modes & ~s.modes), "case %d picture %d: modes 0x%x", i,
                        k, (unsigned)s.packet[k]->field_modes);
        }
        motus_conform_judge(&s.coded, &coverage);
        MOTUS_CHECK(!s.coded.failure[0], "case %d %s %dx%d: %s", i, motus_material_name(material),
                    c.width, c.height, s.coded.failure);
        drop_sequence(&s);
    }
    MOTUS_CHECK(random > searched, "%zu bytes with random vectors, %zu with searched ones", random,
                searched);
}

// MVs with a fraction stay as they are; final MVs all do.
static void only_whole_samples_are_refined(void) {
    MotusEncoderConfig c = motus_encoder_config_default(64, 64, (MotusRational){25, 1});
    c.backend = MOTUS_BACKEND_CPU;
    Sequence s;
    open_sequence(&s, MOTUS_MATERIAL_SCENE, &c);
    size_t size[2][2]; // [whole][final]
    for (int whole = 0; whole < 2; whole++)
        for (s.final = 0; s.final < 2; s.final++) {
            for (int k = 0; k < PICTURES; k++) {
                motus_field_free(&s.field[k]);
                REQUIRE_OK(motus_field_alloc(&s.field[k], c.width, c.height));
                for (int i = 0; i < MOTUS_BLOCKS * s.field[k]->n_mb; i++)
                    s.field[k]->mv[0][i] =
                        (MotusMv){(int16_t)(4 * (i % 7) + !whole), (int16_t)(-4 * (i % 3))};
            }
            encode(&s, &c);
            size[whole][s.final] = s.coded.size;
        }
    CU_ASSERT_EQUAL(size[0][0], size[0][1]);
    CU_ASSERT_NOT_EQUAL(size[1][0], size[1][1]);
    drop_sequence(&s);
}

// ---- By reference -------------------------------------------------------------------------------

// Settings with B pictures and several references, whose streams do not depend on export_field.
static MotusEncoderConfig b_config_of(int i) {
    MotusEncoderConfig c = config_of(i);
    c.export_field = 0;
    c.profile = i % 5 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_MAIN;
    c.cabac = i % 3 > 0;
    c.bframes = i % 4;
    c.references = 1 + i % 5;
    c.direct = (MotusDirectMode)(i / 2 % MOTUS_DIRECT_MODES);
    c.b_pyramid = i % 3 ? MOTUS_B_PYRAMID_NORMAL : MOTUS_B_PYRAMID_NONE;
    c.weightp = i % 3;
    c.weightb = i & 1;
    c.keyint = i % 4 == 3 ? 5 : 0;
    return c;
}

static void judge(Sequence *s, int number) {
    MotusCoverage coverage = {0};
    motus_conform_judge(&s->coded, &coverage);
    MOTUS_CHECK(!s->coded.failure[0], "case %d: %s", number, s->coded.failure);
}

// Encodes again with other numbers of threads and GOP coders: the same stream.
static void encode_otherwise(Sequence *s, const MotusEncoderConfig *config, int number) {
    MotusEncoderConfig c = *config;
    const size_t size = s->coded.size;
    uint8_t *first = malloc(size);
    memcpy(first, s->coded.data, size);
    c.threads = 3 - c.threads, c.gop_coders = 3 - c.gop_coders;
    encode(s, &c);
    MOTUS_CHECK(s->coded.size == size && !memcmp(first, s->coded.data, size),
                "case %d: %zu and %zu bytes", number, size, s->coded.size);
    free(first);
}

// MVs of packets, given back: a stream of about the same size, with refinement or without.
static void coded_mvs_are_as_good_as_a_search(void) {
    size_t searched = 0, given = 0;
    for (int i = 0; i < 20; i++) {
        const MotusEncoderConfig c = b_config_of(i);
        Sequence s;
        open_sequence(&s, MOTUS_MATERIAL_SCENE, &c);
        encode(&s, &c);
        searched += s.coded.size;
        for (int k = 0; k < PICTURES; k++) {
            const size_t n = s.n_entries[k] = s.packet[k]->n_mvs;
            s.entry[k] = malloc(n * sizeof *s.entry[k] + 1);
            if (n) memcpy(s.entry[k], s.packet[k]->mvs, n * sizeof *s.entry[k]);
        }
        s.final = i & 1;
        encode(&s, &c);
        given += s.coded.size;
        judge(&s, i);
        encode_otherwise(&s, &c, i);
        drop_sequence(&s);
    }
    MOTUS_CHECK(100 * given < 103 * searched, "%zu bytes of coded vectors, %zu of a search", given,
                searched);
}

// Draws blocks anywhere; MVs up to the range's end, into references of all distances.
static void draw_entries(Sequence *s, const MotusEncoderConfig *c, int picture) {
    const int mb_width = (c->width + 15) / 16, mb_height = (c->height + 15) / 16,
              n = motus_test_range(0, 1) ? motus_test_range(0, 300) : motus_test_range(0, 9);
    MotusCodedMv *entry = s->entry[picture] = calloc((size_t)n + 1, sizeof *entry);
    s->n_entries[picture] = (size_t)n;
    for (int i = 0; i < n; i++) {
        const MotusBlock *block = &motus_blocks[motus_test_range(0, MOTUS_BLOCKS - 1)];
        const int whole = motus_test_range(0, 1), distance = motus_test_range(1, 6);
        entry[i] = (MotusCodedMv){
            .x = (uint16_t)(16 * motus_test_range(0, mb_width - 1) + block->x),
            .y = (uint16_t)(16 * motus_test_range(0, mb_height - 1) + block->y),
            .width = block->width,
            .height = block->height,
            .distance = (int16_t)(!motus_test_range(0, 19) ? motus_test_range(1, 32767)
                                  : motus_test_range(0, 2) ? -distance
                                                           : distance),
            .mv = {component(8192, 1, whole), component(256, 1, whole)}};
    }
}

static void any_mvs_by_reference_give_a_stream(void) {
    for (int i = 0; i < 24; i++) {
        const MotusEncoderConfig c = b_config_of(i);
        Sequence s;
        open_sequence(&s, (MotusMaterial)(i % MOTUS_MATERIALS), &c);
        for (int k = 0; k < PICTURES; k++) draw_entries(&s, &c, k);
        s.final = i % 3 == 2;
        encode(&s, &c);
        judge(&s, i);
        encode_otherwise(&s, &c, i);
        drop_sequence(&s);
    }
}

// A picture whose one MV by reference is that of a pan: the blocks without entries have it, too,
// and final ones are not refined.
static void one_entry_serves_a_picture(void) {
    MotusEncoderConfig c = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    const MotusMv mv = {-52, 28};
    c.backend = MOTUS_BACKEND_CPU;
    c.export_field = c.references = 1;
    Sequence s;
    open_sequence(&s, MOTUS_MATERIAL_SCENE, &c);
    s.entry[1] = calloc(1, sizeof *s.entry[1]);
    s.n_entries[1] = 1;
    *s.entry[1] = (MotusCodedMv){.width = 16, .height = 16, .distance = -1, .mv = mv};
    encode(&s, &c);
    const MotusField *field = s.packet[1]->field;
    for (int i = 0; i < 12; i++)
        MOTUS_CHECK(!memcmp(&field->mv[MOTUS_BLOCK_16x16][i], &mv, sizeof mv), "macroblock %d", i);
    s.entry[1]->distance = -2; // twice as far
    encode(&s, &c);
    field = s.packet[1]->field;
    for (int i = 0; i < 12; i++)
        MOTUS_CHECK(field->mv[0][i].x == -24 && field->mv[0][i].y == 16, "macroblock %d: %d, %d", i,
                    field->mv[0][i].x, field->mv[0][i].y);
    drop_sequence(&s);
}

MOTUS_SUITE("external_mvs", TEST(own_fields_give_the_same_stream),
            TEST(so_they_do_with_rate_control), TEST(any_field_gives_a_stream),
            TEST(only_whole_samples_are_refined), TEST(coded_mvs_are_as_good_as_a_search),
            TEST(any_mvs_by_reference_give_a_stream), TEST(one_entry_serves_a_picture))
