// Plans of a lookahead on a device must be the CPU's, whatever the depth, AQ and mb-tree, and
// however many pictures are pending.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/lookahead.h"
#include "tests/gpu/sequence.h"

void gpu_plans_agree(void); // of the suite lookahead

enum { PICTURES = 40, FIRST_SEGMENT = 28, IDR = 11 }; // picture 11 is forced to be IDR

typedef struct Plans {
    MotusLookaheadPlan plan[PICTURES];
    int16_t *offset[PICTURES];
    int n;
} Plans;

// Frames in both memories, with cuts between some of them.
typedef struct Clip {
    MotusFrame *host[PICTURES];
    DeviceFrame device[PICTURES];
} Clip;

static void make_clip(Clip *clip, int width, int height) {
    for (int i = 0, content = MOTUS_MATERIAL_SCENE; i < PICTURES; i++) {
        if (!motus_test_range(0, 7)) content = motus_test_range(0, GPU_PICTURES - 1);
        clip->host[i] = gpu_picture(content, width, height, i);
        clip->device[i] = device_frame(width, height, 5, 0);
        upload(&clip->device[i], clip->host[i], NULL);
    }
    GPU_OK(cudaDeviceSynchronize());
}

static void drop_clip(Clip *clip) {
    for (int i = 0; i < PICTURES; i++) {
        drop_device_frame(&clip->device[i]);
        motus_frame_unref(&clip->host[i]);
    }
}

// Puts picture i, each third one from device memory, and checks the upload of the others.
static void put(MotusLookahead *look, const Clip *clip, int i, int device) {
    int idr = i == IDR;
    const int on_device = device != MOTUS_LOOKAHEAD_HOST && i % 3 == 1;
    const MotusFrame *host = clip->host[i];
    const MotusFrameSource source = {on_device ? clip->device[i].frame : host, on_device, NULL};
    MotusFrameSource up;
    CU_ASSERT_EQUAL(motus_lookahead_put(look, &source, &idr, NULL), MOTUS_OK);
    const int is_up = motus_lookahead_uploaded(look, device, &up);
    CU_ASSERT(is_up == (device != MOTUS_LOOKAHEAD_HOST && !on_device));
    CU_ASSERT(!motus_lookahead_uploaded(look, device + 1, &up));
    for (int p = 0; is_up && p < 3; p++) {
        const MotusPlane *want = &host->plane[p], *got = &up.frame->plane[p];
        uint8_t row[512];
        CU_ASSERT(got->width == want->width && got->height == want->height);
        for (int y = 0; y < want->height; y += want->height / 2 + 1) {
            GPU_OK(cudaMemcpy(row, got->data + y * got->stride, (size_t)got->width,
                              cudaMemcpyDeviceToHost));
            MOTUS_CHECK(!memcmp(row, want->data + y * want->stride, (size_t)want->width),
                        "picture %d plane %d row %d", i, p, y);
        }
    }
}

// Begins pictures from *begun on, before `end`: as many as may be pending, or fewer, and picture i
// at least. Then waits for the oldest type.
static void begin_and_wait(MotusLookahead *look, const Clip *clip, int i, int end, int *begun,
                           cudaEvent_t filled) {
    int idr;
    for (const int most = motus_test_range(1, MOTUS_LOOKAHEAD_MAX_PENDING);
         *begun < end && (*begun <= i || *begun - i < most); ++*begun) {
        GPU_OK(cudaEventRecord(filled, NULL));
        CU_ASSERT_EQUAL(motus_lookahead_begin(look, &clip->device[*begun].frame->plane[0], filled,
                                              *begun == IDR, NULL),
                        MOTUS_OK);
    }
    CU_ASSERT_EQUAL(motus_lookahead_wait_type(look, &idr, NULL), MOTUS_OK);
}

// Plans two segments of a stream; some pictures are put, taken back and put again. pending: they
// begin, many at a time, and are waited for afterwards.
static void plan_all(Plans *out, const MotusLookaheadSettings *s, const Clip *clip, int device,
                     int pending) {
    MotusLookahead *look;
    MotusError error = {0};
    int i = 0, begun = 0, ended = 0;
    cudaEvent_t filled;
    out->n = 0;
    GPU_OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    MOTUS_CHECK(motus_lookahead_open(&look, s, device, &error) == MOTUS_OK, "%s", error.text);
    CU_ASSERT_FATAL(look != NULL && motus_lookahead_device(look) == device);
    for (MotusStatus status = MOTUS_AGAIN; out->n < PICTURES;) {
        if (status == MOTUS_END) motus_lookahead_next_segment(look, 1000), ended = 0;
        if (status && (i == PICTURES || (i == FIRST_SEGMENT && out->n < FIRST_SEGMENT && !ended))) {
            motus_lookahead_end(look);
            ended = 1;
        } else if (status && pending) {
            begin_and_wait(look, clip, i, i < FIRST_SEGMENT ? FIRST_SEGMENT : PICTURES, &begun,
                           filled);
            i++;
        } else if (status) {
            for (int again = i % (PICTURES / 5) == 3; again >= 0; again--) {
                put(look, clip, i, device);
                if (again) motus_lookahead_undo(look);
            }
            i++;
        }
        status = motus_lookahead_get(look, &out->plan[out->n], out->offset[out->n], &error);
        MOTUS_CHECK(status >= 0, "%s", error.text);
        if (status < 0) break;
        out->n += !status;
    }
    motus_lookahead_close(&look);
    GPU_OK(cudaEventDestroy(filled));
}

static void compare_plans(const Plans *want, const Plans *got, size_t n_mb, const char *what) {
    CU_ASSERT(want->n == PICTURES && got->n == PICTURES);
    for (int i = 0; i < got->n; i++) {
        const MotusLookaheadPlan *a = &want->plan[i], *b = &got->plan[i];
        MOTUS_CHECK(a->number == b->number && a->idr == b->idr && a->forced == b->forced &&
                        a->has_offsets == b->has_offsets && a->cost == b->cost &&
                        a->intra == b->intra,
                    "%s: picture %d", what, i);
        MOTUS_CHECK(a->weighted == b->weighted && a->mean == b->mean &&
                        !memcmp(want->offset[i], got->offset[i], n_mb * 2),
                    "%s: offsets of picture %d", what, i);
    }
}

void gpu_plans_agree(void) {
    static const int depths[] = {20, 0, 1, 9, 40}, keyints[] = {250, 7, 0};
    for (int k = 0; k < 30; k++) {
        const int width = motus_test_range(1, 100) * 2, height = motus_test_range(1, 60) * 2;
        const size_t n_mb = (size_t)((width + 15) / 16 * ((height + 15) / 16));
        const MotusLookaheadSettings s = {.mb_width = (width + 15) / 16,
                                          .mb_height = (height + 15) / 16,
                                          .threads = 1,
                                          .depth = depths[k % 5],
                                          .keyint = keyints[k / 5 % 3],
                                          .min_keyint = 2,
                                          .scenecut = k % 4 ? 40 : 0,
                                          .aq_mode = (MotusAqMode)(k % 3),
                                          .aq_strength_q8 = 256,
                                          .mb_tree_q8 = k / 3 % 4 ? 512 : 0};
        char what[100];
        snprintf(what, sizeof what, "%dx%d, depth %d, AQ %d, mb-tree %d", width, height, s.depth,
                 (int)s.aq_mode, s.mb_tree_q8);
        Clip clip;
        static Plans plans[2];
        for (int i = 0; i < 2 * PICTURES; i++) plans[i & 1].offset[i / 2] = malloc(n_mb * 2);
        make_clip(&clip, width, height);
        plan_all(&plans[0], &s, &clip, MOTUS_LOOKAHEAD_HOST, 0);
        for (int pending = 0; pending < 2; pending++) {
            plan_all(&plans[1], &s, &clip, 0, pending);
            compare_plans(&plans[0], &plans[1], n_mb, what);
        }
        drop_clip(&clip);
        for (int i = 0; i < 2 * PICTURES; i++) free(plans[i & 1].offset[i / 2]);
    }
}
