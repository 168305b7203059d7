// MVs as FFmpeg's side data: searches a sequence like motus search, attaches the fields, and
//   av_vectors INPUT LIST MODES           lists the side data like motus search, without costs
//   av_vectors INPUT PICTURE.ppm N MODES  draws them with codecview on picture N (grey, P6)
// MODES is a mask of 1 << MotusMode.
// SPDX-License-Identifier: BSD-2-Clause
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/motion_vector.h>
#include <stdio.h>
#include <stdlib.h>

#include "interop/av.h"
#include "yuv/io/reader.h"

static int fail(const char *what) {
    fprintf(stderr, "av_vectors: %s\n", what);
    exit(EXIT_FAILURE);
}

// Returns the number of the block of this size at (x, y) of its macroblock.
static int block_of(int x, int y, int w, int h) {
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (motus_blocks[b].x == x && motus_blocks[b].y == y && motus_blocks[b].width == w &&
            motus_blocks[b].height == h)
            return b;
    return fail("a vector of no block");
}

static void list_vectors(FILE *out, const AVFrame *av, long frame) {
    const AVFrameSideData *side = av_frame_get_side_data(av, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t n = side ? side->size / sizeof(AVMotionVector) : 0;
    const int mb_width = (av->width + 15) / 16;
    for (size_t i = 0; i < n; i++) {
        const AVMotionVector *v = (const AVMotionVector *)side->data + i;
        const int x = v->dst_x - v->w / 2, y = v->dst_y - v->h / 2;
        if (v->source != -1 || v->motion_scale != 4 || v->flags ||
            v->src_x != v->dst_x + v->motion_x / 4 || v->src_y != v->dst_y + v->motion_y / 4)
            fail("a vector that is not as libavcodec has them");
        fprintf(out, "%ld,%d,%d,%d,%d,%d,%d,%d,%d\n", frame, y / 16 * mb_width + x / 16,
                block_of(x % 16, y % 16, v->w, v->h), v->w, v->h, x, y, v->motion_x, v->motion_y);
    }
}

// Draws the frame's MVs with codecview, and writes luma.
static void draw_vectors(FILE *out, AVFrame *av) {
    AVFilterGraph *graph = avfilter_graph_alloc();
    AVFilterContext *source = NULL, *view = NULL, *sink = NULL;
    AVFrame *drawn = av_frame_alloc(), *copy = av_frame_clone(av);
    char args[160];
    snprintf(args, sizeof args, "video_size=%dx%d:pix_fmt=%d:time_base=1/25:pixel_aspect=1/1",
             av->width, av->height, av->format);
    if (!graph ||
        avfilter_graph_create_filter(&source, avfilter_get_by_name("buffer"), "in", args, NULL,
                                     graph) < 0 ||
        avfilter_graph_create_filter(&view, avfilter_get_by_name("codecview"), "view", "mv_type=fp",
                                     NULL, graph) < 0 ||
        avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                     graph) < 0 ||
        avfilter_link(source, 0, view, 0) < 0 || avfilter_link(view, 0, sink, 0) < 0 ||
        avfilter_graph_config(graph, NULL) < 0)
        fail("no codecview");
    if (av_buffersrc_add_frame(source, copy) < 0 || av_buffersink_get_frame(sink, drawn) < 0)
        fail("codecview failed");
    fprintf(out, "P6\n%d %d\n255\n", drawn->width, drawn->height);
    for (int y = 0; y < drawn->height; y++)
        for (int x = 0; x < drawn->width; x++)
            for (int c = 0; c < 3; c++) putc(drawn->data[0][y * drawn->linesize[0] + x], out);
    av_frame_free(&copy);
    av_frame_free(&drawn);
    avfilter_graph_free(&graph);
}

static void search_all(MotusReader *reader, FILE *out, long wanted, uint32_t modes) {
    const MotusSequenceInfo *info = motus_reader_info(reader);
    MotusMeConfig config = motus_me_config_default(info->width, info->height);
    MotusMe *me = NULL;
    MotusField *field = NULL;
    MotusFrame *cur = NULL, *ref = NULL;
    config.modes = modes;
    config.backend = MOTUS_BACKEND_CPU;
    if (motus_me_open(&me, &config) || motus_field_alloc(&field, info->width, info->height))
        fail("no search");
    for (long n = 0; !motus_reader_next(reader, &cur, NULL); n++) {
        AVFrame *av = NULL;
        if (ref && (wanted < 0 || n == wanted)) {
            if (motus_me_search(me, &cur->plane[0], &ref->plane[0], NULL, field))
                fail("the search failed");
            if (motus_frame_to_av(&av, cur) || motus_field_to_av(av, field, modes))
                fail("no side data");
            if (wanted < 0)
                list_vectors(out, av, n);
            else
                draw_vectors(out, av);
            av_frame_free(&av);
        }
        motus_frame_unref(&ref);
        ref = cur;
        cur = NULL;
    }
    motus_frame_unref(&ref);
    motus_field_free(&field);
    motus_me_close(&me);
}

int main(int argc, char **argv) {
    MotusReader *reader = NULL;
    MotusError error = {0};
    const MotusReaderOptions options = {0};
    if (argc < 4) return 2;
    if (motus_reader_open(&reader, argv[1], &options, &error)) fail(error.text);
    FILE *out = fopen(argv[2], "wb");
    if (!out) fail("the output cannot be opened");
    search_all(reader, out, argc > 4 ? strtol(argv[3], NULL, 10) : -1,
               (uint32_t)strtoul(argv[argc - 1], NULL, 0));
    motus_reader_close(&reader);
    return fclose(out) ? EXIT_FAILURE : EXIT_SUCCESS;
}
