// Reference picture lists: against sorted lists of random DPBs (8.2.4.2), and the command that puts
// another picture first (8.2.4.3.1).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/ref_lists.h"

#include <stdlib.h>

#include "tests/support/harness.h"

typedef struct Random {
    MotusDpb dpb;
    int added;
    MotusDpbPicture all[12]; // in coding order
} Random;

// Adds up to 12 pictures that are shown in any order.
static void fill(Random *r) {
    int32_t shown[12];
    *r = (Random){.dpb.size = motus_test_range(1, MOTUS_MAX_REFERENCES),
                  .added = motus_test_range(1, 12)};
    for (int i = 0; i < 12; i++) {
        const int k = motus_test_range(0, i);
        shown[i] = shown[k];
        shown[k] = 2 * i; // odd ones are free for the current picture
    }
    for (int i = 0; i < r->added; i++) {
        r->all[i] = (MotusDpbPicture){.shown = shown[i], .frame_num = (uint32_t)i};
        motus_dpb_add(&r->dpb, shown[i], (uint32_t)i, NULL, 0);
    }
}

static void sliding_window(void) {
    for (int round = 0; round < 1000; round++) {
        Random r;
        fill(&r);
        CU_ASSERT_EQUAL(r.dpb.n, r.added < r.dpb.size ? r.added : r.dpb.size);
        for (int i = 0; i < r.dpb.n; i++) {
            CU_ASSERT_EQUAL(r.dpb.picture[i].shown, r.all[r.added - 1 - i].shown);
            CU_ASSERT_EQUAL(r.dpb.picture[i].frame_num, r.all[r.added - 1 - i].frame_num);
        }
    }
}

// Keeps the pictures that are shown last: the command names the one that goes, the newcomer gets
// its slot, and nobody shares one.
static void drops_first_shown(void) {
    for (int round = 0; round < 2000; round++) {
        Random r;
        fill(&r);
        r.dpb.drops_first_shown = 1;
        const MotusDpb before = r.dpb;
        const int is_full = before.n == before.size;
        int k = 0, slots = 0;
        for (int i = 1; i < before.n; i++)
            if (before.picture[i].shown < before.picture[k].shown) k = i;
        const uint32_t command = motus_dpb_drop_command(&r.dpb, 12);
        CU_ASSERT_EQUAL(command,
                        is_full && k < before.n - 1 ? 12 - before.picture[k].frame_num : 0);
        motus_dpb_add(&r.dpb, 99, 12, NULL, 0);
        CU_ASSERT(r.dpb.n == before.n + !is_full && r.dpb.picture[0].shown == 99);
        if (is_full) CU_ASSERT_EQUAL(r.dpb.picture[0].slot, before.picture[k].slot);
        for (int i = 0, at = 1; i < before.n; i++) {
            if (is_full && i == k) continue;
            CU_ASSERT_EQUAL(r.dpb.picture[at++].frame_num, before.picture[i].frame_num);
        }
        for (int i = 0; i < r.dpb.n; i++) slots |= 1 << r.dpb.picture[i].slot;
        CU_ASSERT_EQUAL(slots, (1 << r.dpb.n) - 1);
    }
}

// Place of a picture in list `list` of the one shown at `shown`: first one side, then the other.
static int rank(int32_t a, int32_t shown, int list) {
    return ((a > shown) != list ? 1000 : 0) + abs(a - shown);
}

static void default_lists(void) {
    for (int round = 0; round < 5000; round++) {
        Random r;
        MotusDpbPicture entry[MOTUS_MAX_REFERENCES];
        fill(&r);
        const int32_t shown = 2 * motus_test_range(0, 12) - 1;
        CU_ASSERT_EQUAL(motus_default_list(&r.dpb, MOTUS_SLICE_P, shown, 0, entry), r.dpb.n);
        for (int i = 1; i < r.dpb.n; i++) CU_ASSERT(entry[i].frame_num < entry[i - 1].frame_num);
        for (int list = 0; list < 2; list++) {
            const int n = motus_default_list(&r.dpb, MOTUS_SLICE_B, shown, list, entry);
            int later = 0;
            for (int i = 0; i < n; i++) later += entry[i].shown > shown;
            const int swapped = list && n > 1 && (later == 0 || later == n);
            CU_ASSERT_EQUAL(n, r.dpb.n);
            for (int i = 1; i < n; i++)
                MOTUS_CHECK((rank(entry[i].shown, shown, list) >
                             rank(entry[i - 1].shown, shown, list)) == !(swapped && i == 1) ||
                                (swapped && i == 2),
                            "list %d, entry %d", list, i);
        }
    }
}

static void commands(void) {
    for (int round = 0; round < 5000; round++) {
        Random r;
        MotusDpbPicture entry[MOTUS_MAX_REFERENCES];
        fill(&r);
        const MotusSliceType type = motus_test_range(0, 1) ? MOTUS_SLICE_P : MOTUS_SLICE_B;
        const int list = type == MOTUS_SLICE_B && motus_test_range(0, 1);
        const int32_t shown = 2 * motus_test_range(0, 12) - 1;
        const int n = motus_default_list(&r.dpb, type, shown, list, entry),
                  wanted = motus_test_range(0, n - 1);
        const uint32_t frame_num = (uint32_t)r.added,
                       command = motus_list_command(&r.dpb, type, shown, frame_num, list,
                                                    entry[wanted].shown);
        CU_ASSERT_EQUAL(command, wanted ? frame_num - entry[wanted].frame_num : 0);
    }
}

MOTUS_SUITE("ref_lists", TEST(sliding_window), TEST(drops_first_shown), TEST(default_lists),
            TEST(commands))
