// Suite device: the CUDA backend runs and AUTO chooses it. Suite devices: one encoder's GOP coders
// on several devices, and encoders of one process, each on a device of its own.
// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>

#include "tests/gpu/sequence.h"

static void auto_takes_cuda(void) {
    MotusBackend chosen = MOTUS_BACKEND_AUTO;
    CU_ASSERT_EQUAL(motus_backend_choose(MOTUS_BACKEND_AUTO, &chosen), MOTUS_OK);
    CU_ASSERT_EQUAL(chosen, MOTUS_BACKEND_CUDA);
}

// ---- GOP coders on all devices ------------------------------------------------------------------

// GOP coders on all devices, in another order than CUDA's; frames in host memory and on any device.
// A single device makes a list, too.
static void gop_coders_on_all_devices(void) {
    int n = 0, list[16], none = 16;
    CU_ASSERT_FATAL(GPU_OK(cudaGetDeviceCount(&n)));
    n = n > 16 ? 16 : n;
    printf("%d devices\n", n);
    for (int i = 0; i < n; i++) list[i] = n - 1 - i;
    for (int c = 0; c < 8; c++) {
        Sequence s;
        MotusEncoder *enc = NULL;
        MotusError error = {0};
        DeviceFrame d[16];
        ((c / 2 ^ c / 4) % 2 ? make_rated_sequence : make_sequence)(&s, c % 2 ? 176 : 130,
                                                                    c % 2 ? 144 : 66);
        s.config.gop_coders = (int[]){0, n, 2 * n + 1, 1}[c / 2];
        s.config.stream_only = c % 2;
        s.config.n_devices = c / 2 % 2 ? n : MOTUS_ALL_DEVICES;
        s.config.devices = c / 2 % 2 ? list : NULL;
        for (int i = 0; i < n; i++) {
            GPU_OK(cudaSetDevice(i));
            d[i] = device_frame(s.config.width, s.config.height, 5, 3);
        }
        GPU_OK(cudaSetDevice(0));
        MotusStatus opened = motus_encoder_open(&enc, &s.config, &error);
        MOTUS_CHECK(!opened, "%d: %s", opened, error.text);
        for (int turn = 0, sent = 0; !opened && turn < 3; turn++) {
            for (int i = 0; i < N_FRAMES; i++, sent++) {
                const int at = sent % (n + 1);
                if (at < n) {
                    GPU_OK(cudaSetDevice(at));
                    upload(&d[at], s.frame[i], NULL);
                    // The current device does not matter: frames tell where they lie.
                    GPU_OK(cudaSetDevice(sent % n));
                }
                MotusStatus status = at < n
                                         ? motus_encoder_send_device(enc, d[at].frame, NULL, NULL)
                                         : motus_encoder_send(enc, s.frame[i], NULL);
                MOTUS_CHECK(!status, "frame %d of device %d: %s", i, at,
                            motus_encoder_error(enc)->text);
            }
            for (int i = 0; i < N_FRAMES; i++)
                MOTUS_CHECK(as_wanted(enc, &s, i), "%d devices, %d GOP coders, picture %d", n,
                            s.config.gop_coders, i);
            motus_encoder_close(&enc);
            opened = motus_encoder_open(&enc, &s.config, &error);
        }
        motus_encoder_close(&enc);
        for (int i = 0; i < n; i++) drop_device_frame(&d[i]);
        GPU_OK(cudaSetDevice(0));
        drop_sequence(&s);
    }
    MotusEncoderConfig c = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    MotusError error = {0};
    MotusEncoder *enc = NULL;
    c.backend = MOTUS_BACKEND_CUDA;
    c.devices = &none;
    c.n_devices = 1;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &c, &error), MOTUS_ERR_NO_DEVICE);
    MOTUS_CHECK(strstr(error.text, "16") != NULL, "%s", error.text);
}

// ---- An encoder per device ----------------------------------------------------------------------

// An encoder with a thread of its own.
typedef struct Encoding {
    Sequence sequence;
    pthread_t thread;
    int device, as_wanted;
} Encoding;

enum { TURNS = 4 };

// Sends frames from host memory and from the device in turn; packets go to either.
static void *encode(void *argument) {
    Encoding *e = argument;
    MotusEncoderConfig *c = &e->sequence.config;
    if (cudaSetDevice(e->device)) return NULL;
    DeviceFrame d = device_frame(c->width, c->height, 3, 1);
    c->device = e->device;
    for (int turn = 0; turn < TURNS; turn++) {
        MotusEncoder *enc;
        c->packet_memory = turn & 1 ? MOTUS_MEMORY_DEVICE : MOTUS_MEMORY_HOST;
        c->gop_coders = 1 + turn;
        if (motus_encoder_open(&enc, c, NULL)) break;
        for (int i = 0; i < N_FRAMES; i++) {
            MotusStatus status;
            if ((turn + i) & 1) {
                upload(&d, e->sequence.frame[i], NULL);
                status = motus_encoder_send_device(enc, d.frame, NULL, NULL);
            } else {
                status = motus_encoder_send(enc, e->sequence.frame[i], NULL);
            }
            if (status) break;
        }
        for (int i = 0; i < N_FRAMES; i++) e->as_wanted += as_wanted(enc, &e->sequence, i);
        motus_encoder_close(&enc);
    }
    drop_device_frame(&d);
    return NULL;
}

// Two encoders, one after the other and at the same time.
static void encoders_on_two_devices(void) {
    static Encoding e[2];
    int n = 0;
    CU_ASSERT_FATAL(GPU_OK(cudaGetDeviceCount(&n)));
    if (n < 2) motus_test_skip("one CUDA device");
    if (n < 2) return;
    for (int k = 0; k < 2; k++) {
        make_sequence(&e[k].sequence, k ? 176 : 130, k ? 144 : 66);
        e[k].device = k;
    }
    for (int together = 0; together < 2; together++) {
        for (int k = 0; k < 2; k++) {
            e[k].as_wanted = 0;
            CU_ASSERT_EQUAL_FATAL(pthread_create(&e[k].thread, NULL, encode, &e[k]), 0);
            if (!together) pthread_join(e[k].thread, NULL);
        }
        for (int k = 0; k < 2; k++) {
            if (together) pthread_join(e[k].thread, NULL);
            MOTUS_CHECK(e[k].as_wanted == TURNS * N_FRAMES,
                        "device %d, %s: %d packets as they must be", k,
                        together ? "both at once" : "alone", e[k].as_wanted);
        }
    }
    for (int k = 0; k < 2; k++) drop_sequence(&e[k].sequence);
}

static const GpuRow device_rows[] = {GPU_TEST(auto_takes_cuda), {0}};
const GpuSuite gpu_device = {"device", device_rows};

static const GpuRow rows[] = {
    GPU_TEST(gop_coders_on_all_devices), GPU_TEST(encoders_on_two_devices), {0}};
const GpuSuite gpu_devices = {"devices", rows};
