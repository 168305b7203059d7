// motus compare: MVs, costs, rate and distortion beside x264's, as a report.
// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/cli/signals.h"
#include "tools/compare/compare.h"

static const char about[] =
    "Encodes each INPUT with the program x264 and with motus, searches motion vectors in x264's\n"
    "own pictures (its source in its own reference), and writes REPORT_DIR/index.html: how\n"
    "motus's vectors differ from x264's, which match better, where, and what it means in bits.\n"
    "\n"
    "Examples:\n"
    "  motus compare foreman.y4m -o report           QPs 22, 27, 32, 37; open report/index.html\n"
    "  motus compare foreman.y4m -o report --qp 28 --frames 100\n"
    "  motus compare *.y4m -o report --settings curves.txt\n"
    "                                                any number of settings of both, for curves:\n"
    "                                                  x264 medium: --preset medium\n"
    "                                                  x264 fast: --preset faster\n"
    "                                                  motus slow: --preset slow\n"
    "                                                  motus fast: --preset fast --range 12\n"
    "                                                the first of each are compared by block\n"
    "  motus compare clip.mp4 -o report --x264-args '--me esa --subme 0 --partitions all'\n"
    "                                                x264's exhaustive whole-sample search\n"
    "  motus synth pan.y4m --pan 1.25,-0.5 --vectors pan.csv &&\n"
    "    motus compare pan.y4m -o report --truth pan.csv\n"
    "                                                with ground truth\n"
    "\n"
    "x264 runs with --profile baseline --preset medium --tune psnr --ref 1 --bframes 0\n"
    "--weightp 0 --keyint infinite --no-scenecut; --x264-args or the settings override these.\n"
    "--json has the report's numbers, --csv a row for each block (docs/compare.md). Ctrl-C\n"
    "leaves a report of what is done.\n";

typedef struct ParsedOptions {
    int qp;
    const char *x264_args, *settings;
} ParsedOptions;

// Reads "22,27,32" into options->qp.
static int option_qps(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusCompareOptions *o = option->value;
    o->n_qps = 0;
    for (const char *p = text;; p++) {
        char *end;
        const long qp = strtol(p, &end, 10);
        if (end == p || qp < 0 || qp > 51 || o->n_qps == MOTUS_COMPARE_QPS || (*end && *end != ','))
            break;
        for (int i = 0; i < o->n_qps; i++)
            if (o->qp[i] == qp) {
                snprintf(cause, size, "has %ld twice", qp);
                return 0;
            }
        o->qp[o->n_qps++] = (int)qp;
        if (!*end) return 1;
        p = end;
    }
    snprintf(cause, size, "must be numbers from 0 to 51 with commas between them, %d at most",
             MOTUS_COMPARE_QPS);
    return 0;
}

static int parse(MotusCompareOptions *o, ParsedOptions *parsed, int argc, char **argv) {
    const MotusOption options[] = {
        {"output", 'o', &o->folder, motus_option_text, 0, 0, "REPORT_DIR",
         "where the report goes; must not exist"},
        {"force", 0, &o->force, NULL, 1, 0, NULL, "write into a folder that exists"},
        {"qp", 'q', &parsed->qp, motus_option_int, 0, 51, "N", "one quantizer"},
        {"qps", 0, o, option_qps, 0, 0, "LIST", "several (22,27,32,37)"},
        {"frames", 'n', &o->frames, motus_option_int, 2, INT_MAX, "N", "only the first N frames"},
        {"range", 0, &o->range, motus_option_int, 1, MOTUS_MAX_RANGE, "R",
         "search +-R samples, both (x264's own, 16)"},
        MOTUS_WORD("subpel", &o->subpel, "LEVEL",
                   "full, half, quarter or best of our search (as x264's --subme says: full or "
                   "best)",
                   MOTUS_SUBPEL_WORDS "best\0"),
        {"bound", 0, &o->bound, motus_option_int, 1, INT_MAX, "N",
         "compare N pictures of each run with the least cost possible; slow"},
        {"x264", 0, &o->x264, motus_option_text, 0, 0, "PATH",
         "the program (x264, found on the PATH)"},
        {"x264-args", 0, &parsed->x264_args, motus_option_text, 0, 0, "\"...\"",
         "further options for x264"},
        {"settings", 0, &parsed->settings, motus_option_text, 0, 0, "FILE",
         "settings of both for the curves, one a line"},
        {"threads", 't', &o->threads, motus_option_int, 1, 256, "N",
         "threads of either encoder and of the search (1)"},
        {"truth", 0, &o->truth, motus_option_text, 0, 0, "FILE.csv",
         "true vectors of the input (motus synth --vectors)"},
        {"page-mb", 0, &o->page_mb, motus_option_int, 0, 4000, "N",
         "MB of frames in the page, 0 = all frames (24, with three inputs or more 8 each)"},
        {"json", 0, &o->json, motus_option_text, 0, 0, "FILE", "write the report's numbers"},
        {"csv", 0, &o->csv, motus_option_text, 0, 0, "FILE", "write a row for each block"},
        {"quiet", 0, &o->quiet, NULL, 1, 0, NULL, "no live line and no summary"},
        {0},
    };
    const MotusCommand command = {"compare", "INPUT... -o REPORT_DIR [options]",
                                  about,     options,
                                  o->input,  MOTUS_COMPARE_INPUTS};
    return motus_options_parse(&command, argc, argv);
}

static int check(MotusCompareOptions *o, const ParsedOptions *parsed) {
    while (o->input[o->n_inputs]) o->n_inputs++;
    if (!o->n_inputs) return motus_usage_error("compare", "the input is missing");
    if (!o->folder) return motus_usage_error("compare", "the output is missing: -o REPORT_DIR");
    for (int i = 0; i < o->n_inputs; i++)
        if (!strcmp(o->input[i], "-"))
            return motus_usage_error("compare",
                                     "standard input can be read only once; give a file");
    if (parsed->qp >= 0 && o->n_qps)
        return motus_usage_error("compare", "--qp and --qps exclude each other");
    if (o->truth && o->n_inputs > 1)
        return motus_usage_error("compare", "--truth goes with one input");
    if (parsed->settings && parsed->x264_args)
        return motus_usage_error(
            "compare",
            "--x264-args and --settings exclude each other: write the options into the file");
    const char *outputs[] = {o->json, o->csv};
    int status = -1;
    for (int i = 0; i < o->n_inputs && status < 0; i++)
        status =
            motus_check_names("compare", &(MotusInputName){o->input[i], "an input"}, 1, outputs, 2);
    return status < 0 ? motus_may_overwrite(o->force ? MOTUS_OVERWRITE_YES : MOTUS_OVERWRITE_ASK,
                                            outputs, 2)
                      : status;
}

static MotusStatus choose_encoders(MotusCompareOptions *o, const ParsedOptions *parsed,
                                   MotusError *error) {
    MotusStatus status = parsed->settings
                             ? motus_compare_encoders_load(&o->encoders, parsed->settings, error)
                             : MOTUS_OK;
    const char *args = parsed->x264_args ? parsed->x264_args : "";
    if (!status && motus_compare_encoders_first(&o->encoders, 1) < 0)
        status =
            motus_compare_encoders_add(&o->encoders, 1, *args ? "as given" : "medium", args, error);
    if (!status && motus_compare_encoders_first(&o->encoders, 0) < 0)
        status = motus_compare_encoders_add(&o->encoders, 0, "medium", "", error);
    return status;
}

static void choose_qps(MotusCompareOptions *o, const ParsedOptions *parsed) {
    static const int usual[] = {22, 27, 32, 37};
    if (parsed->qp >= 0) {
        o->qp[0] = parsed->qp;
        o->n_qps = 1;
    } else if (!o->n_qps) {
        memcpy(o->qp, usual, sizeof usual);
        o->n_qps = 4;
    }
}

// Joins the command line into a new text, NULL without memory; the caller frees it.
static char *join(int argc, char **argv) {
    size_t n = 8;
    for (int i = 0; i < argc; i++) n += strlen(argv[i]) + 3;
    char *text = malloc(n), *p = text;
    if (!text) return NULL;
    p += sprintf(p, "motus");
    for (int i = 0; i < argc; i++) p += sprintf(p, strchr(argv[i], ' ') ? " '%s'" : " %s", argv[i]);
    return text;
}

int motus_cmd_compare(int argc, char **argv) {
    MotusCompareOptions *o = calloc(1, sizeof *o);
    char *command = join(argc, argv);
    MotusError error = {0};
    if (!o || !command) {
        free(o);
        free(command);
        motus_warn("out of memory");
        return MOTUS_EXIT_FAILURE;
    }
    *o = (MotusCompareOptions){
        .x264 = "x264", .threads = 1, .subpel = -1, .page_mb = -1, .command = command};
    ParsedOptions parsed = {.qp = -1};
    int status = parse(o, &parsed, argc, argv);
    if (status < 0) status = check(o, &parsed);
    if (status < 0) {
        choose_qps(o, &parsed);
        if (choose_encoders(o, &parsed, &error)) status = motus_failure(&error);
    }
    if (status < 0) {
        motus_signals_catch();
        status = motus_compare_job(o);
    }
    free(o);
    free(command);
    return status;
}
