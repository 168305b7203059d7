// motus search: the motion field between consecutive frames.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "motus/me_request.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"
#include "tools/search/field_file.h"

static const char about[] =
    "Searches each frame of INPUT in the one before and writes the best vectors of all 41 blocks\n"
    "of each macroblock: one of 16x16, two each of 16x8 and 8x16, four of 8x8, eight each of 8x4\n"
    "and 4x8, sixteen of 4x4. The search is exhaustive; the frame's edge samples are repeated\n"
    "beyond it. FIELD is .csv (- is standard output) or .npy, a NumPy structured array, with one\n"
    "row per block:\n"
    "  frame,mb,block,w,h,x,y,mv_x,mv_y,sad,cost\n"
    "mv in quarter samples from the block to its match in the frame before; sad at mv; cost =\n"
    "SAD (with --subpel full) or SATD, plus lambda * length of mv's code / 256.\n"
    "\n"
    "Other shapes (--format, docs/interop.md) have one partition per macroblock, that of the\n"
    "least cost, so they need a --lambda. flo: dense flow, a file per picture; flow: the same as\n"
    "a NumPy array; nvenc: NV_ENC_H264_MV_DATA; nvenc-hints: its external hints; fei: MV[16][2].\n"
    "\n"
    "Examples:\n"
    "  motus search film.y4m -o field.csv              quarter samples, +-16, all 41 blocks\n"
    "  motus search film.y4m -o field.npy --modes 16x16,8x8 --range 32\n"
    "  motus search film.y4m -o flow-%04d.flo --lambda 1500\n"
    "  motus search film.mp4 -o - --frames 2 --subpel full | head\n"
    "                                                  full samples, plain SAD\n";

typedef struct SearchOptions {
    const char *input, *output;
    int frames, lambda, quiet;
    MotusReaderOptions reader;
    int size[2], format; // MotusFieldFormat; -1: by the output's name
    MotusMeConfig me;    // without size, which the input gives
    MotusOverwrite overwrite;
} SearchOptions;

typedef struct SearchJob {
    const SearchOptions *options;
    MotusReader *reader;
    MotusMe *me;
    MotusField *field;
    MotusMeReference *reference[2]; // frame i is kept in number i & 1
    MotusFieldOut *out;
    int64_t frames; // read so far
    MotusError *error;
} SearchJob;

static int parse(SearchOptions *o, int argc, char **argv) {
    MotusMeConfig *me = &o->me;
    const char *input = NULL, *operands[2];
    const MotusOption options[] = {
        MOTUS_TEXT("output", 'o', &o->output, "FIELD", "output file, .csv, .npy or .flo"),
        MOTUS_OPTION_INPUT(&input),
        MOTUS_OPTIONS_OVERWRITE(&o->overwrite),
        MOTUS_INT("range", 0, &me->range, 1, MOTUS_MAX_RANGE, "search +-N samples (16)"),
        MOTUS_WORD("subpel", &me->subpel, "LEVEL",
                   "full, half or quarter samples; best: quarter samples from several starts "
                   "(quarter)",
                   MOTUS_SUBPEL_WORDS "best\0"),
        {"modes", 0, &me->modes, motus_option_modes, 0, 0, "LIST",
         "all, or of 16x16,16x8,8x16,8x8,8x4,4x8,4x4 (all)"},
        MOTUS_INT("lambda", 0, &o->lambda, 0, MOTUS_MAX_LAMBDA_Q8,
                  "weight of a vector's bits, in 1/256 (0)"),
        MOTUS_INT("frames", 'n', &o->frames, 2, INT_MAX, "read at most N frames"),
        MOTUS_OPTION_SIZE(o->size),
        MOTUS_OPTION_DEINTERLACE(&o->reader.deinterlace, "auto, off or on (auto)"),
        MOTUS_OPTION_THREADS(&me->threads, "threads, 0 = all cores (0); same field for any number"),
        MOTUS_OPTION_BACKEND(&me->backend),
        MOTUS_WORD("format", &o->format, "NAME",
                   "csv, npy, flo, flow, nvenc, nvenc-hints or fei (by the output's name)",
                   MOTUS_FIELD_FORMAT_WORDS),
        MOTUS_FLAG("quiet", &o->quiet, "no live line"),
        {0},
    };
    const MotusCommand command = {"search", "INPUT -o FIELD [options]", about, options, operands,
                                  2};
    int status = motus_options_parse(&command, argc, argv);
    if (status < 0) status = motus_options_input("search", input, operands, &o->input, &o->output);
    if (status >= 0) return status;
    if (!o->input) return motus_usage_error("search", "the input is missing");
    if (!o->output) return motus_usage_error("search", "the output is missing: -o FILE");
    if (o->format < 0) o->format = motus_field_format_of(o->output);
    if (o->format < 0)
        return motus_usage_error(
            "search", "-o %s: must end in .csv, .npy or .flo; --format says what else to write",
            o->output);
    if (o->format >= MOTUS_FIELD_FLO && !(me->modes >> MOTUS_MODE_16x16 & 1))
        return motus_usage_error("search", "--modes: %s needs 16x16 among them",
                                 motus_word(MOTUS_FIELD_FORMAT_WORDS, o->format));
    o->reader.width = o->size[0], o->reader.height = o->size[1], o->reader.threads = me->threads;
    o->reader.log = motus_print_log, o->reader.opaque = &o->quiet,
    o->reader.interrupted = motus_signal_caught;
    const MotusInputName name = {o->input, "the input"};
    status = motus_check_names("search", &name, 1, &o->output, 1);
    return status < 0 ? motus_may_overwrite(o->overwrite, &o->output, 1) : status;
}

static MotusStatus open_all(SearchJob *s) {
    const SearchOptions *o = s->options;
    MotusStatus status = motus_backend_check(o->me.backend, s->error);
    if (!status) status = motus_reader_open(&s->reader, o->input, &o->reader, s->error);
    if (status) return status;
    const MotusSequenceInfo *info = motus_reader_info(s->reader);
    MotusMeConfig config = o->me;
    config.width = info->width;
    config.height = info->height;
    MotusError cuda = {0};
    config.error = &cuda;
    status = motus_me_open(&s->me, &config);
    if (!status) status = motus_field_alloc(&s->field, info->width, info->height);
    for (int i = 0; i < 2 && !status; i++)
        status = motus_me_reference_alloc(&s->reference[i], s->me);
    if (status)
        return motus_fail(s->error, status, "%s: search: %s", motus_shown(o->input),
                          cuda.text[0] ? cuda.text : motus_status_text(status));
    if (cuda.text[0]) // with --backend auto
        motus_warn("the CUDA device cannot be used (%s); searching on the CPU", cuda.text);
    return motus_field_out_open(&s->out, o->output, (MotusFieldFormat)o->format, info->width,
                                info->height, s->error);
}

static MotusStatus next_frame(SearchJob *s, MotusFrame **frame) {
    int64_t limit = s->options->frames;
    if (motus_signal_caught() || (limit && s->frames >= limit)) return MOTUS_END;
    MotusStatus status = motus_reader_next(s->reader, frame, s->error);
    if (status < 0 && motus_signal_caught()) return MOTUS_END;
    if (status != MOTUS_ERR_TRUNCATED || s->frames < 2) return status;
    motus_warn("%s", s->error->text);
    return MOTUS_END;
}

static MotusStatus search_all(SearchJob *s) {
    MotusFrame *frame = NULL;
    int64_t total = motus_reader_info(s->reader)->frames;
    if (s->options->frames && (total < 0 || total > s->options->frames)) total = s->options->frames;
    const MotusMeHints hints = {.lambda_q8 = (uint32_t)s->options->lambda};
    MotusProgress progress = motus_progress_begin(total, s->options->quiet);
    MotusStatus status = MOTUS_OK;
    while (!status && !(status = next_frame(s, &frame))) {
        const MotusMeTarget target = {.reference = s->reference[(s->frames + 1) & 1],
                                      .hints = &hints,
                                      .mv = s->field->mv[0],
                                      .sad = s->field->sad[0],
                                      .cost = s->field->cost[0]};
        MotusMeRequest request = motus_me_request_default(&frame->plane[0], &target, s->frames > 0);
        request.keep = s->reference[s->frames++ & 1];
        status = motus_me_request(s->me, &request);
        if (!status) status = motus_me_wait(s->me, NULL, -1);
        const char *cuda = motus_me_error(s->me)->text;
        if (status)
            motus_fail(s->error, status, "search: %s", cuda[0] ? cuda : motus_status_text(status));
        else if (s->frames > 1)
            status = motus_field_out_picture(s->out, s->frames - 1, s->field, s->options->me.modes,
                                             s->error);
        motus_frame_unref(&frame);
        motus_progress_show(&progress, s->frames, "");
    }
    motus_progress_end(&progress);
    if (status != MOTUS_END) return status;
    if (s->frames < 2 && !motus_signal_caught())
        return motus_fail(s->error, MOTUS_ERR_TRUNCATED, "%s: has no second frame to search",
                          motus_shown(s->options->input));
    return MOTUS_OK;
}

int motus_cmd_search(int argc, char **argv) {
    SearchOptions o = {.format = -1, .me = motus_me_config_default(1, 1)};
    int status = parse(&o, argc, argv);
    if (status >= 0) return status;
    motus_signals_catch();
    MotusError error = {0};
    SearchJob s = {.options = &o, .error = &error};
    MotusStatus done = open_all(&s);
    if (!done) done = search_all(&s);
    int interrupted = motus_signal_caught();
    if (!done) {
        motus_signals_finish();
        done = motus_field_out_commit(&s.out, &error);
    }
    motus_field_out_abandon(&s.out);
    motus_field_free(&s.field);
    for (int i = 0; i < 2; i++) motus_me_reference_unref(&s.reference[i]);
    motus_me_close(&s.me);
    motus_reader_close(&s.reader);
    return motus_exit_status(done, &error, interrupted);
}
