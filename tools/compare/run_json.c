// A run as JSON (docs/compare.md).
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/options.h"
#include "tools/compare/run.h"

cJSON *motus_bits_json(const MotusBitSums *bits) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "header", (double)bits->header);
    cJSON_AddNumberToObject(object, "mode", (double)bits->mode);
    cJSON_AddNumberToObject(object, "mv", (double)bits->mv);
    cJSON_AddNumberToObject(object, "residual", (double)bits->residual);
    return object;
}

static cJSON *by_size_json(const MotusFigures figures[MOTUS_MODES], int has_truth) {
    cJSON *array = cJSON_CreateArray();
    for (int m = 0; m < MOTUS_MODES; m++) {
        cJSON *object = motus_figures_json(&figures[m], has_truth);
        cJSON_AddStringToObject(object, "size", motus_mode_name((MotusMode)m));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *matrix_json(const char *const *rows, int n_rows, const char *const *columns,
                          int n_columns, const uint64_t *count) {
    cJSON *object = cJSON_CreateObject(), *counts;
    cJSON_AddItemToObject(object, "rows", cJSON_CreateStringArray(rows, n_rows));
    cJSON_AddItemToObject(object, "columns", cJSON_CreateStringArray(columns, n_columns));
    counts = cJSON_AddArrayToObject(object, "counts");
    for (int r = 0; r < n_rows; r++) {
        cJSON *row = cJSON_CreateArray();
        for (int c = 0; c < n_columns; c++)
            cJSON_AddItemToArray(row, cJSON_CreateNumber((double)count[r * n_columns + c]));
        cJSON_AddItemToArray(counts, row);
    }
    return object;
}

static cJSON *extraction_json(const MotusExtraction *e) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "compared", (double)e->compared);
    cJSON_AddNumberToObject(object, "equal", (double)e->equal);
    cJSON_AddNumberToObject(object, "only_here", (double)e->only_here);
    return object;
}

cJSON *motus_run_json(const MotusRun *run, int qp, int has_truth) {
    static const char *const types[MOTUS_X264_TYPES] = {"skip", "16x16", "16x8",   "8x16",
                                                        "8x8",  "I4x4",  "I16x16", "PCM"};
    static const char *const subs[4] = {"8x8", "8x4", "4x8", "4x4"};
    cJSON *object = cJSON_CreateObject(), *bits;
    cJSON_AddNumberToObject(object, "qp", qp);
    cJSON_AddNumberToObject(object, "lambda_q8", run->lambda_q8);
    cJSON_AddItemToObject(object, "figures", motus_figures_json(&run->figures, has_truth));
    cJSON_AddItemToObject(object, "by_size", by_size_json(run->by_size, has_truth));
    cJSON_AddItemToObject(object, "own", motus_figures_json(&run->own, has_truth));
    cJSON_AddItemToObject(object, "own_by_size", by_size_json(run->own_by_size, has_truth));
    cJSON_AddItemToObject(
        object, "confusion",
        matrix_json(types, MOTUS_X264_TYPES, types + 1, MOTUS_OWN_TYPES, &run->confusion[0][0]));
    cJSON_AddItemToObject(object, "sub_confusion",
                          matrix_json(subs, 4, subs, 4, &run->sub_confusion[0][0]));
    bits = cJSON_AddObjectToObject(object, "bits");
    cJSON_AddItemToObject(bits, "x264", motus_bits_json(&run->bits[MOTUS_X264]));
    cJSON_AddItemToObject(bits, "motus", motus_bits_json(&run->bits[MOTUS_OURS]));
    cJSON_AddItemToObject(object, "extraction", extraction_json(&run->extraction));
    cJSON_AddItemToObject(object, "frames", run->frame_list);
    return object;
}
