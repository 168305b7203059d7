// SPDX-License-Identifier: BSD-2-Clause
#include "tests/tools/compare_material.h"

#include <stdio.h>

#include "tests/support/harness.h"
#include "tools/x264/x264.h"

void make_material(Material *m, MotusSynthConfig scene) {
    *m = (Material){.scene = scene};
    MotusError error = {0};
    MotusSynth *synth = NULL;
    MotusWriter *writer = NULL;
    MotusFrame *frame = NULL;
    const MotusSequenceInfo info = {.width = scene.width,
                                    .height = scene.height,
                                    .fps = {25, 1},
                                    .colour = MOTUS_COLOUR_UNKNOWN};
    MotusStatus status = motus_work_folder_make(&m->folder, &error);
    if (!status) status = motus_synth_open(&synth, &scene);
    if (!status) status = motus_frame_alloc(&frame, scene.width, scene.height);
    if (!status) status = motus_writer_open(&writer, m->folder.clip, &info, &error);
    for (int n = 0; n < FRAMES && !status; n++) {
        motus_synth_frame(synth, n, frame);
        status = motus_writer_put(writer, frame, &error);
    }
    if (!status) status = motus_writer_commit(&writer, &error);
    motus_writer_abandon(&writer);
    motus_frame_unref(&frame);
    motus_synth_close(&synth);
    MOTUS_CHECK(!status, "%s", error.text);
    m->clip = (MotusCompareClip){.path = m->folder.clip,
                                 .width = scene.width,
                                 .height = scene.height,
                                 .frames = FRAMES,
                                 .fps = {25, 1}};
}

MotusSynthConfig lively(int width, int height) {
    MotusSynthConfig c = motus_synth_config_default(width, height);
    c.seed = motus_test_random();
    c.pan_x = motus_test_range(-20, 20);
    c.pan_y = motus_test_range(-12, 12);
    c.objects = 6;
    c.noise = 3;
    c.flat = 10;
    return c;
}

int have_x264(void) {
    char text[128];
    MotusWorkFolder folder = {0};
    const int have = !motus_work_folder_make(&folder, NULL) &&
                     !motus_x264_version("x264", folder.log, text, sizeof text, NULL, NULL);
    motus_work_folder_remove(&folder);
    if (!have) motus_test_skip("x264 is not installed");
    return have;
}

MotusBytes encode_x264(const Material *m, int qp, const char *const *words) {
    MotusError error = {0};
    MotusBytes bytes = {0};
    MotusX264Times times;
    const MotusX264Job job = {.program = "x264",
                              .words = words,
                              .qp = qp,
                              .threads = 1,
                              .range = 16,
                              .input = m->folder.clip,
                              .output = m->folder.stream,
                              .log = m->folder.log,
                              .frames = FRAMES};
    MOTUS_CHECK(!motus_x264_encode(&job, &times, &error), "%s", error.text);
    FILE *file = fopen(m->folder.stream, "rb");
    uint8_t part[4096];
    for (size_t n; file && (n = fread(part, 1, sizeof part, file));)
        motus_bytes_add(&bytes, part, n);
    if (file) fclose(file);
    return bytes;
}

MotusOurStream encode_ours(const Material *m, int qp, MotusPreset preset, MotusProfile profile) {
    MotusEncoderConfig config =
        motus_encoder_config_default(m->clip.width, m->clip.height, m->clip.fps);
    MotusOurStream out;
    MotusError error = {0};
    config.qp = qp;
    config.keyint = 0;
    config.preset = preset;
    config.profile = profile;
    config.backend = MOTUS_BACKEND_CPU;
    config.threads = 1;
    MOTUS_CHECK(!motus_our_encode(&config, &m->clip, NULL, NULL, &out, &error), "%s", error.text);
    return out;
}

MotusExtraction check_extraction(const uint8_t *data, size_t size, const char *what) {
    MotusH264Reader *stream = NULL;
    MotusStreamDecoder *decoder = NULL;
    MotusParsedPicture picture;
    MotusDecoded decoded;
    MotusExtraction e = {0};
    MotusError error = {0};
    int pictures = 0;
    MotusStatus status = motus_h264_open(&stream, data, size, NULL);
    if (!status) status = motus_stream_decoder_open(&decoder, &error);
    while (!status && !(status = motus_h264_next(stream, &picture))) {
        status = motus_stream_decoder_next(decoder, data + picture.begin,
                                           picture.end - picture.begin, &decoded, &error);
        if (!status) status = motus_extraction_add(&e, &picture, &decoded);
        pictures++;
    }
    MOTUS_CHECK(
        status == MOTUS_END && pictures == FRAMES, "%s: %s %s, %d pictures", what, error.text,
        status == MOTUS_ERR_FORMAT && motus_h264_error(stream) ? motus_h264_error(stream) : "",
        pictures);
    MOTUS_CHECK(e.compared > 0 && e.equal == e.compared && e.unknown == 0,
                "%s: %llu of %llu vectors agree, %llu unknown", what, (unsigned long long)e.equal,
                (unsigned long long)e.compared, (unsigned long long)e.unknown);
    motus_h264_close(&stream);
    motus_stream_decoder_close(&decoder);
    return e;
}
