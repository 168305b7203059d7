// Order of pictures with B pictures: mini-GOPs by themselves, then packets of streams: types,
// numbers, decoding times, what is held, forced IDR pictures, several GOP coders, failures.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/faults.h"
#include "common/int_core.h"
#include "encoder/gop/mini_gop.h"
#include "tests/encoder/encoder_case.h"
#include "tests/support/harness.h"

enum { MOST = 60 };

// ---- The order that is expected -----------------------------------------------------------------

typedef struct Expected {
    int number[MOST]; // in coding order
    char type[MOST];
    int64_t dts[MOST];
    int frame_num[MOST], shown[MOST], ref_shown[MOST][2], b_reference[MOST];
    int halves[MOST]; // of pb_ratio's QP offset
} Expected;

// Places B pictures [from, to) of a mini-GOP, which are shown behind `shown`; ends: the pictures
// around them. Returns the place behind them. *refs: reference pictures so far.
static int place_between(Expected *e, int at, int first, int from, int to, const int ends[2],
                         int levels, int level, int *refs) {
    const int n = to - from, shown = ends[0] - from, middle = from + (n - 1) / 2;
    const int is_divided = n > 1 && levels > 0;
    for (int b = is_divided ? middle : from; b < (is_divided ? middle + 1 : to); b++, at++) {
        e->number[at] = first + b;
        e->type[at] = 'B';
        e->frame_num[at] = *refs;
        e->shown[at] = shown + 1 + b;
        e->ref_shown[at][0] = ends[0], e->ref_shown[at][1] = ends[1];
        e->b_reference[at] = is_divided, e->halves[at] = level + !is_divided;
    }
    if (!is_divided) return at;
    ++*refs;
    const int left[2] = {ends[0], shown + 1 + middle}, right[2] = {left[1], ends[1]};
    at = place_between(e, at, first, from, middle, left, levels - 1, level + 1, refs);
    return place_between(e, at, first, middle + 1, to, right, levels - 1, level + 1, refs);
}

// Two levels of references begin with seven B pictures where they delay.
static int delay_of(int bframes, int pyramid) {
    return !bframes ? 0 : !pyramid || bframes < 3 ? 1 : bframes < 7 ? 2 : 3;
}

// Places all pictures of a sequence whose IDR pictures are known. Frame i is shown at pts[i]. is_b:
// B pictures that b_adapt has chosen, or NULL.
static void place(Expected *e, const int *idr, const int *is_b, const int64_t *pts, int n,
                  int bframes, int pyramid) {
    const int delay = delay_of(bframes, pyramid);
    memset(e, 0, sizeof *e);
    for (int i = 0; i < n; i++) e->dts[i] = i < delay ? pts[0] - 3 * (delay - i) : pts[i - delay];
    for (int i = 0, refs = 0, shown = 0; i < n;) {
        int end = i; // the picture that ends the mini-GOP
        while (!idr[i] && end < i + bframes && end + 1 < n && !idr[end + 1] && (!is_b || is_b[end]))
            end++;
        if (idr[i]) refs = shown = 0;
        e->number[i] = end;
        e->type[i] = idr[i] ? 'I' : 'P';
        e->frame_num[i] = refs++;
        e->shown[i] = idr[i] ? 0 : shown + end - i + 1;
        e->ref_shown[i][0] = shown;
        const int ends[2] = {shown, e->shown[i]};
        place_between(e, i + 1, i, 0, end - i, ends, pyramid ? 2 : 0, 1, &refs);
        shown = e->shown[i];
        i = end + 1;
    }
}

// ---- Mini-GOPs by themselves --------------------------------------------------------------------

typedef struct Held {
    MotusMiniGop m;
    MotusPendingPicture picture[MOST];
    MotusPicturePlan plan[MOST];
    int n, taken;
    Expected want;
} Held;

// Checks that list 0 of a B picture that is no reference has the nearest earlier ones of the kept
// references, as many as it may.
static void check_list0(const Held *h, const MotusPictureParams *q) {
    const MotusDpb *dpb = &h->m.dpb;
    int earlier = 0;
    for (int i = 0; i < dpb->n; i++) earlier += dpb->picture[i].shown < q->shown;
    MOTUS_CHECK(q->refs == motus_min(earlier, h->m.b_refs), "%d of %d earlier references", q->refs,
                earlier);
    for (int k = 0; k < q->refs; k++) {
        int nearer = 0;
        for (int i = 0; i < dpb->n; i++)
            nearer += dpb->picture[i].shown < q->shown && dpb->picture[i].shown > q->ref_shown[k];
        MOTUS_CHECK(nearer == k && q->ref_shown[k] < q->shown, "reference %d of %d is shown at %d",
                    k, q->refs, q->ref_shown[k]);
    }
}

static void take_all(Held *h) {
    MotusPendingPicture *p;
    while ((p = motus_mini_gop_take(&h->m))) {
        const MotusPictureParams *q = &p->params;
        const Expected *e = &h->want;
        const int i = h->taken++;
        const char type = q->type == MOTUS_SLICE_I ? 'I' : q->type == MOTUS_SLICE_P ? 'P' : 'B';
        MOTUS_CHECK(p - h->picture == e->number[i] && type == e->type[i] && p->dts == e->dts[i],
                    "picture %d: number %d, type %c, dts %lld", i, (int)(p - h->picture), type,
                    (long long)p->dts);
        MOTUS_CHECK((int)q->frame_num == e->frame_num[i] && q->shown == e->shown[i] &&
                        q->is_reference == (type != 'B' || e->b_reference[i]) && !p->held,
                    "picture %d: frame_num %d, shown %d", i, (int)q->frame_num, q->shown);
        if (type != 'I') CU_ASSERT_EQUAL(q->ref_shown[0], e->ref_shown[i][0]);
        if (type == 'B') {
            CU_ASSERT_EQUAL(q->ref_shown[q->refs], e->ref_shown[i][1]);
            if (!q->is_reference) check_list0(h, q);
        }
        const int b_follows = i + 1 < h->n && e->type[i + 1] == 'B';
        CU_ASSERT_PTR_EQUAL(p->plan->next_b, b_follows ? &h->plan[e->number[i + 1]] : NULL);
    }
}

// Makes random pictures B pictures, never the last one of a GOP.
static void choose_b(int *is_b, const int *idr, int n, int bframes) {
    for (int i = 0, run = 0; i < n; i++) {
        is_b[i] = !idr[i] && i + 1 < n && !idr[i + 1] && run < bframes && motus_test_range(0, 2);
        run = is_b[i] ? run + 1 : 0;
    }
}

// As motus_gop_coders_planned does.
static void plan(Held *h, int i, int is_b) {
    h->picture[i].ends_mini_gop = !is_b;
    if (h->picture[i].held) h->picture[i].state = MOTUS_PENDING_READY;
}

// Types are known at once, or some pictures later; mini-GOPs too, with b_adapt.
static void mini_gops(void) {
    static Held h;
    static MotusStream stream;
    for (int round = 0; round < 2000; round++) {
        const int bframes = motus_test_range(0, 9), later = motus_test_range(0, 1),
                  adapts = bframes && motus_test_range(0, 1), rare = motus_test_range(1, 20),
                  pyramid = motus_test_range(0, 1);
        int idr[MOST], is_b[MOST], typed = 0, planned = 0;
        int64_t pts[MOST];
        memset(&h, 0, sizeof h);
        h.n = motus_test_range(1, MOST);
        stream.config.bframes = bframes;
        stream.config.b_pyramid = pyramid ? MOTUS_B_PYRAMID_NORMAL : MOTUS_B_PYRAMID_NONE;
        stream.config.references = 1;
        stream.b_refs = motus_test_range(1, 4);
        stream.lookahead.b_span = adapts ? 2 : 0;
        stream.sequence.reorder = delay_of(bframes, pyramid);
        stream.sequence.max_refs = !bframes ? 1 : !pyramid || bframes < 2 ? 2 : bframes < 3 ? 3 : 4;
        motus_mini_gop_open(&h.m, &stream);
        for (int i = 0; i < h.n; i++) {
            idr[i] = !i || !motus_test_range(0, rare);
            pts[i] = i ? pts[i - 1] + motus_test_range(1, 9) : 100;
        }
        choose_b(is_b, idr, h.n, bframes);
        place(&h.want, idr, adapts ? is_b : NULL, pts, h.n, bframes, pyramid);
        for (int i = 0; i < h.n; i++) {
            h.picture[i] =
                (MotusPendingPicture){.state = later ? MOTUS_PENDING_TYPE : MOTUS_PENDING_PLAN,
                                      .plan = &h.plan[i],
                                      .params.idr = later ? 0 : idr[i],
                                      .pts = pts[i],
                                      .duration = 3};
            motus_mini_gop_put(&h.m, &h.picture[i]);
            for (; later && typed <= i && motus_test_range(0, 3); typed++)
                CU_ASSERT_PTR_EQUAL(motus_mini_gop_set_type(&h.m, idr[typed]), &h.picture[typed]);
            for (; adapts && planned < (later ? typed : i + 1) && motus_test_range(0, 3); planned++)
                plan(&h, planned, is_b[planned]);
            take_all(&h);
            MOTUS_CHECK(later || adapts || i + 1 - h.taken <= bframes, "%d pictures are held",
                        i + 1 - h.taken);
        }
        for (; later && typed < h.n; typed++) motus_mini_gop_set_type(&h.m, idr[typed]);
        h.m.ended = 1;
        take_all(&h);
        for (; adapts && planned < h.n; planned++) plan(&h, planned, is_b[planned]);
        take_all(&h);
        CU_ASSERT_EQUAL(h.taken, h.n);
    }
}

// ---- Streams ------------------------------------------------------------------------------------

typedef struct Clip {
    MotusFrame *frames[N_FRAMES];
    int n, keyint, bframes, adapts, pyramid, forced; // forced: number of a forced IDR picture
    int64_t pts[MOST];
} Clip;

static MotusEncoderConfig config_of(const Clip *c) {
    MotusEncoderConfig config = encoder_case_config(48, 48);
    config.profile = MOTUS_PROFILE_MAIN;
    config.preset = MOTUS_PRESET_FASTER;
    config.keyint = c->keyint;
    config.bframes = c->bframes;
    config.b_adapt = c->adapts;
    config.b_pyramid = c->pyramid ? MOTUS_B_PYRAMID_NORMAL : MOTUS_B_PYRAMID_NONE;
    return config;
}

static Clip clip_of(int n, int keyint, int bframes) {
    Clip c = {.n = n, .keyint = keyint, .bframes = bframes, .forced = motus_test_range(1, MOST)};
    for (int i = 0; i < n; i++) c.pts[i] = 7 * i + motus_test_range(0, 3);
    encoder_case_frames(c.frames, 48, 48);
    return c;
}

static MotusStatus send_frame(MotusEncoder *enc, const Clip *c, int i) {
    const MotusFrameParams params = {
        .size = sizeof params, .pts = c->pts[i], .duration = 3, .force_idr = i == c->forced};
    return motus_encoder_send(enc, c->frames[i % N_FRAMES], &params);
}

// Encodes the clip, receiving as packets are ready; `timeout` as in motus_encoder_receive. Returns
// the number of packets.
static int encode(const MotusEncoderConfig *config, const Clip *c, int timeout,
                  MotusPacket *packets[MOST]) {
    MotusEncoder *enc;
    int n = 0;
    REQUIRE_OK(motus_encoder_open(&enc, config, NULL));
    for (int i = 0; i < c->n; i++) {
        EXPECT_OK(send_frame(enc, c, i));
        while (!motus_encoder_receive(enc, &packets[n], timeout)) n++;
        MOTUS_CHECK(timeout >= 0 || i + 1 - n <= c->bframes + 16 * c->adapts,
                    "%d of %d frames are held", i + 1 - n, i + 1);
    }
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    MotusStatus status;
    while (n < MOST && !(status = motus_encoder_receive(enc, &packets[n], -1))) n++;
    CU_ASSERT_EQUAL(status, MOTUS_END);
    motus_encoder_close(&enc);
    return n;
}

static void drop(MotusPacket **packets, int n) {
    for (int i = 0; i < n; i++) motus_packet_unref(&packets[i]);
}

static void check_order(const Clip *c, MotusPacket **packets, int n) {
    int idr[MOST] = {0}, is_b[MOST] = {0};
    Expected want;
    for (int i = 0, since = 0; i < c->n; i++) {
        idr[i] = !i || i == c->forced || (c->keyint && since == c->keyint);
        since = idr[i] ? 1 : since + 1;
    }
    for (int i = 0; i < n; i++) is_b[packets[i]->number] = packets[i]->type == 'B';
    place(&want, idr, c->adapts ? is_b : NULL, c->pts, c->n, c->bframes, c->pyramid);
    CU_ASSERT_EQUAL_FATAL(n, c->n);
    for (int i = 0; i < n; i++) {
        const MotusPacket *p = packets[i];
        MOTUS_CHECK(p->number == want.number[i] && p->type == want.type[i] &&
                        p->is_idr == (p->type == 'I') && p->pts == c->pts[p->number] &&
                        p->dts == want.dts[i] && p->recon->number == p->number &&
                        motus_test_same_frames(p->source, c->frames[p->number % N_FRAMES]),
                    "keyint %d, %d B: packet %d is %c %d, dts %lld", c->keyint, c->bframes, i,
                    p->type, (int)p->number, (long long)p->dts);
        CU_ASSERT(p->dts <= p->pts && (!i || p->dts > packets[i - 1]->dts));
        const int above_p[] = {0, 1, 2, 3, 5}; // log2(1.3) * 3 each
        CU_ASSERT_EQUAL(p->qp, p->type == 'I' ? 23 : 26 + above_p[want.halves[i]]);
    }
}

static void orders(void) {
    MotusPacket *packets[MOST + 1], *others[MOST + 1];
    for (int round = 0; round < 22; round++)
        for (int keyint = round / 2, bframes = 0; bframes < 9; bframes += 1 + keyint % 2) {
            Clip c = clip_of(motus_test_range(1, 30), keyint, bframes);
            c.adapts = round % 2;
            c.pyramid = round / 2 % 2;
            MotusEncoderConfig config = config_of(&c);
            config.gop_coders = 1;
            const int n = encode(&config, &c, -1, packets);
            check_order(&c, packets, n);
            config.gop_coders = motus_test_range(2, 4);
            config.threads = motus_test_range(1, 4);
            CU_ASSERT_EQUAL_FATAL(encode(&config, &c, 0, others), n);
            for (int i = 0; i < n; i++)
                MOTUS_CHECK(packets[i]->size == others[i]->size &&
                                packets[i]->dts == others[i]->dts &&
                                !memcmp(packets[i]->data, others[i]->data, packets[i]->size),
                            "%d GOP coders: packet %d", config.gop_coders, i);
            drop(packets, n);
            drop(others, n);
            encoder_case_drop(c.frames);
        }
}

static void check_equal(const MotusPacket *a, const MotusPacket *b, const char *what, int i) {
    MOTUS_CHECK(a->size == b->size && !memcmp(a->data, b->data, a->size) &&
                    !memcmp(&a->stats, &b->stats, sizeof a->stats),
                "%s: packet %d", what, i);
    CU_ASSERT(motus_test_same_frames(a->recon, b->recon) && a->n_mvs == b->n_mvs &&
              (!a->n_mvs || !memcmp(a->mvs, b->mvs, a->n_mvs * sizeof *a->mvs)));
}

// Threads that share B pictures give the stream, reconstruction and MVs of one thread; the stream
// alone is the same without squared errors.
static void threads_give_one_stream(void) {
    static const int bframes[] = {2, 3, 7}, threads[] = {2, 5};
    MotusPacket *packets[MOST + 1], *others[MOST + 1];
    for (int round = 0; round < 12; round++) {
        Clip c = clip_of(26, round % 5 ? 0 : 11, bframes[round % 3]);
        c.pyramid = round % 4 != 3;
        MotusEncoderConfig config = config_of(&c);
        config.preset = round % 2 ? MOTUS_PRESET_FASTER : MOTUS_PRESET_MEDIUM;
        config.direct = (MotusDirectMode)(round / 3);
        config.gop_coders = config.threads = 1;
        const int n = encode(&config, &c, 0, packets);
        for (int k = 0; k < 2; k++) {
            config.threads = threads[k];
            CU_ASSERT_EQUAL_FATAL(encode(&config, &c, k ? 0 : -1, others), n);
            for (int i = 0; i < n; i++)
                check_equal(packets[i], others[i], k ? "five threads" : "two threads", i);
            drop(others, n);
        }
        config.stream_only = config.no_ssd = 1;
        CU_ASSERT_EQUAL_FATAL(encode(&config, &c, 0, others), n);
        for (int i = 0; i < n; i++)
            MOTUS_CHECK(packets[i]->size == others[i]->size && !others[i]->stats.ssd[0] &&
                            !memcmp(packets[i]->data, others[i]->data, packets[i]->size),
                        "no squared errors: packet %d", i);
        drop(others, n);
        drop(packets, n);
        encoder_case_drop(c.frames);
    }
}

// With a lookahead, and sizes that feed back: types, numbers and times keep the rules.
static void with_rate_control(void) {
    static const MotusRateControl rates[] = {MOTUS_RATE_CRF, MOTUS_RATE_BITRATE};
    MotusPacket *packets[MOST + 1];
    for (int round = 0; round < 16; round++) {
        Clip c = clip_of(motus_test_range(1, 40), motus_test_range(0, 9), round % 8);
        c.pyramid = motus_test_range(0, 1);
        MotusEncoderConfig config = config_of(&c);
        config.rate = rates[round % 2];
        config.bitrate = 60000;
        config.b_adapt = round % 3 != 1;
        if (round % 4 == 3) config.vbv_maxrate = 60000, config.vbv_bufsize = 40000;
        config.lookahead = round % 3 ? motus_test_range(0, 20) : 0;
        config.aq_mode = round % 5 ? MOTUS_AQ_OFF : MOTUS_AQ_AUTO;
        config.mb_tree = round % 7 != 0;
        const int n = encode(&config, &c, 0, packets);
        CU_ASSERT_EQUAL_FATAL(n, c.n);
        int64_t shown = 0; // bit i: picture i of the stream has come
        for (int i = 0; i < n; i++) {
            const MotusPacket *p = packets[i];
            shown |= (int64_t)1 << p->number;
            CU_ASSERT(p->dts <= p->pts && (!i || p->dts > packets[i - 1]->dts));
            if (p->is_idr) CU_ASSERT_EQUAL(shown, ((int64_t)1 << (i + 1)) - 1);
            if (c.bframes && !c.pyramid) CU_ASSERT_EQUAL(p->type == 'B', i && p->number == i - 1);
            CU_ASSERT(p->number <= i + c.bframes);
        }
        drop(packets, n);
        encoder_case_drop(c.frames);
    }
}

// Any allocation that fails ends in a clean status, with pictures held or not.
static void failing_allocations(void) {
    Clip c = clip_of(9, 6, 3);
    c.adapts = motus_test_range(0, 1);
    const MotusEncoderConfig config = config_of(&c);
    int failures = 0;
    for (long n = 0; n < 260; n += 1 + n / 100) {
        MotusEncoder *enc = NULL;
        MotusPacket *packet = NULL;
        motus_alloc_fail_after(n);
        MotusStatus status = motus_encoder_open(&enc, &config, NULL);
        for (int i = 0; i < c.n && !status; i++) {
            status = send_frame(enc, &c, i);
            while (!status && !(status = motus_encoder_receive(enc, &packet, 0)))
                motus_packet_unref(&packet);
            if (status > 0) status = MOTUS_OK;
        }
        if (!status) status = motus_encoder_send(enc, NULL, NULL);
        while (!status && !(status = motus_encoder_receive(enc, &packet, -1)))
            motus_packet_unref(&packet);
        motus_alloc_fail_after(-1);
        failures += status != MOTUS_END;
        MOTUS_CHECK(status == MOTUS_END || status == MOTUS_ERR_MEMORY, "allocation %ld: %s", n,
                    motus_status_name(status));
        motus_encoder_close(&enc);
    }
    CU_ASSERT(failures > 20);
    encoder_case_drop(c.frames);
}

// A receiver is told that more frames are needed, not left waiting; a close drops what is held.
static void held_frames(void) {
    Clip c = clip_of(6, 0, 3);
    c.forced = -1;
    const MotusEncoderConfig config = config_of(&c);
    MotusEncoder *enc;
    MotusPacket *packet;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    for (int i = 0; i < 4; i++) {
        EXPECT_OK(send_frame(enc, &c, i));
        CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), i ? MOTUS_AGAIN : MOTUS_OK);
        if (!i) motus_packet_unref(&packet);
    }
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, 20), MOTUS_AGAIN);
    motus_encoder_close(&enc);
    encoder_case_drop(c.frames);
}

MOTUS_SUITE("order", TEST(mini_gops), TEST(orders), TEST(threads_give_one_stream),
            TEST(with_rate_control), TEST(failing_allocations), TEST(held_frames))
